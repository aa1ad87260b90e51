/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The virtual table weir_rows: rows 0 to n_rows - 1 of the source, in order, no index. It is known
 * to this connection only and never part of the file. */
#include "store/rows.h"

#include <stdlib.h>

struct rows_table {
    sqlite3_vtab base;
    const struct row_source *source;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct row_source *source;
    int64_t row;
};

static int rows_connect(sqlite3 *db, void *source, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **message)
{
    struct rows_table *table;
    int code = sqlite3_declare_vtab(
        db, "CREATE TABLE rows(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, "
            "c15)");

    (void)argc;
    (void)argv;
    (void)message;
    if (code != SQLITE_OK)
        return code;
    table = sqlite3_malloc(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    *table = (struct rows_table){.source = source};
    *out = &table->base;
    return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int rows_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (struct rows_cursor){.source = ((struct rows_table *)table)->source};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
                       sqlite3_value **argv)
{
    (void)index;
    (void)text;
    (void)argc;
    (void)argv;
    ((struct rows_cursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    ((struct rows_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
    const struct rows_cursor *rows = (struct rows_cursor *)cursor;

    return rows->row >= rows->source->n_rows;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
    const struct rows_cursor *rows = (struct rows_cursor *)cursor;

    rows->source->value(rows->source->arg, rows->row, column, out);
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = ((struct rows_cursor *)cursor)->row;
    return SQLITE_OK;
}

int rows_register(sqlite3 *db, struct row_source *source)
{
    static const sqlite3_module module = {
        .xConnect = rows_connect,
        .xBestIndex = rows_best_index,
        .xDisconnect = rows_disconnect,
        .xOpen = rows_open,
        .xClose = rows_close,
        .xFilter = rows_filter,
        .xNext = rows_next,
        .xEof = rows_eof,
        .xColumn = rows_column,
        .xRowid = rows_rowid,
    };

    return sqlite3_create_module(db, "weir_rows", &module, source);
}
