/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launches, streams, events between streams, the null stream, migrations, graphs: what is linked to
 * what, and what the waits are put down to. Every import here is also replayed (made_import). */
#include <string.h>

#include "tests/suite.h"
#include "tests/traces/made_export.h"

/* A kernel that runs at once: 2000 ns after its call had returned. */
START_TEST(launch_bound)
{
    struct made_export made;
    struct import_result result;
    struct graph_edge edge;

    made_begin(&made, "launch");
    made_call(&made, 5000, 6000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 8000, 9500, 7, 11, "k");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(result.origin_ns, 5000);
    ck_assert_int_eq(result.makespan_ns, 4500);
    ck_assert_int_eq(start_of(&result, "k"), 3000);
    edge = edge_of(&result, "cudaLaunchKernel", "k");
    ck_assert_int_eq(edge.lag_ns, 2000);
    ck_assert(!edge.is_from_start);
    ck_assert_str_eq(why_of(&result, "cudaLaunchKernel", "k"),
                     "observed:launch: correlation id; gap: launch-bound");
    ck_assert_str_eq(origin_of(&result, "k"), "KERNEL row 1; cudaLaunchKernel");
    ck_assert_str_eq(import_grade_name(result.report.grade), "C");
    import_result_free(&result);
}
END_TEST

/* One that begins while its call still runs counts from the start of the call. */
START_TEST(launch_within_call)
{
    struct made_export made;
    struct import_result result;
    struct graph_edge edge;

    made_begin(&made, "within");
    made_call(&made, 0, 60000, THREAD(1), 11, "cuLaunchKernel");
    made_kernel(&made, 50000, 70000, 7, 11, "k");
    made_end(&made);
    made_import(&made, &result);
    edge = edge_of(&result, "cuLaunchKernel", "k");
    ck_assert(edge.is_from_start);
    ck_assert_int_eq(edge.lag_ns, 50000);
    ck_assert_int_eq(count_of(&result, "gaps", "unexplained_ns"), 0);
    import_result_free(&result);
}
END_TEST

/* Work that began before its call: the link is dropped and counted. One in one is too many. */
START_TEST(launch_contradicted)
{
    struct made_export made;

    made_begin(&made, "early");
    made_call(&made, 5000, 6000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 4000, 9500, 7, 11, "k");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "began before the call that launched it");
}
END_TEST

/* Two processes use the same correlation id: each kernel belongs to the call of its own. */
START_TEST(launch_by_process)
{
    struct made_export made;
    struct import_result result;
    char sql[512];
    const int64_t other = (INT64_C(1) << 56) | (INT64_C(888) << 24);

    made_begin(&made, "processes");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 3000, 7, 11, "mine");
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, "
                   "nameId, returnValue) SELECT start + 100, end + 100, %lld, correlationId, "
                   "nameId, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME;"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, "
                   "streamId, correlationId, globalPid) SELECT start + 100, end + 100, 1, 1, 7, "
                   "correlationId, %lld FROM CUPTI_ACTIVITY_KIND_KERNEL",
                   (long long)(other + 5), (long long)other);
    made_sql(&made, sql);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "cudaLaunchKernel", "mine"));
    ck_assert(has_edge(&result, "cudaLaunchKernel#2", "kernel"));
    ck_assert(!has_edge(&result, "cudaLaunchKernel", "kernel"));
    ck_assert_int_eq(count_of(&result, "device", "streams"), 2);
    import_result_free(&result);
}
END_TEST

/* The second kernel was launched while the first ran: its stream held it, for 1000 ns more. The
 * link from its call keeps the least lag that a launch took, 2000. */
