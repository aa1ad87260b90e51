/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole replays on the host. The plans are small, and nothing depends on how fast the machine is. */
#include "replay/runner.h"

#include <gsl/gsl_errno.h>

#include "tests/replay/plan.h"

static const char offloading[] =
    "weir 1\ndomain hbm capacity=4MB\ndomain host capacity=4MB\n"
    "engine sm domain=hbm\nengine h2d from=host to=hbm\nengine d2h from=hbm to=host\n"
    "object w size=1MB domain=host initial\nobject y size=1MB domain=hbm\n"
    "object z size=256KB domain=hbm\n"
    "node get allocation object=w domain=hbm\n"
    "node load prefetch engine=h2d object=w duration=300us\n"
    "node one compute engine=sm duration=200us reads=w writes=y workspace=1KB\n"
    "node put reclamation object=w domain=hbm\n"
    "node save offload engine=d2h object=y duration=300us\n"
    "node two compute engine=sm duration=200us reads=y writes=z\n"
    "node sync barrier\nnode last compute engine=sm duration=100us reads=z,y@host\n"
    "edge two sync barrier lag=50us\nedge sync last barrier\n";

static void run_offloading(struct test_plan *plan)
{
    plan_begin(plan, offloading);
    plan_ran(plan, "get", 0, 0);
    plan_ran(plan, "load", 0, 300000);
    plan_ran(plan, "one", 300000, 500000);
    plan_ran(plan, "put", 500000, 500000);
    plan_ran(plan, "save", 500000, 800000);
    plan_ran(plan, "two", 500000, 700000);
    plan_ran(plan, "sync", 750000, 750000);
    plan_ran(plan, "last", 800000, 900000);
}

static struct replay_options few_repeats(void)
{
    const struct device_ops *ops = NULL;
    struct weir_error err;
    struct replay_options options;

    ck_assert_int_eq(device_find("host", &ops, &err), WEIR_OK);
    options = replay_default(ops);
    options.n_repeats = 3;
    options.n_warm_up = 1;
    return options;
}

static struct replay_result *replay(const struct test_plan *plan,
                                    const struct replay_options *options)
{
    struct replay_result *result = NULL;
    struct weir_error err = {WEIR_OK, ""};
    enum weir_status status = replay_run(plan->binding, plan->timeline, options, &result, &err);

    ck_assert_msg(status == WEIR_OK, "%s", err.text);
    return result;
}

static const struct timeline_span *span_of(const struct replay_result *result,
                                           const struct test_plan *plan, const char *name)
{
    return &result->timeline->spans[plan_node(plan, name).index];
}

static void check_after(const struct replay_result *result, const struct test_plan *plan,
                        const char *producer, const char *consumer, int64_t lag_ns)
{
    ck_assert_int_ge(span_of(result, plan, consumer)->start_ns,
                     span_of(result, plan, producer)->finish_ns + lag_ns);
}

/* Every part is told, and they add up: of each action, and along the chain. */
static void check_deviations(const struct replay_result *result, const struct test_plan *plan)
{
    const struct schedule *schedule = result->schedule;
    int64_t chain_ns = 0;

    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        uint32_t node = schedule->steps.node_of[s];

        ck_assert_int_eq(deviation_ns(&result->deviate.actions[s].deviation),
                         result->timeline->spans[node].finish_ns -
                             plan->timeline->spans[node].finish_ns);
    }
    for (uint32_t i = 0; i < result->deviate.n_links; i++)
        chain_ns += result->deviate.links[i].finish_ns - result->deviate.links[i].start_ns;
    ck_assert_int_eq(chain_ns, result->timeline->makespan_ns);
    ck_assert_int_eq(deviation_ns(&result->deviate.makespan),
                     result->timeline->makespan_ns - plan->timeline->makespan_ns);
    /* Fewer than ten actions: all of them are named, each once, those that cost most first; and the
     * run, where it has more busy queues than processors. */
    ck_assert_uint_eq(result->deviations.n_list,
                      schedule->steps.n_started + result->sharing.is_time_shared);
    ck_assert_uint_eq(result->sharing.busy_queues, 2);
    for (uint32_t i = 0; i + 1 < result->deviations.n_list; i++)
        ck_assert_int_ge(result->deviations.list[i].cost_ns,
                         result->deviations.list[i + 1].cost_ns);
}

