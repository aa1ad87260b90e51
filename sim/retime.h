/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized plan in fixed order: whatever a node waited for is an edge, so that other lengths are
 * timed in one pass, without dispatch.
 *
 * The order stays legal whatever the lengths are: on each slot of an engine nodes follow one another
 * as they did; who took bytes waits for all that gave them back; who began a copy that others may
 * begin, begins it; nodes that may not overlap stay in the order in which they were; fallbacks that
 * were taken are taken, no earlier than the windows closed; and what a policy held starts no earlier
 * than it let it go. Two limits: a node of realized length 0 is held by no forbidden overlap, so that
 * it must keep that length where there are any; and a window closes by the mean length of its node. */
#ifndef WEIR_SIM_RETIME_H
#define WEIR_SIM_RETIME_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "sim/simulate.h"

/* By position, an order that respects every edge: given, implied, induced, and from the node that
 * gave back a slot of an engine to the one that took it. An edge that another path covers is not
 * there. A position without a node is a point in time, of length 0, that others wait for: where many
 * wait for many, and where a node that did not run passes its edges on. */
struct retime {
    uint32_t n_nodes;    /* positions */
    weir_node *nodes;    /* by position; none: a point */
    uint32_t *first;     /* by position: its edges are from[first[p]] up to the next one's; one more
                            ends the last */
    uint32_t *from;      /* position of the producer, or'ed with RETIME_FROM_START */
    int64_t *lag_ns;     /* by edge; NULL when all are 0 */
    int64_t *release_ns; /* by position: no earlier start; NULL when all are 0 */
};

#define RETIME_FROM_START 0x80000000u

/** Compiles the order that the timeline realized. With the lengths that it realized, retime_pass
 *  gives its makespan, and every start as it was.
 *  @param timeline complete, of the graph that is bound, with its details: induced edges and waits
 *  @param options  what it was simulated with: they say which overlaps were forbidden
 *  @return WEIR_OK; WEIR_INPUT when the timeline is not complete, or not one of this graph on its
 *  machine; WEIR_MEMORY. The caller frees. */
MUST_CHECK enum weir_status retime_make(const struct binding *binding,
                                        const struct timeline *timeline,
                                        const struct simulate_options *options, struct retime *out,
                                        struct weir_error *err);
void retime_free(struct retime *retime);

/** The lengths that the timeline realized, by position: room for n_nodes. */
void retime_lengths(const struct retime *retime, const struct timeline *timeline,
                    int64_t *length_ns);

/** Starts every node as early as its edges allow.
 *  @param length_ns by position, none negative  @param start_ns by position, written
 *  @return the last finish; INT64_MAX when it passes that */
int64_t retime_pass(const struct retime *retime, const int64_t *length_ns, int64_t *start_ns);

#endif