START_TEST(stream_order)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "stream");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 1500, 2500, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_kernel(&made, 3000, 9000, 7, 11, "a");
    made_kernel(&made, 10000, 12000, 7, 12, "b");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(edge_of(&result, "a", "b").lag_ns, 1000);
    ck_assert_str_eq(why_of(&result, "a", "b"),
                     "ordered:stream order; gap: device idle between actions");
    ck_assert_int_eq(edge_of(&result, "cudaLaunchKernel#2", "b").lag_ns, 2000);
    ck_assert_str_eq(why_of(&result, "cudaLaunchKernel#2", "b"),
                     "observed:launch: correlation id; lag: the least that was seen");
    ck_assert_int_eq(edge_of(&result, "cudaLaunchKernel", "cudaLaunchKernel#2").lag_ns, 500);
    ck_assert_str_eq(why_of(&result, "cudaLaunchKernel", "cudaLaunchKernel#2"),
                     "ordered:calls of one thread; gap: host between calls");
    import_result_free(&result);
}
END_TEST

/* Kernels of one stream may overlap: the later one counts from the start of the earlier. */
START_TEST(stream_overlap)
{
    struct made_export made;
    struct import_result result;
    struct graph_edge edge;

    made_begin(&made, "overlap");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 1000, 2000, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_kernel(&made, 3000, 9000, 7, 11, "a");
    made_kernel(&made, 6000, 12000, 7, 12, "b");
    made_end(&made);
    made_import(&made, &result);
    edge = edge_of(&result, "a", "b");
    ck_assert(edge.is_from_start);
    ck_assert_int_eq(count_of(&result, "device", "overlaps_on_a_stream"), 1);
    ck_assert_int_eq(count_of(&result, "device", "overlap_most_ns"), 3000);
    import_result_free(&result);
}
END_TEST

/* Stream order is that of the launches. Here the work launched second began first, which cannot be
 * on one stream: of one step along it, one is contradicted. */
START_TEST(stream_contradicted)
{
    struct made_export made;

    made_begin(&made, "disorder");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 1000, 2000, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_kernel(&made, 6000, 9000, 7, 11, "a");
    made_kernel(&made, 3000, 5000, 7, 12, "b");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "before work launched earlier on its stream");
}
END_TEST

/* Work of which the call is not in the file goes by its start, and is released when nothing else
 * is known. */
START_TEST(work_without_call)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    made_begin(&made, "orphans");
    made_kernel(&made, 3000, 4000, 7, 2, "second");
    made_kernel(&made, 1000, 2000, 7, 9, "first");
    made_call(&made, 5000, 6000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 8000, 9000, 7, 11, "third");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "first", "second"));
    ck_assert(has_edge(&result, "second", "third"));
    ck_assert_int_eq(count_of(&result, "device", "kernels_without_launch"), 2);
    graph_node(result.graph, node_of(&result, "first"), &node);
    ck_assert_int_eq(node.release_ns, 0);
    /* The call is the first of its thread: nothing says why it came when it did. */
    graph_node(result.graph, node_of(&result, "cudaLaunchKernel"), &node);
    ck_assert_int_eq(node.release_ns, 4000);
    import_result_free(&result);
}
END_TEST

/* A gap that nothing known is as long as: it is told, and it is what the chain rests on. */
START_TEST(unexplained_gap)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "unexplained");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 501000, 601000, 7, 11, "late");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "cudaLaunchKernel", "late"),
                     "observed:launch: correlation id; gap: unexplained");
    ck_assert_int_eq(result.makespan_ns, 601000);
    ck_assert_int_eq(result.chain_unexplained_ns, 500000);
    ck_assert_int_eq(count_of(&result, "chain", "busy_ns"), 101000);
    import_result_free(&result);
}
END_TEST

/* Late work on one stream, and a copy of its direction that ended on another just before: the copy
 * engine was busy. */
