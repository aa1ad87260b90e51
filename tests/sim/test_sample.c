/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawn lengths, and many runs with them: moments that are known, makespans that are solved by hand,
 * and the same whoever draws. */
#include "sim/sample.h"

#include <math.h>
#include <string.h>

#include "sim/sampling.h"
#include "tests/sim/scene.h"
#include "tests/suite.h"

/* A plan, and how it is sampled. */
struct sampled {
    struct scene scene; /* never simulated itself */
    struct sampling_options options;
};

/* @param policy NULL: retain */
static void sampled_make(struct sampled *sampled, const char *text,
                         const struct weir_policy *policy)
{
    struct graph *graph = scene_read(text);
    struct weir_error err;

    sampled->options = (struct sampling_options){
        .seed = 5,
        .n_samples = 4000,
        .n_threads = 1,
        .simulate = simulate_default(),
        .given = graph,
        .planning = {.policy = policy == NULL ? scene_policy("retain") : policy}};
    ck_assert_msg(
        scene_plan(graph, sampled->options.planning.policy, NULL, &sampled->scene, &err) == WEIR_OK,
        "%s", err.text);
}

static void sampled_free(struct sampled *sampled)
{
    scene_free(&sampled->scene);
}

static void run(const struct sampled *sampled, struct sampling *out)
{
    struct weir_error err;

    ck_assert_msg(sampling_run(sampled->scene.plan, &sampled->options, out, &err) == WEIR_OK, "%s",
                  err.text);
}

static double mean_of(const int64_t *values, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += (double)values[i];
    }
    return sum / n;
}

static double deviation_of(const int64_t *values, uint32_t n)
{
    double mean = mean_of(values, n), sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    }
    return sqrt(sum / (n - 1));
}

/* --- distributions --- */

struct shape {
    const char *text;
    double mean, deviation; /* of what is drawn */
    int64_t least_ns, greatest_ns;
};

/* Of uniform(a,b) over whole numbers the variance is ((b - a + 1)^2 - 1) / 12; of empirical(0,0,0,8000)
 * the mean is 2000 and the deviation sqrt(3) * 2000 = 3464.1. normal(0,1000) cut off at 0 is half a
 * normal and half a 0: its mean is 1000 / sqrt(2 pi) = 398.94, its second moment 1000^2 / 2, so that
 * its deviation is 1000 sqrt(1/2 - 1/(2 pi)) = 583.8. */
static const struct shape shapes[] = {
    {"normal(10000,1000)", 10000, 1000, 4000, 16000},
    {"normal(0,1000)", 398.94, 583.8, 0, 6000},
    {"lognormal(10000,5000)", 10000, 5000, 500, 400000},
    {"lognormal(1000,3000)", 1000, 3000, 0, INT64_MAX},
    {"gamma(10000,10000)", 10000, 10000, 0, 200000},
    {"gamma(10000,2000)", 10000, 2000, 2000, 40000},
    {"gamma(1000,2000)", 1000, 2000, 0, 100000},
    {"uniform(1000,3000)", 2000, 577.64, 1000, 3000},
    {"uniform(0,1)", 0.5, 0.5, 0, 1},
    {"empirical(0,0,0,8000)", 2000, 3464.1, 0, 8000},
    {"normal(700,0)", 700, 0, 700, 700},
    {"uniform(8,8)", 8, 0, 8, 8},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, DRAWS = 100000 };

