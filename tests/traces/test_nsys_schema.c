/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schemas that nobody has seen yet or any more: what is there is read by the names of columns, and
 * what is missing is told once a table. And rows of known tables that hold what they should not. */
#include <string.h>

#include "tests/suite.h"
#include "tests/traces/made_export.h"

/* The warning of a table; NULL: none. */
static const char *warning_of(const struct import_result *result, const char *table)
{
    const struct import_item *item = import_report_find(&result->report, "warnings", table);

    return item == NULL ? NULL : item->text;
}

static int n_warnings(const struct import_result *result)
{
    int n = 0;

    for (size_t i = 0; i < result->report.n_items; i++)
        n += strcmp(result->report.items[i].section, "warnings") == 0;
    return n;
}

/* The made tables lack nothing but what the tests leave out of their rows. */
static void import_with(const char *sql, struct import_result *result)
{
    struct made_export made;

    made_run(&made, "schema", 1000);
    made_sql(&made, sql);
    made_end(&made);
    made_import(&made, result);
}

START_TEST(nothing_missing)
{
    struct import_result result;

    import_with("SELECT 1", &result);
    ck_assert_int_eq(n_warnings(&result), 0);
    import_result_free(&result);
}
END_TEST

START_TEST(one_warning_a_table)
{
    struct import_result result;

    import_with("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphNodeId;"
                "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName;"
                "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN returnValue;"
                "ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION DROP COLUMN eventSyncId",
                &result);
    ck_assert_int_eq(n_warnings(&result), 2);
    ck_assert_ptr_nonnull(strstr(warning_of(&result, "CUPTI_ACTIVITY_KIND_KERNEL"),
                                 "has no column demangledName, graphNodeId"));
    ck_assert_ptr_nonnull(
        strstr(warning_of(&result, "CUPTI_ACTIVITY_KIND_RUNTIME"), "returnValue"));
    import_result_free(&result);
}
END_TEST

/* A table without what makes it of use is left out, unless the device's time is in it. */
START_TEST(table_left_out)
{
    struct made_export made;
    struct import_result result;

    import_with("ALTER TABLE CUDA_GPU_MEMORY_USAGE_EVENTS RENAME COLUMN address TO place;"
                "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, thread INTEGER)",
                &result);
    ck_assert_int_eq(n_warnings(&result), 2);
    ck_assert_ptr_nonnull(strstr(warning_of(&result, "CUDA_GPU_MEMORY_USAGE_EVENTS"),
                                 "has no column address: the table is left out"));
    ck_assert_ptr_nonnull(strstr(warning_of(&result, "NVTX_EVENTS"), "globalTid"));
    ck_assert_uint_eq(graph_n_objects(result.graph), 0);
    ck_assert_str_eq(import_grade_name(result.report.grade), "C");
    import_result_free(&result);

    /* Then the waits have no rows, which is told and graded. */
    import_with("ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION RENAME COLUMN correlationId TO c",
                &result);
    ck_assert_str_eq(import_grade_name(result.report.grade), "D");
    ck_assert_int_eq(count_of(&result, "waits", "calls_without_row"), 9);
    import_result_free(&result);

    made_run(&made, "needed", 1000);
    made_sql(&made, "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN correlationId TO c;"
                    "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO s");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT,
                 "CUPTI_ACTIVITY_KIND_KERNEL has no column start, correlationId");
}
END_TEST

static void check_schema(const char *version, const char *warning)
{
    struct import_result result;
    char sql[256];

    (void)snprintf(
        sql, sizeof sql,
        "CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO META_DATA_EXPORT VALUES "
        "('EXPORT_SCHEMA_VERSION', '%s')",
        version);
    import_with(sql, &result);
    ck_assert_int_eq(n_warnings(&result), warning == NULL ? 0 : 1);
    if (warning != NULL)
        ck_assert_ptr_nonnull(strstr(warning_of(&result, "schema"), warning));
    import_result_free(&result);
}

START_TEST(versions_not_seen)
{
    check_schema("2.9.1", NULL);
    check_schema("3.25.7", NULL);
    check_schema("2.8.0", "2.8.0 is older than any");
    check_schema("1.0", "older");
    check_schema("3.26.0", "3.26.0 is newer than any");
    check_schema("4.0", "newer");
    check_schema("99999999999999999999.1", "newer");
    check_schema("...", NULL);
}
END_TEST

/* Tables that are there and empty are as good as not there. */
START_TEST(empty_tables)
{
    struct made_export made;
    char *without, *with;

    made_run(&made, "without", 1000);
    made_end(&made);
    without = made_form(&made, NULL);
    made_run(&made, "with", 1000);
    made_sql(&made,
             "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, "
             "correlationId, globalPid);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId, "
             "correlationId, globalPid);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, contextId, "
             "streamId, correlationId, globalPid);"
             "CREATE TABLE CUDA_GRAPH_EVENTS(start); CREATE TABLE NVTX_EVENTS(start, end, "
             "globalTid); CREATE TABLE TARGET_INFO_GPU(id); CREATE TABLE "
             "TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid); CREATE TABLE META_DATA_EXPORT(name, "
             "value); CREATE TABLE DIAGNOSTIC_EVENT(text)");
    made_end(&made);
    with = made_form(&made, NULL);
    made_same_forms(without, with);
    free(without);
    free(with);
}
END_TEST

