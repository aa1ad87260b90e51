/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens when everything takes long, and whether deadlines hold then: every node runs that is
 * not there to stand in for another. */
#include <stdlib.h>

#include "graph/analyze_internal.h"

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

    if (analysis->is_standby[node.index]) {
        return 0;
    }
    if (row->distribution == 0 || (row->flags & NODE_COST_IS_DURATION) != 0 ||
        !graph_node_is_on(graph, node)) {
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
    size_t n = (size_t)graph_n_nodes(bind_of(analysis->binding)) + 1;
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
        status = analyze_earliest(analysis, slow.length_ns, true, slow.earliest_ns, NULL,
                                  slow.bound_by, err);
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
    int64_t deadline = analyze_deadline_ns(graph, i);

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
