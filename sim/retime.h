/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized plan in fixed order: whatever a node waited for is an edge, so that other lengths are
 * timed in one pass, without dispatch. */
#ifndef WEIR_SIM_RETIME_H
#define WEIR_SIM_RETIME_H

#include "graph/bind.h"
#include "graph/timeline.h"

/* By position, an order that respects every edge: given, implied, induced, and from the node that
 * gave back a slot of an engine to the one that took it. Nodes that did not run are not in it; what
 * passes through them is an edge. */
struct retime {
    uint32_t n_nodes;
    weir_node *nodes;    /* by position */
    uint32_t *first;     /* by position: its edges are from[first[p]] up to the next one's; one more
                            ends the last */
    uint32_t *from;      /* position of the producer, or'ed with RETIME_FROM_START */
    int64_t *lag_ns;     /* by edge; NULL when all are 0 */
    int64_t *release_ns; /* by position: no earlier start; NULL when all are 0 */
};

#define RETIME_FROM_START 0x80000000u

/** Compiles the order that the timeline realized. With the lengths that it realized, retime_pass
 *  gives its makespan, and every start no later than it was.
 *  @param timeline complete, of the graph that is bound, with its induced edges
 *  @return WEIR_OK; WEIR_INPUT when the timeline is not complete; WEIR_MEMORY. The caller frees. */
MUST_CHECK enum weir_status retime_make(const struct binding *binding,
                                        const struct timeline *timeline, struct retime *out,
                                        struct weir_error *err);
void retime_free(struct retime *retime);

/** Starts every node as early as its edges allow.
 *  @param length_ns by position  @param start_ns by position, written
 *  @return the last finish; INT64_MAX when it passes that */
int64_t retime_pass(const struct retime *retime, const int64_t *length_ns, int64_t *start_ns);

#endif
