/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explaining a run costs, beside simulating it in the same run: CPU a node of each part, all of
 * them together as a multiple of the simulation, and the most memory that the program had.
 *
 * Usage: explain_bench [NODES [WIDTH [SLOTS [WORD]]]]
 * Without arguments: graphs of 10^5 and 10^6 nodes, of layers of 32 and of 1024, without and with bytes
 * that are scarce. 10^7 nodes want 3 GB without and 9 GB with bytes, nearly all of it graph, timeline and
 * simulation. WORD keeps the variants whose name holds it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "graph/analyze.h"
#include "judge/chain.h"
#include "judge/gave_way.h"
#include "judge/makeup.h"
#include "judge/pressure.h"
#include "judge/sweep.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

#define ROUNDS 5

enum part {
    PART_INDEX,
    PART_CHAIN,
    PART_MAKEUP,
    PART_SWEEP,
    PART_PRESSURE,
    PART_FALLBACKS,
    PART_BOUNDS, /* of weir explain alone */
    PARTS
};

static const char *const names[PARTS] = {
    "what bound each start",         "critical chain", "what it is made of",
    "stalls, overlap, kappa, waits", "pressure",       "fallbacks",
    "bounds (by weir explain alone)"};

/* CPU time since the last call. */
static double lap(int64_t *since_ns, uint32_t n_nodes)
{
    int64_t now_ns = cpu_clock_ns();
    double taken = (double)(now_ns - *since_ns) / n_nodes;

    *since_ns = now_ns;
    return taken;
}

static void explain(const struct plan *plan, const struct timeline *timeline, double cost[PARTS])
{
    const struct graph *graph = plan_graph(plan);
    const struct waiting_options options = {1000000, 10};
    uint32_t n = timeline->n_nodes;
    struct bound_index *index;
    struct run_link *links;
    struct makeup makeup;
    struct stalls stalls;
    struct overlaps overlaps;
    struct pressure_domain *domains;
    struct waiting waiting;
    struct gave_way *ways;
    struct analysis analysis;
    struct analyze_bounds bounds;
    size_t n_links, n_ways;
    struct weir_error err;
    int64_t since_ns = cpu_clock_ns();

    must(bound_index_make(plan_binding(plan), timeline, false, &index, &err), &err);
    cost[PART_INDEX] = lap(&since_ns, n);
    must(chain_walk(index, &links, &n_links, &err), &err);
    cost[PART_CHAIN] = lap(&since_ns, n);
    must(makeup_find(index, links, n_links, &makeup, &err), &err);
    cost[PART_MAKEUP] = lap(&since_ns, n);
    must(sweep_find(index, &options, &stalls, &overlaps, &waiting, &err), &err);
    cost[PART_SWEEP] = lap(&since_ns, n);
    must(pressure_find(graph, timeline, &domains, &err), &err);
    cost[PART_PRESSURE] = lap(&since_ns, n);
    must(gave_way_find(graph, timeline, &ways, &n_ways, &err), &err);
    cost[PART_FALLBACKS] = lap(&since_ns, n);
    must(analyze(plan_binding(plan), &analysis, &err), &err);
    must(analyze_bounds(&analysis, &bounds, &err), &err);
    cost[PART_BOUNDS] = lap(&since_ns, n);
    analyze_bounds_free(&bounds);
    analyze_free(&analysis);
    free(ways);
    waiting_free(&waiting);
    free(domains);
    overlaps_free(&overlaps);
    stalls_free(&stalls);
    makeup_free(&makeup);
    free(links);
    bound_index_free(index);
}

static void bench(const char *name, const struct layers *layers, struct layers_options of)
{
    struct graph *graph = layers_graph(layers, &of);
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct simulate_options simulation = simulate_default();
    struct plan *plan;
    struct weir_error err;
    double simulated[ROUNDS], written[ROUNDS], costs[PARTS][ROUNDS], sum = 0;
    struct rusage usage;

    simulation.unknown_overlap = UNKNOWN_ALLOW;
    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    for (int i = 0; i < ROUNDS; i++) {
        struct simulate_result result;
        double cost[PARTS];

        must(simulate(plan, &simulation, &result, &err), &err);
        simulated[i] = (double)result.cpu_ns / layers->n_nodes;
        written[i] = (double)result.details_cpu_ns / layers->n_nodes;
        explain(plan, result.timeline, cost);
        for (int p = 0; p < PARTS; p++) {
            costs[p][i] = cost[p];
        }
        timeline_free(result.timeline);
        free(result.explanation);
    }
    printf("%s\n  %-34s %8.1f\n  %-34s %8.1f\n", name, "simulation", median(simulated, ROUNDS),
           "its waits, holds, pressure", median(written, ROUNDS));
    for (int p = 0; p < PARTS; p++) {
        printf("  %-34s %8.1f\n", names[p], median(costs[p], ROUNDS));
        sum += p == PART_BOUNDS ? 0 : median(costs[p], ROUNDS);
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("  %-34s %8.1f   %.2f of the simulation, %.2f with what it writes; %.0f bytes a node "
           "at most\n",
           "all explanations but bounds", sum, sum / median(simulated, ROUNDS),
           sum / (median(simulated, ROUNDS) + median(written, ROUNDS)),
           (double)usage.ru_maxrss * 1024 / layers->n_nodes);
    plan_free(plan);
    report_free(report);
    graph_free(graph);
}

static void table(uint32_t n_nodes, uint32_t width, int64_t slots, const char *word)
{
    struct layers layers = layers_make(n_nodes, width, 1);
    const int64_t huge = INT64_MAX / 4, scarce = (int64_t)width * (width > 100 ? 700000 : 800000);

    printf("%" PRIu32 " nodes, %" PRIu32 " edges, layers of %" PRIu32 ", %" PRId64
           " slots an engine; CPU ns a node, medians of %d rounds\n",
           n_nodes, layers.n_edges, width, slots, ROUNDS);
    if (strstr("edges only", word) != NULL) {
        bench("edges only", &layers, (struct layers_options){false, huge, slots, false});
    }
    if (strstr("objects, scarce", word) != NULL) {
        bench("objects, scarce", &layers, (struct layers_options){true, scarce, slots, false});
    }
    putchar('\n');
    layers_free(&layers);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        table((uint32_t)strtoul(argv[1], NULL, 10),
              argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32,
              argc > 3 ? strtol(argv[3], NULL, 10) : 1, argc > 4 ? argv[4] : "");
        return 0;
    }
    for (uint32_t n_nodes = 100000; n_nodes <= 1000000; n_nodes *= 10) {
        table(n_nodes, 32, 1, "");
        table(n_nodes, 32, 6, "");
        table(n_nodes, 1024, 166, "");
    }
    return 0;
}
