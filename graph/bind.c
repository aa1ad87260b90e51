/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding: the walk in program order, then the holds, the order, and the audit of races. */
#include "graph/bind.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/bind_internal.h"

enum weir_status binding_add_edge(struct binding *binding, weir_node producer, weir_node consumer,
                                  weir_copy copy, enum edge_type type, struct weir_error *err)
{
    enum weir_status status =
        array_grow_raw(&binding->edges, &binding->edges_room, (size_t)binding->n_edges + 1, err);

    if (status == WEIR_OK) {
        binding->edges[binding->n_edges++] = (struct bind_edge){producer, consumer, copy, type};
    }
    return status;
}

enum weir_status binding_add_last(struct binding *binding, weir_copy copy, weir_node node,
                                  struct weir_error *err)
{
    struct bind_copy *of = &binding->copies[copy.index];
    enum weir_status status =
        array_grow_raw(&binding->lasts, &binding->lasts_room, (size_t)binding->n_lasts + 1, err);

    if (status == WEIR_OK) {
        binding->lasts[binding->n_lasts++] = (struct bind_last){node, of->last_use};
        of->last_use = binding->n_lasts;
    }
    return status;
}

static enum weir_status bind_all(struct binding *binding, struct report *report,
                                 struct weir_error *err)
{
    bool is_implied = graph_is_implied(binding->graph);
    enum weir_status status = bind_walk(binding, report, err);

    if (status == WEIR_OK) {
        status = bind_holds(binding, report, err);
    }
    if (status == WEIR_OK) {
        status = bind_sort(binding, report, err);
    }
    if (status == WEIR_OK && !is_implied && report_errors(report) == 0) {
        status = bind_audit(binding, report, err);
    }
    if (!is_implied) {
        binding->n_edges = 0; /* hazards are no edges here */
        free(binding->edges);
        binding->edges = NULL;
        binding->edges_room = 0;
    }
    return status;
}

/* Gives back the room that growth left. */
static void trim(struct binding *binding)
{
    array_trim(&binding->copies, &binding->copies_room, binding->n_copies);
    array_trim(&binding->touches, &binding->touches_room, binding->n_touches);
    array_trim(&binding->edges, &binding->edges_room, binding->n_edges);
    array_trim(&binding->lasts, &binding->lasts_room, binding->n_lasts);
}

enum weir_status bind_graph(const struct graph *graph, struct report *report, struct binding **out,
                            struct weir_error *err)
{
    struct binding *binding = calloc(1, sizeof *binding);
    enum weir_status status;

    if (binding == NULL) {
        return weir_error_memory(err);
    }
    binding->graph = graph;
    status = bind_all(binding, report, err);
    trim(binding);
    if (status == WEIR_OK && report_errors(report) > 0) {
        status = weir_error_set(err, WEIR_INPUT, "the graph is not legal: %u error%s",
                                report_errors(report), report_errors(report) == 1 ? "" : "s");
    }
    if (status != WEIR_OK) {
        bind_free(binding);
        return status;
    }
    *out = binding;
    return WEIR_OK;
}

enum weir_status bind_without(const struct graph *graph, const bool *is_out, struct report *report,
                              struct weir_error *err)
{
    struct binding *binding = calloc(1, sizeof *binding);
    enum weir_status status;

    if (binding == NULL) {
        return weir_error_memory(err);
    }
    binding->graph = graph;
    binding->is_out = is_out;
    status = bind_walk(binding, report, err);
    bind_free(binding);
    return status;
}

void bind_free(struct binding *binding)
{
    if (binding == NULL) {
        return;
    }
    free(binding->copies);
    free(binding->touches);
    free(binding->touch_first);
    free(binding->edges);
    free(binding->lasts);
    free(binding->order);
    free(binding->ready_ns);
    free(binding);
}

uint32_t bind_n_copies(const struct binding *binding)
{
    return binding->n_copies;
}

const struct bind_copy *bind_copy(const struct binding *binding, weir_copy copy)
{
    return &binding->copies[copy.index];
}

const struct bind_touch *bind_touches(const struct binding *binding, weir_node node,
                                      uint32_t *n_touches)
{
    uint32_t first = binding->touch_first[node.index];

    *n_touches = binding->touch_first[node.index + 1] - first;
    return binding->touches + first;
}

bool bind_last_use(const struct binding *binding, weir_copy copy, uint32_t *cursor, weir_node *node)
{
    uint32_t at =
        *cursor == 0 ? binding->copies[copy.index].last_use : binding->lasts[*cursor - 1].next;

    if (at == 0) {
        return false;
    }
    *cursor = at;
    *node = binding->lasts[at - 1].node;
    return true;
}

uint32_t bind_n_edges(const struct binding *binding)
{
    return binding->n_edges;
}

const struct bind_edge *bind_edges(const struct binding *binding)
{
    return binding->edges;
}

int64_t bind_ready_ns(const struct binding *binding, weir_node node)
{
    return binding->ready_ns == NULL ? 0 : binding->ready_ns[node.index];
}

weir_node bind_order(const struct binding *binding, uint32_t position)
{
    return (weir_node){binding->order == NULL ? position : binding->order[position]};
}

const struct graph *bind_of(const struct binding *binding)
{
    return binding->graph;
}
