/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lifetimes of a graph in one domain: of its copies, of workspace and of staging. Steps are the
 * positions of nodes in the order of the binding; a lifetime has both its first and its last node in
 * it, so that one begins after another only when old.last < new.first. */
#ifndef WEIR_POLICIES_ARENA_GRAPH_H
#define WEIR_POLICIES_ARENA_GRAPH_H

#include "graph/bind.h"
#include "policies/arena_plan.h"

/* What orders the nodes beside the edges of the graph. */
enum arena_queues {
    ARENA_QUEUES_FOUND, /* one when all that takes time and bytes there is on one slot of one engine */
    ARENA_QUEUES_ONE,    /* all nodes follow each other as they stand in the order */
    ARENA_QUEUES_SEVERAL /* nothing: reuse is by happens-before alone */
};

/* By which nodes the buffers of a problem begin and end, for several queues. */
struct arena_lifetimes {
    const struct binding *binding; /* outlives this */
    uint32_t n_buffers;
    uint32_t *position;    /* by node, in the order of the binding */
    uint32_t *begin_first; /* by buffer, into begins: none of a buffer that is there at once */
    uint32_t *end_first;   /* by buffer, into ends: none of a buffer that stays */
    weir_node *begins;     /* any of them may be the first */
    weir_node *ends;       /* the last of them ends it */
};
void arena_lifetimes_free(struct arena_lifetimes *lifetimes);

struct arena_source {
    weir_domain domain;
    enum arena_queues queues;
};

/* What an arena does not hold. */
struct arena_left_out {
    uint32_t n_retained; /* home copies of retained objects that no offset= pins: they stay */
    int64_t retained_bytes;
    uint32_t n_elsewhere; /* copies in other domains */
};

/** Makes the problem, by `lower`, then as nodes come. An object with offset=N@DOMAIN is fixed there.
 *  An alias takes no bytes; its alignment holds for its object. The binding has to outlive the
 *  problem, which passes arena_problem_check. WEIR_INPUT, WEIR_MEMORY. The caller frees *out. */
MUST_CHECK enum weir_status arena_from_graph(const struct binding *binding,
                                             const struct arena_source *source,
                                             struct arena_problem *out,
                                             struct arena_left_out *left_out,
                                             struct weir_error *err);

#endif
