/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph whose nodes take turns. The next to start is of another class than the one that ended,
 * so that every class is woken at each end. */
#include "tests/bench/turns.h"

#include "tests/bench/rounds.h"

#include <stdio.h>
#include <stdlib.h>

static weir_text text_of(struct graph *graph, char letter, uint32_t number)
{
    char text[16];
    struct weir_error err;
    weir_text out;

    (void)snprintf(text, sizeof text, "%c%u", letter, number);
    must(graph_intern_text(graph, text, &out, &err), &err);
    return out;
}

static void add_machine(struct graph *graph, uint32_t n_nodes, const struct turns_options *options)
{
    struct graph_domain domain = graph_domain_default;
    struct weir_error err;
    weir_domain domain_id;

    domain.capacity_bytes = (int64_t)n_nodes + 1;
    domain.name = text_of(graph, 'm', 0);
    must(graph_add_domain(graph, &domain, &domain_id, &err), &err);
    for (uint32_t i = 0; i < options->n_engines; i++) {
        struct graph_engine engine = graph_engine_default;
        weir_engine id;

        engine.slots = n_nodes;
        engine.domain = domain_id;
        engine.name = text_of(graph, 'e', i);
        must(graph_add_engine(graph, &engine, &id, &err), &err);
        for (uint32_t j = 0; j <= i; j++) {
            struct graph_overlap overlap = graph_overlap_default;

            overlap.a = engine.name;
            overlap.b = text_of(graph, 'e', j);
            overlap.rule = OVERLAP_FORBIDDEN;
            must(graph_add_overlap(graph, &overlap, &err), &err);
        }
    }
}

static void add_objects(struct graph *graph, uint32_t n_nodes)
{
    struct weir_error err;

    for (uint32_t i = 0; i < n_nodes; i++) {
        struct graph_object object = graph_object_default;
        weir_object id;

        object.name = text_of(graph, 'o', i);
        object.size_bytes = 1;
        must(graph_add_object(graph, &object, &id, &err), &err);
    }
}

static void add_node(struct graph *graph, uint32_t index, const struct turns_options *options)
{
    const int64_t length_ns = 1000 + index % 7;
    const weir_object writes = {index};
    struct graph_node node = graph_node_default;
    struct weir_error err;
    weir_node id;

    node.name = text_of(graph, 'n', index);
    node.kind = NODE_COMPUTE;
    node.engine.index = index % options->n_engines;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &length_ns, 1};
    node.writes = &writes;
    node.n_writes = options->has_bytes ? 1 : 0;
    must(graph_add_node(graph, &node, &id, &err), &err);
}

struct graph *turns_graph(uint32_t n_nodes, const struct turns_options *options)
{
    struct graph *graph = graph_new();
    const struct graph_evidence none = {EVIDENCE_NONE, {0}, -1};

    if (graph == NULL) {
        exit(7);
    }
    graph_set_head(graph, text_of(graph, 't', n_nodes), SCOPE_NONE, true, none);
    add_machine(graph, n_nodes, options);
    if (options->has_bytes) {
        add_objects(graph, n_nodes);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        add_node(graph, i, options);
    }
    return graph;
}
