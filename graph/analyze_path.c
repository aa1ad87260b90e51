/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The precedence critical path: earliest starts without releases, and what they end with. */
#include <stdlib.h>

#include "graph/analyze_internal.h"
#include "graph/check.h"

/* Starts along paths alone, by id. */
struct path {
    int64_t *earliest_ns, *over_ns;
    uint32_t *bound_by; /* NULL: nobody asks for the nodes */
    uint32_t last;
    int64_t length_ns;
};

static void path_free(struct path *path)
{
    free(path->earliest_ns);
    free(path->over_ns);
    free(path->bound_by);
}

static enum weir_status find_path(const struct analysis *analysis, bool wants_nodes,
                                  struct path *path, struct weir_error *err)
{
    size_t n = (size_t)graph_n_nodes(bind_of(analysis->binding)) + 1;
    bool has_standbys = analyze_has_standbys(analysis);
    enum weir_status status;

    *path = (struct path){
        .earliest_ns = malloc(n * sizeof *path->earliest_ns),
        .over_ns = has_standbys ? malloc(n * sizeof *path->over_ns) : NULL,
        .bound_by = wants_nodes ? malloc(n * sizeof *path->bound_by) : NULL,
    };
    if (path->earliest_ns == NULL || (has_standbys && path->over_ns == NULL) ||
        (wants_nodes && path->bound_by == NULL)) {
        return weir_error_memory(err);
    }
    status = analyze_earliest(analysis, analysis->length_ns, false, path->earliest_ns,
                              path->over_ns, path->bound_by, err);
    if (status == WEIR_OK) {
        path->length_ns = analyze_end(analysis, path->earliest_ns, &path->last);
    }
    return status;
}

/* Walks back from the last; the list is from the first. */
static enum weir_status walk_back(const struct path *path, weir_node **nodes, uint32_t *n,
                                  struct weir_error *err)
{
    uint32_t count = 0;
    weir_node *list;

    for (uint32_t at = path->last; at != WEIR_NONE; at = path->bound_by[at]) {
        count++;
    }
    list = malloc(((size_t)count + 1) * sizeof *list);
    if (list == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t at = path->last, i = count; at != WEIR_NONE; at = path->bound_by[at]) {
        list[--i].index = at;
    }
    *nodes = list;
    *n = count;
    return WEIR_OK;
}

enum weir_status analyze_path(const struct analysis *analysis, weir_node **nodes, uint32_t *n,
                              int64_t *length_ns, struct weir_error *err)
{
    struct path path;
    enum weir_status status = find_path(analysis, true, &path, err);

    if (status == WEIR_OK) {
        status = walk_back(&path, nodes, n, err);
    }
    if (status == WEIR_OK) {
        *length_ns = path.length_ns;
    }
    path_free(&path);
    return status;
}

/* The first node that may run and whose length nothing says. */
static enum weir_status missing_cost(const struct graph *graph, struct weir_error *err)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        weir_node node = {i};
        int64_t length_ns;

        if (graph_node_is_on(graph, node) && !graph_node_length_ns(graph, node, &length_ns)) {
            return check_cost_error(graph, node, err);
        }
    }
    return WEIR_OK;
}

static void set_lengths(struct analysis *analysis, const int64_t *length_ns)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes && length_ns != NULL; i++) {
        if (graph_node_is_on(graph, (weir_node){i})) {
            analysis->length_ns[i] = length_ns[i];
        }
    }
}

enum weir_status analyze_critical_path_with(const struct binding *binding, const int64_t *length_ns,
                                            int64_t *critical_path_ns, struct weir_error *err)
{
    struct analysis analysis;
    struct path path = {.length_ns = 0};
    enum weir_status status = analyze_begin(binding, &analysis, err);

    if (status == WEIR_OK && analysis.n_unknown > 0) {
        status = missing_cost(bind_of(binding), err);
    }
    if (status == WEIR_OK) {
        set_lengths(&analysis, length_ns);
        status = find_path(&analysis, false, &path, err);
    }
    if (status == WEIR_OK) {
        *critical_path_ns = path.length_ns;
    }
    path_free(&path);
    analyze_free(&analysis);
    return status;
}

enum weir_status analyze_critical_path(const struct binding *binding, int64_t *critical_path_ns,
                                       struct weir_error *err)
{
    return analyze_critical_path_with(binding, NULL, critical_path_ns, err);
}
