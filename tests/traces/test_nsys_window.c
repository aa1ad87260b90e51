/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a file: by times of either clock, by a marker; what lives when it begins, what it waits for
 * that was recorded before, and that nothing else of the file matters. */
#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"
#include "tests/traces/made_export.h"

/* A window by launch time: what was launched before is not there, what lives then is there from the
 * start, and a wait for a record before it is satisfied. */
START_TEST(window_by_times)
{
    struct made_export made;
    struct import_result result;

    made_run(&made, "window", 0);
    made_end(&made);
    made_import_window(&made, "4us:8us", &result);
    ck_assert_int_eq(count_of(&result, "source", "window_from_ns"), 4000);
    ck_assert_int_eq(count_of(&result, "device", "kernels"), 4);
    ck_assert_int_eq(count_of(&result, "skipped", "outside_window_device_ops"), 4);
    ck_assert(object_of(&result, "device#1").is_initial);
    ck_assert(!has_node(&result, "cudaMalloc"));
    /* The first wait inside is for the event whose record was made inside, too; all are resolved. */
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 0);
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 4);
    import_result_free(&result);

    /* From the middle of an iteration on: its wait is inside, its record is not. */
    made_import_window(&made, "4300:8000", &result);
    ck_assert_int_eq(count_of(&result, "waits", "record_outside_window"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 4);
    import_result_free(&result);
}
END_TEST

START_TEST(window_by_marker)
{
    struct made_export made;
    struct import_result result;
    struct import_options options = import_default();
    struct weir_error err;
    char *by_name, *by_times;

    made_run(&made, "marker", 0);
    made_range(&made, 4000, 8000, THREAD(1), "step 7");
    made_end(&made);
    by_name = made_form(&made, "step 7");
    by_times = made_form(&made, "4000:8000");
    made_same_forms(by_name, by_times);
    free(by_name);
    free(by_times);

    options.window = "step 8";
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no NVTX range or mark"));
    options.window = "8us:4us";
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_USAGE);
    options.window = "5s:6s";
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "within the window"));
    import_result_free(&result);
}
END_TEST

/* Since the first event, as the times of a graph of the whole file count. */
START_TEST(window_since_first)
{
    struct made_export made;
    struct import_result result;
    struct import_options options = import_default();
    struct weir_error err;
    char *by_profile, *by_first;

    made_run(&made, "since-first", 1000);
    made_failed_call(&made, 100, 200, THREAD(1), 900, "cudaMalloc_v3020"); /* no event of a graph */
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(result.origin_ns, 1000);
    import_result_free(&result);
    by_profile = made_form(&made, "5us:9us");
    by_first = made_form(&made, "+4us:+8000");
    made_same_forms(by_profile, by_first);
    free(by_profile);
    free(by_first);
    made_import_window(&made, "+4us:+8us", &result);
    ck_assert_int_eq(count_of(&result, "source", "first_ns"), 1000);
    ck_assert_int_eq(count_of(&result, "source", "window_from_ns"), 5000);
    import_result_free(&result);
    options.window = "+8us:+4us";
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "ends before it begins"));
    options.window = "+9223372036854775807:+9223372036854775807";
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_USAGE);
    options.window = "+1us:2us"; /* of two clocks: taken for a marker */
    ck_assert_int_eq(import_read("nsys", made.path, &options, &result, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no NVTX range or mark"));
    import_result_free(&result);
}
END_TEST

/* A wait inside for a record made before the window is satisfied when it begins, by assumption. */
START_TEST(record_before)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;
    struct graph_edge edge;
    weir_node begin;

    made_run(&made, "before", 0);
    made_end(&made);
    made_import_window(&made, "4300:8000", &result);
    begin = node_of(&result, "window-begin");
    graph_node(result.graph, begin, &node);
    ck_assert_int_eq(node.kind, NODE_BARRIER);
    ck_assert_int_eq(begin.index, 0);
    ck_assert_int_eq(start_of(&result, "window-begin"), 0);
    ck_assert_int_eq(count_of(&result, "links", "before_window"), 1);
    /* The iteration of which only the wait is inside: the kernel that is launched next there. */
    edge = edge_of(&result, "window-begin", "gemm");
    ck_assert_int_eq(edge.evidence.kind, EVIDENCE_ASSUMED);
    ck_assert_int_eq(edge.lag_ns, 0);
    import_result_free(&result);
    made_import_window(&made, "4us:8us", &result);
    ck_assert(!has_node(&result, "window-begin"));
    import_result_free(&result);
}
END_TEST

/* Rows far from the window, which reuse its events, addresses and streams, one of a device and one
 * of a thread of their own. Correlation ids go from `id` on. */
