/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lifetime-hold edges: the consumer keeps alive each copy of the object that the producer uses.
 * With implied=none, here too: every use, hold and allocation that a reclamation must follow. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/bind_internal.h"
#include "graph/graph_internal.h"

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

/* A node that touches more copies than this has them in a table. */
#define SCANNED_TOUCHES 16

/* Finds what a node touches of an object, in the order in which it does. */
struct finder {
    const struct binding *binding;
    struct keys
        *touches; /* of nodes with many, by (node, object); NULL before the first such node */
    uint8_t *is_entered; /* by node; NULL likewise */
};

static struct key key_of(uint32_t node, uint32_t object)
{
    return (struct key){{node, object, 0, 0}};
}

/* Enters the touches of a node with many. */
static enum weir_status enter(struct finder *finder, uint32_t node, struct weir_error *err)
{
    const struct binding *binding = finder->binding;
    enum weir_status status = WEIR_OK;

    if (finder->touches == NULL) {
        finder->touches = keys_new();
        finder->is_entered = calloc(graph_n_nodes(binding->graph), 1);
    }
    if (finder->touches == NULL || finder->is_entered == NULL) {
        return weir_error_memory(err);
    }
    if (finder->is_entered[node]) {
        return WEIR_OK;
    }
    finder->is_entered[node] = 1;
    for (uint32_t i = binding->touch_first[node];
         i < binding->touch_first[node + 1] && status == WEIR_OK; i++) {
        uint32_t object = binding->copies[binding->touches[i].copy.index].object.index;
        struct key key = key_of(node, object);

        status = keys_put(finder->touches, &key, i, err);
    }
    return status;
}

static void finder_free(struct finder *finder)
{
    keys_free(finder->touches);
    free(finder->is_entered);
}

/* The consumer of the edge holds the copy, if its producer uses it and the copy is there that long. */
static enum weir_status collect_touch(const struct binding *binding, struct report *report,
                                      const struct graph_edge *edge, const struct bind_touch *touch,
                                      struct holds *holds, struct weir_error *err)
{
    const struct bind_copy *copy = &binding->copies[touch->copy.index];
    enum weir_status status;

    if ((touch->roles & (BIND_READS | BIND_FILLS)) == 0 ||
        weir_same(copy->reclamation, edge->consumer)) {
        return WEIR_OK;
    }
    if (weir_is(copy->reclamation) && copy->reclamation.index < edge->consumer.index) {
        report_past_end(binding, report, edge, copy->reclamation);
        return WEIR_OK;
    }
    status = array_grow_raw(&holds->items, &holds->room, (size_t)holds->n + 1, err);
    if (status == WEIR_OK) {
        holds->items[holds->n++] = (struct hold){edge->consumer.index, touch->copy.index};
    }
    return status;
}

/* The copies of the edge's object that its producer uses. */
static enum weir_status collect_edge(struct finder *finder, struct report *report,
                                     const struct graph_edge *edge, struct holds *holds,
                                     struct weir_error *err)
{
    const struct binding *binding = finder->binding;
    weir_object root = graph_object_root(binding->graph, edge->object, NULL);
    uint32_t node = edge->producer.index, first = binding->touch_first[node];
    uint32_t end = binding->touch_first[node + 1], at;
    enum weir_status status = WEIR_OK;

    if (end - first > SCANNED_TOUCHES) {
        struct key key = key_of(node, root.index);
        struct keys_walk walk;

        status = enter(finder, node, err);
        if (status != WEIR_OK) {
            return status;
        }
        keys_walk_begin(&walk, finder->touches, &key);
        while (status == WEIR_OK && (at = keys_walk_next(&walk)) != KEYS_NONE) {
            status = collect_touch(binding, report, edge, &binding->touches[at], holds, err);
        }
        return status;
    }
    for (at = first; at < end && status == WEIR_OK; at++) {
        if (weir_same(binding->copies[binding->touches[at].copy.index].object, root)) {
            status = collect_touch(binding, report, edge, &binding->touches[at], holds, err);
        }
    }
    return status;
}

static enum weir_status collect(const struct binding *binding, struct report *report,
                                struct holds *holds, struct weir_error *err)
{
    const struct graph *graph = binding->graph;
    struct finder finder = {binding, NULL, NULL};
    enum weir_status status = WEIR_OK;

    /* An edge that names no object holds nothing. */
    for (uint32_t i = 0; graph->edges.objects != NULL && i < graph->n_edges && status == WEIR_OK;
         i++) {
        struct graph_edge edge;

        if ((graph->edges.kinds[i] & EDGE_TYPE_MASK) != EDGE_LIFETIME_HOLD ||
            graph->edges.objects[i] == WEIR_NONE) {
            continue;
        }
        graph_edge(graph, (weir_edge){i}, &edge);
        if (graph_node_is_on(graph, edge.producer) && graph_node_is_on(graph, edge.consumer)) {
            status = collect_edge(&finder, report, &edge, holds, err);
        }
    }
    finder_free(&finder);
    if (status == WEIR_OK && holds->n > 0) {
        qsort(holds->items, holds->n, sizeof *holds->items, hold_compare);
    }
    return status;
}

/* The list of touches as it is rebuilt. */
struct merge {
    struct bind_touch *touches;
    uint32_t n;
    uint32_t *newest; /* by copy: its newest touch in the list, plus one; below first + 1 when the
                       * node at work has none */
};

/* One hold of the node whose touches begin at @p first. */
static void merge_hold(struct binding *binding, struct merge *merge, uint32_t first, uint32_t copy)
{
    if (merge->newest[copy] <= first) {
        binding->copies[copy].n_holds++;
        merge->touches[merge->n++] = (struct bind_touch){{copy}, BIND_HOLDS};
        merge->newest[copy] = merge->n;
    } else {
        uint32_t *roles = &merge->touches[merge->newest[copy] - 1].roles;

        *roles |= BIND_HOLDS;
        binding->copies[copy].n_holds += (*roles & (BIND_READS | BIND_FILLS)) == 0 ? 1 : 0;
    }
}

static void merge_all(struct binding *binding, const struct holds *holds, struct merge *merge)
{
    uint32_t n_nodes = graph_n_nodes(binding->graph), at = 0;

    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t first = merge->n;

        for (uint32_t i = binding->touch_first[node]; i < binding->touch_first[node + 1]; i++) {
            merge->touches[merge->n++] = binding->touches[i];
            merge->newest[binding->touches[i].copy.index] = merge->n;
        }
        binding->touch_first[node] = first;
        for (; at < holds->n && holds->items[at].node == node; at++) {
            if (at == 0 || hold_compare(&holds->items[at - 1], &holds->items[at]) != 0) {
                merge_hold(binding, merge, first, holds->items[at].copy);
            }
        }
    }
    binding->touch_first[n_nodes] = merge->n;
}

/* Rebuilds the list of touches with the holds in their places. */
static enum weir_status merge(struct binding *binding, const struct holds *holds,
                              struct weir_error *err)
{
    size_t room = (size_t)binding->n_touches + holds->n;
    struct merge state = {malloc(room * sizeof *state.touches), 0,
                          calloc((size_t)binding->n_copies + 1, sizeof *state.newest)};

    if (state.touches == NULL || state.newest == NULL) {
        free(state.touches);
        free(state.newest);
        return weir_error_memory(err);
    }
    merge_all(binding, holds, &state);
    free(state.newest);
    free(binding->touches);
    binding->touches = state.touches;
    binding->touches_room = room;
    binding->n_touches = state.n;
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
