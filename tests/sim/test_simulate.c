/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulations of small graphs, solved by hand, and what holds for all of them: bytes balance, and
 * the induced edges alone keep every domain within its capacity. */
#include "sim/simulate.h"

#include <string.h>

#include "graph/analyze.h"
#include "tests/sim/scene.h"
#include "tests/suite.h"

START_TEST(test_halves_round_away_from_zero)
{
    struct simulate_options options = simulate_default();
    struct scene scene;

    /* a runs 2 times longer beside b, b is not slowed: b ends at 3; a has done 1.5 of its 4 and
     * needs 2.5 more: it ends at 5.5, rounded away from zero to 6. */
    options.contention = CONTENTION_PAIRWISE;
    scene_run(scene_read("weir 1\ngraph g\nengine a\nengine b\nkappa a b 2\nkappa b a 1\n"
                         "node a compute engine=a duration=4\n"
                         "node b compute engine=b duration=3\n"),
              scene_policy("retain"), NULL, &options, &scene);
    ck_assert_int_eq(scene_span(&scene, "b")->finish_ns, 3);
    ck_assert_int_eq(scene_span(&scene, "a")->finish_ns, 6);
    scene_free(&scene);
}
END_TEST

START_TEST(test_one_that_cannot_start_holds_up_no_other)
{
    struct scene scene;

    /* big is first in the order but does not fit beside x; small, which does, goes ahead. */
    scene_run(scene_read("weir 1\ngraph g\ndomain m capacity=10\nengine e slots=3\n"
                         "object x size=6\nobject big size=6\nobject small size=3\n"
                         "node w compute engine=e duration=10 writes=x priority=9\n"
                         "node b compute engine=e duration=1 writes=big priority=5\n"
                         "node s compute engine=e duration=2 writes=small\n"),
              scene_policy("retain"), NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "s")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "b")->start_ns, 10);
    ck_assert_int_eq(scene_span(&scene, "b")->cause, WAIT_CAPACITY);
    ck_assert_uint_eq(scene_span(&scene, "b")->blocker.index, 0);
    scene_free(&scene);
}
END_TEST

START_TEST(test_cause_is_what_gave_way_last)
{
    struct scene scene;

    /* late needs bytes until 10, and then the engine, which k took at 10 by its priority: what gave
     * way last is the engine, at 15, by k. */
    scene_run(scene_read("weir 1\ngraph g\ndomain m capacity=10\nengine e\nengine f\n"
                         "object x size=6\nobject y size=6\n"
                         "node w compute engine=f duration=10 writes=x\n"
                         "node k compute engine=e duration=5 release=10 priority=1\n"
                         "node late compute engine=e duration=1 writes=y\n"),
              scene_policy("retain"), NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "late")->start_ns, 15);
    ck_assert_int_eq(scene_span(&scene, "late")->cause, WAIT_ENGINE);
    ck_assert_uint_eq(scene_span(&scene, "late")->blocker.index, 1);
    scene_free(&scene);
}
END_TEST

/* A policy that keeps k0 back until 7 and gives the later of two nodes the higher priority. */
static enum weir_status steering_plan(void *state, const struct weir_view *view,
                                      struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    ck_assert_str_eq(view->node_name(view, (weir_node){1}), "k1");
    return draft->set_priority(draft, (weir_node){2}, 5, "to be tried", "program order", err);
}

static enum weir_admission steering_admit(void *state, const struct weir_view *view, weir_node node,
                                          int64_t *until_ns, const char **why)
{
    (void)state;
    *why = "a test";
    *until_ns = 7;
    return node.index == 0 && view->now_ns < 7 ? WEIR_HOLD : WEIR_ADMIT;
}

