/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing out what program order implies: the same statements, each implied edge behind them, and
 * implied=none. No action is ever implied: each copy begins and ends with a node that stands in the
 * graph. An implied lifetime-hold edge names no object, since one that does would make its consumer
 * hold every copy of the object that its producer uses. */
#include <stdlib.h>

#include "graph/bind_internal.h"
#include "graph/text.h"

/* By way of the canonical form, which gives the same graph. */
static enum weir_status copy_graph(const struct graph *graph, struct graph **out,
                                   struct weir_error *err)
{
    struct report *report = report_new(1);
    char *text = NULL;
    size_t length;
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    status = graph_write_text(graph, &text, &length, err);
    if (status == WEIR_OK) {
        status = graph_read_text(text, length, "the canonical form", report, out, err);
    }
    free(text);
    report_free(report);
    return status;
}

enum weir_status bind_expand(const struct binding *binding, struct graph **out,
                             struct weir_error *err)
{
    const struct graph *graph = binding->graph;
    struct graph *expanded;
    enum weir_status status = copy_graph(graph, &expanded, err);

    if (status != WEIR_OK) {
        return status;
    }
    graph_set_head(expanded, graph_name(expanded), graph_scope(expanded), false,
                   graph_evidence(expanded));
    for (uint32_t i = 0; i < binding->n_edges && status == WEIR_OK; i++) {
        const struct bind_edge *implied = &binding->edges[i];
        struct graph_edge edge = {
            .producer = implied->producer,
            .consumer = implied->consumer,
            .type = implied->type,
            .object = {WEIR_NONE},
            .evidence = {EVIDENCE_NONE, {0}, -1},
        };

        if (implied->type != EDGE_LIFETIME_HOLD) {
            edge.object = binding->copies[implied->copy.index].object;
        }
        status = graph_add_edge(expanded, &edge, err);
    }
    if (status != WEIR_OK) {
        graph_free(expanded);
        return status;
    }
    *out = expanded;
    return WEIR_OK;
}
