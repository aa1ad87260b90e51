/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solves, and checks that no job starts before those it waits for have finished, and that at each start
 * what runs asks for no more than there is. */
#include "tests/psplib/solve.h"

#include <stdlib.h>

#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/suite.h"
#include "traces/psplib.h"

struct graph *solve_import(const char *text, size_t length, const char *name)
{
    struct import_options options = import_default();
    struct import_result result = {.graph = NULL};
    struct weir_error err;
    struct graph *graph;

    ck_assert_msg(psplib_read_text(text, length, name, &options, &result, &err) == WEIR_OK, "%s",
                  err.text);
    graph = result.graph;
    result.graph = NULL;
    import_result_free(&result);
    return graph;
}

static void check_precedence(const struct graph *graph, const struct timeline_span *spans)
{
    for (uint32_t i = 0; i < graph_n_edges(graph); i++) {
        struct graph_edge edge;

        graph_edge(graph, (weir_edge){i}, &edge);
        ck_assert_int_ge(spans[edge.consumer.index].start_ns, spans[edge.producer.index].finish_ns);
    }
}

/* What runs at that time asks of the domain. */
static int64_t demand_at(const struct graph *graph, const struct timeline_span *spans,
                         weir_domain domain, int64_t at_ns)
{
    int64_t demand = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node node;

        if (spans[i].start_ns > at_ns || spans[i].finish_ns <= at_ns) {
            continue;
        }
        graph_node(graph, (weir_node){i}, &node);
        for (uint32_t j = 0; j < node.n_workspace; j++) {
            demand += weir_same(node.workspace[j].domain, domain) ? node.workspace[j].bytes : 0;
        }
    }
    return demand;
}

static void check_capacity(const struct graph *graph, const struct timeline_span *spans)
{
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        for (uint32_t d = 0; d < graph_n_domains(graph); d++) {
            weir_domain domain = {d};

            ck_assert_int_le(demand_at(graph, spans, domain, spans[i].start_ns),
                             graph_domain(graph, domain)->capacity_bytes);
        }
    }
}

int64_t solve(const struct graph *graph, const char *policy, const char *setting, int64_t *starts)
{
    struct plan_options options = {.sets = &setting, .n_sets = setting == NULL ? 0 : 1};
    struct simulate_options how = simulate_default();
    struct simulate_result result;
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;
    int64_t makespan_ns;

    how.keeps_details = false;
    ck_assert_msg(policy_find(policy, &options.policy, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(plan_make(graph, &options, report, &plan, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(simulate(plan, &how, &result, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(result.timeline->status == RUN_COMPLETE, "%s", result.explanation);
    check_precedence(graph, result.timeline->spans);
    check_capacity(graph, result.timeline->spans);
    makespan_ns = result.timeline->makespan_ns;
    ck_assert_int_eq(makespan_ns % SOLVE_UNIT_NS, 0);
    for (uint32_t i = 0; starts != NULL && i < graph_n_nodes(graph); i++) {
        starts[i] = result.timeline->spans[i].start_ns / SOLVE_UNIT_NS;
    }
    timeline_free(result.timeline);
    free(result.explanation);
    plan_free(plan);
    report_free(report);
    return makespan_ns / SOLVE_UNIT_NS;
}
