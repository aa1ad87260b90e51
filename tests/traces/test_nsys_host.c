/* SPDX-License-Identifier: GPL-3.0-or-later */
/* API calls: threads, nesting, failures; which calls wait for the device, for how long, and what
 * happens when the times say that they did not. Every import here is also replayed (made_import). */
#include <string.h>

#include "tests/suite.h"
#include "tests/traces/made_export.h"

/* The host calls at 5000 and is back at 12000; the device is done at 10000. What the call does until
 * its wait begins at 5200 is its own, and so are the 2000 after the device: 7000 - 4800 of waiting. */
START_TEST(context_sync)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "sync");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 5000, 12000, THREAD(1), 12, "cudaDeviceSynchronize_v3020");
    made_call(&made, 13000, 14000, THREAD(1), 13, "cudaLaunchKernel_v7000");
    made_kernel(&made, 3000, 10000, 7, 11, "a");
    made_kernel(&made, 15000, 16000, 7, 13, "b");
    made_sync(&made, 5200, 11000, NO_ID, 12, NO_ID);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(start_of(&result, "cudaDeviceSynchronize"), 5000);
    ck_assert_int_eq(finish_of(&result, "cudaDeviceSynchronize"), 5200);
    ck_assert_int_eq(start_of(&result, "cudaDeviceSynchronize:return"), 10000);
    ck_assert_int_eq(finish_of(&result, "cudaDeviceSynchronize:return"), 12000);
    ck_assert_str_eq(why_of(&result, "a", "cudaDeviceSynchronize:return"),
                     "ordered:host waits for the context");
    ck_assert_int_eq(edge_of(&result, "cudaDeviceSynchronize:return", "cudaLaunchKernel#2").lag_ns,
                     1000);
    ck_assert_int_eq(count_of(&result, "host", "calls"), 3);
    ck_assert_int_eq(count_of(&result, "host", "calls_that_waited"), 1);
    /* busy: 1000 launch, 7000 a, 2000 return, 1000 launch, 1000 b; gaps: 2000, 1000, 1000. */
    ck_assert_int_eq(count_of(&result, "chain", "busy_ns"), 12000);
    ck_assert_int_eq(count_of(&result, "chain", "launch_bound_ns"), 3000);
    ck_assert_int_eq(count_of(&result, "chain", "host_between_calls_ns"), 1000);
    ck_assert_int_eq(result.makespan_ns, 16000);
    import_result_free(&result);
}
END_TEST

/* A device that is done before the call: nothing is cut, and the link does not hold the call back.
 * The host came when it came, 7000 after its last call. */
START_TEST(sync_satisfied)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "satisfied");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 8000, 8500, THREAD(1), 12, "cudaDeviceSynchronize_v3020");
    made_kernel(&made, 2000, 3000, 7, 11, "a");
    made_sync(&made, 8100, 8400, NO_ID, 12, NO_ID);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(!has_node(&result, "cudaDeviceSynchronize:return"));
    ck_assert_int_eq(edge_of(&result, "a", "cudaDeviceSynchronize").lag_ns, 0);
    ck_assert_int_eq(edge_of(&result, "cudaLaunchKernel", "cudaDeviceSynchronize").lag_ns, 7000);
    ck_assert_int_eq(count_of(&result, "host", "calls_that_waited"), 0);
    import_result_free(&result);
}
END_TEST

/* A stream synchronization waits for its stream; work that another stream has still to do goes on. */
START_TEST(stream_sync)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "stream-sync");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 300, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 400, 9000, THREAD(1), 13, "cudaStreamSynchronize_v3020");
    made_kernel(&made, 2000, 8000, 7, 11, "short");
    made_kernel(&made, 2000, 50000, 8, 12, "long");
    made_sync(&made, 500, 8500, 7, 13, NO_ID);
    made_stream(&made, 7, NON_BLOCKING);
    made_stream(&made, 8, NON_BLOCKING);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "short", "cudaStreamSynchronize:return"));
    ck_assert(!has_edge(&result, "long", "cudaStreamSynchronize:return"));
    ck_assert_int_eq(count_of(&result, "waits", "host_waits_for_stream"), 1);
    import_result_free(&result);
}
END_TEST

/* The host waits for an event that was recorded on the null stream, which had no work itself: that
 * is after all work of the blocking streams. */