START_TEST(a_plan_is_replayed)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;
    struct spread spread;

    run_offloading(&plan);
    result = replay(&plan, &options);
    check_after(result, &plan, "get", "load", 0);
    check_after(result, &plan, "load", "one", 0);
    check_after(result, &plan, "one", "two", 0);
    check_after(result, &plan, "one", "put", 0);
    check_after(result, &plan, "one", "save", 0);
    check_after(result, &plan, "two", "sync", 50000);
    check_after(result, &plan, "sync", "last", 0);
    check_after(result, &plan, "save", "last", 0);
    for (uint32_t i = 0; i < result->timeline->n_nodes; i++) {
        const struct timeline_span *span = &result->timeline->spans[i];

        ck_assert_uint_eq(span->source, TIME_HOST);
        ck_assert_int_ge(span->finish_ns, span->start_ns);
        ck_assert_int_ge(span->start_ns, span->ready_ns);
        ck_assert_int_eq(span->isolated_ns, plan.timeline->spans[i].isolated_ns);
    }
    check_deviations(result, &plan);
    ck_assert_uint_eq(result->n_samples, 4);
    ck_assert(result->samples[0].is_warm_up && !result->samples[1].is_warm_up);
    ck_assert_uint_eq(result->n_mechanisms, 8);
    spread = result->spread;
    ck_assert_int_eq(spread.median_ns, result->timeline->makespan_ns);
    ck_assert_int_le(spread.least_ns, spread.median_ns);
    ck_assert_int_le(spread.median_ns, spread.greatest_ns);
    ck_assert_int_eq(result->samples[result->median_sample].makespan_ns, spread.median_ns);
    /* Chosen, the scale lets each copy fit: nothing is longer than planned by its size. */
    ck_assert_double_gt(result->schedule->scale_bytes, 0);
    ck_assert_double_le(result->schedule->scale_bytes, 1);
    replay_free(result);
    plan_end(&plan);
}
END_TEST

static const char *mechanism_of(const struct replay_result *result, const struct test_plan *plan,
                                const char *name, const char **note)
{
    for (uint32_t i = 0; i < result->n_mechanisms; i++) {
        if (weir_same(result->mechanisms[i].node, plan_node(plan, name))) {
            *note = result->mechanisms[i].note == NULL ? "" : result->mechanisms[i].note;
            return result->mechanisms[i].name;
        }
    }
    return "";
}

START_TEST(each_action_has_its_mechanism)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;
    const char *note = "";

    run_offloading(&plan);
    options.scale_time = 0.1;
    options.n_repeats = 1;
    options.n_warm_up = 0;
    result = replay(&plan, &options);
    ck_assert_str_eq(mechanism_of(result, &plan, "load", &note),
                     "memcpy on a queue's thread, queue h2d");
    ck_assert_str_eq(note, "");
    ck_assert_str_eq(mechanism_of(result, &plan, "one", &note),
                     "multiply-add loop on a queue's thread, queue sm");
    ck_assert_str_eq(note, "workspace is accounted for, not allocated");
    ck_assert_str_eq(mechanism_of(result, &plan, "get", &note),
                     "block of a pool of touched memory");
    ck_assert_str_eq(mechanism_of(result, &plan, "sync", &note), "mark");
    ck_assert_str_eq(note,
                     "1 of its waits paced by the host's clock (a lag, or the start of another)");
    ck_assert_int_eq(result->schedule->makespan_ns, 90000);
    replay_free(result);
    plan_end(&plan);
}
END_TEST

/* Lags, releases and edges from a start are paced, never dropped, whatever the scale: b 200 us after
 * the start of a, c not before 400 us, d 100 us after c, e when a policy let it go, at 700 us; times
 * one and a half. */
START_TEST(times_are_paced)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;

    plan_begin(&plan, "weir 1\nengine sm\nengine x\n"
                      "node a compute engine=sm duration=100us\nnode b barrier\n"
                      "node c compute engine=x duration=50us release=400us\nnode d barrier\n"
                      "node e compute engine=sm duration=20us\n"
                      "edge a b ordering from=start lag=200us\nedge c d ordering lag=100us\n");
    plan_ran(&plan, "a", 0, 100000);
    plan_ran(&plan, "b", 200000, 200000);
    plan_ran(&plan, "c", 400000, 450000);
    plan_ran(&plan, "d", 550000, 550000);
    plan_ran(&plan, "e", 700000, 720000)->cause = WAIT_ADMISSION;
    options.scale_time = 1.5;
    result = replay(&plan, &options);
    ck_assert_int_ge(span_of(result, &plan, "b")->start_ns,
                     span_of(result, &plan, "a")->start_ns + 300000);
    ck_assert_int_ge(span_of(result, &plan, "c")->start_ns, 600000);
    check_after(result, &plan, "c", "d", 150000);
    ck_assert_int_ge(span_of(result, &plan, "e")->start_ns, 1050000);
    ck_assert_uint_eq(result->schedule->waits.counts.n_paced, 2);
    ck_assert_uint_eq(result->schedule->waits.counts.n_released, 2);
    /* The graph states the release of c; nothing states that of e. */
    ck_assert_uint_eq(result->schedule->waits.n_inserted, 1);
    ck_assert_int_eq(result->schedule->waits.inserted[0].not_before_ns, 1050000);
    replay_free(result);
    plan_end(&plan);
}
END_TEST

