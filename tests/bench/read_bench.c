/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading, binding, auditing and checking cost: nanoseconds of CPU and bytes a node, how they
 * grow, and their ratio to two floors on the same text in the same run: one only splits it into
 * words, one gives ids to its names too.
 * Usage: read_bench [NODES ...], 10000 100000 1000000 by default. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/bind.h"
#include "graph/check.h"
#include "graph/text.h"
#include "tests/bench/layers.h"
#include "tests/bench/resident.h"
#include "tests/bench/rounds.h"
#include "tests/bench/texts.h"

#define MOST_ROUNDS 5

struct shape {
    const char *name;
    struct text (*make)(uint32_t n_nodes);
};

/* Rounds for about as many nodes in all, whatever the size. */
static int rounds_of(uint32_t n_nodes)
{
    return n_nodes > 3000000 ? 1 : MOST_ROUNDS;
}

/* The least of some rounds, since what else the machine does only adds. */
#define LEAST_NS(best, n_nodes, work)                                 \
    do {                                                              \
        for (int round_ = 0; round_ < rounds_of(n_nodes); round_++) { \
            int64_t begin_ns_ = cpu_clock_ns();                       \
            double took_;                                             \
            work;                                                     \
            took_ = (double)(cpu_clock_ns() - begin_ns_) / (n_nodes); \
            (best) = round_ == 0 || took_ < (best) ? took_ : (best);  \
        }                                                             \
    } while (0)

static struct graph *read_it(const struct text *text)
{
    struct report *report = report_new(50);
    struct graph *graph = NULL;
    struct weir_error err;

    must(graph_read_text(text->bytes, text->length, "bench", report, &graph, &err), &err);
    report_free(report);
    return graph;
}

static struct binding *bind_it(const struct graph *graph)
{
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    struct weir_error err;

    must(bind_graph(graph, report, &binding, &err), &err);
    report_free(report);
    return binding;
}

static void check_it(const struct graph *graph)
{
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    struct weir_error err;

    must(check_graph(graph, report, &binding, &err), &err);
    bind_free(binding);
    report_free(report);
}

static struct graph *expand_it(const struct graph *graph)
{
    struct binding *binding = bind_it(graph);
    struct graph *expanded = NULL;
    struct weir_error err;

    must(bind_expand(binding, &expanded, &err), &err);
    bind_free(binding);
    return expanded;
}

/* What stays of a step's memory and what it took at most, by node. */
struct weight {
    double stays, peak;
};

static struct weight weight_since(int64_t before, uint32_t n_nodes)
{
    return (struct weight){(double)(resident_bytes() - before) / n_nodes,
                           (double)(resident_peak_bytes() - before) / n_nodes};
}

static struct weight weigh_read(const struct text *text, uint32_t n_nodes)
{
    int64_t before = resident_bytes();
    struct weight weight;
    struct graph *graph;

    resident_reset_peak();
    graph = read_it(text);
    weight = weight_since(before, n_nodes);
    graph_free(graph);
    return weight;
}

static struct weight weigh_bind(const struct graph *graph, uint32_t n_nodes)
{
    int64_t before = resident_bytes();
    struct weight weight;
    struct binding *binding;

    resident_reset_peak();
    binding = bind_it(graph);
    weight = weight_since(before, n_nodes);
    bind_free(binding);
    return weight;
}

static void tell(const char *what, uint32_t n_nodes, double ns, double before_ns, double floor_ns)
{
    printf("  %-24s %9" PRIu32 " %8.1f", what, n_nodes, ns);
    if (before_ns > 0) {
        printf(" %7.2f", ns / before_ns);
    } else {
        printf(" %7s", "-");
    }
    printf(" %7.2f\n", ns / floor_ns);
}

enum step { WORDS, NAMES, READ, BIND, CHECK, AUDIT, STEPS };

static const char *const step_names[STEPS] = {
    "floor: words", "floor: words, names", "read",
    "bind",         "check, bind too",     "bind, implied=none, audit",
};

static void bench(const struct shape *shape, uint32_t n_nodes, double ns[STEPS])
{
    struct text text = shape->make(n_nodes);
    size_t found = 0;
    double before[STEPS], bytes = (double)text.length / n_nodes;
    struct weight read, bound;
    struct graph *graph = NULL, *expanded;

    for (int i = 0; i < STEPS; i++) {
        before[i] = ns[i];
    }
    read = weigh_read(&text, n_nodes);
    LEAST_NS(ns[WORDS], n_nodes, found += floor_words(&text));
    LEAST_NS(ns[NAMES], n_nodes, found += floor_names(&text));
    LEAST_NS(ns[READ], n_nodes, graph_free(graph); graph = read_it(&text));
    if (found == 0) { /* so that the floors are not idle */
        exit(EXIT_FAILURE);
    }
    free(text.bytes);
    bound = weigh_bind(graph, n_nodes);
    LEAST_NS(ns[BIND], n_nodes, bind_free(bind_it(graph)));
    LEAST_NS(ns[CHECK], n_nodes, check_it(graph));
    expanded = expand_it(graph);
    LEAST_NS(ns[AUDIT], n_nodes, bind_free(bind_it(expanded)));
    for (int i = 0; i < STEPS; i++) {
        tell(step_names[i], n_nodes, ns[i], before[i], ns[NAMES]);
    }
    printf("  bytes a node: text %.1f, graph %.1f (resident %.1f, peak %.1f), binding %.1f (peak "
           "%.1f)\n",
           bytes, (double)graph_memory_bytes(graph) / n_nodes, read.stays, read.peak, bound.stays,
           bound.peak);
    graph_free(expanded);
    graph_free(graph);
}

int main(int argc, char **argv)
{
    static const struct shape shapes[] = {
        {"layers of 32 nodes, a node and 2.5 edges", text_edges},
        {"layers of 32 nodes, an object and a node that reads 2.5 and writes it", text_objects},
        {"as from a trace: an object, a node with two reads and evidence, an edge", text_trace},
    };
    static const char *const sizes[] = {"10000", "100000", "1000000"};
    const char *const *list = argc > 1 ? (const char *const *)argv + 1 : sizes;
    int n_sizes = argc > 1 ? argc - 1 : 3;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double ns[STEPS] = {0};

        printf("%s\n  %-24s %9s %8s %7s %7s\n", shapes[i].name, "", "nodes", "CPU ns", "growth",
               "/names");
        for (int j = 0; j < n_sizes; j++) {
            bench(&shapes[i], (uint32_t)strtoul(list[j], NULL, 10), ns);
        }
    }
    return EXIT_SUCCESS;
}
