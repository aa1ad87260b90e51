/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edits of a draft become the planned graph: nodes at their place, orderings, priorities; and what a
 * policy must not do is refused with its name. */
#include <string.h>

#include "graph/text.h"
#include "policies/draft.h"
#include "policies/registry.h"
#include "tests/suite.h"

#define GRAPH                                                                               \
    "weir 1\ngraph g\ndomain hbm capacity=100\ndomain host capacity=1KB\nengine sm\n"       \
    "engine out bandwidth=1GB/s from=hbm to=host\nobject x size=60\n"                       \
    "node a compute engine=sm duration=10 writes=x\nnode b compute engine=sm duration=10\n" \
    "node c compute engine=sm duration=10\n"

static struct graph *read_graph(void)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct weir_error err;

    ck_assert_msg(graph_read_text(GRAPH, strlen(GRAPH), "test", report, &graph, &err) == WEIR_OK,
                  "%s", err.text);
    report_free(report);
    return graph;
}

static enum weir_status make(enum weir_status (*plan)(void *, const struct weir_view *,
                                                      struct weir_draft *, struct weir_error *),
                             struct graph *graph, struct plan **out, struct weir_error *err)
{
    static struct weir_policy policy;
    struct plan_options options = {.policy = &policy};
    struct report *report = report_new(0);
    enum weir_status status;

    policy = (struct weir_policy){.version = WEIR_POLICY_VERSION,
                                  .size = sizeof policy,
                                  .name = "mover",
                                  .summary = "a test",
                                  .plan = plan};
    status = plan_make(graph, &options, report, out, err);
    report_free(report);
    return status;
}

static enum weir_status move_away(void *state, const struct weir_view *view,
                                  struct weir_draft *draft, struct weir_error *err)
{
    weir_node offload, reclaim;
    enum weir_status status =
        draft->add_node(draft, (weir_node){1}, "away offload engine=out object=x",
                        "x is not used for long", "keeping it", &offload, err);

    (void)state;
    ck_assert_uint_eq(view->n_nodes, 3);
    if (status == WEIR_OK) {
        status = draft->add_node(draft, (weir_node){1}, "gone reclamation object=x", "makes room",
                                 NULL, &reclaim, err);
    }
    if (status == WEIR_OK) {
        status =
            draft->add_ordering(draft, reclaim, (weir_node){2}, 4, "c wants the room", NULL, err);
    }
    return status == WEIR_OK
               ? draft->set_priority(draft, offload, 7, "first of its engine", NULL, err)
               : status;
}

START_TEST(test_nodes_go_where_they_belong)
{
    static const char *const expected[] = {"a", "away", "gone", "b", "c"};
    struct graph *graph = read_graph();
    struct plan *plan;
    struct weir_error err;
    struct graph_edge edge;
    struct graph_node value;

    ck_assert_msg(make(move_away, graph, &plan, &err) == WEIR_OK, "%s", err.text);
    ck_assert_uint_eq(graph_n_nodes(plan_graph(plan)), 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_str_eq(graph_node_name(plan_graph(plan), (weir_node){i}), expected[i]);
    }
    graph_edge(plan_graph(plan), (weir_edge){0}, &edge);
    ck_assert_uint_eq(edge.producer.index, 2);
    ck_assert_uint_eq(edge.consumer.index, 4);
    ck_assert_int_eq(edge.lag_ns, 4);
    graph_node(plan_graph(plan), (weir_node){1}, &value);
    ck_assert_int_eq(value.priority, 7);
    /* Back to the graph that was given. */
    ck_assert_uint_eq(plan_origin(plan, (weir_node){3}).index, 1);
    ck_assert(!weir_is(plan_origin(plan, (weir_node){2})));
    plan_free(plan);
    graph_free(graph);
}
END_TEST

static enum weir_status free_too_early(void *state, const struct weir_view *view,
                                       struct weir_draft *draft, struct weir_error *err)
{
    weir_node node;

    (void)state;
    (void)view;
    return draft->add_node(draft, (weir_node){0}, "early reclamation object=x", "no reason", NULL,
                           &node, err);
}

static enum weir_status no_reason(void *state, const struct weir_view *view,
                                  struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    (void)view;
    return draft->set_priority(draft, (weir_node){0}, 1, NULL, NULL, err);
}

static enum weir_status nonsense(void *state, const struct weir_view *view,
                                 struct weir_draft *draft, struct weir_error *err)
{
    weir_node node;

    (void)state;
    (void)view;
    return draft->add_node(draft, (weir_node){WEIR_NONE}, "what is this", "none", NULL, &node, err);
}

START_TEST(test_plans_are_checked_like_any_graph)
{
    struct graph *graph = read_graph();
    struct plan *plan = NULL;
    struct weir_error err;

    ck_assert_int_eq(make(free_too_early, graph, &plan, &err), WEIR_INPUT);
    ck_assert_int_eq(make(no_reason, graph, &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "mover"));
    ck_assert_int_eq(make(nonsense, graph, &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "mover"));
    ck_assert_ptr_null(plan);
    graph_free(graph);
}
END_TEST

