/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host device runs hand-made steps in the order that their queues and waits give, and stops what
 * never ends. Nothing here depends on how fast the machine is: order and lower bounds of paced times
 * are checked, never durations. */
#include <stdlib.h>

#include "base/random.h"
#include "tests/replay/host_rig.h"

/* ---- order ---- */

START_TEST(one_queue_keeps_order)
{
    struct rig rig;

    rig_open(&rig, 1, 20, NULL, 0);
    for (int i = 0; i < 20; i++)
        rig_add(&rig, (struct step){.action = i % 3 == 0 ? STEP_MARK : STEP_COMPUTE,
                                    .amount = i % 3 == 0 ? 0 : 1000});
    for (int pass = 0; pass < 3; pass++) {
        rig_run(&rig);
        for (uint32_t i = 1; i < 20; i++)
            check_after(&rig, i - 1, i);
        ck_assert_int_eq(rig.timeline->makespan_ns, span(&rig, 19)->finish_ns);
        ck_assert_uint_eq(span(&rig, 7)->order, 7);
        ck_assert_uint_eq(span(&rig, 7)->source, TIME_HOST);
    }
    ck_assert_int_gt(rig.device->ops->processor_ns(rig.device, 1), 0);
    ck_assert_int_eq(rig.device->ops->processor_ns(rig.device, 0), -1);
    rig_close(&rig);
}
END_TEST

/* Untimed, a run gives no spans, and is as long as it is: here no less than its step is held back. */
START_TEST(a_run_need_not_be_timed)
{
    const struct device_ops *ops;
    struct rig rig;

    rig_open(&rig, 1, 1, NULL, 0);
    ops = rig.device->ops;
    rig_add(&rig, (struct step){.action = STEP_MARK, .release_ns = 2 * MS});
    ck_assert_int_eq(ops->drain(rig.device, NULL, &rig.err), WEIR_OK);
    ck_assert_int_ge(ops->whole_ns(rig.device), 2 * MS);
    ck_assert_int_eq(span(&rig, 0)->start_ns, -1);
    rig_run(&rig);
    ck_assert_int_eq(ops->whole_ns(rig.device), rig.timeline->makespan_ns);
    rig_close(&rig);
}
END_TEST

/* 0 -> 1 -> 2 -> ... hand over between two queues, then between a queue and steps without one. */
START_TEST(waits_cross_queues)
{
    for (int without = 0; without < 2; without++) {
        struct rig rig;

        rig_open(&rig, 2, 200, NULL, 0);
        for (uint32_t i = 0; i < 200; i++) {
            struct step_wait wait = {.step = i - 1};
            uint32_t other = without != 0 ? STEP_NO_QUEUE : 1;

            rig_add(&rig, (struct step){.action = STEP_COMPUTE,
                                        .amount = 200,
                                        .queue = i % 2 == 0 ? 0 : other,
                                        .waits = &wait,
                                        .n_waits = i > 0});
        }
        for (int pass = 0; pass < 3; pass++) {
            rig_run(&rig);
            for (uint32_t i = 1; i < 200; i++)
                check_after(&rig, i - 1, i);
        }
        rig_close(&rig);
    }
}
END_TEST

/* Releases, lags, and edges from a start are waited for; the queue's order holds beside them. */
START_TEST(times_are_paced)
{
    struct rig rig;
    const struct step_wait lag = {.step = 0, .lag_ns = 3 * MS};
    const struct step_wait from_start = {.step = 1, .is_from_start = true, .lag_ns = 2 * MS};
    const struct step_wait soon = {.step = 1, .is_from_start = true};

    rig_open(&rig, 2, 6, NULL, 0);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0, .release_ns = 2 * MS});
    rig_add(&rig,
            (struct step){
                .action = STEP_COMPUTE, .amount = 100, .queue = 0, .waits = &lag, .n_waits = 1});
    rig_add(&rig,
            (struct step){.action = STEP_MARK, .queue = 1, .waits = &from_start, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK,
                                .queue = STEP_NO_QUEUE,
                                .waits = &from_start,
                                .n_waits = 1,
                                .release_ns = MS});
    rig_add(&rig, (struct step){
                      .action = STEP_MARK, .queue = STEP_NO_QUEUE, .waits = &soon, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = STEP_NO_QUEUE, .release_ns = 4 * MS});
    for (int pass = 0; pass < 2; pass++) {
        rig_run(&rig);
        ck_assert_int_ge(span(&rig, 0)->start_ns, 2 * MS);
        ck_assert_int_ge(span(&rig, 1)->start_ns, span(&rig, 0)->finish_ns + 3 * MS);
        ck_assert_int_ge(span(&rig, 2)->start_ns, span(&rig, 1)->start_ns + 2 * MS);
        ck_assert_int_ge(span(&rig, 3)->start_ns, span(&rig, 1)->start_ns + 2 * MS);
        ck_assert_int_ge(span(&rig, 4)->start_ns, span(&rig, 1)->start_ns);
        ck_assert_int_ge(span(&rig, 5)->start_ns, 4 * MS);
    }
    rig_close(&rig);
}
END_TEST