START_TEST(event_sync_null_stream)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "null-event");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 300, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 400, 500, THREAD(1), 13, "cudaEventRecord_v3020");
    made_call(&made, 600, 9000, THREAD(1), 14, "cudaEventSynchronize_v3020");
    made_kernel(&made, 2000, 8000, 13, 11, "blocking");
    made_kernel(&made, 2000, 50000, 14, 12, "free");
    made_record(&made, 7, 13, 1);
    made_sync(&made, 700, 8900, NO_ID, 14, 1);
    made_stream(&made, 7, NULL_STREAM);
    made_stream(&made, 13, BLOCKING);
    made_stream(&made, 14, NON_BLOCKING);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "blocking", "cudaEventSynchronize:return"),
                     "observed:host waits for the newest record of the event");
    ck_assert(!has_edge(&result, "free", "cudaEventSynchronize:return"));
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 1);
    import_result_free(&result);
}
END_TEST

/* A query that was answered with no (a failed call) waits for nothing and is no node; one that was
 * answered with yes tells that the work was done. */
START_TEST(event_query)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "query");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 300, THREAD(1), 12, "cudaEventRecord_v3020");
    made_failed_call(&made, 400, 500, THREAD(1), 13, "cudaEventQuery_v3020");
    made_call(&made, 5000, 5100, THREAD(1), 14, "cudaEventQuery_v3020");
    made_kernel(&made, 2000, 4000, 7, 11, "k");
    made_record(&made, 7, 12, 1);
    made_sync(&made, 410, 490, NO_ID, 13, 1);
    made_sync(&made, 5010, 5090, NO_ID, 14, 1);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(!has_node(&result, "cudaEventQuery#2"));
    ck_assert(has_edge(&result, "k", "cudaEventQuery"));
    ck_assert_int_eq(edge_of(&result, "cudaEventRecord", "cudaEventQuery").lag_ns, 4700);
    ck_assert_int_eq(count_of(&result, "skipped", "failed_calls"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "host_waits_for_event"), 1);
    import_result_free(&result);
}
END_TEST

/* The number of its kind says little of a row: the name of its call decides, then its fields, and
 * the number only last, by version. Here it is wrong on purpose. */
START_TEST(sync_kinds)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "kinds");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 5000, THREAD(1), 12, "cudaDeviceSynchronize_v3020");
    made_call(&made, 6000, 6100, THREAD(1), 13, "cudaLaunchKernel_v7000");
    made_call(&made, 6200, 9500, THREAD(1), 14, "someWrapper");
    made_kernel(&made, 2000, 4000, 7, 11, "a");
    made_kernel(&made, 7000, 9000, 7, 13, "b");
    made_sync(&made, 300, 4900, NO_ID, 12, NO_ID);
    made_sync(&made, 6300, 9400, 7, 14, NO_ID);
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET syncType = 1");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "waits", "classified_by_call"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "classified_by_fields"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "host_waits_for_context"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "host_waits_for_stream"), 1);
    ck_assert(has_edge(&result, "b", "someWrapper:return"));
    import_result_free(&result);
}
END_TEST

/* Without the columns that tell, the number is all there is: 2 waited for an event until 2024.2,
 * for a stream from 2024.6.2.25 on, and 3 for a stream from 2026.2 on. */
static int64_t streams_waited_for(const char *version, int type)
{
    struct made_export made;
    struct import_result result;
    char sql[1024];
    int64_t n;

    made_begin(&made, "types");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 5000, THREAD(1), 12, "someWrapper");
    made_kernel(&made, 2000, 4000, 7, 11, "a");
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, "
                   "correlationId INTEGER, globalPid INTEGER, syncType INTEGER);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 300, 12, globalPid, %d "
                   "FROM CUPTI_ACTIVITY_KIND_KERNEL;"
                   "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                   "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '%s')",
                   type, version);
    made_sql(&made, sql);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "waits", "classified_by_type"), 1);
    n = count_of(&result, "waits", "host_waits_for_stream");
    import_result_free(&result);
    return n;
}

START_TEST(sync_types)
{
    ck_assert_int_eq(streams_waited_for("2023.4.4.54", 3), 1);
    ck_assert_int_eq(streams_waited_for("2023.4.4.54", 2), 0);
    ck_assert_int_eq(streams_waited_for("2024.6.2.225", 2), 1);
    ck_assert_int_eq(streams_waited_for("2025.1.1.110", 4), 0);
    ck_assert_int_eq(streams_waited_for("2026.2.1.210", 3), 1);
    ck_assert_int_eq(streams_waited_for("2026.2.1.210", 2), 0);
}
END_TEST

