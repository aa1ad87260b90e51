/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir sensitivity answers with --json. */
#include "cmd/sensitivity_internal.h"

static void put_saving(struct json *json, const char *key, const struct sensitive *s,
                       uint32_t variant)
{
    if (variant == WEIR_NONE || s->variants[variant].end != VARIANT_COMPLETE ||
        !sensitive_is_complete(s))
        json_null(json, key);
    else
        json_integer(json, key, sensitive_saves_ns(s, variant));
}

static void put_name(struct json *json, const char *key, const char *name)
{
    if (name[0] == '\0')
        json_null(json, key);
    else
        json_text(json, key, name);
}

static void put_node(struct json *json, const struct sensitive *s,
                     const struct sensitive_node *node)
{
    static const char *const verdicts[] = {NULL,         "agrees", "saves_more",
                                           "saves_less", "later",  "does_not_complete"};
    const struct graph *graph = plan_graph(s->scenario.plan);
    enum sensitive_verdict verdict = sensitive_verdict(s, node);
    weir_class class_ = graph_node_class(graph, node->node);
    struct graph_node value;

    graph_node(graph, node->node, &value);
    json_open_object(json, NULL);
    json_text(json, "node", graph_node_name(graph, node->node));
    put_name(json, "class", weir_is(class_) ? sensitive_class(s, class_.index) : "");
    put_name(json, "origin", graph_text(graph, value.origin));
    json_integer(json, "length_ns", node->length_ns);
    json_integer(json, "slack_ns", node->slack_ns);
    json_integer(json, "fixed_saves_ns", node->saves_ns);
    json_integer(json, "fixed_half_saves_ns", node->half_saves_ns);
    put_saving(json, "dispatch_saves_ns", s, node->gone);
    put_saving(json, "dispatch_half_saves_ns", s, node->half);
    put_name(json, "dispatch", verdict == VERDICT_NONE ? "" : verdicts[verdict]);
    json_close_object(json);
}

static void put_groups(struct json *json, const char *key, const char *name_key,
                       const struct sensitive *s, const struct sensitive_groups *groups,
                       const char *(*name)(const struct sensitive *, uint32_t group))
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < groups->n_rows; i++) {
        json_open_object(json, NULL);
        json_text(json, name_key, name(s, groups->rows[i].group));
        json_integer(json, "nodes", groups->rows[i].n_nodes);
        json_integer(json, "length_ns", groups->rows[i].length_ns);
        json_integer(json, "fixed_saves_ns", groups->rows[i].saves_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static const char *sort_of(enum variant_kind kind)
{
    switch (kind) {
    case VARIANT_NODE_GONE:
    case VARIANT_NODE_HALF:
        return "node";
    case VARIANT_ENGINE_FASTER:
    case VARIANT_ENGINE_SLOT:
    case VARIANT_ENGINE_WIDER:
    case VARIANT_ENGINE_PROMPT:
        return "engine";
    case VARIANT_DOMAIN_MORE:
    case VARIANT_DOMAIN_ENDLESS:
    case VARIANT_DOMAIN_LESS:
        return "domain";
    case VARIANT_RESOURCE_WIDER:
        return "resource";
    case VARIANT_NO_CONTENTION:
        return "contention";
    }
    return "";
}

static const char *change_of(enum variant_kind kind)
{
    switch (kind) {
    case VARIANT_NODE_GONE:
        return "no_time";
    case VARIANT_NODE_HALF:
        return "half_the_time";
    case VARIANT_ENGINE_FASTER:
        return "twice_as_fast";
    case VARIANT_ENGINE_SLOT:
        return "one_slot_more";
    case VARIANT_ENGINE_WIDER:
        return "twice_the_bandwidth";
    case VARIANT_ENGINE_PROMPT:
        return "no_latency";
    case VARIANT_DOMAIN_MORE:
        return "a_tenth_more_capacity";
    case VARIANT_DOMAIN_ENDLESS:
        return "no_limit";
    case VARIANT_DOMAIN_LESS:
        return "a_tenth_less_capacity";
    case VARIANT_RESOURCE_WIDER:
        return "twice_the_capacity";
    case VARIANT_NO_CONTENTION:
        return "none";
    }
    return "";
}

static void put_resource(struct json *json, const struct sensitive *s, uint32_t number)
{
    const struct variant *variant = &s->variants[number];

    json_open_object(json, NULL);
    json_text(json, "kind", sort_of(variant->kind));
    put_name(json, "name", sensitive_resource(s, variant));
    json_text(json, "change", change_of(variant->kind));
    json_text(json, "status",
              variant->end == VARIANT_REFUSED ? "refused" : run_status_name(variant->status));
    if (variant->end == VARIANT_COMPLETE)
        json_integer(json, "makespan_ns", variant->makespan_ns);
    else
        json_null(json, "makespan_ns");
    put_saving(json, "saves_ns", s, number);
    if (variant->end == VARIANT_REFUSED)
        json_text(json, "why", variant->why);
    json_close_object(json);
}

void sensitive_json(const struct sensitive *s)
{
    const struct timeline *timeline = s->result.timeline;
    uint32_t n = s->n_variants - s->n_of_nodes;
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_text(&json, "status", run_status_name(timeline->status));
    json_text(&json, "policy", s->scenario.policy->name);
    json_integer(&json, "nodes", graph_n_nodes(plan_graph(s->scenario.plan)));
    json_integer(&json, "makespan_ns", timeline->makespan_ns);
    json_text(&json, "graph_hash", s->scenario.hash);
    json_integer(&json, "saving_nodes", s->n_saving);
    json_open_array(&json, "by_node");
    for (uint32_t i = 0; i < s->n_nodes; i++)
        put_node(&json, s, &s->nodes[i]);
    json_close_array(&json);
    put_groups(&json, "by_class", "class", s, &s->classes, sensitive_class);
    put_groups(&json, "by_origin", "origin", s, &s->origins, sensitive_origin);
    json_open_array(&json, "by_resource");
    for (uint32_t i = 0; i < n; i++)
        put_resource(&json, s, s->ranked[i]);
    json_close_array(&json);
    json_close_object(&json);
}
