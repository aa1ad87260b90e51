/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What auditing and analyzing a large graph costs: CPU seconds and memory, for graphs with as many edges
 * a node as asked for, all of whose order is given (implied=none), so that each of their hazards is
 * looked for among the paths of edges. Three kinds: edges alone; with bytes, each node writes an object
 * that those behind it read; and the same where one node in eight also reads what was written two layers
 * before, to which no edge leads but a path.
 * Usage: audit_bench [NODES [EDGES_A_NODE]], 1000000 and 3 by default. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "graph/analyze.h"
#include "graph/check.h"
#include "tests/bench/layers.h"
#include "tests/bench/resident.h"
#include "tests/bench/rounds.h"

#define WIDTH 64 /* nodes in a layer */
#define ENGINES 8
#define OBJECT_BYTES 1000
#define QUESTIONS 1000000
#define GIB ((double)(1 << 30))

enum kind { EDGES, BYTES, PATHS, KINDS };

static const char *const kind_names[KINDS] = {"edges alone", "with bytes",
                                              "with bytes, paths to find"};

static weir_text text(struct graph *graph, char letter, uint32_t number)
{
    char name[16];
    weir_text out;
    struct weir_error err;

    (void)snprintf(name, sizeof name, "%c%" PRIu32, letter, number);
    must(graph_intern_text(graph, name, &out, &err), &err);
    return out;
}

static void add_machine(struct graph *graph)
{
    struct graph_domain domain = graph_domain_default;
    struct graph_engine engine = graph_engine_default;
    weir_domain domain_id;
    weir_engine engine_id;
    struct weir_error err;

    graph_set_head(graph, text(graph, 'g', 0), SCOPE_NONE, false, graph_evidence(graph));
    domain.name = text(graph, 'd', 0);
    domain.capacity_bytes = (int64_t)16 * WIDTH * OBJECT_BYTES; /* not for all at once */
    must(graph_add_domain(graph, &domain, &domain_id, &err), &err);
    for (uint32_t i = 0; i < ENGINES; i++) {
        engine.name = text(graph, 'e', i);
        must(graph_add_engine(graph, &engine, &engine_id, &err), &err);
    }
}

/* The producers of a node: in the layer before, one after another from a place that is drawn. With paths
 * to find there is also the node two layers before in the same column, which leads there through the one
 * between: it is read, and has no edge. */
static uint32_t producers_of(uint32_t node, uint32_t n_edges, struct random_stream *random,
                             uint32_t *out)
{
    uint32_t layer = node / WIDTH, first = (uint32_t)random_below(random, WIDTH);

    if (layer == 0) {
        return 0;
    }
    out[0] = node - WIDTH; /* so that a column is a chain */
    for (uint32_t i = 1; i < n_edges; i++) {
        out[i] = (layer - 1) * WIDTH + (first + i) % WIDTH;
        if (out[i] == out[0]) {
            out[i] = (layer - 1) * WIDTH + first;
        }
    }
    return n_edges;
}

static void add_node(struct graph *graph, enum kind kind, uint32_t i, const uint32_t *producers,
                     uint32_t n)
{
    struct graph_node node = graph_node_default;
    struct graph_access reads[16];
    int64_t length = 1000 + i % 977;
    weir_object object = {i};
    weir_node id;
    struct weir_error err;

    node.name = text(graph, 'n', i);
    node.engine.index = i % ENGINES;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &length, 1};
    if (kind != EDGES) {
        for (uint32_t j = 0; j < n; j++) {
            reads[j] = (struct graph_access){{producers[j]}, {WEIR_NONE}};
        }
        if (kind == PATHS && i % 8 == 0 && i >= 2 * WIDTH) {
            reads[n++] = (struct graph_access){{i - 2 * WIDTH}, {WEIR_NONE}};
        }
        node.reads = reads;
        node.n_reads = n;
        node.writes = &object;
        node.n_writes = 1;
    }
    must(graph_add_node(graph, &node, &id, &err), &err);
}

static struct graph *make(enum kind kind, uint32_t n_nodes, uint32_t n_edges)
{
    struct graph *graph = graph_new();
    struct graph_object object = graph_object_default;
    struct graph_edge edge = graph_edge_default;
    struct random_stream random;
    weir_object object_id;
    struct weir_error err;

