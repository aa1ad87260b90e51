/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real exports, where they lie beside the checkout ($WEIR_SHARED/data/traces/nsys): the figures that
 * were counted in them by other means, to the last byte and nanosecond; every start given back; and
 * nothing in the graph of who recorded them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/text.h"
#include "tests/suite.h"
#include "tests/traces/exact.h"
#include "traces/import.h"

/* A line of the report and what it must say. */
struct figure {
    const char *section, *key;
    int64_t value;
};

struct real_export {
    const char *name, *version, *schema, *grade;
    struct figure figures[24];
};

static const struct real_export exports[] = {
    {"nsysai-h100x2-weight-streaming-2026.2",
     "2026.2.1.210",
     "3.25.0",
     "D",
     {{"device", "kernels", 3442},
      {"device", "kernel_ns", 44829522},
      {"device", "copies", 904},
      {"copies", "h2d_pageable_bytes", 3136},
      {"copies", "h2d_pinned_bytes", INT64_C(50950507584) - 3136},
      {"copies", "d2h_pinned_bytes", 18},
      {"copies", "d2d_bytes", INT64_C(59368472576)},
      {"device", "memsets", 22},
      {"rows", "synchronization_read", 244},
      {"waits", "rows_with_event", 236},
      {"waits", "record_rows", 0},
      {"waits", "unresolved", 236},
      {"waits", "contradicted", 0},
      {"device", "kernels_without_launch", 1810},
      {"rows", "runtime_read", 5796},
      {"rows", "nvtx_read", 16782},
      {"device", "streams", 2}}},
    {"fuser-h200-2025.1",
     "2025.1.1.110",
     "3.17.1",
     "C",
     {{"device", "kernels", 18},
      {"device", "kernel_ns", 10167602},
      {"device", "copies", 3},
      {"copies", "h2d_pageable_bytes", 394002434},
      {"copies", "d2d_bytes", 62914560},
      {"device", "memsets", 3},
      {"rows", "synchronization_read", 3},
      {"waits", "rows_with_event", 0},
      {"device", "without_launch", 0},
      {"rows", "nvtx_read", 13513},
      {"rows", "runtime_read", 990}}},
    {"testcuda-rtx4060ti-4streams-2026.1",
     "2026.1.1.204",
     "3.24.14",
     "C",
     {{"device", "kernels", 4},
      {"device", "kernel_ns", 4839761},
      {"device", "copies", 12},
      {"copies", "h2d_pinned_bytes", 800000000},
      {"copies", "d2h_pinned_bytes", 400000000},
      {"device", "memsets", 0},
      {"rows", "synchronization_read", 2},
      {"waits", "rows_with_event", 1},
      {"waits", "resolved", 1},
      {"waits", "record_rows", 2},
      {"device", "without_launch", 0},
      {"device", "streams", 4},
      {"links", "copy_engine", 3}}},
    {"flameox-rtx3060-graph-trace-2025.5",
     "2025.5.2.266",
     "3.24.0",
     "C",
     {{"device", "kernels", 3},
      {"device", "kernel_ns", 3840},
      {"device", "copies", 1},
      {"copies", "h2d_pageable_bytes", 4096},
      {"rows", "graph_trace_read", 2},
      {"rows", "graph_events_read", 4},
      {"device", "graphs_made", 3},
      {"device", "graph_executables_made", 1},
      {"device", "graph_executables_launched", 1},
      {"device", "graph_launches_of_unseen_making", 0},
      {"device", "graph_ns", 3104},
      {"device", "graph_launches", 2},
      {"rows", "synchronization_read", 2},
      {"waits", "rows_with_event", 0},
      {"device", "without_launch", 0}}},
    {"pipit-a100-cloverleaf-2024.5",
     "2024.5.1.113",
     "3.13.2",
     "C",
     {{"device", "kernels", 1312},
      {"device", "kernel_ns", 294404540},
      {"device", "copies", 279},
      {"copies", "h2d_pageable_bytes", 225065752},
      {"copies", "d2h_pageable_bytes", 51200},
      {"rows", "synchronization_read", 1312},
      {"waits", "rows_with_event", 0},
      {"waits", "host_waits_for_context", 1312},
      {"waits", "host_edges_contradicted", 0},
      {"device", "without_launch", 0}}},
    {"pipit-a100-saxpy-mpi-2022.2",
     "2022.2.1.31",
     "2.9.1",
     "C",
     {{"device", "kernels", 5},
      {"device", "kernel_ns", 88573480},
      {"device", "copies", 15},
      {"copies", "h2d_pageable_bytes", INT64_C(2621440000)},
      {"copies", "d2h_pageable_bytes", INT64_C(1310720000)},
      {"device", "memsets", 0},
      {"rows", "synchronization_read", 0},
      {"skipped", "repeated_correlation_ids", 38},
      {"device", "without_launch", 0}}},
    {"easycuda-rtx4060-uvm-2023.4",
     "2023.4.4.54",
     "3.7.2",
     "C",
     {{"device", "kernels", 1},
      {"device", "kernel_ns", 2337721},
      {"device", "copies", 0},
      {"device", "migrations", 72},
      {"device", "migrations_in_kernels", 48},
      {"copies", "uvm_h2d_bytes", 8388608},
      {"copies", "uvm_d2h_bytes", 4194304},
      {"rows", "synchronization_read", 1},
      {"device", "without_launch", 0}}},
    {"mordred-rtx6000-2021-no-metadata",
     "unknown",
     "unknown",
     "D",
     {{"device", "kernels", 12},
      {"device", "kernel_ns", 6128761},
      {"device", "copies", 188},
      {"copies", "h2d_pageable_bytes", 536962766},
      {"copies", "d2h_pageable_bytes", 738663444},
      {"device", "memsets", 16},
      {"rows", "synchronization_read", 18},
      {"waits", "rows_with_event", 6},
      {"waits", "unresolved", 6},
      {"device", "without_launch", 0}}},
};
#define EXPORTS ((int)(sizeof exports / sizeof *exports))

