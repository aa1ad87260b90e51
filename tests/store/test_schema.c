/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a file comes from an older schema to a newer one, shown with schemas made up for the test. */
#include "store/schema.h"

#include <unistd.h>

#include "store/packed.h"
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
        const char *name = (const char *)sqlite3_column_text(names, 0);

        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", name);
        ck_assert_int_eq(number(sql), strcmp(name, "number") == 0 ? PACKED_ROWS : 0);
        n_views++;
    }
    (void)sqlite3_finalize(names);
    ck_assert_int_gt(n_views, 30);
}
END_TEST

/* ---- from rows of their own to blocks ---- */

/* All rows of a view, values parted by |. */
static void append_rows(const char *view, FILE *out)
{
    sqlite3_stmt *select = NULL;
    char sql[100];

    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s", view);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &select, NULL), SQLITE_OK);
    while (sqlite3_step(select) == SQLITE_ROW) {
        fputs(view, out);
        for (int i = 0; i < sqlite3_column_count(select); i++) {
            const unsigned char *text = sqlite3_column_text(select, i);
            fprintf(out, "|%s", text == NULL ? (const unsigned char *)"" : text);
        }
        fputc('\n', out);
    }
    (void)sqlite3_finalize(select);
}

/* The rows of the views over what a run is made of, malloc'ed. */
static char *timeline_rows(void)
{
    static const char *const views[] = {"span", "wait", "pressure", "hold", "edge"};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        append_rows(views[i], out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* Two runs of one graph of 150 nodes, with rows for two full blocks and a part of one: values that
 * grow, that are all alike, that are NULL now and then and altogether, and the largest there are. */
#define ROWS "FROM run CROSS JOIN number WHERE number.id < 150"
#define KEY "(run.id << 32) + number.id"
static const char version_2_rows[] =
    "WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < 149) "
    "INSERT INTO number SELECT id FROM n;"
    "INSERT INTO graph VALUES(7, 'hash', 'g', 150, 0, 150, 0);"
    "INSERT INTO domain_row(graph_id, id, name) VALUES(7, 0, 'near'), (7, 1, 'far');"
    "INSERT INTO object_row(key, name) SELECT (7 << 32) + id, 'o' || id FROM number;"
    "INSERT INTO node_row(key, name, kind) SELECT (7 << 32) + id, 'n' || id, 0 FROM number;"
    "INSERT INTO run VALUES(3, 'sim', '', 'h', 'p', 'g', '', '', 0, 1, 1, 'complete', '', '{}', 7, "
    "150), (9, 'sim', '', 'h', 'p', 'g', '', '', 0, 1, 1, 'complete', '', '{}', 7, 150);"
    "INSERT INTO span_row SELECT " KEY ", iif(number.id % 7 = 3, NULL, number.id * 1000 * run.id), "
    "number.id % 5, iif(number.id % 7 = 3 OR number.id = 149, NULL, number.id % 11), "
    "iif(run.id = 3, 0, NULL), number.id % 5 + 16 * (number.id % 4), "
    "iif(number.id % 3 = 0, NULL, -number.id), iif(number.id % 7 = 3, NULL, 1) " ROWS ";"
    "UPDATE span_row SET start_ns = 9223372036854775807, length_ns = 0 "
    "WHERE key & 4294967295 = 70;"
    "INSERT INTO wait_row SELECT " KEY ", number.id, number.id % 5, "
    "iif(number.id % 2 = 0, NULL, number.id / 2), iif(number.id % 9 = 0, number.id, NULL), "
    "number.id * 100, number.id * 100 + 9223372036854760000 * (number.id = 120) " ROWS ";"
    "INSERT INTO pressure_row SELECT " KEY ", number.id % 2, number.id, number.id << 40 " ROWS ";"
    "INSERT INTO hold_row SELECT " KEY ", 1, iif(number.id % 4 < 2, number.id, NULL), "
    "iif(number.id % 4 = 0, NULL, number.id), 64, number.id, iif(number.id > 100, NULL, 500), "
    "number.id % 4 = 3 " ROWS ";"
    "INSERT INTO induced_row SELECT " KEY ", number.id / 2, number.id, 0, 1000 " ROWS ";";

START_TEST(rows_become_blocks)
{
    char *before, *after;
    char *message = NULL;
    int n_rows = 0;

    ck_assert_int_eq(schema_bring_up(db, "s.db", schema_steps, 2, &err), WEIR_OK);
    ck_assert_msg(sqlite3_exec(db, version_2_rows, NULL, NULL, &message) == SQLITE_OK, "%s",
                  message);
    before = timeline_rows();
    ck_assert_int_eq(schema_bring_up(db, "s.db", schema_steps, schema_version, &err), WEIR_OK);
    after = timeline_rows();
    for (const char *a = before, *b = after; *a != '\0' || *b != '\0'; n_rows++) {
        size_t n = strcspn(a, "\n");

        ck_assert_msg(strncmp(a, b, n + 1) == 0, "%.*s became %.*s", (int)n, a,
                      (int)strcspn(b, "\n"), b);
        a += n + 1;
        b += n + 1;
    }
    ck_assert_int_eq(n_rows, 2 * (5 * 150 - 21)); /* 21 of 150 nodes did not start */
    ck_assert_int_eq(number("SELECT count(*) FROM sqlite_master WHERE name = 'span_row'"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM span_block"), 2 * 3);
    ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM run WHERE id = 3", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(number("SELECT count(*) FROM span_block"), 3);
    ck_assert_int_eq(number("SELECT count(*) FROM hold"), 150);
    free(before);
    free(after);
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
    tcase_add_test(cases, rows_become_blocks);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
