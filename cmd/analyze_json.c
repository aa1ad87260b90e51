/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir analyze answers with --json. */
#include "cmd/analyze_internal.h"
#include "cmd/graph_json.h"
#include "cmd/json.h"

static void put_ns(struct json *json, const char *key, int64_t ns)
{
    if (ns == ANALYZE_NEVER) {
        json_null(json, key);
    } else {
        json_integer(json, key, ns);
    }
}

static void put_node(struct json *json, const char *key, const struct analyzed *analyzed,
                     weir_node node)
{
    if (weir_is(node)) {
        json_text(json, key, analyze_name(analyzed, node));
    } else {
        json_null(json, key);
    }
}

static void put_chain(struct json *json, const char *key, const struct analyzed *analyzed,
                      const weir_node *nodes, uint32_t n)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < n && i < analyzed->limit; i++) {
        put_node(json, NULL, analyzed, nodes[i]);
    }
    json_close_array(json);
}

static void put_times(struct json *json, const struct analyzed *analyzed, weir_node node)
{
    const struct analysis *analysis = &analyzed->analysis;
    uint32_t i = node.index;

    json_text(json, "node", analyze_name(analyzed, node));
    json_integer(json, "length_ns", analysis->length_ns[i]);
    json_integer(json, "earliest_start_ns", analysis->earliest_ns[i]);
    json_integer(json, "latest_start_ns", analysis->latest_ns[i]);
    json_integer(json, "slack_ns", analysis->latest_ns[i] - analysis->earliest_ns[i]);
    put_ns(json, "due_start_ns", analysis->due_ns[i]);
    put_node(json, "bound_by", analyzed, (weir_node){analysis->bound_by[i]});
}