START_TEST(copy_engine)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "engine");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaMemcpyAsync_v3020");
    made_call(&made, 1000, 2000, THREAD(1), 12, "cudaMemcpyAsync_v3020");
    made_call(&made, 2000, 3000, THREAD(1), 13, "cudaMemcpyAsync_v3020");
    made_copy(&made, 3000, 503000, 13, 11, H2D, PINNED, DEVICE, 4096);
    made_copy(&made, 3000, 503500, 15, 13, D2H, DEVICE, PINNED, 4096);
    made_copy(&made, 504000, 604000, 14, 12, H2D, PINNED, DEVICE, 4096);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "h2d-pinned", "h2d-pinned#2"),
                     "inferred:copy engine was busy with this copy; alternatives: 1; gap: device "
                     "idle between actions");
    ck_assert_int_eq(edge_of(&result, "h2d-pinned", "h2d-pinned#2").lag_ns, 1000);
    ck_assert(!has_edge(&result, "d2h-pinned", "h2d-pinned#2"));
    ck_assert_int_eq(count_of(&result, "gaps", "unexplained_ns"), 0);
    import_result_free(&result);
}
END_TEST

/* Two streams, one event used twice: each wait is for the newest record before it.
 *   stream 7:  a(11)  record(12)            b(15)  record(16)
 *   stream 8:                  wait(13) c(14)                wait(17) d(18)  */
static void two_waits(struct made_export *made, int64_t c_start, int64_t d_start)
{
    made_call(made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(made, 200, 300, THREAD(1), 12, "cudaEventRecord_v3020");
    made_call(made, 400, 500, THREAD(1), 13, "cudaStreamWaitEvent_v3020");
    made_call(made, 600, 700, THREAD(1), 14, "cudaLaunchKernel_v7000");
    made_call(made, 800, 900, THREAD(1), 15, "cudaLaunchKernel_v7000");
    made_call(made, 1000, 1100, THREAD(1), 16, "cudaEventRecord_v3020");
    made_call(made, 1200, 1300, THREAD(1), 17, "cudaStreamWaitEvent_v3020");
    made_call(made, 1400, 1500, THREAD(1), 18, "cudaLaunchKernel_v7000");
    made_kernel(made, 2000, 12000, 7, 11, "a");
    made_kernel(made, 13000, 23000, 7, 15, "b");
    made_kernel(made, c_start, c_start + 1000, 8, 14, "c");
    made_kernel(made, d_start, d_start + 1000, 8, 18, "d");
    made_sync(made, 400, 500, 8, 13, 5);
    made_sync(made, 1200, 1300, 8, 17, 5);
    made_stream(made, 7, NON_BLOCKING);
    made_stream(made, 8, NON_BLOCKING);
}

START_TEST(event_reused)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "events");
    two_waits(&made, 14000, 25000);
    made_record(&made, 7, 16, 5);
    made_record(&made, 7, 12, 5);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "a", "c"),
                     "observed:stream waits for the newest record of the event; gap: device idle "
                     "between actions");
    ck_assert_int_eq(edge_of(&result, "a", "c").lag_ns, 2000);
    ck_assert(has_edge(&result, "b", "d"));
    ck_assert(!has_edge(&result, "b", "c"));
    ck_assert(!has_edge(&result, "a", "d"));
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 2);
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 0);
    ck_assert_int_eq(count_of(&result, "waits", "classified_by_call"), 2);
    ck_assert_str_eq(import_grade_name(result.report.grade), "C");
    import_result_free(&result);
}
END_TEST

/* d began 1001 ns before b had ended: it did not wait for it. One of two is too many to import, so
 * 40 waits that hold stand beside it here. */
static void contradiction(struct made_export *made, int64_t d_start)
{
    two_waits(made, 14000, d_start);
    made_record(made, 7, 12, 5);
    made_record(made, 7, 16, 5);
    for (int64_t i = 0; i < 40; i++) {
        made_record(made, 7, 100 + 2 * i, 1000 + i);
        made_sync(made, 30000, 30000, 8, 101 + 2 * i, 1000 + i);
    }
}

