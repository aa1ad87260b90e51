/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a file comes from an older schema to a newer one, shown with schemas made up for the test. */
#include "store/schema.h"

#include <unistd.h>

#include "tests/store/made_run.h"
#include "tests/suite.h"

static const char *const first[] = {"CREATE TABLE run(id INTEGER PRIMARY KEY, makespan_us INT)",
                                    "INSERT INTO run(makespan_us) VALUES(12)", NULL};
static const char *const second[] = {"ALTER TABLE run ADD COLUMN makespan_ns INT",
                                     "UPDATE run SET makespan_ns = makespan_us * 1000", NULL};
static const char *const third[] = {"CREATE VIEW slow AS SELECT id FROM run WHERE makespan_ns > 5",
                                    NULL};
static const char *const broken[] = {"CREATE TABLE other(x)", "CREATE NONSENSE", NULL};

static struct weir_error err;
static sqlite3 *db;

static void set_up(void)
{
    (void)unlink(scratch_path("s.db"));
    ck_assert_int_eq(sqlite3_open(scratch_path("s.db"), &db), SQLITE_OK);
}

static void tear_down(void)
{
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static int number(const char *sql)
{
    sqlite3_stmt *select = NULL;
    int value;

    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &select, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(select), SQLITE_ROW);
    value = sqlite3_column_int(select, 0);
    (void)sqlite3_finalize(select);
    return value;
}

START_TEST(a_new_file_gets_every_step)
{
    const schema_step steps[] = {first, second, third};
    int version = 9;

    ck_assert_int_eq(schema_find(db, &version), SQLITE_OK);
    ck_assert_int_eq(version, 0);
    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 3, &err), WEIR_OK);
    ck_assert_int_eq(schema_find(db, &version), SQLITE_OK);
    ck_assert_int_eq(version, 3);
    ck_assert_int_eq(number("SELECT makespan_ns FROM run"), 12000);
    ck_assert_int_eq(number("SELECT count(*) FROM slow"), 1);
}
END_TEST

START_TEST(an_older_file_gets_the_steps_it_lacks)
{
    const schema_step steps[] = {first, second, third};

    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 1, &err), WEIR_OK);
    ck_assert_int_eq(sqlite3_exec(db, "INSERT INTO run(makespan_us) VALUES(34)", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 3, &err), WEIR_OK);
    ck_assert_int_eq(number("PRAGMA user_version"), 3);
    ck_assert_int_eq(number("SELECT sum(makespan_ns) FROM run"), 46000);
    /* And none twice. */
    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 3, &err), WEIR_OK);
    ck_assert_int_eq(number("SELECT count(*) FROM run"), 2);
}
END_TEST

START_TEST(a_step_that_fails_leaves_the_file_as_it_was)
{
    const schema_step steps[] = {first, second, broken};

    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 1, &err), WEIR_OK);
    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 3, &err), WEIR_STORE);
    ck_assert_int_eq(number("PRAGMA user_version"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM sqlite_master"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM pragma_table_info('run')"), 2);
}
END_TEST

START_TEST(a_newer_file_is_refused)
{
    const schema_step steps[] = {first, second, third};

    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 3, &err), WEIR_OK);
    ck_assert_int_eq(schema_bring_up(db, "s.db", steps, 2, &err), WEIR_STORE);
    ck_assert_str_eq(err.text, "s.db: schema 3 is newer than 2, which this Weir reads; use the "
                               "Weir that wrote it, or another file with --db");
}
END_TEST

/* A file of version 1, with a run that has a chain: the run stays, and what version 2 knows beside is
 * not there. */
START_TEST(a_file_of_version_1_is_brought_up)
{
    ck_assert_int_eq(schema_bring_up(db, "s.db", schema_steps, 1, &err), WEIR_OK);
    ck_assert_int_eq(
        sqlite3_exec(
            db,
            "INSERT INTO graph VALUES(1, 'h', 'g', 2, 0, 0, 0);"
            "INSERT INTO run VALUES(1, 'replay', 'none', 'h', 'p', 'g', '', '', 0, 9, NULL, "
            "'complete', '', '{}', 1, 2);"
            "INSERT INTO chain VALUES(1, 0, 1, 'engine', NULL, 0, 9)",
            NULL, NULL, NULL),
        SQLITE_OK);
    ck_assert_int_eq(schema_bring_up(db, "s.db", schema_steps, schema_version, &err), WEIR_OK);
    ck_assert_int_eq(number("SELECT count(*) FROM run"), 1);
    ck_assert_int_eq(number("SELECT finish_ns FROM chain WHERE stretch_ns IS NULL"), 9);
    ck_assert_int_eq(number("SELECT count(*) FROM deviation_part"), 0);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "INSERT INTO action_row(key) VALUES(1 << 32);"
                                  "DELETE FROM run",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(number("SELECT count(*) FROM chain"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM action_row"), 0);
}
END_TEST

/* SQLite looks at what a view says only when it is read. */
START_TEST(every_view_of_the_schema_can_be_read)
{
    sqlite3_stmt *names = NULL;
    char sql[200];
    int n_views = 0;

    ck_assert_int_eq(schema_bring_up(db, "s.db", schema_steps, schema_version, &err), WEIR_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT name FROM sqlite_master WHERE type IN ('view', "
                                        "'table') AND name NOT LIKE 'sqlite_%'",
                                        -1, &names, NULL),
                     SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", sqlite3_column_text(names, 0));
        ck_assert_int_eq(number(sql), 0);
        n_views++;
    }
    (void)sqlite3_finalize(names);
    ck_assert_int_gt(n_views, 30);
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("schema");
    TCase *cases = tcase_create("schema");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_new_file_gets_every_step);
    tcase_add_test(cases, an_older_file_gets_the_steps_it_lacks);
    tcase_add_test(cases, a_step_that_fails_leaves_the_file_as_it_was);
    tcase_add_test(cases, a_newer_file_is_refused);
    tcase_add_test(cases, a_file_of_version_1_is_brought_up);
    tcase_add_test(cases, every_view_of_the_schema_can_be_read);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
