/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a path of edges lead from the finish of one node to the start of another? Asked for many
 * pairs at once, since then one pass over the edges answers for many of them. */
#ifndef WEIR_GRAPH_REACH_H
#define WEIR_GRAPH_REACH_H

#include "graph/adjacency.h"

struct reach_question {
    uint32_t producer, consumer;
    bool is_met; /* the answer */
};

struct reach {
    const struct binding *binding;
    const struct adjacency *next; /* of the given edges, and of implied ones if these count */
    const uint32_t *position;     /* of each node in an order that respects them */
};

/** @param questions by rising position of the producer */
MUST_CHECK enum weir_status reach_answer(const struct reach *reach,
                                         struct reach_question *questions, uint32_t n_questions,
                                         struct weir_error *err);

/** Whether the edge leaves the finish of its producer, as implied ones do, and not the start. */
bool reach_leaves_finish(const struct graph *graph, uint32_t edge);

/* --- the two ways --- */

/** Carries a bit for each of 64 producers along the edges, from the first of them to the last
 *  consumer, again and again. */
MUST_CHECK enum weir_status reach_by_bits(const struct reach *reach,
                                          struct reach_question *questions, uint32_t n_questions,
                                          struct weir_error *err);
/** @return what that costs: how many times it passes a node */
uint64_t reach_bits_cost(const struct reach *reach, const struct reach_question *questions,
                         uint32_t n_questions);
/** Cuts the graph into chains of nodes that follow each other, and carries along the edges how far
 *  in each of a few chains everything has finished.
 *  @param most_cost as of reach_bits_cost @param is_done false when it would cost more: then nothing
 *  has been answered */
MUST_CHECK enum weir_status reach_by_chains(const struct reach *reach,
                                            struct reach_question *questions, uint32_t n_questions,
                                            uint64_t most_cost, bool *is_done,
                                            struct weir_error *err);

#endif
