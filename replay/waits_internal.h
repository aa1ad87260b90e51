/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges between steps before they are reduced. */
#ifndef WEIR_REPLAY_WAITS_INTERNAL_H
#define WEIR_REPLAY_WAITS_INTERNAL_H

#include "replay/waits.h"

/* An edge that no statement says: made here, by consumer. */
struct made_edge {
    uint32_t producer, consumer; /* nodes */
    bool is_from_start;
};

struct made_edges {
    struct made_edge *edges; /* malloc'ed */
    size_t n_edges, room;
};

MUST_CHECK enum weir_status made_edges_add(struct made_edges *edges, struct made_edge edge,
                                           struct weir_error *err);

/** Adds an edge between any two nodes that must not run together, in the order of the plan, as far
 *  as order on a queue does not keep them apart (waits_overlap.c). */
MUST_CHECK enum weir_status waits_forbid(const struct graph *graph, const struct timeline *plan,
                                         const struct waits_steps *steps, const struct lanes *lanes,
                                         const struct waits_options *options,
                                         struct made_edges *edges, struct weir_error *err);

#endif