/* 0 --1 ms--> pass(release 3 ms) --2 ms--> pass --> 3: the first pass would have been ready at
 * max(3 ms, finish of 0 + 1 ms), so 3 starts 2 ms after that at the earliest. A pass without waits
 * stands for its release. */
START_TEST(passed_edges_add_up)
{
    struct rig rig;
    const struct step_wait first = {.step = 0, .lag_ns = MS};
    const struct step_wait second = {.step = 1, .lag_ns = 2 * MS};
    const struct step_wait third = {.step = 2, .is_from_start = true};
    const struct step_wait root = {.step = 4, .lag_ns = MS};

    rig_open(&rig, 1, 6, NULL, 0);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0});
    rig_add(&rig, (struct step){.action = STEP_PASS,
                                .queue = STEP_NO_QUEUE,
                                .waits = &first,
                                .n_waits = 1,
                                .release_ns = 3 * MS});
    rig_add(&rig, (struct step){
                      .action = STEP_PASS, .queue = STEP_NO_QUEUE, .waits = &second, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0, .waits = &third, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_PASS, .queue = STEP_NO_QUEUE, .release_ns = 7 * MS});
    rig_add(&rig, (struct step){
                      .action = STEP_MARK, .queue = STEP_NO_QUEUE, .waits = &root, .n_waits = 1});
    rig_run(&rig);
    ck_assert_int_ge(span(&rig, 3)->start_ns, 5 * MS);
    ck_assert_int_ge(span(&rig, 5)->start_ns, 8 * MS);
    ck_assert_int_eq(span(&rig, 1)->start_ns, -1);
    ck_assert_int_eq(span(&rig, 4)->start_ns, -1);
    rig_close(&rig);
}
END_TEST

#define RANDOM_STEPS 600

/* Random steps on more queues than there are processors; every wait goes to an earlier step. */
static void check_random(uint64_t seed)
{
    struct rig rig;
    struct random_stream random;
    static struct step_wait waits[RANDOM_STEPS][3];
    static struct step steps[RANDOM_STEPS];
    uint32_t last[5] = {WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE};

    random_seed(&random, seed, 0);
    rig_open(&rig, 5, RANDOM_STEPS, NULL, 0);
    for (uint32_t i = 0; i < RANDOM_STEPS; i++) {
        uint32_t queue = (uint32_t)random_below(&random, 7);

        steps[i] = (struct step){.action = queue == 6 ? STEP_MARK : STEP_COMPUTE,
                                 .queue = queue >= 5 ? STEP_NO_QUEUE : queue,
                                 .amount = queue == 6 ? 0 : (int64_t)random_below(&random, 500),
                                 .waits = waits[i],
                                 .n_waits = i < 4 ? 0 : (uint32_t)random_below(&random, 4)};
        for (uint32_t w = 0; w < steps[i].n_waits; w++)
            waits[i][w] = (struct step_wait){.step = (uint32_t)random_below(&random, i),
                                             .is_from_start = random_below(&random, 8) == 0,
                                             .lag_ns = (int64_t)random_below(&random, 20) *
                                                       (random_below(&random, 10) == 0) * 1000};
        rig_add(&rig, steps[i]);
    }
    rig_run(&rig);
    rig_run(&rig);
    for (uint32_t i = 0; i < RANDOM_STEPS; i++) {
        for (uint32_t w = 0; w < steps[i].n_waits; w++) {
            const struct timeline_span *producer = span(&rig, waits[i][w].step);

            ck_assert_int_ge(
                span(&rig, i)->start_ns,
                (waits[i][w].is_from_start ? producer->start_ns : producer->finish_ns) +
                    waits[i][w].lag_ns);
        }
        if (steps[i].queue == STEP_NO_QUEUE)
            continue;
        if (last[steps[i].queue] != WEIR_NONE)
            check_after(&rig, last[steps[i].queue], i);
        last[steps[i].queue] = i;
    }
    rig_close(&rig);
}

