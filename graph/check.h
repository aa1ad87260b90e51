/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that can be found of a graph before it runs. */
#ifndef WEIR_GRAPH_CHECK_H
#define WEIR_GRAPH_CHECK_H

#include "graph/bind.h"

/** Binds the graph and adds what binding alone does not ask: costs that are missing or unknown,
 *  objects that nobody touches, what graph/audit.h looks for, fallbacks that write less than what they stand in for, how many
 *  costs have no evidence. What is wrong is in the report, and then *out is NULL; the status is
 *  WEIR_OK whenever the check could be made. */
MUST_CHECK enum weir_status check_graph(const struct graph *graph, struct report *report,
                                        struct binding **out, struct weir_error *err);

/** Why the length of a node that runs is not known (graph_node_length_ns said no):
 *  FINDING_UNKNOWN_COST, FINDING_MISSING_COST, or FINDING_OUT_OF_RANGE when its bytes take longer
 *  than 64 bits of nanoseconds hold. @param text what was found and expected, without the remedy */
enum finding_code check_cost(const struct graph *graph, weir_node node, const char **text);
/** The same as an error, for what has to know it.  @return WEIR_INPUT */
MUST_CHECK enum weir_status check_cost_error(const struct graph *graph, weir_node node,
                                             struct weir_error *err);

#endif