static const char *path_of(const char *name)
{
    static char path[1024];
    const char *shared = getenv("WEIR_SHARED");

    (void)snprintf(path, sizeof path, "%s/data/traces/nsys/%s.sqlite.gz",
                   shared == NULL ? "" : shared, name);
    return path;
}

static void import(const char *name, struct import_result *result)
{
    const struct import_options options = import_default();
    struct weir_error err;
    enum weir_status status = import_read("auto", path_of(name), &options, result, &err);

    ck_assert_msg(status == WEIR_OK, "%s", err.text);
}

START_TEST(figures)
{
    const struct real_export *real = &exports[_i];
    struct import_result result;

    import(real->name, &result);
    for (const struct figure *figure = real->figures; figure->section != NULL; figure++) {
        const struct import_item *item =
            import_report_find(&result.report, figure->section, figure->key);

        ck_assert_msg(item != NULL, "%s: no %s.%s", real->name, figure->section, figure->key);
        ck_assert_msg(item->integer == figure->value, "%s: %s.%s is %lld, not %lld", real->name,
                      figure->section, figure->key, (long long)item->integer,
                      (long long)figure->value);
    }
    ck_assert_str_eq(import_report_find(&result.report, "source", "version")->text, real->version);
    ck_assert_str_eq(import_report_find(&result.report, "source", "schema")->text, real->schema);
    ck_assert_str_eq(import_grade_name(result.report.grade), real->grade);
    import_result_free(&result);
}
END_TEST

START_TEST(given_back)
{
    struct import_result result;
    char text[EXACT_TEXT];

    import(exports[_i].name, &result);
    ck_assert_msg(exact_replay(result.graph, result.timeline, text), "%s: %s", exports[_i].name,
                  text);
    import_result_free(&result);
}
END_TEST

/* The links of the chain add up to the makespan. */
START_TEST(chain_adds_up)
{
    static const char *const parts[] = {"busy_ns",          "launch_bound_ns",
                                        "device_idle_ns",   "host_between_calls_ns",
                                        "inside_a_call_ns", "unexplained_ns"};
    struct import_result result;
    int64_t sum_ns = 0;

    import(exports[_i].name, &result);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum_ns += import_report_find(&result.report, "chain", parts[i])->integer;
    ck_assert_int_eq(sum_ns, result.makespan_ns);
    ck_assert_int_eq(result.timeline->makespan_ns, result.makespan_ns);
    import_result_free(&result);
}
END_TEST

/* The whole file as a window, by the clock that begins with its first event. */
START_TEST(whole_window)
{
    struct import_result all, window;
    const struct import_options options = {.window = "+0:+1000000s"};
    struct weir_error err;
    char all_hash[HASH_TEXT_BYTES], window_hash[HASH_TEXT_BYTES];

    import(exports[_i].name, &all);
    ck_assert_int_eq(import_read("nsys", path_of(exports[_i].name), &options, &window, &err),
                     WEIR_OK);
    ck_assert_int_eq(graph_hash(all.graph, all_hash, &err), WEIR_OK);
    ck_assert_int_eq(graph_hash(window.graph, window_hash, &err), WEIR_OK);
    ck_assert_str_eq(all_hash, window_hash);
    ck_assert_int_eq(import_report_find(&window.report, "source", "first_ns")->integer,
                     all.origin_ns);
    ck_assert_ptr_null(import_report_find(&all.report, "warnings", "schema"));
    import_result_free(&all);
    import_result_free(&window);
}
END_TEST

/* Paths, hosts and what the capture tables hold (which were cut, but not all) are in no answer. */
START_TEST(nothing_private)
{
    static const char *const traces[] = {
        "/home", "/root", "/tmp", "HOSTNAME", "COLLECT_CUDA_TRACE", "Profiling has", "utcTime"};
    struct import_result result;
    struct weir_error err;
    char *text;
    size_t length;

    import(exports[_i].name, &result);
    ck_assert_int_eq(graph_write_text(result.graph, &text, &length, &err), WEIR_OK);
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        ck_assert_msg(strstr(text, traces[i]) == NULL, "%s: %s", exports[_i].name, traces[i]);
    free(text);
    import_result_free(&result);
}
END_TEST

START_TEST(without_gpu_tables)
{
    const struct import_options options = import_default();
    struct import_result result;
    struct weir_error err;

    ck_assert_int_eq(
        import_read("nsys", path_of("jacc-a100x4-no-gpu-tables-2026.1"), &options, &result, &err),
        WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "no work of a GPU was recorded"));
    ck_assert_ptr_nonnull(strstr(err.text, "nsys profile --trace=cuda"));
    ck_assert_ptr_nonnull(strstr(err.text, "nsys export --type sqlite"));
    ck_assert_str_eq(import_grade_name(result.report.grade), "refused");
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite;
    TCase *tcase;

    if (access(path_of(exports[0].name), R_OK) != 0) {
        printf("1..0 # SKIP no real exports: %s is not there\n", path_of(exports[0].name));
        return EXIT_SUCCESS;
    }
    suite = suite_create("nsys-real");
    tcase = tcase_create("exports");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, figures, 0, EXPORTS);
    tcase_add_loop_test(tcase, given_back, 0, EXPORTS);
    tcase_add_loop_test(tcase, chain_adds_up, 0, EXPORTS);
    tcase_add_loop_test(tcase, whole_window, 0, EXPORTS);
    tcase_add_loop_test(tcase, nothing_private, 0, EXPORTS);
    tcase_add_test(tcase, without_gpu_tables);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
