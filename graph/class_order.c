/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers classes as reading the canonical form would: it lists engines, kappas, overlaps, then
 * nodes, whatever the order of the lines that a graph was read from. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph_internal.h"

struct order {
    uint32_t *new_id; /* by old id; WEIR_NONE before its turn */
    uint32_t n;
};

static void meet(struct order *order, weir_class class)
{
    if (weir_is(class) && order->new_id[class.index] == WEIR_NONE)
        order->new_id[class.index] = order->n++;
}

static void meet_all(const struct graph *graph, struct order *order)
{
    for (uint32_t i = 0; i < graph->n_engines; i++)
        meet(order, graph->engines[i].class_);
    for (uint32_t i = 0; i < graph->n_kappas; i++) {
        meet(order, graph->kappas[i].slowed);
        meet(order, graph->kappas[i].beside);
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        meet(order, (weir_class){graph->nodes[i].class_given});
    for (uint32_t i = 0; i < graph->n_classes; i++)
        meet(order, (weir_class){i}); /* that nothing uses any more */
}

static void rename_all(struct graph *graph, const uint32_t *new_id)
{
    for (uint32_t i = 0; i < graph->n_engines; i++)
        graph->engines[i].class_.index = new_id[graph->engines[i].class_.index];
    for (uint32_t i = 0; i < graph->n_kappas; i++) {
        graph->kappas[i].slowed.index = new_id[graph->kappas[i].slowed.index];
        graph->kappas[i].beside.index = new_id[graph->kappas[i].beside.index];
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t *class = &graph->nodes[i].class_given;
        if (*class != WEIR_NONE)
            *class = new_id[*class];
    }
}

static enum weir_status renumber(struct graph *graph, const uint32_t *new_id,
                                 struct weir_error *err)
{
    weir_text *classes = malloc(graph->classes_room * sizeof *classes);

    if (classes == NULL)
        return weir_error_memory(err);
    rename_all(graph, new_id);
    for (uint32_t i = 0; i < graph->n_classes; i++) {
        classes[new_id[i]] = graph->classes[i];
        name_index_change(&graph->class_by_name, graph->classes[i], new_id[i]);
    }
    memcpy(graph->classes, classes, graph->n_classes * sizeof *classes);
    free(classes);
    return WEIR_OK;
}

enum weir_status graph_order_classes(struct graph *graph, struct weir_error *err)
{
    struct order order = {0};
    enum weir_status status = WEIR_OK;
    bool is_ordered = true;

    if (graph->n_classes == 0)
        return WEIR_OK;
    order.new_id = malloc(graph->n_classes * sizeof *order.new_id);
    if (order.new_id == NULL)
        return weir_error_memory(err);
    memset(order.new_id, 0xff, graph->n_classes * sizeof *order.new_id);
    meet_all(graph, &order);
    for (uint32_t i = 0; i < graph->n_classes; i++)
        is_ordered = is_ordered && order.new_id[i] == i;
    if (!is_ordered)
        status = renumber(graph, order.new_id, err);
    free(order.new_id);
    return status;
}
