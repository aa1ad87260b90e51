/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor of storing a run: bare rows of whole numbers into a table of SQLite, by one prepared
 * statement, in one transaction, with the settings that a store has. */
#include "tests/bench/store_floor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void must(sqlite3 *db, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        fprintf(stderr, "floor: %s\n", sqlite3_errmsg(db));
        exit(6);
    }
}

static void insert_rows(sqlite3 *db, int64_t n_rows)
{
    sqlite3_stmt *insert = NULL;
    uint64_t draw = 1;

    must(db, sqlite3_prepare_v2(db, "INSERT INTO span VALUES(?, ?, ?, ?, ?)", -1, &insert, NULL));
    for (int64_t i = 0; i < n_rows; i++) {
        draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        must(db, sqlite3_bind_int64(insert, 1, ((int64_t)1 << 32) + i));
        must(db, sqlite3_bind_int64(insert, 2, i * 25000));
        must(db, sqlite3_bind_int64(insert, 3, i * 25000 + (int64_t)(draw >> 44)));
        must(db, sqlite3_bind_int64(insert, 4, i * 25000 + (int64_t)(draw >> 42)));
        must(db, sqlite3_bind_int64(insert, 5, (int64_t)(draw >> 62)));
        must(db, sqlite3_step(insert));
        must(db, sqlite3_reset(insert));
    }
    must(db, sqlite3_finalize(insert));
}

void store_floor(const char *path, int64_t n_rows)
{
    sqlite3 *db = NULL;

    must(db, sqlite3_open(path, &db));
    must(db, sqlite3_exec(db,
                          "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; "
                          "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; "
                          "PRAGMA cache_size = -65536; CREATE TABLE span(key INTEGER PRIMARY KEY, "
                          "ready_ns INT, start_ns INT, finish_ns INT, cause INT); BEGIN",
                          NULL, NULL, NULL));
    insert_rows(db, n_rows);
    must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    must(db, sqlite3_close(db));
}
