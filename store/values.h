/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values that may be absent stand in a row: as NULL, for WEIR_NONE of an id, -1 of a time and
 * NULL of a text. Given to a row by give_..., read from one by ..._at. */
#ifndef WEIR_STORE_VALUES_H
#define WEIR_STORE_VALUES_H

#include <sqlite3.h>
#include <stdint.h>

#include "graph/id.h"

static inline void give_id(sqlite3_context *out, uint32_t id)
{
    if (id != WEIR_NONE)
        sqlite3_result_int64(out, id);
}

static inline void give_known(sqlite3_context *out, int64_t value)
{
    if (value != -1)
        sqlite3_result_int64(out, value);
}

/* The text must stay until the statement is done. */
static inline void give_text(sqlite3_context *out, const char *text)
{
    if (text != NULL)
        sqlite3_result_text(out, text, -1, SQLITE_STATIC);
}

/* What no id can be becomes one that no graph has. */
static inline uint32_t id_of(int64_t value)
{
    return value >= 0 && value < WEIR_NONE ? (uint32_t)value : WEIR_NONE - 1;
}

static inline uint32_t id_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL
               ? WEIR_NONE
               : id_of(sqlite3_column_int64(row, column));
}

/* base + value, of an id that is kept as the difference from another. */
static inline uint32_t id_from(uint32_t base, sqlite3_stmt *row, int column)
{
    int64_t id;

    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return WEIR_NONE;
    return __builtin_add_overflow(base, sqlite3_column_int64(row, column), &id) ? id_of(-1)
                                                                                : id_of(id);
}

static inline int64_t known_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, column);
}

/* "" for NULL; good until the next step. */
static inline const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text == NULL ? "" : text;
}

#endif
