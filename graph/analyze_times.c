/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Earliest and latest starts: one pass over a topological order each. Sources of the formulas: the
 * critical path method (Kelley and Walker 1959). */
#include <stdlib.h>

#include "graph/analyze.h"
#include "graph/graph_internal.h"

#define NODES_AT_ONCE(analysis) ((size_t)graph_n_nodes(bind_of((analysis)->binding)) + 1)

struct analyze_link analyze_link(const struct graph *graph, uint32_t edge)
{
    const struct edge_table *edges = &graph->edges;

    if (edge >= graph->n_edges) {
        return (struct analyze_link){0, false};
    }
    return (struct analyze_link){edges->lags_ns == NULL ? 0 : edges->lags_ns[edge],
                                 (edges->kinds[edge] & EDGE_IS_FROM_START) != 0};
}

static int64_t release_of(const struct graph *graph, uint32_t node)
{
    return rare_get(&graph->rares, graph->nodes[node].rare, NODE_RARE_RELEASE, 0);
}

static int64_t deadline_of(const struct graph *graph, uint32_t node)
{
    return graph_node_is_on(graph, (weir_node){node})
               ? rare_get(&graph->rares, graph->nodes[node].rare, NODE_RARE_DEADLINE, -1)
               : -1;
}

static enum weir_status too_late(const struct graph *graph, uint32_t node, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT, "node %s: it ends later than 2^63 ns; expected less",
                          graph_node_name(graph, (weir_node){node}));
}

/* The start of the node is settled: passes on what its consumers must wait for. */
static enum weir_status pass_on(const struct analysis *analysis, uint32_t node, int64_t length_ns,
                                int64_t *earliest_ns, uint32_t *bound_by, struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    const struct adjacency *next = &analysis->next;
    int64_t start = earliest_ns[node], finish;

    if (__builtin_add_overflow(start, length_ns, &finish)) {
        return too_late(graph, node, err);
    }
    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        struct analyze_link link = analyze_link(graph, next->items[i].edge);
        uint32_t consumer = next->items[i].consumer;
        int64_t at;

        if (__builtin_add_overflow(link.is_from_start ? start : finish, link.lag_ns, &at)) {
            return too_late(graph, consumer, err);
        }
        if (at > earliest_ns[consumer]) {
            earliest_ns[consumer] = at;
            if (bound_by != NULL) {
                bound_by[consumer] = node;
            }
        } else if (bound_by != NULL && at == earliest_ns[consumer] && at > 0 &&
                   bound_by[consumer] == WEIR_NONE) {
            bound_by[consumer] = node;
        }
    }
    return WEIR_OK;
}

enum weir_status analyze_earliest(const struct analysis *analysis, const int64_t *length_ns,
                                  bool has_releases, int64_t *earliest_ns, uint32_t *bound_by,
                                  struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    uint32_t n_nodes = graph_n_nodes(graph);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_nodes; i++) {
        int64_t release = has_releases ? release_of(graph, i) : 0;
        int64_t ready = has_releases ? bind_ready_ns(analysis->binding, (weir_node){i}) : 0;

        earliest_ns[i] = release > ready ? release : ready;
        if (bound_by != NULL) {
            bound_by[i] = WEIR_NONE;
        }
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        uint32_t node = bind_order(analysis->binding, i).index;

        status = pass_on(analysis, node, length_ns[node], earliest_ns, bound_by, err);
    }
    return status;
}

/* What must be over by `finish` had to begin by this: nothing asks for what never needs to be. */
static int64_t before(int64_t finish_ns, int64_t length_ns)
{
    return finish_ns == ANALYZE_NEVER ? ANALYZE_NEVER : finish_ns - length_ns;
}

/* Latest starts; a node without consumers must finish by @p end_ns. */
static void pass_back(const struct analysis *analysis, int64_t end_ns, int64_t *latest_ns)
{
    const struct graph *graph = bind_of(analysis->binding);
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = graph_n_nodes(graph); i-- > 0;) {
        uint32_t node = bind_order(analysis->binding, i).index;
        int64_t length = analysis->length_ns[node], deadline = deadline_of(graph, node);
        int64_t finish = deadline >= 0 && deadline < end_ns ? deadline : end_ns;

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            struct analyze_link link = analyze_link(graph, next->items[j].edge);
            int64_t by = before(latest_ns[next->items[j].consumer], link.lag_ns);

            if (link.is_from_start && by != ANALYZE_NEVER) {
                by += length; /* its start has to be then, its finish may come later */
            }
            finish = by < finish ? by : finish;
        }
        latest_ns[node] = before(finish, length);
    }
}

