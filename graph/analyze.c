/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An analysis as a whole: what its times are found from, and the times. */
#include "graph/analyze.h"

#include <stdlib.h>

#include "graph/analyze_internal.h"

struct analyze_link analyze_link(const struct graph *graph, uint32_t edge)
{
    const struct edge_table *edges = &graph->edges;

    if (edge >= graph->n_edges) {
        return (struct analyze_link){0, false};
    }
    return (struct analyze_link){edges->lags_ns == NULL ? 0 : edges->lags_ns[edge],
                                 (edges->kinds[edge] & EDGE_IS_FROM_START) != 0};
}

int64_t analyze_deadline_ns(const struct graph *graph, uint32_t node)
{
    return graph_node_is_on(graph, (weir_node){node})
               ? rare_get(&graph->rares, graph->nodes[node].rare, NODE_RARE_DEADLINE, -1)
               : -1;
}

bool analyze_surely_runs(const struct analysis *analysis, uint32_t node)
{
    return !analysis->is_standby[node] && !analysis->gives_way[node] &&
           graph_node_is_on(bind_of(analysis->binding), (weir_node){node});
}

bool analyze_has_standbys(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < graph_n_nodes(bind_of(analysis->binding)); i++) {
        if (analysis->is_standby[i]) {
            return true;
        }
    }
    return false;
}

/* Without a deadline a window never closes. */
static void find_fallbacks(struct analysis *analysis)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        weir_node fallback = analyze_fallback_of(graph, i);

        if (weir_is(fallback)) {
            analysis->is_standby[fallback.index] = true;
            analysis->gives_way[i] = analyze_deadline_ns(graph, i) >= 0;
        }
    }
}

static void find_lengths(struct analysis *analysis)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        int64_t length_ns = 0;

        if (graph_node_is_on(graph, (weir_node){i}) &&
            !graph_node_length_ns(graph, (weir_node){i}, &length_ns)) {
            analysis->is_uncertain[i] = true;
            analysis->n_unknown++;
            length_ns = 0;
        }
        analysis->length_ns[i] = length_ns;
    }
}

enum weir_status analyze_begin(const struct binding *binding, struct analysis *out,
                               struct weir_error *err)
{
    size_t n = (size_t)graph_n_nodes(bind_of(binding)) + 1;
    enum weir_status status;

    *out = (struct analysis){.binding = binding};
    status = adjacency_make(bind_of(binding), bind_edges(binding), bind_n_edges(binding),
                            &out->next, err);
    if (status != WEIR_OK) {
        return status;
    }
    out->is_standby = calloc(n, sizeof *out->is_standby);
    out->gives_way = calloc(n, sizeof *out->gives_way);
    out->is_uncertain = calloc(n, sizeof *out->is_uncertain);
    out->length_ns = malloc(n * sizeof *out->length_ns);
    if (out->is_standby == NULL || out->gives_way == NULL || out->is_uncertain == NULL ||
        out->length_ns == NULL) {
        return weir_error_memory(err);
    }
    find_fallbacks(out);
    find_lengths(out);
    return WEIR_OK;
}

static void spread_uncertainty(struct analysis *analysis)
{
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = 0; analysis->n_unknown > 0 && i < graph_n_nodes(bind_of(analysis->binding));
         i++) {
        uint32_t node = bind_order(analysis->binding, i).index;

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            analysis->is_uncertain[next->items[j].consumer] |= analysis->is_uncertain[node];
        }
    }
}

static enum weir_status find_early(struct analysis *analysis, struct weir_error *err)
{
    size_t n = (size_t)graph_n_nodes(bind_of(analysis->binding)) + 1;
    bool has_standbys = analyze_has_standbys(analysis);
    enum weir_status status;

    analysis->earliest_ns = malloc(n * sizeof *analysis->earliest_ns);
    analysis->over_ns = has_standbys ? malloc(n * sizeof *analysis->over_ns) : NULL;
    analysis->bound_by = malloc(n * sizeof *analysis->bound_by);
    if (analysis->earliest_ns == NULL || analysis->bound_by == NULL ||
        (has_standbys && analysis->over_ns == NULL)) {
        return weir_error_memory(err);
    }
    spread_uncertainty(analysis);
    status = analyze_earliest(analysis, analysis->length_ns, true, analysis->earliest_ns,
                              analysis->over_ns, analysis->bound_by, err);
    if (status == WEIR_OK) {
        analysis->end_ns = analyze_end(analysis, analysis->earliest_ns, NULL);
    }
    return status;
}

static enum weir_status find_late(struct analysis *analysis, struct weir_error *err)
{
    size_t n = (size_t)graph_n_nodes(bind_of(analysis->binding)) + 1;

    analysis->latest_ns = malloc(n * sizeof *analysis->latest_ns);
    analysis->due_ns = malloc(n * sizeof *analysis->due_ns);
    if (analysis->latest_ns == NULL || analysis->due_ns == NULL) {
        return weir_error_memory(err);
    }
    analyze_latest(analysis, analysis->end_ns, analysis->latest_ns);
    analyze_latest(analysis, ANALYZE_NEVER, analysis->due_ns);
    return WEIR_OK;
}

enum weir_status analyze_early(const struct binding *binding, struct analysis *out,
                               struct weir_error *err)
{
    struct analysis analysis;
    enum weir_status status = analyze_begin(binding, &analysis, err);

    if (status == WEIR_OK) {
        status = find_early(&analysis, err);
    }
    if (status != WEIR_OK) {
        analyze_free(&analysis);
        return status;
    }
    *out = analysis;
    return WEIR_OK;
}

enum weir_status analyze(const struct binding *binding, struct analysis *out,
                         struct weir_error *err)
{
    struct analysis analysis;
    enum weir_status status = analyze_early(binding, &analysis, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = find_late(&analysis, err);
    if (status != WEIR_OK) {
        analyze_free(&analysis);
        return status;
    }
    *out = analysis;
    return WEIR_OK;
}

void analyze_free(struct analysis *analysis)
{
    adjacency_free(&analysis->next);
    free(analysis->is_standby);
    free(analysis->gives_way);
    free(analysis->is_uncertain);
    free(analysis->length_ns);
    free(analysis->earliest_ns);
    free(analysis->over_ns);
    free(analysis->latest_ns);
    free(analysis->due_ns);
    free(analysis->bound_by);
}
