/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables and columns a file has. Exports of different versions differ in both: tables are made
 * only when there is something to put in them, and columns come and go. So columns are bound by
 * name, and one that is missing reads as NULL.
 *
 * These lists are all that is ever read of a file: its metadata of the capture, its environment,
 * processes and program output are not among them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/nsys_internal.h"

#define MOST_COLUMNS 16

struct table_list {
    const char *names[3];              /* spellings, by age, the newest first */
    const char *columns[MOST_COLUMNS]; /* in the order in which nsys_select gives them */
    uint32_t required;                 /* bit by column: without it the table is of no use */
    uint32_t young;                    /* bit by column: not all versions seen have it */
    const char *order;                 /* where there are no row ids */
};

#define BITS(n) ((1U << (n)) - 1)

static const struct table_list lists[NSYS_TABLES] = {
    [NSYS_KERNEL] = {{"CUPTI_ACTIVITY_KIND_KERNEL"},
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
                      "globalPid", "shortName", "demangledName", "graphNodeId"},
                     BITS(7),
                     0,
                     "start, end, correlationId"},
    [NSYS_MEMCPY] = {{"CUPTI_ACTIVITY_KIND_MEMCPY"},
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
                      "globalPid", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
                      "dstDeviceId", "migrationCause", "graphNodeId"},
                     BITS(7),
                     0,
                     "start, end, correlationId"},
    [NSYS_MEMSET] = {{"CUPTI_ACTIVITY_KIND_MEMSET"},
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
                      "globalPid", "bytes", "memKind", "graphNodeId"},
                     BITS(7),
                     0,
                     "start, end, correlationId"},
    [NSYS_GRAPH_TRACE] = {{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
                          {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
                           "globalPid", "graphId", "graphExecId"},
                          BITS(7),
                          0,
                          "start, end, correlationId"},
    [NSYS_RUNTIME] = {{"CUPTI_ACTIVITY_KIND_RUNTIME"},
                      {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"},
                      BITS(5),
                      0,
                      "start, end, correlationId"},
    [NSYS_SYNC] = {{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"},
                   {"start", "end", "contextId", "streamId", "correlationId", "globalPid",
                    "syncType", "eventId", "eventSyncId", "deviceId"},
                   1U << 4 | 1U << 5,
                   1U << 8,
                   "correlationId"},
    [NSYS_EVENT] = {{"CUPTI_ACTIVITY_KIND_CUDA_EVENT"},
                    {"contextId", "streamId", "correlationId", "globalPid", "eventId",
                     "eventSyncId", "deviceId"},
                    BITS(5),
                    1U << 5,
                    "correlationId, eventId"},
    [NSYS_MEMORY] = {{"CUDA_GPU_MEMORY_USAGE_EVENTS"},
                     {"start", "globalPid", "deviceId", "contextId", "address", "bytes", "memKind",
                      "memoryOperationType", "name", "correlationId", "streamId",
                      "localMemoryPoolAddress"},
                     BITS(2) | 1U << 4 | 1U << 5 | 1U << 7,
                     1U << 8 | 1U << 10 | 1U << 11,
                     "start, address"},
    [NSYS_GRAPH_EVENTS] =
        {{"CUDA_GRAPH_EVENTS"}, {"start", "graphId", "graphExecId"}, 0, 1U << 1 | 1U << 2, "start"},
    [NSYS_NVTX] = {{"NVTX_EVENTS"},
                   {"start", "end", "eventType", "text", "textId", "globalTid"},
                   BITS(2) | 1U << 5,
                   0,
                   "start, end"},
    [NSYS_STREAM_INFO] = {{"TARGET_INFO_CUDA_STREAM"},
                          {"streamId", "processId", "contextId", "flag"},
                          BITS(4),
                          0,
                          "processId, contextId, streamId"},
    [NSYS_NULL_STREAM_INFO] = {{"TARGET_INFO_CUDA_NULL_STREAM"},
                               {"streamId", "processId", "contextId"},
                               BITS(3),
                               0,
                               "processId, contextId, streamId"},
    [NSYS_CONTEXT_INFO] = {{"TARGET_INFO_CUDA_CONTEXT_INFO"},
                           {"nullStreamId", "processId", "contextId"},
                           BITS(3),
                           0,
                           "processId, contextId"},
    [NSYS_GPU_INFO] =
        {{"TARGET_INFO_GPU"}, {"id", "totalMemory", "cuDevice", "asyncEngines"}, 1U, 0, "id"},
    [NSYS_DEVICE_INFO] =
        {{"TARGET_INFO_CUDA_DEVICE"}, {"gpuId", "cudaId", "pid"}, BITS(3), 0, "pid, cudaId"},
    [NSYS_META] = {{"META_DATA_EXPORT", "EXPORT_META_DATA"}, {"name", "value"}, BITS(2), 0, "name"},
    [NSYS_DIAGNOSTIC] = {{"DIAGNOSTIC_EVENT"}, {"text"}, BITS(1), 0, "text"},
    [NSYS_STRINGS] = {{"StringIds"}, {"id", "value"}, BITS(2), 0, "id"},
};

const char *nsys_table_name(enum nsys_table table)
{
    return lists[table].names[0];
}

const char *nsys_column_name(const struct nsys *nsys, enum nsys_table table, const char *column)
{
    for (uint32_t i = 0; i < MOST_COLUMNS && lists[table].columns[i] != NULL; i++) {
        if (strcmp(lists[table].columns[i], column) == 0)
            return (nsys->tables[table].missing >> i & 1) != 0 ? "NULL" : column;
    }
    return "NULL";
}

int nsys_row_column(enum nsys_table table)
{
    int n = 0;

    while (n < MOST_COLUMNS && lists[table].columns[n] != NULL)
        n++;
    return n;
}

enum weir_status nsys_failed(const struct nsys *nsys, const char *what, int result,
                             struct weir_error *err)
{
    if (result == SQLITE_NOMEM)
        return weir_error_memory(err);
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: reading %s failed: %.160s; copy or export it again", nsys->path,
                          what, sqlite3_errmsg(nsys->db));
}

/* Tables. */

/* A table of this name, or a view; an earlier spelling is only taken when there is no newer one. */
static void note_table(struct nsys *nsys, const char *name, bool is_table)
{
    for (int t = 0; t < NSYS_TABLES; t++) {
        for (int spelling = 0; spelling < 3 && lists[t].names[spelling] != NULL; spelling++) {
            struct nsys_table_state *state = &nsys->tables[t];

            if (strcmp(lists[t].names[spelling], name) != 0)
                continue;
            if (state->name != NULL && spelling > 0)
                continue;
            state->name = lists[t].names[spelling];
            state->has_rowid = is_table;
        }
    }
}

static enum weir_status find_tables(struct nsys *nsys, struct weir_error *err)
{
    static const char query[] =
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name";
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(nsys->db, query, -1, &statement, NULL);

    while (result == SQLITE_OK || result == SQLITE_ROW) {
        const char *name, *type;

        result = sqlite3_step(statement);
        if (result != SQLITE_ROW)
            break;
        name = (const char *)sqlite3_column_text(statement, 0);
        type = (const char *)sqlite3_column_text(statement, 1);
        if (name != NULL && type != NULL)
            note_table(nsys, name, strcmp(type, "table") == 0);
    }
    (void)sqlite3_finalize(statement);
    return result == SQLITE_DONE ? WEIR_OK : nsys_failed(nsys, "the list of tables", result, err);
}

/* Columns. */

static void note_column(struct nsys_table_state *state, const struct table_list *list,
                        const char *name)
{
    for (uint32_t i = 0; i < MOST_COLUMNS && list->columns[i] != NULL; i++) {
        if (sqlite3_stricmp(list->columns[i], name) == 0)
            state->missing &= ~(1U << i);
    }
}

/* Without these tables some of the device's time would be lost. */
static bool is_needed(enum nsys_table table)
{
    return table <= NSYS_RUNTIME;
}

/* nvprof's files have tables of the same names with other columns. */
static enum weir_status useless_table(const struct nsys *nsys, enum nsys_table table,
                                      const char *lacking, bool has_nvprof_id,
                                      struct weir_error *err)
{
    if (has_nvprof_id)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: written by nvprof, not by Nsight Systems; record again: %s",
                              nsys->path, nsys_capture_command);
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: its table %s has no column %s, so it is no export of Nsight "
                          "Systems that Weir knows; export it with a released version",
                          nsys->path, nsys->tables[table].name, lacking);
}