/* Every value of every column a text: rows without times go, the others lose what they cannot say. */
START_TEST(text_for_numbers)
{
    struct import_result result;

    import_with(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = 'id' WHERE correlationId = 11;"
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 'seven' WHERE correlationId = 14;"
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 'a', demangledName = 'b' WHERE "
        "correlationId = 17;"
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = '12 us' WHERE correlationId = 20;"
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 'ok', globalTid = 'main', "
        "nameId = 'cudaMalloc' WHERE correlationId = 10;"
        "UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET bytes = '4 KiB';"
        "UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET eventId = 'e' WHERE correlationId = 12;"
        "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventId = 'e', streamId = 'x' WHERE "
        "correlationId = 16;"
        "UPDATE TARGET_INFO_CUDA_STREAM SET flag = 'blocking'",
        &result);
    ck_assert_int_eq(count_of(&result, "rows", "kernel_kept"), 7);
    ck_assert_int_eq(count_of(&result, "skipped", "unfinished"), 1);
    ck_assert_int_eq(count_of(&result, "device", "without_launch"), 1);
    ck_assert_int_eq(count_of(&result, "memory", "without_bytes"), 1);
    ck_assert(has_node(&result, "kernel"));
    import_result_free(&result);
}
END_TEST

/* NULL in every column that may be NULL, one row a column. */
START_TEST(nulls)
{
    static const char *const kernel[] = {"deviceId",      "contextId", "streamId",
                                         "correlationId", "shortName", "demangledName",
                                         "graphNodeId"};
    static const char *const runtime[] = {"globalTid", "correlationId", "nameId", "returnValue"};
    static const char *const sync[] = {"start",     "contextId", "streamId", "correlationId",
                                       "globalPid", "syncType",  "eventId",  "eventSyncId"};
    struct import_result result;
    char sql[4096] = "";
    size_t used = 0;

    for (int i = 0; i < 7; i++)
        used += (size_t)snprintf(
            sql + used, sizeof sql - used,
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET %s = NULL WHERE rowid = %d;", kernel[i], i + 1);
    for (int i = 0; i < 4; i++)
        used +=
            (size_t)snprintf(sql + used, sizeof sql - used,
                             "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET %s = NULL WHERE rowid = %d;",
                             runtime[i], i + 2);
    for (int i = 0; i < 8; i++)
        used += (size_t)snprintf(
            sql + used, sizeof sql - used,
            "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET %s = NULL WHERE rowid = %d;", sync[i],
            i + 1);
    import_with(sql, &result);
    ck_assert_int_eq(count_of(&result, "rows", "kernel_kept"), 8);
    ck_assert_int_eq(count_of(&result, "skipped", "without_time"), 0);
    import_result_free(&result);
}
END_TEST

/* Every row twice: the calls are told, the work counts as it is written, and nothing breaks. */
START_TEST(duplicates)
{
    struct import_result result;

    import_with("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME;"
                "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT SELECT * FROM "
                "CUPTI_ACTIVITY_KIND_CUDA_EVENT;"
                "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT * FROM "
                "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;"
                "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS SELECT * FROM "
                "CUDA_GPU_MEMORY_USAGE_EVENTS;"
                "INSERT INTO TARGET_INFO_CUDA_STREAM SELECT * FROM TARGET_INFO_CUDA_STREAM",
                &result);
    ck_assert_int_eq(count_of(&result, "skipped", "repeated_correlation_ids"), 26);
    ck_assert_int_eq(count_of(&result, "device", "kernels"), 16);
    ck_assert_int_eq(count_of(&result, "memory", "addresses_reused_without_free"), 1);
    import_result_free(&result);
}
END_TEST

/* Tables in which rows have no number. */
START_TEST(without_rowids)
{
    struct made_export made;
    char *plain, *changed;

    made_run(&made, "plain", 1000);
    made_end(&made);
    plain = made_form(&made, NULL);
    made_run(&made, "no-rowid", 1000);
    made_sql(&made, "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; CREATE TABLE "
                    "CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
                    "correlationId, globalPid, shortName, PRIMARY KEY (correlationId, start)) "
                    "WITHOUT ROWID; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start, end, "
                    "deviceId, contextId, streamId, correlationId, globalPid, shortName FROM k");
    made_end(&made);
    changed = made_form(&made, NULL);
    made_same_forms(plain, changed);
    free(changed);
    changed = made_form(&made, "0:1s");
    made_same_forms(plain, changed);
    free(plain);
    free(changed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-schema");
    TCase *tcase = tcase_create("schema");

    tcase_add_test(tcase, nothing_missing);
    tcase_add_test(tcase, one_warning_a_table);
    tcase_add_test(tcase, table_left_out);
    tcase_add_test(tcase, versions_not_seen);
    tcase_add_test(tcase, empty_tables);
    tcase_add_test(tcase, text_for_numbers);
    tcase_add_test(tcase, nulls);
    tcase_add_test(tcase, duplicates);
    tcase_add_test(tcase, without_rowids);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
