/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of priority on Weir's own graphs: lags, edges from starts, deadlines, releases, edges that
 * program order implies, engines. Each graph is small enough to be worked out by hand; what its comment
 * says, the test asserts. Then what the view tells a policy, and when a policy may rank. At the end, what
 * holds for every policy of the registry. */
#include <string.h>

#include "graph/analyze.h"
#include "tests/sim/scene.h"
#include "tests/suite.h"

/* Which of two nodes that want the one slot at 0 goes first. */
static const char lag[] = "weir 1\nengine e\n"
                          "node b compute engine=e duration=5\n"
                          "node a compute engine=e duration=1\n"
                          "node z compute duration=1\n"
                          "edge a z ordering lag=10\n";
static const char from_start[] = "weir 1\nengine e\n"
                                 "node b compute engine=e duration=5\n"
                                 "node a compute engine=e duration=4\n"
                                 "node z compute duration=1\n"
                                 "edge a z ordering from=start lag=10\n";
static const char deadline[] = "weir 1\nengine e\n"
                               "node b compute engine=e duration=5\n"
                               "node a compute engine=e duration=5 deadline=6\n"
                               "node z compute duration=20\n";
static const char implied[] = "weir 1\ndomain m capacity=9\nengine e\nobject o size=1\n"
                              "node b compute engine=e duration=5\n"
                              "node a compute engine=e duration=1 writes=o\n"
                              "node z compute duration=10 reads=o\n";
static const char twice[] = "weir 1\ndomain m capacity=9\nengine e\nobject o size=1\n"
                            "node b compute engine=e duration=1 writes=o\n"
                            "node a compute engine=e duration=1\n"
                            "node b1 compute duration=3 reads=o\n"
                            "node a1 compute duration=2\n"
                            "node a2 compute duration=2\n"
                            "edge b b1 ordering\nedge a a1 ordering\nedge a a2 ordering\n";
static const char off[] = "weir 1\nengine e\nguard g off\n"
                          "node b compute engine=e duration=1\n"
                          "node a compute engine=e duration=1\n"
                          "node b1 compute duration=100 guard=g\n"
                          "node a1 compute duration=2\n"
                          "edge b b1 ordering\nedge a a1 ordering\n";
static const char stands_in[] = "weir 1\nengine e\n"
                                "node b compute engine=e duration=1\n"
                                "node a compute engine=e duration=1\n"
                                "node b1 compute duration=1 fallback=b2 deadline=50\n"
                                "node b2 compute duration=30\n"
                                "node a1 compute duration=2\n"
                                "edge b b1 ordering\nedge b b2 ordering\nedge a a1 ordering\n";

static const struct {
    const char *graph, *policy, *first;
} choices[] = {
    /* The whole takes 12; latest starts: a 0, b 7. By ready time b would go first. */
    {lag, "retain", "b"},
    {lag, "lst", "a"},
    {lag, "lft", "a"},
    {lag, "mslk", "a"},
    {lag, "spt", "a"},
    {lag, "fifo", "b"},
    /* z starts 10 after a does: the whole takes 11; latest finishes: a 4, b 11. */
    {from_start, "lft", "a"},
    {from_start, "lst", "a"},
    {from_start, "mts", "a"},
    {from_start, "fifo", "b"},
    /* The whole takes 20; latest finishes: b 20, a 6. */
    {deadline, "lft", "a"},
    {deadline, "lst", "a"},
    {deadline, "mslk", "a"},
    {deadline, "spt", "b"},
    /* z reads what a writes: the whole takes 11; latest starts: a 0, b 6. Lengths with what comes after: a
     * 11, b 5. */
    {implied, "lst", "a"},
    {implied, "mts", "a"},
    {implied, "grpw", "a"},
    {implied, "grpw-all", "a"},
    {implied, "fifo", "b"},
    /* b1 waits for b by an edge and by an object, and counts once: 1 + 3 against 1 + 2 + 2. */
    {twice, "grpw", "a"},
    {twice, "grpw-all", "a"},
    {twice, "mts", "a"},
    {twice, "lst", "b"},
    /* What is off takes no time: 1 + 0 against 1 + 2; but it waits too. */
    {off, "grpw", "a"},
    {off, "grpw-all", "a"},
    {off, "lft", "a"},
    {off, "mts", "b"},
    /* Nor does what runs only when another gives way: 1 + 1 + 0 against 1 + 2. */
    {stands_in, "grpw", "a"},
    {stands_in, "lst", "a"},
};

