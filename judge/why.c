/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would have kept the node is the latest of all that it waited for, without what its bound did. */
#include "judge/why.h"

#include <stdlib.h>

#include "base/array.h"

struct search {
    const struct bound_index *index;
    const struct graph *graph;
    const struct timeline *timeline;
    weir_node node;
    struct why *out;
};

static int64_t start_of(const struct search *search)
{
    return search->timeline->spans[search->node.index].start_ns;
}

/* Whose doing is taken to be gone: with admission, the policy's, and that of no node. */
static weir_node gone(const struct why *why)
{
    return (weir_node){why->bound.cause == BOUND_ADMISSION ? WEIR_NONE : why->bound.node.index};
}

/* Something else kept the node until then, unless its bound did. */
static void take(struct search *search, struct why_limit limit)
{
    struct why_limit *next = &search->out->next;

    if (limit.until_ns > start_of(search)) { /* a clock read late */
        limit.until_ns = start_of(search);
    }
    if (limit.until_ns > next->until_ns &&
        !(weir_is(limit.node) && weir_same(limit.node, gone(search->out)))) {
        *next = limit;
    }
}

static void take_edge(struct search *search, weir_node producer, enum edge_type type,
                      bool is_from_start, int64_t lag_ns)
{
    const struct timeline_span *span = &search->timeline->spans[producer.index];
    bool did_run = span->finish_ns >= 0;
    int64_t end_ns = !did_run ? span->ready_ns : is_from_start ? span->start_ns : span->finish_ns;

    take(search,
         (struct why_limit){BOUND_PREDECESSOR, producer, edge_type_name(type), end_ns + lag_ns});
}

static void take_edges(struct search *search)
{
    const struct binding *binding = bound_binding(search->index);
    const struct bind_edge *implied = bind_edges(binding);

    for (uint32_t i = 0; i < graph_n_edges(search->graph); i++) {
        struct graph_edge edge;

        graph_edge(search->graph, (weir_edge){i}, &edge);
        if (weir_same(edge.consumer, search->node)) {
            take_edge(search, edge.producer, edge.type, edge.is_from_start, edge.lag_ns);
        }
    }
    for (uint32_t i = 0; i < bind_n_edges(binding); i++) {
        if (weir_same(implied[i].consumer, search->node)) {
            take_edge(search, implied[i].producer, implied[i].type, false, 0);
        }
    }
}

static void take_times(struct search *search)
{
    const struct binding *binding = bound_binding(search->index);
    bool was_time = search->out->bound.cause == BOUND_RELEASE;
    struct graph_node value;
    int64_t ready_ns = bind_ready_ns(binding, search->node);

    graph_node(search->graph, search->node, &value);
    ready_ns = ready_ns > value.release_ns ? ready_ns : value.release_ns;
    if (!was_time) {
        take(search, (struct why_limit){BOUND_RELEASE, {WEIR_NONE}, NULL, ready_ns});
    }
}

/* A stretch that the node waited before its last one. */
static void take_wait(struct search *search, const struct timeline_wait *wait)
{
    static const enum bound_cause causes[] = {BOUND_UNKNOWN, BOUND_ENGINE, BOUND_CAPACITY,
                                              BOUND_ADMISSION, BOUND_OVERLAP};

    if (wait->to_ns < start_of(search)) {
        take(search, (struct why_limit){causes[wait->cause], wait->blocker, NULL, wait->to_ns});
    }
}

static void take_waits(struct search *search)
{
    for (size_t i = 0; i < search->timeline->n_waits; i++) {
        if (weir_same(search->timeline->waits[i].node, search->node)) {
            take_wait(search, &search->timeline->waits[i]);
        }
    }
}

/* --- slots ---------------------------------------------------------------------------------- */

/* The latest finishes, least first. */
struct latest {
    weir_node *nodes;
    int64_t *finish_ns;
    uint32_t n, room;
};

static void keep_latest(struct latest *latest, weir_node node, int64_t finish_ns)
{
    uint32_t at = 0;

    if (latest->n == latest->room && finish_ns <= latest->finish_ns[0]) {
        return;
    }
    if (latest->n < latest->room) {
        at = latest->n++;
        for (; at > 0 && latest->finish_ns[at - 1] > finish_ns; at--) {
            latest->finish_ns[at] = latest->finish_ns[at - 1];
            latest->nodes[at] = latest->nodes[at - 1];
        }
    } else {
        for (; at + 1 < latest->n && latest->finish_ns[at + 1] < finish_ns; at++) {
            latest->finish_ns[at] = latest->finish_ns[at + 1];
            latest->nodes[at] = latest->nodes[at + 1];
        }
    }
    latest->finish_ns[at] = finish_ns;
    latest->nodes[at] = node;
}