#define LACKING_BYTES 256

static void list_columns(enum nsys_table table, uint32_t columns, char out[LACKING_BYTES])
{
    int used = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < MOST_COLUMNS && lists[table].columns[i] != NULL; i++) {
        if ((columns >> i & 1) != 0)
            used += snprintf(out + used, (size_t)(LACKING_BYTES - used), "%s%s",
                             used == 0 ? "" : ", ", lists[table].columns[i]);
    }
}

/* One warning a table: for what is missing that every version seen has. */
static enum weir_status judge_columns(struct nsys *nsys, enum nsys_table table, bool has_nvprof_id,
                                      struct weir_error *err)
{
    struct nsys_table_state *state = &nsys->tables[table];
    uint32_t lacking = state->missing & lists[table].required;
    const char *name = state->name;
    char columns[LACKING_BYTES], text[LACKING_BYTES + 96];

    if (lacking != 0) {
        list_columns(table, lacking, columns);
        if (is_needed(table) || has_nvprof_id)
            return useless_table(nsys, table, columns, has_nvprof_id, err);
        (void)snprintf(text, sizeof text, "has no column %s: the table is left out", columns);
        state->name = NULL;
        return import_report_text(nsys->report, "warnings", name, text, err);
    }
    lacking = state->missing & ~lists[table].young;
    if (lacking == 0)
        return WEIR_OK;
    list_columns(table, lacking, columns);
    (void)snprintf(text, sizeof text,
                   "has no column %s, as every version seen so far has: taken as "
                   "empty",
                   columns);
    return import_report_text(nsys->report, "warnings", name, text, err);
}