START_TEST(test_who_goes_first)
{
    struct scene scene;

    scene_run(scene_read(choices[_i].graph), scene_policy(choices[_i].policy), NULL, NULL, &scene);
    ck_assert_msg(scene_span(&scene, choices[_i].first)->start_ns == 0, "%s: %s starts at %lld",
                  choices[_i].policy, choices[_i].first,
                  (long long)scene_span(&scene, choices[_i].first)->start_ns);
    ck_assert_int_eq(scene.result.timeline->status, RUN_COMPLETE);
    scene_free(&scene);
}
END_TEST

/* By number. Serial: n1 gets 5 to 7 by its release; n2 fits before it, 0 to 4; n3 takes 3, which nothing
 * leaves between 4 and 5: 7 to 10. Parallel: n3 starts when n2 ends, and n1 waits for it. */
START_TEST(test_serial_keeps_a_slot)
{
    static const char text[] = "weir 1\nengine e\n"
                               "node n1 compute engine=e duration=2 release=5\n"
                               "node n2 compute engine=e duration=4\n"
                               "node n3 compute engine=e duration=3\n";
    struct scene scene;

    scene_run(scene_read(text), scene_policy("fifo"), "serial=1", NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "n1")->start_ns, 5);
    ck_assert_int_eq(scene_span(&scene, "n2")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "n3")->start_ns, 7);
    ck_assert_int_eq(scene.result.timeline->spans[2].cause, WAIT_ADMISSION);
    scene_free(&scene);
    scene_run(scene_read(text), scene_policy("fifo"), NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "n3")->start_ns, 4);
    ck_assert_int_eq(scene_span(&scene, "n1")->start_ns, 7);
    scene_free(&scene);
}
END_TEST

/* The same with bytes: of 10 (12 less a reserve of 2), n1 takes 8 from 5 to 7; n2 and n3 fit before it;
 * n4, 6 long, does not: 7 to 13. Two slots and a lag: n5 3 after n2's start. */
START_TEST(test_serial_keeps_bytes)
{
    static const char text[] = "weir 1\ndomain m capacity=12 reserve=2\nengine e slots=2\n"
                               "node n1 compute duration=2 release=5 workspace=8\n"
                               "node n2 compute engine=e duration=4 workspace=4\n"
                               "node n3 compute engine=e duration=3 workspace=4\n"
                               "node n4 compute duration=6 workspace=4\n"
                               "node n5 compute engine=e duration=1\n"
                               "edge n2 n5 ordering from=start lag=1\n";
    static const int64_t serial[] = {5, 0, 0, 7, 3}, parallel[] = {9, 0, 0, 3, 3};
    struct scene scene;

    scene_run(scene_read(text), scene_policy("fifo"), "serial=1", NULL, &scene);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_int_eq(scene.result.timeline->spans[i].start_ns, serial[i]);
    }
    scene_free(&scene);
    scene_run(scene_read(text), scene_policy("fifo"), NULL, NULL, &scene);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_int_eq(scene.result.timeline->spans[i].start_ns, parallel[i]);
    }
    scene_free(&scene);
}
END_TEST

/* What could never fit does not stop the plan, and is told as ever: a shortage. */
START_TEST(test_serial_leaves_shortages_to_the_run)
{
    struct scene scene;

    scene_run(scene_read("weir 1\ndomain m capacity=4\nnode n compute duration=2 workspace=5\n"),
              scene_policy("lft"), "serial=1", NULL, &scene);
    ck_assert_int_eq(scene.result.timeline->status, RUN_SHORTAGE);
    scene_free(&scene);
}
END_TEST

/* Both want the slot. Latest starts: a 4, b 5; the whole takes 14. Behind a, b would start at 10: 5 - 10;
 * behind b, a at 2: 4 - 2. So b goes first, and y ends at 9, a at 12. */
