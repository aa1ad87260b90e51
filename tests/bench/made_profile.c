/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step: PARTS times a copy on its stream, an event that the compute stream waits for, and LAUNCHES
 * kernels; then two allocations and their frees, a few small kernels of a second thread, and a
 * synchronization of the device. */
#include "tests/bench/made_profile.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define PARTS 10
#define LAUNCHES 10
#define KERNELS 40 /* names */
#define SECOND_THREAD 12
#define STEP_NS INT64_C(1000000)
#define PROCESS ((INT64_C(1) << 56) | (INT64_C(777) << 24))

enum table { RUNTIME, KERNEL, MEMCPY, SYNC, EVENT, MEMORY, NVTX, TABLES };

static const char schema[] =
    "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA page_size = 4096; BEGIN;"
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId "
    "INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
    "blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, "
    "dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId "
    "INTEGER, graphNodeId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, "
    "copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, deviceId "
    "INTEGER, "
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType "
    "INTEGER, eventId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId INTEGER, contextId INTEGER, streamId "
    "INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER);"
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER, deviceId INTEGER, "
    "contextId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType "
    "INTEGER, correlationId INTEGER);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId "
    "INTEGER, globalTid INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId INTEGER, processId INTEGER, contextId INTEGER, "
    "flag INTEGER);"
    "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 777, 1, 2), (13, 777, 1, 2), (14, 777, 1, 2);"
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.1.1.110');";

static const char *const inserts[TABLES] = {
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?1, ?2, 0, ?3, ?4, ?5, 0, NULL)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?1, ?2, 0, 1, NULL, ?3, ?4, ?5, ?6, ?6, ?6, 0, "
    "0, "
    "128, 512, 1, 1, 256, 1, 1, 0, 49152, 0, 0, ?4, NULL)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?1, ?2, 0, 1, ?3, ?4, ?5, ?6, 1, 1, 2)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?1, ?2, 0, 1, ?3, ?4, ?5, 2, ?6)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, ?1, ?2, ?3, ?4)",
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?1, ?2, 0, 1, ?3, ?4, 2, ?5, ?6)",
    "INSERT INTO NVTX_EVENTS VALUES (?1, ?2, 59, ?3, NULL, ?4)",
};

enum call { LAUNCH = 1, COPY, RECORD, WAIT, SYNCHRONIZE, MALLOC, FREE, CALLS };
static const char *const call_names[CALLS] = {"",
                                              "cudaLaunchKernel_v7000",
                                              "cudaMemcpyAsync_v3020",
                                              "cudaEventRecord_v3020",
                                              "cudaStreamWaitEvent_v3020",
                                              "cudaDeviceSynchronize_v3020",
                                              "cudaMallocAsync_v11020",
                                              "cudaFreeAsync_v11020"};

struct maker {
    sqlite3 *db;
    sqlite3_stmt *inserts[TABLES];
    int64_t correlation, n_rows;
    int64_t host_ns, device_ns; /* when the next call of the first thread, the next kernel begins */
    bool has_failed;
};

static void put(struct maker *m, enum table table, int n, const int64_t *values)
{
    for (int i = 0; i < n; i++)
        (void)sqlite3_bind_int64(m->inserts[table], i + 1, values[i]);
    if (sqlite3_step(m->inserts[table]) != SQLITE_DONE)
        m->has_failed = true;
    (void)sqlite3_reset(m->inserts[table]);
    m->n_rows++;
}

#define PUT(m, table, ...)                                                   \
    put(m, table, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
        (const int64_t[]){__VA_ARGS__})

static void call(struct maker *m, enum call what, int64_t took_ns)
{
    PUT(m, RUNTIME, m->host_ns, m->host_ns + took_ns, PROCESS + 1, ++m->correlation, what);
    m->host_ns += took_ns + 300;
}

static void kernel(struct maker *m, int64_t stream, int64_t took_ns)
{
    if (m->device_ns < m->host_ns + 1000)
        m->device_ns = m->host_ns + 1000;
    PUT(m, KERNEL, m->device_ns, m->device_ns + took_ns, stream, m->correlation, PROCESS,
        CALLS + m->correlation % KERNELS);
    m->device_ns += took_ns + 800;
}

/* A copy on stream 14, and the compute stream waits for it. */
static void copy_and_wait(struct maker *m, int64_t event)
{
    int64_t copy_ns = m->host_ns + 1500;

    call(m, COPY, 1200);
    PUT(m, MEMCPY, copy_ns, copy_ns + 3000, 14, m->correlation, PROCESS, 1 << 20);
    call(m, RECORD, 400);
    PUT(m, EVENT, 14, m->correlation, PROCESS, event);
    call(m, WAIT, 400);
    PUT(m, SYNC, m->host_ns - 700, m->host_ns - 300, 7, m->correlation, PROCESS, event);
    if (m->device_ns < copy_ns + 4000)
        m->device_ns = copy_ns + 4000;
}

