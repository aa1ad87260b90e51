/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some nodes at a time: they are fetched together, and then each of the three goes through them. */
#include "judge/sweep.h"

#define NODES_AT_ONCE 64

struct sweeps {
    struct stall_sweep *stalls;
    struct overlap_sweep *overlaps;
    struct waiting_sweep *waiting;
};

static enum weir_status begin(const struct bound_index *index,
                              const struct waiting_options *options, struct sweeps *sweeps,
                              struct weir_error *err)
{
    const struct graph *graph = bind_of(bound_binding(index));
    const struct timeline *timeline = bound_timeline(index);
    enum weir_status status = stall_sweep_begin(index, NULL, NULL, &sweeps->stalls, err);

    if (status == WEIR_OK) {
        status = overlap_sweep_begin(graph, timeline, &sweeps->overlaps, err);
    }
    if (status == WEIR_OK) {
        status = waiting_sweep_begin(graph, timeline, options, &sweeps->waiting, err);
    }
    return status;
}

static void fetch(const struct bound_index *index, const weir_node *nodes, uint32_t n)
{
    const struct graph *graph = bind_of(bound_binding(index));

    for (uint32_t i = 0; i < n; i++) {
        timeline_soon(bound_timeline(index), nodes[i]);
        graph_node_soon(graph, nodes[i]);
    }
}

static enum weir_status go_through(const struct bound_index *index, const struct sweeps *sweeps,
                                   struct weir_error *err)
{
    uint32_t n_started;
    const weir_node *order = bound_order(index, &n_started);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0, n; i < n_started && status == WEIR_OK; i += n) {
        n = n_started - i < NODES_AT_ONCE ? n_started - i : NODES_AT_ONCE;
        fetch(index, order + i, n);
        status = stall_sweep_add(sweeps->stalls, order + i, n, err);
        if (status == WEIR_OK) {
            status = overlap_sweep_add(sweeps->overlaps, order + i, n, err);
        }
        if (status == WEIR_OK) {
            status = waiting_sweep_add(sweeps->waiting, order + i, n, err);
        }
    }
    return status;
}

static enum weir_status end(const struct sweeps *sweeps, struct stalls *stalls,
                            struct overlaps *overlaps, struct waiting *waiting,
                            struct weir_error *err)
{
    enum weir_status status = stall_sweep_end(sweeps->stalls, stalls, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = overlap_sweep_end(sweeps->overlaps, overlaps, err);
    if (status != WEIR_OK) {
        stalls_free(stalls);
        return status;
    }
    status = waiting_sweep_end(sweeps->waiting, waiting, err);
    if (status != WEIR_OK) {
        stalls_free(stalls);
        overlaps_free(overlaps);
    }
    return status;
}

enum weir_status sweep_find(const struct bound_index *index, const struct waiting_options *options,
                            struct stalls *stalls, struct overlaps *overlaps,
                            struct waiting *waiting, struct weir_error *err)
{
    struct sweeps sweeps = {NULL, NULL, NULL};
    enum weir_status status = begin(index, options, &sweeps, err);

    if (status == WEIR_OK) {
        status = go_through(index, &sweeps, err);
    }
    if (status == WEIR_OK) {
        status = end(&sweeps, stalls, overlaps, waiting, err);
    }
    stall_sweep_free(sweeps.stalls);
    overlap_sweep_free(sweeps.overlaps);
    waiting_sweep_free(sweeps.waiting);
    return status;
}
