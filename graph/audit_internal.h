/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the audit share. Each part is a few loops over the graph; none asks for more than
 * time in proportion to it. */
#ifndef WEIR_GRAPH_AUDIT_INTERNAL_H
#define WEIR_GRAPH_AUDIT_INTERNAL_H

#include "graph/analyze.h"
#include "graph/audit.h"
#include "graph/graph_internal.h"

struct audit {
    const struct graph *graph;
    const struct binding *binding;
    struct analysis analysis;
    struct analyze_life *lives; /* by copy */
    struct report *report;
    struct weir_error *err;
    uint32_t n_found[FINDING_CODES];

    uint32_t
        *last_reader;  /* by copy: the last in program order that reads or holds it; WEIR_NONE */
    uint32_t *stamp;   /* by copy: the last question that marked it */
    uint32_t n_stamps; /* questions so far */
};

/** Counts a finding. @return whether it is to be told, and not only counted */
bool audit_takes(struct audit *audit, enum finding_code code);

/** Does the node run unless it is told to give way? */
static inline bool audit_runs(const struct audit *audit, uint32_t node)
{
    return !audit->analysis.is_standby[node] && graph_node_is_on(audit->graph, (weir_node){node});
}

static inline const char *audit_node(const struct audit *audit, uint32_t node)
{
    return graph_node_name(audit->graph, (weir_node){node});
}

const char *audit_domain(const struct audit *audit, weir_domain domain);
/** Do both touch bytes, and none in common? Of nodes that touch very many nobody asks: no. */
bool audit_are_independent(struct audit *audit, uint32_t a, uint32_t b);
/** Does the node touch the copy? */
bool audit_touches(const struct audit *audit, uint32_t node, weir_copy copy);

MUST_CHECK enum weir_status audit_bytes(struct audit *audit);     /* copies and capacity */
MUST_CHECK enum weir_status audit_storage(struct audit *audit);   /* planned offsets */
MUST_CHECK enum weir_status audit_recompute(struct audit *audit); /* recomputation */
MUST_CHECK enum weir_status audit_order(struct audit *audit);     /* edges, barriers, queues */
MUST_CHECK enum weir_status audit_windows(struct audit *audit);   /* deadlines and overlaps */
void audit_evidence(struct audit *audit);                         /* what costs rest on */

#endif
