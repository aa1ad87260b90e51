/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each of the three goes through some nodes, and then through the next. */
#include "judge/sweep.h"

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

static enum weir_status take_some(void *arg, const struct started *nodes, uint32_t n,
                                  struct weir_error *err)
{
    const struct sweeps *sweeps = arg;
    enum weir_status status = stall_sweep_add(sweeps->stalls, nodes, n, err);

    if (status == WEIR_OK) {
        status = overlap_sweep_add(sweeps->overlaps, nodes, n, err);
    }
    if (status == WEIR_OK) {
        status = waiting_sweep_add(sweeps->waiting, nodes, n, err);
    }
    return status;
}

static enum weir_status go_through(const struct bound_index *index, struct sweeps *sweeps,
                                   struct weir_error *err)
{
    uint32_t n_started;
    const weir_node *order = bound_order(index, &n_started);

    return started_each(bind_of(bound_binding(index)), bound_timeline(index), order, n_started,
                        take_some, sweeps, err);
}

static enum weir_status end(const struct bound_index *index, const struct sweeps *sweeps,
                            struct stalls *stalls, struct overlaps *overlaps,
                            struct waiting *waiting, struct weir_error *err)
{
    uint32_t n_started;
    const weir_node *order = bound_order(index, &n_started);
    enum weir_status status = stall_sweep_end(sweeps->stalls, stalls, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = overlap_sweep_end(sweeps->overlaps, overlaps, err);
    if (status != WEIR_OK) {
        stalls_free(stalls);
        return status;
    }
    status = waiting_sweep_end(sweeps->waiting, order, n_started, waiting, err);
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
        status = end(index, &sweeps, stalls, overlaps, waiting, err);
    }
    stall_sweep_free(sweeps.stalls);
    overlap_sweep_free(sweeps.overlaps);
    waiting_sweep_free(sweeps.waiting);
    return status;
}