START_TEST(test_policy_plans_and_admits)
{
    const struct weir_policy policy = {
        .version = WEIR_POLICY_VERSION,
        .size = sizeof policy,
        .name = "steering",
        .summary = "a test",
        .plan = steering_plan,
        .admit = steering_admit,
    };
    struct scene scene;
    uint32_t n_edits;

    scene_run(scene_read("weir 1\ngraph g\nengine e\nengine f\n"
                         "node k0 compute engine=f duration=1\n"
                         "node k1 compute engine=e duration=3\n"
                         "node k2 compute engine=e duration=3\n"),
              &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "k0")->start_ns, 7);
    ck_assert_int_eq(scene_span(&scene, "k0")->cause, WAIT_ADMISSION);
    ck_assert_int_eq(scene_span(&scene, "k2")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "k1")->start_ns, 3);
    ck_assert_str_eq(plan_edits(scene.plan, &n_edits)->instead_of, "program order");
    ck_assert_uint_eq(n_edits, 1);
    scene_free(&scene);
}
END_TEST

/* Holds the first node until 1000, whatever happens meanwhile. */
static enum weir_admission late_admit(void *state, const struct weir_view *view, weir_node node,
                                      int64_t *until_ns, const char **why)
{
    (void)state;
    *why = "a test";
    *until_ns = 1000;
    return node.index == 0 && view->now_ns < 1000 ? WEIR_HOLD : WEIR_ADMIT;
}

/* The window of n closes at 500 - 3 while the policy holds it: f runs in its place, from 497 to 501.
 * At 1000 the policy would let n go, but n has given way: that must not count again for y, which
 * waits for c, that ends at 2000. */
START_TEST(test_one_that_is_held_gives_way_once)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "late",
                                       .summary = "a test",
                                       .admit = late_admit};
    struct scene scene;

    scene_run(scene_read("weir 1\ngraph g\nengine e\n"
                         "node n compute engine=e duration=3 deadline=500 fallback=f\n"
                         "node f compute engine=e duration=4\n"
                         "node c compute duration=2000\n"
                         "node y compute duration=1\n"
                         "edge n y ordering\nedge f y ordering\nedge c y ordering\n"),
              &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "n")->start_ns, -1);
    ck_assert_int_eq(scene_span(&scene, "f")->start_ns, 497);
    ck_assert_int_eq(scene_span(&scene, "y")->ready_ns, 2000);
    ck_assert_int_eq(scene_span(&scene, "y")->start_ns, 2000);
    scene_free(&scene);
}
END_TEST

static enum weir_admission never_admit(void *state, const struct weir_view *view, weir_node node,
                                       int64_t *until_ns, const char **why)
{
    const int64_t *step_ns = state;

    (void)node;
    *why = "a test";
    *until_ns = step_ns == NULL ? INT64_MAX : view->now_ns + *step_ns;
    return WEIR_HOLD;
}

static enum weir_status begin_next_instant(struct weir_setup *setup, void **state,
                                           struct weir_error *err)
{
    static int64_t step_ns = 1;

    (void)setup;
    (void)err;
    *state = &step_ns;
    return WEIR_OK;
}

/* A policy that lets nothing start ends in a deadlock that names what it holds: at once when it
 * says for ever (0), and when it says from one nanosecond to the next (1), too. */
START_TEST(test_policy_that_holds_for_ever)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "never",
                                       .summary = "a test",
                                       .begin = _i == 0 ? NULL : begin_next_instant,
                                       .admit = never_admit};
    struct scene scene;

    scene_run(scene_read("weir 1\nengine e\nnode k0 compute engine=e duration=3\n"
                         "node k1 compute duration=3\n"),
              &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene.result.timeline->status, RUN_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(scene.result.explanation, "k0 is "));
    ck_assert_ptr_nonnull(strstr(scene.result.explanation, "k1 is "));
    ck_assert_ptr_nonnull(strstr(scene.result.explanation, "let the policy admit"));
    scene_free(&scene);
}
END_TEST

/* --- what holds for every run ------------------------------------------------------------------ */

/* Halves the first domain's capacity, so that nodes must wait; some runs end in a shortage. */
static void tighten(struct graph *graph)
{
    struct graph_domain domain = *graph_domain(graph, (weir_domain){0});

    domain.capacity_bytes /= 8;
    graph_set_domain(graph, (weir_domain){0}, &domain);
}

/* Adds up holds by domain at an instant: the pressure that the rows claim. */
static int64_t held_at(const struct timeline *timeline, weir_domain domain, int64_t t_ns)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < timeline->n_holds; i++) {
        const struct timeline_hold *hold = &timeline->holds[i];

        if (weir_same(hold->domain, domain) && hold->acquire_ns <= t_ns &&
            (hold->release_ns < 0 || hold->release_ns > t_ns)) {
            bytes += hold->bytes;
        }
    }
    return bytes;
}

