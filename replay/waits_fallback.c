/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that stand in for others. One that did not run either gave way (its window closed, or had
 * closed when it was called for) or was not needed: every node that it stands in for had started, or
 * was itself not needed. The plan's times tell which. */
#include <stdlib.h>
#include <string.h>

#include "replay/waits_internal.h"

struct resolving {
    const struct graph *graph;
    const struct timeline *plan;
    uint32_t *stands_in; /* by node: the nodes that it stands in for; of those resolved: how many */
    uint32_t *n_left;    /* of them, not resolved */
    int64_t *called_ns;  /* by node: when the first of those gave way; -1: none did */
    int64_t *settled_ns; /* by node: when it gave way; -1: it did not */
};

static weir_node fallback_of(const struct graph *graph, uint32_t node)
{
    struct graph_node value;

    graph_node(graph, (weir_node){node}, &value);
    return value.fallback == FALLBACK_NODE ? value.fallback_node : (weir_node){WEIR_NONE};
}

/* When the node's window closes: its length before its deadline; 0 when it never does. */
static int64_t window_close_ns(const struct graph *graph, uint32_t node)
{
    struct graph_node value;
    int64_t length_ns = 0;

    graph_node(graph, (weir_node){node}, &value);
    if (value.deadline_ns < 0 || !graph_node_length_ns(graph, (weir_node){node}, &length_ns))
        return 0;
    return value.deadline_ns > length_ns ? value.deadline_ns - length_ns : 0;
}

static bool has_started(const struct timeline *plan, uint32_t node)
{
    return plan->spans[node].start_ns >= 0;
}

/* All that it stands in for is resolved: did the node give way, and when? */
static void resolve(struct resolving *r, uint32_t node, weir_node fallback)
{
    bool is_called = r->stands_in[node] == 0 || r->called_ns[node] >= 0;
    int64_t ns;

    if (!graph_node_is_on(r->graph, (weir_node){node}) || has_started(r->plan, node) || !is_called)
        return;
    ns = window_close_ns(r->graph, node);
    if (r->called_ns[node] > ns)
        ns = r->called_ns[node];
    r->settled_ns[node] = ns;
    if (r->called_ns[fallback.index] < 0 || ns < r->called_ns[fallback.index])
        r->called_ns[fallback.index] = ns;
}

/* Each node has at most one fallback, and they form no circle: from the first of each chain on. */
static void resolve_all(struct resolving *r)
{
    uint32_t n_nodes = graph_n_nodes(r->graph);

    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t at = i;
        weir_node fallback = fallback_of(r->graph, at);

        /* Whoever resolves the last that a node stands in for goes on to that node. */
        if (r->stands_in[at] > 0)
            continue;
        while (weir_is(fallback)) {
            resolve(r, at, fallback);
            at = fallback.index;
            if (--r->n_left[at] > 0)
                break;
            fallback = fallback_of(r->graph, at);
        }
    }
}

/* What started needs no fallback, and that one none either: so on along the chain. */
static enum weir_status add_not_needed(const struct resolving *r, uint32_t node,
                                       struct made_edges *edges, struct weir_error *err)
{
    weir_node fallback = fallback_of(r->graph, node);
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && weir_is(fallback) && graph_node_is_on(r->graph, fallback) &&
           !has_started(r->plan, fallback.index) && r->settled_ns[fallback.index] < 0) {
        status = made_edges_add(
            edges,
            (struct made_edge){node, fallback.index, .is_from_start = true, INSERTED_FALLBACK},
            err);
        fallback = fallback_of(r->graph, fallback.index);
    }
    return status;
}

static bool count_standing_in(struct resolving *r)
{
    bool has_any = false;

    for (uint32_t i = 0; i < graph_n_nodes(r->graph); i++) {
        weir_node fallback = fallback_of(r->graph, i);

        if (!weir_is(fallback))
            continue;
        r->stands_in[fallback.index]++;
        r->n_left[fallback.index]++;
        has_any = true;
    }
    return has_any;
}

enum weir_status waits_fallbacks(const struct graph *graph, const struct timeline *plan,
                                 struct arena *arena, struct fallbacks *out,
                                 struct made_edges *edges, struct weir_error *err)
{
    size_t n = graph_n_nodes(graph) + (size_t)1;
    struct resolving r = {.graph = graph,
                          .plan = plan,
                          .stands_in = calloc(n, sizeof *r.stands_in),
                          .n_left = calloc(n, sizeof *r.n_left)};
    enum weir_status status = WEIR_OK;

    *out = (struct fallbacks){NULL, NULL};
    if (r.stands_in == NULL || r.n_left == NULL) {
        status = weir_error_memory(err);
    } else if (count_standing_in(&r)) {
        r.called_ns = arena_array(arena, n, sizeof *r.called_ns);
        r.settled_ns = arena_array(arena, n, sizeof *r.settled_ns);
        if (r.called_ns == NULL || r.settled_ns == NULL) {
            status = weir_error_memory(err);
        } else {
            memset(r.called_ns, 0xff, n * sizeof *r.called_ns); /* -1 */
            memset(r.settled_ns, 0xff, n * sizeof *r.settled_ns);
            resolve_all(&r);
            *out = (struct fallbacks){r.called_ns, r.settled_ns};
        }
        for (uint32_t i = 0; i < graph_n_nodes(graph) && status == WEIR_OK; i++) {
            if (has_started(plan, i))
                status = add_not_needed(&r, i, edges, err);
        }
    }
    free(r.stands_in);
    free(r.n_left);
    return status;
}
