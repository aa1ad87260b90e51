/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explains a run, as keys of a JSON object. A key is there for every run; what is not known is
 * null. */
#include "cmd/explained.h"

static void json_node(struct json *json, const char *key, const struct explained *explained,
                      weir_node node)
{
    if (weir_is(node)) {
        json_text(json, key, graph_node_name(explained->graph, node));
    } else {
        json_null(json, key);
    }
}

static void json_engine(struct json *json, const char *key, const struct explained *explained,
                        weir_engine engine)
{
    if (weir_is(engine)) {
        json_text(json, key, explained_engine(explained, engine));
    } else {
        json_null(json, key);
    }
}

/* --- what the makespan is made of ------------------------------------------------------------ */

static void json_link(struct json *json, const struct explained *explained, size_t at)
{
    const struct run_link *link = &explained->links[at];

    json_open_object(json, NULL);
    json_integer(json, "position", (int64_t)at);
    json_text(json, "node", graph_node_name(explained->graph, link->node));
    json_engine(json, "engine", explained, graph_node_engine(explained->graph, link->node));
    json_text(json, "cause", link->cause);
    if (link->via == NULL) {
        json_null(json, "via");
    } else {
        json_text(json, "via", link->via);
    }
    json_node(json, "after", explained,
              (weir_node){at == 0 ? WEIR_NONE : explained->links[at - 1].node.index});
    json_integer(json, "start_ns", link->start_ns);
    json_integer(json, "finish_ns", link->finish_ns);
    json_close_object(json);
}

