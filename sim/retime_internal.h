/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized order while it is compiled. Every constraint is one that the timeline kept: what it made
 * wait has started no earlier than what it waits for let it go. */
#ifndef WEIR_SIM_RETIME_INTERNAL_H
#define WEIR_SIM_RETIME_INTERNAL_H

#include "sim/retime.h"

/* A constraint between nodes that is no edge of the graph: without a lag. */
struct retime_pair {
    weir_node producer, consumer;
    bool is_from_start;
};

/* A constraint between positions. */
struct retime_link {
    uint32_t from; /* or'ed with RETIME_FROM_START */
    uint32_t to;
};

/* A node that did not run and passes its edges on. */
struct retime_passing {
    uint32_t key; /* how many nodes start before it */
    uint32_t rank;
    weir_node node;
};

struct retime_build {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *timeline;
    const struct simulate_options *options;
    struct retime *out;
    size_t nodes_room;
    weir_node *order; /* of starts */
    uint32_t n_started;
    uint32_t *position;     /* by node; WEIR_NONE: it is not in the order */
    int64_t *not_before_ns; /* by node, beside its release; NULL when all are 0 */
    struct retime_pair *pairs;
    size_t n_pairs, pairs_room;
    struct retime_link *links;
    size_t n_links, links_room;
    uint32_t *slot; /* by position: of which engine's which slot; WEIR_NONE: of none */
    size_t slot_room;
    uint32_t n_slots;
    struct retime_passing *passings; /* in the order in which they stand */
    uint32_t n_passings;
    struct weir_error *err;
};

/* An edge of any sort between nodes: given, implied, induced, or a pair. */
struct retime_edge {
    weir_node producer, consumer;
    int64_t lag_ns;
    bool is_from_start;
};

static inline const struct timeline_span *retime_span(const struct retime_build *build,
                                                      weir_node node)
{
    return &build->timeline->spans[node.index];
}

static inline bool retime_did_run(const struct retime_build *build, weir_node node)
{
    return retime_span(build, node)->start_ns >= 0;
}

/* retime_edges.c */
size_t retime_n_edges(const struct retime_build *build);
struct retime_edge retime_edge_at(const struct retime_build *build, size_t index);
MUST_CHECK enum weir_status retime_add_pair(struct retime_build *build, weir_node producer,
                                            weir_node consumer, bool is_from_start);
MUST_CHECK enum weir_status retime_add_link(struct retime_build *build, uint32_t from, uint32_t to);
MUST_CHECK enum weir_status retime_not_before(struct retime_build *build, weir_node node,
                                              int64_t time_ns);
/** The next position. @param node none: a point */
MUST_CHECK enum weir_status retime_add_position(struct retime_build *build, weir_node node,
                                                uint32_t *position);
/** When every position is there: writes the edges and the releases. */
MUST_CHECK enum weir_status retime_write_edges(struct retime_build *build);

/* retime_bytes.c */
/** Who began a copy that others may begin goes before them. */
MUST_CHECK enum weir_status retime_order_bytes(struct retime_build *build);

/* retime_passing.c */
/** Finds the nodes that did not run and that nodes which did wait for, and what they wait for. */
MUST_CHECK enum weir_status retime_find_passings(struct retime_build *build);

/* retime_overlap.c */
struct retime_overlaps;

/** *out is NULL when no overlap was forbidden. */
MUST_CHECK enum weir_status retime_overlaps_new(struct retime_build *build,
                                                struct retime_overlaps **out);
/** Before the node gets its position: makes the points that it must wait for. */
MUST_CHECK enum weir_status retime_overlaps_before(struct retime_overlaps *overlaps,
                                                   weir_node node);
/** The node has its position: links it to those points, and is waited for from now on. */
MUST_CHECK enum weir_status retime_overlaps_after(struct retime_overlaps *overlaps, weir_node node);
void retime_overlaps_free(struct retime_overlaps *overlaps);

/* retime_trim.c */
/** Drops the edges that other paths cover. */
MUST_CHECK enum weir_status retime_trim(struct retime_build *build);

#endif