START_TEST(test_moments)
{
    const struct shape *shape = &shapes[_i];
    char text[256];
    struct graph *graph;
    struct sampler *sampler;
    struct sampler_source *source = sampler_source_new();
    int64_t *values = malloc(DRAWS * sizeof *values);
    struct weir_error err;
    uint64_t n = (uint64_t)n_inputs(DRAWS, DRAWS / 16);
    double wider = sqrt((double)DRAWS / (double)n);

    (void)snprintf(text, sizeof text, "weir 1\ngraph g\nnode a compute duration=%s\n", shape->text);
    graph = scene_read(text);
    ck_assert_int_eq(sampler_new(graph, NULL, 1, &sampler, &err), WEIR_OK);
    sampler_fill(sampler, values);
    for (uint64_t i = 0; i < n; i++) {
        values[i] = values[0];
    }
    for (uint64_t i = 0; i < n; i++) {
        sampler_draw(sampler, source, 3, i, &values[i]);
        ck_assert_int_ge(values[i], shape->least_ns);
        ck_assert_int_le(values[i], shape->greatest_ns);
    }
    /* The mean of 10^5 lies within 5 deviations of a mean, which are 1.6 % of a deviation; of fewer
     * within more. */
    ck_assert_double_eq_tol(mean_of(values, (uint32_t)n), shape->mean,
                            0.016 * wider * shape->deviation + 0.01);
    ck_assert_double_eq_tol(
        deviation_of(values, (uint32_t)n), shape->deviation,
        (shape->mean < shape->deviation / 2 ? 0.2 : 0.03) * wider * shape->deviation + 0.01);
    ck_assert_uint_eq(sampler_n_random(sampler), shape->deviation > 0 ? 1 : 0);
    free(values);
    sampler_source_free(source);
    sampler_free(sampler);
    graph_free(graph);
}
END_TEST

/* Which sample is drawn when, and by whom, does not matter; which seed does. */
START_TEST(test_a_sample_is_its_seed_and_its_number)
{
    struct graph *graph = scene_read("weir 1\ngraph g\nnode a compute duration=lognormal(900,300)\n"
                                     "node b compute duration=7\n"
                                     "node c compute duration=gamma(500,400)\n");
    struct sampler *sampler;
    struct sampler_source *a = sampler_source_new(), *b = sampler_source_new();
    int64_t first[3], again[3], other[3];
    const uint32_t places[] = {2, WEIR_NONE, 0};
    struct weir_error err;

    ck_assert_int_eq(sampler_new(graph, NULL, 3, &sampler, &err), WEIR_OK);
    sampler_fill(sampler, first);
    sampler_fill(sampler, again);
    sampler_fill(sampler, other);
    sampler_draw(sampler, a, 1, 9, first);
    sampler_draw(sampler, b, 1, 3, again);
    ck_assert_int_ne(again[0], first[0]);
    sampler_draw(sampler, b, 1, 9, again);
    ck_assert_mem_eq(first, again, sizeof first);
    ck_assert_int_eq(first[1], 7);
    sampler_draw(sampler, b, 2, 9, again);
    ck_assert_int_ne(again[0], first[0]);
    sampler_free(sampler);
    /* The same draws at other places: c first, b nowhere, 0 where nobody stands. */
    ck_assert_int_eq(sampler_new(graph, places, 3, &sampler, &err), WEIR_OK);
    sampler_fill(sampler, other);
    sampler_draw(sampler, a, 1, 9, other);
    ck_assert_int_eq(other[2], first[0]);
    ck_assert_int_eq(other[0], first[2]);
    ck_assert_int_eq(other[1], 0);
    sampler_free(sampler);
    sampler_source_free(a);
    sampler_source_free(b);
    graph_free(graph);
}
END_TEST

/* --- runs, by hand --- */

/* Two nodes on one engine take uniform(0,1000) each, so that the makespan is the sum: mean 1000,
 * deviation 1000 sqrt(2 / 12) = 408.6, and half of them below 1000. In whichever way it is timed. */
START_TEST(test_sum_of_uniforms)
{
    struct sampled sampled;
    struct sampling sampling, fixed;
    struct simulate_result mean;
    struct weir_error err;

    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nnode a compute engine=e duration=uniform(0,1000)\n"
                 "node b compute engine=e duration=uniform(0,1000)\n",
                 NULL);
    run(&sampled, &sampling);
    ck_assert_uint_eq(sampling.n_random, 2);
    ck_assert_uint_eq(sampling.n_complete, 4000);
    ck_assert_double_eq_tol(mean_of(sampling.makespan_ns, 4000), 1000, 5 * 408.6 / sqrt(4000));
    ck_assert_double_eq_tol(deviation_of(sampling.makespan_ns, 4000), 408.6, 20);
    ck_assert_int_eq(simulate(sampled.scene.plan, &sampled.options.simulate, &mean, &err), WEIR_OK);
    ck_assert_int_eq(mean.timeline->makespan_ns, 1000);
    sampled.options.fixed_order = mean.timeline;
    run(&sampled, &fixed);
    ck_assert_mem_eq(fixed.makespan_ns, sampling.makespan_ns, 4000 * sizeof *fixed.makespan_ns);
    timeline_free(mean.timeline);
    sampling_free(&sampling);
    sampling_free(&fixed);
    sampled_free(&sampled);
}
END_TEST

