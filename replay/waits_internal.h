/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges between steps before they are reduced. */
#ifndef WEIR_REPLAY_WAITS_INTERNAL_H
#define WEIR_REPLAY_WAITS_INTERNAL_H

#include "replay/waits.h"

/* An edge that no statement says: made here, by consumer. */
struct made_edge {
    uint32_t producer, consumer; /* nodes */
    bool is_from_start;
    enum inserted_why why;
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

/* What became of the nodes that have a fallback or are one. Both by node, as planned, -1 for all
 * others; NULL when the graph has none. */
struct fallbacks {
    int64_t *called_ns;  /* of one that stands in for others: when the first of those gave way */
    int64_t *settled_ns; /* when it gave way itself */
};

/** Finds who gave way, and adds an edge from each node that started to every fallback that was not
 *  needed for it, nor for what stands in for it (waits_fallback.c). The arena owns the lists. */
MUST_CHECK enum weir_status waits_fallbacks(const struct graph *graph, const struct timeline *plan,
                                            struct arena *arena, struct fallbacks *out,
                                            struct made_edges *edges, struct weir_error *err);

/** Lists what the replay has inserted: made edges that are no repetition, pairs on one queue, times
 *  (waits_inserted.c). @param is_open by step: no edge puts it behind the one before on its queue */
MUST_CHECK enum weir_status waits_list_inserted(
    const struct binding *binding, const struct timeline *plan, const struct waits_steps *steps,
    const struct lanes *lanes, const struct waits_options *options, const struct made_edges *edges,
    const bool *is_open, struct arena *arena, struct waits *out, struct weir_error *err);

#endif
