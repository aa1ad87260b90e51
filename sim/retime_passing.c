/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that did not run: their guard is off, they gave way to a fallback, or they are a fallback that
 * nobody needed. What waits for them waits until they would have been ready and, where there is a
 * fallback, until it was settled that they do not run. */
#include <stdlib.h>

#include "sim/retime_internal.h"

#define NEVER INT64_MAX

/* --- what was settled when ------------------------------------------------------------------ */

static weir_node fallback_of(const struct retime_build *build, weir_node node)
{
    struct graph_node value;

    graph_node(build->graph, node, &value);
    return value.fallback == FALLBACK_NODE ? value.fallback_node : (weir_node){WEIR_NONE};
}

/* When the window closes of a node that has a fallback; NEVER without a deadline. */
static int64_t close_ns(const struct retime_build *build, weir_node node)
{
    int64_t length_ns = 0;
    struct graph_node value;

    graph_node(build->graph, node, &value);
    if (value.deadline_ns < 0 || !graph_node_length_ns(build->graph, node, &length_ns)) {
        return NEVER;
    }
    return value.deadline_ns > length_ns ? value.deadline_ns - length_ns : 0;
}

/* The node gave way at that time: so its fallback was needed from then on at the latest, and gave way
 * itself, when it did not run, once its own window was closed. */
static enum weir_status give_way(struct retime_build *build, int64_t *needed_ns, weir_node node,
                                 int64_t time_ns)
{
    enum weir_status status = time_ns == NEVER ? WEIR_OK : retime_not_before(build, node, time_ns);

    while (status == WEIR_OK && time_ns != NEVER) {
        node = fallback_of(build, node);
        if (!weir_is(node) || !graph_node_is_on(build->graph, node) ||
            needed_ns[node.index] <= time_ns) {
            break;
        }
        needed_ns[node.index] = time_ns;
        if (retime_did_run(build, node)) {
            break;
        }
        time_ns = close_ns(build, node) > time_ns ? close_ns(build, node) : time_ns;
    }
    return status;
}

/* The node ran: fallbacks along the chain that were not needed were settled no earlier. */
static enum weir_status settle(struct retime_build *build, const int64_t *needed_ns, weir_node node)
{
    weir_node fallback = fallback_of(build, node);
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && weir_is(fallback) && !retime_did_run(build, fallback) &&
           graph_node_is_on(build->graph, fallback) && needed_ns[fallback.index] == NEVER) {
        status = retime_add_pair(build, node, fallback, true);
        fallback = fallback_of(build, fallback);
    }
    return status;
}

/* @param needed_ns by node: since when it is needed as a fallback; NEVER
 * @param stands_in by node: is a fallback */
static enum weir_status settle_all(struct retime_build *build, int64_t *needed_ns,
                                   const bool *stands_in)
{
    uint32_t n_nodes = build->timeline->n_nodes;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        weir_node node = {i};

        if (!stands_in[i] && !retime_did_run(build, node) && graph_node_is_on(build->graph, node) &&
            weir_is(fallback_of(build, node))) {
            status = give_way(build, needed_ns, node, close_ns(build, node));
        }
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        weir_node node = {i};

        if (retime_did_run(build, node)) {
            status = needed_ns[i] == NEVER ? WEIR_OK : retime_not_before(build, node, needed_ns[i]);
            status = status == WEIR_OK ? settle(build, needed_ns, node) : status;
        } else if (needed_ns[i] != NEVER && close_ns(build, node) != NEVER) {
            int64_t closed_ns = close_ns(build, node);

            status =
                retime_not_before(build, node, closed_ns > needed_ns[i] ? closed_ns : needed_ns[i]);
        }
    }
    return status;
}

static enum weir_status settle_fallbacks(struct retime_build *build)
{
    uint32_t n_nodes = build->timeline->n_nodes;
    int64_t *needed_ns = malloc(((size_t)n_nodes + 1) * sizeof *needed_ns);
    bool *stands_in = calloc((size_t)n_nodes + 1, sizeof *stands_in), has_any = false;
    enum weir_status status = WEIR_OK;

    if (needed_ns == NULL || stands_in == NULL) {
        status = weir_error_memory(build->err);
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        weir_node fallback = fallback_of(build, (weir_node){i});

        needed_ns[i] = NEVER;
        if (weir_is(fallback)) {
            stands_in[fallback.index] = has_any = true;
        }
    }
    if (status == WEIR_OK && has_any) {
        status = settle_all(build, needed_ns, stands_in);
    }
    free(needed_ns);
    free(stands_in);
    return status;
}

/* --- their order ---------------------------------------------------------------------------- */

/* The nodes that did not run, and the edges among them. */
struct passers {
    struct retime_build *build;
    uint32_t n;
    uint32_t *index_of; /* by node: its number among them; WEIR_NONE: it ran */
    weir_node *nodes;   /* the rest by that number */
    uint32_t *key;      /* how many nodes start before it */
    bool *is_awaited;   /* some node that ran waits for it */
    uint32_t *n_before; /* edges from others of them */
    uint32_t *first;    /* the edges of i are next[first[i + 1]] up to first[i + 2] */
    uint32_t *next;
    uint32_t *order; /* one that respects the edges */
};

static enum weir_status allocate(struct passers *passers)
{
    size_t n_nodes = passers->build->timeline->n_nodes, n = n_nodes - passers->build->n_started;

