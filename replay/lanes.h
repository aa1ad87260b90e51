/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which queue each action of a realized plan runs on: one for each slot of an engine that the plan
 * used at once, one for each action at once of each kind that needs no engine. */
#ifndef WEIR_REPLAY_LANES_H
#define WEIR_REPLAY_LANES_H

#include "graph/timeline.h"

#define LANES_MOST 256

struct lane {
    weir_engine engine;     /* none: of nodes of that kind without an engine */
    enum node_kind kind;    /* when engine is none */
    uint32_t slot;          /* from 0, among the lanes of the engine or kind */
    int64_t busy_until_ns;  /* in the plan: scratch */
    uint32_t next_of_group; /* scratch */
};

struct lanes {
    struct lane *lanes;
    uint32_t n_lanes;
    uint32_t *of_node; /* WEIR_NONE: no queue: it has no length and no engine, or does not run */
};

/** Does an action of that kind and planned length need a queue when it needs no engine? Copies do,
 *  since they move bytes all the same. */
bool lanes_needs_queue(enum node_kind kind, int64_t isolated_ns);

/** Does the plan itself put all that runs on the queue in an order? It does on an engine of one slot. */
bool lanes_is_ordered(const struct graph *graph, const struct lane *lane);

/** Assigns each started node to the first slot that is free in the plan when it starts.
 *  @param order of n_started nodes  @param arena owns the result
 *  WEIR_DEVICE when more than LANES_MOST queues would be needed */
MUST_CHECK enum weir_status lanes_assign(const struct graph *graph, const struct timeline *plan,
                                         const weir_node *order, uint32_t n_started,
                                         struct arena *arena, struct lanes *out,
                                         struct weir_error *err);

/** "sm", "sm/1", "compute without engine/0" */
void lanes_name(const struct graph *graph, const struct lane *lane, char *out, size_t out_bytes);

#endif