static void add_other(struct made_export *made, int64_t at, int64_t id)
{
    made_call(made, at, at + 100, THREAD(1), id, "cudaMalloc_v3020");
    made_memory(made, at + 50, false, 0x9000, 4096, DEVICE, id);
    made_call(made, at + 200, at + 300, THREAD(1), id + 1, "cudaEventRecord_v3020");
    made_record(made, 7, id + 1, 0);
    made_call(made, at + 400, at + 500, THREAD(1), id + 2, "cudaLaunchKernel_v7000");
    made_kernel(made, at + 2000, at + 3000, 7, id + 2, "elsewhere");
    made_call(made, at + 600, at + 700, THREAD(1), id + 3, "cudaStreamWaitEvent_v3020");
    made_sync(made, at + 600, at + 700, 8, id + 3, 0);
    made_call(made, at + 800, at + 900, THREAD(1), id + 4, "cudaFree_v3020");
    made_memory(made, at + 850, true, 0x9000, 4096, DEVICE, id + 4);
    made_call(made, at + 1000, at + 1100, THREAD(2), id + 5, "cudaLaunchKernel_v7000");
    made_kernel(made, at + 3500, at + 3600, 9, id + 5, "elsewhere");
    made_range(made, at, at + 4000, THREAD(1), "other");
}

START_TEST(nothing_else_matters)
{
    const char *const windows[] = {"1001us:1014us", "1004300:1008us", "1us:1000s", "step"};
    struct made_export plain, crowded;

    made_run(&plain, "alone", 1000000);
    made_range(&plain, 1003000, 1009000, THREAD(1), "step");
    made_end(&plain);
    made_run(&crowded, "crowded", 1000000);
    made_range(&crowded, 1003000, 1009000, THREAD(1), "step");
    made_sql(&crowded,
             "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = correlationId + 5000;"
             "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = correlationId + 5000;"
             "UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET correlationId = correlationId + "
             "5000; UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET correlationId = "
             "correlationId + 5000; UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET correlationId "
             "= correlationId + 5000");
    for (int64_t i = 0; i < 50; i++) {
        add_other(&crowded, 10000 * i, 10 + 10 * i);
        add_other(&crowded, 2000000 + 10000 * i, 10000 + 10 * i);
    }
    made_end(&crowded);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        char *a, *b;

        if (i == 2) /* all of both: not the same */
            continue;
        a = made_form(&plain, windows[i]);
        b = made_form(&crowded, windows[i]);
        made_same_forms(a, b);
        free(a);
        free(b);
    }
}
END_TEST

/* A window around everything takes everything. */
START_TEST(window_of_all)
{
    struct made_export made;
    char *all, *window;

    made_run(&made, "all", 1000);
    add_other(&made, 500000, 500);
    made_end(&made);
    all = made_form(&made, NULL);
    window = made_form(&made, "0:1s");
    made_same_forms(all, window);
    free(all);
    free(window);
}
END_TEST

/* Allocated before and freed inside, before and after, inside and after; freed before; given out
 * twice before; and calls that lie across the edges of the window. */
START_TEST(lives_across)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "lives");
    made_call(&made, 0, 900, THREAD(1), 1, "cudaMalloc_v3020");
    made_memory(&made, 100, false, 0x1000, 1000, DEVICE, 1); /* until inside */
    made_memory(&made, 200, false, 0x2000, 2000, DEVICE, 1); /* until after */
    made_memory(&made, 300, false, 0x3000, 3000, DEVICE, 1); /* until before */
    made_memory(&made, 400, false, 0x4000, 4000, DEVICE, 1); /* given out again, before */
    made_memory(&made, 500, false, 0x4000, 5000, DEVICE, 1); /* for ever */
    made_memory(&made, 600, false, 0x5000, 6000, DEVICE, 1); /* given out again, after */
    made_call(&made, 1000, 1900, THREAD(1), 2, "cudaFree_v3020");
    made_memory(&made, 1500, true, 0x3000, 3000, DEVICE, 2);
    made_call(&made, 3000, 3900, THREAD(1), 3, "cudaFree_v3020");
    made_memory(&made, 3500, true, 0x1000, 1000, DEVICE, 3);
    made_call(&made, 4000, 4900, THREAD(1), 4, "cudaMalloc_v3020");
    made_memory(&made, 4500, false, 0x6000, 7000, DEVICE, 4); /* inside, until after */
    made_call(&made, 5000, 5100, THREAD(1), 5, "cudaLaunchKernel_v7000");
    made_kernel(&made, 6000, 7000, 7, 5, "k");
    made_call(&made, 20000, 20900, THREAD(1), 6, "cudaFree_v3020");
    made_memory(&made, 20500, true, 0x2000, 2000, DEVICE, 6);
    made_memory(&made, 20600, true, 0x6000, 7000, DEVICE, 6);
    made_memory(&made, 20700, false, 0x5000, 8000, DEVICE, 6);
    made_end(&made);
    made_import_window(&made, "2us:8us", &result);
    ck_assert_uint_eq(graph_n_objects(result.graph), 5);
    ck_assert_int_eq(object_of(&result, "device#1").size_bytes, 1000);
    ck_assert_int_eq(object_of(&result, "device#2").size_bytes, 2000);
    ck_assert_int_eq(object_of(&result, "device#3").size_bytes, 5000);
    ck_assert_int_eq(object_of(&result, "device#4").size_bytes, 6000);
    ck_assert_int_eq(object_of(&result, "device#5").size_bytes, 7000);
    ck_assert(object_of(&result, "device#1").is_initial);
    ck_assert(object_of(&result, "device#4").is_initial);
    ck_assert(!object_of(&result, "device#5").is_initial);
    ck_assert(has_node(&result, "free:device#1"));
    ck_assert(!has_node(&result, "free:device#2"));
    ck_assert(has_node(&result, "alloc:device#5"));
    /* The call is told that gave it out, although it is not in the window. */
    ck_assert_ptr_nonnull(
        strstr(graph_text(result.graph, object_of(&result, "device#2").origin), "cudaMalloc"));
    import_result_free(&result);
}
END_TEST

