/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges: two ends and a kind each; a column for objects, lags or evidence is made when the first edge
 * has one. All columns that are there have the same room. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/graph_internal.h"

/* A column that is there, with room for that many. */
static enum weir_status grow_column(void **column, size_t before, size_t need, size_t item_bytes,
                                    struct weir_error *err)
{
    return *column == NULL ? WEIR_OK : array_reserve_raw(column, &before, need, item_bytes, err);
}

static enum weir_status grow(struct edge_table *edges, size_t need, struct weir_error *err)
{
    size_t before = edges->room, room = before;
    enum weir_status status = array_grow_raw(&edges->ends, &room, need, err);

    if (status == WEIR_OK)
        status = array_reserve_raw((void **)&edges->kinds, &before, room, 1, err);
    if (status == WEIR_OK)
        status =
            grow_column((void **)&edges->objects, edges->room, room, sizeof *edges->objects, err);
    if (status == WEIR_OK)
        status = grow_column((void **)&edges->evidences, edges->room, room,
                             sizeof *edges->evidences, err);
    if (status == WEIR_OK)
        status =
            grow_column((void **)&edges->lags_ns, edges->room, room, sizeof *edges->lags_ns, err);
    if (status == WEIR_OK)
        edges->room = room;
    return status;
}

enum weir_status graph_edge_room(struct graph *graph, size_t need, struct weir_error *err)
{
    return need <= graph->edges.room ? WEIR_OK : grow(&graph->edges, need, err);
}

/* Makes a column that is not there: every edge so far has the value of those bytes. */
static enum weir_status need_column(const struct graph *graph, void **column, size_t item_bytes,
                                    int absent_byte, struct weir_error *err)
{
    if (*column != NULL)
        return WEIR_OK;
    *column = malloc(graph->edges.room * item_bytes);
    if (*column == NULL)
        return weir_error_memory(err);
    memset(*column, absent_byte, graph->n_edges * item_bytes);
    return WEIR_OK;
}

static enum weir_status need_columns(struct graph *graph, const struct graph_edge *value,
                                     uint32_t evidence, struct weir_error *err)
{
    struct edge_table *edges = &graph->edges;
    enum weir_status status = WEIR_OK;

    if (weir_is(value->object))
        status = need_column(graph, (void **)&edges->objects, sizeof *edges->objects, 0xff, err);
    if (status == WEIR_OK && evidence != 0)
        status = need_column(graph, (void **)&edges->evidences, sizeof *edges->evidences, 0, err);
    if (status == WEIR_OK && value->lag_ns != 0)
        status = need_column(graph, (void **)&edges->lags_ns, sizeof *edges->lags_ns, 0, err);
    return status;
}

/* Room for the row and each column that it needs have been made. */
static void put(struct edge_table *edges, uint32_t row, const struct graph_edge *value,
                uint32_t evidence)
{
    edges->ends[row] = (struct edge_ends){value->producer.index, value->consumer.index};
    edges->kinds[row] = (uint8_t)(value->type | (value->is_from_start ? EDGE_IS_FROM_START : 0));
    if (edges->objects != NULL)
        edges->objects[row] = value->object.index;
    if (edges->evidences != NULL)
        edges->evidences[row] = evidence;
    if (edges->lags_ns != NULL)
        edges->lags_ns[row] = value->lag_ns;
}

enum weir_status graph_add_edge(struct graph *graph, const struct graph_edge *value,
                                struct weir_error *err)
{
    enum weir_status status = graph_row_count(graph->n_edges, err);
    uint32_t evidence;

    if (status == WEIR_OK)
        status = graph_edge_room(graph, (size_t)graph->n_edges + 1, err);
    if (status == WEIR_OK)
        status = evidence_put(graph, &value->evidence, &evidence, err);
    if (status == WEIR_OK)
        status = need_columns(graph, value, evidence, err);
    if (status == WEIR_OK)
        put(&graph->edges, graph->n_edges++, value, evidence);
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
        status = need_columns(graph, value, evidence, err);
    if (status == WEIR_OK)
        put(&graph->edges, id.index, value, evidence);
    return status;
}

uint32_t graph_n_edges(const struct graph *graph)
{
    return graph->n_edges;
}

struct graph_arc graph_arc(const struct graph *graph, weir_edge id)
{
    struct edge_row row;

    assert(id.index < graph->n_edges);
    row = edge_row_of(graph, id.index);
    return (struct graph_arc){
        {row.producer}, {row.consumer}, row.lag_ns, (enum edge_type)row.type, row.is_from_start};
}

void graph_arcs(const struct graph *graph, weir_edge first, uint32_t n, struct graph_arc *out)
{
    const struct edge_table *edges = &graph->edges;

    assert(first.index <= graph->n_edges && n <= graph->n_edges - first.index);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first.index + i;

        out[i] = (struct graph_arc){{edges->ends[row].producer},
                                    {edges->ends[row].consumer},
                                    edges->lags_ns == NULL ? 0 : edges->lags_ns[row],
                                    (enum edge_type)(edges->kinds[row] & EDGE_TYPE_MASK),
                                    (edges->kinds[row] & EDGE_IS_FROM_START) != 0};
    }
}

void graph_edge(const struct graph *graph, weir_edge id, struct graph_edge *out)
{
    struct edge_row row;

    assert(id.index < graph->n_edges);
    row = edge_row_of(graph, id.index);
    out->producer.index = row.producer;
    out->consumer.index = row.consumer;
    out->type = (enum edge_type)row.type;
    out->is_from_start = row.is_from_start;
    out->object.index = row.object;
    out->lag_ns = row.lag_ns;
    out->evidence = graph->evidences[row.evidence];
}

/* The table as a whole. */

static void trim_column(void **column, size_t room, size_t n_edges, size_t item_bytes)
{
    if (*column != NULL)
        array_shrink(column, &room, n_edges, item_bytes);
}

void edge_table_trim(struct edge_table *edges, uint32_t n_edges)
{
    size_t room = edges->room;

    if (n_edges == 0 || n_edges == room)
        return;
    trim_column((void **)&edges->ends, room, n_edges, sizeof *edges->ends);
    trim_column((void **)&edges->kinds, room, n_edges, sizeof *edges->kinds);
    trim_column((void **)&edges->objects, room, n_edges, sizeof *edges->objects);
    trim_column((void **)&edges->evidences, room, n_edges, sizeof *edges->evidences);
    trim_column((void **)&edges->lags_ns, room, n_edges, sizeof *edges->lags_ns);
    edges->room = n_edges; /* a column that could not be trimmed has more */
}

void edge_table_free(struct edge_table *edges)
{
    free(edges->ends);
    free(edges->kinds);
    free(edges->objects);
    free(edges->evidences);
    free(edges->lags_ns);
}

size_t edge_table_bytes(const struct edge_table *edges)
{
    size_t each = sizeof *edges->ends + sizeof *edges->kinds;

    each += edges->objects == NULL ? 0 : sizeof *edges->objects;
    each += edges->evidences == NULL ? 0 : sizeof *edges->evidences;
    each += edges->lags_ns == NULL ? 0 : sizeof *edges->lags_ns;
    return edges->room * each;
}