    passers->index_of = malloc((n_nodes + 1) * sizeof *passers->index_of);
    passers->nodes = malloc((n + 1) * sizeof *passers->nodes);
    passers->key = calloc(n + 1, sizeof *passers->key);
    passers->is_awaited = calloc(n + 1, sizeof *passers->is_awaited);
    passers->n_before = calloc(n + 1, sizeof *passers->n_before);
    passers->first = calloc(n + 2, sizeof *passers->first);
    passers->order = malloc((n + 1) * sizeof *passers->order);
    if (passers->index_of == NULL || passers->nodes == NULL || passers->key == NULL ||
        passers->is_awaited == NULL || passers->n_before == NULL || passers->first == NULL ||
        passers->order == NULL) {
        return weir_error_memory(passers->build->err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        bool did_run = retime_did_run(passers->build, (weir_node){i});

        passers->index_of[i] = did_run ? WEIR_NONE : passers->n;
        if (!did_run) {
            passers->nodes[passers->n++] = (weir_node){i};
        }
    }
    return WEIR_OK;
}

/* Counts the edges among them, and notes what comes in from nodes that ran and goes out to them. */
static void count_edges(struct passers *passers)
{
    size_t n = retime_n_edges(passers->build);

    for (size_t i = 0; i < n; i++) {
        struct retime_edge edge = retime_edge_at(passers->build, i);
        uint32_t from = passers->index_of[edge.producer.index];
        uint32_t to = passers->index_of[edge.consumer.index];

        if (from == WEIR_NONE && to != WEIR_NONE) {
            uint32_t key = retime_span(passers->build, edge.producer)->order + 1;

            passers->key[to] = key > passers->key[to] ? key : passers->key[to];
        } else if (from != WEIR_NONE && to == WEIR_NONE) {
            passers->is_awaited[from] = true;
        } else if (from != WEIR_NONE) {
            passers->first[from + 1]++;
            passers->n_before[to]++;
        }
    }
}

static enum weir_status list_edges(struct passers *passers)
{
    size_t n = retime_n_edges(passers->build);

    for (uint32_t i = 0; i < passers->n; i++) {
        passers->first[i + 1] += passers->first[i];
    }
    passers->first[passers->n + 1] = passers->first[passers->n];
    passers->next = malloc(((size_t)passers->first[passers->n] + 1) * sizeof *passers->next);
    if (passers->next == NULL) {
        return weir_error_memory(passers->build->err);
    }
    for (size_t i = n; i > 0; i--) {
        struct retime_edge edge = retime_edge_at(passers->build, i - 1);
        uint32_t from = passers->index_of[edge.producer.index];
        uint32_t to = passers->index_of[edge.consumer.index];

        if (from != WEIR_NONE && to != WEIR_NONE) {
            passers->next[--passers->first[from + 1]] = to;
        }
    }
    return WEIR_OK;
}

static enum weir_status put_in_order(struct passers *passers)
{
    uint32_t n_done = 0, n_found = 0;

    for (uint32_t i = 0; i < passers->n; i++) {
        if (passers->n_before[i] == 0) {
            passers->order[n_found++] = i;
        }
    }
    while (n_done < n_found) {
        uint32_t at = passers->order[n_done++];

        for (uint32_t j = passers->first[at + 1]; j < passers->first[at + 2]; j++) {
            uint32_t to = passers->next[j];

            passers->key[to] =
                passers->key[at] > passers->key[to] ? passers->key[at] : passers->key[to];
            if (--passers->n_before[to] == 0) {
                passers->order[n_found++] = to;
            }
        }
    }
    if (n_found < passers->n) {
        return weir_error_set(passers->build->err, WEIR_INPUT,
                              "nodes that did not run wait for each other: the timeline is not one "
                              "of this graph on its machine");
    }
    for (uint32_t i = passers->n; i > 0; i--) {
        uint32_t at = passers->order[i - 1];

        for (uint32_t j = passers->first[at + 1]; j < passers->first[at + 2]; j++) {
            passers->is_awaited[at] |= passers->is_awaited[passers->next[j]];
        }
    }
    return WEIR_OK;
}

static int by_key(const void *left, const void *right)
{
    const struct retime_passing *a = left, *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static enum weir_status write_passings(struct passers *passers)
{
    struct retime_build *build = passers->build;

    build->passings = malloc(((size_t)passers->n + 1) * sizeof *build->passings);
    if (build->passings == NULL) {
        return weir_error_memory(build->err);
    }
    for (uint32_t i = 0; i < passers->n; i++) {
        uint32_t at = passers->order[i];

        if (passers->is_awaited[at]) {
            build->passings[build->n_passings++] =
                (struct retime_passing){passers->key[at], i, passers->nodes[at]};
        }
    }
    qsort(build->passings, build->n_passings, sizeof *build->passings, by_key);
    return WEIR_OK;
}

enum weir_status retime_find_passings(struct retime_build *build)
{
    struct passers passers = {.build = build};
    enum weir_status status = settle_fallbacks(build);

    if (status == WEIR_OK) {
        status = allocate(&passers);
    }
    if (status == WEIR_OK) {
        count_edges(&passers);
        status = list_edges(&passers);
    }
    if (status == WEIR_OK) {
        status = put_in_order(&passers);
    }
    if (status == WEIR_OK) {
        status = write_passings(&passers);
    }
    free(passers.index_of);
    free(passers.nodes);
    free(passers.key);
    free(passers.is_awaited);
    free(passers.n_before);
    free(passers.first);
    free(passers.next);
    free(passers.order);
    return status;
}
