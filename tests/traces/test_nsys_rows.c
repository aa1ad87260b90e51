/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file may look like and mean the same: other columns, other order, views, other clocks; rows
 * that say nothing; names that hold anything; and a part of it, by a window. */
#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"
#include "tests/traces/made_export.h"

/* Two streams, an event between them, memory, a synchronization. Times begin at `at`. */
static void some_run(struct made_export *made, const char *name, int64_t at)
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
static char *form_of(struct made_export *made, const char *window)
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
static void check_equal_forms(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        int n_a = (int)strcspn(a, "\n"), n_b = (int)strcspn(b, "\n");

        ck_assert_msg(n_a == n_b && strncmp(a, b, (size_t)n_a) == 0, "'%.*s' is not '%.*s'", n_a, a,
                      n_b, b);
        a += n_a + (a[n_a] == '\n');
        b += n_b + (b[n_b] == '\n');
    }
}

static void check_same(const char *sql, int64_t at)
{
    struct made_export made;
    char *plain, *changed;

    some_run(&made, "plain", 1000);
    made_end(&made);
    plain = form_of(&made, NULL);
    some_run(&made, "changed", at);
    if (sql[0] != '\0')
        made_sql(&made, sql);
    made_end(&made);
    changed = form_of(&made, NULL);
    check_equal_forms(plain, changed);
    free(plain);
    free(changed);
}

/* The order of the rows means nothing. */
START_TEST(shuffled)
{
    check_same("CREATE TABLE s AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY "
               "(correlationId * 7919) % 31; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; INSERT INTO "
               "CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM s; DROP TABLE s;"
               "CREATE TABLE s AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY "
               "(correlationId * 7919) % 31; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; INSERT INTO "
               "CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM s; DROP TABLE s;"
               "CREATE TABLE s AS SELECT * FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT ORDER BY "
               "(correlationId * 7919) % 31; DELETE FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT; INSERT "
               "INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT SELECT * FROM s; DROP TABLE s;"
               "CREATE TABLE s AS SELECT * FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ORDER BY "
               "(correlationId * 7919) % 31; DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION; "
               "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT * FROM s; DROP TABLE s",
               1000);
}
END_TEST

/* Nor does where the clock begins: 2^53 ns is where a double would lose nanoseconds. */
START_TEST(shifted)
{
    check_same("", (INT64_C(1) << 53) + 1001);
    check_same("", -5000);
}
END_TEST

/* Columns that are not needed may be missing, and more may be there. */
START_TEST(other_columns)
{
    check_same("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphNodeId;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN greenContextId;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN returnValue;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION DROP COLUMN syncType;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION DROP COLUMN deviceId;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT DROP COLUMN eventSyncId;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT DROP COLUMN deviceId;"
               "ALTER TABLE CUDA_GPU_MEMORY_USAGE_EVENTS DROP COLUMN localMemoryPoolAddress;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN somethingNew TEXT DEFAULT 'x'",
               1000);
}
END_TEST

/* Views instead of tables have no row ids. */
START_TEST(views)
{
    check_same("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; CREATE VIEW "
               "CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM k ORDER BY start DESC;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO r; CREATE VIEW "
               "CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT * FROM r;"
               "ALTER TABLE StringIds RENAME TO t; CREATE VIEW StringIds AS SELECT * FROM t",
               1000);
}
END_TEST

/* Rows that say nothing: without a start or an end, of another type, with times that no clock has. */
START_TEST(empty_rows)
{
    struct made_export made;
    struct import_result result;

    some_run(&made, "empty", 1000);
    made_sql(&made,
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end) VALUES (NULL, 5);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end) VALUES (5, NULL);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end) VALUES ('then', 'later');"
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end) VALUES (9223372036854775807, "
             "9223372036854775807);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end) VALUES (5, NULL);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT(streamId) VALUES (NULL);"
             "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS(start) VALUES (NULL);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start) VALUES (NULL)");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(count_of(&result, "skipped", "without_time"), 4);
    ck_assert_int_eq(count_of(&result, "skipped", "unfinished"), 2);
    ck_assert_int_eq(count_of(&result, "rows", "kernel_read"), 11);
    ck_assert_int_eq(count_of(&result, "rows", "kernel_kept"), 8);
    import_result_free(&result);
}
END_TEST

/* A duration below zero counts as zero, and is told. */
START_TEST(negative_duration)
{
    struct made_export made;
    struct import_result result;

    made_begin(&made, "negative");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 2000, 1999, 7, 11, "k");
    made_end(&made);
    made_import(&made, &result);
    ck_assert_int_eq(finish_of(&result, "k"), 2000);
    ck_assert_int_eq(count_of(&result, "skipped", "negative_durations_clamped"), 1);
    import_result_free(&result);
}
END_TEST

