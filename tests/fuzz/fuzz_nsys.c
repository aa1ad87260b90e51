/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target of the Nsight Systems importer. The first byte says how the rest is read: 0, as the
 * file itself (damaged SQLite and gzip files); otherwise, with a window for some values, as rows of an
 * export, which the importer
 * then finds whole but with any contents: calls without launches, launches without calls, waits for
 * events that nobody recorded, times backwards, ids past 64 bits.
 *
 * Whatever comes, the importer ends with a graph or with a reason. A graph it makes is legal: its
 * canonical form reads back equal, and binding finds no error in it; and it gives back every start
 * that was recorded. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "tests/traces/exact.h"
#include "traces/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct table {
    const char *name, *columns;
    int n_columns;
};

static const struct table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName, "
     "demangledName, graphNodeId",
     10},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
     "srcKind, dstKind, srcDeviceId, dstDeviceId, migrationCause, graphNodeId",
     15},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, memKind, "
     "graphNodeId",
     10},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId",
     9},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId, returnValue", 6},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start, end, contextId, streamId, correlationId, globalPid, syncType, eventId, eventSyncId, "
     "deviceId",
     10},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     "contextId, streamId, correlationId, globalPid, eventId, eventSyncId, deviceId", 7},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start, globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType, name, "
     "correlationId, streamId, localMemoryPoolAddress",
     12},
    {"NVTX_EVENTS", "start, end, eventType, text, textId, globalTid", 6},
    {"TARGET_INFO_CUDA_STREAM", "streamId, processId, contextId, flag", 4},
    {"TARGET_INFO_CUDA_NULL_STREAM", "streamId, processId, contextId", 3},
    {"TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId, processId, contextId", 3},
    {"TARGET_INFO_GPU", "id, totalMemory, cuDevice, asyncEngines", 4},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId, cudaId, pid", 3},
    {"META_DATA_EXPORT", "name, value", 2},
    {"DIAGNOSTIC_EVENT", "text", 1},
    {"StringIds", "id, value", 2},
    {"CUDA_GRAPH_EVENTS", "start, graphId, graphExecId", 3},
};
#define TABLES (sizeof tables / sizeof *tables)

/* Names that the importer knows by sight, and some that it must carry unharmed. */
static const char *const texts[] = {
    "cudaLaunchKernel_v7000",     "cudaMemcpyAsync_v3020",  "cudaEventRecord_v3020",
    "cudaStreamWaitEvent_v3020",  "cudaStreamSynchronize",  "cudaDeviceSynchronize_v3020",
    "cudaEventSynchronize_v3020", "cudaMalloc_v3020",       "cudaFree_v3020",
    "cudaMallocAsync_v11020",     "cuModuleLoadData",       "cudaGraphLaunch_v10000",
    "void gemm<float, 4>(int)",   "a \"quoted\", # name\n", "",
    "EXPORT_SCHEMA_VERSION",      "cudaHostAlloc_v3020",    "cuMemFreeAsync",
};
#define TEXTS (sizeof texts / sizeof *texts)

struct input {
    const uint8_t *at, *end;
};

