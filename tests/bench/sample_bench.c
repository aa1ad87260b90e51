/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many samples a second a core times: of layers in which every node has a lognormal duration, in a
 * fixed order and with dispatch, on one thread and on two; and what a draw costs, by distribution.
 * Samples a second are counted in CPU time (a core) and in real time (which other work on the machine
 * lengthens).
 *
 * Usage: sample_bench [NODES [WIDTH [SLOTS]]]     (10000, 32, 1) */
#include "sim/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policies/registry.h"
#include "sim/sampling.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

static int64_t real_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Every node takes what it took on average, with a deviation of a fifth. */
static void spread(struct graph *graph, enum distribution_kind kind)
{
    struct weir_error err;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node value;
        int64_t mean_ns, values_ns[2];

        graph_node(graph, (weir_node){i}, &value);
        if (!graph_node_length_ns(graph, (weir_node){i}, &mean_ns)) {
            continue;
        }
        values_ns[0] = kind == DISTRIBUTION_UNIFORM ? mean_ns / 2 : mean_ns;
        values_ns[1] = kind == DISTRIBUTION_UNIFORM ? mean_ns + mean_ns / 2 : mean_ns / 5;
        value.has_duration = true;
        value.duration = (struct graph_duration){kind, values_ns, 2};
        must(graph_set_node(graph, (weir_node){i}, &value, &err), &err);
    }
}

/* --- draws ------------------------------------------------------------------------------------ */

static void draw_row(const struct layers *layers, int64_t slots, enum distribution_kind kind)
{
    struct graph *graph = layers_graph(
        layers, &(struct layers_options){.slots = slots, .capacity_bytes = INT64_MAX / 4});
    int64_t *length_ns = malloc(((size_t)layers->n_nodes + 1) * sizeof *length_ns), begin_ns;
    uint32_t rounds = 3000000 / layers->n_nodes + 1;
    struct sampler_source *source = sampler_source_new();
    struct sampler *sampler;
    struct weir_error err;

    spread(graph, kind);
    must(sampler_new(graph, NULL, layers->n_nodes, &sampler, &err), &err);
    sampler_fill(sampler, length_ns);
    begin_ns = cpu_clock_ns();
    for (uint32_t i = 0; i < rounds; i++) {
        sampler_draw(sampler, source, 1, i, length_ns);
    }
    printf("  %-10s %6.1f ns a draw\n", distribution_name(kind),
           (double)(cpu_clock_ns() - begin_ns) / rounds / layers->n_nodes);
    sampler_free(sampler);
    sampler_source_free(source);
    free(length_ns);
    graph_free(graph);
}

/* --- samples ---------------------------------------------------------------------------------- */

static void sample_row(const char *name, const struct plan *plan, struct sampling_options options)
{
    struct sampling sampling;
    struct weir_error err;
    int64_t cpu_ns = cpu_clock_ns(), real_ns = real_clock_ns();

    must(sampling_run(plan, &options, &sampling, &err), &err);
    cpu_ns = cpu_clock_ns() - cpu_ns;
    real_ns = real_clock_ns() - real_ns;
    printf("  %-12s %7" PRIu32 " %8" PRIu32 " %14.0f %14.0f %9.1f\n", name, options.n_threads,
           options.n_samples, options.n_samples * 1e9 / (double)cpu_ns,
           options.n_samples * 1e9 / (double)real_ns,
           (double)cpu_ns / options.n_samples / graph_n_nodes(plan_graph(plan)));
    sampling_free(&sampling);
}

static void sample_rows(const struct layers *layers, int64_t slots)
{
    struct graph *graph = layers_graph(
        layers, &(struct layers_options){
                    .has_bytes = true, .slots = slots, .capacity_bytes = INT64_MAX / 4});
    struct sampling_options options = {.seed = 1, .simulate = simulate_default(), .given = graph};
    struct report *report = report_new(0);
    struct simulate_result mean;
    struct plan *plan;
    struct weir_error err;

    spread(graph, DISTRIBUTION_LOGNORMAL);
    must(policy_find("retain", &options.planning.policy, &err), &err);
    must(plan_make(graph, &options.planning, report, &plan, &err), &err);
    must(simulate(plan, &options.simulate, &mean, &err), &err);
    printf("  %-12s %7s %8s %14s %14s %9s\n", "order", "threads", "samples", "a second,core",
           "a second,real", "ns/node");
    for (uint32_t threads = 1; threads <= 2; threads++) {
        options.n_threads = threads;
        options.n_samples = 30000000 / layers->n_nodes + 1;
        options.fixed_order = mean.timeline;
        sample_row("fixed", plan, options);
        options.n_samples = 5000000 / layers->n_nodes + 1;
        options.fixed_order = NULL;
        sample_row("by dispatch", plan, options);
    }
    timeline_free(mean.timeline);
    plan_free(plan);
    report_free(report);
    graph_free(graph);
}

int main(int argc, char **argv)
{
    uint32_t n_nodes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    uint32_t width = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32;
    int64_t slots = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    struct layers layers = layers_make(n_nodes, width, 1);

    printf("%" PRIu32 " nodes in layers of %" PRIu32 ", %" PRId64 " slots an engine\n", n_nodes,
           width, slots);
    draw_row(&layers, slots, DISTRIBUTION_NORMAL);
    draw_row(&layers, slots, DISTRIBUTION_LOGNORMAL);
    draw_row(&layers, slots, DISTRIBUTION_GAMMA);
    draw_row(&layers, slots, DISTRIBUTION_UNIFORM);
    sample_rows(&layers, slots);
    layers_free(&layers);
    return 0;
}