/* The table of versions has had two names, and may be missing. */
static void check_version(const char *sql, const char *expected)
{
    struct made_export made;
    struct import_result result;

    some_run(&made, "version", 1000);
    made_sql(&made, sql);
    made_end(&made);
    made_import(&made, &result);
    ck_assert_str_eq(import_report_find(&result.report, "source", "version")->text, expected);
    import_result_free(&result);
}

START_TEST(versions)
{
    check_version("CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO META_DATA_EXPORT VALUES "
                  "('EXPORT_PRODUCT_VERSION', '2025.1.1.110')",
                  "2025.1.1.110");
    check_version("CREATE TABLE EXPORT_META_DATA(name, value); INSERT INTO EXPORT_META_DATA VALUES "
                  "('EXPORT_PRODUCT_VERSION', '2022.2.1.31')",
                  "2022.2.1.31");
    check_version("CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO META_DATA_EXPORT VALUES "
                  "('EXPORT_PRODUCT_VERSION', 'a text of somebody')",
                  "unknown");
    check_version("SELECT 1", "unknown");
}
END_TEST

/* A name becomes one line; repeats are numbered, also when a name looks like a numbered one. */
START_TEST(names)
{
    struct made_export made;
    struct import_result result;
    char long_name[300];
    const char *const given[] = {
        "void f<a>(\"x\",\n\ty)", "twice", "twice", "twice#2", "bad\x01\xff", ""};

    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    made_begin(&made, "names");
    for (int64_t i = 0; i < 7; i++) {
        made_call(&made, 200 * i, 200 * i + 100, THREAD(1), 11 + i, "cudaLaunchKernel_v7000");
        made_kernel(&made, 5000 + 1000 * i, 6000 + 1000 * i, 7, 11 + i,
                    i == 6 ? long_name : given[i]);
    }
    made_end(&made);
    made_import(&made, &result);
    ck_assert(has_node(&result, "void f<a>(\"x\",  y)"));
    ck_assert(has_node(&result, "twice"));
    ck_assert(has_node(&result, "twice#2"));
    ck_assert(has_node(&result, "twice#2#2"));
    ck_assert(has_node(&result, "bad??"));
    ck_assert(has_node(&result, "unnamed"));
    ck_assert(strlen(graph_node_name(result.graph, (weir_node){graph_n_nodes(result.graph) - 1})) <=
              160);
    import_result_free(&result);
}
END_TEST

/* What is in the file and not asked for is in no answer. */
START_TEST(privacy)
{
    struct made_export made;
    char *form;

    some_run(&made, "private", 1000);
    made_sql(&made, "INSERT INTO StringIds(value) VALUES ('SECRET=token'), ('/home/somebody');"
                    "CREATE TABLE META_DATA_CAPTURE(name, value); INSERT INTO META_DATA_CAPTURE "
                    "VALUES ('ENVIRONMENT', 'SECRET=token');"
                    "CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO META_DATA_EXPORT "
                    "VALUES ('EXPORT_HOST', 'SECRET=token');"
                    "CREATE TABLE PROCESSES(globalPid, name); INSERT INTO PROCESSES VALUES (1, "
                    "'/home/somebody')");
    made_end(&made);
    form = form_of(&made, NULL);
    ck_assert_ptr_null(strstr(form, "SECRET"));
    ck_assert_ptr_null(strstr(form, "somebody"));
    free(form);
}
END_TEST

/* A window by launch time: what was launched before is not there, what lives then is there from the
 * start, and a wait for a record before it is satisfied. */
START_TEST(window_by_times)
{
    struct made_export made;
    struct import_result result;

    some_run(&made, "window", 0);
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

    some_run(&made, "marker", 0);
    made_range(&made, 4000, 8000, THREAD(1), "step 7");
    made_end(&made);
    by_name = form_of(&made, "step 7");
    by_times = form_of(&made, "4000:8000");
    check_equal_forms(by_name, by_times);
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

/* The same file gives the same graph. */
START_TEST(same_again)
{
    struct made_export made;
    char *first, *second;

    some_run(&made, "again", 1000);
    made_end(&made);
    first = form_of(&made, NULL);
    second = form_of(&made, NULL);
    check_equal_forms(first, second);
    free(first);
    free(second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-rows");
    TCase *tcase = tcase_create("rows");

    tcase_add_test(tcase, shuffled);
    tcase_add_test(tcase, shifted);
    tcase_add_test(tcase, other_columns);
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, empty_rows);
    tcase_add_test(tcase, negative_duration);
    tcase_add_test(tcase, versions);
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, privacy);
    tcase_add_test(tcase, window_by_times);
    tcase_add_test(tcase, window_by_marker);
    tcase_add_test(tcase, same_again);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
