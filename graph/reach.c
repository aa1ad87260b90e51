/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which way to go about the questions. */
#include "graph/reach.h"

#include "graph/graph_internal.h"

#define PASSES_WELL_SPENT 32 /* over all nodes, before another way is looked for */

bool reach_leaves_finish(const struct graph *graph, uint32_t edge)
{
    return (graph->edges.kinds[edge] & EDGE_IS_FROM_START) == 0;
}

enum weir_status reach_answer(const struct reach *reach, struct reach_question *questions,
                              uint32_t n_questions, struct weir_error *err)
{
    uint64_t cost = reach_bits_cost(reach, questions, n_questions);
    enum weir_status status = WEIR_OK;
    bool is_done = false;

    if (cost > (uint64_t)PASSES_WELL_SPENT * graph_n_nodes(bind_of(reach->binding))) {
        status = reach_by_chains(reach, questions, n_questions, cost, &is_done, err);
    }
    return status != WEIR_OK || is_done ? status
                                        : reach_by_bits(reach, questions, n_questions, err);
}