/* Two nodes side by side take an exponential time (gamma with deviation = mean) of 1000 each: the
 * makespan is the greater, of mean 1000 (1 + 1/2) and variance 1000^2 (1 + 1/4). */
START_TEST(test_greater_of_two_exponentials)
{
    struct sampled sampled;
    struct sampling sampling;

    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nengine f\nnode a compute engine=e "
                 "duration=gamma(1000,1000)\nnode b compute engine=f duration=gamma(1000,1000)\n",
                 NULL);
    run(&sampled, &sampling);
    ck_assert_double_eq_tol(mean_of(sampling.makespan_ns, 4000), 1500, 5 * 1118 / sqrt(4000));
    ck_assert_double_eq_tol(deviation_of(sampling.makespan_ns, 4000), 1118, 60);
    sampling_free(&sampling);
    sampled_free(&sampled);
}
END_TEST

/* x lives while a (100) and its reader r, y begins with b, which is ready after c: uniform(0,199). They
 * are together, and the peak is 6 + 6 instead of 6, when c ends before r does, at 110: for draws below
 * 110 of 200, in 55 %. */
START_TEST(test_peaks_of_samples)
{
    struct sampled sampled;
    struct sampling sampling, fixed;
    struct simulate_result mean;
    struct weir_error err;
    uint32_t n_both = 0;

    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nengine f\ndomain m capacity=20\n"
                 "object x size=6\nobject y size=6\n"
                 "node a compute engine=e duration=100 writes=x\n"
                 "node r compute engine=e duration=10 reads=x\n"
                 "node c compute engine=f duration=uniform(0,199)\n"
                 "node b compute engine=f duration=50 writes=y\nedge c b ordering\n",
                 NULL);
    run(&sampled, &sampling);
    ck_assert_uint_eq(sampling.n_domains, 1);
    for (uint32_t i = 0; i < 4000; i++) {
        ck_assert(sampling.peak_bytes[i] == 6 || sampling.peak_bytes[i] == 12);
        n_both += sampling.peak_bytes[i] == 12;
    }
    ck_assert_double_eq_tol(n_both / 4000.0, 0.55, 0.04);
    /* Nobody waits for bytes, and each engine has one order: so a fixed one gives the same. */
    ck_assert_int_eq(simulate(sampled.scene.plan, &sampled.options.simulate, &mean, &err), WEIR_OK);
    sampled.options.fixed_order = mean.timeline;
    run(&sampled, &fixed);
    ck_assert_mem_eq(fixed.makespan_ns, sampling.makespan_ns, 4000 * sizeof *fixed.makespan_ns);
    ck_assert_mem_eq(fixed.peak_bytes, sampling.peak_bytes, 4000 * sizeof *fixed.peak_bytes);
    timeline_free(mean.timeline);
    sampling_free(&fixed);
    sampling_free(&sampling);
    sampled_free(&sampled);
}
END_TEST

/* b must start by 150 - 50 = 100, or the run fails; it is ready after a: uniform(0,199), in time for 101
 * of 200 draws. */
static const char may_fail[] =
    "weir 1\ngraph g\nengine e\nnode a compute engine=e duration=uniform(0,199)\n"
    "node b compute engine=e duration=50 deadline=150 fallback=fail\nedge a b ordering\n";

START_TEST(test_stuck_samples_are_counted)
{
    struct sampled sampled;
    struct sampling sampling;
    uint32_t n = 0;

    sampled_make(&sampled, may_fail, NULL);
    run(&sampled, &sampling);
    for (uint32_t i = 0; i < 4000; i++) {
        n += sampling.status[i] == RUN_COMPLETE;
        ck_assert_int_ge(sampling.makespan_ns[i], 0);
    }
    ck_assert_uint_eq(n, sampling.n_complete);
    ck_assert_double_eq_tol(n / 4000.0, 0.505, 0.04);
    ck_assert_ptr_nonnull(sampling.explanation);
    sampling_free(&sampling);
    sampled_free(&sampled);
}
END_TEST

