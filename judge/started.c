/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some nodes at a time: memory brings the next ones while these are dealt with. */
#include "judge/started.h"

#define NODES_AT_ONCE 16 /* more than memory brings at once only gets in the way */

static void fetch(const struct graph *graph, const struct timeline *timeline,
                  const weir_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        timeline_soon(timeline, nodes[i]);
        graph_node_soon(graph, nodes[i]);
    }
}

static void gather(const struct graph *graph, const struct timeline *timeline,
                   const weir_node *nodes, uint32_t n, struct started *out)
{
    for (uint32_t i = 0; i < n; i++) {
        struct graph_node_place place = graph_node_place(graph, nodes[i]);

        out[i] = (struct started){&timeline->spans[nodes[i].index], nodes[i], place.engine,
                                  place.class_, place.group};
    }
}

static uint32_t at_most(uint32_t n)
{
    return n < NODES_AT_ONCE ? n : NODES_AT_ONCE;
}

enum weir_status started_each(const struct graph *graph, const struct timeline *timeline,
                              const weir_node *order, uint32_t n, started_take *take, void *arg,
                              struct weir_error *err)
{
    struct started nodes[NODES_AT_ONCE];
    enum weir_status status = WEIR_OK;

    fetch(graph, timeline, order, at_most(n));
    for (uint32_t i = 0, count; i < n && status == WEIR_OK; i += count) {
        count = at_most(n - i);
        fetch(graph, timeline, order + i + count, at_most(n - i - count));
        gather(graph, timeline, order + i, count, nodes);
        status = take(arg, nodes, count, err);
    }
    return status;
}
