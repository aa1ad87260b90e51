/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of exports: plain and compressed, and CSV. */
#include "traces/writer.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/suite.h"
#include "traces/csv.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)
#define MOST 400000

static struct weir_error err;
static char folder[64];
static struct writer writer; /* large: not on the stack */

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/weir-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[96];

    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* zlib reads plain and compressed files alike. */
static char *text_of(const char *path)
{
    char *text = malloc(MOST);
    gzFile file = gzopen(path, "rb");
    int n;

    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(file);
    n = gzread(file, text, MOST - 1);
    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    ck_assert_int_eq(gzclose(file), Z_OK);
    return text;
}

static void write_numbers(const char *path)
{
    char whole[128];

    (void)snprintf(whole, sizeof whole, "%s", path);
    OK(writer_begin(&writer, whole, &err));
    for (int64_t i = 0; i < 40000; i++) {
        writer_integer(&writer, i * 7);
        writer_text(&writer, "\n");
    }
    OK(writer_end(&writer, WEIR_OK));
}

START_TEST(compressed_and_plain_files_say_the_same)
{
    char *plain, *packed;
    FILE *file;

    write_numbers(path_of("n.txt"));
    write_numbers(path_of("n.txt.gz"));
    plain = text_of(path_of("n.txt"));
    packed = text_of(path_of("n.txt.gz"));
    ck_assert_uint_gt(strlen(plain), sizeof writer.bytes); /* more than the buffer takes */
    ck_assert_str_eq(plain, packed);
    ck_assert_int_eq(strncmp(plain, "0\n7\n14\n", 7), 0);
    free(plain);
    free(packed);
    file = fopen(path_of("n.txt.gz"), "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(getc(file), 0x1f); /* it is compressed */
    ck_assert_int_eq(fclose(file), 0);
}
END_TEST

START_TEST(numbers_reach_from_end_to_end)
{
    char *text;
    char path[128];

    (void)snprintf(path, sizeof path, "%s", path_of("n"));
    OK(writer_begin(&writer, path, &err));
    writer_integer(&writer, INT64_MIN);
    writer_text(&writer, " ");
    writer_integer(&writer, INT64_MAX);
    writer_text(&writer, " ");
    writer_integer(&writer, 0);
    OK(writer_end(&writer, WEIR_OK));
    text = text_of(path);
    ck_assert_str_eq(text, "-9223372036854775808 9223372036854775807 0");
    free(text);
}
END_TEST

START_TEST(a_failure_is_told_at_the_end)
{
    for (int i = 0; i < 2; i++) {
        OK(writer_begin(&writer, "/dev/full", &err));
        for (int k = 0; k < 100000 * i; k++) /* seen while writing, or only at the end */
            writer_text(&writer, "0123456789");
        writer_text(&writer, "x");
        ck_assert_int_eq(writer_end(&writer, WEIR_OK), WEIR_STORE);
        ck_assert_ptr_nonnull(strstr(err.text, "No space left"));
    }
    OK(writer_begin(&writer, path_of("x.gz"), &err));
    writer_text(&writer, "x");
    ck_assert_int_eq(writer_end(&writer, WEIR_NO), WEIR_NO);
    ck_assert_int_ne(access(path_of("x.gz"), F_OK), 0);
}
END_TEST

START_TEST(rows_are_csv)
{
    static const char *const names[] = {"name", "t_ns", "note"};
    static const char *const row[] = {"a,\"b\"\nc", "12", NULL};
    static const char *const empty[] = {"", NULL, NULL};
    char path[128];
    char *text;

    (void)snprintf(path, sizeof path, "%s", path_of("t.csv"));
    OK(writer_begin(&writer, path, &err));
    csv_row(&writer, 3, names);
    csv_row(&writer, 3, row);
    csv_row(&writer, 3, empty);
    OK(writer_end(&writer, WEIR_OK));
    text = text_of(path);
    ck_assert_str_eq(text, "name,t_ns,note\n\"a,\"\"b\"\"\nc\",12,\n\"\",,\n");
    free(text);
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("writer");
    TCase *cases = tcase_create("writer");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, compressed_and_plain_files_say_the_same);
    tcase_add_test(cases, numbers_reach_from_end_to_end);
    tcase_add_test(cases, a_failure_is_told_at_the_end);
    tcase_add_test(cases, rows_are_csv);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
