/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs written and read back, found, listed and deleted. */
#include "store/store.h"

#include <stdlib.h>

#include "tests/store/made_run.h"
#include "tests/suite.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;

/* ---- writing and reading ---- */

START_TEST(a_run_read_back_is_equal)
{
    struct made_run made;
    struct stored_run back;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    OK(store_read_run(store, made.run.id, &back, &err));
    check_equal_runs(&made.run, &back.run);
    ck_assert_str_eq(back.run.settings, "{\"repeats\":3}");
    ck_assert_uint_eq(strlen(back.run.created), strlen("2026-01-01T00:00:00Z"));
    ck_assert_uint_eq(back.n_samples, MADE_SAMPLES);
    for (int i = 0; i < MADE_SAMPLES; i++) {
        ck_assert_int_eq(back.samples[i].number, made.samples[i].number);
        ck_assert_int_eq(back.samples[i].makespan_ns, made.samples[i].makespan_ns);
        ck_assert_int_eq(back.samples[i].is_warm_up, made.samples[i].is_warm_up);
        ck_assert_int_eq(back.samples[i].status, made.samples[i].status);
        ck_assert_int_eq(back.samples[i].peak_bytes == NULL, made.samples[i].peak_bytes == NULL);
        if (made.samples[i].peak_bytes != NULL) {
            ck_assert_mem_eq(back.samples[i].peak_bytes, made.samples[i].peak_bytes,
                             2 * sizeof *back.samples[i].peak_bytes);
        }
    }
    stored_run_free(&back);
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(a_run_written_again_is_equal)
{
    struct made_run made;
    struct stored_run back, again;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    OK(store_read_run(store, made.run.id, &back, &err));
    OK(store_write_run(store, &back.run, back.samples, back.n_samples, &err));
    ck_assert_int_ne(back.run.id, made.run.id);
    OK(store_read_run(store, back.run.id, &again, &err));
    check_equal_runs(&back.run, &again.run);
    ck_assert_str_eq(back.run.created, again.run.created);
    ck_assert_str_eq(query(store, "SELECT count(*) FROM graph"), "1\n");
    stored_run_free(&back);
    stored_run_free(&again);
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(a_graph_is_kept_once_and_others_beside_it)
{
    struct made_run made, larger;
    struct stored_run back;
    struct store *store = opened("a.db");

    made_run(&made);
    made_run_of(&larger, 50);
    write_made(store, &made);
    write_made(store, &larger);
    made.run.plan_hash[0] = '\0';
    write_made(store, &made);
    ck_assert_str_eq(query(store, "SELECT id, n_nodes FROM graph ORDER BY id"), "1|10\n2|60\n");
    ck_assert_str_eq(query(store, "SELECT run_id, count(*), max(id) FROM node GROUP BY run_id"),
                     "1|10|9\n2|60|59\n3|10|9\n");
    ck_assert_str_eq(query(store, "SELECT run_id, count(*) FROM span GROUP BY run_id"),
                     "1|9\n2|59\n3|9\n");
    OK(store_read_run(store, 3, &back, &err));
    check_equal_runs(&made.run, &back.run);
    stored_run_free(&back);
    store_close(store);
    made_run_free(&made);
    made_run_free(&larger);
}
END_TEST

/* A graph of more than one part of a mebibyte. */
START_TEST(a_long_text_comes_back_whole)
{
    struct made_run made;
    struct stored_run back;
    struct store *store = opened("a.db");

    made_run_of(&made, 60000);
    write_made(store, &made);
    ck_assert_int_ge(atoi(query(store, "SELECT count(*) FROM graph_text")), 2);
    OK(store_read_run(store, made.run.id, &back, &err));
    check_equal_runs(&made.run, &back.run);
    stored_run_free(&back);
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(the_plan_hash_tells_plans_apart)
{
    struct made_run made;
    char first[HASH_TEXT_BYTES];
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    memcpy(first, made.run.plan_hash, sizeof first);
    ck_assert_uint_eq(strlen(first), HASH_TEXT_BYTES - 1);

    made.run.plan_hash[0] = '\0'; /* other times, the same order: the same plan */
    made.timeline->spans[2].finish_ns += 1000;
    write_made(store, &made);
    ck_assert_str_eq(made.run.plan_hash, first);

    made.run.plan_hash[0] = '\0'; /* another order */
    made.timeline->spans[2].start_ns = made.timeline->spans[3].start_ns + 1;
    write_made(store, &made);
    ck_assert_str_ne(made.run.plan_hash, first);

    (void)snprintf(made.run.plan_hash, sizeof made.run.plan_hash, "%s", first);
    write_made(store, &made); /* given: kept */
    ck_assert_str_eq(made.run.plan_hash, first);
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(settings_that_are_no_json_are_refused)
{
    struct made_run made;
    struct store *store = opened("a.db");

    made_run(&made);
    made.run.settings = "{\"open\": ";
    ck_assert_int_eq(store_write_run(store, &made.run, NULL, 0, &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "malformed JSON"));
    ck_assert_str_eq(query(store, "SELECT count(*) FROM run"), "0\n");
    ck_assert_str_eq(query(store, "SELECT count(*) FROM graph"), "0\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

/* ---- finding, listing, deleting ---- */

static enum weir_status count_rows(void *arg, const struct run_row *row)
{
    int64_t *last = arg;

    ck_assert_int_gt(row->id, *last);
    *last = row->id;
    ck_assert_int_eq(row->n_nodes, 9);
    ck_assert_str_eq(row->graph_name, "demo");
    return WEIR_OK;
}

START_TEST(runs_are_found_by_name)
{
    struct made_run made;
    int64_t id = 0, last = 0;
    struct store *store = opened("a.db");

    made_run(&made);
    ck_assert_int_eq(store_resolve_run(store, "latest", &id, &err), WEIR_INPUT);
    made.run.kind = RUN_RECORDED;
    write_made(store, &made); /* 1 */
    made.run.kind = RUN_SIM;
    write_made(store, &made); /* 2 */
    write_made(store, &made); /* 3 */
    made.run.kind = RUN_RECORDED;
    (void)snprintf(made.run.graph_hash, sizeof made.run.graph_hash, "%032d", 1);
    write_made(store, &made); /* 4 */

    OK(store_resolve_run(store, "latest", &id, &err));
    ck_assert_int_eq(id, 4);
    OK(store_resolve_run(store, "sim", &id, &err));
    ck_assert_int_eq(id, 3);
    OK(store_resolve_run(store, "2", &id, &err));
    ck_assert_int_eq(id, 2);
    ck_assert_int_eq(store_resolve_run(store, "replay", &id, &err), WEIR_INPUT);
    ck_assert_int_eq(store_resolve_run(store, "5", &id, &err), WEIR_INPUT);
    ck_assert_int_eq(store_resolve_run(store, "0", &id, &err), WEIR_INPUT);
    ck_assert_int_eq(store_resolve_run(store, "2x", &id, &err), WEIR_INPUT);
    ck_assert_int_eq(id, 2);

    OK(store_find_recording(store, "00112233445566778899aabbccddeeff", &id, &err));
    ck_assert_int_eq(id, 1);
    OK(store_find_recording(store, "ffffffffffffffffffffffffffffffff", &id, &err));
    ck_assert_int_eq(id, 0);
    OK(store_list_runs(store, count_rows, &last, &err));
    ck_assert_int_eq(last, 4);
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(a_deleted_run_leaves_nothing)
{
    static const char *const tables[] = {
        "span_block", "wait_block",   "pressure_block", "hold_block",    "induced_block",
        "peak_row",   "decision_row", "mechanism_row",  "deviation_row", "sample",
        "action_row", "queue_row",    "inserted_row",   "chain",         "graph",
        "graph_text", "node_row",     "object_row",     "edge_row",      "text_row",
        "domain_row", "engine_row",   "class_row",      "run",           "sample_peak_row"};
    struct made_run made;
    struct stored_run back;
    char sql[96];
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    made.run.plan_hash[0] = '\0';
    write_made(store, &made);
    OK(store_delete_run(store, 1, &err));
    ck_assert_int_eq(store_delete_run(store, 1, &err), WEIR_INPUT);
    OK(store_read_run(store, 2, &back, &err));
    check_equal_runs(&made.run, &back.run);
    stored_run_free(&back);
    OK(store_delete_run(store, 2, &err));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        ck_assert_msg(strcmp(query(store, sql), "0\n") == 0, "%s is not empty", tables[i]);
    }
    made.run.plan_hash[0] = '\0';
    ck_assert_int_eq(write_made(store, &made), 3); /* a number is never used twice */
    store_close(store);
    made_run_free(&made);
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        a_run_read_back_is_equal,
        a_run_written_again_is_equal,
        a_graph_is_kept_once_and_others_beside_it,
        a_long_text_comes_back_whole,
        the_plan_hash_tells_plans_apart,
        settings_that_are_no_json_are_refused,
        runs_are_found_by_name,
        a_deleted_run_leaves_nothing,
    };
    Suite *made = suite_create("store");
    TCase *cases = tcase_create("store");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
