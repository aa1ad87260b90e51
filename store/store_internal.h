/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the store share: the open file, statements, errors. */
#ifndef WEIR_STORE_STORE_INTERNAL_H
#define WEIR_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "store/rows.h"
#include "store/store.h"

struct store {
    sqlite3 *db;
    char *path; /* as the user named it, for messages */
    char *file; /* what is open: another name only while a new file is not whole */
    struct row_source rows;
};

/* Keys of the wide tables: the run or graph in the upper half, the row's number in the lower, so
 * that rows of one run lie side by side and are added at the end. */
#define STORE_KEY_BITS 32
#define STORE_MOST_RUNS ((int64_t)1 << 30)

/** store_open of a file that messages call by another name. */
MUST_CHECK enum weir_status store_open_as(const char *file, const char *path, bool is_read_only,
                                          struct store **out, struct weir_error *err);
/** What SQLite's code means for the file, in words, with what to do about it. */
MUST_CHECK enum weir_status store_fail(sqlite3 *db, const char *path, int code,
                                       struct weir_error *err);

/* One statement in use. Text is always a constant of ours; values are bound. */
MUST_CHECK enum weir_status statement_prepare(struct store *store, const char *sql,
                                              sqlite3_stmt **out, struct weir_error *err);
/** Steps once: *has_row says whether there is a row. */
MUST_CHECK enum weir_status statement_step(struct store *store, sqlite3_stmt *statement,
                                           bool *has_row, struct weir_error *err);
/** Steps a statement that gives no rows, and makes it ready to be bound again. */
MUST_CHECK enum weir_status statement_run(struct store *store, sqlite3_stmt *statement,
                                          struct weir_error *err);
/** Runs statements that take and give nothing. */
MUST_CHECK enum weir_status store_exec(struct store *store, const char *sql,
                                       struct weir_error *err);
/** A statement with up to two numbers bound that gives one number, or none: then *found is false
 *  and *out is left. */
MUST_CHECK enum weir_status store_number(struct store *store, const char *sql, int64_t first,
                                         int64_t second, int64_t *out, bool *found,
                                         struct weir_error *err);
/** BEGIN IMMEDIATE; COMMIT when @p status is WEIR_OK, else ROLLBACK; gives back the status of the
 *  whole. */
MUST_CHECK enum weir_status store_begin(struct store *store, struct weir_error *err);
MUST_CHECK enum weir_status store_end(struct store *store, enum weir_status status,
                                      struct weir_error *err);

/** Runs an INSERT ... SELECT from weir_rows over @p n_rows rows; nothing to do when there are none. */
MUST_CHECK enum weir_status store_move_rows(struct store *store, const char *sql, size_t n_rows,
                                            void (*value)(const void *arg, int64_t row, int column,
                                                          sqlite3_context *out),
                                            const void *arg, struct weir_error *err);

/** Writes the graph unless it is there. @param binding of the graph, or NULL
 *  @param hash of its canonical form; filled in when it is "". Inside a transaction. */
MUST_CHECK enum weir_status graph_rows_write(struct store *store, const struct graph *graph,
                                             const struct binding *binding, int64_t *graph_id,
                                             char hash[HASH_TEXT_BYTES], struct weir_error *err);
/** The graph read back from its text. The caller frees it. */
MUST_CHECK enum weir_status graph_rows_read(struct store *store, int64_t graph_id,
                                            struct graph **out, struct weir_error *err);
/** The text of a graph, in parts, and how many bytes it has; and back: malloc'ed and NUL-terminated. */
MUST_CHECK enum weir_status stored_text_write(struct store *store, int64_t graph_id,
                                              const struct graph *graph, int64_t *n_bytes,
                                              struct weir_error *err);
MUST_CHECK enum weir_status stored_text_read(struct store *store, int64_t graph_id, char **out,
                                             size_t *length, struct weir_error *err);
/** Decisions, mechanisms, deviations and samples of a run; read into the arena of the run, whose id
 *  says which. */
MUST_CHECK enum weir_status run_lists_write(struct store *store, int64_t run_id,
                                            const struct run *run, const struct run_sample *samples,
                                            size_t n_samples, struct weir_error *err);
MUST_CHECK enum weir_status run_lists_read(struct store *store, struct stored_run *stored,
                                           struct weir_error *err);
/* A list of a run: `count` tells how long it is, `select` gives it in order, take reads a row. */
struct run_list {
    const char *count, *select;
    size_t item_bytes;
    bool (*take)(struct arena *arena, sqlite3_stmt *row, void *item); /* false: no memory */
};
/** *items is NULL when the list is empty. */
MUST_CHECK enum weir_status run_list_read(struct store *store, int64_t run_id,
                                          const struct run_list *list, struct arena *arena,
                                          void **items, size_t *n_items, struct weir_error *err);
/** A text of a row, kept in the arena; NULL stays NULL. False when memory ran out. */
bool run_list_keep(struct arena *arena, sqlite3_stmt *row, int column, const char **out);
#define KEYS_OF_RUN " WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32"

/** Samples, with their peaks; read into the arena of the run, whose graph is there. */
MUST_CHECK enum weir_status sample_rows_write(struct store *store, int64_t run_id,
                                              uint32_t n_domains, const struct run_sample *samples,
                                              size_t n_samples, struct weir_error *err);
MUST_CHECK enum weir_status sample_rows_read(struct store *store, struct stored_run *stored,
                                             struct weir_error *err);
/** What a replay did with its plan: actions, queues, what was inserted, the chain. */
MUST_CHECK enum weir_status replay_rows_write(struct store *store, int64_t run_id,
                                              const struct run *run, struct weir_error *err);
MUST_CHECK enum weir_status replay_rows_read(struct store *store, struct stored_run *stored,
                                             struct weir_error *err);
/** Span, wait, hold, pressure, peak and induced rows of a run. */
MUST_CHECK enum weir_status timeline_rows_write(struct store *store, int64_t run_id,
                                                const struct run *run, struct weir_error *err);
MUST_CHECK enum weir_status timeline_rows_read(struct store *store, int64_t run_id,
                                               const struct graph *graph, struct timeline **out,
                                               struct weir_error *err);

/** WEIR_STORE when what was read is no run of its graph. @param n_started that its row tells */
MUST_CHECK enum weir_status run_check(const struct run *run, int64_t n_started,
                                      struct weir_error *err);

#endif
