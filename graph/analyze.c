/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest path along precedence, in one pass over a topological order. */
#include "graph/analyze.h"

#include <stdlib.h>

#include "graph/adjacency.h"
#include "graph/check.h"

/* The longest path to a node's start is settled when its turn comes: passes it on to its consumers. */
static enum weir_status pass_on(const struct binding *binding, const struct adjacency *next,
                                weir_node node, int64_t *earliest_ns, int64_t *last_ns,
                                struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    int64_t start = earliest_ns[node.index], length = 0, finish;
    bool is_on = graph_node_is_on(graph, node);

    if (is_on && !graph_node_length_ns(graph, node, &length)) {
        const char *text;
        enum finding_code code = check_cost(graph, node, &text);

        return weir_error_set(err, WEIR_INPUT, "node %s: %s; %s", graph_node_name(graph, node),
                              text, finding_remedy(code));
    }
    if (__builtin_add_overflow(start, length, &finish)) {
        return weir_error_set(err, WEIR_INPUT, "node %s: its finish passes 2^63 ns",
                              graph_node_name(graph, node));
    }
    *last_ns = is_on && finish > *last_ns ? finish : *last_ns;
    for (uint32_t i = next->first[node.index]; i < next->first[node.index + 1]; i++) {
        uint32_t n_given = graph_n_edges(graph), consumer = next->items[i].consumer;
        int64_t at = finish;

        if (next->items[i].edge < n_given) {
            struct graph_edge edge;

            graph_edge(graph, (weir_edge){next->items[i].edge}, &edge);
            if (__builtin_add_overflow(edge.is_from_start ? start : finish, edge.lag_ns, &at)) {
                return weir_error_set(err, WEIR_INPUT, "node %s: its start passes 2^63 ns",
                                      graph_node_name(graph, edge.consumer));
            }
        }
        earliest_ns[consumer] = at > earliest_ns[consumer] ? at : earliest_ns[consumer];
    }
    return WEIR_OK;
}

enum weir_status analyze_critical_path(const struct binding *binding, int64_t *critical_path_ns,
                                       struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    uint32_t n_nodes = graph_n_nodes(graph);
    int64_t *earliest_ns = calloc((size_t)n_nodes + 1, sizeof *earliest_ns);
    int64_t last_ns = 0;
    struct adjacency next;
    enum weir_status status;

    if (earliest_ns == NULL) {
        return weir_error_memory(err);
    }
    status = adjacency_make(graph, bind_edges(binding), bind_n_edges(binding), &next, err);
    if (status != WEIR_OK) {
        free(earliest_ns);
        return status;
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        status = pass_on(binding, &next, bind_order(binding, i), earliest_ns, &last_ns, err);
    }
    if (status == WEIR_OK) {
        *critical_path_ns = last_ns;
    }
    adjacency_free(&next);
    free(earliest_ns);
    return status;
}
