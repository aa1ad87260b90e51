/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations: objects with the lifetimes that the driver gave them, on the host and on the device,
 * and what becomes of events that have no partner. Every import here is also replayed. */
#include <string.h>

#include "tests/suite.h"
#include "tests/traces/made_export.h"

#define TAKEN false
#define FREED true

/* The bytes that were held from one moment to the next; -1 for the end: to the end. */
static void check_hold(const struct import_result *result, const char *object, int64_t from_ns,
                       int64_t to_ns)
{
    weir_object id = graph_find_object(result->graph, graph_find_text(result->graph, object));

    ck_assert_msg(weir_is(id), "no object %s", object);
    for (size_t i = 0; i < result->timeline->n_holds; i++) {
        const struct timeline_hold *hold = &result->timeline->holds[i];
        if (!weir_same(hold->object, id))
            continue;
        ck_assert_int_eq(hold->acquire_ns, from_ns);
        ck_assert_int_eq(hold->release_ns, to_ns);
        return;
    }
    ck_abort_msg("%s is never held", object);
}

static int64_t capacity_of(const struct import_result *result, const char *domain)
{
    weir_domain id = graph_find_domain(result->graph, graph_find_text(result->graph, domain));

    ck_assert(weir_is(id));
    return graph_domain(result->graph, id)->capacity_bytes;
}

/* malloc [0,1000] with its event at 400, a kernel [3000,8000], free [5000,12000], which waits for
 * the kernel and gives the bytes back at 9000. */
static void one_object(struct made_export *made, const char *name)
{
    made_begin(made, name);
    made_call(made, 0, 1000, THREAD(1), 10, "cudaMalloc_v3020");
    made_call(made, 1500, 2000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(made, 5000, 12000, THREAD(1), 12, "cudaFree_v3020");
    made_kernel(made, 3000, 8000, 7, 11, "k");
    made_memory(made, 400, TAKEN, 0x7000, 1 << 20, DEVICE, 10);
    made_memory(made, 9000, FREED, 0x7000, 1 << 20, DEVICE, 12);
}

START_TEST(taken_and_freed)
{
    struct made_export made;
    struct import_result result;
    struct graph_node node;

    one_object(&made, "object");
    made_sql(&made, "CREATE TABLE TARGET_INFO_GPU (id INTEGER, totalMemory INTEGER, cuDevice "
                    "INTEGER, asyncEngines INTEGER); INSERT INTO TARGET_INFO_GPU VALUES (0, "
                    "8585216000, 0, 1)");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(object_of(&result, "device#1").size_bytes, 1 << 20);
    ck_assert_str_eq(graph_text(result.graph, object_of(&result, "device#1").origin),
                     "MEMORY_USAGE row 1; cudaMalloc");
    check_hold(&result, "device#1", 400, 9000);
    /* malloc: 400 of its own, then the allocation; free: the wait ends at 8000, the reclamation
     * lasts to 9000, and the rest is the way back. */
    graph_node(result.graph, node_of(&result, "alloc:device#1"), &node);
    ck_assert(node.kind == NODE_ALLOCATION);
    ck_assert_int_eq(start_of(&result, "alloc:device#1"), 400);
    ck_assert_int_eq(finish_of(&result, "alloc:device#1"), 1000);
    ck_assert_int_eq(start_of(&result, "free:device#1"), 8000);
    ck_assert_int_eq(finish_of(&result, "free:device#1"), 9000);
    ck_assert_int_eq(finish_of(&result, "cudaFree:return"), 12000);
    ck_assert_str_eq(why_of(&result, "k", "free:device#1"), "assumed:free waits for the device");
    ck_assert_int_eq(capacity_of(&result, "gpu0"), INT64_C(8585216000));
    ck_assert_int_eq(result.timeline->peak_bytes[0], 1 << 20);
    ck_assert_int_eq(count_of(&result, "memory", "paired"), 1);
    ck_assert_str_eq(import_grade_name(result.report.grade), "B");
    import_result_free(&result);
}
END_TEST

/* A domain is never smaller than what was seen in it. */
START_TEST(capacity_too_small)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "small");
    made_sql(&made, "CREATE TABLE TARGET_INFO_GPU (id INTEGER, totalMemory INTEGER); "
                    "INSERT INTO TARGET_INFO_GPU VALUES (0, 1000)");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(capacity_of(&result, "gpu0"), 1 << 30);
    import_result_free(&result);
}
END_TEST