static struct replay_options stated_for(const char *device)
{
    const struct device_ops *ops = NULL;
    struct weir_error err;

    ck_assert_int_eq(device_find(device, &ops, &err), WEIR_OK);
    return replay_default(ops);
}

START_TEST(defaults_are_stated)
{
    struct replay_options host = stated_for("host"), cuda = stated_for("cuda");

    ck_assert_str_eq(host.device, "host");
    ck_assert_uint_eq(host.n_repeats, 7);
    ck_assert_uint_le(host.n_most_repeats, 7);
    ck_assert_uint_eq(host.n_warm_up, 2);
    ck_assert_str_eq(cuda.device, "cuda");
    ck_assert_uint_eq(cuda.n_repeats, 30);
    ck_assert_uint_eq(cuda.n_most_repeats, 100);
    ck_assert_uint_eq(cuda.n_warm_up, 5);
}
END_TEST

/* Every repeat is there, and the run is the median one, of two the shorter. */
START_TEST(every_repeat_is_kept)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;
    uint32_t n_shorter = 0, n_counting = 0;

    run_offloading(&plan);
    options.scale_time = 0.2;
    options.n_repeats = 4;
    result = replay(&plan, &options);
    ck_assert_uint_eq(result->n_samples, 5);
    for (uint32_t i = 0; i < result->n_samples; i++) {
        ck_assert_int_gt(result->samples[i].makespan_ns, 0);
        n_counting += !result->samples[i].is_warm_up;
        n_shorter += !result->samples[i].is_warm_up &&
                     result->samples[i].makespan_ns < result->timeline->makespan_ns;
    }
    ck_assert_uint_eq(n_counting, 4);
    ck_assert_uint_eq(result->n_repeats, 4);
    ck_assert_int_eq(result->end, REPLAY_AS_ASKED);
    /* The host does nothing to time steps: no run is without. */
    ck_assert_int_eq(result->samples[4].untimed_ns, -1);
    ck_assert_int_eq(result->samples[4].whole_ns, result->samples[4].makespan_ns);
    ck_assert_int_eq(result->timing.untimed_ns, -1);
    ck_assert_uint_le(n_shorter, 1); /* fewer when some are equal */
    replay_free(result);
    plan_end(&plan);
}
END_TEST

/* Asked for more, they go on until the median is known, or there are as many as may be: whether it is
 * looked at with every second. */
START_TEST(repeats_go_on_as_needed)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;
    double width_ns;

    run_offloading(&plan);
    options.scale_time = 0.2;
    options.n_repeats = 3;
    options.n_most_repeats = 7;
    result = replay(&plan, &options);
    ck_assert_uint_eq(result->n_samples, 1 + result->n_repeats);
    width_ns = (double)(result->spread.high_ns - result->spread.low_ns);
    if (result->end == REPLAY_IS_NARROW) {
        ck_assert(result->n_repeats == 4 || result->n_repeats == 6);
        ck_assert_double_le(width_ns, 0.02 * (double)result->spread.median_ns);
    } else {
        ck_assert_int_eq(result->end, REPLAY_IS_MOST);
        ck_assert_uint_eq(result->n_repeats, 7);
    }
    replay_free(result);
    plan_end(&plan);
}
END_TEST

/* Each kind's nodes together: as many as there are, as long as planned times the scale, and by repeat
 * at least so long as the work they do. */
START_TEST(kinds_are_summed)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;

    run_offloading(&plan);
    options.scale_time = 2;
    result = replay(&plan, &options);
    ck_assert_uint_eq(result->n_kinds, 6);
    ck_assert_int_eq(result->kinds[0].kind, NODE_COMPUTE);
    ck_assert_uint_eq(result->kinds[0].n_nodes, 3);
    ck_assert_int_eq(result->kinds[0].planned_ns, 1000000);
    ck_assert_int_eq(result->kinds[1].kind, NODE_ALLOCATION);
    ck_assert_uint_eq(result->kinds[1].n_nodes, 1);
    ck_assert_int_eq(result->kinds[1].planned_ns, 0);
    for (uint32_t i = 0; i < result->n_kinds; i++) {
        const struct spread *spread = &result->kinds[i].spread;

        ck_assert(spread->has_interval);
        ck_assert_int_le(spread->low_ns, spread->median_ns + 1); /* they are rounded */
        ck_assert_int_ge(spread->high_ns, spread->median_ns - 1);
    }
    replay_free(result);
    plan_end(&plan);
}
END_TEST

