/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What simulating costs, beside the floor program on the same graph in the same run: CPU and memory
 * a node, of the simulation alone, of the details that are written after it (waits, holds, pressure,
 * induced edges), and of the plan before it.
 *
 * Usage: simulate_bench [NODES [WIDTH [SLOTS [WORD]]]]
 * Without arguments: graphs of 10^4 to 10^6 nodes, of layers of 32 with 6 and with about 34 nodes
 * running, and of layers of 1024 with about 1000 running. 10^7 nodes want 10 GB. WORD keeps the
 * variants whose name holds it.
 *
 * Last, without arguments or with `turns [NODES]`, nodes that are all ready and must not overlap: what
 * one of them costs should hardly grow with their number. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"
#include "tests/bench/turns.h"

#define ROUNDS 5

struct variant {
    const char *name;
    struct layers_options graph;
    struct simulate_options simulate;
};

struct cost {
    double ns, details_ns, bytes, plan_ns; /* a node */
    const char *status;
    int64_t makespan_ns;
};

static struct cost measure(const struct graph *graph, const struct simulate_options *simulated)
{
    const double n_nodes = graph_n_nodes(graph);
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct plan *plan;
    struct weir_error err;
    double rounds[ROUNDS], details[ROUNDS];
    int64_t plan_ns = cpu_clock_ns();
    struct cost cost = {.status = ""};

    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    cost.plan_ns = (double)(cpu_clock_ns() - plan_ns) / n_nodes;
    for (int i = 0; i < ROUNDS; i++) {
        struct simulate_result result;

        must(simulate(plan, simulated, &result, &err), &err);
        rounds[i] = (double)result.cpu_ns / n_nodes;
        details[i] = (double)result.details_cpu_ns / n_nodes;
        cost.bytes = (double)result.memory_bytes / n_nodes;
        cost.makespan_ns = result.timeline->makespan_ns;
        cost.status = run_status_name(result.timeline->status);
        timeline_free(result.timeline);
        free(result.explanation);
    }
    cost.ns = median(rounds, ROUNDS);
    cost.details_ns = median(details, ROUNDS);
    plan_free(plan);
    report_free(report);
    return cost;
}

static void bench(const struct layers *layers, const struct variant *variant, double floor_cost,
                  int64_t floor_makespan_ns)
{
    struct graph *graph = layers_graph(layers, &variant->graph);
    struct cost cost = measure(graph, &variant->simulate);

    printf("%-34s %8.1f %7.2f %8.1f %8.0f %8.1f   %s %" PRId64 "%s\n", variant->name, cost.ns,
           cost.ns / floor_cost, cost.details_ns, cost.bytes, cost.plan_ns, cost.status,
           cost.makespan_ns, cost.makespan_ns == floor_makespan_ns ? " = floor" : "");
    graph_free(graph);
}

static struct simulate_options options_of(enum contention contention, bool keeps_details)
{
    struct simulate_options options = simulate_default();

    options.contention = contention;
    options.unknown_overlap = UNKNOWN_ALLOW;
    options.keeps_details = keeps_details;
    return options;
}

static void table(uint32_t n_nodes, uint32_t width, int64_t slots, const char *word)
{
    struct layers layers = layers_make(n_nodes, width, 1);
    const int64_t huge = INT64_MAX / 4, scarce = (int64_t)width * (width > 100 ? 700000 : 800000);
    const struct simulate_options bare = options_of(CONTENTION_NONE, false);
    const struct simulate_options whole = options_of(CONTENTION_NONE, true);
    const struct simulate_options pairs = options_of(CONTENTION_PAIRWISE, false);
    const struct simulate_options share = options_of(CONTENTION_SHARE, false);
    const struct variant variants[] = {
        {"edges only", {false, huge, slots, false}, bare},
        {"edges only, with details", {false, huge, slots, false}, whole},
        {"objects", {true, huge, slots, false}, bare},
        {"objects, with details", {true, huge, slots, false}, whole},
        {"objects, scarce, with details", {true, scarce, slots, false}, whole},
        {"edges only, pairwise", {false, huge, slots, true}, pairs},
        {"objects, pairwise", {true, huge, slots, true}, pairs},
        {"edges only, share", {false, huge, slots, false}, share},
    };
    int64_t makespan_ns;
    double floor_cost = floor_ns(&layers, slots, ROUNDS, &makespan_ns);

    printf("%" PRIu32 " nodes, %" PRIu32 " edges, layers of %" PRIu32 ", %" PRId64
           " slots an engine; medians of %d rounds\n",
           n_nodes, layers.n_edges, width, slots, ROUNDS);
    printf("%-34s %8s %7s %8s %8s %8s   %s\n", "", "CPU ns", "/floor", "details", "bytes",
           "plan ns", "makespan");
    printf("%-34s %8.1f %7.2f %8s %8s %8s   %" PRId64 "\n", "floor", floor_cost, 1.0, "-", "-", "-",
           makespan_ns);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (strstr(variants[i].name, word) != NULL) {
            bench(&layers, &variants[i], floor_cost, makespan_ns);
        }
    }
    putchar('\n');
    layers_free(&layers);
}

/* The same shape with ten times as many nodes, and again, beside the smallest. */
static void turns(uint32_t n_most)
{
    static const struct {
        const char *name;
        struct turns_options graph;
    } variants[] = {{"one engine", {1, false}},
                    {"one engine, objects", {1, true}},
                    {"16 engines", {16, false}},
                    {"16 engines, objects", {16, true}}};
    const struct simulate_options whole = options_of(CONTENTION_NONE, true);

    printf("ready nodes of which no two may overlap, with details; medians of %d rounds\n", ROUNDS);
    printf("%-34s %8s %8s %8s %8s %8s\n", "", "nodes", "CPU ns", "/least", "details", "bytes");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        double least_ns = 0;

        for (uint32_t n_nodes = 10000; n_nodes <= n_most; n_nodes *= 10) {
            struct graph *graph = turns_graph(n_nodes, &variants[i].graph);
            struct cost cost = measure(graph, &whole);

            least_ns = n_nodes == 10000 ? cost.ns : least_ns;
            printf("%-34s %8" PRIu32 " %8.1f %8.2f %8.1f %8.0f   %s\n", variants[i].name, n_nodes,
                   cost.ns, cost.ns / least_ns, cost.details_ns, cost.bytes, cost.status);
            graph_free(graph);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "turns") == 0) {
        turns(argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000);
        return 0;
    }
    if (argc > 1) {
        table((uint32_t)strtoul(argv[1], NULL, 10),
              argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32,
              argc > 3 ? strtol(argv[3], NULL, 10) : 1, argc > 4 ? argv[4] : "");
        return 0;
    }
    for (uint32_t n_nodes = 10000; n_nodes <= 1000000; n_nodes *= 10) {
        table(n_nodes, 32, 1, "");
        table(n_nodes, 32, 6, "");
        table(n_nodes, 1024, 166, "");
    }
    turns(1000000);
    return 0;
}
