/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it costs to tell what every node is worth in fixed order, beside one pass of timing over the same
 * order in the same run; with nodes that are all critical (one slot an engine: n log n), and with few
 * that are. What trying each node alone would take is as many passes as there are nodes: up to 10^4
 * nodes that is done, and the answers are compared.
 * Usage: worth_bench [NODES [WIDTH [SLOTS]]]; 10^4 to 10^6 nodes by default. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/worth.h"
#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

#define ROUNDS 5
#define TRIED_MOST 10000

/* An order with its lengths, and room for starts. */
struct timed {
    struct retime retime;
    int64_t *length_ns, *start_ns;
};

static void time_order(const struct graph *graph, struct timed *out)
{
    struct plan_options planning = {0};
    struct simulate_options options = simulate_default();
    struct simulate_result result;
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;

    options.keeps_details = true;
    must(policy_find("retain", &planning.policy, &err), &err);
    must(plan_make(graph, &planning, report, &plan, &err), &err);
    must(simulate(plan, &options, &result, &err), &err);
    must(retime_make(plan_binding(plan), result.timeline, &options, &out->retime, &err), &err);
    out->length_ns = need(out->retime.n_nodes, sizeof *out->length_ns);
    out->start_ns = need(out->retime.n_nodes, sizeof *out->start_ns);
    retime_lengths(&out->retime, result.timeline, out->length_ns);
    timeline_free(result.timeline);
    free(result.explanation);
    plan_free(plan);
    report_free(report);
}

static double pass_ns(const struct timed *timed)
{
    double rounds[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = cpu_clock_ns();

        (void)retime_pass(&timed->retime, timed->length_ns, timed->start_ns);
        rounds[i] = (double)(cpu_clock_ns() - begin_ns);
    }
    return median(rounds, ROUNDS);
}

static double worth_ns(const struct timed *timed, struct worth *worth)
{
    double rounds[ROUNDS];
    struct weir_error err;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = cpu_clock_ns();

        worth_free(worth);
        must(worth_find(&timed->retime, timed->length_ns, worth, &err), &err);
        rounds[i] = (double)(cpu_clock_ns() - begin_ns);
    }
    return median(rounds, ROUNDS);
}

/* CPU time of trying each node alone; exits when an answer is another. */
static double each_alone_ns(const struct timed *timed, const struct worth *worth)
{
    int64_t begin_ns = cpu_clock_ns();

    for (uint32_t p = 0; p < timed->retime.n_nodes; p++) {
        int64_t length_ns = timed->length_ns[p], end_ns;

        timed->length_ns[p] = 0;
        end_ns = retime_pass(&timed->retime, timed->length_ns, timed->start_ns);
        timed->length_ns[p] = length_ns;
        if (end_ns != worth->makespan_ns - worth->saves_ns[p]) {
            fprintf(stderr,
                    "position %" PRIu32 ": it ends at %" PRId64 ", and was to save %" PRId64 "\n",
                    p, end_ns, worth->saves_ns[p]);
            exit(1);
        }
    }
    return (double)(cpu_clock_ns() - begin_ns);
}

static void row(uint32_t n_nodes, uint32_t width, int64_t slots)
{
    struct layers layers = layers_make(n_nodes, width, 1);
    const struct layers_options options = {true, INT64_MAX / 4, slots, false};
    struct graph *graph = layers_graph(&layers, &options);
    struct worth worth = {.makespan_ns = 0};
    struct timed timed;
    double pass, all;
    uint32_t n_saving = 0;

    time_order(graph, &timed);
    pass = pass_ns(&timed);
    all = worth_ns(&timed, &worth);
    for (uint32_t p = 0; p < timed.retime.n_nodes; p++) {
        n_saving += worth.saves_ns[p] > 0;
    }
    printf("%8" PRIu32 " %6" PRIu32 " %6" PRId64 " %9" PRIu32 " %9.1f %9.1f %7.1f", n_nodes, width,
           slots, n_saving, pass / n_nodes, all / n_nodes, all / pass);
    if (n_nodes <= TRIED_MOST) {
        printf(" %12.0f\n", each_alone_ns(&timed, &worth) / all);
    } else {
        printf(" %12s\n", "-");
    }
    worth_free(&worth);
    retime_free(&timed.retime);
    free(timed.length_ns);
    free(timed.start_ns);
    graph_free(graph);
    layers_free(&layers);
}

int main(int argc, char **argv)
{
    printf("CPU ns a node, medians of %d rounds\n%8s %6s %6s %9s %9s %9s %7s %12s\n", ROUNDS,
           "nodes", "width", "slots", "saving", "a pass", "all worth", "ratio", "alone/all");
    if (argc > 1) {
        row((uint32_t)strtoul(argv[1], NULL, 10),
            argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32,
            argc > 3 ? strtol(argv[3], NULL, 10) : 1);
        return 0;
    }
    for (uint32_t n_nodes = 10000; n_nodes <= 1000000; n_nodes *= 10) {
        row(n_nodes, 32, 1);
        row(n_nodes, 32, 6);
        row(n_nodes, 1024, 166);
    }
    return 0;
}