START_TEST(event_contradicted)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "contradicted");
    contradiction(&made, 21999);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(!has_edge(&result, "b", "d"));
    ck_assert_int_eq(count_of(&result, "waits", "contradicted"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 42);
    import_result_free(&result);

    /* One nanosecond less, and two clocks may differ so. */
    made_begin(&made, "tolerated");
    contradiction(&made, 22000);
    made_end(&made);
    made_import(&made, &result);
    ck_assert(edge_of(&result, "b", "d").is_from_start);
    ck_assert_int_eq(edge_of(&result, "b", "d").lag_ns, 9000);
    ck_assert_int_eq(count_of(&result, "waits", "contradicted"), 0);
    import_result_free(&result);

    made_begin(&made, "refused");
    two_waits(&made, 14000, 21999);
    made_record(&made, 7, 12, 5);
    made_record(&made, 7, 16, 5);
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "more than 5 % of the waits are contradicted");
}
END_TEST

/* A record of that event after the wait, or in another context, is not its record: the wait is
 * unresolved, all streams are ordered there as far as the times allow, and the grade is D. */
START_TEST(event_unresolved)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "unresolved");
    two_waits(&made, 14000, 25000);
    made_record(&made, 7, 14, 5);
    made_sql(&made, "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, contextId, streamId, "
                    "correlationId, globalPid, eventId) SELECT 0, 2, 7, 12, globalPid, 5 FROM "
                    "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 1);
    ck_assert_str_eq(why_of(&result, "a", "c"),
                     "assumed:wait without its record: after all streams; gap: device idle between "
                     "actions");
    /* The wait for d finds the record that came after the first wait: a had been launched then. */
    ck_assert_int_eq(count_of(&result, "waits", "resolved"), 1);
    ck_assert_str_eq(import_grade_name(result.report.grade), "D");
    ck_assert_ptr_nonnull(strstr(result.report.remedy, "every wait has its event record"));
    import_result_free(&result);
}
END_TEST

/* In another context an event is known by the number that newer files give each record. */
START_TEST(event_across_contexts)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "contexts");
    two_waits(&made, 14000, 25000);
    made_record(&made, 7, 12, 9);
    made_record(&made, 7, 16, 9);
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET contextId = 2, eventSyncId = "
                    "correlationId; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET contextId = 2, deviceId "
                    "= 1 WHERE streamId = 7; UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET deviceId = "
                    "1; UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventSyncId = "
                    "correlationId - 1");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_edge(&result, "a", "c"));
    ck_assert(has_edge(&result, "b", "d"));
    ck_assert_int_eq(count_of(&result, "waits", "resolved_by_sync_id"), 2);
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 0);
    import_result_free(&result);
}
END_TEST

/* Calls that wait for an event, and no row that says which. */
START_TEST(event_without_row)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "rowless");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 300, THREAD(1), 12, "cudaStreamWaitEvent_v3020");
    made_kernel(&made, 2000, 3000, 7, 11, "a");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 1);
    ck_assert_int_eq(count_of(&result, "waits", "calls_without_row"), 1);
    ck_assert_str_eq(import_grade_name(result.report.grade), "D");
    import_result_free(&result);
}
END_TEST

/* What is captured into a graph waits for nothing when it is called, and has no row. */
START_TEST(captured)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "captured");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaStreamBeginCapture_v10000");
    made_call(&made, 200, 300, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 400, 500, THREAD(1), 13, "cudaStreamWaitEvent_v3020");
    made_call(&made, 600, 700, THREAD(1), 14, "cudaStreamEndCapture_v10000");
    made_call(&made, 800, 900, THREAD(1), 15, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 3000, 7, 15, "a");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "waits", "unresolved"), 0);
    ck_assert_int_eq(count_of(&result, "host", "calls_captured_into_graphs"), 2);
    ck_assert_str_eq(import_grade_name(result.report.grade), "C");
    import_result_free(&result);
}
END_TEST

