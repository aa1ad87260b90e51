/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that started, in the order of their starts, each with what the sweeps want of it: that is
 * fetched once, some nodes at a time, and stays near. */
#ifndef WEIR_JUDGE_STARTED_H
#define WEIR_JUDGE_STARTED_H

#include "graph/timeline.h"

struct started {
    const struct timeline_span *span;
    weir_node node;
    weir_engine engine; /* none */
    weir_class class_;  /* as graph_node_class */
    weir_text group;    /* 0: none */
};

/** Takes the next n.  @return WEIR_OK, else what ends the sweep */
typedef enum weir_status started_take(void *arg, const struct started *nodes, uint32_t n,
                                      struct weir_error *err);

/** Hands over all n of @p order in turn.  @return WEIR_OK, or what take gave */
MUST_CHECK enum weir_status started_each(const struct graph *graph, const struct timeline *timeline,
                                         const weir_node *order, uint32_t n, started_take *take,
                                         void *arg, struct weir_error *err);

#endif
