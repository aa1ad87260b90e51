/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order that is not what it seems, or more than is needed: reclamations that follow a submission or
 * come late, barriers, capacity waits for nothing, queues that are written into the graph, speculative
 * work in front. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})
#define MOST_PAIRS 4096 /* of one barrier that are looked at */

/* --- reclamations --- */

/* From the start of a node to a reclamation. */
static bool is_early(const struct graph *graph, uint32_t edge)
{
    return (graph->edges.kinds[edge] & EDGE_IS_FROM_START) != 0 &&
           graph->nodes[graph->edges.ends[edge].consumer].kind == NODE_RECLAMATION;
}

static void tell_submission(struct audit *audit, uint32_t edge, uint32_t copy)
{
    struct edge_ends ends = audit->graph->edges.ends[edge];
    const char *object;

    if (!audit_takes(audit, FINDING_RECLAIM_ON_SUBMISSION)) {
        return;
    }
    object = graph_object_name(audit->graph, bind_copy(audit->binding, (weir_copy){copy})->object);
    report_add(audit->report, FINDING_RECLAIM_ON_SUBMISSION, NOWHERE,
               "reclamation %s of object %s follows the start of node %s, which uses it, and not "
               "its finish",
               audit_node(audit, ends.consumer), object, audit_node(audit, ends.producer));
    report_name(audit->report, audit_node(audit, ends.consumer));
    report_name(audit->report, audit_node(audit, ends.producer));
    report_name(audit->report, object);
}

/* Which early edges lead from a node that touches what their consumer gives back. Each producer says
 * of its touches that they are its own, and then looks at its edges. */
struct submissions {
    uint32_t *given_back; /* by node: the copy that it gives back; WEIR_NONE */
    uint32_t *touched_by; /* by copy: the last node at work that touches it; WEIR_NONE */
    bool *is_found;       /* by given edge */
};

static void find_early(const struct audit *audit, uint32_t producer, struct submissions *found)
{
    const struct adjacency *next = &audit->analysis.next;
    uint32_t first = next->first[producer], end = next->first[producer + 1], n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){producer}, &n);

    while (first < end && (next->items[first].edge >= audit->graph->n_edges ||
                           !is_early(audit->graph, next->items[first].edge))) {
        first++;
    }
    for (uint32_t i = 0; first < end && i < n; i++) {
        found->touched_by[touches[i].copy.index] = producer;
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t copy = found->given_back[next->items[i].consumer];

        if (next->items[i].edge < audit->graph->n_edges &&
            is_early(audit->graph, next->items[i].edge) && copy != WEIR_NONE &&
            found->touched_by[copy] == producer) {
            found->is_found[next->items[i].edge] = true;
        }
    }
}

static enum weir_status find_submissions(const struct audit *audit, struct submissions *found)
{
    const struct graph *graph = audit->graph;
    size_t n_nodes = (size_t)graph->n_nodes + 1, n_edges = (size_t)graph->n_edges + 1;
    size_t n_copies = (size_t)bind_n_copies(audit->binding) + 1;

    if (!audit->facts.has_start_edge || !audit_has_kind(audit, NODE_RECLAMATION)) {
        return WEIR_OK;
    }
    found->given_back = malloc(n_nodes * sizeof *found->given_back);
    found->touched_by = malloc(n_copies * sizeof *found->touched_by);
    found->is_found = calloc(n_edges, sizeof *found->is_found);
    if (found->given_back == NULL || found->touched_by == NULL || found->is_found == NULL) {
        return weir_error_memory(audit->err);
    }
    memset(found->given_back, 0xff, n_nodes * sizeof *found->given_back);
    memset(found->touched_by, 0xff, n_copies * sizeof *found->touched_by);
    for (uint32_t i = 0; i < bind_n_copies(audit->binding); i++) {
        weir_node reclamation = bind_copy(audit->binding, (weir_copy){i})->reclamation;

        if (weir_is(reclamation)) {
            found->given_back[reclamation.index] = i;
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        find_early(audit, i, found);
    }
    return WEIR_OK;
}

static void submissions_free(struct submissions *found)
{
    free(found->given_back);
    free(found->touched_by);
    free(found->is_found);
}

static void check_late(struct audit *audit, uint32_t copy)
{
    const struct analyze_life *life = &audit->lives[copy];
    const struct bind_copy *of = bind_copy(audit->binding, (weir_copy){copy});
    char late[NUMBER_TEXT_BYTES], ready[NUMBER_TEXT_BYTES];
    const char *object;

    if (!weir_is(life->late_by) || !weir_is(life->ready_by) ||
        !audit_takes(audit, FINDING_LATE_RECLAMATION)) {
        return;
    }
    object = graph_object_name(audit->graph, of->object);
    number_time_text(life->reclaim_ready_ns, ready);
    number_time_text(audit->analysis.earliest_ns[of->reclamation.index] - life->reclaim_ready_ns,
                     late);
    report_add(audit->report, FINDING_LATE_RECLAMATION, NOWHERE,
               "reclamation %s of object %s could run at %s, when node %s has finished, but waits "
               "%s more for node %s, which does not use it",
               audit_node(audit, of->reclamation.index), object, ready,
               audit_node(audit, life->ready_by.index), late,
               audit_node(audit, life->late_by.index));
    report_name(audit->report, audit_node(audit, of->reclamation.index));
    report_name(audit->report, audit_node(audit, life->late_by.index));
    report_name(audit->report, object);
}

/* --- barriers --- */

/* The given edges into nodes, by node, as lists; barriers alone ask for them. */
struct into {
    uint32_t *first; /* by node: an edge plus one; 0: none */
    uint32_t *next;  /* by edge */
};

static enum weir_status make_into(struct audit *audit, struct into *into)
{
    const struct graph *graph = audit->graph;

