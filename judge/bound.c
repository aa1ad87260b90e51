/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept is, by node, the edge that ended last, found in one pass over the edges as they lie: no
 * list of edges by consumer is made. The rest is in the spans. */
#include "judge/bound.h"

#include <stdlib.h>

#include "base/array.h"
#include "judge/gave_way.h"

struct bound_index {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *timeline;
    bool is_recorded;
    uint32_t n_given;
    weir_node *order; /* of starts */
    uint32_t n_started;
    bool has_unfinished; /* nodes */
    weir_node last;      /* to finish; none */
    uint32_t *last_edge; /* by node: given ones by their number, implied ones by theirs after those;
                            WEIR_NONE */
    uint32_t *before;    /* of a recording, by node: the one before it on its engine; WEIR_NONE */
    uint32_t *stand_ins; /* rising: those that a node which did not run has as its fallback */
    size_t n_stand_ins, stand_ins_room;
    struct gave_way *gave_way; /* in program order */
    size_t n_gave_way;
};

const char *bound_cause_name(enum bound_cause cause)
{
    static const char *const names[BOUND_CAUSES] = {"begin",     "release",  "predecessor",
                                                    "engine",    "capacity", "overlap",
                                                    "admission", "window",   "unknown"};

    return names[cause];
}

const struct binding *bound_binding(const struct bound_index *index)
{
    return index->binding;
}

const struct timeline *bound_timeline(const struct bound_index *index)
{
    return index->timeline;
}

const weir_node *bound_order(const struct bound_index *index, uint32_t *n_started)
{
    *n_started = index->n_started;
    return index->order;
}

/* An edge, given or implied, in one form. */
static struct graph_arc edge_at(const struct bound_index *index, uint32_t number)
{
    if (number >= index->n_given) {
        const struct bind_edge *implied = &bind_edges(index->binding)[number - index->n_given];

        return (struct graph_arc){implied->producer, implied->consumer, 0, implied->type, false};
    }
    return graph_arc(index->graph, (weir_edge){number});
}

static const struct timeline_span *span_of(const struct bound_index *index, weir_node node)
{
    return &index->timeline->spans[node.index];
}

static bool did_run(const struct bound_index *index, weir_node node)
{
    return span_of(index, node)->finish_ns >= 0;
}

static int by_node(const void *key, const void *item)
{
    uint32_t node = ((const weir_node *)key)->index;
    uint32_t other = ((const struct gave_way *)item)->node.index;

    return (node > other) - (node < other);
}

/* When a node that did not run passed its edges on: when it would have been ready, and it had given way. */
static int64_t passed_ns(const struct bound_index *index, weir_node node)
{
    const struct gave_way *found =
        index->n_gave_way == 0
            ? NULL
            : bsearch(&node, index->gave_way, index->n_gave_way, sizeof *found, by_node);
    int64_t ready_ns = span_of(index, node)->ready_ns;

    return found != NULL && found->at_ns > ready_ns ? found->at_ns : ready_ns;
}

/* When the edge lets its consumer go. */
static int64_t edge_end_ns(const struct bound_index *index, const struct graph_arc *edge)
{
    const struct timeline_span *span = span_of(index, edge->producer);

    if (span->finish_ns < 0) {
        return passed_ns(index, edge->producer) + edge->lag_ns;
    }
    return (edge->is_from_start ? span->start_ns : span->finish_ns) + edge->lag_ns;
}

/* --- making it ------------------------------------------------------------------------------ */

/* Did the producer start later than that of the other edge, which ends at the same time? */
static bool started_later(const struct bound_index *index, weir_node producer, uint32_t other)
{
    weir_node beaten = edge_at(index, other).producer;

    return span_of(index, producer)->order + 1 > span_of(index, beaten)->order + 1;
}

/* What a recording saw may contradict its edges: those count that it kept. */
static bool was_kept(const struct bound_index *index, const struct graph_arc *edge)
{
    return !index->is_recorded ||
           span_of(index, edge->producer)->order < span_of(index, edge->consumer)->order;
}