/* Calls that wait, by their names, without a row: for all there is. */
START_TEST(sync_without_row)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "bare");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 5000, THREAD(1), 12, "cudaDeviceSynchronize_v3020");
    made_kernel(&made, 2000, 4000, 7, 11, "a");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "a", "cudaDeviceSynchronize:return"),
                     "ordered:host waits for the context");
    ck_assert_int_eq(count_of(&result, "waits", "calls_without_row"), 1);
    import_result_free(&result);
}
END_TEST

/* A copy of pageable memory returns when it is done. One that returned before was only staged. */
START_TEST(blocking_copies)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "blocking");
    made_call(&made, 0, 10000, THREAD(1), 11, "cudaMemcpy_v3020");
    made_call(&made, 11000, 12000, THREAD(1), 12, "cudaMemcpy_v3020");
    made_call(&made, 20000, 29000, THREAD(1), 13, "cudaMemcpyAsync_v3020");
    made_call(&made, 30000, 30100, THREAD(1), 14, "cudaMemcpyAsync_v3020");
    made_copy(&made, 4000, 9000, 7, 11, H2D, PAGEABLE, DEVICE, 4096);
    made_copy(&made, 11500, 13500, 7, 12, H2D, PAGEABLE, DEVICE, 64);
    made_copy(&made, 22000, 28000, 7, 13, D2H, DEVICE, PAGEABLE, 4096);
    made_copy(&made, 31000, 40000, 7, 14, D2H, DEVICE, PINNED, 4096);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(finish_of(&result, "cudaMemcpy"), 0);
    ck_assert_int_eq(start_of(&result, "cudaMemcpy:return"), 9000);
    ck_assert_str_eq(why_of(&result, "h2d-pageable", "cudaMemcpy:return"),
                     "ordered:host waits for its copy");
    ck_assert_int_eq(edge_of(&result, "cudaMemcpy", "h2d-pageable").lag_ns, 4000);
    ck_assert(!has_node(&result, "cudaMemcpy#2:return"));
    ck_assert(has_node(&result, "cudaMemcpyAsync:return"));
    ck_assert(!has_node(&result, "cudaMemcpyAsync#2:return"));
    ck_assert_int_eq(count_of(&result, "implied", "host_waits_contradicted"), 1);
    import_result_free(&result);
}
END_TEST

/* Calls that wait for an idle device, unless the device was seen to work on. */
static void idle_call(const char *name, int64_t k_end, const char *why)
{
    struct made_export made;
    struct import_result result;
    char node[64], back[80];

    made_begin(&made, "idle");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 9000, THREAD(1), 12, name);
    made_kernel(&made, 2000, k_end, 7, 11, "k");
    made_end(&made);
    made_import(&made, &result);
    (void)snprintf(node, sizeof node, "%.*s", (int)strcspn(name, "_"), name);
    (void)snprintf(back, sizeof back, "%s:return", node);
    if (why == NULL) {
        ck_assert(!has_node(&result, back));
        ck_assert(!has_edge(&result, "k", node));
        ck_assert_int_eq(count_of(&result, "implied", "host_waits_contradicted"), 1);
    } else {
        ck_assert_str_eq(why_of(&result, "k", back), why);
        ck_assert_int_eq(start_of(&result, back), k_end);
    }
    import_result_free(&result);
}

START_TEST(idle_device)
{
    idle_call("cudaFree_v3020", 8000, "assumed:free waits for the device");
    idle_call("cudaFree_v3020", 20000, NULL);
    idle_call("cudaHostAlloc_v3020", 8000, "ordered:page-locked memory: waits for the device");
    idle_call("cudaFreeHost_v3020", 20000, NULL);
    idle_call("cuModuleLoadData", 8000, "ordered:module load waits for the device");
    idle_call("cuLibraryLoadData", 20000, NULL);
}
END_TEST

/* The first launch of a kernel waits for the device and launches then: its kernel hangs on the part
 * after the wait. With a nested load that is known, without it is inferred. */
START_TEST(first_launch)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "lazy");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 50000, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 300, 40000, THREAD(1), 13, "cuLibraryLoadData");
    made_call(&made, 51000, 90000, THREAD(1), 14, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 30000, 7, 11, "a");
    made_kernel(&made, 52000, 80000, 7, 12, "b");
    made_kernel(&made, 91000, 92000, 7, 14, "c");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "a", "cudaLaunchKernel#2:return"),
                     "ordered:module load waits for the device");
    ck_assert(has_edge(&result, "cudaLaunchKernel#2:return", "b"));
    ck_assert(!has_edge(&result, "cudaLaunchKernel#2", "b"));
    ck_assert_str_eq(why_of(&result, "b", "cudaLaunchKernel#3:return"),
                     "inferred:first launch of a kernel waits for the device; alternatives: 1");
    ck_assert_int_eq(count_of(&result, "skipped", "nested_calls"), 1);
    import_result_free(&result);
}
END_TEST

