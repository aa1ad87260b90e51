/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the analysis share. */
#ifndef WEIR_GRAPH_ANALYZE_INTERNAL_H
#define WEIR_GRAPH_ANALYZE_INTERNAL_H

#include "graph/analyze.h"
#include "graph/graph_internal.h"

/** The node that stands in for this one; none. */
static inline weir_node analyze_fallback_of(const struct graph *graph, uint32_t node)
{
    uint32_t rare = graph->nodes[node].rare;

    return (weir_node){rare == 0 ? WEIR_NONE
                                 : rare_id(&graph->rares, rare, NODE_RARE_FALLBACK_NODE)};
}

/** Edges, lengths and who gives way to whom: all that times are found from. What is not yet found is
 *  NULL. The caller frees with analyze_free, also on failure. */
MUST_CHECK enum weir_status analyze_begin(const struct binding *binding, struct analysis *out,
                                          struct weir_error *err);
/** Does any node stand in for another? */
bool analyze_has_standbys(const struct analysis *analysis);
/** Latest starts; who has no consumer must be over by @p end_ns. */
void analyze_latest(const struct analysis *analysis, int64_t end_ns, int64_t *latest_ns);

/** What the domain has room for. */
static inline int64_t analyze_room(const struct graph *graph, uint32_t domain)
{
    return graph->domains[domain].capacity_bytes - graph->domains[domain].reserve_bytes;
}
/** Is no run stuck? @param fits_at_once for want of bytes none is, since all of them fit */
MUST_CHECK enum weir_status analyze_prove(const struct analysis *analysis, bool fits_at_once,
                                          struct analyze_progress *out, struct weir_error *err);

#endif
