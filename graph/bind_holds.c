/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lifetime-hold edges: the consumer keeps alive each copy of the object that the producer uses.
 * With implied=none, here too: every use, hold and allocation that a reclamation must follow. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/bind_internal.h"

struct hold {
    uint32_t node, copy;
};

struct holds {
    struct hold *items;
    size_t room;
    uint32_t n;
};

static int hold_compare(const void *a, const void *b)
{
    const struct hold *x = a, *y = b;

    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return (x->copy > y->copy) - (x->copy < y->copy);
}

static void report_past_end(const struct binding *binding, struct report *report,
                            const struct graph_edge *edge, weir_node reclamation)
{
    const struct graph *graph = binding->graph;
    const char *consumer = graph_node_name(graph, edge->consumer);

    report_add(report, FINDING_HOLD_PAST_END, (struct report_at){NULL, 0, 0},
               "node %s holds object %s, which node %s reclaims before it", consumer,
               graph_object_name(graph, edge->object), graph_node_name(graph, reclamation));
    report_name(report, consumer);
    report_name(report, graph_object_name(graph, edge->object));
    report_name(report, graph_node_name(graph, reclamation));
}

/* The copies of the edge's object that its producer uses. */
static enum weir_status collect_edge(const struct binding *binding, struct report *report,
                                     const struct graph_edge *edge, struct holds *holds,
                                     struct weir_error *err)
{
    weir_object root = graph_object_root(binding->graph, edge->object, NULL);
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(binding, edge->producer, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        const struct bind_copy *copy = &binding->copies[touches[i].copy.index];
        enum weir_status status;

        if (!weir_same(copy->object, root) || (touches[i].roles & (BIND_READS | BIND_FILLS)) == 0 ||
            weir_same(copy->reclamation, edge->consumer)) {
            continue;
        }
        if (weir_is(copy->reclamation) && copy->reclamation.index < edge->consumer.index) {
            report_past_end(binding, report, edge, copy->reclamation);
            continue;
        }
        status = array_grow(&holds->items, &holds->room, (size_t)holds->n + 1, err);
        if (status != WEIR_OK) {
            return status;
        }
        holds->items[holds->n++] = (struct hold){edge->consumer.index, touches[i].copy.index};
    }
    return WEIR_OK;
}

static enum weir_status collect(const struct binding *binding, struct report *report,
                                struct holds *holds, struct weir_error *err)
{
    const struct graph *graph = binding->graph;

    for (uint32_t i = 0; i < graph_n_edges(graph); i++) {
        struct graph_edge edge;
        enum weir_status status;

        graph_edge(graph, (weir_edge){i}, &edge);
        if (edge.type != EDGE_LIFETIME_HOLD || !weir_is(edge.object) ||
            !graph_node_is_on(graph, edge.producer) || !graph_node_is_on(graph, edge.consumer)) {
            continue;
        }
        status = collect_edge(binding, report, &edge, holds, err);
        if (status != WEIR_OK) {
            return status;
        }
    }
    if (holds->n > 0) {
        qsort(holds->items, holds->n, sizeof *holds->items, hold_compare);
    }
    return WEIR_OK;
}

/* Or's the role into the touch that the node has, if it has one. */
static bool mark_touch(struct bind_touch *touches, uint32_t n_touches, uint32_t copy)
{
    for (uint32_t i = 0; i < n_touches; i++) {
        if (touches[i].copy.index == copy) {
            touches[i].roles |= BIND_HOLDS;
            return (touches[i].roles & (BIND_READS | BIND_FILLS)) != 0;
        }
    }
    return false;
}

static bool has_touch(const struct bind_touch *touches, uint32_t n_touches, uint32_t copy)
{
    for (uint32_t i = 0; i < n_touches; i++) {
        if (touches[i].copy.index == copy) {
            return true;
        }
    }
    return false;
}

/* Rebuilds the list of touches with the holds in their places. */
static enum weir_status merge(struct binding *binding, const struct holds *holds,
                              struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(binding->graph), at = 0, n_merged = 0;
    size_t room = (size_t)binding->n_touches + holds->n;
    struct bind_touch *merged = malloc(room * sizeof *merged);

    if (merged == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t first = n_merged;

        for (uint32_t i = binding->touch_first[node]; i < binding->touch_first[node + 1]; i++) {
            merged[n_merged++] = binding->touches[i];
        }
        binding->touch_first[node] = first;
        for (; at < holds->n && holds->items[at].node == node; at++) {
            uint32_t copy = holds->items[at].copy;

            if (at > 0 && hold_compare(&holds->items[at - 1], &holds->items[at]) == 0) {
                continue;
            }
            if (!mark_touch(merged + first, n_merged - first, copy)) {
                binding->copies[copy].n_holds++;
            }
            if (!has_touch(merged + first, n_merged - first, copy)) {
                merged[n_merged++] = (struct bind_touch){{copy}, BIND_HOLDS};
            }
        }
    }
    binding->touch_first[n_nodes] = n_merged;
    free(binding->touches);
    binding->touches = merged;
    binding->touches_room = room;
    binding->n_touches = n_merged;
    return WEIR_OK;
}

/* The copy ends after the node: by its reclamation, or by itself. */
static enum weir_status end_after(struct binding *binding, uint32_t node, uint32_t copy,
                                  struct weir_error *err)
{
    weir_node reclamation = binding->copies[copy].reclamation;

    if (!weir_is(reclamation)) {
        return binding_add_last(binding, (weir_copy){copy}, (weir_node){node}, err);
    }
    if (reclamation.index == node) {
        return WEIR_OK;
    }
    return binding_add_edge(binding, (weir_node){node}, reclamation, (weir_copy){copy},
                            EDGE_LIFETIME_HOLD, err);
}

/* What the ends of copies must follow: for the audit all of it, else what the walk has not seen. */
static enum weir_status add_ends(struct binding *binding, struct weir_error *err)
{
    bool keeps_all = !graph_is_implied(binding->graph);
    enum weir_status status = WEIR_OK;

    for (uint32_t node = 0; node < graph_n_nodes(binding->graph); node++) {
        for (uint32_t i = binding->touch_first[node];
             i < binding->touch_first[node + 1] && status == WEIR_OK; i++) {
            uint32_t copy = binding->touches[i].copy.index;
            bool is_new = weir_is(binding->copies[copy].reclamation) && keeps_all;

            if (is_new || (binding->touches[i].roles & BIND_HOLDS) != 0) {
                status = end_after(binding, node, copy, err);
            }
        }
    }
    return status;
}

enum weir_status bind_holds(struct binding *binding, struct report *report, struct weir_error *err)
{
    struct holds holds = {NULL, 0, 0};
    enum weir_status status = collect(binding, report, &holds, err);

    if (status == WEIR_OK && holds.n > 0) {
        status = merge(binding, &holds, err);
    }
    if (status == WEIR_OK && (holds.n > 0 || !graph_is_implied(binding->graph))) {
        status = add_ends(binding, err);
    }
    free(holds.items);
    return status;
}