START_TEST(random_orders_are_kept)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        check_random(seed);
}
END_TEST

/* ---- what never ends ---- */

START_TEST(endless_work_is_stopped)
{
    struct rig rig;

    rig_open(&rig, 2, 3, NULL, 0);
    rig.setup.deadline_ns = 50 * MS;
    rig_reopen(&rig);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0});
    rig_add(&rig, (struct step){.action = STEP_COMPUTE, .queue = 0, .amount = INT64_MAX / 2});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 1});
    rig_fail(&rig, "step 1 had not finished after 0.050 s");
    rig_close(&rig);
}
END_TEST

START_TEST(waiting_for_each_other_is_stopped)
{
    struct rig rig;
    const struct step_wait second = {.step = 1};
    const struct step_wait first = {.step = 0};

    rig_open(&rig, 2, 2, NULL, 0);
    rig.setup.deadline_ns = 50 * MS;
    rig_reopen(&rig);
    rig_add(&rig, after((struct step){.action = STEP_MARK, .queue = 0}, &second));
    rig_add(&rig, after((struct step){.action = STEP_MARK, .queue = 1}, &first));
    rig_fail(&rig, "step 0 had not begun after 0.050 s");
    rig_close(&rig);
}
END_TEST

START_TEST(bad_steps_are_refused)
{
    struct rig rig;
    struct mechanism how;
    const struct step_wait beyond = {.step = 5};
    const struct step wrong_queue = {.action = STEP_MARK, .queue = 3};
    const struct step one_more = {.action = STEP_MARK};

    rig_open(&rig, 1, 1, NULL, 0);
    ck_assert_int_eq(rig.device->ops->submit(rig.device, &wrong_queue, &how, &rig.err), WEIR_INPUT);
    rig_add(&rig, after((struct step){.action = STEP_MARK}, &beyond));
    ck_assert_int_eq(rig.device->ops->submit(rig.device, &one_more, &how, &rig.err), WEIR_INPUT);
    ck_assert_int_eq(rig.device->ops->drain(rig.device, rig.timeline, &rig.err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(rig.err.text, "step 0 waits for step 5 of 1"));
    rig_close(&rig);
}
END_TEST

/* ---- the registry ---- */

START_TEST(devices_are_found)
{
    const struct device_ops *ops = NULL;
    struct device_info info;
    struct weir_error err;

    ck_assert_int_eq(device_find_ready("host", &ops, &info, &err), WEIR_OK);
    ck_assert_str_eq(ops->name, "host");
    ck_assert_uint_ge(info.n_processors, 1);
    ck_assert_int_gt(info.memory_bytes, 1 << 20);
    ck_assert_int_eq(device_find("cuda", &ops, &err), WEIR_OK);
    if (device_find_ready("cuda", &ops, &info, &err) != WEIR_OK) {
        const struct device_setup none = {.n_queues = 0};
        struct device *device = NULL;

        ck_assert_ptr_nonnull(strstr(err.text, "'cuda' is not available"));
        ck_assert_int_eq(ops->open(&none, &device, &err), WEIR_DEVICE);
        ck_assert_ptr_null(device);
    }
    ck_assert_int_eq(device_find("abacus", &ops, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "host, cuda"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/host");
    TCase *order = tcase_create("order");
    TCase *ends = tcase_create("ends");

    tcase_add_test(order, one_queue_keeps_order);
    tcase_add_test(order, a_run_need_not_be_timed);
    tcase_add_test(order, waits_cross_queues);
    tcase_add_test(order, times_are_paced);
    tcase_add_test(order, passed_edges_add_up);
    tcase_add_test(order, random_orders_are_kept);
    tcase_add_test(ends, endless_work_is_stopped);
    tcase_add_test(ends, waiting_for_each_other_is_stopped);
    tcase_add_test(ends, bad_steps_are_refused);
    tcase_add_test(ends, devices_are_found);
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, ends);
    return run_suite(suite);
}
