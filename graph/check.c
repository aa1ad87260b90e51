/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks beside the binding: each is one loop over the graph. */
#include "graph/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graph/audit.h"

#include "graph/graph_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

enum finding_code check_cost(const struct graph *graph, weir_node node, const char **text)
{
    struct graph_node value;

    graph_node(graph, node, &value);
    if (value.has_duration && value.duration.kind == DISTRIBUTION_UNKNOWN) {
        *text = "its duration is unknown, so the graph cannot be simulated";
        return FINDING_UNKNOWN_COST;
    }
    if (weir_is(value.engine) && graph_engine(graph, value.engine)->bandwidth_bytes_per_s > 0 &&
        (value.bytes >= 0 ||
         (graph_kind_is_copy(graph_node_kind(graph, node)) && weir_is(value.object)))) {
        *text = "the latency and the bytes over the bandwidth of its engine come to more than "
                "9223372036854775807 ns; expected less, of fewer bytes or a faster engine";
        return FINDING_OUT_OF_RANGE;
    }
    *text = "neither a duration nor bytes over a bandwidth say how long it takes";
    return FINDING_MISSING_COST;
}

enum weir_status check_cost_error(const struct graph *graph, weir_node node, struct weir_error *err)
{
    const char *text;
    enum finding_code code = check_cost(graph, node, &text);

    return weir_error_set(err, WEIR_INPUT, "node %s: %s; %s", graph_node_name(graph, node), text,
                          finding_remedy(code));
}

static void check_costs(const struct graph *graph, struct report *report)
{
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        weir_node node = {i};
        const char *text;
        enum finding_code code;
        int64_t length_ns;

        if (!graph_node_is_on(graph, node) || graph_node_length_ns(graph, node, &length_ns)) {
            continue;
        }
        code = check_cost(graph, node, &text);
        report_add(report, code, NOWHERE, "node %s: %s", graph_node_name(graph, node), text);
        report_name(report, graph_node_name(graph, node));
    }
}

static void check_evidence(const struct graph *graph, struct report *report)
{
    uint32_t n_bare = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        const struct node_row *row = &graph->nodes[i];

        n_bare += graph->evidences[row->evidence].kind == EVIDENCE_NONE && row->distribution != 0;
    }
    if (n_bare > 0) {
        report_add(report, FINDING_NO_EVIDENCE, NOWHERE,
                   "%" PRIu32 " of %" PRIu32 " nodes have a duration and no evidence for it",
                   n_bare, graph_n_nodes(graph));
    }
}

/* A node that writes more objects than this has them in a table. */
#define SCANNED_WRITES 16

struct writes {
    const struct graph *graph;
    struct keys *table; /* by (node, object); NULL before the first node with many */
    bool *is_entered;   /* by node; NULL likewise */
};

static enum weir_status enter_writes(struct writes *writes, weir_node node,
                                     const struct graph_node *value, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (writes->table == NULL) {
        writes->table = keys_new();
        writes->is_entered = calloc(graph_n_nodes(writes->graph), sizeof *writes->is_entered);
    }
    if (writes->table == NULL || writes->is_entered == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0;
         !writes->is_entered[node.index] && i < value->n_writes && status == WEIR_OK; i++) {
        struct key key = {{node.index, value->writes[i].index, 0, 0}};

        status = keys_put(writes->table, &key, i, err);
    }
    writes->is_entered[node.index] = true;
    return status;
}

/* A node with many has been entered. */
static bool writes_object(const struct writes *writes, weir_node node,
                          const struct graph_node *value, weir_object object)
{
    if (value->n_writes > SCANNED_WRITES) {
        struct key key = {{node.index, object.index, 0, 0}};

        return keys_find(writes->table, &key) != KEYS_NONE;
    }
    for (uint32_t i = 0; i < value->n_writes; i++) {
        if (weir_same(value->writes[i], object)) {
            return true;
        }
    }
    return false;
}

static enum weir_status check_fallback(struct writes *writes, const struct graph_node *value,
                                       struct report *report, struct weir_error *err)
{
    const struct graph *graph = writes->graph;
    struct graph_node fallback;
    enum weir_status status = WEIR_OK;

    graph_node(graph, value->fallback_node, &fallback);
    if (fallback.n_writes > SCANNED_WRITES) {
        status = enter_writes(writes, value->fallback_node, &fallback, err);
    }
    for (uint32_t i = 0; i < value->n_writes && status == WEIR_OK; i++) {
        const char *object = graph_object_name(graph, value->writes[i]);

        if (writes_object(writes, value->fallback_node, &fallback, value->writes[i])) {
            continue;
        }
        report_add(report, FINDING_FALLBACK_SHORT, NOWHERE,
                   "node %s falls back on %s, which does not write object %s",
                   graph_text(graph, value->name), graph_text(graph, fallback.name), object);
        report_name(report, graph_text(graph, value->name));
        report_name(report, graph_text(graph, fallback.name));
        report_name(report, object);
    }
    return status;
}

static enum weir_status check_fallbacks(const struct graph *graph, struct report *report,
                                        struct weir_error *err)
{
    struct writes writes = {graph, NULL, NULL};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph->n_nodes && status == WEIR_OK; i++) {
        struct graph_node value;

        if (graph->nodes[i].rare == 0) {
            continue;
        }
        graph_node(graph, (weir_node){i}, &value);
        if (value.fallback == FALLBACK_NODE) {
            status = check_fallback(&writes, &value, report, err);
        }
    }
    keys_free(writes.table);
    free(writes.is_entered);
    return status;
}

/* Objects without a copy, and initial ones that no node uses or retains. */
static enum weir_status check_unused(const struct binding *binding, struct report *report,
                                     struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    bool *is_used = calloc((size_t)graph_n_objects(graph) + 1, sizeof *is_used);

    if (is_used == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});

        is_used[copy->object.index] |= copy->n_uses > 0 || weir_is(copy->allocation);
    }
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        const struct object_row *row = &graph->objects[i];
        weir_object object = {i};

        if (row->alias_of == WEIR_NONE && !is_used[i] && (row->flags & OBJECT_IS_RETAINED) == 0) {
            report_add(report, FINDING_UNUSED_OBJECT, NOWHERE, "no node touches object %s",
                       graph_object_name(graph, object));
            report_name(report, graph_object_name(graph, object));
        }
    }
    free(is_used);
    return WEIR_OK;
}

enum weir_status check_graph(const struct graph *graph, struct report *report, struct binding **out,
                             struct weir_error *err)
{
    struct binding *binding = NULL;
    enum weir_status status;

    check_costs(graph, report);
    status = check_fallbacks(graph, report, err);
    if (status == WEIR_OK) {
        check_evidence(graph, report);
        status = bind_graph(graph, report, &binding, err);
    }
    if (status == WEIR_OK) {
        status = check_unused(binding, report, err);
    }
    if (status == WEIR_OK) {
        status = audit_graph(binding, report, err);
    }
    if (status == WEIR_INPUT) {
        status = WEIR_OK; /* the report says it all */
    }
    *out = binding;
    return status;
}
