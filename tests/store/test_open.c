/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files are opened, which are refused, and who may use one at the same time. */
#include <dirent.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/schema.h"
#include "store/store_internal.h"
#include "tests/store/made_run.h"
#include "tests/suite.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;

static char *bytes_of(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(bytes);
    *n = fread(bytes, 1, 1 << 20, file);
    ck_assert_int_eq(fclose(file), 0);
    return bytes;
}

/* Opening fails with this in the message, to write and to read, and leaves the file as it is. */
static void check_refused(const char *path, const char *message)
{
    struct store *store = NULL;
    size_t n_before, n_after;
    char *before = bytes_of(path, &n_before), *after;

    for (int is_read_only = 0; is_read_only <= 1; is_read_only++) {
        ck_assert_int_eq(store_open(path, is_read_only == 1, &store, &err), WEIR_STORE);
        ck_assert_msg(strstr(err.text, message) != NULL, "%s", err.text);
        ck_assert_ptr_nonnull(strstr(err.text, path));
        after = bytes_of(path, &n_after);
        ck_assert_uint_eq(n_before, n_after);
        ck_assert_mem_eq(before, after, n_before);
        free(after);
    }
    free(before);
}

static void make_database(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

START_TEST(another_programs_database_is_refused)
{
    const char *path = scratch_path("foreign.db");

    make_database(path, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    check_refused(path, "another program");
    make_database(path, "PRAGMA user_version = 1");
    check_refused(path, "another program");
    make_database(path, "PRAGMA application_id = 77");
    check_refused(path, "another program");
}
END_TEST

START_TEST(a_newer_schema_is_refused)
{
    char sql[64];
    const char *path = scratch_path("a.db");

    store_close(opened("a.db"));
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", schema_version + 1);
    make_database(path, sql);
    check_refused(path, "newer than");
}
END_TEST

START_TEST(what_is_no_database_is_refused)
{
    const char *path = scratch_path("notes.txt");
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 100; i++)
        fputs("these are notes, not runs\n", file);
    ck_assert_int_eq(fclose(file), 0);
    check_refused(path, "not a store of Weir");
}
END_TEST

START_TEST(places_that_are_no_file_are_refused)
{
    struct store *store = NULL;
    char path[200];

    ck_assert_int_eq(store_open(scratch_path("none.db"), true, &store, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "there is no file"));
    ck_assert_int_ne(access(scratch_path("none.db"), F_OK), 0);
    ck_assert_int_eq(store_open(scratch_path("no/folder.db"), false, &store, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "folder is missing"));
    (void)snprintf(path, sizeof path, "%s", scratch_path("."));
    ck_assert_int_eq(store_open(path, false, &store, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "is a folder"));
    ck_assert_int_eq(store_open("", false, &store, &err), WEIR_USAGE);
    /* An empty file is a store that nobody has written to. */
    ck_assert_int_eq(fclose(fopen(scratch_path("empty.db"), "w")), 0);
    ck_assert_int_eq(store_open(scratch_path("empty.db"), true, &store, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "is empty"));
    store_close(opened("empty.db"));
}
END_TEST

START_TEST(names_that_sqlite_reads_its_own_way_are_names)
{
    struct store *store = NULL;

    ck_assert_int_eq(chdir(scratch_path(".")), 0);
    OK(store_open(":memory:", false, &store, &err));
    store_close(store);
    ck_assert_int_eq(access("./:memory:", F_OK), 0);
    OK(store_open("file:x?mode=memory", false, &store, &err));
    store_close(store);
    ck_assert_int_eq(access("./file:x?mode=memory", F_OK), 0);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* Opens to read, as somebody who may do no more. What there is when that fails is told. */
static void open_to_read(const char *path, const char *folder, struct store **store)
{
    enum weir_status status = store_open(path, true, store, &err);
    struct stat of_folder = {0}, of_file = {0}, of_journal = {0};
    char journal[220];

    (void)snprintf(journal, sizeof journal, "%s-wal", path);
    (void)stat(folder, &of_folder);
    (void)stat(path, &of_file);
    (void)stat(journal, &of_journal);
    ck_assert_msg(
        status == WEIR_OK, "%s (user %d of %d; modes %o, %o; a journal of %lld bytes, mode %o)",
        err.text, (int)geteuid(), (int)getuid(), (unsigned)of_folder.st_mode,
        (unsigned)of_file.st_mode, (long long)of_journal.st_size, (unsigned)of_journal.st_mode);
}

/* A folder where nothing can be written, read by somebody whom that stops: not root. */
START_TEST(a_read_only_place_is_read_and_not_written)
{
    struct made_run made;
    struct store *store = opened("ro#%?.db");
    struct stored_run back;
    char folder[200], path[200];
    FILE *file;

    (void)snprintf(folder, sizeof folder, "%s", scratch_path("."));
    (void)snprintf(path, sizeof path, "%s", scratch_path("ro#%?.db"));
    made_run(&made);
    write_made(store, &made);
    store_close(store);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    file = fopen(path, "r");
    if (file == NULL) { /* the way to it is root's alone: nothing to be tried here */
        ck_assert_int_eq(seteuid(0), 0);
        made_run_free(&made);
        return;
    }
    ck_assert_int_eq(fclose(file), 0);

    open_to_read(path, folder, &store);
    OK(store_read_run(store, 1, &back, &err));
    check_equal_runs(&made.run, &back.run);
    stored_run_free(&back);
    ck_assert_int_eq(store_write_run(store, &made.run, NULL, 0, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "read-only"));
    store_close(store);
    ck_assert_int_eq(store_open(path, false, &store, &err), WEIR_STORE);
    ck_assert_msg(strstr(err.text, "read-only") != NULL ||
                      strstr(err.text, "Permission denied") != NULL,
                  "%s", err.text);

    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    made_run_free(&made);
}
END_TEST

START_TEST(a_locked_file_is_waited_for_then_reported)
{
    struct made_run made;
    struct store *store = opened("a.db"), *other = opened("a.db");
    struct stored_run back;

    made_run(&made);
    write_made(store, &made);
    ck_assert_int_eq(sqlite3_busy_timeout(store->db, 50), SQLITE_OK);
    OK(store_begin(other, &err));
    ck_assert_int_eq(store_write_run(store, &made.run, NULL, 0, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "is locked"));
    OK(store_read_run(store, 1, &back, &err)); /* readers wait for nobody */
    stored_run_free(&back);
    OK(store_end(other, WEIR_OK, &err));
    write_made(store, &made);
    store_close(store);
    store_close(other);
    made_run_free(&made);
}
END_TEST

/* Several programs begin with the same new file at once: every run of each is there. */
START_TEST(programs_share_a_file)
{
    enum { PROGRAMS = 4, RUNS = 5 };
    struct made_run made;
    char path[200];
    struct store *store;

    made_run(&made);
    (void)snprintf(path, sizeof path, "%s", scratch_path("shared.db"));
    for (int i = 0; i < PROGRAMS; i++) {
        if (fork() != 0)
            continue;
        for (int k = 0; k < RUNS; k++) {
            if (store_open(path, false, &store, &err) != WEIR_OK ||
                store_write_run(store, &made.run, made.samples, MADE_SAMPLES, &err) != WEIR_OK) {
                fprintf(stderr, "%s\n", err.text);
                _exit(1);
            }
            store_close(store);
        }
        _exit(0);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        int status = 0;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    store = opened("shared.db");
    ck_assert_str_eq(query(store, "SELECT count(*), max(id) FROM run"), "20|20\n");
    ck_assert_str_eq(query(store, "SELECT count(*) FROM span"), "180\n");
    ck_assert_str_eq(query(store, "SELECT count(*) FROM graph"), "1\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

static int n_files(void)
{
    DIR *dir = opendir(scratch_path("."));
    int n = -2; /* . and .. */

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL)
        n++;
    ck_assert_int_eq(closedir(dir), 0);
    return n;
}

START_TEST(looking_makes_nothing)
{
    struct store *store = NULL;

    OK(store_look(scratch_path("none.db"), &store, &err));
    ck_assert_ptr_null(store);
    ck_assert_int_eq(n_files(), 0);
    ck_assert_int_eq(store_look(scratch_path("no/folder.db"), &store, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "folder is missing"));
    store_close(opened("old.db"));
    OK(store_look(scratch_path("old.db"), &store, &err));
    ck_assert_ptr_nonnull(store);
    store_close(store);
}
END_TEST

START_TEST(a_new_file_appears_with_its_run)
{
    struct made_run made;
    struct store *store;

    made_run(&made);
    made.run.settings = "this is no JSON"; /* which the file refuses */
    ck_assert_int_eq(store_add_run(scratch_path("new.db"), &made.run, NULL, 0, &err), WEIR_STORE);
    ck_assert_msg(strstr(err.text, "new.db: ") != NULL, "%s", err.text);
    ck_assert_int_eq(n_files(), 0);
    made.run.settings = "{}";
    OK(store_add_run(scratch_path("new.db"), &made.run, made.samples, MADE_SAMPLES, &err));
    ck_assert_int_eq(n_files(), 1);
    OK(store_add_run(scratch_path("new.db"), &made.run, made.samples, MADE_SAMPLES, &err));
    store = opened("new.db");
    ck_assert_str_eq(query(store, "SELECT count(*), max(id) FROM run"), "2|2\n");
    ck_assert_str_eq(query(store, "PRAGMA integrity_check"), "ok\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

/* Several programs find no file, and each makes one: none of their runs is lost. */
START_TEST(programs_make_the_same_file)
{
    enum { PROGRAMS = 6 };
    struct made_run made;
    char path[200];
    struct store *store;

    made_run(&made);
    (void)snprintf(path, sizeof path, "%s", scratch_path("shared.db"));
    for (int i = 0; i < PROGRAMS; i++) {
        if (fork() == 0)
            _exit(store_add_run(path, &made.run, made.samples, MADE_SAMPLES, &err) != WEIR_OK);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        int status = 0;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    store = opened("shared.db");
    ck_assert_str_eq(query(store, "SELECT count(*), max(id) FROM run"), "6|6\n");
    store_close(store);
    ck_assert_int_eq(n_files(), 1);
    made_run_free(&made);
}
END_TEST

START_TEST(reading_leaves_nothing_behind)
{
    struct made_run made;
    struct store *store = opened("a.db");
    size_t n_before, n_after;
    char *before, *after;

    made_run(&made);
    write_made(store, &made);
    store_close(store);
    before = bytes_of(scratch_path("a.db"), &n_before);
    OK(store_open(scratch_path("a.db"), true, &store, &err));
    ck_assert_str_eq(query(store, "SELECT count(*) FROM span"), "9\n");
    ck_assert_int_eq(store_write_run(store, &made.run, NULL, 0, &err), WEIR_STORE);
    ck_assert_int_eq(store_delete_run(store, 1, &err), WEIR_STORE);
    store_close(store);
    after = bytes_of(scratch_path("a.db"), &n_after);
    ck_assert_uint_eq(n_before, n_after);
    ck_assert_mem_eq(before, after, n_before);
    ck_assert_int_ne(access(scratch_path("a.db-wal"), F_OK), 0);
    ck_assert_int_ne(access(scratch_path("a.db-shm"), F_OK), 0);
    free(before);
    free(after);
    made_run_free(&made);
}
END_TEST

START_TEST(a_file_is_marked_and_set_up)
{
    struct store *store = opened("a.db");

    ck_assert_str_eq(query(store, "PRAGMA journal_mode"), "wal\n");
    ck_assert_str_eq(query(store, "PRAGMA foreign_keys"), "1\n");
    ck_assert_str_eq(query(store, "PRAGMA application_id"), "1466263922\n");
    ck_assert_int_eq(atoi(query(store, "PRAGMA user_version")), schema_version);
    store_close(store);
    ck_assert_int_ne(access(scratch_path("a.db-wal"), F_OK), 0); /* one file when closed */
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        another_programs_database_is_refused,
        a_newer_schema_is_refused,
        what_is_no_database_is_refused,
        places_that_are_no_file_are_refused,
        names_that_sqlite_reads_its_own_way_are_names,
        a_read_only_place_is_read_and_not_written,
        a_locked_file_is_waited_for_then_reported,
        programs_share_a_file,
        looking_makes_nothing,
        a_new_file_appears_with_its_run,
        programs_make_the_same_file,
        reading_leaves_nothing_behind,
        a_file_is_marked_and_set_up,
    };
    Suite *made = suite_create("open");
    TCase *cases = tcase_create("open");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
