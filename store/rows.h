/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A virtual table over rows in memory, so that one INSERT ... SELECT moves a million of them: half
 * the cost of binding and stepping for each. */
#ifndef WEIR_STORE_ROWS_H
#define WEIR_STORE_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#define ROWS_COLUMNS 16

/* What `SELECT c0, c1, ... FROM weir_rows` gives: set before the statement is stepped. */
struct row_source {
    const void *arg;
    int64_t n_rows;
    /* Gives the value of one column, c0 to c15, by one sqlite3_result_...; none means NULL. */
    void (*value)(const void *arg, int64_t row, int column, sqlite3_context *out);
};

/** Makes the table weir_rows known to the connection. @param source must outlive it
 *  @return an SQLite code */
int rows_register(sqlite3 *db, struct row_source *source);

#endif