/* Of those that started before it on its engine, with as many slots: when the first of the latest that
 * fill them all had ended, a slot was free. */
static void take_slot(struct search *search, struct latest *latest)
{
    weir_engine engine = graph_node_engine(search->graph, search->node);
    uint32_t order = search->timeline->spans[search->node.index].order;

    for (uint32_t i = 0; i < search->timeline->n_nodes; i++) {
        const struct timeline_span *span = &search->timeline->spans[i];

        if (span->finish_ns >= 0 && span->finish_ns > span->start_ns && span->order < order &&
            weir_same(graph_node_engine(search->graph, (weir_node){i}), engine) &&
            i != gone(search->out).index) {
            keep_latest(latest, (weir_node){i}, span->finish_ns);
        }
    }
    if (latest->n == latest->room) {
        take(search,
             (struct why_limit){BOUND_ENGINE, latest->nodes[0], NULL, latest->finish_ns[0]});
    }
}

#define MOST_SLOTS 1024

static enum weir_status take_slots(struct search *search, struct weir_error *err)
{
    weir_engine engine = graph_node_engine(search->graph, search->node);
    int64_t slots = weir_is(engine) ? graph_engine(search->graph, engine)->slots : 0;
    struct latest latest = {.room = (uint32_t)slots};
    enum weir_status status = WEIR_OK;

    search->out->engine_is_known = slots <= MOST_SLOTS;
    if (slots == 0 || slots > MOST_SLOTS) {
        return WEIR_OK;
    }
    latest.nodes = malloc((size_t)slots * sizeof *latest.nodes);
    latest.finish_ns = malloc((size_t)slots * sizeof *latest.finish_ns);
    if (latest.nodes == NULL || latest.finish_ns == NULL) {
        status = weir_error_memory(err);
    } else {
        take_slot(search, &latest);
    }
    free(latest.nodes);
    free(latest.finish_ns);
    return status;
}

/* --- who waited for it ----------------------------------------------------------------------- */

static void add_follower(struct search *search, struct why_follower follower)
{
    struct why *out = search->out;
    uint32_t at = out->n_listed;

    out->n_followers++;
    if (at == WHY_FOLLOWERS) {
        if (follower.start_ns >= out->followers[at - 1].start_ns) {
            return;
        }
        at--;
    } else {
        out->n_listed++;
    }
    for (; at > 0 && out->followers[at - 1].start_ns > follower.start_ns; at--) {
        out->followers[at] = out->followers[at - 1];
    }
    out->followers[at] = follower;
}

static void find_followers(struct search *search)
{
    const struct timeline *timeline = search->timeline;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct bound bound;

        if (timeline->spans[i].start_ns < start_of(search)) {
            continue;
        }
        bound = bound_of_start(search->index, (weir_node){i});
        if (weir_same(bound.node, search->node)) {
            add_follower(search, (struct why_follower){
                                     {i}, bound.cause, bound.via, timeline->spans[i].start_ns});
        }
    }
}

static bool takes_bytes(const struct search *search)
{
    for (size_t i = 0; i < search->timeline->n_holds; i++) {
        if (weir_same(search->timeline->holds[i].node, search->node) &&
            search->timeline->holds[i].bytes > 0) {
            return true;
        }
    }
    return false;
}

enum weir_status why_find(const struct bound_index *index, weir_node node, struct why *out,
                          struct weir_error *err)
{
    struct search search = {.index = index,
                            .graph = bind_of(bound_binding(index)),
                            .timeline = bound_timeline(index),
                            .node = node,
                            .out = out};
    enum weir_status status;

    *out = (struct why){.bound = bound_of_start(index, node),
                        .next = {BOUND_BEGIN, {WEIR_NONE}, NULL, 0}};
    take_edges(&search);
    take_times(&search);
    take_waits(&search);
    status = take_slots(&search, err);
    out->sooner_ns = start_of(&search) - out->next.until_ns;
    out->needs_bytes = takes_bytes(&search);
    find_followers(&search);
    return status;
}
