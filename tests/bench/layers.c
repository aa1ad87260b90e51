/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing the layers, and the graph that says the same. */
#include "tests/bench/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "tests/bench/rounds.h"

static void draw_before(struct layers *layers, struct random_stream *random, uint32_t node)
{
    uint32_t layer = node / layers->width, want = 2 + (uint32_t)random_below(random, 2);
    uint32_t *before = layers->before + 3 * (size_t)node, n = 0;

    want = want > layers->width ? layers->width : want;
    while (layer > 0 && n < want) {
        uint32_t drawn =
            (layer - 1) * layers->width + (uint32_t)random_below(random, layers->width);
        bool is_new = true;

        for (uint32_t i = 0; i < n; i++) {
            is_new = is_new && before[i] != drawn;
        }
        if (is_new) {
            before[n++] = drawn;
        }
    }
    layers->n_before[node] = (uint8_t)n;
}

static void draw_node(struct layers *layers, struct random_stream *random, uint32_t node)
{
    bool is_copy = (node / layers->width) % 2 == 1;

    layers->engine[node] =
        (uint8_t)(is_copy ? LAYERS_COMPUTE + random_below(random, LAYERS_ENGINES - LAYERS_COMPUTE)
                          : random_below(random, LAYERS_COMPUTE));
    layers->length_ns[node] = 1000 + (int64_t)random_below(random, is_copy ? 499000 : 999000);
    draw_before(layers, random, node);
}

static void link_nodes(struct layers *layers)
{
    uint32_t *at;

    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        for (uint32_t j = 0; j < layers->n_before[i]; j++) {
            layers->first_next[layers->before[3 * (size_t)i + j] + 1]++;
        }
    }
    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        layers->first_next[i + 1] += layers->first_next[i];
    }
    layers->n_edges = layers->first_next[layers->n_nodes];
    layers->next = need(layers->n_edges, sizeof *layers->next);
    at = need(layers->n_nodes, sizeof *at);
    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        at[i] = layers->first_next[i];
    }
    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        for (uint32_t j = 0; j < layers->n_before[i]; j++) {
            layers->next[at[layers->before[3 * (size_t)i + j]]++] = i;
        }
    }
    free(at);
}

struct layers layers_make(uint32_t n_nodes, uint32_t width, uint64_t seed)
{
    struct layers layers = {.n_nodes = n_nodes, .width = width};
    struct random_stream random;

    layers.engine = need(n_nodes, sizeof *layers.engine);
    layers.n_before = need(n_nodes, sizeof *layers.n_before);
    layers.length_ns = need(n_nodes, sizeof *layers.length_ns);
    layers.first_next = need((size_t)n_nodes + 1, sizeof *layers.first_next);
    layers.before = need(3 * (size_t)n_nodes, sizeof *layers.before);
    random_seed(&random, seed, 0);
    for (uint32_t i = 0; i < n_nodes; i++) {
        draw_node(&layers, &random, i);
    }
    link_nodes(&layers);
    return layers;
}

void layers_free(struct layers *layers)
{
    free(layers->engine);
    free(layers->n_before);
    free(layers->length_ns);
    free(layers->first_next);
    free(layers->next);
    free(layers->before);
}

/* --- the graph ------------------------------------------------------------------------------ */

static weir_text text_of(struct graph *graph, const char *format, uint32_t number)
{
    char text[32];
    struct weir_error err;
    weir_text out;

    (void)snprintf(text, sizeof text, format, number);
    must(graph_intern_text(graph, text, &out, &err), &err);
    return out;
}

static void add_machine(struct graph *graph, const struct layers_options *options)
{
    struct graph_domain domain = graph_domain_default;
    struct weir_error err;
    weir_domain domain_id;
    weir_engine engine_id;

    domain.capacity_bytes = options->capacity_bytes;
    domain.name = text_of(graph, "m%u", 0);
    must(graph_add_domain(graph, &domain, &domain_id, &err), &err);
    for (uint32_t i = 0; i < LAYERS_ENGINES; i++) {
        struct graph_engine engine = graph_engine_default;

        engine.slots = options->slots;
        engine.domain = domain_id;
        engine.name = text_of(graph, "e%u", i);
        must(graph_add_engine(graph, &engine, &engine_id, &err), &err);
    }
    for (uint32_t i = 0; options->has_kappas && i < LAYERS_ENGINES * LAYERS_ENGINES; i++) {
        struct graph_kappa kappa = graph_kappa_default;

        kappa.slowed.index = i / LAYERS_ENGINES;
        kappa.beside.index = i % LAYERS_ENGINES;
        kappa.factor = 1.0 + 0.0005 * (i % 40);
        must(graph_add_kappa(graph, &kappa, &err), &err);
    }
}

static void add_node(struct graph *graph, const struct layers *layers,
                     const struct layers_options *options, uint32_t index)
{
    struct graph_access reads[3];
    weir_object writes = {index};
    struct graph_node node = graph_node_default;
    struct weir_error err;
    weir_node id;

    node.name = text_of(graph, "n%u", index);
    node.kind = NODE_COMPUTE;
    node.engine.index = layers->engine[index];
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &layers->length_ns[index], 1};
    for (uint32_t i = 0; i < layers->n_before[index]; i++) {
        reads[i] = (struct graph_access){{layers->before[3 * (size_t)index + i]}, {WEIR_NONE}};
    }
    if (options->has_bytes) {
        node.reads = reads;
        node.n_reads = layers->n_before[index];
        node.writes = &writes;
        node.n_writes = 1;
    }
    must(graph_add_node(graph, &node, &id, &err), &err);
}

static void add_objects(struct graph *graph, const struct layers *layers)
{
    struct weir_error err;

    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        struct graph_object object = graph_object_default;
        weir_object id;

        object.name = text_of(graph, "o%u", i);
        object.size_bytes = layers->length_ns[i];
        must(graph_add_object(graph, &object, &id, &err), &err);
    }
}

static void add_edges(struct graph *graph, const struct layers *layers)
{
    struct weir_error err;

    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        for (uint32_t j = 0; j < layers->n_before[i]; j++) {
            struct graph_edge edge = graph_edge_default;

            edge.producer.index = layers->before[3 * (size_t)i + j];
            edge.consumer.index = i;
            edge.type = EDGE_ORDERING;
            must(graph_add_edge(graph, &edge, &err), &err);
        }
    }
}

struct graph *layers_graph(const struct layers *layers, const struct layers_options *options)
{
    struct graph *graph = graph_new();
    const struct graph_evidence none = {EVIDENCE_NONE, {0}, -1};

    if (graph == NULL) {
        exit(7);
    }
    graph_set_head(graph, text_of(graph, "layers%u", layers->n_nodes), SCOPE_NONE, true, none);
    add_machine(graph, options);
    if (options->has_bytes) {
        add_objects(graph, layers);
    }
    for (uint32_t i = 0; i < layers->n_nodes; i++) {
        add_node(graph, layers, options, i);
    }
    if (!options->has_bytes) {
        add_edges(graph, layers);
    }
    return graph;
}

int64_t cpu_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