    into->first = calloc((size_t)graph->n_nodes + 1, sizeof *into->first);
    into->next = calloc((size_t)graph->n_edges + 1, sizeof *into->next);
    if (into->first == NULL || into->next == NULL) {
        return weir_error_memory(audit->err);
    }
    for (uint32_t i = graph->n_edges; i-- > 0;) { /* so that lists are in the order of edges */
        uint32_t consumer = graph->edges.ends[i].consumer;

        if (graph->nodes[consumer].kind == NODE_BARRIER) {
            into->next[i] = into->first[consumer];
            into->first[consumer] = i + 1;
        }
    }
    return WEIR_OK;
}

/* A hold by way of the barrier protects a copy, which no edge between its two sides would. */
static bool protects(const struct audit *audit, uint32_t edge)
{
    return (audit->graph->edges.kinds[edge] & EDGE_TYPE_MASK) == EDGE_LIFETIME_HOLD;
}

struct sides {
    uint32_t n_in, n_out, n_pairs;
    uint32_t in, out; /* a pair that has no bytes in common; WEIR_NONE */
    bool is_protecting;
};

static void look_at_pairs(struct audit *audit, uint32_t barrier, uint32_t producer,
                          struct sides *sides)
{
    const struct adjacency *next = &audit->analysis.next;

    for (uint32_t i = next->first[barrier];
         i < next->first[barrier + 1] && sides->n_pairs < MOST_PAIRS && sides->in == WEIR_NONE;
         i++) {
        uint32_t consumer = next->items[i].consumer;

        sides->n_pairs++;
        if (audit_are_independent(audit, producer, consumer)) {
            sides->in = producer;
            sides->out = consumer;
        }
    }
}

static struct sides look_at_sides(struct audit *audit, const struct into *into, uint32_t barrier)
{
    const struct adjacency *next = &audit->analysis.next;
    struct sides sides = {0, 0, 0, WEIR_NONE, WEIR_NONE, false};

    for (uint32_t i = next->first[barrier]; i < next->first[barrier + 1]; i++) {
        sides.n_out++;
        sides.is_protecting |=
            next->items[i].edge < audit->graph->n_edges && protects(audit, next->items[i].edge);
    }
    for (uint32_t at = into->first[barrier]; at != 0; at = into->next[at - 1]) {
        sides.n_in++;
        sides.is_protecting |= protects(audit, at - 1);
        look_at_pairs(audit, barrier, audit->graph->edges.ends[at - 1].producer, &sides);
    }
    return sides;
}

static void check_barrier(struct audit *audit, const struct into *into, uint32_t barrier)
{
    struct sides sides = look_at_sides(audit, into, barrier);
    int64_t length_ns = audit->analysis.length_ns[barrier];

    if (sides.in != WEIR_NONE && audit_takes(audit, FINDING_BROAD_BARRIER)) {
        report_add(audit->report, FINDING_BROAD_BARRIER, NOWHERE,
                   "barrier %s makes node %s wait for node %s, and they have no bytes in common",
                   audit_node(audit, barrier), audit_node(audit, sides.out),
                   audit_node(audit, sides.in));
        report_name(audit->report, audit_node(audit, barrier));
        report_name(audit->report, audit_node(audit, sides.in));
        report_name(audit->report, audit_node(audit, sides.out));
    } else if ((sides.n_in <= 1 || sides.n_out <= 1) && !sides.is_protecting && length_ns == 0 &&
               audit_takes(audit, FINDING_NEEDLESS_BARRIER)) {
        report_add(audit->report, FINDING_NEEDLESS_BARRIER, NOWHERE,
                   "barrier %s has %" PRIu32 " node%s before it and %" PRIu32
                   " behind it: as many edges say the same",
                   audit_node(audit, barrier), sides.n_in, sides.n_in == 1 ? "" : "s", sides.n_out);
        report_name(audit->report, audit_node(audit, barrier));
    }
}

static enum weir_status check_barriers(struct audit *audit)
{
    struct into into = {NULL, NULL};
    enum weir_status status = WEIR_OK;

