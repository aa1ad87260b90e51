/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/traces/made_export.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/text.h"
#include "tests/traces/exact.h"

/* Tables, as a version of 2025 makes them: more columns than are read. */
static const char *const tables[][2] = {
    {"StringIds", "id INTEGER PRIMARY KEY, value TEXT NOT NULL"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, "
     "nameId INTEGER, returnValue INTEGER, callchainId INTEGER"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, "
     "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
     "shortName INTEGER, gridX INTEGER, graphNodeId INTEGER"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
     "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, "
     "dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, migrationCause INTEGER, "
     "graphNodeId INTEGER, virtualAddress INTEGER"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
     "correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER, "
     "memKind INTEGER"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
     "correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
     "correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER, "
     "eventSyncId INTEGER"},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     "deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
     "globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER"},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, address INTEGER, "
     "pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name INTEGER, "
     "correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER"},
    {"NVTX_EVENTS", "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
                    "globalTid INTEGER"},
    {"TARGET_INFO_CUDA_STREAM",
     "streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER, contextId INTEGER, "
     "priority INTEGER, flag INTEGER"},
};

static char folder[64];

static void remove_folder(void)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    char path[512];

    while (open != NULL && (entry = readdir(open)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)chmod(path, 0700);
        (void)remove(path);
    }
    if (open != NULL)
        (void)closedir(open);
    (void)rmdir(folder);
}

const char *made_path(const char *name)
{
    static char path[256];

    if (folder[0] == '\0') {
        (void)snprintf(folder, sizeof folder, "/tmp/weir-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)atexit(remove_folder);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void made_sql(struct made_export *made, const char *sql)
{
    char *error = NULL;

    (void)sqlite3_exec(made->db, sql, NULL, NULL, &error);
    ck_assert_msg(error == NULL, "%s: %s", sql, error == NULL ? "" : error);
}

void made_begin(struct made_export *made, const char *name)
{
    (void)snprintf(made->path, sizeof made->path, "%s", made_path(name));
    (void)remove(made->path);
    ck_assert_int_eq(sqlite3_open(made->path, &made->db), SQLITE_OK);
    made_sql(made, "PRAGMA synchronous = off; BEGIN");
}

void made_end(struct made_export *made)
{
    made_sql(made, "COMMIT");
    ck_assert_int_eq(sqlite3_close(made->db), SQLITE_OK);
    made->db = NULL;
}

static void make_table(struct made_export *made, const char *name)
{
    char sql[1024];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(tables[i][0], name) != 0)
            continue;
        (void)snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS %s (%s)", name, tables[i][1]);
        made_sql(made, sql);
        return;
    }
    ck_abort_msg("no table %s", name);
}

/* The id of a string, which is made when it is new. */
static int64_t string_of(struct made_export *made, const char *text)
{
    sqlite3_stmt *statement;
    int64_t id;

    make_table(made, "StringIds");
    ck_assert_int_eq(sqlite3_prepare_v2(made->db,
                                        "INSERT INTO StringIds(value) SELECT ?1 WHERE NOT "
                                        "EXISTS (SELECT 1 FROM StringIds WHERE value = ?1)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    (void)sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    (void)sqlite3_finalize(statement);
    ck_assert_int_eq(sqlite3_prepare_v2(made->db, "SELECT id FROM StringIds WHERE value = ?1", -1,
                                        &statement, NULL),
                     SQLITE_OK);
    (void)sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    id = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return id;
}

/* One row of the table: the columns named, with these values. */
static void insert(struct made_export *made, const char *table, const char *columns, size_t n,
                   const int64_t *values)
{
    char sql[1024];
    sqlite3_stmt *statement;
    size_t used;

    make_table(made, table);
    used = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s(%s) VALUES (?", table, columns);
    for (size_t i = 1; i < n; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",?");
    (void)snprintf(sql + used, sizeof sql - used, ")");
    ck_assert_msg(sqlite3_prepare_v2(made->db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sql);
    for (size_t i = 0; i < n; i++)
        (void)sqlite3_bind_int64(statement, (int)i + 1, values[i]);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    (void)sqlite3_finalize(statement);
}

#define INSERT(made, table, columns, ...)                                                  \
    insert(made, table, columns, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
           (const int64_t[]){__VA_ARGS__})

void made_call(struct made_export *made, int64_t start, int64_t end, int64_t thread,
               int64_t correlation, const char *name)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_RUNTIME",
           "start, end, globalTid, correlationId, nameId, returnValue", start, end, thread,
           correlation, string_of(made, name), 0);
}

void made_failed_call(struct made_export *made, int64_t start, int64_t end, int64_t thread,
                      int64_t correlation, const char *name)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_RUNTIME",
           "start, end, globalTid, correlationId, nameId, returnValue", start, end, thread,
           correlation, string_of(made, name), 2);
}

#define OP_COLUMNS "start, end, deviceId, contextId, streamId, correlationId, globalPid"

void made_kernel(struct made_export *made, int64_t start, int64_t end, int64_t stream,
                 int64_t correlation, const char *name)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_KERNEL", OP_COLUMNS ", shortName, demangledName", start, end,
           0, 1, stream, correlation, PROCESS, string_of(made, name), string_of(made, "demangled"));
}