static enum weir_status find_columns(struct nsys *nsys, enum nsys_table table,
                                     struct weir_error *err)
{
    struct nsys_table_state *state = &nsys->tables[table];
    const struct table_list *list = &lists[table];
    bool has_nvprof_id = false;
    sqlite3_stmt *statement = NULL;
    char query[96];
    int result;

    (void)snprintf(query, sizeof query, "PRAGMA table_info(\"%s\")", state->name);
    state->missing = BITS(nsys_row_column(table));
    result = sqlite3_prepare_v2(nsys->db, query, -1, &statement, NULL);
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        const char *name;

        result = sqlite3_step(statement);
        if (result != SQLITE_ROW)
            break;
        name = (const char *)sqlite3_column_text(statement, 1);
        if (name != NULL)
            note_column(state, list, name);
        if (name != NULL && strcmp(name, "_id_") == 0)
            has_nvprof_id = true;
    }
    (void)sqlite3_finalize(statement);
    if (result != SQLITE_DONE)
        return nsys_failed(nsys, state->name, result, err);
    return judge_columns(nsys, table, has_nvprof_id, err);
}

/* The versions that the file says it was written by. */

static void note_version(struct nsys *nsys, const char *name, const char *value)
{
    if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0) {
        const char *at = value;

        (void)snprintf(nsys->version, sizeof nsys->version, "%s", value);
        for (int i = 0; i < 4; i++) {
            char *end;
            nsys->release[i] = strtol(at, &end, 10);
            if (end == at || *end != '.')
                break;
            at = end + 1;
        }
    }
    if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0)
        (void)snprintf(nsys->schema, sizeof nsys->schema, "%s", value);
}

/* Versions are digits and dots, or they are not kept. */
static bool is_version(const char *value)
{
    return value[0] != '\0' && strlen(value) < 32 && strspn(value, "0123456789.") == strlen(value);
}

static enum weir_status find_version(struct nsys *nsys, struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, NSYS_META, NULL, &statement, err);
    int result;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *value = (const char *)sqlite3_column_text(statement, 1);

        if (name != NULL && value != NULL && is_version(value))
            note_version(nsys, name, value);
    }
    return nsys_end(nsys, NSYS_META, statement, result, err);
}

/* Schemas between these have been seen. */
#define SCHEMA_OLDEST 2009 /* 1000 times the first number, and the second */
#define SCHEMA_NEWEST 3025

static enum weir_status judge_version(struct nsys *nsys, struct weir_error *err)
{
    char text[160], *end;
    long schema = strtol(nsys->schema, &end, 10);

    if (end == nsys->schema)
        return WEIR_OK;
    schema = (schema < 1000 ? schema : 1000) * 1000;
    if (*end == '.')
        schema += strtol(end + 1, NULL, 10) % 1000;
    if (schema >= SCHEMA_OLDEST && schema <= SCHEMA_NEWEST)
        return WEIR_OK;
    (void)snprintf(
        text, sizeof text,
        "%.31s is %s than any that Weir has seen, 2.9 to 3.25: what it has in common with "
        "those is read, by the names of columns",
        nsys->schema, schema < SCHEMA_OLDEST ? "older" : "newer");
    return import_report_text(nsys->report, "warnings", "schema", text, err);
}

bool nsys_is_at_least(const struct nsys *nsys, int64_t year, int64_t minor, int64_t micro,
                      int64_t build)
{
    const int64_t wanted[4] = {year, minor, micro, build};

    if (nsys->release[0] == 0)
        return false;
    for (int i = 0; i < 4; i++) {
        if (nsys->release[i] != wanted[i])
            return nsys->release[i] > wanted[i];
    }
    return true;
}

enum weir_status nsys_probe(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = find_tables(nsys, err);

    for (int t = 0; t < NSYS_TABLES && status == WEIR_OK; t++) {
        if (nsys->tables[t].name != NULL)
            status = find_columns(nsys, (enum nsys_table)t, err);
    }
    if (status == WEIR_OK)
        status = find_version(nsys, err);
    return status == WEIR_OK ? judge_version(nsys, err) : status;
}