    if (!audit_has_kind(audit, NODE_BARRIER)) {
        return WEIR_OK;
    }
    status = make_into(audit, &into);
    for (uint32_t i = 0; i < audit->graph->n_nodes && status == WEIR_OK; i++) {
        if (audit->graph->nodes[i].kind == NODE_BARRIER && audit_runs(audit, i)) {
            check_barrier(audit, &into, i);
        }
    }
    free(into.first);
    free(into.next);
    return status;
}

/* --- capacity waits --- */

/* Does the node give any bytes back when it finishes? */
static bool gives_back(const struct audit *audit, uint32_t node)
{
    struct graph_node value;
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(audit->binding, touches[i].copy);

        if ((touches[i].roles & BIND_RECLAIMS) != 0 ||
            (!weir_is(copy->reclamation) && !copy->stays)) {
            return true;
        }
    }
    graph_node(audit->graph, (weir_node){node}, &value);
    return value.n_workspace > 0 || value.staging.bytes > 0;
}

/* Of a node that others wait for. */
enum giving { GIVING_UNASKED, GIVING_NOTHING, GIVING_BYTES };

/* @param giving by node: what is known so far */
static void check_capacity_wait(struct audit *audit, uint32_t edge, uint8_t *giving)
{
    struct edge_ends ends = audit->graph->edges.ends[edge];

    if ((audit->graph->edges.kinds[edge] & EDGE_TYPE_MASK) != EDGE_CAPACITY_WAIT) {
        return;
    }
    if (giving[ends.producer] == GIVING_UNASKED) {
        giving[ends.producer] = gives_back(audit, ends.producer) ? GIVING_BYTES : GIVING_NOTHING;
    }
    if (giving[ends.producer] == GIVING_BYTES || !audit_takes(audit, FINDING_IDLE_CAPACITY_WAIT)) {
        return;
    }
    report_add(audit->report, FINDING_IDLE_CAPACITY_WAIT, NOWHERE,
               "node %s waits for bytes of node %s, which gives none back",
               audit_node(audit, ends.consumer), audit_node(audit, ends.producer));
    report_name(audit->report, audit_node(audit, ends.producer));
    report_name(audit->report, audit_node(audit, ends.consumer));
}

/* --- edges --- */

static enum weir_status check_edges(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    struct submissions early = {NULL, NULL, NULL};
    uint8_t *giving = NULL;
    enum weir_status status = find_submissions(audit, &early);

    if (status == WEIR_OK && (audit->facts.edge_types >> EDGE_CAPACITY_WAIT & 1) != 0) {
        giving = calloc((size_t)graph->n_nodes + 1, sizeof *giving);
        status = giving == NULL ? weir_error_memory(audit->err) : WEIR_OK;
    }
    if (status != WEIR_OK || (giving == NULL && early.is_found == NULL)) {
        goto done;
    }
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        struct edge_ends ends = graph->edges.ends[i];

        if (!audit_runs(audit, ends.producer) || !audit_runs(audit, ends.consumer)) {
            continue;
        }
        if (early.is_found != NULL && early.is_found[i]) {
            tell_submission(audit, i, early.given_back[ends.consumer]);
        }
        if (giving != NULL) {
            check_capacity_wait(audit, i, giving);
        }
    }
done:
    submissions_free(&early);
    free(giving);
    return status;
}

/* --- queues --- */

struct queue {
    uint32_t n_nodes, n_links; /* links: bare ordering edges between nodes without common bytes */
    uint32_t first, second;    /* the first such pair */
    uint32_t guess, demand;    /* the speculative node of most, another of least priority */
    int64_t guess_priority, demand_priority;
};