/* Without the memory switch there are no objects, and the calls are calls. */
START_TEST(no_memory_events)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "none");
    made_sql(&made, "DROP TABLE CUDA_GPU_MEMORY_USAGE_EVENTS");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_uint_eq(graph_n_objects(result.graph), 0);
    ck_assert(has_node(&result, "cudaMalloc"));
    ck_assert(has_edge(&result, "k", "cudaFree:return"));
    ck_assert_str_eq(import_grade_name(result.report.grade), "C");
    ck_assert_ptr_nonnull(strstr(result.report.remedy, "--cuda-memory-usage=true"));
    import_result_free(&result);
}
END_TEST

/* The same address twice: two objects, one after the other. */
START_TEST(address_reused)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "reused");
    made_call(&made, 13000, 14000, THREAD(1), 13, "cudaMalloc_v3020");
    made_memory(&made, 13500, TAKEN, 0x7000, 1 << 10, DEVICE, 13);
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#1", 400, 9000);
    check_hold(&result, "device#2", 13500, -1);
    ck_assert_int_eq(object_of(&result, "device#2").size_bytes, 1 << 10);
    ck_assert_int_eq(count_of(&result, "memory", "allocations_without_free"), 1);
    import_result_free(&result);
}
END_TEST

/* The address was given out again without a free: the first was freed unseen, before that. */
START_TEST(free_unseen)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "unseen");
    made_call(&made, 0, 1000, THREAD(1), 10, "cudaMalloc_v3020");
    made_call(&made, 1500, 2000, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_call(&made, 5000, 6000, THREAD(1), 12, "cudaMalloc_v3020");
    made_kernel(&made, 3000, 4000, 7, 11, "k");
    made_memory(&made, 400, TAKEN, 0x7000, 100, DEVICE, 10);
    made_memory(&made, 5500, TAKEN, 0x7000, 200, DEVICE, 12);
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#1", 400, 5500);
    check_hold(&result, "device#2", 5500, -1);
    ck_assert(object_of(&result, "device#1").evidence.kind == EVIDENCE_INFERRED);
    ck_assert_int_eq(count_of(&result, "memory", "addresses_reused_without_free"), 1);
    import_result_free(&result);
}
END_TEST

/* The same of stream-ordered memory that was taken at the very moment at which it must have been gone
 * again: it is taken first. */
START_TEST(free_unseen_at_once)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "unseen-stream");
    made_call(&made, 0, 100, THREAD(1), 10, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 1000, THREAD(1), 11, "cudaMallocAsync_v11020");
    made_call(&made, 2200, 3000, THREAD(1), 12, "cudaMalloc_v3020");
    made_kernel(&made, 1500, 2500, 7, 10, "k");
    made_memory(&made, 300, TAKEN, 0x7000, 100, DEVICE, 11);
    made_memory(&made, 2500, TAKEN, 0x7000, 100, DEVICE, 12);
    made_sql(&made, "UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET streamId = 7, localMemoryPoolAddress "
                    "= 4096 WHERE correlationId = 11");
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#1", 2500, 2500);
    check_hold(&result, "device#2", 2500, -1);
    import_result_free(&result);
}
END_TEST

/* Stream-ordered memory that a synchronous free takes back before its place in the stream is there:
 * it is taken before that all the same. */
