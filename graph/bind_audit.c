/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The audit of a graph with implied=none: every hazard must be covered by a path of given edges, the
 * first of which leaves the finish of its node. Most hazards have an edge of their own; whether a path
 * covers the others is asked of all of them at once. */
#include <stdlib.h>

#include "graph/bind_internal.h"
#include "graph/reach.h"

struct audit {
    const struct binding *binding;
    const struct graph *graph;
    struct adjacency next;
    uint32_t *position;     /* of each node in the order */
    struct bind_edge *open; /* hazards without an edge of their own, by producer's position */
    uint32_t n_open;
};

static const char *engine_of(const struct graph *graph, weir_node node)
{
    weir_engine engine = graph_node_engine(graph, node);

    return weir_is(engine) ? graph_text(graph, graph_engine(graph, engine)->name) : "none";
}

/* What may happen to whom. */
static const char *harm_of(const struct graph *graph, const struct bind_edge *hazard)
{
    if (graph_node_kind(graph, hazard->consumer) != NODE_RECLAMATION) {
        return "";
    }
    return graph_kind_is_copy(graph_node_kind(graph, hazard->producer))
               ? "; the bytes it copies may be given back before it has finished"
               : "; the bytes it uses may be given back before it has finished";
}

static void report_race(const struct audit *audit, const struct bind_edge *hazard,
                        struct report *report)
{
    const struct bind_copy *copy = &audit->binding->copies[hazard->copy.index];
    const char *first = graph_node_name(audit->graph, hazard->producer);
    const char *second = graph_node_name(audit->graph, hazard->consumer);
    const char *object = graph_object_name(audit->graph, copy->object);

    report_add(
        report, FINDING_RACE, (struct report_at){NULL, 0, 0},
        "nothing orders node %s before node %s, which use object %s in %s (engines %s, %s)%s: "
        "add `edge %s %s %s object=%s`",
        first, second, object,
        graph_text(audit->graph, graph_domain(audit->graph, copy->domain)->name),
        engine_of(audit->graph, hazard->producer), engine_of(audit->graph, hazard->consumer),
        harm_of(audit->graph, hazard), first, second, edge_type_name(hazard->type), object);
    report_name(report, first);
    report_name(report, second);
    report_name(report, object);
}

/* A counting sort of the hazards by the position of their producer. */
static enum weir_status sort_hazards(struct audit *audit, struct weir_error *err)
{
    const struct binding *binding = audit->binding;
    uint32_t n_nodes = graph_n_nodes(audit->graph);
    uint32_t *begin = calloc((size_t)n_nodes + 1, sizeof *begin);

    audit->open = malloc(((size_t)binding->n_edges + 1) * sizeof *audit->open);
    if (begin == NULL || audit->open == NULL) {
        free(begin);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < binding->n_edges; i++) {
        begin[audit->position[binding->edges[i].producer.index] + 1]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        begin[i + 1] += begin[i];
    }
    for (uint32_t i = 0; i < binding->n_edges; i++) {
        audit->open[begin[audit->position[binding->edges[i].producer.index]]++] = binding->edges[i];
    }
    audit->n_open = binding->n_edges;
    free(begin);
    return WEIR_OK;
}

/* Drops the hazards that have an edge of their own. Each producer marks whom its edges lead to. */
static enum weir_status drop_covered(struct audit *audit, struct weir_error *err)
{
    uint32_t *marked_by = calloc((size_t)graph_n_nodes(audit->graph) + 1, sizeof *marked_by);
    uint32_t producer = WEIR_NONE, n_open = 0;

    if (marked_by == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < audit->n_open; i++) {
        struct bind_edge hazard = audit->open[i];

        if (hazard.producer.index != producer) {
            producer = hazard.producer.index;
            for (uint32_t j = audit->next.first[producer]; j < audit->next.first[producer + 1];
                 j++) {
                if (reach_leaves_finish(audit->graph, audit->next.items[j].edge)) {
                    marked_by[audit->next.items[j].consumer] = producer + 1;
                }
            }
        }
        if (marked_by[hazard.consumer.index] != producer + 1) {
            audit->open[n_open++] = hazard;
        }
    }
    audit->n_open = n_open;
    free(marked_by);
    return WEIR_OK;
}

/* Asks for a path along which each open hazard is covered, and reports those without. */
static enum weir_status audit_open(const struct audit *audit, struct report *report,
                                   struct weir_error *err)
{
    const struct reach reach = {audit->binding, &audit->next, audit->position};
    struct reach_question *questions = malloc(((size_t)audit->n_open + 1) * sizeof *questions);
    enum weir_status status;

    if (questions == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < audit->n_open; i++) {
        questions[i] = (struct reach_question){audit->open[i].producer.index,
                                               audit->open[i].consumer.index, false};
    }
    status = reach_answer(&reach, questions, audit->n_open, err);
    for (uint32_t i = 0; i < audit->n_open && status == WEIR_OK; i++) {
        if (!questions[i].is_met) {
            report_race(audit, &audit->open[i], report);
        }
    }
    free(questions);
    return status;
}

static enum weir_status audit_begin(struct audit *audit, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(audit->graph);
    enum weir_status status = adjacency_make(audit->graph, NULL, 0, &audit->next, err);

    if (status != WEIR_OK) {
        return status;
    }
    audit->position = malloc(((size_t)n_nodes + 1) * sizeof *audit->position);
    if (audit->position == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        audit->position[bind_order(audit->binding, i).index] = i;
    }
    status = sort_hazards(audit, err);
    return status == WEIR_OK ? drop_covered(audit, err) : status;
}

enum weir_status bind_audit(struct binding *binding, struct report *report, struct weir_error *err)
{
    struct audit audit = {.binding = binding, .graph = binding->graph};
    enum weir_status status = audit_begin(&audit, err);

    if (status == WEIR_OK && audit.n_open > 0) {
        status = audit_open(&audit, report, err);
    }
    adjacency_free(&audit.next);
    free(audit.position);
    free(audit.open);
    return status;
}
