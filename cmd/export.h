/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing tables of the store to files, for `weir export` and for verbs that draw. */
#ifndef WEIR_CMD_EXPORT_H
#define WEIR_CMD_EXPORT_H

#include "store/store.h"

/** Writes one table of the store as CSV (RFC 4180): a row of column names, then the rows; times in
 *  nanoseconds and sizes in bytes, an empty field where there is no value. @param table a name of
 *  store_table() @param path "-" is standard output; a file is written beside and renamed, so it
 *  is whole or not there; .gz at its end compresses. WEIR_USAGE for an unknown table. */
MUST_CHECK enum weir_status export_csv(struct store *store, const char *table, const int64_t *runs,
                                       uint32_t n_runs, const char *path, struct weir_error *err);

#endif