START_TEST(test_worst_case_slack_of_an_engine)
{
    static const char text[] = "weir 1\nengine e\n"
                               "node a compute engine=e duration=10\n"
                               "node b compute engine=e duration=2\n"
                               "node y compute duration=7\n"
                               "node z compute duration=14\n"
                               "edge b y ordering\n";
    struct scene scene;

    scene_run(scene_read(text), scene_policy("lst"), NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "a")->start_ns, 0);
    ck_assert_int_eq(scene.result.timeline->makespan_ns, 19);
    scene_free(&scene);
    scene_run(scene_read(text), scene_policy("wcs"), NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "b")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "a")->start_ns, 2);
    ck_assert_int_eq(scene.result.timeline->makespan_ns, 14);
    scene_free(&scene);
}
END_TEST

/* --- the view ------------------------------------------------------------------------------------- */

static const char seen[] = "weir 1\ndomain m capacity=100 reserve=7\ndomain h capacity=50\n"
                           "engine e slots=3\nobject o size=10\nobject p size=20 initial\n"
                           "node w compute engine=e duration=4 writes=o reads=p workspace=5,2@h\n"
                           "node r compute engine=e duration=3 reads=o staging=6@h release=1\n"
                           "node x compute duration=20\n"
                           "edge w r ordering from=start lag=9\n";

static enum weir_status look(void *state, const struct weir_view *view, struct weir_draft *draft,
                             struct weir_error *err)
{
    const weir_node w = {0}, r = {1}, none = {9};
    const weir_domain m = {0}, h = {1};

    (void)state;
    (void)draft;
    (void)err;
    ck_assert_uint_eq(view->size, sizeof *view);
    ck_assert_int_eq(view->domain_room_bytes(view, m), 93);
    ck_assert_int_eq(view->engine_slots(view, (weir_engine){0}), 3);
    ck_assert_int_eq(view->engine_slots(view, (weir_engine){1}), 0);
    ck_assert_int_eq(view->node_start_ns(view, w), -1);
    ck_assert_uint_eq(view->node_n_next(view, w), 2); /* the edge, and r reads what w wrote */
    ck_assert_uint_eq(view->node_next(view, w, 0).node.index, 1);
    ck_assert_int_eq(view->node_next(view, w, 0).lag_ns, 9);
    ck_assert(view->node_next(view, w, 0).is_from_start);
    ck_assert(!view->node_next(view, w, 1).is_from_start);
    ck_assert(!weir_is(view->node_next(view, w, 2).node));
    ck_assert_uint_eq(view->node_n_next(view, r), 0);
    ck_assert_int_eq(view->node_earliest_ns(view, r), 9);
    ck_assert_int_eq(view->node_latest_start_ns(view, r), 17);
    ck_assert_int_eq(view->node_latest_start_ns(view, w), 8); /* to start 9 before r must */
    ck_assert_int_eq(view->node_latest_finish_ns(view, w), 12);
    ck_assert_int_eq(view->node_takes_bytes(view, w, m), 15);
    ck_assert_int_eq(view->node_takes_bytes(view, w, h), 2);
    ck_assert_int_eq(view->node_workspace_bytes(view, w, m), 5);
    ck_assert_int_eq(view->node_takes_bytes(view, r, m), 0);
    ck_assert_int_eq(view->node_takes_bytes(view, r, h), 6);
    ck_assert_int_eq(view->node_workspace_bytes(view, r, h), 0);
    ck_assert_uint_eq(view->node_n_next(view, none), 0);
    ck_assert_int_eq(view->node_earliest_ns(view, none), -1);
    ck_assert_int_eq(view->node_latest_finish_ns(view, none), -1);
    ck_assert_int_eq(view->node_takes_bytes(view, none, m), 0);
    return WEIR_OK;
}

START_TEST(test_view_tells_the_order)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "look",
                                       .summary = "a test",
                                       .plan = look,
                                       .needs_order = true};
    struct scene scene;

    scene_run(scene_read(seen), &policy, NULL, NULL, &scene);
    scene_free(&scene);
}
END_TEST

/* Adds a node in front, so that ids move, and a second look while time runs. */
static enum weir_status add_first(void *state, const struct weir_view *view,
                                  struct weir_draft *draft, struct weir_error *err)
{
    weir_node added;