/* Work on the null stream waits for the blocking streams, and they for it; others do not. */
START_TEST(null_stream)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "null");
    for (int64_t i = 0; i < 5; i++)
        made_call(&made, 200 * i, 200 * i + 100, THREAD(1), 11 + i, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 10000, 13, 11, "blocking");
    made_kernel(&made, 2000, 90000, 14, 12, "free");
    made_kernel(&made, 11000, 20000, 7, 13, "null");
    made_kernel(&made, 21000, 22000, 13, 14, "after");
    made_kernel(&made, 90500, 91000, 14, 15, "free2");
    made_stream(&made, 7, NULL_STREAM);
    made_stream(&made, 13, BLOCKING);
    made_stream(&made, 14, NON_BLOCKING);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "blocking", "null"),
                     "ordered:null-stream barrier; gap: device idle between actions");
    ck_assert(edge_of(&result, "null", "after").type == EDGE_BARRIER);
    ck_assert(!has_edge(&result, "free", "null"));
    ck_assert(!has_edge(&result, "null", "free2"));
    ck_assert_int_eq(count_of(&result, "implied", "stream_barriers"), 2);
    import_result_free(&result);
}
END_TEST

/* The same where the kind of the other stream was not recorded: assumed, and dropped where the times
 * say no. */
START_TEST(null_stream_unknown)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "unknown");
    for (int64_t i = 0; i < 3; i++)
        made_call(&made, 200 * i, 200 * i + 100, THREAD(1), 11 + i, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 10000, 13, 11, "one");
    made_kernel(&made, 11000, 20000, 7, 12, "null");
    made_kernel(&made, 12000, 13000, 13, 13, "two");
    made_stream(&made, 7, NULL_STREAM);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(why_of(&result, "one", "null"),
                     "assumed:null-stream barrier, if this stream is a blocking one; gap: device "
                     "idle between actions");
    ck_assert(!has_edge(&result, "null", "two"));
    ck_assert_int_eq(count_of(&result, "implied", "stream_barriers_contradicted"), 1);
    import_result_free(&result);
}
END_TEST

/* A page that moves while a kernel runs lies within that kernel, whose time contains the wait; one
 * that moves later follows the call that had returned. */
START_TEST(migrations)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    made_begin(&made, "uvm");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 1500, 9500, THREAD(1), 12, "cudaDeviceSynchronize_v3020");
    made_kernel(&made, 3000, 9000, 7, 11, "k");
    made_copy(&made, 4000, 5000, 0, 0, UVM_H2D, 7, 7, 4096);
    made_copy(&made, 5000, 6000, 0, 0, UVM_H2D, 7, 7, 61440);
    made_copy(&made, 19500, 20000, 0, 0, UVM_D2H, 7, 7, 4096);
    made_sync(&made, 1600, 9300, NO_ID, 12, NO_ID);
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET migrationCause = 2");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(edge_of(&result, "k", "uvm-h2d").is_from_start);
    ck_assert_int_eq(edge_of(&result, "k", "uvm-h2d").lag_ns, 1000);
    ck_assert_str_eq(why_of(&result, "k", "uvm-h2d"),
                     "contained:page migration while this kernel ran; gap: inside a call");
    ck_assert_int_eq(edge_of(&result, "cudaDeviceSynchronize:return", "uvm-d2h").lag_ns, 10000);
    ck_assert(!has_edge(&result, "cudaLaunchKernel", "uvm-h2d"));
    graph_node(result.graph, node_of(&result, "k"), &node);
    ck_assert_ptr_nonnull(strstr(graph_text(result.graph, node.evidence.detail),
                                 "includes stalls: 2 page migrations within"));
    graph_node(result.graph, node_of(&result, "uvm-h2d"), &node);
    ck_assert(node.kind == NODE_TRANSFER);
    ck_assert_str_eq(origin_of(&result, "uvm-h2d"), "MEMCPY row 1; page fault");
    ck_assert_int_eq(count_of(&result, "device", "migrations_in_kernels"), 2);
    ck_assert_int_eq(count_of(&result, "copies", "uvm_h2d_bytes"), 65536);
    ck_assert_int_eq(count_of(&result, "device", "without_launch"), 0);
    import_result_free(&result);
}
END_TEST

