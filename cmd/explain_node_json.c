/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node of a run, as a JSON object. */
#include "cmd/explain_internal.h"

static void json_node(struct json *json, const char *key, const struct explain_node *of,
                      weir_node node)
{
    if (weir_is(node)) {
        json_text(json, key, graph_node_name(of->explained->graph, node));
    } else {
        json_null(json, key);
    }
}

static void json_text_or_null(struct json *json, const char *key, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        json_null(json, key);
    } else {
        json_text(json, key, text);
    }
}

static void json_known(struct json *json, const char *key, int64_t value)
{
    if (value < 0) {
        json_null(json, key);
    } else {
        json_integer(json, key, value);
    }
}

static void json_head(struct json *json, const struct explain_node *of)
{
    const struct graph *graph = of->explained->graph;
    weir_engine engine = graph_node_engine(graph, of->node);
    double kappa = overlap_node_kappa(of->span);

    json_integer(json, "run", of->explained->run->id);
    json_text(json, "node", graph_node_name(graph, of->node));
    json_text(json, "kind", node_kind_name(graph_node_kind(graph, of->node)));
    json_text_or_null(json, "engine",
                      weir_is(engine) ? explained_engine(of->explained, engine) : NULL);
    json_text_or_null(json, "class",
                      explained_class(of->explained, graph_node_class(graph, of->node)));
    json_text_or_null(json, "group", graph_text(graph, graph_node_group(graph, of->node)));
    json_boolean(json, "has_started", of->has_started);
    json_boolean(json, "is_on_chain", of->is_on_chain);
    json_integer(json, "ready_ns", of->span->ready_ns);
    json_known(json, "start_ns", of->span->start_ns);
    json_known(json, "finish_ns", of->span->finish_ns);
    json_known(json, "isolated_ns", of->span->isolated_ns);
    if (kappa == 0) {
        json_null(json, "kappa");
    } else {
        json_ratio(json, "kappa", kappa);
    }
    json_text(json, "wait_cause", wait_cause_name((enum wait_cause)of->span->cause));
}

static void json_bound(struct json *json, const char *key, const struct explain_node *of,
                       weir_node node, const struct bound *bound)
{
    json_open_object(json, key);
    json_node(json, "node", of, node);
    json_text(json, "cause", bound_cause_name(bound->cause));
    json_node(json, "after", of, bound->node);
    json_text_or_null(json, "via", bound->via);
    json_integer(json, "end_ns", bound->end_ns);
    json_integer(json, "ready_ns", bound->ready_ns);
    json_integer(json, "start_ns", of->explained->timeline->spans[node.index].start_ns);
    json_close_object(json);
}

static void json_why(struct json *json, const struct explain_node *of)
{
    const struct why *why = &of->why;

    json_bound(json, "bound", of, of->node, &why->bound);
    json_open_object(json, "next_bound");
    json_text(json, "cause", bound_cause_name(why->next.cause));
    json_node(json, "after", of, why->next.node);
    json_text_or_null(json, "via", why->next.via);
    json_integer(json, "until_ns", why->next.until_ns);
    json_boolean(json, "heeds_engine", why->engine_is_known);
    json_boolean(json, "heeds_bytes", !why->needs_bytes);
    json_close_object(json);
    json_integer(json, "sooner_ns", why->sooner_ns);
    json_open_array(json, "way_back");
    for (uint32_t i = 0; i < of->n_back; i++) {
        json_bound(json, NULL, of, of->back_of[i], &of->back[i]);
    }
    json_close_array(json);
    json_integer(json, "followers", (int64_t)why->n_followers);
    json_open_array(json, "first_followers");
    for (uint32_t i = 0; i < why->n_listed; i++) {
        json_open_object(json, NULL);
        json_node(json, "node", of, why->followers[i].node);
        json_text(json, "cause", bound_cause_name(why->followers[i].cause));
        json_text_or_null(json, "via", why->followers[i].via);
        json_integer(json, "start_ns", why->followers[i].start_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_beside(struct json *json, const struct explain_node *of)
{
    json_integer(json, "ran_beside", (int64_t)of->n_beside);
    json_open_array(json, "overlap");
    for (size_t i = 0; i < of->n_beside && i < of->n_rows; i++) {
        json_open_object(json, NULL);
        json_node(json, "node", of, of->beside[i].node);
        json_integer(json, "overlap_ns", of->beside[i].overlap_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_waits(struct json *json, const struct explain_node *of)
{
    const struct timeline *timeline = of->explained->timeline;

    json_open_array(json, "waits");
    for (size_t i = 0; i < timeline->n_waits; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];

        if (!weir_same(wait->node, of->node)) {
            continue;
        }
        json_open_object(json, NULL);
        json_text(json, "cause", wait_cause_name(wait->cause));
        json_node(json, "blocker", of, wait->blocker);
        json_text_or_null(
            json, "object",
            weir_is(wait->object) ? graph_object_name(of->explained->graph, wait->object) : NULL);
        json_integer(json, "from_ns", wait->from_ns);
        json_integer(json, "to_ns", wait->to_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_copies(struct json *json, const struct explain_node *of)
{
    json_open_array(json, "copies");
    for (size_t i = 0; i < of->n_copies; i++) {
        const struct explain_copy *copy = &of->copies[i];
        const struct timeline_hold *hold =
            copy->hold == SIZE_MAX ? NULL : &of->explained->timeline->holds[copy->hold];
        const char *role;

        json_open_object(json, NULL);
        json_text(json, "object", graph_object_name(of->explained->graph, copy->copy.object));
        json_text(json, "domain", explained_domain(of->explained, copy->copy.domain));
        json_integer(json, "bytes", copy->copy.bytes);
        json_open_array(json, "roles");
        for (int r = 0; (role = explain_role(copy->roles, r)) != NULL; r++) {
            json_text(json, NULL, role);
        }
        json_close_array(json);
        json_known(json, "acquire_ns", hold == NULL ? -1 : hold->acquire_ns);
        json_known(json, "release_ns", hold == NULL ? -1 : hold->release_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_inserted(struct json *json, const struct explain_node *of)
{
    const struct run *run = of->explained->run;

    json_open_array(json, "inserted");
    for (size_t i = 0; i < run->n_inserted; i++) {
        const struct run_inserted *inserted = &run->inserted[i];

        if (!weir_same(inserted->consumer, of->node)) {
            continue;
        }
        json_open_object(json, NULL);
        json_node(json, "after", of, inserted->producer);
        json_text_or_null(json, "counts_from",
                          !weir_is(inserted->producer) ? NULL
                          : inserted->is_from_start    ? "start"
                                                       : "finish");
        json_known(json, "not_before_ns", inserted->not_before_ns);
        json_text(json, "why", inserted->why);
        json_close_object(json);
    }
    json_close_array(json);
}

void explain_node_json(const struct explain_node *of)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_head(&json, of);
    if (of->has_started) {
        json_why(&json, of);
        json_beside(&json, of);
    }
    if (of->way != NULL) {
        json_node(&json, "gave_way_to", of, of->way->fallback);
        json_integer(&json, "gave_way_at_ns", of->way->at_ns);
    }
    json_waits(&json, of);
    json_copies(&json, of);
    json_inserted(&json, of);
    json_close_object(&json);
}
