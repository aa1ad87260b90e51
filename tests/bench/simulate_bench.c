/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What simulating costs, beside the floor program on the same graph in the same run: nanoseconds of
 * CPU and bytes a node. Usage: simulate_bench [NODES [WIDTH [SLOTS [WORD]]]], 1000000 32 1
 * by default; WORD keeps the variants whose name holds it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/bench/layers.h"

#define ROUNDS 5

struct variant {
    const char *name;
    struct layers_options graph;
    struct simulate_options simulate;
};

static void must(enum weir_status status, const struct weir_error *err)
{
    if (status != WEIR_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit((int)status);
    }
}

static double median(double *values)
{
    for (int i = 1; i < ROUNDS; i++) {
        double moved = values[i];
        int at = i;

        for (; at > 0 && values[at - 1] > moved; at--) {
            values[at] = values[at - 1];
        }
        values[at] = moved;
    }
    return values[ROUNDS / 2];
}

static double floor_ns(const struct layers *layers, int64_t slots, int64_t *makespan_ns)
{
    int64_t *start = malloc(((size_t)layers->n_nodes + 1) * sizeof *start);
    int64_t *finish = malloc(((size_t)layers->n_nodes + 1) * sizeof *finish);
    double rounds[ROUNDS];

    memset(start, 0, layers->n_nodes * sizeof *start);
    memset(finish, 0, layers->n_nodes * sizeof *finish);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = cpu_clock_ns();

        *makespan_ns = floor_run(layers, slots, start, finish);
        rounds[i] = (double)(cpu_clock_ns() - begin_ns) / layers->n_nodes;
    }
    free(start);
    free(finish);
    return median(rounds);
}

static void bench(const struct layers *layers, const struct variant *variant, double floor_cost,
                  int64_t floor_makespan_ns)
{
    struct graph *graph = layers_graph(layers, &variant->graph);
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct plan *plan;
    struct weir_error err;
    double rounds[ROUNDS], bytes = 0;
    int64_t makespan_ns = 0, bind_ns = cpu_clock_ns();
    const char *status = "";

    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    bind_ns = cpu_clock_ns() - bind_ns;
    for (int i = 0; i < ROUNDS; i++) {
        struct simulate_result result;

        must(simulate(plan, &variant->simulate, &result, &err), &err);
        rounds[i] = (double)result.cpu_ns / layers->n_nodes;
        bytes = (double)result.memory_bytes / layers->n_nodes;
        makespan_ns = result.timeline->makespan_ns;
        status = run_status_name(result.timeline->status);
        timeline_free(result.timeline);
        free(result.explanation);
    }
    printf("%-34s %8.1f %7.2f %8.0f %8.1f   %s %" PRId64 "%s\n", variant->name, median(rounds),
           median(rounds) / floor_cost, bytes, (double)bind_ns / layers->n_nodes, status,
           makespan_ns, makespan_ns == floor_makespan_ns ? " = floor" : "");
    plan_free(plan);
    report_free(report);
    graph_free(graph);
}

int main(int argc, char **argv)
{
    uint32_t n_nodes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    uint32_t width = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32;
    int64_t slots = argc > 3 ? strtol(argv[3], NULL, 10) : 1, makespan_ns;
    struct layers layers = layers_make(n_nodes, width, 1);
    const int64_t huge = INT64_MAX / 4, tight = (int64_t)width * 1400000;
    const struct simulate_options bare = {CONTENTION_NONE, UNKNOWN_ALLOW, false, NULL, NULL};
    const struct simulate_options whole = {CONTENTION_NONE, UNKNOWN_ALLOW, true, NULL, NULL};
    const struct simulate_options pairs = {CONTENTION_PAIRWISE, UNKNOWN_ALLOW, false, NULL, NULL};
    const struct simulate_options share = {CONTENTION_SHARE, UNKNOWN_ALLOW, false, NULL, NULL};
    const struct variant variants[] = {
        {"edges only, spans", {false, huge, slots, false}, bare},
        {"objects, spans and peaks", {true, huge, slots, false}, bare},
        {"objects, tight, spans and peaks", {true, tight, slots, false}, bare},
        {"objects, tight, all details", {true, tight, slots, false}, whole},
        {"edges only, pairwise", {false, huge, slots, true}, pairs},
        {"objects, pairwise", {true, huge, slots, true}, pairs},
        {"edges only, share", {false, huge, slots, false}, share},
    };
    double floor_cost = floor_ns(&layers, slots, &makespan_ns);

    printf("%" PRIu32 " nodes, %" PRIu32 " edges, layers of %" PRIu32 ", %" PRId64
           " slots an engine; medians of %d rounds\n",
           n_nodes, layers.n_edges, width, slots, ROUNDS);
    printf("%-34s %8s %7s %8s %8s   %s\n", "", "CPU ns", "/floor", "bytes", "bind ns", "makespan");
    printf("%-34s %8.1f %7.2f %8s %8s   %" PRId64 "\n", "floor", floor_cost, 1.0, "-", "-",
           makespan_ns);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (argc > 4 && strstr(variants[i].name, argv[4]) == NULL) {
            continue;
        }
        bench(&layers, &variants[i], floor_cost, makespan_ns);
    }
    layers_free(&layers);
    return 0;
}