/* A graph launch that was recorded whole is one action; recorded by node it is its children, and the
 * row of the whole is not counted again. */
START_TEST(graph_launches)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "graphs");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaGraphLaunch_v10000");
    made_call(&made, 1000, 2000, THREAD(1), 12, "cudaGraphLaunch_v10000");
    made_kernel(&made, 20000, 24000, 7, 12, "first");
    made_kernel(&made, 22000, 26000, 7, 12, "beside");
    made_kernel(&made, 24500, 25000, 7, 12, "next");
    made_sql(&made, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 5;"
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, "
                    "deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
                    "globalPid INTEGER, graphId INTEGER);"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT 3000, 9000, 0, 1, 7, 11, "
                    "globalPid, 2 FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT 20000, 26000, 0, 1, 7, 12, "
                    "globalPid, 2 FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_node(&result, "graph-launch"));
    ck_assert(!has_node(&result, "graph-launch#2"));
    ck_assert_int_eq(count_of(&result, "skipped", "second_graph_rows"), 1);
    ck_assert_int_eq(count_of(&result, "skipped", "second_graph_ns"), 6000);
    ck_assert_int_eq(count_of(&result, "device", "graph_launches"), 1);
    ck_assert_int_eq(count_of(&result, "device", "graph_ns"), 6000);
    ck_assert_int_eq(count_of(&result, "device", "graph_children"), 3);
    ck_assert_str_eq(origin_of(&result, "graph-launch"),
                     "GRAPH_TRACE row 1; cudaGraphLaunch; graph 2");
    ck_assert(edge_of(&result, "first", "beside").is_from_start);
    ck_assert(!edge_of(&result, "first", "next").is_from_start);
    ck_assert_int_eq(edge_of(&result, "first", "next").lag_ns, 500);
    ck_assert_ptr_nonnull(strstr(why_of(&result, "first", "next"), "inferred:inside one graph"));
    ck_assert_ptr_nonnull(strstr(result.report.remedy, "--cuda-graph-trace=node"));
    import_result_free(&result);
}
END_TEST

/* What made the graphs, in a table of its own; a launch of one that was made before the profile began;
 * nodes that do not say that they are nodes are known by the id of the launch. */
START_TEST(graph_events)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "graph-events");
    made_call(&made, 0, 1000, THREAD(1), 11, "cudaGraphLaunch_v10000");
    made_call(&made, 1000, 2000, THREAD(1), 12, "cudaGraphLaunch_v10000");
    made_call(&made, 2000, 3000, THREAD(1), 13, "cudaGraphLaunch_v10000");
    made_kernel(&made, 20000, 24000, 7, 12, "node");
    made_copy(&made, 24000, 25000, 7, 12, H2D, PINNED, DEVICE, 64);
    made_sql(&made,
             "CREATE TABLE CUDA_GRAPH_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, "
             "globalTid INTEGER, nameId INTEGER, graphId INTEGER, originalGraphId INTEGER, "
             "graphExecId INTEGER); INSERT INTO CUDA_GRAPH_EVENTS VALUES (1, 1, 95, 0, 0, 1, NULL, "
             "NULL), (2, 2, 95, 0, 0, 2, 1, NULL), (3, 3, 94, 0, 0, 1, NULL, 2);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, "
             "deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
             "globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT 3000, 9000, 0, 1, 7, 11, "
             "globalPid, 1, 2 FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;"
             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT 20000, 25000, 0, 1, 7, 12, "
             "globalPid, 1, 2 FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;"
             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT 26000, 27000, 0, 1, 7, 13, "
             "globalPid, 9, 10 FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "rows", "graph_events_read"), 3);
    ck_assert_int_eq(count_of(&result, "device", "graphs_made"), 2);
    ck_assert_int_eq(count_of(&result, "device", "graph_executables_made"), 1);
    ck_assert_int_eq(count_of(&result, "device", "graph_executables_launched"), 2);
    ck_assert_int_eq(count_of(&result, "device", "graph_launches_of_unseen_making"), 1);
    ck_assert_int_eq(count_of(&result, "device", "graph_children"), 2);
    ck_assert_int_eq(count_of(&result, "device", "graph_launches"), 2);
    ck_assert_int_eq(count_of(&result, "skipped", "second_graph_ns"), 5000);
    /* All that the device did is there once. */
    ck_assert_int_eq(count_of(&result, "device", "graph_ns"), 7000);
    ck_assert_int_eq(count_of(&result, "device", "kernel_ns"), 4000);
    ck_assert_int_eq(count_of(&result, "device", "copy_ns"), 1000);
    ck_assert_str_eq(origin_of(&result, "graph-launch#2"),
                     "GRAPH_TRACE row 3; cudaGraphLaunch; graph 9");
    import_result_free(&result);
}
END_TEST