static void put_bounds(struct json *json, const struct analyzed *analyzed)
{
    const struct graph *graph = analyzed->graph;

    json_open_object(json, "lower_bounds");
    json_integer(json, "bound_ns", analyzed->bounds.bound_ns);
    json_integer(json, "precedence_ns", analyzed->analysis.end_ns);
    json_open_array(json, "engines");
    for (uint32_t i = 0; i < graph_n_engines(graph); i++) {
        const struct analyze_engine *engine = &analyzed->bounds.engines[i];

        json_open_object(json, NULL);
        json_text(json, "engine", graph_text(graph, graph_engine(graph, (weir_engine){i})->name));
        json_integer(json, "nodes", engine->n_nodes);
        json_integer(json, "work_ns", engine->work_ns);
        json_integer(json, "bound_ns", engine->bound_ns);
        json_integer(json, "bytes", engine->bytes);
        put_ns(json, "bandwidth_ns", engine->bytes_ns < 0 ? ANALYZE_NEVER : engine->bytes_ns);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "resources");
    for (uint32_t i = 0; i < graph_n_resources(graph); i++) {
        json_open_object(json, NULL);
        json_text(json, "resource",
                  graph_text(graph, graph_resource(graph, (weir_resource){i})->name));
        json_integer(json, "shared_ns", analyzed->bounds.resource_ns[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_windows(struct json *json, const struct analyzed *analyzed)
{
    uint32_t n = 0;

    json_open_array(json, "windows");
    for (uint32_t i = 0; i < graph_n_nodes(analyzed->graph); i++) {
        weir_node node = {i};
        enum analyze_window window = analyze_window(&analyzed->analysis, &analyzed->slow, node);

        if (window == WINDOW_NONE || n++ >= analyzed->limit) {
            continue;
        }
        json_open_object(json, NULL);
        put_times(json, analyzed, node);
        json_text(json, "window", analyze_window_name(window));
        json_text(json, "fallback", analyze_fallback(analyzed->graph, node));
        json_close_object(json);
    }
    json_close_array(json);
    json_integer(json, "deadlines", n);
}

static void put_life(struct json *json, const struct analyzed *analyzed, uint32_t index)
{
    const struct bind_copy *copy = bind_copy(analyzed->binding, (weir_copy){index});
    const struct analyze_life *life = &analyzed->lives[index];

    json_open_object(json, NULL);
    json_text(json, "object", graph_object_name(analyzed->graph, copy->object));
    json_text(json, "domain", analyze_domain_name(analyzed, copy->domain));
    json_integer(json, "bytes", copy->bytes);
    put_node(json, "begins_with", analyzed, life->begins);
    json_integer(json, "earliest_begin_ns", life->begin_ns);
    json_integer(json, "reclaim_ready_ns", life->reclaim_ready_ns);
    put_node(json, "kept_by", analyzed, life->ready_by);
    json_text(json, "kept_as", analyze_role_name(life->role));
    put_node(json, "reclamation", analyzed, copy->reclamation);
    put_node(json, "held_on_by", analyzed, life->late_by);
    put_ns(json, "earliest_end_ns", life->end_ns < 0 ? ANALYZE_NEVER : life->end_ns);
    json_close_object(json);
}

static void put_lives(struct json *json, const struct analyzed *analyzed)
{
    uint32_t n = bind_n_copies(analyzed->binding);

    json_integer(json, "copies", n);
    json_open_array(json, "lives");
    for (uint32_t i = 0; i < n && i < analyzed->limit; i++) {
        put_life(json, analyzed, analyzed->largest[i]);
    }
    json_close_array(json);
}

static void put_progress(struct json *json, const struct analyzed *analyzed)
{
    const struct analyze_progress *progress = &analyzed->progress;

    json_open_object(json, "progress");
    json_text(json, "verdict", analyze_verdict_name(progress->verdict));
    json_boolean(json, "fits_at_once", progress->fits_at_once);
    if (weir_is(progress->domain)) {
        put_node(json, "node", analyzed, progress->node);
        json_text(json, "domain", analyze_domain_name(analyzed, progress->domain));
        json_integer(json, "held_bytes", progress->held_bytes);
        json_integer(json, "need_bytes", progress->need_bytes);
        json_integer(json, "room_bytes", progress->room_bytes);
    }
    json_close_object(json);
}

static void put_touches(struct json *json, const struct analyzed *analyzed)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(analyzed->binding, analyzed->node, &n);

    json_open_array(json, "copies");
    for (uint32_t i = 0; i < n; i++) {
        put_life(json, analyzed, touches[i].copy.index);
    }
    json_close_array(json);
}

static void put_asked(struct json *json, const struct analyzed *analyzed)
{
    if (weir_is(analyzed->node)) {
        json_open_object(json, "node");
        put_times(json, analyzed, analyzed->node);
        json_text(json, "kind", node_kind_name(graph_node_kind(analyzed->graph, analyzed->node)));
        graph_json_node(json, "fields", analyzed->graph, analyzed->node);
        json_text(json, "window",
                  analyze_window_name(
                      analyze_window(&analyzed->analysis, &analyzed->slow, analyzed->node)));
        json_text(json, "fallback", analyze_fallback(analyzed->graph, analyzed->node));
        put_touches(json, analyzed);
        json_close_object(json);
    }
    if (weir_is(analyzed->first)) {
        json_open_object(json, "order");
        put_node(json, "from", analyzed, analyzed->first);
        put_node(json, "to", analyzed, analyzed->second);
        json_boolean(json, "is_before", analyzed->is_before);
        json_boolean(json, "is_after", analyzed->is_after);
        put_chain(json, "path", analyzed, analyzed->order_path, analyzed->n_order_path);
        json_close_object(json);
    }
    if (analyzed->run != NULL) {
        json_integer(json, "run", analyzed->run->id);
        json_text(json, "status", run_status_name(analyzed->run->timeline->status));
        json_integer(json, "waits", analyzed->n_waits);
        json_boolean(json, "is_acyclic", analyzed->n_circle == 0);
        put_chain(json, "circle", analyzed, analyzed->circle, analyzed->n_circle);
    }
}

void analyze_json(const struct analyzed *analyzed)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_integer(&json, "nodes", graph_n_nodes(analyzed->graph));
    json_integer(&json, "edges", graph_n_edges(analyzed->graph));
    json_integer(&json, "implied_edges", bind_n_edges(analyzed->binding));
    json_integer(&json, "unknown_lengths", analyzed->analysis.n_unknown);
    json_integer(&json, "critical_path_ns", analyzed->critical_path_ns);
    json_integer(&json, "critical_path_nodes", analyzed->n_path);
    put_chain(&json, "critical_path", analyzed, analyzed->path, analyzed->n_path);
    put_bounds(&json, analyzed);
    put_windows(&json, analyzed);
    put_lives(&json, analyzed);
    put_progress(&json, analyzed);
    put_asked(&json, analyzed);
    json_close_object(&json);
}