/* Statements. */

#define COLUMNS_BYTES 1024

static void put_columns(const struct nsys *nsys, enum nsys_table table, char columns[COLUMNS_BYTES])
{
    const struct nsys_table_state *state = &nsys->tables[table];
    const struct table_list *list = &lists[table];
    int used = 0;

    for (uint32_t i = 0; i < MOST_COLUMNS && list->columns[i] != NULL; i++) {
        bool is_missing = (state->missing >> i & 1) != 0;
        const char *quote = is_missing ? "" : "\"";
        used += snprintf(columns + used, (size_t)(COLUMNS_BYTES - used), "%s%s%s, ", quote,
                         is_missing ? "NULL" : list->columns[i], quote);
    }
}

static int prepare(struct nsys *nsys, enum nsys_table table, const char *order,
                   sqlite3_stmt **statement)
{
    const struct nsys_table_state *state = &nsys->tables[table];
    const char *where = state->where == NULL ? "1" : state->where;
    char columns[COLUMNS_BYTES];
    char *query;
    int result;

    put_columns(nsys, table, columns);
    query = sqlite3_mprintf("SELECT %s%s FROM \"%s\" WHERE %s ORDER BY %s", columns,
                            state->has_rowid ? "rowid" : "NULL", state->name, where,
                            order != NULL      ? order
                            : state->has_rowid ? "rowid"
                                               : lists[table].order);
    if (query == NULL)
        return SQLITE_NOMEM;
    result = sqlite3_prepare_v2(nsys->db, query, -1, statement, NULL);
    sqlite3_free(query);
    return result;
}

enum weir_status nsys_select(struct nsys *nsys, enum nsys_table table, const char *order,
                             sqlite3_stmt **statement, struct weir_error *err)
{
    struct nsys_table_state *state = &nsys->tables[table];
    int result;

    *statement = NULL;
    if (state->name == NULL)
        return WEIR_OK;
    result = prepare(nsys, table, order, statement);
    if (result == SQLITE_ERROR && state->has_rowid) { /* a table may have none either */
        state->has_rowid = false;
        result = prepare(nsys, table, order, statement);
    }
    return result == SQLITE_OK ? WEIR_OK : nsys_failed(nsys, state->name, result, err);
}

enum weir_status nsys_end(struct nsys *nsys, enum nsys_table table, sqlite3_stmt *statement,
                          int step_result, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (step_result != SQLITE_DONE)
        status = nsys_failed(nsys, nsys->tables[table].name, step_result, err);
    (void)sqlite3_finalize(statement);
    return status;
}

enum weir_status nsys_ask(const struct nsys *nsys, const char *query, int64_t absent,
                          int64_t *value, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(nsys->db, query, -1, &statement, NULL);

    *value = absent;
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *value = nsys_column_or(statement, 0, absent);
    (void)sqlite3_finalize(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE
               ? WEIR_OK
               : nsys_failed(nsys, "a table", result, err);
}

enum weir_status nsys_count_rows(const struct nsys *nsys, enum nsys_table table, int64_t *n,
                                 struct weir_error *err)
{
    char query[128];

    *n = 0;
    if (nsys->tables[table].name == NULL)
        return WEIR_OK;
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM \"%s\"", nsys->tables[table].name);
    return nsys_ask(nsys, query, 0, n, err);
}

/* Of the file: a hint is not to be believed that needs more than it has. */
#define ROW_BYTES_LEAST 16

enum weir_status nsys_rows_likely(const struct nsys *nsys, enum nsys_table table, size_t *n,
                                  struct weir_error *err)
{
    const struct nsys_table_state *state = &nsys->tables[table];
    char query[128];
    int64_t last, n_pages = -1, page_bytes = -1;
    enum weir_status status;

    *n = 0;
    if (state->name == NULL || !state->has_rowid || nsys->window != NULL)
        return WEIR_OK;
    (void)snprintf(query, sizeof query, "SELECT max(rowid) FROM \"%s\"", state->name);
    status = nsys_ask(nsys, query, -1, &last, err);
    if (status == WEIR_INPUT) /* without rowids */
        return WEIR_OK;
    if (status == WEIR_OK)
        status = nsys_ask(nsys, "PRAGMA page_count", -1, &n_pages, err);
    if (status == WEIR_OK)
        status = nsys_ask(nsys, "PRAGMA page_size", -1, &page_bytes, err);
    if (status == WEIR_OK && last >= 0 && n_pages >= 0 && page_bytes >= 0 &&
        n_pages <= INT64_MAX / 65536 && last <= n_pages * page_bytes / ROW_BYTES_LEAST)
        *n = (size_t)last;
    return status;
}