/* A row around another with its id: the first that encloses is the call. */
START_TEST(repeated_ids)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "repeated");
    made_call(&made, 110, 900, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 100, 1000, THREAD(1), 11, "wrapper");
    made_kernel(&made, 2000, 3000, 7, 11, "k");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "wrapper", "k"));
    ck_assert(!has_node(&result, "cudaLaunchKernel"));
    ck_assert_int_eq(count_of(&result, "skipped", "repeated_correlation_ids"), 1);
    ck_assert_int_eq(count_of(&result, "skipped", "nested_calls"), 1);
    import_result_free(&result);
}
END_TEST

/* Each thread has its own order and engine; calls of two threads may run together. A thread that
 * comes later is released at its time: nothing says why it began then. */
START_TEST(threads)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    made_begin(&made, "threads");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaMalloc_v3020");
    made_call(&made, 500, 1500, THREAD(2), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 2000, 3000, THREAD(1), 13, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2500, 3500, 7, 12, "a");
    made_kernel(&made, 4000, 5000, 7, 13, "b");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "cudaMalloc", "cudaLaunchKernel#2"));
    ck_assert(!has_edge(&result, "cudaMalloc", "cudaLaunchKernel"));
    graph_node(result.graph, node_of(&result, "cudaLaunchKernel"), &node);
    ck_assert_int_eq(node.release_ns, 500);
    ck_assert_str_eq(graph_text(result.graph, graph_engine(result.graph, node.engine)->name),
                     "host:thread2");
    import_result_free(&result);
}
END_TEST

/* A launch that failed is no node, and no launcher. */
START_TEST(failed_launch)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "failed");
    made_failed_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 1500, 2000, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_kernel(&made, 3000, 4000, 7, 12, "k");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_uint_eq(graph_n_nodes(result.graph), 2);
    ck_assert_int_eq(result.origin_ns, 1500);
    import_result_free(&result);
}
END_TEST

/* The innermost range around a call is where a person finds its work again. */
START_TEST(ranges)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "ranges");
    made_call(&made, 100, 200, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 500, 600, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 1500, 1600, THREAD(1), 13, "cudaLaunchKernel_v7000");
    made_kernel(&made, 1000, 1100, 7, 11, "a");
    made_kernel(&made, 1200, 1300, 7, 12, "b");
    made_kernel(&made, 2000, 2100, 7, 13, "c");
    made_range(&made, 0, 1000, THREAD(1), "step");
    made_range(&made, 450, 700, THREAD(1), "inner");
    made_range(&made, 0, 5000, THREAD(2), "other thread");
    made_sql(&made, "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) SELECT 1400, "
                    "1700, 59, 'inline \"text\"', globalTid FROM NVTX_EVENTS LIMIT 1");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(origin_of(&result, "a"), "KERNEL row 1; cudaLaunchKernel; NVTX step");
    ck_assert_str_eq(origin_of(&result, "b"), "KERNEL row 2; cudaLaunchKernel; NVTX inner");
    ck_assert_str_eq(origin_of(&result, "c"),
                     "KERNEL row 3; cudaLaunchKernel; NVTX inline \"text\"");
    ck_assert_str_eq(origin_of(&result, "cudaLaunchKernel#2"), "RUNTIME row 2; NVTX inner");
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-host");
    TCase *tcase = tcase_create("calls");

    tcase_add_test(tcase, context_sync);
    tcase_add_test(tcase, sync_satisfied);
    tcase_add_test(tcase, stream_sync);
    tcase_add_test(tcase, event_sync_null_stream);
    tcase_add_test(tcase, event_query);
    tcase_add_test(tcase, sync_kinds);
    tcase_add_test(tcase, sync_types);
    tcase_add_test(tcase, sync_without_row);
    tcase_add_test(tcase, blocking_copies);
    tcase_add_test(tcase, idle_device);
    tcase_add_test(tcase, first_launch);
    tcase_add_test(tcase, repeated_ids);
    tcase_add_test(tcase, threads);
    tcase_add_test(tcase, failed_launch);
    tcase_add_test(tcase, ranges);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
