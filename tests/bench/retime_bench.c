/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What timing a fixed order anew costs, beside the floor program on the same graph in the same run: CPU
 * a node of a pass, what it costs to compile the order, and how many edges are left of those that the
 * order has.
 *
 * Floors: `fifo` is the event loop of floor.c; `path` is the least that any pass must do: plain arrays,
 * in the same order, start = max of the finishes before.
 *
 * Usage: retime_bench [NODES [WIDTH [SLOTS]]]
 * Without arguments: 10^4 to 10^6 nodes, layers of 32 and of 1024. 10^7 nodes want 8 GB. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/retime.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

#define ROUNDS 7

/* Small graphs are passed through again and again, so that the clock has something to read. */
static uint32_t repeats(uint32_t n_nodes)
{
    return n_nodes >= 1000000 ? 1 : 1000000 / n_nodes;
}

/* --- the other floor --- */

/* The longest path over the same edges as the compiled order has, with finishes kept. */
static int64_t path(const struct retime *order, const int64_t *length_ns, int64_t *finish_ns)
{
    int64_t last_ns = 0;
    uint32_t at = 0;

    for (uint32_t p = 0; p < order->n_nodes; p++) {
        int64_t start_ns = 0;

        for (; at < order->first[p + 1]; at++) {
            int64_t end_ns = finish_ns[order->from[at]];

            start_ns = end_ns > start_ns ? end_ns : start_ns;
        }
        finish_ns[p] = start_ns + length_ns[p];
        last_ns = finish_ns[p] > last_ns ? finish_ns[p] : last_ns;
    }
    return last_ns;
}

/* --- the table --- */

struct figures {
    double path_ns, pass_ns, make_ns, edges_per_node;
};

static struct figures measure(const struct retime *order, const struct timeline *timeline)
{
    int64_t *length_ns = need(order->n_nodes, sizeof *length_ns);
    int64_t *start_ns = need(order->n_nodes, sizeof *start_ns);
    double paths[ROUNDS], passes[ROUNDS];
    struct figures figures = {.edges_per_node =
                                  (double)order->first[order->n_nodes] / order->n_nodes};
    uint32_t n = repeats(order->n_nodes);

    retime_lengths(order, timeline, length_ns);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = cpu_clock_ns(), sum = 0;

        for (uint32_t j = 0; j < n; j++) {
            length_ns[0]++; /* or it might all be done once */
            sum += path(order, length_ns, start_ns);
        }
        paths[i] = (double)(cpu_clock_ns() - begin_ns) / order->n_nodes / n;
        begin_ns = cpu_clock_ns();
        for (uint32_t j = 0; j < n; j++) {
            length_ns[0]--;
            sum -= retime_pass(order, length_ns, start_ns);
        }
        passes[i] = (double)(cpu_clock_ns() - begin_ns) / order->n_nodes / n;
        if (sum < 0 || retime_pass(order, length_ns, start_ns) != timeline->makespan_ns) {
            fprintf(stderr, "the pass and the simulation differ\n");
            exit(1);
        }
    }
    figures.path_ns = median(paths, ROUNDS);
    figures.pass_ns = median(passes, ROUNDS);
    free(length_ns);
    free(start_ns);
    return figures;
}

static void row(uint32_t n_nodes, uint32_t width, int64_t slots, const char *name,
                struct layers_options graph_options)
{
    struct layers layers = layers_make(n_nodes, width, 1);
    struct graph *graph = layers_graph(&layers, &graph_options);
    struct report *report = report_new(0);
    struct plan_options options = {0};
    struct simulate_options simulating = simulate_default();
    struct simulate_result result;
    struct plan *plan;
    struct retime order;
    struct figures figures;
    struct weir_error err;
    int64_t floor_makespan_ns;
    double fifo = floor_ns(&layers, slots, ROUNDS, &floor_makespan_ns);
    int64_t begin_ns;

    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    must(simulate(plan, &simulating, &result, &err), &err);
    begin_ns = cpu_clock_ns();
    must(retime_make(plan_binding(plan), result.timeline, &simulating, &order, &err), &err);
    begin_ns = cpu_clock_ns() - begin_ns;
    figures = measure(&order, result.timeline);
    printf("%9" PRIu32 " %5" PRIu32 " %5" PRId64 "  %-7s %7.1f %7.1f %7.1f %7.2f %7.2f %8.0f\n",
           n_nodes, width, slots, name, fifo, figures.path_ns, figures.pass_ns,
           figures.pass_ns / figures.path_ns, figures.edges_per_node, (double)begin_ns / n_nodes);
    retime_free(&order);
    timeline_free(result.timeline);
    free(result.explanation);
    plan_free(plan);
    report_free(report);
    graph_free(graph);
    layers_free(&layers);
}

static void rows(uint32_t n_nodes, uint32_t width, int64_t slots)
{
    struct layers_options plain = {.slots = slots, .capacity_bytes = INT64_MAX / 4};
    struct layers_options bytes = plain, tight = plain;

    row(n_nodes, width, slots, "plain", plain);
    bytes.has_bytes = tight.has_bytes = true;
    row(n_nodes, width, slots, "bytes", bytes);
    tight.capacity_bytes = (int64_t)width * (width > 100 ? 700000 : 800000);
    row(n_nodes, width, slots, "tight", tight);
}

int main(int argc, char **argv)
{
    printf("%9s %5s %5s  %-7s %7s %7s %7s %7s %7s %8s\n", "nodes", "width", "slots", "graph",
           "fifo", "path", "pass", "ratio", "edges", "compile");
    printf("%9s %5s %5s  %-7s %7s %7s %7s %7s %7s %8s\n", "", "", "", "", "ns/node", "ns/node",
           "ns/node", "to path", "a node", "ns/node");
    if (argc > 1) {
        rows((uint32_t)strtoul(argv[1], NULL, 10),
             argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32,
             argc > 3 ? strtol(argv[3], NULL, 10) : 1);
        return 0;
    }
    for (uint32_t n_nodes = 10000; n_nodes <= 1000000; n_nodes *= 10) {
        rows(n_nodes, 32, 1);
        rows(n_nodes, 1024, 166);
    }
    return 0;
}