    (void)state;
    (void)view;
    return draft->add_node(draft, (weir_node){0}, "first compute duration=2", "a test", NULL,
                           &added, err);
}

static enum weir_admission look_again(void *state, const struct weir_view *view, weir_node node,
                                      int64_t *until_ns, const char **why)
{
    const weir_node first = {0}, w = {1};

    (void)state;
    (void)node;
    (void)until_ns;
    (void)why;
    ck_assert_uint_eq(view->node_n_next(view, first), 0);
    ck_assert_int_eq(view->node_earliest_ns(view, first), -1);
    ck_assert_uint_eq(view->node_next(view, w, 0).node.index, 2);
    ck_assert_int_eq(view->node_latest_start_ns(view, w), 8);
    ck_assert_int_eq(view->node_takes_bytes(view, w, (weir_domain){0}), 15);
    if (view->now_ns >= 9) {
        ck_assert_int_eq(view->node_start_ns(view, w), 0);
        ck_assert_int_eq(view->node_finish_ns(view, w), 4);
    }
    return WEIR_ADMIT;
}

START_TEST(test_view_knows_the_graph_given_while_time_runs)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "again",
                                       .summary = "a test",
                                       .plan = add_first,
                                       .admit = look_again,
                                       .needs_order = true};
    struct scene scene;

    scene_run(scene_read(seen), &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "r")->start_ns, 9);
    scene_free(&scene);
}
END_TEST

static enum weir_status look_without(void *state, const struct weir_view *view,
                                     struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    (void)draft;
    (void)err;
    ck_assert_uint_eq(view->node_n_next(view, (weir_node){0}), 0);
    ck_assert_int_eq(view->node_earliest_ns(view, (weir_node){0}), -1);
    ck_assert_int_eq(view->node_workspace_bytes(view, (weir_node){0}, (weir_domain){0}), 0);
    return WEIR_OK;
}

static enum weir_status must_not_rank(void *state, const struct weir_view *view,
                                      struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    (void)view;
    (void)draft;
    return weir_error_set(err, WEIR_INPUT, "a callback that the policy does not have was called");
}

/* A policy built before there were needs_order and rank: what stands behind its struct is not its own. */
START_TEST(test_older_policies_have_less)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = offsetof(struct weir_policy, needs_order),
                                       .name = "older",
                                       .summary = "a test",
                                       .plan = look_without,
                                       .needs_order = true,
                                       .rank = must_not_rank};
    struct scene scene;

    scene_run(scene_read(seen), &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene.result.timeline->status, RUN_COMPLETE);
    scene_free(&scene);
}
END_TEST

/* Gives the ready node that stands last the highest priority, each time anew. */
static enum weir_status last_first(void *state, const struct weir_view *view,
                                   struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    for (uint32_t i = view->n_nodes; i-- > 0;) {
        if (view->node_start_ns(view, (weir_node){i}) < 0) {
            return draft->set_priority(draft, (weir_node){i}, view->now_ns + i + 1, "a test", NULL,
                                       err);
        }
    }
    return WEIR_OK;
}

START_TEST(test_rank_is_asked_before_each_choice)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "last",
                                       .summary = "a test",
                                       .rank = last_first};
    struct scene scene;

    /* Two slots: at 0 d, then c, which no event but d's start put first; then b at 2, a at 3. */
    scene_run(scene_read("weir 1\nengine e slots=2\nnode a compute engine=e duration=5\n"
                         "node b compute engine=e duration=5\nnode c compute engine=e duration=3\n"
                         "node d compute engine=e duration=2\n"),
              &policy, NULL, NULL, &scene);
    ck_assert_int_eq(scene_span(&scene, "d")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "c")->start_ns, 0);
    ck_assert_int_eq(scene_span(&scene, "b")->start_ns, 2);
    ck_assert_int_eq(scene_span(&scene, "a")->start_ns, 3);
    scene_free(&scene);
}
END_TEST