/* @param last_ns by node: when the edge kept so far ends */
static void keep_if_last(struct bound_index *index, uint32_t number, const struct graph_arc *edge,
                         int64_t *last_ns)
{
    uint32_t consumer = edge->consumer.index, last = index->last_edge[consumer];
    int64_t end_ns = edge_end_ns(index, edge), before_ns = last_ns[consumer];
    bool is_later = end_ns > before_ns;

    if (!was_kept(index, edge)) {
        return;
    }
    if (end_ns == before_ns) {
        is_later = started_later(index, edge->producer, last);
    }
    /* Written in any case: which edge is the last nobody can guess. */
    last_ns[consumer] = is_later ? end_ns : before_ns;
    index->last_edge[consumer] = is_later ? number : last;
}

#define EDGES_AT_ONCE 32 /* whose spans are fetched together */

/* n edges from the first on, given or implied. */
static void edges_at(const struct bound_index *index, uint32_t first, uint32_t n,
                     struct graph_arc *out)
{
    uint32_t n_given = first < index->n_given ? index->n_given - first : 0;

    n_given = n_given < n ? n_given : n;
    if (n_given > 0) {
        graph_arcs(index->graph, (weir_edge){first}, n_given, out);
    }
    for (uint32_t i = n_given; i < n; i++) {
        out[i] = edge_at(index, first + i);
    }
}

/* The edge into each node that ends last; of several, from the producer that started last.
 * @param last_ns by node, room for them */
static void find_last_edges(struct bound_index *index, int64_t *last_ns)
{
    uint32_t n_nodes = graph_n_nodes(index->graph);
    uint32_t n_edges = index->n_given + bind_n_edges(index->binding);
    struct graph_arc edges[EDGES_AT_ONCE];

    for (uint32_t i = 0; i < n_nodes; i++) {
        index->last_edge[i] = WEIR_NONE;
        last_ns[i] = INT64_MIN;
    }
    for (uint32_t i = 0; i < n_edges; i += EDGES_AT_ONCE) {
        uint32_t n = n_edges - i < EDGES_AT_ONCE ? n_edges - i : EDGES_AT_ONCE;

        edges_at(index, i, n, edges);
        for (uint32_t k = 0; k < n; k++) {
            timeline_soon(index->timeline, edges[k].producer);
        }
        for (uint32_t k = 0; k < n; k++) {
            keep_if_last(index, i + k, &edges[k], last_ns);
        }
    }
}

