/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that runs out at the first, second, third ... allocation of the importer, and of SQLite: the
 * import says so, leaves nothing behind (a sanitized build sees leaks), and succeeds in the end with
 * the same graph. The linker puts the functions below in the place of the allocator's. */
#include <stddef.h>
#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"
#include "tests/traces/made_export.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long allocations_left = -1; /* negative: any number */
static long sqlite_left = -1;

static bool is_out(long *left)
{
    if (*left < 0)
        return false;
    if (*left == 0)
        return true;
    (*left)--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return is_out(&allocations_left) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_out(&allocations_left) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_out(&allocations_left) ? NULL : __real_realloc(old, size);
}

/* SQLite's own allocator behind the same count. */
static sqlite3_mem_methods methods;

static void *sqlite_malloc(int size)
{
    return is_out(&sqlite_left) ? NULL : methods.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size)
{
    return is_out(&sqlite_left) ? NULL : methods.xRealloc(old, size);
}

static void limit_sqlite(void)
{
    sqlite3_mem_methods limited;

    ck_assert_int_eq(sqlite3_shutdown(), SQLITE_OK);
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods), SQLITE_OK);
    limited = methods;
    limited.xMalloc = sqlite_malloc;
    limited.xRealloc = sqlite_realloc;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &limited), SQLITE_OK);
}

/* One of everything. */
static void make(struct made_export *made)
{
    made_begin(made, "everything");
    made_call(made, 0, 1000, THREAD(1), 10, "cudaMalloc_v3020");
    made_call(made, 1100, 1200, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(made, 1300, 1400, THREAD(1), 12, "cudaEventRecord_v3020");
    made_call(made, 1500, 1600, THREAD(1), 13, "cudaStreamWaitEvent_v3020");
    made_call(made, 1700, 1800, THREAD(1), 14, "cudaMemcpyAsync_v3020");
    made_call(made, 1900, 40000, THREAD(1), 15, "cudaFree_v3020");
    made_call(made, 41000, 42000, THREAD(2), 16, "cudaMallocAsync_v11020");
    made_kernel(made, 3000, 9000, 7, 11, "k");
    made_copy(made, 10000, 30000, 8, 14, D2H, DEVICE, PINNED, 4096);
    made_copy(made, 4000, 5000, 0, 0, UVM_H2D, 7, 7, 4096);
    made_record(made, 7, 12, 5);
    made_sync(made, 1500, 1600, 8, 13, 5);
    made_memory(made, 500, false, 0x7000, 4096, DEVICE, 10);
    made_memory(made, 35000, true, 0x7000, 4096, DEVICE, 15);
    made_memory(made, 41500, false, 0x8000, 4096, DEVICE, 16);
    made_memory(made, 41600, false, 0x8000, 4096, DEVICE, 0);
    made_range(made, 1000, 2000, THREAD(1), "range");
    made_sql(made, "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) SELECT 1050, "
                   "1300, 59, 'inline', globalTid FROM NVTX_EVENTS LIMIT 1; UPDATE "
                   "CUDA_GPU_MEMORY_USAGE_EVENTS SET streamId = 7, localMemoryPoolAddress = 1 "
                   "WHERE correlationId = 16");
    made_stream(made, 7, BLOCKING);
    made_stream(made, 8, NULL_STREAM);
    made_end(made);
}

/* The import with these many allocations; the hash of what came of it. */
static enum weir_status attempt(const struct made_export *made, long n, long n_sqlite,
                                char hash[HASH_TEXT_BYTES])
{
    const struct import_options options = {.window = "0:1s"};
    struct import_result result;
    struct weir_error err = {.text = ""};
    enum weir_status status;

    allocations_left = n;
    sqlite_left = n_sqlite;
    status = import_read("nsys", made->path, &options, &result, &err);
    allocations_left = sqlite_left = -1;
    if (status == WEIR_OK)
        ck_assert_int_eq(graph_hash(result.graph, hash, &err), WEIR_OK);
    else
        ck_assert_msg(strstr(err.text, "out of memory") != NULL, "%s", err.text);
    import_result_free(&result);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    struct made_export made;
    char whole[HASH_TEXT_BYTES], hash[HASH_TEXT_BYTES];
    enum weir_status status;
    long n = 0;

    make(&made);
    ck_assert_int_eq(attempt(&made, -1, -1, whole), WEIR_OK);
    while ((status = attempt(&made, n, -1, hash)) == WEIR_MEMORY)
        n++;
    ck_assert_int_eq(status, WEIR_OK);
    ck_assert_str_eq(hash, whole);
    ck_assert_int_gt(n, 50); /* the allocator really was ours */
}
END_TEST

/* SQLite does without some of its allocations, so a later one may fail when an earlier did not. */
START_TEST(every_allocation_of_sqlite_may_fail)
{
    struct made_export made;
    char whole[HASH_TEXT_BYTES], hash[HASH_TEXT_BYTES];
    long n_failed = 0;

    limit_sqlite();
    make(&made);
    ck_assert_int_eq(attempt(&made, -1, -1, whole), WEIR_OK);
    for (long n = 0; n < 3000; n += n < 400 ? 1 : 7) {
        enum weir_status status = attempt(&made, -1, n, hash);

        ck_assert(status == WEIR_OK || status == WEIR_MEMORY || status == WEIR_INPUT);
        if (status == WEIR_OK)
            ck_assert_str_eq(hash, whole);
        else
            n_failed++;
    }
    ck_assert_int_gt(n_failed, 50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-faults");
    TCase *tcase = tcase_create("memory");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, every_allocation_may_fail);
    tcase_add_test(tcase, every_allocation_of_sqlite_may_fail);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