static enum weir_status no_statement(void *state, const struct weir_view *view,
                                     struct weir_draft *draft, struct weir_error *err)
{
    weir_node node;

    (void)state;
    (void)view;
    return draft->add_node(draft, (weir_node){0}, NULL, "none", NULL, &node, err);
}

static enum weir_status no_status(void *state, const struct weir_view *view,
                                  struct weir_draft *draft, struct weir_error *err)
{
    (void)state;
    (void)view;
    (void)draft;
    (void)err;
    return (enum weir_status)57;
}

static enum weir_status no_word(void *state, const struct weir_view *view, struct weir_draft *draft,
                                struct weir_error *err)
{
    (void)state;
    (void)view;
    (void)draft;
    (void)err;
    return WEIR_INFEASIBLE;
}

/* A policy from outside can do anything wrong: it always ends in a message that names it. */
START_TEST(test_failures_have_a_message)
{
    struct graph *graph = read_graph();
    struct plan *plan = NULL;
    struct weir_error err = {.status = WEIR_OK};

    ck_assert_int_eq(make(no_statement, graph, &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "mover adds a node without a statement"));
    err = (struct weir_error){.status = WEIR_OK};
    ck_assert_int_eq(make(no_status, graph, &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "mover: its plan callback gave back 57"));
    err = (struct weir_error){.status = WEIR_OK};
    ck_assert_int_eq(make(no_word, graph, &plan, &err), WEIR_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(err.text, "mover: its plan callback failed"));
    ck_assert_ptr_null(plan);
    graph_free(graph);
}
END_TEST

/* Ids that are none get the answer for nothing. */
static enum weir_status asks_of_none(void *state, const struct weir_view *view,
                                     struct weir_draft *draft, struct weir_error *err)
{
    weir_node node = {view->n_nodes};

    (void)state;
    (void)draft;
    (void)err;
    ck_assert_str_eq(view->node_name(view, node), "");
    ck_assert_str_eq(view->node_kind(view, node), "");
    ck_assert(!weir_is(view->node_engine(view, node)));
    ck_assert_int_eq(view->node_length_ns(view, node), -1);
    ck_assert_int_eq(view->node_priority(view, node), 0);
    ck_assert_int_eq(view->node_deadline_ns(view, node), -1);
    ck_assert_str_eq(view->object_name(view, (weir_object){WEIR_NONE}), "");
    ck_assert_int_eq(view->object_bytes(view, (weir_object){view->n_objects}), 0);
    ck_assert_int_eq(view->domain_capacity_bytes(view, (weir_domain){view->n_domains}), 0);
    ck_assert_int_eq(view->domain_used_bytes(view, (weir_domain){view->n_domains}), 0);
    ck_assert_int_eq(view->recorded_start_ns(view, node), -1);
    return WEIR_OK;
}

START_TEST(test_view_of_what_is_not_there)
{
    struct graph *graph = read_graph();
    struct plan *plan = NULL;
    struct weir_error err;

    ck_assert_int_eq(make(asks_of_none, graph, &plan, &err), WEIR_OK);
    plan_free(plan);
    graph_free(graph);
}
END_TEST

START_TEST(test_registry)
{
    const struct weir_policy *policy;
    struct weir_error err;
    const char *last = "";

    for (const struct weir_policy *const *at = policy_registry(); *at != NULL; at++) {
        ck_assert_str_gt((*at)->name, last); /* by name */
        last = (*at)->name;
        ck_assert_int_eq(policy_find((*at)->name, &policy, &err), WEIR_OK);
        ck_assert_ptr_eq(policy, *at);
        ck_assert_uint_eq(policy->version, WEIR_POLICY_VERSION);
    }
    ck_assert_int_eq(policy_find("retian", &policy, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "retain"));
    ck_assert_int_eq(policy_find("./no-such.so", &policy, &err), WEIR_INPUT);
}
END_TEST

START_TEST(test_recorded_needs_a_recording)
{
    struct graph *graph = read_graph();
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct plan *plan = NULL;
    struct weir_error err;

    ck_assert_int_eq(policy_find("recorded", &options.policy, &err), WEIR_OK);
    ck_assert_int_eq(plan_make(graph, &options, report, &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "recorded run"));
    report_free(report);
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit");
    TCase *tests = tcase_create("edit");

    tcase_add_test(tests, test_nodes_go_where_they_belong);
    tcase_add_test(tests, test_plans_are_checked_like_any_graph);
    tcase_add_test(tests, test_failures_have_a_message);
    tcase_add_test(tests, test_view_of_what_is_not_there);
    tcase_add_test(tests, test_registry);
    tcase_add_test(tests, test_recorded_needs_a_recording);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