/* By node: the one that started before it on an engine of one slot. */
static enum weir_status find_before(struct bound_index *index, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(index->graph), n_engines = graph_n_engines(index->graph);
    uint32_t *last = malloc(((size_t)n_engines + 1) * sizeof *last);

    index->before = malloc(((size_t)n_nodes + 1) * sizeof *index->before);
    if (last == NULL || index->before == NULL) {
        free(last);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_engines; i++) {
        last[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        index->before[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < index->n_started; i++) {
        weir_node node = index->order[i];
        weir_engine engine = graph_node_engine(index->graph, node);

        if (weir_is(engine) && graph_engine(index->graph, engine)->slots == 1) {
            index->before[node.index] = last[engine.index];
            last[engine.index] = node.index;
        }
    }
    free(last);
    return WEIR_OK;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static enum weir_status add_stand_in(struct bound_index *index, weir_node node,
                                     struct weir_error *err)
{
    struct graph_node value;
    enum weir_status status;

    graph_node(index->graph, node, &value);
    if (value.fallback != FALLBACK_NODE) {
        return WEIR_OK;
    }
    status = array_grow(&index->stand_ins, &index->stand_ins_room, index->n_stand_ins + 1, err);
    if (status == WEIR_OK) {
        index->stand_ins[index->n_stand_ins++] = value.fallback_node.index;
    }
    return status;
}

/* The last to finish, and who stands in for those that did not. */
static enum weir_status find_finished(struct bound_index *index, struct weir_error *err)
{
    const struct timeline *timeline = index->timeline;
    enum weir_status status = WEIR_OK;

    index->last.index = WEIR_NONE;
    for (uint32_t i = 0; i < timeline->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_span *span = &timeline->spans[i];

        if (span->finish_ns < 0) {
            index->has_unfinished = true;
            status = add_stand_in(index, (weir_node){i}, err);
        } else if (span->finish_ns == timeline->makespan_ns &&
                   (!weir_is(index->last) ||
                    span->order > timeline->spans[index->last.index].order)) {
            index->last.index = i;
        }
    }
    if (index->n_stand_ins > 0) {
        qsort(index->stand_ins, index->n_stand_ins, sizeof *index->stand_ins, by_number);
    }
    return status;
}

static enum weir_status fill(struct bound_index *index, struct weir_error *err)
{
    size_t n_nodes = graph_n_nodes(index->graph);
    int64_t *last_ns = malloc((n_nodes + 1) * sizeof *last_ns);
    enum weir_status status;

    index->last_edge = malloc((n_nodes + 1) * sizeof *index->last_edge);
    if (last_ns == NULL || index->last_edge == NULL) {
        free(last_ns);
        return weir_error_memory(err);
    }
    status = find_finished(index, err);
    if (status == WEIR_OK && index->has_unfinished) {
        status =
            gave_way_find(index->graph, index->timeline, &index->gave_way, &index->n_gave_way, err);
    }
    if (status == WEIR_OK) {
        find_last_edges(index, last_ns);
    }
    free(last_ns);
    if (status == WEIR_OK) {
        status = timeline_order(index->timeline, &index->order, &index->n_started, err);
    }
    return status == WEIR_OK && index->is_recorded ? find_before(index, err) : status;
}

enum weir_status bound_index_make(const struct binding *binding, const struct timeline *timeline,
                                  bool is_recorded, struct bound_index **out,
                                  struct weir_error *err)
{
    struct bound_index *index = calloc(1, sizeof *index);
    enum weir_status status;

    if (index == NULL) {
        return weir_error_memory(err);
    }
    index->binding = binding;
    index->graph = bind_of(binding);
    index->timeline = timeline;
    index->is_recorded = is_recorded;
    index->n_given = graph_n_edges(index->graph);
    status = fill(index, err);
    if (status != WEIR_OK) {
        bound_index_free(index);
        return status;
    }
    *out = index;
    return WEIR_OK;
}

void bound_index_free(struct bound_index *index)
{
    if (index == NULL) {
        return;
    }
    free(index->order);
    free(index->last_edge);
    free(index->before);
    free(index->stand_ins);
    free(index->gave_way);
    free(index);
}

/* --- asking it ------------------------------------------------------------------------------ */

/* Does the node stand in for one that did not run? */
static bool stands_in(const struct bound_index *index, weir_node node)
{
    return index->n_stand_ins > 0 && bsearch(&node.index, index->stand_ins, index->n_stand_ins,
                                             sizeof *index->stand_ins, by_number) != NULL;
}

static struct bound time_bound(enum bound_cause cause, int64_t ready_ns)
{
    return (struct bound){{WEIR_NONE}, cause, NULL, 0, ready_ns};
}

/* Not by an edge. @param node the one whose readiness is asked for, or that passes its edges on to it */
static struct bound bound_by_time(const struct bound_index *index, weir_node node, int64_t ready_ns)
{
    struct graph_node value;

    if (ready_ns == 0) {
        return time_bound(BOUND_BEGIN, 0);
    }
    graph_node(index->graph, node, &value);
    if (value.release_ns == ready_ns || bind_ready_ns(index->binding, node) == ready_ns) {
        return time_bound(BOUND_RELEASE, ready_ns);
    }
    /* One that is on and did not run gave way, or was not needed: its consumers waited for that to be
     * settled. */
    return time_bound(stands_in(index, node) ||
                              (!did_run(index, node) && graph_node_is_on(index->graph, node))
                          ? BOUND_WINDOW
                          : BOUND_UNKNOWN,
                      ready_ns);
}

/* A node that did not run is passed through to what it would have waited for: it gives way to
 * nobody. */
struct bound bound_of_ready(const struct bound_index *index, weir_node node)
{
    int64_t ready_ns = span_of(index, node)->ready_ns, total_ns = ready_ns;

    while (index->last_edge[node.index] != WEIR_NONE) {
        struct graph_arc edge = edge_at(index, index->last_edge[node.index]);

        if (edge_end_ns(index, &edge) != ready_ns) {
            break;
        }
        if (did_run(index, edge.producer)) {
            return (struct bound){edge.producer, BOUND_PREDECESSOR, edge_type_name(edge.type),
                                  ready_ns - edge.lag_ns, total_ns};
        }
        node = edge.producer;
        ready_ns = passed_ns(index, node);
    }
    return bound_by_time(index, node, ready_ns);
}

/* What gave way, says the span. */
static struct bound bound_by_blocker(const struct bound_index *index, weir_node blocker,
                                     enum bound_cause cause)
{
    int64_t end_ns = weir_is(blocker) ? span_of(index, blocker)->finish_ns : 0;

    return (struct bound){blocker, cause, NULL, end_ns, end_ns};
}

/* Of a recording: the latest of the edge that ended last and the node before it on its engine. */
static struct bound bound_by_order(const struct bound_index *index, weir_node node)
{
    uint32_t number = index->last_edge[node.index];
    weir_node before = {index->before[node.index]};
    struct bound bound = time_bound(BOUND_UNKNOWN, 0);

    if (number != WEIR_NONE) {
        struct graph_arc edge = edge_at(index, number);
        int64_t end_ns = edge_end_ns(index, &edge);

        if (did_run(index, edge.producer)) {
            bound = (struct bound){edge.producer, BOUND_PREDECESSOR, edge_type_name(edge.type),
                                   end_ns - edge.lag_ns, end_ns};
        }
    }
    if (weir_is(before) && did_run(index, before) &&
        (!weir_is(bound.node) || span_of(index, before)->finish_ns > bound.ready_ns)) {
        bound = bound_by_blocker(index, before, BOUND_ENGINE);
    }
    if (!weir_is(bound.node) && span_of(index, node)->start_ns == 0) {
        bound = time_bound(BOUND_BEGIN, 0);
    }
    return bound;
}

static struct bound bound_by_cause(const struct bound_index *index, weir_node node)
{
    const struct timeline_span *span = span_of(index, node);
    struct bound bound;

    switch ((enum wait_cause)span->cause) {
    case WAIT_ENGINE:
        return bound_by_blocker(index, span->blocker, BOUND_ENGINE);
    case WAIT_CAPACITY:
        return bound_by_blocker(index, span->blocker, BOUND_CAPACITY);
    case WAIT_OVERLAP:
        return bound_by_blocker(index, span->blocker, BOUND_OVERLAP);
    case WAIT_ADMISSION:
        bound = bound_of_ready(index, node);
        bound.cause = BOUND_ADMISSION;
        return bound;
    case WAIT_NONE:
        break;
    }
    return index->is_recorded ? bound_by_order(index, node) : bound_of_ready(index, node);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct bound bound_of_start(const struct bound_index *index, weir_node node)
{
    const struct timeline_span *span = span_of(index, node);
    struct bound bound = bound_by_cause(index, node);

    if (weir_is(bound.node) &&
        (!did_run(index, bound.node) || span_of(index, bound.node)->order >= span->order)) {
        bound = time_bound(BOUND_UNKNOWN, 0);
    }
    bound.ready_ns = least(bound.ready_ns, span->start_ns);
    bound.end_ns = least(bound.end_ns, bound.ready_ns);
    return bound;
}

weir_node bound_last_finished(const struct bound_index *index)
{
    return index->last;
}
