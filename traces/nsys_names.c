/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names stand in one table of strings and are looked up one by one when they are needed: other
 * strings of the file are never read. And what the names of API calls mean. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

struct string_row {
    uint32_t text;
    uint32_t api_text; /* without the version; 0: not asked for yet */
    uint8_t api;
};

struct nsys_strings {
    sqlite3_stmt *statement; /* NULL: the file has no strings */
    struct keys *by_id;
    struct string_row *rows;
    size_t n, room;
};

static enum weir_status cannot_read_strings(const struct nsys *nsys, struct weir_error *err)
{
    if (sqlite3_errcode(nsys->db) == SQLITE_NOMEM)
        return weir_error_memory(err);
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: reading StringIds failed: %.160s; copy or export it again",
                          nsys->path, sqlite3_errmsg(nsys->db));
}

enum weir_status nsys_strings_new(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_strings *strings = calloc(1, sizeof *strings);

    if (strings == NULL)
        return weir_error_memory(err);
    nsys->strings = strings;
    strings->by_id = keys_new();
    if (strings->by_id == NULL)
        return weir_error_memory(err);
    if (nsys->tables[NSYS_STRINGS].name == NULL)
        return WEIR_OK;
    return sqlite3_prepare_v2(nsys->db, "SELECT value FROM StringIds WHERE id = ?1 LIMIT 1", -1,
                              &strings->statement, NULL) == SQLITE_OK
               ? WEIR_OK
               : cannot_read_strings(nsys, err);
}

void nsys_strings_free(struct nsys *nsys)
{
    if (nsys->strings == NULL)
        return;
    (void)sqlite3_finalize(nsys->strings->statement);
    keys_free(nsys->strings->by_id);
    free(nsys->strings->rows);
    free(nsys->strings);
    nsys->strings = NULL;
}

static enum weir_status fetch(struct nsys *nsys, int64_t id, uint32_t *text, struct weir_error *err)
{
    sqlite3_stmt *statement = nsys->strings->statement;
    enum weir_status status;
    char number[48];

    if (statement != NULL) {
        int result;

        (void)sqlite3_bind_int64(statement, 1, id);
        nsys->tables[NSYS_STRINGS].n_read++;
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW && result != SQLITE_DONE)
            return cannot_read_strings(nsys, err);
        if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
            const char *value = (const char *)sqlite3_column_text(statement, 0);
            int length = sqlite3_column_bytes(statement, 0);

            if (value == NULL) {
                (void)sqlite3_reset(statement);
                return weir_error_memory(err);
            }
            status = recording_text(nsys->recording, value, (size_t)length, text, err);
            nsys->tables[NSYS_STRINGS].n_kept++;
            (void)sqlite3_reset(statement);
            return status;
        }
        (void)sqlite3_reset(statement);
    }
    (void)snprintf(number, sizeof number, "string %" PRId64, id);
    return recording_word(nsys->recording, number, text, err);
}

static enum weir_status find_row(struct nsys *nsys, int64_t id, uint32_t *row,
                                 struct weir_error *err)
{
    struct nsys_strings *strings = nsys->strings;
    const struct key key = {{(uint32_t)id, (uint32_t)((uint64_t)id >> 32), 0, 0}};
    struct string_row value = {0};
    enum weir_status status;

    *row = keys_find(strings->by_id, &key);
    if (*row != KEYS_NONE)
        return WEIR_OK;
    status = fetch(nsys, id, &value.text, err);
    if (status == WEIR_OK)
        status = array_grow(&strings->rows, &strings->room, strings->n + 1, err);
    if (status == WEIR_OK)
        status = keys_put(strings->by_id, &key, (uint32_t)strings->n, err);
    if (status != WEIR_OK)
        return status;
    strings->rows[strings->n] = value;
    *row = (uint32_t)strings->n++;
    return WEIR_OK;
}

enum weir_status nsys_string(struct nsys *nsys, int64_t id, uint32_t *text, struct weir_error *err)
{
    uint32_t row;
    enum weir_status status = find_row(nsys, id, &row, err);

    if (status == WEIR_OK)
        *text = nsys->strings->rows[row].text;
    return status;
}

/* The order of texts, whatever the order of the rows that brought them. */

struct ranked {
    const char *text;
    uint32_t id;
};

static int by_text(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return strcmp(a->text, b->text);
}

enum weir_status nsys_rank_texts(const struct nsys *nsys, uint32_t **ranks, struct weir_error *err)
{
    uint32_t n = recording_n_texts(nsys->recording);
    struct ranked *texts = malloc(((size_t)n + 1) * sizeof *texts);

    *ranks = malloc(((size_t)n + 1) * sizeof **ranks);
    if (texts == NULL || *ranks == NULL) {
        free(texts);
        free(*ranks);
        *ranks = NULL;
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++)
        texts[i] = (struct ranked){recording_text_of(nsys->recording, i), i};
    if (n > 0)
        qsort(texts, n, sizeof *texts, by_text);
    for (uint32_t i = 0; i < n; i++)
        (*ranks)[texts[i].id] = i;
    free(texts);
    return WEIR_OK;
}