static void json_stretches(struct json *json, const struct explained *explained)
{
    json_integer(json, "stretches_in_all", (int64_t)explained->makeup.n_stretches);
    json_open_array(json, "stretches");
    for (size_t i = 0; i < explained->n_stretches; i++) {
        const struct makeup_stretch *stretch =
            &explained->makeup.stretches[explained->stretches[i]];
        const struct run_link *first = &explained->links[stretch->first];

        json_open_object(json, NULL);
        json_engine(json, "engine", explained, stretch->engine);
        json_text(json, "cause", stretch->cause);
        json_integer(json, "links", (int64_t)stretch->n_links);
        json_node(json, "first", explained, first->node);
        json_node(json, "last", explained, first[stretch->n_links - 1].node);
        json_integer(json, "start_ns", stretch->start_ns);
        json_integer(json, "finish_ns", stretch->finish_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

void explained_json_makeup(struct json *json, const struct explained *explained)
{
    const struct makeup *makeup = &explained->makeup;

    json_open_object(json, "chain");
    json_integer(json, "links", (int64_t)explained->n_links);
    json_integer(json, "ran_ns", makeup->ran_ns);
    json_open_array(json, "engines");
    for (uint32_t i = 0; i < makeup->n_engines; i++) {
        json_open_object(json, NULL);
        json_engine(json, "engine", explained, makeup->engines[i].engine);
        json_integer(json, "links", (int64_t)makeup->engines[i].n_links);
        json_integer(json, "ran_ns", makeup->engines[i].ran_ns);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_object(json, "ran_by_kind_ns");
    for (int i = 0; i < NODE_KINDS; i++) {
        json_integer(json, node_kind_name((enum node_kind)i), makeup->kind_ns[i]);
    }
    json_close_object(json);
    json_open_object(json, "waited_ns");
    for (int i = STALL_ADMISSION; i < STALL_CAUSES; i++) {
        json_integer(json, stall_cause_name((enum stall_cause)i), makeup->waited_ns[i]);
    }
    json_close_object(json);
    json_stretches(json, explained);
    json_open_array(json, "costliest");
    for (uint32_t i = 0; i < makeup->n_longest; i++) {
        json_link(json, explained, makeup->longest[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

/* --- bounds ---------------------------------------------------------------------------------- */

void explained_json_bounds(struct json *json, const struct explained *explained)
{
    if (!explained->has_bounds) {
        json_null(json, "bounds");
        return;
    }
    json_open_object(json, "bounds");
    json_integer(json, "bound_ns", explained->bounds.bound_ns);
    json_integer(json, "precedence_ns", explained->precedence_ns);
    json_open_object(json, "engine_ns");
    for (uint32_t i = 0; i < graph_n_engines(explained->graph); i++) {
        json_integer(json, explained_engine(explained, (weir_engine){i}),
                     explained->bounds.engines[i].bound_ns);
    }
    json_close_object(json);
    json_open_object(json, "resource_ns");
    for (uint32_t i = 0; i < graph_n_resources(explained->graph); i++) {
        json_integer(json,
                     graph_text(explained->graph,
                                graph_resource(explained->graph, (weir_resource){i})->name),
                     explained->bounds.resource_ns[i]);
    }
    json_close_object(json);
    json_close_object(json);
}

/* --- stalls ---------------------------------------------------------------------------------- */

static void json_causes(struct json *json, const int64_t by_cause_ns[STALL_CAUSES])
{
    json_open_object(json, "by_cause_ns");
    for (int i = 0; i < STALL_CAUSES; i++) {
        json_integer(json, stall_cause_name((enum stall_cause)i), by_cause_ns[i]);
    }
    json_close_object(json);
}

static void json_stall_engine(struct json *json, const struct explained *explained, uint32_t index)
{
    const struct stall_engine *engine = &explained->stalls.engines[index];

    json_open_object(json, explained_engine(explained, (weir_engine){index}));
    json_integer(json, "nodes", engine->n_nodes);
    json_integer(json, "busy_ns", engine->busy_ns);
    json_integer(json, "work_ns", engine->work_ns);
    json_integer(json, "stalls", (int64_t)engine->n_stalls);
    json_integer(json, "exposed_ns", engine->exposed_ns);
    json_integer(json, "drained_ns", engine->drained_ns);
    json_causes(json, engine->by_cause_ns);
    json_close_object(json);
}

static void json_longest_stalls(struct json *json, const struct explained *explained)
{
    const struct stalls *stalls = &explained->stalls;

    json_open_array(json, "longest");
    for (uint32_t i = 0; i < stalls->n_longest; i++) {
        const struct stall *stall = &stalls->longest[i];

        json_open_object(json, NULL);
        json_engine(json, "engine", explained, stall->engine);
        json_node(json, "ended_by", explained, stall->ends);
        json_text(json, "cause", stall_cause_name(stall->cause));
        json_node(json, "on", explained, stall->on);
        json_integer(json, "from_ns", stall->begin_ns);
        json_integer(json, "to_ns", stall->end_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

void explained_json_stalls(struct json *json, const struct explained *explained)
{
    const struct stalls *stalls = &explained->stalls;

    json_open_object(json, "stalls");
    json_integer(json, "exposed_ns", stalls->exposed_ns);
    json_causes(json, stalls->by_cause_ns);
    json_open_object(json, "engines");
    for (uint32_t i = 0; i < stalls->n_engines; i++) {
        if (stalls->engines[i].n_nodes > 0) {
            json_stall_engine(json, explained, i);
        }
    }
    json_close_object(json);
    json_open_array(json, "between_engines");
    for (size_t i = 0; i < stalls->n_between; i++) {
        json_open_object(json, NULL);
        json_engine(json, "engine", explained, stalls->between[i].engine);
        json_engine(json, "lacked_slot_of", explained, stalls->between[i].on_engine);
        json_integer(json, "exposed_ns", stalls->between[i].exposed_ns);
        json_close_object(json);
    }
    json_close_array(json);
    json_longest_stalls(json, explained);
    json_close_object(json);
}

/* --- waits ----------------------------------------------------------------------------------- */

static void json_wait_causes(struct json *json, const struct explained *explained)
{
    json_open_object(json, "by_cause");
    for (int i = WAIT_ENGINE; i < WAITING_CAUSES; i++) {
        const struct waiting_cause *cause = &explained->waiting.causes[i];

        json_open_object(json, wait_cause_name((enum wait_cause)i));
        json_integer(json, "waits", (int64_t)cause->n_waits);
        json_integer(json, "total_ns", cause->total_ns);
        json_integer(json, "longest_ns", cause->longest_ns);
        json_node(json, "longest", explained, cause->longest);
        json_close_object(json);
    }
    json_close_object(json);
}

static void json_groups(struct json *json, const struct explained *explained)
{
    json_open_array(json, "groups");
    for (uint32_t i = 0; i < explained->waiting.n_groups; i++) {
        const struct waiting_group *group = &explained->waiting.groups[i];

        json_open_object(json, NULL);
        if (group->group.index == 0) {
            json_null(json, "group");
        } else {
            json_text(json, "group", graph_text(explained->graph, group->group));
        }
        json_integer(json, "nodes", group->n_nodes);
        json_integer(json, "waited", group->n_waited);
        json_integer(json, "starved", group->n_over);
        json_integer(json, "total_ns", group->total_ns);
        json_integer(json, "longest_ns", group->longest_ns);
        json_node(json, "longest", explained, group->longest);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_event(struct json *json, const struct explained *explained,
                       const struct waiting_event *event)
{
    json_open_object(json, NULL);
    json_node(json, "node", explained, event->node);
    json_integer(json, "from_ns", event->from_ns);
    json_integer(json, "to_ns", event->to_ns);
    json_boolean(json, "has_started", event->has_started);
    json_text(json, "cause", wait_cause_name(event->cause));
    json_node(json, "blocker", explained, event->blocker);
    json_integer(json, "passed_by", (int64_t)event->n_passers);
    json_open_array(json, "first_passers");
    for (uint32_t i = 0; i < event->n_named; i++) {
        json_node(json, NULL, explained, event->passers[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

void explained_json_waits(struct json *json, const struct explained *explained)
{
    const struct waiting *waiting = &explained->waiting;

    if (explained->run->kind == RUN_RECORDED) {
        json_null(json, "waits");
        return;
    }
    json_open_object(json, "waits");
    json_integer(json, "waited", (int64_t)waiting->n_waited);
    json_integer(json, "longest_ns", waiting->longest_ns);
    if (waiting->has_bound) {
        json_integer(json, "starved", (int64_t)waiting->n_over);
    } else {
        json_null(json, "starved");
    }
    json_wait_causes(json, explained);
    json_groups(json, explained);
    json_open_array(json, "longest");
    for (uint32_t i = 0; i < waiting->n_longest; i++) {
        json_event(json, explained, &waiting->longest[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void json_holders(struct json *json, const struct explained *explained,
                         const struct pressure_domain *of)
{
    json_open_array(json, "holders");
    for (uint32_t i = 0; i < of->n_holders; i++) {
        const struct timeline_hold *hold = &explained->timeline->holds[of->holders[i]];

        json_open_object(json, NULL);
        if (weir_is(hold->object)) {
            json_text(json, "object", graph_object_name(explained->graph, hold->object));
        } else {
            json_text(json,
                      pressure_is_staging(explained->graph, hold) ? "staging_of" : "workspace_of",
                      graph_node_name(explained->graph, hold->node));
        }
        json_integer(json, "bytes", hold->bytes);
        json_integer(json, "acquire_ns", hold->acquire_ns);
        if (hold->release_ns < 0) {
            json_null(json, "release_ns");
        } else {
            json_integer(json, "release_ns", hold->release_ns);
        }
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_domain(struct json *json, const struct explained *explained, uint32_t index)
{
    const struct pressure_domain *of = &explained->pressure[index];
    char text[BYTE_NS_TEXT];

    json_open_object(json, explained_domain(explained, (weir_domain){index}));
    json_integer(json, "peak_bytes", of->peak_bytes);
    json_boolean(json, "has_curve", of->is_known);
    if (of->is_known) {
        json_integer(json, "peak_at_ns", of->peak_at_ns);
        json_integer(json, "peak_for_ns", of->peak_for_ns);
        byte_ns_text(of->integral, text);
        json_raw(json, "pressure_time_byte_ns", text);
        json_integer(json, "held", (int64_t)of->n_held);
        json_integer(json, "held_bytes", of->held_bytes);
        json_holders(json, explained, of);
    }
    json_open_object(json, "staging");
    json_integer(json, "count", (int64_t)of->n_stagings);
    json_integer(json, "total_ns", of->staging_ns);
    json_integer(json, "longest_ns", of->staging_longest_ns);
    json_node(json, "longest", explained, of->staging_longest);
    byte_ns_text(of->staging_integral, text);
    json_raw(json, "pressure_time_byte_ns", text);
    json_close_object(json);
    json_close_object(json);
}

void explained_json_pressure(struct json *json, const struct explained *explained)
{
    json_open_object(json, "pressure");
    for (uint32_t i = 0; i < explained->timeline->n_domains; i++) {
        json_domain(json, explained, i);
    }
    json_close_object(json);
}

/* --- overlap --------------------------------------------------------------------------------- */

static void json_kappa(struct json *json, const struct explained *explained)
{
    const struct overlaps *overlaps = &explained->overlaps;

    json_open_array(json, "kappa");
    for (uint32_t i = 0; i <= overlaps->n_classes; i++) {
        const struct overlap_kappa *kappa = &overlaps->kappa[i];
        weir_class class_ = {i == overlaps->n_classes ? WEIR_NONE : i};

        if (kappa->n_nodes == 0) {
            continue;
        }
        json_open_object(json, NULL);
        json_text(json, "class", explained_class(explained, class_));
        json_integer(json, "nodes", kappa->n_nodes);
        json_ratio(json, "kappa", (double)kappa->ran_ns / (double)kappa->isolated_ns);
        json_ratio(json, "worst", kappa->worst_ratio);
        json_node(json, "worst_node", explained, kappa->worst);
        json_close_object(json);
    }
    json_close_array(json);
}

void explained_json_overlaps(struct json *json, const struct explained *explained)
{
    const struct overlaps *overlaps = &explained->overlaps;

    json_open_array(json, "overlap");
    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        json_open_object(json, NULL);
        json_text(json, "class_a", explained_class(explained, overlaps->pairs[i].a));
        json_text(json, "class_b", explained_class(explained, overlaps->pairs[i].b));
        json_integer(json, "overlap_ns", overlaps->pairs[i].overlap_ns);
        json_boolean(json, "is_hypothetical",
                     explained->is_hypothetical != NULL && explained->is_hypothetical[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_integer(json, "most_running", overlaps->most_running);
    json_kappa(json, explained);
}