static void find_standbys(struct analysis *analysis)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t rare = graph->nodes[i].rare;
        uint32_t fallback =
            rare == 0 ? WEIR_NONE : rare_id(&graph->rares, rare, NODE_RARE_FALLBACK_NODE);

        if (fallback != WEIR_NONE) {
            analysis->is_standby[fallback] = true;
        }
    }
}

static void find_lengths(struct analysis *analysis)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        int64_t length_ns = 0;

        if (!analysis->is_standby[i] && graph_node_is_on(graph, (weir_node){i}) &&
            !graph_node_length_ns(graph, (weir_node){i}, &length_ns)) {
            analysis->is_uncertain[i] = true;
            analysis->n_unknown++;
            length_ns = 0;
        }
        analysis->length_ns[i] = length_ns;
    }
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

static enum weir_status fill(struct analysis *analysis, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(bind_of(analysis->binding));
    enum weir_status status;

    find_standbys(analysis);
    find_lengths(analysis);
    spread_uncertainty(analysis);
    status = analyze_earliest(analysis, analysis->length_ns, true, analysis->earliest_ns,
                              analysis->bound_by, err);
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        int64_t finish = analysis->earliest_ns[i] + analysis->length_ns[i];

        if (graph_node_is_on(bind_of(analysis->binding), (weir_node){i}) &&
            finish > analysis->end_ns) {
            analysis->end_ns = finish;
        }
    }
    return WEIR_OK;
}

enum weir_status analyze_early(const struct binding *binding, struct analysis *out,
                               struct weir_error *err)
{
    struct analysis analysis = {.binding = binding};
    size_t n = NODES_AT_ONCE(&analysis);
    enum weir_status status = adjacency_make(bind_of(binding), bind_edges(binding),
                                             bind_n_edges(binding), &analysis.next, err);

    if (status != WEIR_OK) {
        return status;
    }
    analysis.is_standby = calloc(n, sizeof *analysis.is_standby);
    analysis.is_uncertain = calloc(n, sizeof *analysis.is_uncertain);
    analysis.length_ns = malloc(n * sizeof *analysis.length_ns);
    analysis.earliest_ns = malloc(n * sizeof *analysis.earliest_ns);
    analysis.bound_by = malloc(n * sizeof *analysis.bound_by);
    if (analysis.is_standby == NULL || analysis.is_uncertain == NULL ||
        analysis.length_ns == NULL || analysis.earliest_ns == NULL || analysis.bound_by == NULL) {
        status = weir_error_memory(err);
    } else {
        status = fill(&analysis, err);
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
    size_t n;
    enum weir_status status = analyze_early(binding, &analysis, err);

    if (status != WEIR_OK) {
        return status;
    }
    n = NODES_AT_ONCE(&analysis);
    analysis.latest_ns = malloc(n * sizeof *analysis.latest_ns);
    analysis.due_ns = malloc(n * sizeof *analysis.due_ns);
    if (analysis.latest_ns == NULL || analysis.due_ns == NULL) {
        analyze_free(&analysis);
        return weir_error_memory(err);
    }
    pass_back(&analysis, analysis.end_ns, analysis.latest_ns);
    pass_back(&analysis, ANALYZE_NEVER, analysis.due_ns);
    *out = analysis;
    return WEIR_OK;
}

void analyze_free(struct analysis *analysis)
{
    adjacency_free(&analysis->next);
    free(analysis->is_standby);
    free(analysis->is_uncertain);
    free(analysis->length_ns);
    free(analysis->earliest_ns);
    free(analysis->latest_ns);
    free(analysis->due_ns);
    free(analysis->bound_by);
}

static int64_t greatest_of(const struct graph_duration *duration)
{
    int64_t greatest = 0;

    for (uint32_t i = 0; i < duration->n_values; i++) {
        greatest = duration->values_ns[i] > greatest ? duration->values_ns[i] : greatest;
    }
    return greatest;
}

static int64_t mean_and_three_deviations(const struct graph_duration *duration)
{
    int64_t sum = duration->values_ns[0];

    for (int i = 0; i < 3; i++) {
        if (__builtin_add_overflow(sum, duration->values_ns[1], &sum)) {
            return INT64_MAX / 4; /* longer than anything that ends */
        }
    }
    return sum;
}

int64_t analyze_slow_ns(const struct analysis *analysis, weir_node node)
{
    const struct graph *graph = bind_of(analysis->binding);
    const struct node_row *row = &graph->nodes[node.index];
    struct graph_node value;

    if (row->distribution == 0 || (row->flags & NODE_COST_IS_DURATION) != 0 ||
        analysis->is_standby[node.index] || !graph_node_is_on(graph, node)) {
        return analysis->length_ns[node.index];
    }
    graph_node(graph, node, &value);
    switch (value.duration.kind) {
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_UNKNOWN:
        return analysis->length_ns[node.index];
    case DISTRIBUTION_NORMAL:
    case DISTRIBUTION_LOGNORMAL:
    case DISTRIBUTION_GAMMA:
        return mean_and_three_deviations(&value.duration);
    case DISTRIBUTION_UNIFORM:
    case DISTRIBUTION_EMPIRICAL:
        return greatest_of(&value.duration);
    }
    return analysis->length_ns[node.index];
}

enum weir_status analyze_slow_make(const struct analysis *analysis, struct analyze_slow *out,
                                   struct weir_error *err)
{
    size_t n = NODES_AT_ONCE(analysis);
    struct analyze_slow slow = {
        malloc(n * sizeof *slow.length_ns),
        malloc(n * sizeof *slow.earliest_ns),
        malloc(n * sizeof *slow.bound_by),
    };
    enum weir_status status = WEIR_OK;

