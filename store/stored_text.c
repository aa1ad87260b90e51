/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical text of a graph in the file: in parts, each compressed by itself, so that neither a
 * part nor what is held of it grows with the graph. */
#include <stdlib.h>
#include <zlib.h>

#include "store/store_internal.h"

#define PART_BYTES ((size_t)1 << 20) /* of the text, before compression */

static enum weir_status write_part(struct store *store, sqlite3_stmt *insert, const char *text,
                                   size_t n_bytes, Bytef *packed, size_t room,
                                   struct weir_error *err)
{
    uLongf n_packed = (uLongf)room;

    if (compress2(packed, &n_packed, (const Bytef *)text, (uLong)n_bytes, Z_BEST_SPEED) != Z_OK)
        return weir_error_memory(err);
    (void)sqlite3_bind_blob64(insert, 3, packed, n_packed, SQLITE_STATIC);
    return statement_run(store, insert, err);
}

enum weir_status stored_text_write(struct store *store, int64_t graph_id, const char *text,
                                   size_t length, struct weir_error *err)
{
    size_t room = (size_t)compressBound((uLong)PART_BYTES);
    Bytef *packed = malloc(room);
    sqlite3_stmt *insert = NULL;
    enum weir_status status;

    if (packed == NULL)
        return weir_error_memory(err);
    status = statement_prepare(
        store, "INSERT INTO graph_text(graph_id, part, zlib) VALUES(?, ?, ?)", &insert, err);
    for (size_t at = 0; at < length && status == WEIR_OK; at += PART_BYTES) {
        size_t n_bytes = length - at < PART_BYTES ? length - at : PART_BYTES;

        (void)sqlite3_bind_int64(insert, 1, graph_id);
        (void)sqlite3_bind_int64(insert, 2, (int64_t)(at / PART_BYTES));
        status = write_part(store, insert, text + at, n_bytes, packed, room, err);
    }
    (void)sqlite3_finalize(insert);
    free(packed);
    return status;
}

static enum weir_status damaged_text(struct store *store, int64_t graph_id, struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE,
                          "%.300s: the text of graph %lld is damaged; bring the file back from a "
                          "copy",
                          store->path, (long long)graph_id);
}

enum weir_status stored_text_read(struct store *store, int64_t graph_id, char **out, size_t *length,
                                  struct weir_error *err)
{
    sqlite3_stmt *parts = NULL;
    bool found = false, has_row = true;
    int64_t n_bytes = 0;
    size_t at = 0;
    char *text = NULL;
    enum weir_status status = store_number(store, "SELECT text_bytes FROM graph WHERE id = ?",
                                           graph_id, 0, &n_bytes, &found, err);

    if (status == WEIR_OK && (!found || n_bytes < 0))
        status = damaged_text(store, graph_id, err);
    if (status == WEIR_OK) {
        text = malloc((size_t)n_bytes + 1);
        if (text == NULL)
            status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = statement_prepare(
            store, "SELECT zlib FROM graph_text WHERE graph_id = ? ORDER BY part", &parts, err);
    }
    if (status == WEIR_OK)
        (void)sqlite3_bind_int64(parts, 1, graph_id);
    while (status == WEIR_OK) {
        uLongf room = (uLongf)((size_t)n_bytes - at);
        const void *packed;
        int code;

        status = statement_step(store, parts, &has_row, err);
        if (status != WEIR_OK || !has_row)
            break;
        packed = sqlite3_column_blob(parts, 0);
        code = uncompress((Bytef *)text + at, &room, packed, (uLong)sqlite3_column_bytes(parts, 0));
        if (code == Z_MEM_ERROR || (packed == NULL && sqlite3_errcode(store->db) == SQLITE_NOMEM))
            status = weir_error_memory(err);
        else if (code != Z_OK)
            status = damaged_text(store, graph_id, err);
        at += (size_t)room;
    }
    (void)sqlite3_finalize(parts);
    if (status == WEIR_OK && at != (size_t)n_bytes)
        status = damaged_text(store, graph_id, err);
    if (status != WEIR_OK) {
        free(text);
        return status;
    }
    text[at] = '\0';
    *out = text;
    *length = at;
    return WEIR_OK;
}
