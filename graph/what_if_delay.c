/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delays: a node is ready when the edges into it and its release allow, so all of them are moved. An
 * implied edge has no lag; one that is given beside it has, and is the later of the two. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/bind.h"
#include "graph/read_internal.h"
#include "graph/what_if.h"

struct delaying {
    struct graph *graph;
    int64_t *delay_ns;        /* by node; 0: none */
    struct graph_edge *given; /* implied edges into delayed nodes, as they are to be given */
    size_t n_given, given_room;
    struct graph_evidence evidence;
};

static enum weir_status too_late(const struct graph *graph, weir_node node, struct weir_error *err)
{
    const char *name = graph_node_name(graph, node);
    struct shown shown;

    return weir_error_set(err, WEIR_USAGE,
                          "node '%.80s': with its delay a time is more than 2^63 - 1 ns",
                          read_shown(&shown, name, strlen(name)));
}

static enum weir_status add_up(struct delaying *d, const struct what_if_delay *delays,
                               uint32_t n_delays, struct weir_error *err)
{
    d->delay_ns = calloc((size_t)graph_n_nodes(d->graph) + 1, sizeof *d->delay_ns);
    if (d->delay_ns == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < n_delays; i++) {
        int64_t *delay_ns = &d->delay_ns[delays[i].node.index];

        if (__builtin_add_overflow(*delay_ns, delays[i].delay_ns, delay_ns))
            return too_late(d->graph, delays[i].node, err);
    }
    return WEIR_OK;
}

/* An implied hold names no object, as in bind_expand: it would hold more than is implied. */
static enum weir_status note_implied(struct delaying *d, const struct binding *binding,
                                     struct weir_error *err)
{
    const struct bind_edge *edges = bind_edges(binding);

    for (uint32_t i = 0; i < bind_n_edges(binding); i++) {
        struct graph_edge edge = graph_edge_default;
        enum weir_status status;

        edge.lag_ns = d->delay_ns[edges[i].consumer.index];
        if (edge.lag_ns == 0)
            continue;
        edge.producer = edges[i].producer;
        edge.consumer = edges[i].consumer;
        edge.type = edges[i].type;
        if (edge.type != EDGE_LIFETIME_HOLD)
            edge.object = bind_copy(binding, edges[i].copy)->object;
        edge.evidence = d->evidence;
        status = array_grow(&d->given, &d->given_room, d->n_given + 1, err);
        if (status != WEIR_OK)
            return status;
        d->given[d->n_given++] = edge;
    }
    return WEIR_OK;
}

static enum weir_status move_edges(struct delaying *d, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_edges(d->graph) && status == WEIR_OK; i++) {
        struct graph_edge edge;

        graph_edge(d->graph, (weir_edge){i}, &edge);
        if (d->delay_ns[edge.consumer.index] == 0)
            continue;
        if (__builtin_add_overflow(edge.lag_ns, d->delay_ns[edge.consumer.index], &edge.lag_ns))
            return too_late(d->graph, edge.consumer, err);
        edge.evidence = d->evidence;
        status = graph_set_edge(d->graph, (weir_edge){i}, &edge, err);
    }
    for (size_t i = 0; i < d->n_given && status == WEIR_OK; i++)
        status = graph_add_edge(d->graph, &d->given[i], err);
    return status;
}

/* @param ready_ns of initial copies that the node reads */
static enum weir_status move_release(struct delaying *d, weir_node id, int64_t ready_ns,
                                     struct weir_error *err)
{
    struct graph_node node;

    graph_node(d->graph, id, &node);
    if (node.release_ns < ready_ns)
        node.release_ns = ready_ns;
    if (__builtin_add_overflow(node.release_ns, d->delay_ns[id.index], &node.release_ns))
        return too_late(d->graph, id, err);
    return graph_set_node(d->graph, id, &node, err);
}

static enum weir_status note_all(struct delaying *d, struct report *report, int64_t *ready_ns,
                                 struct weir_error *err)
{
    struct binding *binding;
    enum weir_status status = bind_graph(d->graph, report, &binding, err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < graph_n_nodes(d->graph); i++)
        ready_ns[i] = bind_ready_ns(binding, (weir_node){i});
    status = note_implied(d, binding, err);
    bind_free(binding);
    return status;
}

enum weir_status what_if_delay(struct graph *graph, const struct what_if_delay *delays,
                               uint32_t n_delays, struct report *report, struct weir_error *err)
{
    struct delaying d = {.graph = graph, .evidence = {.kind = EVIDENCE_ASSUMED, .confidence = -1}};
    int64_t *ready_ns = calloc((size_t)graph_n_nodes(graph) + 1, sizeof *ready_ns);
    enum weir_status status = ready_ns == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK)
        status = graph_intern_text(graph, "what if: delayed", &d.evidence.detail, err);
    if (status == WEIR_OK)
        status = add_up(&d, delays, n_delays, err);
    if (status == WEIR_OK)
        status = note_all(&d, report, ready_ns, err);
    if (status == WEIR_OK)
        status = move_edges(&d, err);
    for (uint32_t i = 0; i < graph_n_nodes(graph) && status == WEIR_OK; i++) {
        if (d.delay_ns[i] > 0)
            status = move_release(&d, (weir_node){i}, ready_ns[i], err);
    }
    free(ready_ns);
    free(d.delay_ns);
    free(d.given);
    return status;
}
