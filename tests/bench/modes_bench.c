/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What looking for mistakes of a schedule costs, beside simulating it in the same run: CPU nanoseconds a
 * node, medians, and how many were found.
 *
 * Usage: modes_bench [GRAPH...]
 * Without arguments: graphs of a million nodes, of layers of 32 and of 1024, without and with bytes that
 * are scarce. Other graphs come from weir generate. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "judge/chain.h"
#include "judge/modes.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

#define ROUNDS 5

struct cost {
    double simulated, written, looked; /* CPU ns a node */
    uint32_t n_found;
    enum run_status status;
};

static struct cost once(const struct plan *plan)
{
    struct simulate_options simulation = simulate_default();
    struct modes_settings settings = modes_default();
    struct report *report = report_new(0);
    struct simulate_result result;
    struct run_link *links;
    struct cost cost;
    struct weir_error err;
    int64_t since_ns;
    uint32_t n = graph_n_nodes(plan_graph(plan));

    simulation.unknown_overlap = UNKNOWN_ALLOW;
    must(simulate(plan, &simulation, &result, &err), &err);
    settings.contention = contention_name(simulation.contention);
    must(chain_find(plan_binding(plan), result.timeline, &links, &settings.n_links, &err), &err);
    settings.links = links;
    since_ns = cpu_clock_ns();
    must(modes_find(plan_binding(plan), result.timeline, &settings, report, &err), &err);
    cost = (struct cost){(double)result.cpu_ns / n, (double)result.details_cpu_ns / n,
                         (double)(cpu_clock_ns() - since_ns) / n, report_count(report),
                         result.timeline->status};
    report_free(report);
    free(links);
    timeline_free(result.timeline);
    free(result.explanation);
    return cost;
}

static int by_looked(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;

    return (a->looked > b->looked) - (a->looked < b->looked);
}

static void bench(const char *name, struct graph *graph)
{
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct plan *plan;
    struct weir_error err;
    struct cost costs[ROUNDS], cost;

    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    for (int i = 0; i < ROUNDS; i++) {
        costs[i] = once(plan);
    }
    qsort(costs, ROUNDS, sizeof costs[0], by_looked);
    cost = costs[ROUNDS / 2];
    printf("%-44s %9" PRIu32 " %-9s %9.1f %9.1f %9.1f %8.1f %% %8" PRIu32 "\n", name,
           graph_n_nodes(graph), run_status_name(cost.status), cost.simulated, cost.written,
           cost.looked, 100 * cost.looked / (cost.simulated + cost.written), cost.n_found);
    plan_free(plan);
    report_free(report);
    graph_free(graph);
}

static void bench_layers(uint32_t width)
{
    struct layers layers = layers_make(1000000, width, 1);
    const int64_t huge = INT64_MAX / 4, scarce = (int64_t)width * (width > 100 ? 700000 : 800000);
    char name[64];

    (void)snprintf(name, sizeof name, "layers of %" PRIu32 ", edges only", width);
    bench(name, layers_graph(&layers, &(struct layers_options){false, huge, 1, false}));
    (void)snprintf(name, sizeof name, "layers of %" PRIu32 ", objects, scarce", width);
    bench(name, layers_graph(&layers, &(struct layers_options){true, scarce, 1, false}));
    layers_free(&layers);
}

int main(int argc, char **argv)
{
    printf("%-44s %9s %-9s %9s %9s %9s %10s %8s\n", "CPU ns a node", "nodes", "ended", "simulate",
           "details", "mistakes", "of both", "found");
    for (int i = 1; i < argc; i++) {
        struct report *report = report_new(5);
        struct graph *graph;
        struct weir_error err;

        must(graph_read(argv[i], report, &graph, &err), &err);
        report_free(report);
        bench(argv[i], graph);
    }
    if (argc < 2) {
        bench_layers(32);
        bench_layers(1024);
    }
    return 0;
}
