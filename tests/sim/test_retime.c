/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized order that is timed anew: with the lengths that it had it starts every node when it did;
 * with others it stays legal. Graphs are drawn with everything that may bind a start, and run also under
 * a policy that holds. */
#include "sim/retime.h"

#include <string.h>

#include "tests/sim/draw_starts.h"
#include "tests/sim/legal.h"
#include "tests/suite.h"

/* Holds every fifth node until a time of its own. */
static enum weir_admission holding_admit(void *state, const struct weir_view *view, weir_node node,
                                         int64_t *until_ns, const char **why)
{
    (void)state;
    *why = "a test";
    *until_ns = 7 + 3 * (int64_t)node.index;
    return node.index % 5 == 0 && view->now_ns < *until_ns ? WEIR_HOLD : WEIR_ADMIT;
}

static const struct weir_policy holding = {.version = WEIR_POLICY_VERSION,
                                           .size = sizeof holding,
                                           .name = "holding",
                                           .summary = "a test",
                                           .admit = holding_admit};

/* @return false when the graph is not legal, or the run gets stuck */
static bool run(const char *text, const struct weir_policy *policy,
                const struct simulate_options *options, struct scene *out)
{
    struct weir_error err;

    if (scene_plan(scene_read(text), policy, NULL, out, &err) != WEIR_OK) {
        return false;
    }
    out->options = *options;
    scene_simulate(out);
    return out->result.timeline->status == RUN_COMPLETE;
}

/* --- the properties --- */

/* Of each sort of thing that may bind, how many of the runs had any. */
struct seen {
    uint32_t runs, induced, fallbacks, passed, overlaps, admissions;
    uint32_t peaks; /* could be told: no node that did not run ends a copy */
};

static void check_same(const struct retime *retime, const struct scene *scene,
                       const int64_t *start_ns, int64_t makespan_ns, const char *text)
{
    const struct timeline *timeline = scene->result.timeline;
    uint32_t n_runs = 0;

    ck_assert_msg(makespan_ns == timeline->makespan_ns, "makespan %lld, was %lld\n%s",
                  (long long)makespan_ns, (long long)timeline->makespan_ns, text);
    for (uint32_t i = 0; i < retime->n_nodes; i++) {
        weir_node node = retime->nodes[i];

        if (!weir_is(node)) {
            continue;
        }
        n_runs++;
        ck_assert_msg(start_ns[i] == timeline->spans[node.index].start_ns,
                      "n%u starts at %lld, was %lld\n%s", node.index, (long long)start_ns[i],
                      (long long)timeline->spans[node.index].start_ns, text);
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        n_runs -= timeline->spans[i].start_ns >= 0 ? 1 : 0;
    }
    ck_assert_uint_eq(n_runs, 0);
}

static void check_order(struct starts_drawing *drawing, const struct scene *scene,
                        struct seen *seen)
{
    struct retime retime;
    struct retime_holds *holds;
    struct weir_error err;
    int64_t start_ns[4 * STARTS_NODES], length_ns[4 * STARTS_NODES], changed_ns[4 * STARTS_NODES];

    ck_assert_msg(retime_make(plan_binding(scene->plan), scene->result.timeline, &scene->options,
                              &retime, &err) == WEIR_OK,
                  "%s\n%s", err.text, drawing->pen.text);
    ck_assert_uint_le(retime.n_nodes, 4 * STARTS_NODES);
    ck_assert_int_eq(retime_holds_new(plan_binding(scene->plan), &retime, &holds, &err), WEIR_OK);
    retime_lengths(&retime, scene->result.timeline, length_ns);
    check_same(&retime, scene, start_ns, retime_pass(&retime, length_ns, start_ns),
               drawing->pen.text);
    if (holds != NULL) {
        seen->peaks++;
        ck_assert_int_eq(legal_peak(holds, length_ns, start_ns),
                         scene->result.timeline->peak_bytes[0]);
    }
    for (int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < retime.n_nodes; i++) {
            changed_ns[i] = length_ns[i] == 0 ? 0
                                              : (int64_t)pen_below(&drawing->pen, 4) *
                                                    (int64_t)pen_below(&drawing->pen, 12);
        }
        (void)retime_pass(&retime, changed_ns, start_ns);
        legal_check(&retime, holds, scene, drawing->pen.text, start_ns, changed_ns);
    }
    retime_holds_free(holds);
    retime_free(&retime);
}

static void note(struct seen *seen, const struct scene *scene)
{
    const struct timeline *timeline = scene->result.timeline;
    const struct graph *graph = plan_graph(scene->plan);
    bool has_overlap = false, has_admission = false, has_passed = false, has_fallback = false;

    for (size_t i = 0; i < timeline->n_waits; i++) {
        has_overlap = has_overlap || timeline->waits[i].cause == WAIT_OVERLAP;
        has_admission = has_admission || timeline->waits[i].cause == WAIT_ADMISSION;
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct graph_node value;

        graph_node(graph, (weir_node){i}, &value);
        has_passed = has_passed || timeline->spans[i].start_ns < 0;
        has_fallback =
            has_fallback || (value.fallback == FALLBACK_NODE && timeline->spans[i].start_ns < 0 &&
                             timeline->spans[value.fallback_node.index].start_ns >= 0);
    }
    seen->runs++;
    seen->induced += timeline->n_induced > 0;
    seen->overlaps += has_overlap;
    seen->admissions += has_admission;
    seen->passed += has_passed;
    seen->fallbacks += has_fallback;
}