static const char many[] =
    "weir 1\ngraph g\nengine e slots=2\nengine f\ndomain m capacity=12\nobject x size=6\n"
    "object y size=6\nobject z size=6\n"
    "node a compute engine=e duration=lognormal(100,40) writes=x\n"
    "node b compute engine=e duration=gamma(90,30) writes=y\n"
    "node c compute engine=f duration=normal(80,50) reads=x\n"
    "node d compute engine=f duration=uniform(10,70) reads=y\n"
    "node h compute engine=e duration=empirical(5,50,500) writes=z\n"
    "node i compute engine=f duration=30 reads=z\n";

/* The same result on one thread and on four; and each sample is the run with its lengths. */
START_TEST(test_threads_and_single_samples_agree)
{
    struct sampled sampled;
    struct sampling one, four;
    struct sampler *sampler;
    struct sampler_source *source = sampler_source_new();
    int64_t length_ns[6];
    struct weir_error err;

    sampled_make(&sampled, many, NULL);
    sampled.options.n_samples = 300;
    run(&sampled, &one);
    sampled.options.n_threads = 4;
    run(&sampled, &four);
    ck_assert_mem_eq(one.makespan_ns, four.makespan_ns, 300 * sizeof *one.makespan_ns);
    ck_assert_mem_eq(one.peak_bytes, four.peak_bytes, 300 * sizeof *one.peak_bytes);
    ck_assert_mem_eq(one.status, four.status, 300 * sizeof *one.status);
    ck_assert_int_eq(sampler_new(sampled.scene.graph, NULL, 6, &sampler, &err), WEIR_OK);
    sampler_fill(sampler, length_ns);
    for (uint32_t i = 0; i < 300; i++) {
        struct simulate_options options = sampled.options.simulate;
        struct simulate_result result;

        sampler_draw(sampler, source, sampled.options.seed, i, length_ns);
        options.length_ns = length_ns;
        ck_assert_int_eq(simulate(sampled.scene.plan, &options, &result, &err), WEIR_OK);
        ck_assert_int_eq(result.timeline->makespan_ns, one.makespan_ns[i]);
        ck_assert_int_eq(result.timeline->peak_bytes[0], one.peak_bytes[i]);
        ck_assert_int_eq(result.timeline->spans[2].isolated_ns, length_ns[2]);
        timeline_free(result.timeline);
    }
    sampler_source_free(source);
    sampler_free(sampler);
    sampling_free(&one);
    sampling_free(&four);
    sampled_free(&sampled);
}
END_TEST

/* Counts what it admits, in its state: a second run with that would be another one. */
static enum weir_status counting_begin(struct weir_setup *setup, void **state,
                                       struct weir_error *err)
{
    (void)err;
    *state = setup->alloc(setup, sizeof(int));
    *(int *)*state = 0;
    return WEIR_OK;
}

static enum weir_admission counting_admit(void *state, const struct weir_view *view, weir_node node,
                                          int64_t *until_ns, const char **why)
{
    int *n = state;

    (void)node;
    *why = "a test";
    *until_ns = 1000;
    return (*n)++ < 3 || view->now_ns >= 1000 ? WEIR_ADMIT : WEIR_HOLD;
}

static const struct weir_policy counting = {.version = WEIR_POLICY_VERSION,
                                            .size = sizeof counting,
                                            .name = "counting",
                                            .summary = "a test",
                                            .begin = counting_begin,
                                            .admit = counting_admit};

/* Three are admitted at once, the others at 1000: in every sample, since each has a plan of its own. */
START_TEST(test_policy_with_a_state)
{
    struct sampled sampled;
    struct sampling one, three;

    sampled_make(&sampled, many, &counting);
    sampled.options.n_samples = 200;
    run(&sampled, &one);
    for (uint32_t i = 0; i < 200; i++) {
        ck_assert_int_gt(one.makespan_ns[i], 1000);
    }
    sampled.options.n_threads = 3;
    run(&sampled, &three);
    ck_assert_mem_eq(one.makespan_ns, three.makespan_ns, 200 * sizeof *one.makespan_ns);
    sampling_free(&one);
    sampling_free(&three);
    sampled_free(&sampled);
}
END_TEST

/* a (100) before b (50) on one engine, c (120) beside them: the makespan, 150, moves by what a or b take
 * longer, and not at all by c, which has 30 to spare; with 40 more it moves by 10. Nothing is drawn. */
