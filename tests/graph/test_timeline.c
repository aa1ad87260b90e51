/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines: rows of pressure are the changes and no more; starts have one order. */
#include <stdlib.h>

#include "graph/timeline.h"
#include "tests/suite.h"

static void add_pressure(struct timeline *timeline, uint32_t domain, int64_t t_ns, int64_t bytes)
{
    const struct timeline_pressure row = {{domain}, t_ns, bytes};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_pressure(timeline, &row, &err), WEIR_OK);
}

static void check_pressures(const struct timeline *timeline, size_t n,
                            const struct timeline_pressure *expected)
{
    ck_assert_uint_eq(timeline->n_pressures, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(timeline->pressures[i].domain.index, expected[i].domain.index);
        ck_assert_int_eq(timeline->pressures[i].t_ns, expected[i].t_ns);
        ck_assert_int_eq(timeline->pressures[i].bytes, expected[i].bytes);
    }
}

START_TEST(a_new_timeline_has_run_nothing)
{
    struct timeline *timeline = timeline_new(3, 2);

    ck_assert_int_eq(timeline->status, RUN_COMPLETE);
    ck_assert_int_eq(timeline->makespan_ns, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(timeline->spans[i].start_ns, -1);
        ck_assert_int_eq(timeline->spans[i].finish_ns, -1);
        ck_assert_int_eq(timeline->spans[i].isolated_ns, -1);
        ck_assert(!weir_is(timeline->spans[i].blocker));
        ck_assert_int_eq(timeline->spans[i].cause, WAIT_NONE);
    }
    ck_assert_int_eq(timeline->peak_bytes[1], 0);
    timeline_free(timeline);
    timeline = timeline_new(0, 0);
    ck_assert_ptr_nonnull(timeline);
    timeline_free(timeline);
    timeline_free(NULL);
}
END_TEST

START_TEST(pressure_rows_are_changes_by_time_and_domain)
{
    static const struct timeline_pressure expected[] = {
        {{0}, 0, 7}, {{1}, 0, 5}, {{0}, 3, 9}, {{1}, 4, 6}};
    struct timeline *timeline = timeline_new(0, 2);

    add_pressure(timeline, 1, 0, 5);
    add_pressure(timeline, 0, 0, 7); /* goes in front of domain 1 */
    add_pressure(timeline, 1, 2, 5); /* no change */
    add_pressure(timeline, 1, 3, 6);
    add_pressure(timeline, 0, 3, 8);
    add_pressure(timeline, 1, 3, 5); /* back to what it was: its row goes */
    add_pressure(timeline, 0, 3, 9); /* replaces */
    add_pressure(timeline, 1, 4, 6);
    check_pressures(timeline, 4, expected);
    timeline_free(timeline);
}
END_TEST

START_TEST(the_first_row_stands_even_at_zero)
{
    static const struct timeline_pressure expected[] = {{{0}, 0, 0}, {{0}, 5, 3}, {{0}, 6, 0}};
    struct timeline *timeline = timeline_new(0, 1);

    add_pressure(timeline, 0, 0, 4);
    add_pressure(timeline, 0, 0, 0);
    add_pressure(timeline, 0, 5, 3);
    add_pressure(timeline, 0, 6, 1);
    add_pressure(timeline, 0, 6, 3);
    add_pressure(timeline, 0, 6, 0); /* a row again, after the one that went */
    check_pressures(timeline, 3, expected);
    timeline_free(timeline);
}
END_TEST

