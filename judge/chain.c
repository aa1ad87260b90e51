/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk. Every step goes to a node that started earlier, so it ends. */
#include "judge/chain.h"

#include <stdlib.h>

#include "base/array.h"

struct walk {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *timeline;
    uint32_t n_given;
    uint32_t *first;        /* by consumer: its edges are edges[first[i]] up to the next node's */
    uint32_t *edges;        /* given ones by their number, implied ones by theirs after those */
    struct run_link *links; /* last first */
    size_t room, n;
};

/* What made a node start no earlier. */
struct bound {
    weir_node node; /* the link before; none: the chain begins here */
    const char *cause, *via;
    int64_t end_ns; /* when that node let this one go: its finish, or its start */
};

/* An edge, given or implied, in one form. */
struct edge {
    weir_node producer, consumer;
    int64_t lag_ns;
    bool is_from_start;
    enum edge_type type;
};

static struct edge edge_at(const struct walk *walk, uint32_t index)
{
    struct graph_edge given;

    if (index >= walk->n_given) {
        const struct bind_edge *implied = &bind_edges(walk->binding)[index - walk->n_given];

        return (struct edge){implied->producer, implied->consumer, 0, false, implied->type};
    }
    graph_edge(walk->graph, (weir_edge){index}, &given);
    return (struct edge){given.producer, given.consumer, given.lag_ns, given.is_from_start,
                         given.type};
}

static enum weir_status index_edges(struct walk *walk, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(walk->graph);
    uint32_t n = walk->n_given + bind_n_edges(walk->binding);

    walk->first = calloc((size_t)n_nodes + 2, sizeof *walk->first);
    walk->edges = malloc(((size_t)n + 1) * sizeof *walk->edges);
    if (walk->first == NULL || walk->edges == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        walk->first[edge_at(walk, i).consumer.index + 2]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        walk->first[i + 2] += walk->first[i + 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        walk->edges[walk->first[edge_at(walk, i).consumer.index + 1]++] = i;
    }
    return WEIR_OK;
}

static const struct timeline_span *span_of(const struct walk *walk, weir_node node)
{
    return &walk->timeline->spans[node.index];
}

static bool did_run(const struct walk *walk, weir_node node)
{
    return span_of(walk, node)->finish_ns >= 0;
}

/* When the edge lets its consumer go; what did not run passes its edges on when it would have been
 * ready. */
static int64_t edge_end_ns(const struct walk *walk, const struct edge *edge)
{
    const struct timeline_span *span = span_of(walk, edge->producer);

    if (!did_run(walk, edge->producer)) {
        return span->ready_ns + edge->lag_ns;
    }
    return (edge->is_from_start ? span->start_ns : span->finish_ns) + edge->lag_ns;
}

/* The edge into the node that ends last; of several, from the producer that started last.
 * @return false when it has none */
static bool last_edge(const struct walk *walk, weir_node node, struct edge *last)
{
    int64_t last_ns = -1;

    last->producer.index = WEIR_NONE;
    for (uint32_t i = walk->first[node.index]; i < walk->first[node.index + 1]; i++) {
        struct edge edge = edge_at(walk, walk->edges[i]);
        int64_t end_ns = edge_end_ns(walk, &edge);

        if (end_ns > last_ns ||
            (end_ns == last_ns && weir_is(last->producer) &&
             span_of(walk, edge.producer)->order + 1 > span_of(walk, last->producer)->order + 1)) {
            last_ns = end_ns;
            *last = edge;
        }
    }
    return last_ns >= 0;
}

/* The node that this one stands in for, whose window closed when this one became ready; none. */
static weir_node given_way(const struct walk *walk, weir_node node)
{
    for (uint32_t i = 0; i < graph_n_nodes(walk->graph); i++) {
        struct graph_node value;

        graph_node(walk->graph, (weir_node){i}, &value);
        if (value.fallback == FALLBACK_NODE && weir_same(value.fallback_node, node) &&
            !did_run(walk, (weir_node){i})) {
            return (weir_node){i};
        }
    }
    return (weir_node){WEIR_NONE};
}

/* Why the node was ready no earlier. A node that did not run is passed through to what it would have
 * waited for: it is no link. */
static struct bound bound_of_ready(const struct walk *walk, weir_node node)
{
    int64_t ready_ns = span_of(walk, node)->ready_ns;
    struct graph_node value;
    struct edge edge;

    while (last_edge(walk, node, &edge) && edge_end_ns(walk, &edge) == ready_ns) {
        if (did_run(walk, edge.producer)) {
            return (struct bound){edge.producer, "predecessor", edge_type_name(edge.type),
                                  ready_ns - edge.lag_ns};
        }
        node = edge.producer;
        ready_ns = span_of(walk, node)->ready_ns;
    }
    if (ready_ns == 0) {
        return (struct bound){{WEIR_NONE}, "begin", NULL, 0};
    }
    graph_node(walk->graph, node, &value);
    if (value.release_ns == ready_ns || bind_ready_ns(walk->binding, node) == ready_ns) {
        return (struct bound){{WEIR_NONE}, "release", NULL, 0};
    }
    if (weir_is(given_way(walk, node))) {
        return (struct bound){{WEIR_NONE}, "window", NULL, 0};
    }
    return (struct bound){{WEIR_NONE}, "unknown", NULL, 0};
}

static struct bound bound_of(const struct walk *walk, weir_node node)
{
    const struct timeline_span *span = span_of(walk, node);
    struct bound bound;

    switch ((enum wait_cause)span->cause) {
    case WAIT_ENGINE:
    case WAIT_CAPACITY:
    case WAIT_OVERLAP:
        bound =
            (struct bound){span->blocker, wait_cause_name((enum wait_cause)span->cause), NULL, 0};
        if (weir_is(bound.node)) {
            bound.end_ns = span_of(walk, bound.node)->finish_ns;
        }
        break;
    case WAIT_ADMISSION:
        bound = bound_of_ready(walk, node);
        bound.cause = wait_cause_name(WAIT_ADMISSION);
        break;
    case WAIT_NONE:
        bound = bound_of_ready(walk, node);
        break;
    }
    if (weir_is(bound.node) &&
        (!did_run(walk, bound.node) || span_of(walk, bound.node)->order >= span->order)) {
        bound = (struct bound){{WEIR_NONE}, "unknown", NULL, 0};
    }
    return bound;
}

static weir_node last_finished(const struct timeline *timeline)
{
    weir_node last = {WEIR_NONE};

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];

        if (span->finish_ns >= 0 && span->finish_ns == timeline->makespan_ns &&
            (!weir_is(last) || span->order > timeline->spans[last.index].order)) {
            last.index = i;
        }
    }
    return last;
}