START_TEST(test_one_node_longer)
{
    static const uint32_t longer[] = {0, 1, 2};
    struct sampled sampled;
    struct sampling sampling;
    struct weir_error err;

    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nengine f\nnode a compute engine=e duration=100\n"
                 "node b compute engine=e duration=uniform(0,100)\n"
                 "node c compute engine=f duration=120\n",
                 NULL);
    sampled.options.n_samples = 3;
    sampled.options.n_threads = 2;
    sampled.options.longer = longer;
    sampled.options.longer_ns = 1;
    run(&sampled, &sampling);
    ck_assert_int_eq(sampling.makespan_ns[0], 151);
    ck_assert_int_eq(sampling.makespan_ns[1], 151);
    ck_assert_int_eq(sampling.makespan_ns[2], 150);
    sampling_free(&sampling);
    sampled.options.longer_ns = 40;
    run(&sampled, &sampling);
    ck_assert_int_eq(sampling.makespan_ns[2], 160);
    sampling_free(&sampling);
    sampled.options.longer_ns = INT64_MAX;
    ck_assert_int_eq(sampling_run(sampled.scene.plan, &sampled.options, &sampling, &err),
                     WEIR_INPUT);
    ck_assert_msg(strstr(err.text, "node a would take more than 2^63 ns") != NULL, "%s", err.text);
    sampled_free(&sampled);
}
END_TEST

/* --- what is refused --- */

static void refuse(struct sampled *sampled, enum contention contention, const char *reason)
{
    struct simulate_result mean;
    struct sampling sampling;
    struct weir_error err;

    ck_assert_int_eq(simulate(sampled->scene.plan, &sampled->options.simulate, &mean, &err),
                     WEIR_OK);
    sampled->options.fixed_order = mean.timeline;
    sampled->options.simulate.contention = contention;
    ck_assert_int_eq(sampling_run(sampled->scene.plan, &sampled->options, &sampling, &err),
                     WEIR_INPUT);
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
    timeline_free(mean.timeline);
    free(mean.explanation);
    sampled_free(sampled);
}

START_TEST(test_fixed_order_refuses)
{
    struct sampled sampled;

    sampled_make(&sampled, many, NULL);
    refuse(&sampled, CONTENTION_PAIRWISE, "with contention pairwise");
    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nengine f\noverlap e f forbidden\n"
                 "node a compute engine=e duration=normal(0,5)\n"
                 "node b compute engine=f duration=5\n",
                 NULL);
    refuse(&sampled, CONTENTION_NONE, "mean duration of node a is 0");
}
END_TEST

/* One sample in a few passes 2^63 ns: the first of them is named, whoever draws it. */
START_TEST(test_first_failure_is_told)
{
    struct sampled sampled;
    struct sampling sampling;
    struct weir_error one, four;

    sampled_make(&sampled,
                 "weir 1\ngraph g\nengine e\nnode a compute engine=e duration=4611686018427387904\n"
                 "node b compute engine=e duration=uniform(0,5000000000000000000)\n",
                 NULL);
    ck_assert_int_eq(sampling_run(sampled.scene.plan, &sampled.options, &sampling, &one),
                     WEIR_INPUT);
    ck_assert_msg(strncmp(one.text, "sample ", 7) == 0, "%s", one.text);
    sampled.options.n_threads = 4;
    ck_assert_int_eq(sampling_run(sampled.scene.plan, &sampled.options, &sampling, &four),
                     WEIR_INPUT);
    ck_assert_str_eq(one.text, four.text);
    sampled_free(&sampled);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sample");
    TCase *tests = tcase_create("sample");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_moments, 0, N_SHAPES);
    tcase_add_test(tests, test_a_sample_is_its_seed_and_its_number);
    tcase_add_test(tests, test_sum_of_uniforms);
    tcase_add_test(tests, test_greater_of_two_exponentials);
    tcase_add_test(tests, test_peaks_of_samples);
    tcase_add_test(tests, test_stuck_samples_are_counted);
    tcase_add_test(tests, test_threads_and_single_samples_agree);
    tcase_add_test(tests, test_policy_with_a_state);
    tcase_add_test(tests, test_one_node_longer);
    tcase_add_test(tests, test_fixed_order_refuses);
    tcase_add_test(tests, test_first_failure_is_told);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
