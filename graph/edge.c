/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges: rows of 32 bytes. */
#include <assert.h>

#include "graph/graph_internal.h"

static void fill_row(struct edge_row *row, const struct graph_edge *value, uint32_t evidence)
{
    row->lag_ns = value->lag_ns;
    row->producer = value->producer.index;
    row->consumer = value->consumer.index;
    row->object = value->object.index;
    row->evidence = evidence;
    row->type = (uint8_t)value->type;
    row->is_from_start = value->is_from_start;
}

enum weir_status graph_add_edge(struct graph *graph, const struct graph_edge *value,
                                struct weir_error *err)
{
    enum weir_status status;
    uint32_t evidence;

    status = graph_row_room(&graph->edges, &graph->edges_room, graph->n_edges, sizeof *graph->edges,
                            err);
    if (status == WEIR_OK)
        status = evidence_put(graph, &value->evidence, &evidence, err);
    if (status == WEIR_OK)
        fill_row(&graph->edges[graph->n_edges++], value, evidence);
    return status;
}

enum weir_status graph_set_edge(struct graph *graph, weir_edge id, const struct graph_edge *value,
                                struct weir_error *err)
{
    enum weir_status status;
    uint32_t evidence;

    assert(id.index < graph->n_edges);
    status = evidence_put(graph, &value->evidence, &evidence, err);
    if (status == WEIR_OK)
        fill_row(&graph->edges[id.index], value, evidence);
    return status;
}

uint32_t graph_n_edges(const struct graph *graph)
{
    return graph->n_edges;
}

void graph_edge(const struct graph *graph, weir_edge id, struct graph_edge *out)
{
    const struct edge_row *row;

    assert(id.index < graph->n_edges);
    row = &graph->edges[id.index];
    out->producer.index = row->producer;
    out->consumer.index = row->consumer;
    out->type = (enum edge_type)row->type;
    out->is_from_start = row->is_from_start;
    out->object.index = row->object;
    out->lag_ns = row->lag_ns;
    out->evidence = graph->evidences[row->evidence];
}