void made_copy(struct made_export *made, int64_t start, int64_t end, int64_t stream,
               int64_t correlation, int kind, int from, int to, int64_t bytes)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_MEMCPY", OP_COLUMNS ", copyKind, srcKind, dstKind, bytes",
           start, end, 0, 1, stream, correlation, PROCESS, kind, from, to, bytes);
}

void made_set(struct made_export *made, int64_t start, int64_t end, int64_t stream,
              int64_t correlation, int64_t bytes)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_MEMSET", OP_COLUMNS ", bytes, memKind", start, end, 0, 1,
           stream, correlation, PROCESS, bytes, DEVICE);
}

void made_sync(struct made_export *made, int64_t start, int64_t end, int64_t stream,
               int64_t correlation, int64_t event)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
           OP_COLUMNS ", eventId, eventSyncId, syncType", start, end, 0, 1, stream, correlation,
           PROCESS, event, NO_ID, 0);
}

void made_record(struct made_export *made, int64_t stream, int64_t correlation, int64_t event)
{
    INSERT(made, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
           "deviceId, contextId, streamId, correlationId, globalPid, eventId", 0, 1, stream,
           correlation, PROCESS, event);
}

void made_stream(struct made_export *made, int64_t stream, int flag)
{
    INSERT(made, "TARGET_INFO_CUDA_STREAM", "streamId, processId, contextId, flag", stream, PID, 1,
           flag);
}

void made_memory(struct made_export *made, int64_t t, bool is_free, int64_t address, int64_t bytes,
                 int kind, int64_t correlation)
{
    INSERT(made, "CUDA_GPU_MEMORY_USAGE_EVENTS",
           "start, memoryOperationType, address, bytes, memKind, correlationId, globalPid, "
           "deviceId, contextId",
           t, is_free ? 1 : 0, address, bytes, kind, correlation, PROCESS, 0, 1);
}

void made_range(struct made_export *made, int64_t start, int64_t end, int64_t thread,
                const char *text)
{
    INSERT(made, "NVTX_EVENTS", "start, end, eventType, textId, globalTid", start, end, 59,
           string_of(made, text), thread);
}

/* Importing. */

void made_import_window(struct made_export *made, const char *window, struct import_result *out)
{
    struct import_options options = import_default();
    struct weir_error err;
    char text[EXACT_TEXT];
    enum weir_status status;

    options.window = window;
    status = import_read("nsys", made->path, &options, out, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.text);
    ck_assert_msg(exact_replay(out->graph, out->timeline, text), "%s", text);
}

void made_import(struct made_export *made, struct import_result *out)
{
    made_import_window(made, NULL, out);
}

void made_refused(const char *path, enum weir_status expected, const char *text)
{
    const struct import_options options = import_default();
    struct import_result result;
    struct weir_error err = {.text = ""};
    enum weir_status status = import_read("nsys", path, &options, &result, &err);

    ck_assert_int_eq(status, expected);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' is not in: %s", text, err.text);
    ck_assert_ptr_null(result.graph);
    ck_assert_ptr_null(result.timeline);
    import_result_free(&result);
}

void made_copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;

    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(out);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
    (void)fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

/* Forms. */

/* Two streams, an event between them, memory, a synchronization. Times begin at `at`. */
void made_run(struct made_export *made, const char *name, int64_t at)
{
    made_begin(made, name);
    made_call(made, at, at + 1000, THREAD(1), 10, "cudaMalloc_v3020");
    made_memory(made, at + 500, false, 0x7000, 4096, DEVICE, 10);
    for (int64_t i = 0; i < 8; i++) {
        int64_t call = at + 2000 + 1000 * i, id = 11 + 3 * i;

        made_call(made, call, call + 100, THREAD(1), id, "cudaLaunchKernel_v7000");
        made_call(made, call + 200, call + 300, THREAD(1), id + 1, "cudaEventRecord_v3020");
        made_call(made, call + 400, call + 500, THREAD(1), id + 2, "cudaStreamWaitEvent_v3020");
        made_kernel(made, at + 5000 + 9000 * i, at + 13000 + 9000 * i, 7 + i % 2, id,
                    i % 3 == 0 ? "gemm" : "relu");
        made_record(made, 7 + i % 2, id + 1, i % 2);
        made_sync(made, call + 400, call + 500, 8 - i % 2, id + 2, i % 2);
    }
    made_call(made, at + 11000, at + 90000, THREAD(1), 40, "cudaDeviceSynchronize_v3020");
    made_sync(made, at + 11100, at + 89000, NO_ID, 40, NO_ID);
    made_stream(made, 7, NON_BLOCKING);
    made_stream(made, 8, NON_BLOCKING);
}

