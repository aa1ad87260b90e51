/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A problem of storage as it is drawn from a graph. */
#ifndef WEIR_POLICIES_ARENA_GRAPH_INTERNAL_H
#define WEIR_POLICIES_ARENA_GRAPH_INTERNAL_H

#include "base/names.h"
#include "policies/arena_graph.h"

/* A buffer on the way, before they stand by their first step. */
struct arena_draft_buffer {
    struct arena_buffer value;
    weir_copy copy; /* that it is, or whose last uses end it; WEIR_NONE */
    weir_node node; /* that needs it; none of a copy */
};

struct arena_drafting {
    const struct binding *binding;
    const struct graph *graph;
    const struct arena_source *source;
    uint32_t *position;  /* by node */
    uint32_t *buffer_of; /* by copy; WEIR_NONE of one that is not planned */
    int64_t *align_of;   /* by root object: its own and that of its aliases */
    struct arena_draft_buffer *items;
    size_t room;
    uint32_t n;
    struct arena memory;
    struct names *names;
    uint32_t *tried; /* by name: the greatest number that was put behind it */
    size_t tried_room;
    struct arena_left_out left_out;
};

/** Of the buffers, which are in their order: which nodes begin and end each, and what that makes of each
 *  pair. Takes the positions of nodes over. */
MUST_CHECK enum weir_status arena_lifetimes_make(struct arena_drafting *drafting,
                                                 struct arena_problem *problem,
                                                 struct weir_error *err);

#endif
