/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many queues a plan written by hand keeps busy. Rates are made up: all work takes an amount. */
#include "replay/sharing.h"

#include "tests/replay/plan.h"

/* On three engines, in us:
 *
 *     a   one    0 ........ 300 then 300 ... 400
 *     b   two        100 .. 300
 *     c   three          200 ...... 400
 *
 * Three are busy from 200 to 300 only: what ends at 300 gives way to what begins then. A barrier
 * takes no processor. */
static const char engines[] = "weir 1\ndomain hbm capacity=1MB\n"
                              "engine a\nengine b\nengine c\n"
                              "node one compute engine=a duration=300us\n"
                              "node two compute engine=b duration=200us\n"
                              "node three compute engine=c duration=200us\n"
                              "node sync barrier\n"
                              "node then compute engine=a duration=100us\n";

static struct schedule *make(struct test_plan *plan, double scale_time)
{
    const struct schedule_options options = {
        .scale_time = scale_time, .scale_bytes = 1, .memory_bytes = 1 << 30};
    const struct rates rates = {.work = {[STEP_COMPUTE] = {.fixed_ns = 100, .unit_ns = 10}}};
    struct schedule *schedule = NULL;
    struct weir_error err = {WEIR_OK, ""};

    plan_begin(plan, engines);
    plan_ran(plan, "one", 0, 300000);
    plan_ran(plan, "two", 100000, 300000);
    plan_ran(plan, "three", 200000, 400000);
    plan_ran(plan, "sync", 300000, 300000);
    plan_ran(plan, "then", 300000, 400000);
    ck_assert_msg(schedule_make(plan->binding, plan->timeline, &options, &rates, &schedule, &err) ==
                      WEIR_OK,
                  "%s", err.text);
    return schedule;
}

static void check(const struct schedule *schedule, uint32_t n_processors, uint32_t busy,
                  int64_t shared_ns, int64_t cost_ns)
{
    struct sharing sharing;
    struct weir_error err;

    ck_assert_int_eq(sharing_find(schedule, n_processors, &sharing, &err), WEIR_OK);
    ck_assert_uint_eq(sharing.busy_queues, busy);
    ck_assert(sharing.is_time_shared == (busy > n_processors));
    ck_assert_int_eq(sharing.shared_ns, shared_ns);
    ck_assert_int_eq(sharing.cost_ns, cost_ns);
}

/* On one processor two queues share it from 100 to 200 and from 300 to 400, and three from 200 to
 * 300: 100 + 100 + 2 * 100 us longer. On two processors three take 3 / 2 as long. */
START_TEST(queues_that_work_at_once_are_counted)
{
    struct test_plan plan;
    struct schedule *schedule = make(&plan, 1);

    check(schedule, 1, 3, 300000, 400000);
    check(schedule, 2, 3, 100000, 50000);
    check(schedule, 3, 3, 0, 0);
    schedule_free(schedule);
    plan_end(&plan);
}
END_TEST

START_TEST(times_are_scaled)
{
    struct test_plan plan;
    struct schedule *schedule = make(&plan, 2);

    check(schedule, 2, 3, 200000, 100000);
    schedule_free(schedule);
    plan_end(&plan);
}
END_TEST

START_TEST(sharing_is_a_deviation_of_the_run)
{
    struct test_plan plan;
    struct schedule *schedule = make(&plan, 1);
    struct sharing sharing;
    struct weir_error err;
    size_t n_before = schedule->n_deviations;

    ck_assert_int_eq(sharing_name(schedule, 4, &sharing, &err), WEIR_OK);
    ck_assert_uint_eq(schedule->n_deviations, n_before);
    ck_assert_int_eq(sharing_name(schedule, 2, &sharing, &err), WEIR_OK);
    ck_assert_uint_eq(schedule->n_deviations, n_before + 1);
    ck_assert(!weir_is(schedule->deviations[n_before].node));
    ck_assert_int_eq(schedule->deviations[n_before].cost_ns, 50000);
    ck_assert_ptr_nonnull(strstr(schedule->deviations[n_before].what,
                                 "3 busy queues on 2 processors: the replay is time-shared for "
                                 "25.0 % of the plan"));
    schedule_free(schedule);
    plan_end(&plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/sharing");
    TCase *sharing = tcase_create("sharing");

    tcase_add_test(sharing, queues_that_work_at_once_are_counted);
    tcase_add_test(sharing, times_are_scaled);
    tcase_add_test(sharing, sharing_is_a_deviation_of_the_run);
    suite_add_tcase(suite, sharing);
    return run_suite(suite);
}
