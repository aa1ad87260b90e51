/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs from text and plans from tables, for tests of what a replay makes of them. */
#ifndef TESTS_REPLAY_PLAN_H
#define TESTS_REPLAY_PLAN_H

#include <string.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "graph/timeline.h"
#include "tests/suite.h"

struct test_plan {
    struct graph *graph;
    struct binding *binding;
    struct timeline *timeline;
    uint32_t n_started;
};

static inline weir_node plan_node(const struct test_plan *plan, const char *name)
{
    weir_text text = graph_find_text(plan->graph, name);
    weir_node node = graph_find_node(plan->graph, text);

    ck_assert_msg(weir_is(node), "no node %s", name);
    return node;
}

/* Reads and binds the text; no node has run. */
static inline void plan_begin(struct test_plan *plan, const char *text)
{
    struct report *report = report_new(0);
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(graph_read_text(text, strlen(text), "test", report, &plan->graph, &err) ==
                      WEIR_OK,
                  "%s", report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
    ck_assert_msg(bind_graph(plan->graph, report, &plan->binding, &err) == WEIR_OK, "%s",
                  report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
    report_free(report);
    plan->timeline = timeline_new(graph_n_nodes(plan->graph), graph_n_domains(plan->graph));
    ck_assert_ptr_nonnull(plan->timeline);
    plan->n_started = 0;
}

/* The node ran from start to finish, and takes isolated_ns alone; nodes are given in the order of
 * their starts. */
static inline struct timeline_span *plan_ran_alone(struct test_plan *plan, const char *name,
                                                   int64_t start_ns, int64_t finish_ns,
                                                   int64_t isolated_ns)
{
    struct timeline_span *span = &plan->timeline->spans[plan_node(plan, name).index];

    span->ready_ns = start_ns;
    span->start_ns = start_ns;
    span->finish_ns = finish_ns;
    span->isolated_ns = isolated_ns;
    span->order = plan->n_started++;
    if (finish_ns > plan->timeline->makespan_ns)
        plan->timeline->makespan_ns = finish_ns;
    return span;
}

static inline struct timeline_span *plan_ran(struct test_plan *plan, const char *name,
                                             int64_t start_ns, int64_t finish_ns)
{
    return plan_ran_alone(plan, name, start_ns, finish_ns, finish_ns - start_ns);
}

static inline void plan_induces(struct test_plan *plan, const char *producer, const char *consumer)
{
    const struct timeline_induced induced = {.producer = plan_node(plan, producer),
                                             .consumer = plan_node(plan, consumer),
                                             .domain = {0},
                                             .bytes = 1};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_induced(plan->timeline, &induced, &err), WEIR_OK);
}

static inline void plan_end(struct test_plan *plan)
{
    timeline_free(plan->timeline);
    bind_free(plan->binding);
    graph_free(plan->graph);
}

#endif