static void check_seed(uint64_t seed, struct seen *seen)
{
    struct starts_drawing drawing;
    struct simulate_options options = simulate_default();
    struct scene scene;

    draw_starts(&drawing, seed);
    options.unknown_overlap = (enum unknown_overlap)(seed % 3);
    options.contention = seed % 4 == 3 ? CONTENTION_PAIRWISE : CONTENTION_NONE;
    if (run(drawing.pen.text, seed % 5 == 4 ? &holding : scene_policy("retain"), &options,
            &scene)) {
        note(seen, &scene);
        check_order(&drawing, &scene, seen);
    }
    scene_free(&scene);
}

START_TEST(test_same_lengths_same_starts_and_others_legal)
{
    struct seen seen = {0};
    unsigned n = (unsigned)n_inputs(2500, 500);

    for (uint64_t seed = 1; seed <= n; seed++) {
        check_seed(seed, &seen);
    }
    ck_assert_uint_gt(seen.runs, n / 4);
    ck_assert_uint_gt(seen.induced, n / 20);
    ck_assert_uint_gt(seen.overlaps, n / 20);
    ck_assert_uint_gt(seen.admissions, n / 20);
    ck_assert_uint_gt(seen.passed, n / 20);
    ck_assert_uint_gt(seen.fallbacks, n / 50);
    ck_assert_uint_gt(seen.peaks, seen.runs * 3 / 4);
}
END_TEST

/* a (3) and b (5) share the one slot of e in that order, c (2) on f reads what b wrote: c starts at 8
 * and ends at 10. With a of 1, b of 4 and c of 7 the same order ends at 1 + 4 + 7 = 12. The edge from a
 * to c says nothing that b does not: it is gone. */
START_TEST(test_chain_by_hand)
{
    static const char text[] = "weir 1\ngraph g\nengine e\nengine f\ndomain m capacity=10\n"
                               "object o size=1\n"
                               "node a compute engine=e duration=3\n"
                               "node b compute engine=e duration=5 writes=o\n"
                               "node c compute engine=f duration=2 reads=o\n"
                               "edge a c ordering\n";
    const struct simulate_options options = simulate_default();
    struct scene scene;
    int64_t length_ns[3] = {1, 4, 7}, start_ns[3];
    struct retime retime;
    struct weir_error err;

    ck_assert(run(text, scene_policy("retain"), &options, &scene));
    ck_assert_int_eq(scene.result.timeline->makespan_ns, 10);
    ck_assert_int_eq(
        retime_make(plan_binding(scene.plan), scene.result.timeline, &scene.options, &retime, &err),
        WEIR_OK);
    ck_assert_uint_eq(retime.n_nodes, 3);
    ck_assert_uint_eq(retime.first[3], 2);
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), 12);
    ck_assert_int_eq(start_ns[2], 5);
    length_ns[1] = INT64_MAX - 1; /* what passes 2^63 ns is told, not wrapped */
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), INT64_MAX);
    retime_free(&retime);
    scene_free(&scene);
}
END_TEST

/* Two of p and two of q run in turn, since p and q may not overlap, though every one has an engine
 * slot: both q wait for both p. The many wait for the many by one point. */
START_TEST(test_many_that_may_not_overlap_wait_by_a_point)
{
    static const char text[] = "weir 1\ngraph g\nengine p slots=3\nengine q slots=3\n"
                               "overlap p q forbidden\n"
                               "node p1 compute engine=p duration=3\n"
                               "node p2 compute engine=p duration=4\n"
                               "node p3 compute engine=p duration=2\n"
                               "node q1 compute engine=q duration=5\n"
                               "node q2 compute engine=q duration=6\n"
                               "node q3 compute engine=q duration=7\n";
    const struct simulate_options options = simulate_default();
    struct scene scene;
    int64_t length_ns[7], start_ns[7];
    struct retime retime;
    struct weir_error err;

    ck_assert(run(text, scene_policy("retain"), &options, &scene));
    ck_assert_int_eq(
        retime_make(plan_binding(scene.plan), scene.result.timeline, &scene.options, &retime, &err),
        WEIR_OK);
    ck_assert_uint_eq(retime.n_nodes, 7);
    ck_assert_uint_eq(retime.first[7], 6); /* three into the point, three out of it; not nine */
    ck_assert(!weir_is(retime.nodes[3]));
    retime_lengths(&retime, scene.result.timeline, length_ns);
    length_ns[2] = 9; /* p3 */
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), 16);
    ck_assert_int_eq(start_ns[4], 9);
    retime_free(&retime);
    scene_free(&scene);
}
END_TEST

START_TEST(test_only_a_complete_run_has_an_order)
{
    static const char text[] = "weir 1\ngraph g\nengine e\ndomain m capacity=3\nobject o size=5\n"
                               "node a compute engine=e duration=3 writes=o\n";
    const struct simulate_options options = simulate_default();
    struct scene scene;
    struct retime retime;
    struct weir_error err;

    ck_assert(!run(text, scene_policy("retain"), &options, &scene));
    ck_assert_int_eq(
        retime_make(plan_binding(scene.plan), scene.result.timeline, &scene.options, &retime, &err),
        WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "ended in a shortage"));
    scene_free(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("retime");
    TCase *tests = tcase_create("retime");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, test_same_lengths_same_starts_and_others_legal);
    tcase_add_test(tests, test_chain_by_hand);
    tcase_add_test(tests, test_many_that_may_not_overlap_wait_by_a_point);
    tcase_add_test(tests, test_only_a_complete_run_has_an_order);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