/* The canonical form without what names rows. The caller frees it. */
char *made_form(struct made_export *made, const char *window)
{
    struct import_result result;
    struct weir_error err;
    char *text, *from, *to;
    size_t length;

    made_import_window(made, window, &result);
    ck_assert_int_eq(graph_write_text(result.graph, &text, &length, &err), WEIR_OK);
    import_result_free(&result);
    for (from = to = text; *from != '\0';) {
        if (strncmp(from, " row ", 5) == 0) {
            from += 5;
            from += strspn(from, "0123456789");
        } else if (strncmp(from, "graph ", 6) == 0) { /* its name is the file's */
            from += strcspn(from, "\n");
        } else if (*from == '"') { /* around a text that had a blank */
            from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return text;
}

/* The first line that differs, not the whole of both. */
void made_same_forms(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        int n_a = (int)strcspn(a, "\n"), n_b = (int)strcspn(b, "\n");

        ck_assert_msg(n_a == n_b && strncmp(a, b, (size_t)n_a) == 0, "'%.*s' is not '%.*s'", n_a, a,
                      n_b, b);
        a += n_a + (a[n_a] == '\n');
        b += n_b + (b[n_b] == '\n');
    }
}

/* Questions. */

bool has_node(const struct import_result *result, const char *name)
{
    weir_text text = graph_find_text(result->graph, name);

    return text.index != 0 && weir_is(graph_find_node(result->graph, text));
}

weir_node node_of(const struct import_result *result, const char *name)
{
    ck_assert_msg(has_node(result, name), "no node %s", name);
    return graph_find_node(result->graph, graph_find_text(result->graph, name));
}

int64_t start_of(const struct import_result *result, const char *name)
{
    return result->timeline->spans[node_of(result, name).index].start_ns;
}

int64_t finish_of(const struct import_result *result, const char *name)
{
    return result->timeline->spans[node_of(result, name).index].finish_ns;
}

const char *origin_of(const struct import_result *result, const char *name)
{
    struct graph_node node;

    graph_node(result->graph, node_of(result, name), &node);
    return graph_text(result->graph, node.origin);
}

static bool find_edge(const struct import_result *result, const char *from, const char *to,
                      struct graph_edge *edge)
{
    weir_node producer = node_of(result, from), consumer = node_of(result, to);

    for (uint32_t i = 0; i < graph_n_edges(result->graph); i++) {
        graph_edge(result->graph, (weir_edge){i}, edge);
        if (weir_same(edge->producer, producer) && weir_same(edge->consumer, consumer))
            return true;
    }
    return false;
}

bool has_edge(const struct import_result *result, const char *from, const char *to)
{
    struct graph_edge edge;

    return find_edge(result, from, to, &edge);
}

struct graph_edge edge_of(const struct import_result *result, const char *from, const char *to)
{
    struct graph_edge edge;

    ck_assert_msg(find_edge(result, from, to, &edge), "no edge from %s to %s", from, to);
    return edge;
}

const char *why_of(const struct import_result *result, const char *from, const char *to)
{
    static char text[512];
    struct graph_edge edge = edge_of(result, from, to);

    (void)snprintf(text, sizeof text, "%s:%s", evidence_name(edge.evidence.kind),
                   graph_text(result->graph, edge.evidence.detail));
    return text;
}

struct graph_object object_of(const struct import_result *result, const char *name)
{
    weir_text text = graph_find_text(result->graph, name);
    struct graph_object object;

    ck_assert_msg(text.index != 0 && weir_is(graph_find_object(result->graph, text)),
                  "no object %s", name);
    graph_object(result->graph, graph_find_object(result->graph, text), &object);
    return object;
}

int64_t count_of(const struct import_result *result, const char *section, const char *key)
{
    const struct import_item *item = import_report_find(&result->report, section, key);

    return item == NULL ? 0 : item->integer;
}
