/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node that passed one which waited was ready, and so started, after that began to wait, and started
 * before it: where those that started then are fewer than all nodes, they alone are asked. */
#include "judge/passers.h"

#include <stdlib.h>

/* Keeps the first to start. */
static void add_passer(struct waiting_event *event, const struct timeline *timeline, uint32_t node)
{
    uint32_t at = event->n_named, order = timeline->spans[node].order;

    event->n_passers++;
    if (at == WAITING_PASSERS) {
        if (order > timeline->spans[event->passers[at - 1].index].order) {
            return;
        }
        at--;
    } else {
        event->n_named++;
    }
    for (; at > 0 && timeline->spans[event->passers[at - 1].index].order > order; at--) {
        event->passers[at] = event->passers[at - 1];
    }
    event->passers[at].index = node;
}

static void add_if_passed(struct waiting_event *event, const struct timeline *timeline,
                          uint32_t node)
{
    const struct timeline_span *span = &timeline->spans[node];

    if (span->ready_ns > event->from_ns && span->ready_ns < event->to_ns &&
        span->order < timeline->spans[event->node.index].order) {
        add_passer(event, timeline, node);
    }
}

/* --- those that started then ---------------------------------------------------------------- */

/* Of the order of starts: those from first to before end. */
struct stretch {
    uint32_t first, end;
};

/* How many of the first n started up to t_ns. */
static uint32_t started_by(const struct timeline *timeline, const weir_node *order, uint32_t n,
                           int64_t t_ns)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (timeline->spans[order[middle].index].start_ns <= t_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* From the start of the wait to the start of the node, or to the end. */
static struct stretch stretch_of(const struct timeline *timeline, const weir_node *order,
                                 uint32_t n_started, const struct waiting_event *event)
{
    struct stretch stretch = {started_by(timeline, order, n_started, event->from_ns), n_started};

    if (event->has_started) {
        stretch.end = started_by(timeline, order, n_started, event->to_ns);
    }
    return stretch;
}

static uint64_t count_in_stretches(const struct timeline *timeline, const weir_node *order,
                                   uint32_t n_started, const struct waiting *out)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < out->n_longest; i++) {
        struct stretch stretch = stretch_of(timeline, order, n_started, &out->longest[i]);

        count += stretch.end - stretch.first;
    }
    return count;
}

static void ask_those(const struct graph *graph, const struct timeline *timeline,
                      const weir_node *order, uint32_t n_started, struct waiting *out)
{
    for (uint32_t i = 0; i < out->n_longest; i++) {
        struct waiting_event *event = &out->longest[i];
        struct stretch stretch = stretch_of(timeline, order, n_started, event);
        weir_engine engine = graph_node_engine(graph, event->node);

        for (uint32_t k = stretch.first; weir_is(engine) && k < stretch.end; k++) {
            if (weir_same(graph_node_engine(graph, order[k]), engine)) {
                add_if_passed(event, timeline, order[k].index);
            }
        }
    }
}

/* --- all nodes ------------------------------------------------------------------------------ */

/* The events by the engine of their nodes: those of engine e are next_event[first_event[e] - 1] and so
 * on, each plus one. */
struct by_engine {
    uint32_t *first, *next;
};

static void ask_all(const struct graph *graph, const struct timeline *timeline,
                    const struct by_engine *events, struct waiting *out)
{
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        weir_engine engine = graph_node_engine(graph, (weir_node){i});

        if (timeline->spans[i].start_ns < 0 || !weir_is(engine)) {
            continue;
        }
        for (uint32_t e = events->first[engine.index]; e != 0; e = events->next[e - 1]) {
            add_if_passed(&out->longest[e - 1], timeline, i);
        }
    }
}

static enum weir_status ask_all_by_engine(const struct graph *graph,
                                          const struct timeline *timeline, struct waiting *out,
                                          struct weir_error *err)
{
    struct by_engine events = {calloc((size_t)graph_n_engines(graph) + 1, sizeof *events.first),
                               calloc((size_t)out->n_longest + 1, sizeof *events.next)};

    if (events.first == NULL || events.next == NULL) {
        free(events.first);
        free(events.next);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < out->n_longest; i++) {
        weir_engine engine = graph_node_engine(graph, out->longest[i].node);

        if (weir_is(engine)) {
            events.next[i] = events.first[engine.index];
            events.first[engine.index] = i + 1;
        }
    }
    ask_all(graph, timeline, &events, out);
    free(events.first);
    free(events.next);
    return WEIR_OK;
}

enum weir_status passers_find(const struct graph *graph, const struct timeline *timeline,
                              const weir_node *order, uint32_t n_started, struct waiting *out,
                              struct weir_error *err)
{
    if (out->n_longest == 0) {
        return WEIR_OK;
    }
    if (n_started > 0 && count_in_stretches(timeline, order, n_started, out) < timeline->n_nodes) {
        ask_those(graph, timeline, order, n_started, out);
        return WEIR_OK;
    }
    return ask_all_by_engine(graph, timeline, out, err);
}