    if (graph == NULL) {
        exit(EXIT_FAILURE);
    }
    add_machine(graph);
    random_seed(&random, 1, 0);
    for (uint32_t i = 0; i < n_nodes && kind != EDGES; i++) {
        object.name = text(graph, 'o', i);
        object.size_bytes = OBJECT_BYTES;
        must(graph_add_object(graph, &object, &object_id, &err), &err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t producers[16], n = producers_of(i, n_edges, &random, producers);

        add_node(graph, kind, i, producers, n);
        for (uint32_t j = 0; j < n; j++) {
            edge.producer.index = producers[j];
            edge.consumer.index = i;
            edge.type = EDGE_DATA_READY;
            must(graph_add_edge(graph, &edge, &err), &err);
        }
    }
    return graph;
}

static void tell(const char *what, int64_t begin_ns, int64_t before)
{
    printf("  %-34s %7.3f s", what, (double)(cpu_clock_ns() - begin_ns) / 1e9);
    if (resident_peak_bytes() > 0) {
        printf("  %6.3f GiB at most, %6.3f GiB above the graph",
               (double)resident_peak_bytes() / GIB, (double)(resident_peak_bytes() - before) / GIB);
    }
    printf("\n");
    (void)fflush(stdout);
}

static void audit(const struct graph *graph)
{
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    int64_t before = resident_bytes(), begin_ns;
    struct weir_error err;

    resident_reset_peak();
    begin_ns = cpu_clock_ns();
    must(check_graph(graph, report, &binding, &err), &err);
    tell("audit (weir check, without reading)", begin_ns, before);
    if (binding == NULL) {
        fprintf(stderr, "%s\n", report_finding(report, 0)->message);
        exit(EXIT_FAILURE);
    }
    bind_free(binding);
    report_free(report);
}

static void ask(const struct analysis *analysis, uint32_t n_nodes)
{
    struct analyze_order *order;
    struct random_stream random;
    struct weir_error err;
    int64_t before = resident_bytes(), begin_ns = cpu_clock_ns();
    uint32_t n_before = 0;

    resident_reset_peak();
    must(analyze_order_make(analysis, &order, &err), &err);
    tell("index of happens-before", begin_ns, before);
    random_seed(&random, 2, 0);
    begin_ns = cpu_clock_ns();
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        uint32_t first = (uint32_t)random_below(&random, n_nodes);
        uint32_t span = 1 + (uint32_t)random_below(&random, 8 * WIDTH);
        uint32_t second = first + span < n_nodes ? first + span : first;

        n_before += analyze_before(order, (weir_node){first}, (weir_node){second}) ? 1 : 0;
    }
    printf("  %-34s %7.3f us each, %.0f %% are before\n", "questions, up to 8 layers apart",
           (double)(cpu_clock_ns() - begin_ns) / 1e3 / QUESTIONS, 100.0 * n_before / QUESTIONS);
    begin_ns = cpu_clock_ns();
    for (uint32_t i = n_before = 0; i < QUESTIONS; i++) {
        weir_node first = {(uint32_t)random_below(&random, n_nodes)};
        weir_node second = {(uint32_t)random_below(&random, n_nodes)};

        n_before += analyze_before(order, first, second) ? 1 : 0;
    }
    printf("  %-34s %7.3f us each, %.0f %% are before\n", "questions, anywhere",
           (double)(cpu_clock_ns() - begin_ns) / 1e3 / QUESTIONS, 100.0 * n_before / QUESTIONS);
    analyze_order_free(order);
}

static void analyze_it(const struct graph *graph)
{
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    struct analysis analysis;
    struct analyze_progress progress;
    struct weir_error err;
    int64_t before, begin_ns;

    must(bind_graph(graph, report, &binding, &err), &err);
    report_free(report);
    before = resident_bytes();
    resident_reset_peak();
    begin_ns = cpu_clock_ns();
    must(analyze(binding, &analysis, &err), &err);
    tell("times", begin_ns, before);
    begin_ns = cpu_clock_ns();
    must(analyze_progress(&analysis, &progress, &err), &err);
    tell(progress.verdict == PROGRESS_FREE ? "proof of progress, which succeeds"
                                           : "proof of progress, which fails",
         begin_ns, before);
    ask(&analysis, graph_n_nodes(graph));
    analyze_free(&analysis);
    bind_free(binding);
}

int main(int argc, char **argv)
{
    uint32_t n_nodes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    uint32_t n_edges = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;

    if (n_nodes < 2 * WIDTH || n_edges < 1 || n_edges > 8) {
        fprintf(stderr, "usage: audit_bench [NODES [EDGES_A_NODE]], from %d nodes and 1 to 8\n",
                2 * WIDTH);
        return 2;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        struct graph *graph = make((enum kind)kind, n_nodes, n_edges);

        printf("%s: %" PRIu32 " nodes, %" PRIu32 " edges, %" PRIu32 " objects\n", kind_names[kind],
               graph_n_nodes(graph), graph_n_edges(graph), graph_n_objects(graph));
        audit(graph);
        analyze_it(graph);
        graph_free(graph);
    }
    return EXIT_SUCCESS;
}