START_TEST(starts_have_one_order)
{
    struct timeline *timeline = timeline_new(5, 0);
    static const struct {
        int64_t start_ns;
        uint32_t order;
    } starts[5] = {{10, 2}, {-1, 0}, {0, 1}, {10, 1}, {10, 2}};
    static const uint32_t expected[] = {2, 3, 0, 4};
    struct weir_error err;
    uint32_t n_started;
    weir_node *order;

    for (int i = 0; i < 5; i++) {
        timeline->spans[i].start_ns = starts[i].start_ns;
        timeline->spans[i].order = starts[i].order;
    }
    ck_assert_int_eq(timeline_order(timeline, &order, &n_started, &err), WEIR_OK);
    ck_assert_uint_eq(n_started, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(order[i].index, expected[i]);
    free(order);
    timeline_free(timeline);
}
END_TEST

/* When the orders are places, nothing is sorted, unless a start is before that of an earlier place. */
START_TEST(order_that_is_there_already)
{
    static const int64_t starts_ns[2][4] = {{10, 20, 10, 0}, {10, 20, 11, 0}};
    static const uint32_t orders[] = {2, 3, 1, 0}, expected[2][4] = {{3, 2, 0, 1}, {3, 0, 2, 1}};
    struct timeline *timeline = timeline_new(4, 0);
    struct weir_error err;
    uint32_t n_started;
    weir_node *order;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            timeline->spans[i].start_ns = starts_ns[round][i];
            timeline->spans[i].order = orders[i];
        }
        ck_assert_int_eq(timeline_order(timeline, &order, &n_started, &err), WEIR_OK);
        ck_assert_uint_eq(n_started, 4);
        for (int i = 0; i < 4; i++)
            ck_assert_uint_eq(order[i].index, expected[round][i]);
        free(order);
    }
    timeline_free(timeline);
}
END_TEST

START_TEST(lists_keep_their_order)
{
    struct timeline *timeline = timeline_new(1, 1);
    struct weir_error err;

    for (int i = 0; i < 100; i++) {
        const struct timeline_wait wait = {.node = {0}, .from_ns = i};
        const struct timeline_hold hold = {.domain = {0}, .bytes = i};
        const struct timeline_induced induced = {.domain = {0}, .bytes = i};
        ck_assert_int_eq(timeline_add_wait(timeline, &wait, &err), WEIR_OK);
        ck_assert_int_eq(timeline_add_hold(timeline, &hold, &err), WEIR_OK);
        ck_assert_int_eq(timeline_add_induced(timeline, &induced, &err), WEIR_OK);
    }
    ck_assert_uint_eq(timeline->n_waits + timeline->n_holds + timeline->n_induced, 300);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(timeline->waits[i].from_ns, i);
        ck_assert_int_eq(timeline->holds[i].bytes, i);
        ck_assert_int_eq(timeline->induced[i].bytes, i);
    }
    timeline_free(timeline);
}
END_TEST

START_TEST(names_lead_back)
{
    enum wait_cause cause;
    enum time_source source;
    enum run_status status;

    for (int i = WAIT_NONE; i <= WAIT_OVERLAP; i++) {
        ck_assert(wait_cause_from(wait_cause_name((enum wait_cause)i), &cause));
        ck_assert_int_eq((int)cause, i);
    }
    for (int i = TIME_SIMULATED; i <= TIME_EVENT; i++) {
        ck_assert(time_source_from(time_source_name((enum time_source)i), &source));
        ck_assert_int_eq((int)source, i);
    }
    for (int i = RUN_COMPLETE; i <= RUN_FAILED; i++) {
        ck_assert(run_status_from(run_status_name((enum run_status)i), &status));
        ck_assert_int_eq((int)status, i);
    }
    ck_assert(!wait_cause_from("", &cause));
    ck_assert(!time_source_from("gpu", &source));
    ck_assert(!run_status_from("completed", &status));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *all = tcase_create("timeline");

    tcase_add_test(all, a_new_timeline_has_run_nothing);
    tcase_add_test(all, pressure_rows_are_changes_by_time_and_domain);
    tcase_add_test(all, the_first_row_stands_even_at_zero);
    tcase_add_test(all, starts_have_one_order);
    tcase_add_test(all, order_that_is_there_already);
    tcase_add_test(all, lists_keep_their_order);
    tcase_add_test(all, names_lead_back);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
