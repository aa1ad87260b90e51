/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices take the first lane of their engine that is free when they start: the same slices always
 * take the same lanes. Slices of length zero have lanes of their own, on which each is drawn one
 * nanosecond long, right after the one before it when both are of one instant. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/chrome_internal.h"

/* An instant is drawn at most this much late; then it opens another lane. */
#define MOST_LATE_NS 1000

/* When the lane is free again, by lane of the engine and sort at hand. */
struct lanes {
    int64_t *free_ns;
    size_t n, room;
    uint32_t first_thread;
};

static bool is_shown(const struct chrome_timeline *timeline, const struct chrome_options *options,
                     uint32_t node, struct chrome_slice *slice)
{
    const struct timeline_span *span = &timeline->timeline->spans[node];
    int64_t end_ns = span->finish_ns;

    if (span->start_ns < 0)
        return false;
    if (end_ns < 0) { /* it was still running when the run ended */
        end_ns = timeline->timeline->makespan_ns > span->start_ns ? timeline->timeline->makespan_ns
                                                                  : span->start_ns;
    }
    *slice = (struct chrome_slice){.node = node, .start_ns = span->start_ns, .end_ns = end_ns};
    return span->start_ns < options->to_ns && end_ns >= options->from_ns;
}

/* What orders slices: their engine (those without one last), lasting ones first, then time. */
struct sort_key {
    uint64_t lane; /* engine and sort */
    int64_t start_ns;
    uint32_t order, slice;
};

static int compare_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;

    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static uint64_t lane_key(const struct chrome_timeline *timeline, const struct chrome_slice *slice)
{
    weir_engine engine = graph_node_engine(timeline->graph, (weir_node){slice->node});

    return (uint64_t)engine.index << 1 | (slice->start_ns == slice->end_ns);
}

static enum weir_status add_lane(struct chrome_layout *layout, struct lanes *lanes, uint64_t key,
                                 struct weir_error *err)
{
    enum weir_status status =
        array_grow(&layout->threads, &layout->threads_room, layout->n_threads + 1, err);

    if (status == WEIR_OK)
        status = array_grow(&lanes->free_ns, &lanes->room, lanes->n + 1, err);
    if (status != WEIR_OK)
        return status;
    layout->threads[layout->n_threads++] = (struct chrome_thread){
        .engine = {(uint32_t)(key >> 1)},
        .is_instants = (key & 1) != 0,
        .number = (uint32_t)lanes->n + 1,
    };
    lanes->free_ns[lanes->n++] = INT64_MIN;
    return WEIR_OK;
}

/* Gives the slice the first lane that is free at its start, or soon after when it is an instant. */
static enum weir_status take_lane(struct chrome_layout *layout, struct lanes *lanes, uint64_t key,
                                  struct chrome_slice *slice, struct weir_error *err)
{
    bool is_instant = slice->start_ns == slice->end_ns;
    int64_t patience_ns = is_instant ? MOST_LATE_NS : 0;
    size_t lane = 0;

    while (lane < lanes->n && lanes->free_ns[lane] > slice->start_ns &&
           lanes->free_ns[lane] - slice->start_ns > patience_ns)
        lane++;
    if (lane == lanes->n) {
        enum weir_status status = add_lane(layout, lanes, key, err);

        if (status != WEIR_OK)
            return status;
    }
    if (lanes->free_ns[lane] > slice->start_ns)
        slice->start_ns = lanes->free_ns[lane];
    if (is_instant)
        slice->end_ns = slice->start_ns + 1;
    slice->thread = lanes->first_thread + (uint32_t)lane;
    lanes->free_ns[lane] = slice->end_ns;
    return WEIR_OK;
}

static enum weir_status take_lanes(struct chrome_layout *layout, const struct sort_key *keys,
                                   struct weir_error *err)
{
    struct lanes lanes = {.n = 0};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < layout->n_slices && status == WEIR_OK; i++) {
        if (i == 0 || keys[i].lane != keys[i - 1].lane) {
            lanes.n = 0;
            lanes.first_thread = (uint32_t)layout->n_threads;
        }
        status = take_lane(layout, &lanes, keys[i].lane, &layout->slices[keys[i].slice], err);
    }
    free(lanes.free_ns);
    return status;
}

/* By thread, then start. */
static int compare_slices(const void *left, const void *right)
{
    const struct chrome_slice *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

enum weir_status chrome_layout_make(const struct chrome_timeline *timeline,
                                    const struct chrome_options *options, struct chrome_layout *out,
                                    struct weir_error *err)
{
    uint32_t n_nodes = timeline->timeline->n_nodes;
    struct sort_key *keys = calloc((size_t)n_nodes + 1, sizeof *keys);
    enum weir_status status;

    *out = (struct chrome_layout){.n_slices = 0};
    out->slices = calloc((size_t)n_nodes + 1, sizeof *out->slices);
    out->slice_of = calloc((size_t)n_nodes + 1, sizeof *out->slice_of);
    if (keys == NULL || out->slices == NULL || out->slice_of == NULL) {
        free(keys);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        struct chrome_slice *slice = &out->slices[out->n_slices];

        out->slice_of[i] = UINT32_MAX;
        if (!is_shown(timeline, options, i, slice))
            continue;
        keys[out->n_slices] = (struct sort_key){lane_key(timeline, slice), slice->start_ns,
                                                timeline->timeline->spans[i].order, out->n_slices};
        out->n_slices++;
    }
    qsort(keys, out->n_slices, sizeof *keys, compare_keys);
    status = take_lanes(out, keys, err);
    free(keys);
    if (status != WEIR_OK)
        return status;
    qsort(out->slices, out->n_slices, sizeof *out->slices, compare_slices);
    for (uint32_t i = 0; i < out->n_slices; i++)
        out->slice_of[out->slices[i].node] = i;
    return WEIR_OK;
}

void chrome_layout_free(struct chrome_layout *layout)
{
    free(layout->slices);
    free(layout->slice_of);
    free(layout->threads);
    *layout = (struct chrome_layout){.n_slices = 0};
}