/* Directions with the kinds of memory, domains, bytes. */
START_TEST(copies)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    made_begin(&made, "copies");
    for (int64_t i = 0; i < 5; i++)
        made_call(&made, 200 * i, 200 * i + 100, THREAD(1), 11 + i, "cudaMemcpyAsync_v3020");
    made_copy(&made, 2000, 3000, 7, 11, H2D, PINNED, DEVICE, 100);
    made_copy(&made, 3000, 4000, 7, 12, D2H, DEVICE, PINNED, 50);
    made_copy(&made, 4000, 5000, 7, 13, D2D, DEVICE, DEVICE, 25);
    made_copy(&made, 5000, 6000, 7, 14, 0, PINNED, DEVICE, 12); /* its own kind says nothing */
    made_set(&made, 6000, 7000, 7, 15, 9);
    made_end(&made);
    made_import(&made, &result);
    graph_node(result.graph, node_of(&result, "h2d-pinned"), &node);
    ck_assert(node.kind == NODE_TRANSFER);
    ck_assert_int_eq(node.bytes, 100);
    ck_assert_str_eq(graph_text(result.graph, graph_domain(result.graph, node.from)->name), "host");
    ck_assert_str_eq(graph_text(result.graph, graph_domain(result.graph, node.to)->name), "gpu0");
    ck_assert_str_eq(graph_text(result.graph, graph_class_name(result.graph, node.class_given)),
                     "h2d-pinned");
    graph_node(result.graph, node_of(&result, "d2d"), &node);
    ck_assert(!weir_is(node.from) && !weir_is(node.to));
    ck_assert_int_eq(count_of(&result, "copies", "h2d_pinned_bytes"), 112);
    ck_assert_int_eq(count_of(&result, "copies", "d2h_pinned_count"), 1);
    ck_assert_int_eq(count_of(&result, "device", "memset_bytes"), 9);
    graph_node(result.graph, node_of(&result, "memset"), &node);
    ck_assert(node.kind == NODE_COMPUTE);
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-device");
    TCase *tcase = tcase_create("links");

    tcase_add_test(tcase, launch_bound);
    tcase_add_test(tcase, launch_within_call);
    tcase_add_test(tcase, launch_contradicted);
    tcase_add_test(tcase, launch_by_process);
    tcase_add_test(tcase, stream_order);
    tcase_add_test(tcase, stream_overlap);
    tcase_add_test(tcase, stream_contradicted);
    tcase_add_test(tcase, work_without_call);
    tcase_add_test(tcase, unexplained_gap);
    tcase_add_test(tcase, copy_engine);
    tcase_add_test(tcase, event_reused);
    tcase_add_test(tcase, event_contradicted);
    tcase_add_test(tcase, event_unresolved);
    tcase_add_test(tcase, event_across_contexts);
    tcase_add_test(tcase, event_without_row);
    tcase_add_test(tcase, captured);
    tcase_add_test(tcase, null_stream);
    tcase_add_test(tcase, null_stream_unknown);
    tcase_add_test(tcase, migrations);
    tcase_add_test(tcase, graph_launches);
    tcase_add_test(tcase, graph_events);
    tcase_add_test(tcase, copies);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