START_TEST(test_bytes_balance)
{
    struct scene scene;
    struct graph *graph = scene_random((uint64_t)_i, 300);
    const struct timeline *timeline;

    tighten(graph);
    scene_run(graph, scene_policy("retain"), NULL, NULL, &scene);
    timeline = scene.result.timeline;
    ck_assert_uint_gt(timeline->n_pressures, 0);
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];
        const struct graph_domain *domain = graph_domain(graph, row->domain);

        ck_assert_int_eq(row->bytes, held_at(timeline, row->domain, row->t_ns));
        ck_assert_int_le(row->bytes, domain->capacity_bytes - domain->reserve_bytes);
        ck_assert_int_le(row->bytes, timeline->peak_bytes[row->domain.index]);
    }
    scene_free(&scene);
}
END_TEST

/* Every induced edge was obeyed, and what a node took beyond what was fresh came over such edges. */
START_TEST(test_induced_edges_cover_reuse)
{
    struct scene scene;
    struct graph *graph = scene_random((uint64_t)_i, 300);
    const struct timeline *timeline;
    int64_t taken = 0, induced = 0, usable;

    tighten(graph);
    usable = graph_domain(graph, (weir_domain){0})->capacity_bytes;
    scene_run(graph, scene_policy("retain"), NULL, NULL, &scene);
    timeline = scene.result.timeline;
    for (size_t i = 0; i < timeline->n_holds; i++) {
        taken += timeline->holds[i].domain.index == 0 ? timeline->holds[i].bytes : 0;
    }
    for (size_t i = 0; i < timeline->n_induced; i++) {
        const struct timeline_induced *edge = &timeline->induced[i];

        ck_assert_int_ge(timeline->spans[edge->consumer.index].start_ns,
                         timeline->spans[edge->producer.index].finish_ns);
        induced += edge->domain.index == 0 ? edge->bytes : 0;
    }
    ck_assert_int_ge(induced, taken - usable);
    scene_free(&scene);
}
END_TEST

START_TEST(test_runs_are_equal_and_bounded)
{
    struct simulate_options options = simulate_default();
    struct scene a, b;
    int64_t bound_ns;
    struct weir_error err;

    options.contention = (enum contention)(_i % 3);
    scene_run(scene_random((uint64_t)_i, 300), scene_policy("retain"), NULL, &options, &a);
    scene_run(scene_random((uint64_t)_i, 300), scene_policy("retain"), NULL, &options, &b);
    ck_assert_int_eq(a.result.timeline->status, RUN_COMPLETE);
    ck_assert_int_eq(analyze_critical_path(plan_binding(a.plan), &bound_ns, &err), WEIR_OK);
    ck_assert_int_ge(a.result.timeline->makespan_ns, bound_ns);
    for (uint32_t i = 0; i < a.result.timeline->n_nodes; i++) {
        const struct timeline_span *x = &a.result.timeline->spans[i];
        const struct timeline_span *y = &b.result.timeline->spans[i];

        ck_assert_int_eq(x->start_ns, y->start_ns);
        ck_assert_int_eq(x->finish_ns, y->finish_ns);
        ck_assert_uint_eq(x->order, y->order);
    }
    scene_free(&a);
    scene_free(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulate");
    TCase *tests = tcase_create("simulate");

    tcase_add_test(tests, test_halves_round_away_from_zero);
    tcase_add_test(tests, test_one_that_cannot_start_holds_up_no_other);
    tcase_add_test(tests, test_cause_is_what_gave_way_last);
    tcase_add_test(tests, test_policy_plans_and_admits);
    tcase_add_test(tests, test_one_that_is_held_gives_way_once);
    tcase_add_loop_test(tests, test_policy_that_holds_for_ever, 0, 2);
    tcase_add_loop_test(tests, test_bytes_balance, 1, 6);
    tcase_add_loop_test(tests, test_induced_edges_cover_reuse, 1, 6);
    tcase_add_loop_test(tests, test_runs_are_equal_and_bounded, 1, 7);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