    if (slow.length_ns == NULL || slow.earliest_ns == NULL || slow.bound_by == NULL) {
        status = weir_error_memory(err);
    } else {
        for (uint32_t i = 0; i < graph_n_nodes(bind_of(analysis->binding)); i++) {
            slow.length_ns[i] = analyze_slow_ns(analysis, (weir_node){i});
        }
        status =
            analyze_earliest(analysis, slow.length_ns, true, slow.earliest_ns, slow.bound_by, err);
    }
    if (status != WEIR_OK) {
        analyze_slow_free(&slow);
        return status;
    }
    *out = slow;
    return WEIR_OK;
}

void analyze_slow_free(struct analyze_slow *slow)
{
    free(slow->length_ns);
    free(slow->earliest_ns);
    free(slow->bound_by);
}

enum analyze_window analyze_window(const struct analysis *analysis, const struct analyze_slow *slow,
                                   weir_node node)
{
    const struct graph *graph = bind_of(analysis->binding);
    uint32_t i = node.index;
    int64_t deadline = deadline_of(graph, i);

    if (deadline < 0 || analysis->is_standby[i]) {
        return WINDOW_NONE;
    }
    if (analysis->earliest_ns[i] + analysis->length_ns[i] > deadline) {
        return WINDOW_NEGATIVE;
    }
    return analysis->is_uncertain[i] || slow->earliest_ns[i] + slow->length_ns[i] > deadline
               ? WINDOW_UNCERTAIN
               : WINDOW_OPEN;
}

const char *analyze_window_name(enum analyze_window window)
{
    static const char *const names[] = {"none", "open", "uncertain", "negative"};

    return names[window];
}

/* --- the critical path --- */

/* The node that finishes last, and when. */
static uint32_t last_of(const struct analysis *analysis, const int64_t *earliest_ns,
                        int64_t *finish_ns)
{
    const struct graph *graph = bind_of(analysis->binding);
    uint32_t last = WEIR_NONE;

    *finish_ns = 0;
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        int64_t finish = earliest_ns[i] + analysis->length_ns[i];

        if (graph_node_is_on(graph, (weir_node){i}) && (last == WEIR_NONE || finish > *finish_ns)) {
            last = i;
            *finish_ns = finish;
        }
    }
    return last;
}

/* Walks back from the last; the list is from the first. */
static enum weir_status walk_back(uint32_t last, const uint32_t *bound_by, weir_node **nodes,
                                  uint32_t *n, struct weir_error *err)
{
    uint32_t count = 0;
    weir_node *list;

    for (uint32_t at = last; at != WEIR_NONE; at = bound_by[at]) {
        count++;
    }
    list = malloc(((size_t)count + 1) * sizeof *list);
    if (list == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t at = last, i = count; at != WEIR_NONE; at = bound_by[at]) {
        list[--i].index = at;
    }
    *nodes = list;
    *n = count;
    return WEIR_OK;
}

enum weir_status analyze_path(const struct analysis *analysis, weir_node **nodes, uint32_t *n,
                              int64_t *length_ns, struct weir_error *err)
{
    size_t room = NODES_AT_ONCE(analysis);
    int64_t *earliest_ns = malloc(room * sizeof *earliest_ns);
    uint32_t *bound_by = malloc(room * sizeof *bound_by);
    enum weir_status status = WEIR_OK;

    if (earliest_ns == NULL || bound_by == NULL) {
        status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = analyze_earliest(analysis, analysis->length_ns, false, earliest_ns, bound_by, err);
    }
    if (status == WEIR_OK) {
        status = walk_back(last_of(analysis, earliest_ns, length_ns), bound_by, nodes, n, err);
    }
    free(earliest_ns);
    free(bound_by);
    return status;
}
