/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the audit share. Each part is a few loops over the graph; none asks for more than
 * time in proportion to it. */
#ifndef WEIR_GRAPH_AUDIT_INTERNAL_H
#define WEIR_GRAPH_AUDIT_INTERNAL_H

#include "graph/analyze.h"
#include "graph/audit.h"
#include "graph/graph_internal.h"
#include "graph/keys.h"

/* What the graph has at all: what it does not have is not looked for node by node. */
struct audit_facts {
    uint32_t node_kinds;     /* a bit for each kind of node */
    uint32_t edge_types;     /* a bit for each type of given edge */
    bool has_start_edge;     /* an edge from a start */
    bool has_deadline;       /* of a node */
    bool has_fallback_node;  /* a node that stands in for another */
    bool has_placements;     /* of an object */
    bool has_offset;         /* an object that a plan gave its place */
    bool has_offloadable;    /* an object that is said to be so */
    bool has_recomputation;  /* a node that recomputes, or an object that may be recomputed */
    bool has_overlap_window; /* an overlap with a latest start */
};

struct audit {
    const struct graph *graph;
    const struct binding *binding;
    struct audit_facts facts;
    struct analysis
        analysis; /* empty, with NULL for what is by node, where no fact asks for times */
    struct analyze_life *lives; /* by copy; NULL where nothing reclaims or recomputes */
    struct report *report;
    struct weir_error *err;
    uint32_t n_found[FINDING_CODES];

    uint32_t
        *last_reader;    /* by copy: the last in program order that reads or holds it, or WEIR_NONE;
                              NULL where nothing is moved or recomputed */
    uint32_t *marked_by; /* by copy: the node that touches it, if that was the last to be marked */
    uint32_t marked;     /* the node whose touches were marked last; WEIR_NONE */
};

static inline bool audit_has_kind(const struct audit *audit, enum node_kind kind)
{
    return (audit->facts.node_kinds >> kind & 1) != 0;
}

/** Counts a finding. @return whether it is to be told, and not only counted */
bool audit_takes(struct audit *audit, enum finding_code code);

/** Does the node run unless it is told to give way? */
static inline bool audit_runs(const struct audit *audit, uint32_t node)
{
    return audit->graph->nodes[node].rare == 0
               ? !audit->facts.has_fallback_node || !audit->analysis.is_standby[node]
               : !(audit->facts.has_fallback_node && audit->analysis.is_standby[node]) &&
                     graph_node_is_on(audit->graph, (weir_node){node});
}

static inline const char *audit_node(const struct audit *audit, uint32_t node)
{
    return graph_node_name(audit->graph, (weir_node){node});
}

const char *audit_domain(const struct audit *audit, weir_domain domain);
/** Do both touch bytes, and none in common? Of nodes that touch very many nobody asks: no. The touches
 *  of the one with more are marked, and stay so until another's are: asking of one node with each of
 *  many costs as much as the many have touches. */
bool audit_are_independent(struct audit *audit, uint32_t a, uint32_t b);

MUST_CHECK enum weir_status audit_bytes(struct audit *audit);     /* copies and capacity */
MUST_CHECK enum weir_status audit_storage(struct audit *audit);   /* planned offsets */
MUST_CHECK enum weir_status audit_recompute(struct audit *audit); /* recomputation */
MUST_CHECK enum weir_status audit_order(struct audit *audit);     /* edges, barriers, queues */
MUST_CHECK enum weir_status audit_fallbacks(struct audit *audit); /* nodes that stand in */
MUST_CHECK enum weir_status audit_mappings(struct audit *audit);  /* mappings */
MUST_CHECK enum weir_status audit_windows(struct audit *audit);   /* deadlines and overlaps */
MUST_CHECK enum weir_status audit_evidence(struct audit *audit);  /* what costs rest on */

#endif