START_TEST(freed_before_its_place)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "place");
    made_call(&made, 0, 100, THREAD(1), 10, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 1000, THREAD(1), 11, "cudaMallocAsync_v11020");
    made_call(&made, 2200, 3000, THREAD(1), 12, "cudaFree_v3020");
    made_kernel(&made, 1500, 9500, 7, 10, "k");
    made_memory(&made, 300, TAKEN, 0x7000, 100, DEVICE, 11);
    made_memory(&made, 2500, FREED, 0x7000, 100, DEVICE, 12);
    made_sql(&made, "UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET streamId = 7, localMemoryPoolAddress "
                    "= 4096 WHERE correlationId = 11");
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#1", 2199, 2500);
    import_result_free(&result);
}
END_TEST

/* Freed, and never seen to be taken: there from the start. */
START_TEST(taken_before)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "before");
    made_sql(&made, "DELETE FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memoryOperationType = 0");
    made_end(&made);
    made_import(&made, &result);
    ck_assert(object_of(&result, "device#1").is_initial);
    check_hold(&result, "device#1", 0, 9000);
    ck_assert_int_eq(count_of(&result, "memory", "frees_without_allocation"), 1);
    import_result_free(&result);
}
END_TEST

/* Symbols of a module: resident throughout, with device and context 0. */
START_TEST(static_symbols)
{
    struct made_export made;
    struct import_result result;
    struct graph_object object;

    one_object(&made, "static");
    made_memory(&made, 100, TAKEN, 0x100, 64, DEVICE_STATIC, 0);
    made_sql(&made, "INSERT INTO StringIds(value) VALUES ('weights');"
                    "UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET contextId = 0, name = (SELECT id FROM "
                    "StringIds WHERE value = 'weights') WHERE memKind = 5");
    made_end(&made);
    made_import(&made, &result);
    object = object_of(&result, "device-static:weights#1");
    ck_assert(object.is_initial && object.is_retained);
    check_hold(&result, "device-static:weights#1", 0, -1);
    ck_assert(!has_node(&result, "alloc:device-static:weights#1"));
    ck_assert_int_eq(count_of(&result, "memory", "static_symbols"), 1);
    import_result_free(&result);
}
END_TEST

/* Page-locked and managed memory are the host's; where managed pages are is not recorded. */
START_TEST(host_memory)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "host");
    made_call(&made, 20000, 30000, THREAD(1), 13, "cudaHostAlloc_v3020");
    made_call(&made, 31000, 32000, THREAD(1), 14, "cudaMallocManaged_v6000");
    made_memory(&made, 25000, TAKEN, 0x9000, 1 << 12, PINNED, 13);
    made_memory(&made, 31500, TAKEN, 0xA000, 1 << 13, MANAGED, 14);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(
        graph_text(result.graph,
                   graph_domain(result.graph, object_of(&result, "pinned#1").domain)->name),
        "host");
    ck_assert(object_of(&result, "managed#1").evidence.kind == EVIDENCE_ASSUMED);
    ck_assert_int_eq(result.timeline->peak_bytes[1], (1 << 12) + (1 << 13));
    import_result_free(&result);
}
END_TEST

/* Events of a failed call, and without bytes, are none. */
START_TEST(no_allocation)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "nothing");
    made_failed_call(&made, 20000, 21000, THREAD(1), 13, "cudaMalloc_v3020");
    made_call(&made, 22000, 23000, THREAD(1), 14, "cudaMalloc_v3020");
    made_memory(&made, 20500, TAKEN, 0x9000, 1 << 12, DEVICE, 13);
    made_memory(&made, 22500, TAKEN, 0xA000, 0, DEVICE, 14);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_uint_eq(graph_n_objects(result.graph), 1);
    ck_assert_int_eq(count_of(&result, "memory", "without_bytes"), 1);
    import_result_free(&result);
}
END_TEST

/* Events of no call stand alone, at their times. */
START_TEST(events_without_call)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "alone");
    made_memory(&made, 13000, TAKEN, 0x9000, 100, DEVICE, 99);
    made_memory(&made, 14000, FREED, 0x9000, 100, DEVICE, 0);
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#2", 13000, 14000);
    ck_assert_int_eq(count_of(&result, "memory", "outside_of_calls"), 2);
    import_result_free(&result);
}
END_TEST

