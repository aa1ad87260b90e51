/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the audit one after another, on one analysis. */
#include "graph/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

bool audit_takes(struct audit *audit, enum finding_code code)
{
    return audit->n_found[code]++ < AUDIT_SHOWN;
}

const char *audit_domain(const struct audit *audit, weir_domain domain)
{
    return weir_is(domain) ? graph_text(audit->graph, graph_domain(audit->graph, domain)->name)
                           : "(none)";
}

#define MOST_TOUCHES 1024 /* of a node that is compared with others */

/* Leaves the node's mark on what it touches. Another's may cover it later: it holds while
 * audit->marked is the node. */
static void mark_touches(struct audit *audit, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        audit->marked_by[touches[i].copy.index] = node;
    }
    audit->marked = node;
}

bool audit_are_independent(struct audit *audit, uint32_t a, uint32_t b)
{
    uint32_t n_a, n_b;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){a}, &n_a);
    const struct bind_touch *of_b = bind_touches(audit->binding, (weir_node){b}, &n_b);
    uint32_t more = n_a > n_b ? a : b, n = n_a > n_b ? n_b : n_a;

    if (n_a == 0 || n_b == 0 || n_a > MOST_TOUCHES || n_b > MOST_TOUCHES) {
        return false;
    }
    if (n_a > n_b) {
        touches = of_b;
    }
    if (audit->marked != more) {
        mark_touches(audit, more);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (audit->marked_by[touches[i].copy.index] == more) {
            return false;
        }
    }
    return true;
}

/* --- what the graph has --- */

static void look_at_node(const struct graph *graph, uint32_t node, struct audit_facts *facts)
{
    const struct node_row *row = &graph->nodes[node];

    facts->node_kinds |= UINT32_C(1) << row->kind;
    if (row->rare != 0) {
        facts->has_deadline |= rare_get(&graph->rares, row->rare, NODE_RARE_DEADLINE, -1) >= 0;
        facts->has_fallback_node |=
            rare_id(&graph->rares, row->rare, NODE_RARE_FALLBACK_NODE) != WEIR_NONE;
    }
}

static void look_at_object(const struct graph *graph, uint32_t object, struct audit_facts *facts)
{
    const struct object_row *row = &graph->objects[object];

    facts->has_offloadable |= (row->flags & OBJECT_IS_OFFLOADABLE) != 0;
    if (row->rare != 0) {
        facts->has_placements |= rare_get(&graph->rares, row->rare, OBJECT_RARE_PLACEMENTS, 0) != 0;
        facts->has_offset |=
            rare_get(&graph->rares, row->rare, OBJECT_RARE_PLANNED_OFFSET, -1) >= 0;
        facts->has_recomputation |=
            rare_id(&graph->rares, row->rare, OBJECT_RARE_RECOMPUTE) != WEIR_NONE;
    }
}

static struct audit_facts find_facts(const struct graph *graph)
{
    struct audit_facts facts = {0};
    uint32_t edge_kinds = 0;

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        look_at_node(graph, i, &facts);
    }
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        look_at_object(graph, i, &facts);
    }
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        facts.edge_types |= UINT32_C(1) << (graph->edges.kinds[i] & EDGE_TYPE_MASK);
        edge_kinds |= graph->edges.kinds[i];
    }
    for (uint32_t i = 0; i < graph->n_overlaps; i++) {
        facts.has_overlap_window |= graph->overlaps[i].latest_ns >= 0;
    }
    facts.has_start_edge = (edge_kinds & EDGE_IS_FROM_START) != 0;
    facts.has_recomputation |= (facts.node_kinds >> NODE_REMATERIALIZATION & 1) != 0;
    return facts;
}

/* Does any part of the audit ask when nodes can start, or who leads to whom? */
static bool needs_times(const struct audit *audit)
{
    const struct audit_facts *facts = &audit->facts;

    return facts->has_deadline || facts->has_fallback_node || facts->has_offset ||
           facts->has_recomputation || facts->has_overlap_window ||
           audit_has_kind(audit, NODE_RECLAMATION) || audit_has_kind(audit, NODE_BARRIER) ||
           audit_has_kind(audit, NODE_PREFETCH) || audit_has_kind(audit, NODE_OFFLOAD) ||
           audit_has_kind(audit, NODE_MAPPING);
}

static enum weir_status find_last_readers(struct audit *audit)
{
    uint32_t n_copies = bind_n_copies(audit->binding);

    audit->last_reader = malloc(((size_t)n_copies + 1) * sizeof *audit->last_reader);
    if (audit->last_reader == NULL) {
        return weir_error_memory(audit->err);
    }
    memset(audit->last_reader, 0xff, n_copies * sizeof *audit->last_reader);
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            if ((touches[j].roles & (BIND_READS | BIND_HOLDS)) != 0) {
                audit->last_reader[touches[j].copy.index] = i;
            }
        }
    }
    return WEIR_OK;
}

static enum weir_status mark_nothing(struct audit *audit)
{
    size_t n_bytes = ((size_t)bind_n_copies(audit->binding) + 1) * sizeof *audit->marked_by;

    audit->marked_by = malloc(n_bytes);
    if (audit->marked_by == NULL) {
        return weir_error_memory(audit->err);
    }
    memset(audit->marked_by, 0xff, n_bytes);
    audit->marked = WEIR_NONE;
    return WEIR_OK;
}

static enum weir_status begin(struct audit *audit)
{
    enum weir_status status = WEIR_OK;

    audit->facts = find_facts(audit->graph);
    if (needs_times(audit)) {
        status = analyze_early(audit->binding, &audit->analysis, audit->err);
    }
    if (status == WEIR_OK &&
        (audit_has_kind(audit, NODE_RECLAMATION) || audit->facts.has_recomputation)) {
        status = analyze_lives(&audit->analysis, &audit->lives, audit->err);
    }
    if (status == WEIR_OK &&
        (audit_has_kind(audit, NODE_PREFETCH) || audit_has_kind(audit, NODE_OFFLOAD) ||
         audit->facts.has_recomputation)) {
        status = find_last_readers(audit);
    }
    if (status == WEIR_OK && (audit_has_kind(audit, NODE_BARRIER) ||
                              (audit->facts.edge_types >> EDGE_ORDERING & 1) != 0)) {
        status = mark_nothing(audit);
    }
    return status;
}

static void tell_how_many(struct audit *audit)
{
    for (int i = 0; i < FINDING_CODES; i++) {
        if (audit->n_found[i] > AUDIT_SHOWN) {
            report_add(audit->report, (enum finding_code)i, (struct report_at){NULL, 0, 0},
                       "%" PRIu32 " more of these are not shown", audit->n_found[i] - AUDIT_SHOWN);
        }
    }
}

enum weir_status audit_graph(const struct binding *binding, struct report *report,
                             struct weir_error *err)
{
    struct audit audit = {
        .graph = bind_of(binding), .binding = binding, .report = report, .err = err};
    enum weir_status status = begin(&audit);

    if (status == WEIR_OK) {
        status = audit_bytes(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_storage(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_recompute(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_order(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_fallbacks(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_mappings(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_windows(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_evidence(&audit);
    }
    if (status == WEIR_OK) {
        tell_how_many(&audit);
    }
    analyze_free(&audit.analysis);
    free(audit.lives);
    free(audit.last_reader);
    free(audit.marked_by);
    return status;
}
