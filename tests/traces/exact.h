/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a graph give its recording back? Judged from the statements of the graph alone, in the
 * plainest way: each node starts when its links let it, and finds a slot and room. */
#ifndef TESTS_TRACES_EXACT_H
#define TESTS_TRACES_EXACT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/bind.h"
#include "graph/timeline.h"

#define EXACT_TEXT 400

/* The latest of what the node waits for: its release, and each link into it. */
static inline void exact_ready(const struct graph *graph, const struct binding *binding,
                               const struct timeline *timeline, int64_t *ready_ns)
{
    uint32_t n_implied = bind_n_edges(binding);
    struct graph_node node;
    struct graph_edge edge;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        graph_node(graph, (weir_node){i}, &node);
        ready_ns[i] = node.release_ns;
    }
    for (uint32_t i = 0; i < graph_n_edges(graph); i++) {
        int64_t at_ns;
        graph_edge(graph, (weir_edge){i}, &edge);
        at_ns = edge.is_from_start ? timeline->spans[edge.producer.index].start_ns
                                   : timeline->spans[edge.producer.index].finish_ns;
        at_ns += edge.lag_ns;
        if (at_ns > ready_ns[edge.consumer.index])
            ready_ns[edge.consumer.index] = at_ns;
    }
    for (uint32_t i = 0; i < n_implied; i++) {
        const struct bind_edge *implied = &bind_edges(binding)[i];
        int64_t at_ns = timeline->spans[implied->producer.index].finish_ns;
        if (at_ns > ready_ns[implied->consumer.index])
            ready_ns[implied->consumer.index] = at_ns;
    }
}

/* How many others of its engine run when the node starts (a node of length zero runs at its instant,
 * and at most one of those at a time). */
static inline int64_t exact_beside(const struct graph *graph, const struct timeline *timeline,
                                   uint32_t id)
{
    const struct timeline_span *span = &timeline->spans[id];
    weir_engine engine = graph_node_engine(graph, (weir_node){id});
    int64_t n = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        const struct timeline_span *other = &timeline->spans[i];
        if (i != id && weir_same(engine, graph_node_engine(graph, (weir_node){i})) &&
            other->start_ns <= span->start_ns && other->finish_ns > span->start_ns)
            n++;
    }
    return n;
}

static inline bool exact_fits(const struct graph *graph, const struct timeline *timeline,
                              char text[EXACT_TEXT])
{
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        weir_engine engine = graph_node_engine(graph, (weir_node){i});
        if (weir_is(engine) &&
            exact_beside(graph, timeline, i) + 1 > graph_engine(graph, engine)->slots) {
            (void)snprintf(text, EXACT_TEXT, "%s finds no slot",
                           graph_node_name(graph, (weir_node){i}));
            return false;
        }
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];
        if (row->bytes > graph_domain(graph, row->domain)->capacity_bytes ||
            row->bytes > timeline->peak_bytes[row->domain.index]) {
            (void)snprintf(text, EXACT_TEXT, "%" PRId64 " bytes do not fit", row->bytes);
            return false;
        }
    }
    return true;
}

static inline bool exact_starts(const struct graph *graph, const struct binding *binding,
                                const struct timeline *timeline, char text[EXACT_TEXT])
{
    int64_t *ready_ns = calloc((size_t)graph_n_nodes(graph) + 1, sizeof *ready_ns);
    bool is_exact = ready_ns != NULL;

    if (ready_ns != NULL)
        exact_ready(graph, binding, timeline, ready_ns);
    for (uint32_t i = 0; i < graph_n_nodes(graph) && is_exact; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        int64_t length_ns = -1;
        is_exact = graph_node_length_ns(graph, (weir_node){i}, &length_ns) &&
                   ready_ns[i] == span->start_ns && length_ns == span->finish_ns - span->start_ns;
        if (!is_exact)
            (void)snprintf(text, EXACT_TEXT,
                           "%.200s: starts at %" PRId64 ", seen to start at %" PRId64,
                           graph_node_name(graph, (weir_node){i}), ready_ns[i], span->start_ns);
    }
    free(ready_ns);
    return is_exact;
}

/* True when it does; else text says what differs. */
static inline bool exact_replay(const struct graph *graph, const struct timeline *timeline,
                                char text[EXACT_TEXT])
{
    struct weir_error err;
    struct report *report = report_new(10);
    struct binding *binding = NULL;
    bool is_exact;

    if (bind_graph(graph, report, &binding, &err) != WEIR_OK) {
        (void)snprintf(text, EXACT_TEXT, "not legal: %.300s",
                       report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
        report_free(report);
        return false;
    }
    is_exact = exact_starts(graph, binding, timeline, text) && exact_fits(graph, timeline, text);
    bind_free(binding);
    report_free(report);
    return is_exact;
}

#endif