/* Work whose call came before the window is not in it, work without a call goes by its own start; a
 * call within one that began in the window is, one within an earlier one is not. */
START_TEST(edges_of_calls)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "edges");
    made_call(&made, 100, 200, THREAD(1), 1, "cudaLaunchKernel_v7000");
    made_kernel(&made, 5000, 5100, 7, 1, "launched_before");
    made_kernel(&made, 5200, 5300, 7, 77, "of_no_call");
    made_call(&made, 900, 2500, THREAD(1), 2, "cudaMemcpy_v3020"); /* lies across the beginning */
    made_call(&made, 1500, 1600, THREAD(1), 3, "cuLaunchKernel");
    made_kernel(&made, 5400, 5500, 7, 3, "within_an_earlier_call");
    made_call(&made, 2800, 4000, THREAD(1), 4, "cudaLaunchKernel_v7000"); /* across the end */
    made_call(&made, 3500, 3600, THREAD(1), 5, "cuLaunchKernel");
    made_kernel(&made, 5600, 5700, 7, 5, "within_a_call_of_it");
    made_call(&made, 3500, 3600, THREAD(2), 6, "cuLaunchKernel");
    made_kernel(&made, 5800, 5900, 8, 6, "after_it");
    made_end(&made);
    made_import_window(&made, "1us:3us", &result);
    ck_assert(!has_node(&result, "launched_before"));
    ck_assert(!has_node(&result, "of_no_call")); /* it began after the window */
    ck_assert(!has_node(&result, "within_an_earlier_call"));
    ck_assert(has_node(&result, "within_a_call_of_it"));
    ck_assert(!has_node(&result, "after_it"));
    import_result_free(&result);
    made_import_window(&made, "1us:5250", &result);
    ck_assert(has_node(&result, "of_no_call"));
    ck_assert(!has_node(&result, "launched_before"));
    ck_assert_int_eq(count_of(&result, "skipped", "outside_window_device_ops"), 2);
    import_result_free(&result);
}
END_TEST

/* A copy to a device that has work of its own only outside of the window. */
START_TEST(peer_outside)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    made_begin(&made, "peer");
    made_call(&made, 100, 200, THREAD(1), 1, "cudaLaunchKernel_v7000");
    made_kernel(&made, 300, 400, 9, 1, "elsewhere");
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1");
    made_call(&made, 5000, 5100, THREAD(1), 2, "cudaMemcpyPeerAsync_v4000");
    made_copy(&made, 6000, 7000, 7, 2, P2P, DEVICE, DEVICE, 4096);
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcDeviceId = 0, dstDeviceId = 1");
    made_end(&made);
    made_import_window(&made, "4us:8us", &result);
    graph_node(result.graph, node_of(&result, "p2p"), &node);
    ck_assert_str_eq(graph_text(result.graph, graph_domain(result.graph, node.to)->name), "gpu1");
    ck_assert_str_eq(graph_text(result.graph, graph_domain(result.graph, node.from)->name), "gpu0");
    ck_assert(!has_node(&result, "elsewhere"));
    import_result_free(&result);
}
END_TEST

/* Times that no clock has, texts for numbers and failed calls are not the first event. */
START_TEST(first_is_an_event)
{
    struct made_export made;
    struct import_result result;

    made_run(&made, "first", 1000);
    made_failed_call(&made, 1, 2, THREAD(1), 900, "cudaMalloc_v3020");
    made_sql(&made,
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end) VALUES (-9223372036854775807,"
             " 5), (5, NULL), ('x', 'y');"
             "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS(start, address, bytes, memKind, "
             "memoryOperationType, globalPid) VALUES (3, 64, 8, 5, 0, 0), (4, 64, 'many', 2, "
             "0, 0)");
    made_end(&made);
    made_import_window(&made, "+0:+1s", &result);
    ck_assert_int_eq(count_of(&result, "source", "first_ns"), 1000);
    ck_assert_int_eq(result.origin_ns, 1000);
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-window");
    TCase *tcase = tcase_create("window");

    tcase_add_test(tcase, window_by_times);
    tcase_add_test(tcase, window_by_marker);
    tcase_add_test(tcase, window_since_first);
    tcase_add_test(tcase, record_before);
    tcase_add_test(tcase, nothing_else_matters);
    tcase_add_test(tcase, window_of_all);
    tcase_add_test(tcase, lives_across);
    tcase_add_test(tcase, edges_of_calls);
    tcase_add_test(tcase, peer_outside);
    tcase_add_test(tcase, first_is_an_event);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
