/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A counting sort of edges by producer: within one producer they keep their order. */
#include "graph/adjacency.h"

#include <stdlib.h>

#include "graph/graph_internal.h"

static void count(const struct graph *graph, const struct bind_edge *implied, uint32_t n_implied,
                  uint32_t *first)
{
    uint32_t n_nodes = graph_n_nodes(graph);

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        first[graph->edges.ends[i].producer + 1]++;
    }
    for (uint32_t i = 0; i < n_implied; i++) {
        first[implied[i].producer.index + 1]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        first[i + 1] += first[i];
    }
}

/* Leaves first[i] at the end of node i's edges, which is where node i + 1 began. */
static void place(const struct graph *graph, const struct bind_edge *implied, uint32_t n_implied,
                  struct adjacency *out)
{
    uint32_t n_given = graph_n_edges(graph);

    for (uint32_t i = 0; i < n_given; i++) {
        struct edge_ends ends = graph->edges.ends[i];

        out->items[out->first[ends.producer]++] = (struct adjacent){ends.consumer, i};
    }
    for (uint32_t i = 0; i < n_implied; i++) {
        out->items[out->first[implied[i].producer.index]++] =
            (struct adjacent){implied[i].consumer.index, n_given + i};
    }
}

enum weir_status adjacency_make(const struct graph *graph, const struct bind_edge *implied,
                                uint32_t n_implied, struct adjacency *out, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(graph);
    size_t n_edges = (size_t)graph_n_edges(graph) + n_implied;

    out->first = calloc((size_t)n_nodes + 1, sizeof *out->first);
    out->items = malloc((n_edges + 1) * sizeof *out->items);
    if (out->first == NULL || out->items == NULL) {
        adjacency_free(out);
        return weir_error_memory(err);
    }
    count(graph, implied, n_implied, out->first);
    place(graph, implied, n_implied, out);
    for (uint32_t i = n_nodes; i > 0; i--) {
        out->first[i] = out->first[i - 1];
    }
    out->first[0] = 0;
    return WEIR_OK;
}

void adjacency_free(struct adjacency *adjacency)
{
    free(adjacency->first);
    free(adjacency->items);
    adjacency->first = NULL;
    adjacency->items = NULL;
}
