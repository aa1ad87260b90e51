/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file is whole or not there, whatever was there before. */
#include "base/output.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suite.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;
static char folder[64];

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/weir-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    char command[96];

    ck_assert_int_eq(chdir("/"), 0);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static const char *text_of(const char *name)
{
    static char text[256];
    FILE *file = fopen(name, "r");
    size_t n;

    ck_assert_ptr_nonnull(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static int n_files(void)
{
    DIR *dir = opendir(".");
    int n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL)
        n++;
    ck_assert_int_eq(closedir(dir), 0);
    return n - 2; /* . and .. */
}

START_TEST(a_file_appears_when_it_is_whole)
{
    struct output output;

    OK(output_begin(&output, "new", &err));
    fputs("all of it", output.file);
    ck_assert_int_ne(access("new", F_OK), 0);
    OK(output_end(&output, WEIR_OK, &err));
    ck_assert_str_eq(text_of("new"), "all of it");
    ck_assert_int_eq(n_files(), 1);
}
END_TEST

START_TEST(the_old_file_stays_when_writing_failed)
{
    struct output output;

    make_file("old", "as it was");
    OK(output_begin(&output, "old", &err));
    fputs("a part", output.file);
    ck_assert_int_eq(output_end(&output, WEIR_INPUT, &err), WEIR_INPUT);
    ck_assert_str_eq(text_of("old"), "as it was");
    ck_assert_int_eq(n_files(), 1);
}
END_TEST

START_TEST(what_is_replaced_gives_its_mode_and_links_stay)
{
    struct output output;
    struct stat st;

    make_file("real", "old");
    ck_assert_int_eq(chmod("real", 0640), 0);
    ck_assert_int_eq(mkdir("there", 0777), 0);
    ck_assert_int_eq(symlink("../real", "there/link"), 0);
    OK(output_begin(&output, "there/link", &err));
    fputs("new", output.file);
    OK(output_end(&output, WEIR_OK, &err));
    ck_assert_str_eq(text_of("real"), "new");
    ck_assert_int_eq(stat("real", &st), 0);
    ck_assert_int_eq((int)(st.st_mode & 07777), 0640);
    ck_assert_int_eq(lstat("there/link", &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
    struct output output;

    OK(output_begin(&output, "/dev/full", &err));
    fputs("nowhere to go", output.file);
    ck_assert_int_eq(output_end(&output, WEIR_OK, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "/dev/full: cannot be written: No space left"));
    ck_assert_int_eq(output_begin(&output, "no/such/folder", &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "No such file or directory"));
    ck_assert_int_eq(n_files(), 0);
}
END_TEST

START_TEST(trying_leaves_everything_as_it_was)
{
    make_file("old", "as it was");
    OK(output_try("old", &err));
    OK(output_try("new", &err));
    OK(output_try("-", &err));
    OK(output_try("/dev/full", &err)); /* only writing tells */
    ck_assert_str_eq(text_of("old"), "as it was");
    ck_assert_int_eq(n_files(), 1);
    ck_assert_int_eq(output_try("no/such/folder", &err), WEIR_STORE);
    ck_assert_int_eq(output_try(".", &err), WEIR_STORE);
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("output");
    TCase *cases = tcase_create("output");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_file_appears_when_it_is_whole);
    tcase_add_test(cases, the_old_file_stays_when_writing_failed);
    tcase_add_test(cases, what_is_replaced_gives_its_mode_and_links_stay);
    tcase_add_test(cases, a_full_disk_is_reported);
    tcase_add_test(cases, trying_leaves_everything_as_it_was);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
