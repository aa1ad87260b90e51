/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the binding share: the walk in program order fills it, the rest reads it. */
#ifndef WEIR_GRAPH_BIND_INTERNAL_H
#define WEIR_GRAPH_BIND_INTERNAL_H

#include "graph/bind.h"

/* One of the nodes after which a copy is used no more. */
struct bind_last {
    weir_node node;
    uint32_t next; /* of the same copy, plus one; 0 ends */
};

struct binding {
    const struct graph *graph;
    const bool *is_out; /* by node: left out, as if it were off; NULL: none is */

    struct bind_copy *copies;
    size_t copies_room;
    uint32_t n_copies;

    struct bind_touch *touches; /* of node i: [touch_first[i], touch_first[i + 1]) */
    size_t touches_room;
    uint32_t n_touches;
    uint32_t *touch_first;

    struct bind_edge *edges; /* what hazards imply; the audit's input with implied=none */
    size_t edges_room;
    uint32_t n_edges;

    struct bind_last *lasts;
    size_t lasts_room;
    uint32_t n_lasts;

    uint32_t *order;   /* topological; NULL when program order is one */
    int64_t *ready_ns; /* by node, from initial copies; NULL when all are 0 */
};

/** Adds a hazard between two different nodes. */
MUST_CHECK enum weir_status binding_add_edge(struct binding *binding, weir_node producer,
                                             weir_node consumer, weir_copy copy,
                                             enum edge_type type, struct weir_error *err);

MUST_CHECK enum weir_status binding_add_last(struct binding *binding, weir_copy copy,
                                             weir_node node, struct weir_error *err);

/** Walks the nodes in program order: fills copies, touches, hazards and ready times, and reports
 *  every misuse of a copy. With implied=none every hazard is kept, else only those that no two
 *  others imply. */
MUST_CHECK enum weir_status bind_walk(struct binding *binding, struct report *report,
                                      struct weir_error *err);
/** Adds what lifetime-hold edges keep alive, and the hazards of reclamations that follow from it. */
MUST_CHECK enum weir_status bind_holds(struct binding *binding, struct report *report,
                                       struct weir_error *err);
/** Finds an order over given and implied edges, or reports a cycle. */
MUST_CHECK enum weir_status bind_sort(struct binding *binding, struct report *report,
                                      struct weir_error *err);
/** Reports every hazard that no path of given edges covers; needs the order. */
MUST_CHECK enum weir_status bind_audit(struct binding *binding, struct report *report,
                                       struct weir_error *err);

#endif
