/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a node takes, by what its statement and its engine say. */
#include <assert.h>

#include "base/number.h"
#include "graph/graph_internal.h"

__extension__ typedef __int128 wide;

#define NS_PER_S 1000000000

bool graph_kind_is_copy(enum node_kind kind)
{
    return kind == NODE_TRANSFER || kind == NODE_PREFETCH || kind == NODE_OFFLOAD;
}

static bool is_free_by_default(enum node_kind kind)
{
    return kind == NODE_ALLOCATION || kind == NODE_MAPPING || kind == NODE_RECLAMATION ||
           kind == NODE_BARRIER;
}

/* sum / n to the nearest, halves up: times are not negative, so that is away from zero. */
static int64_t rounded_mean(const int64_t *values, uint32_t n)
{
    wide sum = 0;

    assert(n > 0);
    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    return (int64_t)((2 * sum + n) / (2 * (wide)n));
}

static bool mean_of(const struct graph_duration *duration, int64_t *mean_ns)
{
    switch (duration->kind) {
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_NORMAL:
    case DISTRIBUTION_LOGNORMAL:
    case DISTRIBUTION_GAMMA:
        *mean_ns = duration->values_ns[0];
        return true;
    case DISTRIBUTION_UNIFORM:
    case DISTRIBUTION_EMPIRICAL:
        *mean_ns = rounded_mean(duration->values_ns, duration->n_values);
        return true;
    case DISTRIBUTION_UNKNOWN:
        return false;
    }
    return false;
}

/* latency + bytes / bandwidth of the engine; false when it says too little or the sum overflows. */
static bool transfer_time(const struct graph *graph, uint32_t engine, int64_t bytes,
                          int64_t *length_ns)
{
    const struct graph_engine *of;
    int64_t moving_ns;

    if (engine == WEIR_NONE || bytes < 0)
        return false;
    of = &graph->engines[engine];
    if (of->bandwidth_bytes_per_s <= 0 ||
        !number_mul_div_ceil(bytes, NS_PER_S, of->bandwidth_bytes_per_s, &moving_ns) ||
        __builtin_add_overflow(of->latency_ns, moving_ns, &moving_ns))
        return false;
    *length_ns = moving_ns;
    return true;
}

bool graph_node_length_ns(const struct graph *graph, weir_node id, int64_t *length_ns)
{
    const struct node_row *row = &graph->nodes[id.index];
    enum node_kind kind = graph_node_kind(graph, id);
    int64_t bytes = -1;

    if (row->distribution != 0 && (row->flags & NODE_COST_IS_DURATION) == 0) {
        struct graph_node node;
        graph_node(graph, id, &node);
        return mean_of(&node.duration, length_ns);
    }
    if ((row->flags & NODE_COST_IS_DURATION) != 0) {
        *length_ns = row->cost;
        return true;
    }
    if ((row->flags & NODE_COST_IS_BYTES) != 0)
        bytes = row->cost;
    else if (graph_kind_is_copy(kind) && row->object != WEIR_NONE)
        bytes = graph->objects[row->object].size_bytes;
    if (transfer_time(graph, row->engine, bytes, length_ns))
        return true;
    if (!is_free_by_default(kind))
        return false;
    *length_ns = 0;
    return true;
}