/* Cold: each repeat opens the device anew, and there is no warm-up. */
START_TEST(cold_repeats_run)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;

    run_offloading(&plan);
    options.is_cold = true;
    options.n_warm_up = 0;
    result = replay(&plan, &options);
    ck_assert_uint_eq(result->n_samples, 3);
    check_after(result, &plan, "load", "one", 0);
    replay_free(result);
    plan_end(&plan);
}
END_TEST

static bool has_deviation(const struct replay_result *result, const char *part)
{
    for (uint32_t i = 0; i < result->deviations.n_list; i++) {
        if (strstr(result->deviations.list[i].what, part) != NULL)
            return true;
    }
    return false;
}

/* One pass through 8 MB cannot take 20 us: the copy is done whole all the same, and named. */
START_TEST(what_cannot_be_done_as_planned_is_named)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result;

    plan_begin(&plan, "weir 1\ndomain hbm capacity=1GB\ndomain host capacity=1GB\n"
                      "engine h2d from=host to=hbm\nobject w size=8MB domain=host initial\n"
                      "node load prefetch engine=h2d object=w duration=20us\n");
    plan_ran(&plan, "load", 0, 20000);
    options.scale_bytes = 1;
    result = replay(&plan, &options);
    ck_assert_uint_ge(result->deviations.n_list, 1);
    for (uint32_t i = 0; i + 1 < result->deviations.n_list; i++)
        ck_assert_int_ge(result->deviations.list[i].cost_ns,
                         result->deviations.list[i + 1].cost_ns);
    ck_assert(has_deviation(result, "moves 8.0 MB in "));
    ck_assert_int_gt(result->timeline->makespan_ns, 20000);
    replay_free(result);
    plan_end(&plan);
}
END_TEST

START_TEST(what_cannot_be_replayed_is_refused)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result = NULL;
    struct weir_error err;

    run_offloading(&plan);
    options.device = "cuda";
    ck_assert_int_eq(replay_run(plan.binding, plan.timeline, &options, &result, &err), WEIR_DEVICE);
    options.device = "abacus";
    ck_assert_int_eq(replay_run(plan.binding, plan.timeline, &options, &result, &err), WEIR_USAGE);
    options.device = "host";
    plan.timeline->status = RUN_SHORTAGE;
    ck_assert_int_eq(replay_run(plan.binding, plan.timeline, &options, &result, &err),
                     WEIR_INFEASIBLE);
    plan_end(&plan);
}
END_TEST

/* A plan whose order goes against the graph could wait for ever: it is refused before it runs. */
START_TEST(a_plan_of_another_order_is_refused)
{
    struct test_plan plan;
    struct replay_options options = few_repeats();
    struct replay_result *result = NULL;
    struct weir_error err;

    plan_begin(&plan, "weir 1\ndomain hbm capacity=1MB\nengine sm domain=hbm\nobject y size=1KB\n"
                      "node make compute engine=sm duration=1us writes=y\n"
                      "node use compute engine=sm duration=1us reads=y\n");
    plan_ran(&plan, "use", 0, 1000);
    plan_ran(&plan, "make", 1000, 2000);
    ck_assert_int_eq(replay_run(plan.binding, plan.timeline, &options, &result, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "use starts in the plan before make"));
    plan_end(&plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/runner");
    TCase *runs = tcase_create("runs");
    TCase *refusals = tcase_create("refusals");

    (void)gsl_set_error_handler_off();
    tcase_add_test(runs, a_plan_is_replayed);
    tcase_add_test(runs, each_action_has_its_mechanism);
    tcase_add_test(runs, times_are_paced);
    tcase_add_test(runs, defaults_are_stated);
    tcase_add_test(runs, every_repeat_is_kept);
    tcase_add_test(runs, repeats_go_on_as_needed);
    tcase_add_test(runs, kinds_are_summed);
    tcase_add_test(runs, cold_repeats_run);
    tcase_add_test(runs, what_cannot_be_done_as_planned_is_named);
    tcase_add_test(refusals, what_cannot_be_replayed_is_refused);
    tcase_add_test(refusals, a_plan_of_another_order_is_refused);
    suite_add_tcase(suite, runs);
    suite_add_tcase(suite, refusals);
    return run_suite(suite);
}
