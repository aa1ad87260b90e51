/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file may look like and mean the same: other columns, other order, views, other clocks; rows
 * that say nothing; names that hold anything. */
#include <string.h>

#include "tests/suite.h"
#include "tests/traces/made_export.h"

static void check_same(const char *sql, int64_t at)
{
    struct made_export made;
    char *plain, *changed;

    made_run(&made, "plain", 1000);
    made_end(&made);
    plain = made_form(&made, NULL);
    made_run(&made, "changed", at);
    if (sql[0] != '\0')
        made_sql(&made, sql);
    made_end(&made);
    changed = made_form(&made, NULL);
    made_same_forms(plain, changed);
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
               "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT * FROM s; DROP TABLE s;"
               "CREATE TABLE s AS SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start DESC; "
               "DELETE FROM CUDA_GPU_MEMORY_USAGE_EVENTS; INSERT INTO "
               "CUDA_GPU_MEMORY_USAGE_EVENTS SELECT * FROM s; DROP TABLE s;"
               "CREATE TABLE s AS SELECT * FROM TARGET_INFO_CUDA_STREAM ORDER BY streamId DESC; "
               "DELETE FROM TARGET_INFO_CUDA_STREAM; INSERT INTO TARGET_INFO_CUDA_STREAM SELECT * "
               "FROM s; DROP TABLE s",
               1000);
}
END_TEST

/* Also where rows agree in all but their names: of two nodes of a graph, and of two calls. */
static void twins(struct made_export *made, const char *name, bool is_swapped)
{
    const char *const kernels[] = {"first", "second"};
    const char *const calls[] = {"cudaGraphLaunch_v10000", "cuGraphLaunch"};

    made_begin(made, name);
    for (int i = 0; i < 2; i++) {
        made_call(made, 0, 1000, THREAD(1), 11, calls[is_swapped ? 1 - i : i]);
        made_kernel(made, 3000, 4000, 7, 11, kernels[is_swapped ? 1 - i : i]);
    }
    made_sql(made, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 5");
    made_end(made);
}

START_TEST(twins_shuffled)
{
    struct made_export made;
    char *one, *other;

    twins(&made, "one", false);
    one = made_form(&made, NULL);
    twins(&made, "other", true);
    other = made_form(&made, NULL);
    made_same_forms(one, other);
    free(one);
    free(other);
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

    made_run(&made, "empty", 1000);
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

    made_run(&made, "version", 1000);
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

    made_run(&made, "private", 1000);
    made_sql(&made, "INSERT INTO StringIds(value) VALUES ('SECRET=token'), ('/home/somebody');"
                    "CREATE TABLE META_DATA_CAPTURE(name, value); INSERT INTO META_DATA_CAPTURE "
                    "VALUES ('ENVIRONMENT', 'SECRET=token');"
                    "CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO META_DATA_EXPORT "
                    "VALUES ('EXPORT_HOST', 'SECRET=token');"
                    "CREATE TABLE PROCESSES(globalPid, name); INSERT INTO PROCESSES VALUES (1, "
                    "'/home/somebody')");
    made_end(&made);
    form = made_form(&made, NULL);
    ck_assert_ptr_null(strstr(form, "SECRET"));
    ck_assert_ptr_null(strstr(form, "somebody"));
    free(form);
}
END_TEST

/* The same file gives the same graph. */
START_TEST(same_again)
{
    struct made_export made;
    char *first, *second;

    made_run(&made, "again", 1000);
    made_end(&made);
    first = made_form(&made, NULL);
    second = made_form(&made, NULL);
    made_same_forms(first, second);
    free(first);
    free(second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-rows");
    TCase *tcase = tcase_create("rows");

    tcase_add_test(tcase, shuffled);
    tcase_add_test(tcase, twins_shuffled);
    tcase_add_test(tcase, shifted);
    tcase_add_test(tcase, other_columns);
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, empty_rows);
    tcase_add_test(tcase, negative_duration);
    tcase_add_test(tcase, versions);
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, privacy);
    tcase_add_test(tcase, same_again);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