static void memory(struct maker *m, int64_t address, bool is_free)
{
    call(m, is_free ? FREE : MALLOC, 900);
    PUT(m, MEMORY, m->host_ns - 700, PROCESS, address, 4 << 20, is_free, m->correlation);
}

static void second_thread(struct maker *m, int64_t at_ns)
{
    for (int i = 0; i < SECOND_THREAD; i++) {
        PUT(m, RUNTIME, at_ns, at_ns + 2000, PROCESS + 2, ++m->correlation, LAUNCH);
        PUT(m, KERNEL, at_ns + 3000, at_ns + 9000, 13, m->correlation, PROCESS, CALLS + i);
        at_ns += 12000;
    }
}

static void step(struct maker *m, int64_t number)
{
    int64_t from_ns = made_profile_step_ns(number), most_ns;
    char text[32];

    m->host_ns = m->device_ns = from_ns;
    memory(m, 0x10000, false);
    memory(m, 0x20000, false);
    for (int part = 0; part < PARTS; part++) {
        copy_and_wait(m, 100 + part);
        for (int i = 0; i < LAUNCHES; i++) {
            call(m, LAUNCH, 2000);
            kernel(m, 7, 4000 + m->correlation * 7919 % 3000);
        }
    }
    memory(m, 0x10000, true);
    memory(m, 0x20000, true);
    second_thread(m, m->host_ns);
    most_ns = m->device_ns > m->host_ns + 200000 ? m->device_ns : m->host_ns + 200000;
    call(m, SYNCHRONIZE, most_ns - m->host_ns);
    PUT(m, SYNC, most_ns - 1000, most_ns, INT64_C(0xFFFFFFFF), m->correlation, PROCESS,
        INT64_C(0xFFFFFFFF));
    (void)snprintf(text, sizeof text, "step %" PRId64, number);
    (void)sqlite3_bind_int64(m->inserts[NVTX], 1, from_ns);
    (void)sqlite3_bind_int64(m->inserts[NVTX], 2, most_ns);
    (void)sqlite3_bind_text(m->inserts[NVTX], 3, text, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int64(m->inserts[NVTX], 4, PROCESS + 1);
    if (sqlite3_step(m->inserts[NVTX]) != SQLITE_DONE)
        m->has_failed = true;
    (void)sqlite3_reset(m->inserts[NVTX]);
}

static void put_string(struct maker *m, int64_t id, const char *text)
{
    char *sql = sqlite3_mprintf("INSERT INTO StringIds VALUES (%lld, %Q)", (long long)id, text);

    if (sql == NULL || sqlite3_exec(m->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        m->has_failed = true;
    sqlite3_free(sql);
}

static void begin(struct maker *m, const char *path)
{
    (void)remove(path);
    if (sqlite3_open(path, &m->db) != SQLITE_OK ||
        sqlite3_exec(m->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        m->has_failed = true;
    for (int i = LAUNCH; i < CALLS; i++)
        put_string(m, i, call_names[i]);
    for (int i = 0; i < KERNELS; i++) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "void layer_kernel_%d<float, 128, 64>(float const *, float *, int)", i);
        put_string(m, CALLS + i, text);
    }
    for (int i = 0; i < TABLES; i++) {
        if (sqlite3_prepare_v2(m->db, inserts[i], -1, &m->inserts[i], NULL) != SQLITE_OK)
            m->has_failed = true;
    }
}

int64_t made_profile(const char *path, int64_t n_rows)
{
    struct maker m = {.correlation = 10};

    begin(&m, path);
    for (int64_t i = 0; m.n_rows < n_rows && !m.has_failed; i++)
        step(&m, i);
    for (int i = 0; i < TABLES; i++)
        (void)sqlite3_finalize(m.inserts[i]);
    if (sqlite3_exec(m.db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        m.has_failed = true;
    if (m.has_failed)
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(m.db));
    (void)sqlite3_close(m.db);
    return m.has_failed ? 0 : m.n_rows;
}

int64_t made_profile_step_ns(int64_t number)
{
    return 5000000 + number * STEP_NS;
}

int64_t made_profile_step_rows(void)
{
    return PARTS * (6 + 2 * LAUNCHES) + 4 * 2 + 2 * SECOND_THREAD + 2;
}
