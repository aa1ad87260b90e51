/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical text of a graph in the file: in parts, each compressed by itself, so that neither a
 * part nor what is held of it grows with the graph. */
#include <stdlib.h>
#include <zlib.h>

#include "graph/text.h"
#include "store/store_internal.h"

#define PART_BYTES ((size_t)1 << 20) /* of the text, before compression */

/* A text on its way into the file. */
struct parts {
    struct store *store;
    sqlite3_stmt *insert;
    int64_t part; /* the next one's number */
    char *text;   /* of PART_BYTES */
    size_t used;
    Bytef *packed;
    size_t packed_room;
};

static enum weir_status write_part(struct parts *parts, struct weir_error *err)
{
    uLongf n_packed = (uLongf)parts->packed_room;

    if (parts->used == 0)
        return WEIR_OK;
    if (compress2(parts->packed, &n_packed, (const Bytef *)parts->text, (uLong)parts->used,
                  Z_BEST_SPEED) != Z_OK)
        return weir_error_memory(err);
    (void)sqlite3_bind_int64(parts->insert, 2, parts->part++);
    (void)sqlite3_bind_blob64(parts->insert, 3, parts->packed, n_packed, SQLITE_STATIC);
    parts->used = 0;
    return statement_run(parts->store, parts->insert, err);
}

static enum weir_status take_piece(void *arg, const char *bytes, size_t n, struct weir_error *err)
{
    struct parts *parts = arg;
    enum weir_status status = WEIR_OK;

    while (n > 0 && status == WEIR_OK) {
        size_t room = PART_BYTES - parts->used;
        size_t taken = n < room ? n : room;

        memcpy(parts->text + parts->used, bytes, taken);
        parts->used += taken;
        bytes += taken;
        n -= taken;
        if (parts->used == PART_BYTES)
            status = write_part(parts, err);
    }
    return status;
}

enum weir_status stored_text_write(struct store *store, int64_t graph_id, const struct graph *graph,
                                   int64_t *n_bytes, struct weir_error *err)
{
    struct parts parts = {
        .store = store,
        .text = malloc(PART_BYTES),
        .packed_room = (size_t)compressBound((uLong)PART_BYTES),
    };
    size_t rest;
    enum weir_status status = WEIR_OK;

    parts.packed = malloc(parts.packed_room);
    if (parts.text == NULL || parts.packed == NULL)
        status = weir_error_memory(err);
    if (status == WEIR_OK) {
        status =
            statement_prepare(store, "INSERT INTO graph_text(graph_id, part, zlib) VALUES(?, ?, ?)",
                              &parts.insert, err);
    }
    if (status == WEIR_OK) {
        (void)sqlite3_bind_int64(parts.insert, 1, graph_id);
        status = graph_write_pieces(graph, take_piece, &parts, err);
    }
    rest = parts.used;
    if (status == WEIR_OK)
        status = write_part(&parts, err);
    if (status == WEIR_OK)
        *n_bytes = parts.part * (int64_t)PART_BYTES - (int64_t)(rest == 0 ? 0 : PART_BYTES - rest);
    (void)sqlite3_finalize(parts.insert);
    free(parts.text);
    free(parts.packed);
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