START_TEST(test_rank_may_fail)
{
    const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                       .size = sizeof policy,
                                       .name = "fails",
                                       .summary = "a test",
                                       .rank = must_not_rank};
    struct plan_options options = {.policy = &policy};
    struct simulate_options how = simulate_default();
    struct simulate_result result;
    struct graph *graph = scene_read("weir 1\nnode a compute duration=5\n");
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;

    ck_assert_int_eq(plan_make(graph, &options, report, &plan, &err), WEIR_OK);
    ck_assert_int_eq(simulate(plan, &how, &result, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "that the policy does not have"));
    plan_free(plan);
    report_free(report);
    graph_free(graph);
}
END_TEST

/* What is wrong with the graph given is found before the policy plans, and told once. */
START_TEST(test_faults_are_told_once)
{
    struct graph *graph =
        scene_read("weir 1\nnode a compute duration=1\nnode b compute duration=1\n"
                   "edge a b ordering\nedge b a ordering\n");
    struct report *report = report_new(0);
    struct plan_options options = {.policy = scene_policy("lft")};
    struct plan *plan = NULL;
    struct weir_error err;

    ck_assert_int_eq(plan_make(graph, &options, report, &plan, &err), WEIR_INPUT);
    ck_assert_uint_eq(report_errors(report), 1);
    report_free(report);
    graph_free(graph);
}
END_TEST

/* --- every policy ------------------------------------------------------------------------------------ */

static void check_room(const struct scene *scene)
{
    for (uint32_t d = 0; d < scene->result.timeline->n_domains; d++) {
        const struct graph_domain *domain = graph_domain(scene->graph, (weir_domain){d});

        ck_assert_int_le(scene->result.timeline->peak_bytes[d],
                         domain->capacity_bytes - domain->reserve_bytes);
    }
}

/* Its plan is legal, the run ends, no domain overflows, and a second run is equal. */
static void check_policy(const struct weir_policy *policy, const char *setting, uint64_t seed)
{
    struct scene a, b;
    int64_t bound_ns;
    struct weir_error err;

    scene_run(scene_random(seed, 200), policy, setting, NULL, &a);
    scene_run(scene_random(seed, 200), policy, setting, NULL, &b);
    ck_assert_msg(a.result.timeline->status == RUN_COMPLETE, "%s: %s", policy->name,
                  a.result.explanation);
    ck_assert_int_eq(analyze_critical_path(plan_binding(a.plan), &bound_ns, &err), WEIR_OK);
    ck_assert_int_ge(a.result.timeline->makespan_ns, bound_ns);
    check_room(&a);
    for (uint32_t i = 0; i < a.result.timeline->n_nodes; i++) {
        ck_assert_int_eq(a.result.timeline->spans[i].start_ns,
                         b.result.timeline->spans[i].start_ns);
        ck_assert_uint_eq(a.result.timeline->spans[i].order, b.result.timeline->spans[i].order);
    }
    scene_free(&a);
    scene_free(&b);
}

START_TEST(test_every_policy)
{
    for (const struct weir_policy *const *at = policy_registry(); *at != NULL; at++) {
        if ((*at)->needs_recording) {
            continue;
        }
        check_policy(*at, NULL, (uint64_t)_i);
        if ((*at)->params != NULL && strcmp((*at)->params[0].name, "serial") == 0) {
            check_policy(*at, "serial=1", (uint64_t)_i);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rules");
    TCase *tests = tcase_create("rules");

    tcase_add_loop_test(tests, test_who_goes_first, 0, (int)(sizeof choices / sizeof *choices));
    tcase_add_test(tests, test_serial_keeps_a_slot);
    tcase_add_test(tests, test_serial_keeps_bytes);
    tcase_add_test(tests, test_serial_leaves_shortages_to_the_run);
    tcase_add_test(tests, test_worst_case_slack_of_an_engine);
    tcase_add_test(tests, test_view_tells_the_order);
    tcase_add_test(tests, test_view_knows_the_graph_given_while_time_runs);
    tcase_add_test(tests, test_older_policies_have_less);
    tcase_add_test(tests, test_rank_is_asked_before_each_choice);
    tcase_add_test(tests, test_rank_may_fail);
    tcase_add_test(tests, test_faults_are_told_once);
    tcase_add_loop_test(tests, test_every_policy, 1, 5);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