/* API names. "cudaLaunchKernel_v7000", "cudaMemcpyAsync_ptsz_v7000": the version and the variant for
 * per-thread streams are left out. */

static size_t without_suffix(const char *name, size_t length)
{
    size_t digits = length;

    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    if (digits < length && digits >= 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
        return digits - 2;
    if (length > 5 && (strncmp(name + length - 5, "_ptsz", 5) == 0 ||
                       strncmp(name + length - 5, "_ptds", 5) == 0))
        return length - 5;
    return length;
}

static size_t plain_length(const char *name)
{
    size_t length = strlen(name);
    size_t shorter = without_suffix(name, length);

    while (shorter != length && shorter > 0) {
        length = shorter;
        shorter = without_suffix(name, length);
    }
    return length;
}

uint8_t nsys_api_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t api;
        bool is_prefix;
    } known[] = {
        {"cudaEventSynchronize", API_EVENT_SYNC, false},
        {"cuEventSynchronize", API_EVENT_SYNC, false},
        {"cudaEventQuery", API_EVENT_QUERY, false},
        {"cuEventQuery", API_EVENT_QUERY, false},
        {"cudaStreamWaitEvent", API_STREAM_WAIT, false},
        {"cuStreamWaitEvent", API_STREAM_WAIT, false},
        {"cudaStreamSynchronize", API_STREAM_SYNC, false},
        {"cuStreamSynchronize", API_STREAM_SYNC, false},
        {"cudaStreamQuery", API_STREAM_QUERY, false},
        {"cuStreamQuery", API_STREAM_QUERY, false},
        {"cudaDeviceSynchronize", API_CONTEXT_SYNC, false},
        {"cudaThreadSynchronize", API_CONTEXT_SYNC, false},
        {"cuCtxSynchronize", API_CONTEXT_SYNC, false},
        {"cudaFree", API_FREE, false},
        {"cudaFreeArray", API_FREE, false},
        {"cuMemFree", API_FREE, false},
        {"cuArrayDestroy", API_FREE, false},
        {"cudaHostAlloc", API_PIN, false},
        {"cudaMallocHost", API_PIN, false},
        {"cudaFreeHost", API_PIN, false},
        {"cuMemAllocHost", API_PIN, false},
        {"cuMemHostAlloc", API_PIN, false},
        {"cuMemFreeHost", API_PIN, false},
        {"cuModuleLoad", API_MODULE_LOAD, true},
        {"cuLibraryLoad", API_MODULE_LOAD, true},
        {"cuModuleUnload", API_MODULE_LOAD, false},
        {"cuLibraryUnload", API_MODULE_LOAD, false},
        {"cudaLibraryLoad", API_MODULE_LOAD, true},
        {"cudaMallocAsync", API_MEMORY_ASYNC, false},
        {"cudaMallocFromPoolAsync", API_MEMORY_ASYNC, false},
        {"cudaFreeAsync", API_MEMORY_ASYNC, false},
        {"cuMemAllocAsync", API_MEMORY_ASYNC, false},
        {"cuMemAllocFromPoolAsync", API_MEMORY_ASYNC, false},
        {"cuMemFreeAsync", API_MEMORY_ASYNC, false},
        {"cudaStreamBeginCapture", API_BEGIN_CAPTURE, true},
        {"cuStreamBeginCapture", API_BEGIN_CAPTURE, true},
        {"cudaStreamEndCapture", API_END_CAPTURE, false},
        {"cuStreamEndCapture", API_END_CAPTURE, false},
    };
    size_t length = plain_length(name);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].name);
        if (strncmp(known[i].name, name, n) == 0 && (known[i].is_prefix || n == length))
            return known[i].api;
    }
    /* Copies that return when they are done do not say Async; those to a peer return at once. */
    if ((strncmp(name, "cudaMemcpy", 10) == 0 || strncmp(name, "cuMemcpy", 8) == 0) &&
        strstr(name, "Async") == NULL && strstr(name, "Peer") == NULL)
        return API_COPY;
    return API_OTHER;
}

enum weir_status nsys_api_name(struct nsys *nsys, int64_t id, uint32_t *text, uint8_t *api,
                               struct weir_error *err)
{
    uint32_t row;
    enum weir_status status = find_row(nsys, id, &row, err);
    struct string_row *value;

    if (status != WEIR_OK)
        return status;
    value = &nsys->strings->rows[row];
    if (value->api_text == 0) {
        char name[256];

        (void)snprintf(name, sizeof name, "%s", recording_text_of(nsys->recording, value->text));
        value->api = nsys_api_of(name);
        status = recording_text(nsys->recording, name, plain_length(name), &value->api_text, err);
        if (status != WEIR_OK)
            return status;
    }
    *text = value->api_text;
    *api = value->api;
    return WEIR_OK;
}