static uint8_t next(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* A value that a byte or two choose: mostly small numbers, so that rows meet. */
static int bind_value(sqlite3_stmt *insert, int column, struct input *input)
{
    uint8_t choice = next(input);
    if (choice < 160)
        return sqlite3_bind_int64(insert, column, choice);
    if (choice < 200)
        return sqlite3_bind_int64(insert, column, (int64_t)(choice - 160) * 1000 + next(input));
    if (choice < 230) {
        return sqlite3_bind_text(insert, column, texts[next(input) % TEXTS], -1, SQLITE_STATIC);
    }
    switch (choice) {
    case 230:
        return sqlite3_bind_int64(insert, column, INT64_MAX);
    case 231:
        return sqlite3_bind_int64(insert, column, INT64_MIN);
    case 232:
        return sqlite3_bind_int64(insert, column, -1);
    case 233:
        return sqlite3_bind_double(insert, column, 1.5);
    case 234:
        return sqlite3_bind_blob(insert, column, "\0\xff", 2, SQLITE_STATIC);
    case 235:
        return sqlite3_bind_int64(insert, column, (int64_t)((uint64_t)next(input) << 56));
    case 236:
        return sqlite3_bind_int64(insert, column, (int64_t)((uint64_t)next(input) << 24));
    default:
        return sqlite3_bind_null(insert, column);
    }
}

static void must(int result)
{
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
        abort();
}

static void insert_row(sqlite3 *db, const struct table *table, struct input *input)
{
    char sql[512];
    sqlite3_stmt *insert = NULL;
    (void)snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS %s(%s)", table->name,
                   table->columns);
    must(sqlite3_exec(db, sql, NULL, NULL, NULL));
    (void)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?%.*s)", table->name,
                   2 * (table->n_columns - 1), ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?");
    must(sqlite3_prepare_v2(db, sql, -1, &insert, NULL));
    for (int column = 1; column <= table->n_columns; column++)
        must(bind_value(insert, column, input));
    must(sqlite3_step(insert));
    must(sqlite3_finalize(insert));
}

static void write_rows(const char *path, struct input input)
{
    sqlite3 *db = NULL;
    must(sqlite3_open(path, &db));
    must(sqlite3_exec(db, "PRAGMA synchronous = off; PRAGMA journal_mode = off; BEGIN", NULL, NULL,
                      NULL));
    while (input.at < input.end)
        insert_row(db, &tables[next(&input) % TABLES], &input);
    must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    must(sqlite3_close(db));
}

static void write_bytes(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void must_be_legal(const struct graph *graph)
{
    struct weir_error err;
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    struct graph *again = NULL;
    char *text = NULL, *second = NULL;
    size_t length = 0, second_length = 0;
    if (report == NULL || graph_write_text(graph, &text, &length, &err) != WEIR_OK ||
        graph_read_text(text, length, "import.weir", report, &again, &err) != WEIR_OK ||
        graph_write_text(again, &second, &second_length, &err) != WEIR_OK)
        abort();
    if (length != second_length || memcmp(text, second, length) != 0)
        abort();
    if (bind_graph(graph, report, &binding, &err) != WEIR_OK || report_errors(report) != 0)
        abort();
    bind_free(binding);
    graph_free(again);
    free(text);
    free(second);
    report_free(report);
}

/* What a window takes is legal too, and the first byte chooses one. */
static const char *window_of(uint8_t first)
{
    static const char *const windows[] = {"3:9",     "0:25",      "10:100",  "+0:+20",
                                          "+4:+400", "0:100000s", "7:10000", "cudaMalloc_v3020"};

    return first < 2 || first >= 64 ? NULL : windows[first % 8];
}

static void must_be_exact(const struct import_result *result)
{
    char text[EXACT_TEXT];
    if (!exact_replay(result->graph, result->timeline, text)) {
        fprintf(stderr, "%s\n", text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct weir_error err = {.status = WEIR_OK};
    struct import_options options = import_default();
    struct import_result result;
    if (size < 1)
        return 0;
    (void)snprintf(path, sizeof path, "fuzz-nsys-%ld.sqlite", (long)getpid());
    (void)remove(path);
    if (data[0] == 0)
        write_bytes(path, data + 1, size - 1);
    else
        write_rows(path, (struct input){data + 1, data + size});

    options.window = window_of(data[0]);
    enum weir_status status = import_read("nsys", path, &options, &result, &err);
    if (status == WEIR_OK && result.graph == NULL)
        abort();
    if (status != WEIR_OK && err.text[0] == '\0')
        abort();
    if (status == WEIR_OK) {
        must_be_legal(result.graph);
        must_be_exact(&result);
    }
    import_result_free(&result);
    (void)remove(path);
    return 0;
}