/* An edge that says nothing but that one node comes after another on the same queue. */
static void count_link(struct audit *audit, struct queue *queues, uint32_t edge)
{
    const struct graph *graph = audit->graph;
    struct edge_row row;
    uint32_t engine;

    if ((graph->edges.kinds[edge] & EDGE_TYPE_MASK) != EDGE_ORDERING) {
        return;
    }
    row = edge_row_of(graph, edge);
    engine = graph->nodes[row.producer].engine;
    if (row.evidence != 0 || row.lag_ns != 0 || row.is_from_start || row.object != WEIR_NONE ||
        engine == WEIR_NONE || engine != graph->nodes[row.consumer].engine ||
        !audit_are_independent(audit, row.producer, row.consumer)) {
        return;
    }
    if (queues[engine].n_links++ == 0) {
        queues[engine].first = row.producer;
        queues[engine].second = row.consumer;
    }
}

static void count_node(const struct audit *audit, struct queue *queues, uint32_t node)
{
    const struct graph *graph = audit->graph;
    const struct node_row *row = &graph->nodes[node];
    int64_t priority = rare_get(&graph->rares, row->rare, NODE_RARE_PRIORITY, 0);
    struct queue *queue;

    if (row->engine == WEIR_NONE) {
        return;
    }
    queue = &queues[row->engine];
    queue->n_nodes++;
    if ((row->flags & NODE_IS_SPECULATIVE) != 0) {
        if (queue->guess == WEIR_NONE || priority > queue->guess_priority) {
            queue->guess = node;
            queue->guess_priority = priority;
        }
    } else if (queue->demand == WEIR_NONE || priority < queue->demand_priority) {
        queue->demand = node;
        queue->demand_priority = priority;
    }
}

static void check_queue(struct audit *audit, const struct queue *queue, uint32_t engine)
{
    const char *name = graph_text(audit->graph, audit->graph->engines[engine].name);

    if (queue->n_links >= 2 && queue->n_links + 1 >= queue->n_nodes &&
        audit_takes(audit, FINDING_FIXED_QUEUE)) {
        report_add(audit->report, FINDING_FIXED_QUEUE, NOWHERE,
                   "the %" PRIu32 " nodes of engine %s are put in one order by edges that no bytes "
                   "need, such as that from %s to %s",
                   queue->n_nodes, name, audit_node(audit, queue->first),
                   audit_node(audit, queue->second));
        report_name(audit->report, name);
        report_name(audit->report, audit_node(audit, queue->first));
        report_name(audit->report, audit_node(audit, queue->second));
    }
    if (queue->guess != WEIR_NONE && queue->demand != WEIR_NONE &&
        queue->guess_priority > queue->demand_priority &&
        audit_takes(audit, FINDING_SPECULATIVE_FIRST)) {
        report_add(audit->report, FINDING_SPECULATIVE_FIRST, NOWHERE,
                   "on engine %s the speculative node %s has priority %" PRId64
                   " and passes %s %s, "
                   "which has %" PRId64,
                   name, audit_node(audit, queue->guess), queue->guess_priority,
                   node_kind_name((enum node_kind)audit->graph->nodes[queue->demand].kind),
                   audit_node(audit, queue->demand), queue->demand_priority);
        report_name(audit->report, audit_node(audit, queue->guess));
        report_name(audit->report, audit_node(audit, queue->demand));
        report_name(audit->report, name);
    }
}

static enum weir_status check_queues(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    struct queue *queues = calloc((size_t)graph->n_engines + 1, sizeof *queues);

    if (queues == NULL) {
        return weir_error_memory(audit->err);
    }
    for (uint32_t i = 0; i < graph->n_engines; i++) {
        queues[i].guess = queues[i].demand = WEIR_NONE;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (audit_runs(audit, i)) {
            count_node(audit, queues, i);
        }
    }
    for (uint32_t i = 0; i < graph->n_edges && audit->marked_by != NULL; i++) {
        count_link(audit, queues, i);
    }
    for (uint32_t i = 0; i < graph->n_engines; i++) {
        check_queue(audit, &queues[i], i);
    }
    free(queues);
    return WEIR_OK;
}

enum weir_status audit_order(struct audit *audit)
{
    enum weir_status status = check_edges(audit);

    for (uint32_t i = 0; status == WEIR_OK && audit_has_kind(audit, NODE_RECLAMATION) &&
                         i < bind_n_copies(audit->binding);
         i++) {
        check_late(audit, i);
    }
    if (status == WEIR_OK) {
        status = check_barriers(audit);
    }
    return status == WEIR_OK ? check_queues(audit) : status;
}
