/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node gave way when it was to run, did not start, and has a fallback and a window. One that is
 * itself a fallback was to run only when one of those it stands in for gave way: so on along the
 * chains, which are short and form no circle. */
#include "judge/gave_way.h"

#include <stdlib.h>

/* A node with a fallback that did not start. */
struct open {
    struct gave_way way;
    int64_t closes_ns;
    bool is_fallback; /* of another */
    bool is_settled;  /* it gave way */
};

static int64_t closes_ns(const struct graph *graph, weir_node node, int64_t deadline_ns)
{
    int64_t length_ns = 0;

    if (!graph_node_length_ns(graph, node, &length_ns) || deadline_ns < length_ns) {
        return 0;
    }
    return deadline_ns - length_ns;
}

static enum weir_status list_open(const struct graph *graph, const struct timeline *timeline,
                                  struct open **out, size_t *n, struct weir_error *err)
{
    struct open *open;
    size_t n_idle = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        n_idle += timeline->spans[i].start_ns < 0 ? 1 : 0;
    }
    open = calloc(n_idle + 1, sizeof *open);
    if (open == NULL) {
        return weir_error_memory(err);
    }
    *n = 0;
    for (uint32_t i = 0; i < timeline->n_nodes && n_idle > 0; i++) {
        struct graph_node value;

        if (timeline->spans[i].start_ns >= 0 || !graph_node_is_on(graph, (weir_node){i})) {
            continue;
        }
        graph_node(graph, (weir_node){i}, &value);
        if (value.fallback == FALLBACK_NODE && value.deadline_ns >= 0) {
            int64_t at_ns = closes_ns(graph, (weir_node){i}, value.deadline_ns);

            open[(*n)++] = (struct open){{{i}, value.fallback_node, at_ns}, at_ns, false, false};
        }
    }
    *out = open;
    return WEIR_OK;
}

/* @param at by node: its number in open[], plus one */
static void mark_fallbacks(const struct graph *graph, const uint32_t *at, struct open *open)
{
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node value;

        graph_node(graph, (weir_node){i}, &value);
        if (value.fallback == FALLBACK_NODE && at[value.fallback_node.index] > 0) {
            open[at[value.fallback_node.index] - 1].is_fallback = true;
        }
    }
}

/* The node gave way; and so, no earlier, did its fallback, if that has not started either, and so on.
 * A fallback of several is needed when the first of them gives way. */
static void settle(const uint32_t *at, struct open *open, struct open *first)
{
    struct open *one = first;

    one->is_settled = true;
    while (at[one->way.fallback.index] > 0) {
        struct open *next = &open[at[one->way.fallback.index] - 1];
        int64_t at_ns = next->closes_ns > one->way.at_ns ? next->closes_ns : one->way.at_ns;

        if (next->is_settled && next->way.at_ns <= at_ns) {
            return;
        }
        next->is_settled = true;
        next->way.at_ns = at_ns;
        one = next;
    }
}

static enum weir_status settle_all(const struct graph *graph, struct open *open, size_t n,
                                   struct weir_error *err)
{
    uint32_t *at;

    if (n == 0) {
        return WEIR_OK;
    }
    at = calloc(graph_n_nodes(graph), sizeof *at);
    if (at == NULL) {
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        at[open[i].way.node.index] = (uint32_t)i + 1;
    }
    mark_fallbacks(graph, at, open);
    for (size_t i = 0; i < n; i++) {
        if (!open[i].is_fallback) {
            settle(at, open, &open[i]);
        }
    }
    free(at);
    return WEIR_OK;
}

enum weir_status gave_way_find(const struct graph *graph, const struct timeline *timeline,
                               struct gave_way **found, size_t *n_found, struct weir_error *err)
{
    struct open *open = NULL;
    size_t n = 0, n_ways = 0;
    struct gave_way *ways;
    enum weir_status status = list_open(graph, timeline, &open, &n, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = settle_all(graph, open, n, err);
    ways = calloc(n + 1, sizeof *ways);
    if (status == WEIR_OK && ways == NULL) {
        status = weir_error_memory(err);
    }
    if (status != WEIR_OK) {
        free(open);
        free(ways);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        if (open[i].is_settled) {
            ways[n_ways++] = open[i].way;
        }
    }
    free(open);
    *found = ways;
    *n_found = n_ways;
    return WEIR_OK;
}
