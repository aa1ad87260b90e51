/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The audit of a graph with implied=none: every hazard must be covered by a path of given edges, the
 * first of which leaves the finish of its node.
 *
 * Most hazards have an edge of their own. For the rest, 64 producers at a time: a bit for each is
 * carried along the edges, in topological order, from the first producer to the last consumer. */
#include <stdlib.h>

#include "graph/adjacency.h"
#include "graph/bind_internal.h"

#define BATCH 64

struct audit {
    const struct binding *binding;
    const struct graph *graph;
    struct adjacency next;
    uint32_t *position;     /* of each node in the order */
    struct bind_edge *open; /* hazards without an edge of their own, by producer's position */
    uint32_t n_open;
    uint64_t *reached; /* by node: which producers of the batch end before it starts */
};

static bool leaves_finish(const struct audit *audit, uint32_t edge)
{
    struct graph_edge value;

    graph_edge(audit->graph, (weir_edge){edge}, &value);
    return !value.is_from_start;
}

static bool has_own_edge(const struct audit *audit, const struct bind_edge *hazard)
{
    uint32_t producer = hazard->producer.index;

    for (uint32_t i = audit->next.first[producer]; i < audit->next.first[producer + 1]; i++) {
        if (audit->next.items[i].consumer == hazard->consumer.index &&
            leaves_finish(audit, audit->next.items[i].edge)) {
            return true;
        }
    }
    return false;
}

static void report_race(const struct audit *audit, const struct bind_edge *hazard,
                        struct report *report)
{
    const struct bind_copy *copy = &audit->binding->copies[hazard->copy.index];
    const char *first = graph_node_name(audit->graph, hazard->producer);
    const char *second = graph_node_name(audit->graph, hazard->consumer);
    const char *object = graph_object_name(audit->graph, copy->object);

    report_add(report, FINDING_RACE, (struct report_at){NULL, 0, 0},
               "nothing orders node %s before node %s, which use object %s in %s: add `edge %s %s "
               "%s object=%s`",
               first, second, object,
               graph_text(audit->graph, graph_domain(audit->graph, copy->domain)->name), first,
               second, edge_type_name(hazard->type), object);
    report_name(report, first);
    report_name(report, second);
    report_name(report, object);
}

/* Carries the bits of a node, and its own, to its consumers up to a position. */
static void carry(struct audit *audit, uint32_t node, uint64_t own, uint32_t last_position)
{
    uint64_t bits = audit->reached[node];

    if ((bits | own) == 0) {
        return;
    }
    for (uint32_t i = audit->next.first[node]; i < audit->next.first[node + 1]; i++) {
        struct adjacent to = audit->next.items[i];

        if (audit->position[to.consumer] <= last_position) {
            audit->reached[to.consumer] |=
                own != 0 && leaves_finish(audit, to.edge) ? bits | own : bits;
        }
    }
}

/* Hazards [first, last) share at most BATCH producers. */
static void audit_batch(struct audit *audit, uint32_t first, uint32_t last, struct report *report)
{
    uint32_t from = audit->position[audit->open[first].producer.index], to = from, at = first;
    uint32_t producer = WEIR_NONE;
    uint64_t bit = 0;

    for (uint32_t i = first; i < last; i++) {
        uint32_t end = audit->position[audit->open[i].consumer.index];

        to = end > to ? end : to;
    }
    for (uint32_t position = from; position <= to; position++) {
        uint32_t node = bind_order(audit->binding, position).index;
        uint64_t own = 0;

        if (at < last && audit->open[at].producer.index == node) {
            bit = bit == 0 ? 1 : bit << 1;
            own = bit;
        }
        for (; at < last && audit->open[at].producer.index == node; at++) {
        }
        carry(audit, node, own, to);
    }
    bit = 0;
    for (uint32_t i = first; i < last; i++) {
        if (audit->open[i].producer.index != producer) {
            producer = audit->open[i].producer.index;
            bit = bit == 0 ? 1 : bit << 1;
        }
        if ((audit->reached[audit->open[i].consumer.index] & bit) == 0) {
            report_race(audit, &audit->open[i], report);
        }
    }
    for (uint32_t position = from; position <= to; position++) {
        audit->reached[bind_order(audit->binding, position).index] = 0;
    }
}

static void audit_open(struct audit *audit, struct report *report)
{
    uint32_t first = 0;

    while (first < audit->n_open) {
        uint32_t last = first, producers = 0, producer = WEIR_NONE;

        for (; last < audit->n_open; last++) {
            if (audit->open[last].producer.index != producer) {
                producer = audit->open[last].producer.index;
                if (++producers > BATCH) {
                    break;
                }
            }
        }
        audit_batch(audit, first, last, report);
        first = last;
    }
}

/* A counting sort of the open hazards by the position of their producer. */
static enum weir_status sort_open(struct audit *audit, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(audit->graph);
    uint32_t *begin = calloc((size_t)n_nodes + 1, sizeof *begin);
    struct bind_edge *sorted = malloc(((size_t)audit->n_open + 1) * sizeof *sorted);

    if (begin == NULL || sorted == NULL) {
        free(begin);
        free(sorted);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < audit->n_open; i++) {
        begin[audit->position[audit->open[i].producer.index] + 1]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        begin[i + 1] += begin[i];
    }
    for (uint32_t i = 0; i < audit->n_open; i++) {
        sorted[begin[audit->position[audit->open[i].producer.index]]++] = audit->open[i];
    }
    free(begin);
    free(audit->open);
    audit->open = sorted;
    return WEIR_OK;
}

static enum weir_status audit_begin(struct audit *audit, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(audit->graph);
    enum weir_status status = adjacency_make(audit->graph, NULL, 0, &audit->next, err);

    if (status != WEIR_OK) {
        return status;
    }
    audit->position = malloc(((size_t)n_nodes + 1) * sizeof *audit->position);
    audit->reached = calloc((size_t)n_nodes + 1, sizeof *audit->reached);
    audit->open = malloc(((size_t)audit->binding->n_edges + 1) * sizeof *audit->open);
    if (audit->position == NULL || audit->reached == NULL || audit->open == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        audit->position[bind_order(audit->binding, i).index] = i;
    }
    for (uint32_t i = 0; i < audit->binding->n_edges; i++) {
        if (!has_own_edge(audit, &audit->binding->edges[i])) {
            audit->open[audit->n_open++] = audit->binding->edges[i];
        }
    }
    return sort_open(audit, err);
}

enum weir_status bind_audit(struct binding *binding, struct report *report, struct weir_error *err)
{
    struct audit audit = {.binding = binding, .graph = binding->graph};
    enum weir_status status = audit_begin(&audit, err);

    if (status == WEIR_OK) {
        audit_open(&audit, report);
    }
    adjacency_free(&audit.next);
    free(audit.position);
    free(audit.reached);
    free(audit.open);
    return status;
}
