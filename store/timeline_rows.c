/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline as rows of its run, and back. Every field of every list comes back as it was; the order
 * of a list is the order of its keys. */
#include <stdlib.h>

#include "store/store_internal.h"
#include "store/timeline_values.h"

/* ---- writing ---- */

/* The blocks of one list, and the one that was read last, packed: its columns are asked for one after
 * another. */
struct blocks {
    const struct timeline_list *list;
    const struct run *run;
    int64_t first_key;
    size_t n_rows;
    struct latest {
        int64_t block;  /* -1: none */
        bool is_packed; /* false: there is no way to */
        struct packed fields[TIMELINE_FIELDS];
    } * latest;
};

static unsigned rows_of_block(size_t n_rows, int64_t block)
{
    size_t left = n_rows - (size_t)block * PACKED_ROWS;

    return left < PACKED_ROWS ? (unsigned)left : PACKED_ROWS;
}

static void pack_block(const struct blocks *blocks, int64_t block)
{
    const struct timeline_list *list = blocks->list;
    size_t first = (size_t)block * PACKED_ROWS;
    unsigned n = rows_of_block(blocks->n_rows, block);
    timeline_values values;

    for (unsigned i = 0; i < n; i++)
        list->get(blocks->run, first + i, i, values);
    blocks->latest->block = block;
    blocks->latest->is_packed = true;
    for (unsigned i = 0; i < list->n_fields; i++) {
        if (!packed_write(&blocks->latest->fields[i], values[i], n, list->may_be_null[i]))
            blocks->latest->is_packed = false;
    }
}

static void give_block(const void *arg, int64_t block, int column, sqlite3_context *out)
{
    const struct blocks *blocks = arg;
    const struct packed *field;

    if (blocks->latest->block != block)
        pack_block(blocks, block);
    if (!blocks->latest->is_packed) {
        sqlite3_result_error(out, PACKED_FAULT, -1);
    } else if (column == 0) {
        sqlite3_result_int64(out, blocks->first_key + block);
    } else if (column == 1) {
        sqlite3_result_int(out, (int)rows_of_block(blocks->n_rows, block));
    } else {
        field = &blocks->latest->fields[column / 2 - 1];
        if (column % 2 == 0)
            sqlite3_result_int64(out, field->base);
        else
            sqlite3_result_blob(out, field->digits, (int)field->n_digits, SQLITE_STATIC);
    }
}

/* Domain by domain: there are few. */
static void give_peak(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct blocks *blocks = arg;

    sqlite3_result_int64(out, column == 0 ? blocks->first_key + row
                                          : blocks->run->timeline->peak_bytes[row]);
}

enum weir_status timeline_rows_write(struct store *store, int64_t run_id, const struct run *run,
                                     struct weir_error *err)
{
    struct latest *latest = malloc(sizeof *latest);
    struct blocks blocks = {.run = run, .first_key = run_id << STORE_KEY_BITS, .latest = latest};
    enum weir_status status = latest == NULL ? weir_error_memory(err) : WEIR_OK;

    for (size_t i = 0; i < TIMELINE_LISTS && status == WEIR_OK; i++) {
        blocks.list = &timeline_lists[i];
        blocks.n_rows = blocks.list->count(run->timeline);
        latest->block = -1;
        status = store_move_rows(store, blocks.list->insert,
                                 (blocks.n_rows + PACKED_ROWS - 1) / PACKED_ROWS, give_block,
                                 &blocks, err);
    }
    if (status == WEIR_OK) {
        status = store_move_rows(store, "INSERT INTO peak_row SELECT c0, c1 FROM weir_rows",
                                 run->timeline->n_domains, give_peak, &blocks, err);
    }
    free(latest);
    return status;
}

/* ---- reading ---- */

/* Takes the rows of one block. */
static enum weir_status take_block(struct timeline *timeline, const struct timeline_list *list,
                                   sqlite3_stmt *row, struct weir_error *err)
{
    size_t first = (size_t)(sqlite3_column_int64(row, 0) & UINT32_MAX) * PACKED_ROWS;
    int64_t n = sqlite3_column_int64(row, 1);
    timeline_values values;
    enum weir_status status = WEIR_OK;
    bool is_whole = n > 0 && n <= (int64_t)PACKED_ROWS;

    for (unsigned i = 0; i < list->n_fields && is_whole; i++) {
        int column = 2 + 2 * (int)i;
        const char *digits = sqlite3_column_blob(row, column + 1);

        is_whole = packed_read(sqlite3_column_int64(row, column), digits,
                               (size_t)sqlite3_column_bytes(row, column + 1), (unsigned)n,
                               list->may_be_null[i], values[i]);
    }
    if (!is_whole) {
        return weir_error_set(err, WEIR_STORE,
                              "the run is damaged: its rows from %zu on are none that Weir writes; "
                              "bring the file back from a copy, or simulate again",
                              first);
    }
    for (unsigned i = 0; i < (unsigned)n && status == WEIR_OK; i++)
        status = list->take(timeline, first + i, i, values, err);
    return status;
}

static enum weir_status take_peak(struct timeline *timeline, const struct timeline_list *list,
                                  sqlite3_stmt *row, struct weir_error *err)
{
    int64_t domain = sqlite3_column_int64(row, 0) & UINT32_MAX;

    (void)list;
    if (domain >= timeline->n_domains)
        return weir_error_set(err, WEIR_STORE, "a peak is of a domain that the graph has not");
    timeline->peak_bytes[domain] = sqlite3_column_int64(row, 1);
    return WEIR_OK;
}

static enum weir_status
read_rows(struct store *store, int64_t run_id, const char *sql,
          enum weir_status (*take)(struct timeline *, const struct timeline_list *, sqlite3_stmt *,
                                   struct weir_error *),
          const struct timeline_list *list, struct timeline *timeline, struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = true;
    enum weir_status status = statement_prepare(store, sql, &select, err);

    if (status == WEIR_OK)
        (void)sqlite3_bind_int64(select, 1, run_id);
    while (status == WEIR_OK && has_row) {
        status = statement_step(store, select, &has_row, err);
        if (status == WEIR_OK && has_row)
            status = take(timeline, list, select, err);
    }
    (void)sqlite3_finalize(select);
    return status;
}

enum weir_status timeline_rows_read(struct store *store, int64_t run_id, const struct graph *graph,
                                    struct timeline **out, struct weir_error *err)
{
    struct timeline *timeline = timeline_new(graph_n_nodes(graph), graph_n_domains(graph));
    enum weir_status status = WEIR_OK;

    if (timeline == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < TIMELINE_LISTS && status == WEIR_OK; i++) {
        status = read_rows(store, run_id, timeline_lists[i].select, take_block, &timeline_lists[i],
                           timeline, err);
    }
    if (status == WEIR_OK) {
        status = read_rows(store, run_id,
                           "SELECT * FROM peak_row WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32 "
                           "ORDER BY key",
                           take_peak, NULL, timeline, err);
    }
    if (status != WEIR_OK) {
        timeline_free(timeline);
        return status;
    }
    *out = timeline;
    return WEIR_OK;
}