static enum weir_status walk_back(struct walk *walk, struct weir_error *err)
{
    weir_node node = last_finished(walk->timeline);
    int64_t end_ns = walk->timeline->makespan_ns;
    enum weir_status status = WEIR_OK;

    while (weir_is(node) && status == WEIR_OK) {
        struct bound bound = bound_of(walk, node);

        status = array_grow(&walk->links, &walk->room, walk->n + 1, err);
        if (status == WEIR_OK) {
            walk->links[walk->n++] = (struct run_link){.node = node,
                                                       .cause = bound.cause,
                                                       .via = bound.via,
                                                       .start_ns = bound.end_ns,
                                                       .finish_ns = end_ns};
            end_ns = bound.end_ns;
            node = bound.node;
        }
    }
    return status;
}

static void turn_round(struct run_link *links, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct run_link moved = links[i];

        links[i] = links[n - 1 - i];
        links[n - 1 - i] = moved;
    }
}

enum weir_status chain_find(const struct binding *binding, const struct timeline *timeline,
                            struct run_link **links, size_t *n_links, struct weir_error *err)
{
    struct walk walk = {.binding = binding, .graph = bind_of(binding), .timeline = timeline};
    enum weir_status status;

    walk.n_given = graph_n_edges(walk.graph);
    status = index_edges(&walk, err);
    if (status == WEIR_OK) {
        status = walk_back(&walk, err);
    }
    free(walk.first);
    free(walk.edges);
    if (status != WEIR_OK) {
        free(walk.links);
        return status;
    }
    turn_round(walk.links, walk.n);
    *links = walk.links;
    *n_links = walk.n;
    return WEIR_OK;
}