/* Stream-ordered memory begins and ends at its place in the stream: taken at 200 by the host, but
 * after the kernel that ends at 9000; given back at 2300 by the host, after the one that ends at
 * 15000. */
START_TEST(stream_ordered)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "ordered");
    made_call(&made, 0, 100, THREAD(1), 10, "cudaLaunchKernel_v7000");
    made_call(&made, 200, 1000, THREAD(1), 11, "cudaMallocAsync_v11020");
    made_call(&made, 1200, 2000, THREAD(1), 12, "cudaLaunchKernel_v7000");
    made_call(&made, 2200, 3000, THREAD(1), 13, "cudaFreeAsync_v11020");
    made_call(&made, 3200, 4000, THREAD(1), 14, "cudaLaunchKernel_v7000");
    made_kernel(&made, 4000, 9000, 7, 10, "a");
    made_kernel(&made, 10000, 15000, 7, 12, "b");
    made_kernel(&made, 16000, 17000, 7, 14, "c");
    made_memory(&made, 300, TAKEN, 0x7000, 100, DEVICE, 11);
    made_memory(&made, 2300, FREED, 0x7000, 100, DEVICE, 13);
    made_sql(&made, "UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET streamId = 7, "
                    "localMemoryPoolAddress = 4096");
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#1", 9000, 15000);
    ck_assert_str_eq(why_of(&result, "a", "alloc:device#1"),
                     "ordered:stream-ordered memory: its place in the stream");
    ck_assert(has_edge(&result, "alloc:device#1", "b"));
    ck_assert(has_edge(&result, "b", "free:device#1"));
    ck_assert(!has_edge(&result, "free:device#1", "c"));
    ck_assert_int_eq(count_of(&result, "memory", "stream_ordered"), 2);
    import_result_free(&result);
}
END_TEST

/* Freed by another thread before the call that took it had returned: the allocation is over at its
 * event, and the reclamation does not begin before the call has returned. */
START_TEST(freed_at_once)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "at-once");
    made_call(&made, 20000, 30000, THREAD(1), 13, "cudaMalloc_v3020");
    made_call(&made, 21000, 26000, THREAD(2), 14, "cudaFree_v3020");
    made_memory(&made, 22000, TAKEN, 0x9000, 100, DEVICE, 13);
    made_memory(&made, 25000, FREED, 0x9000, 100, DEVICE, 14);
    made_end(&made);
    made_import(&made, &result);
    check_hold(&result, "device#2", 22000, 25000);
    ck_assert_int_eq(finish_of(&result, "alloc:device#2"), 22000);
    ck_assert_int_eq(start_of(&result, "free:device#2"), 25000);
    import_result_free(&result);
}
END_TEST

/* Two devices, as the process numbers them and as the machine does. */
START_TEST(devices)
{
    struct made_export made;
    struct import_result result;

    one_object(&made, "devices");
    made_sql(&made,
             "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
             "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 777), (2, 1, 777);"
             "CREATE TABLE TARGET_INFO_GPU (id INTEGER, totalMemory INTEGER, cuDevice INTEGER);"
             "INSERT INTO TARGET_INFO_GPU VALUES (2, 2000000000, 0), (3, 3000000000, 1)");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(capacity_of(&result, "gpu3"), INT64_C(3000000000));
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-memory");
    TCase *tcase = tcase_create("objects");

    tcase_add_test(tcase, taken_and_freed);
    tcase_add_test(tcase, capacity_too_small);
    tcase_add_test(tcase, no_memory_events);
    tcase_add_test(tcase, address_reused);
    tcase_add_test(tcase, free_unseen);
    tcase_add_test(tcase, free_unseen_at_once);
    tcase_add_test(tcase, freed_before_its_place);
    tcase_add_test(tcase, taken_before);
    tcase_add_test(tcase, static_symbols);
    tcase_add_test(tcase, host_memory);
    tcase_add_test(tcase, no_allocation);
    tcase_add_test(tcase, events_without_call);
    tcase_add_test(tcase, stream_ordered);
    tcase_add_test(tcase, freed_at_once);
    tcase_add_test(tcase, devices);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
