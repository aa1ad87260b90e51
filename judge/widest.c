/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few nodes are kept in order while all are looked at once. */
#include "judge/widest.h"

#define MOST 16

static int64_t greatest(const struct graph_duration *duration)
{
    int64_t value = 0;

    for (uint32_t i = 0; i < duration->n_values; i++) {
        value = duration->values_ns[i] > value ? duration->values_ns[i] : value;
    }
    return value;
}

/* How far it reaches beyond its mean; 0 when nothing is drawn. */
static int64_t reach_ns(const struct graph *graph, weir_node id)
{
    struct graph_node node;
    int64_t mean_ns, reach = 0;

    graph_node(graph, id, &node);
    if (!node.has_duration || !graph_node_length_ns(graph, id, &mean_ns)) {
        return 0;
    }
    switch (node.duration.kind) {
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_UNKNOWN:
        break;
    case DISTRIBUTION_NORMAL:
    case DISTRIBUTION_LOGNORMAL:
    case DISTRIBUTION_GAMMA:
        reach = __builtin_mul_overflow(node.duration.values_ns[1], 3, &reach) ? INT64_MAX : reach;
        break;
    case DISTRIBUTION_UNIFORM:
    case DISTRIBUTION_EMPIRICAL:
        reach = greatest(&node.duration) - mean_ns;
        break;
    }
    return reach;
}

uint32_t widest_find(const struct graph *graph, const struct timeline *timeline, weir_node *nodes,
                     uint32_t most)
{
    int64_t reaches[MOST];
    uint32_t n = 0;

    most = most < MOST ? most : MOST;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        int64_t reach = timeline->spans[i].finish_ns < 0 ? 0 : reach_ns(graph, (weir_node){i});
        uint32_t at = n;

        while (at > 0 && reaches[at - 1] < reach) {
            at--;
        }
        if (reach <= 0 || at == most) {
            continue;
        }
        n += n < most ? 1 : 0;
        for (uint32_t j = n - 1; j > at; j--) {
            reaches[j] = reaches[j - 1];
            nodes[j] = nodes[j - 1];
        }
        reaches[at] = reach;
        nodes[at].index = i;
    }
    return n;
}
