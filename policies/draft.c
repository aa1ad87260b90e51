/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy at work: begins it, lets it plan, checks and binds what it planned, and shows it what it
 * may know. */
#include "policies/draft.h"

#include <stdlib.h>

#include "policies/draft_internal.h"

/* --- the view ------------------------------------------------------------------------------- */

static const struct graph *seen(const struct weir_view *view)
{
    return plan_graph(view->impl);
}

/* A policy may come from outside: what it asks of an id that is none gets the answer for nothing. */
static bool has_node(const struct weir_view *view, weir_node node)
{
    return node.index < view->n_nodes;
}

static const char *view_node_name(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? graph_node_name(seen(view), node) : "";
}

static const char *view_node_kind(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? node_kind_name(graph_node_kind(seen(view), node)) : "";
}

static weir_engine view_node_engine(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? graph_node_engine(seen(view), node) : (weir_engine){WEIR_NONE};
}

static int64_t view_node_length_ns(const struct weir_view *view, weir_node node)
{
    int64_t length_ns;

    return has_node(view, node) && graph_node_length_ns(seen(view), node, &length_ns) ? length_ns
                                                                                      : -1;
}

static int64_t view_node_priority(const struct weir_view *view, weir_node node)
{
    struct graph_node value = {.priority = 0};

    if (has_node(view, node)) {
        graph_node(seen(view), node, &value);
    }
    return value.priority;
}

static int64_t view_node_deadline_ns(const struct weir_view *view, weir_node node)
{
    struct graph_node value = {.deadline_ns = -1};

    if (has_node(view, node)) {
        graph_node(seen(view), node, &value);
    }
    return value.deadline_ns;
}

static const char *view_object_name(const struct weir_view *view, weir_object object)
{
    return object.index < view->n_objects ? graph_object_name(seen(view), object) : "";
}

static int64_t view_object_bytes(const struct weir_view *view, weir_object object)
{
    struct graph_object value = {.size_bytes = 0};

    if (object.index < view->n_objects) {
        graph_object(seen(view), object, &value);
    }
    return value.size_bytes;
}

static int64_t view_domain_capacity_bytes(const struct weir_view *view, weir_domain domain)
{
    return domain.index < view->n_domains ? graph_domain(seen(view), domain)->capacity_bytes : 0;
}

static int64_t view_domain_used_bytes(const struct weir_view *view, weir_domain domain)
{
    return view->used_bytes == NULL || domain.index >= view->n_domains
               ? 0
               : view->used_bytes[domain.index];
}

static int64_t view_recorded_start_ns(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = has_node(view, node) ? plan_origin(plan, node) : (weir_node){WEIR_NONE};

    if (plan->recording == NULL || !weir_is(given)) {
        return -1;
    }
    return plan->recording->spans[given.index].start_ns;
}

void plan_view(const struct plan *plan, int64_t now_ns, const int64_t *used_bytes,
               struct weir_view *out)
{
    const struct graph *graph = plan_graph(plan);

    *out = (struct weir_view){
        .size = sizeof *out,
        .impl = plan,
        .used_bytes = used_bytes,
        .now_ns = now_ns,
        .n_nodes = graph_n_nodes(graph),
        .n_objects = graph_n_objects(graph),
        .n_domains = graph_n_domains(graph),
        .n_engines = graph_n_engines(graph),
        .node_name = view_node_name,
        .node_kind = view_node_kind,
        .node_engine = view_node_engine,
        .node_length_ns = view_node_length_ns,
        .node_priority = view_node_priority,
        .node_deadline_ns = view_node_deadline_ns,
        .object_name = view_object_name,
        .object_bytes = view_object_bytes,
        .domain_capacity_bytes = view_domain_capacity_bytes,
        .domain_used_bytes = view_domain_used_bytes,
        .recorded_start_ns = view_recorded_start_ns,
    };
}

/* --- the plan ------------------------------------------------------------------------------- */

const struct graph *plan_graph(const struct plan *plan)
{
    return plan->made != NULL ? plan->made : plan->given;
}

const struct binding *plan_binding(const struct plan *plan)
{
    return plan->binding;
}

const struct plan_edit *plan_edits(const struct plan *plan, uint32_t *n_edits)
{
    *n_edits = plan->n_edits;
    return plan->edits;
}

const struct weir_policy *plan_policy(const struct plan *plan)
{
    return plan->policy;
}

void *plan_state(const struct plan *plan)
{
    return plan->state;
}

weir_node plan_origin(const struct plan *plan, weir_node planned)
{
    return plan->origin_of == NULL ? planned : (weir_node){plan->origin_of[planned.index]};
}

enum weir_status plan_answer(const struct plan *plan, const char *callback, enum weir_status status,
                             struct weir_error *err)
{
    if (status == WEIR_OK) {
        return WEIR_OK;
    }
    if ((unsigned)status > WEIR_MEMORY) {
        return weir_error_set(err, WEIR_INPUT,
                              "policy %s: its %s callback gave back %d, which is no status: see "
                              "base/error.h",
                              plan->policy->name, callback, (int)status);
    }
    if (err->status != status || err->text[0] == '\0') {
        return weir_error_set(err, status,
                              "policy %s: its %s callback failed and did not say why: a policy "
                              "sets the error that it gives back",
                              plan->policy->name, callback);
    }
    return status;
}

static enum weir_status let_plan(struct plan *plan, struct weir_error *err)
{
    const struct weir_policy *policy = plan->policy;
    struct weir_draft draft;
    struct weir_view view;
    enum weir_status status = WEIR_OK;

    if (policy->begin != NULL) {
        status = plan_answer(plan, "begin", policy->begin(&plan->setup, &plan->state, err), err);
    }
    plan->has_begun = status == WEIR_OK;
    if (status != WEIR_OK || policy->plan == NULL) {
        return status;
    }
    plan_draft(plan, &draft);
    plan_view(plan, 0, NULL, &view);
    return plan_answer(plan, "plan", policy->plan(plan->state, &view, &draft, err), err);
}

static enum weir_status make(struct plan *plan, const struct plan_options *options,
                             struct report *report, struct weir_error *err)
{
    enum weir_status status;

    if (plan->policy->needs_recording && plan->recording == NULL) {
        return weir_error_set(err, WEIR_INPUT,
                              "policy %s needs a recorded run of this graph, and the store has "
                              "none: import the profile into the same --db first",
                              plan->policy->name);
    }
    random_seed(&plan->random, options->seed, 0);
    plan_setup(plan);
    status = plan_parameters(plan, options, err);
    if (status == WEIR_OK) {
        status = let_plan(plan, err);
    }
    if (status == WEIR_OK) {
        status = plan_apply(plan, report, err);
    }
    return status == WEIR_OK ? bind_graph(plan_graph(plan), report, &plan->binding, err) : status;
}

enum weir_status plan_make(const struct graph *graph, const struct plan_options *options,
                           struct report *report, struct plan **out, struct weir_error *err)
{
    struct plan *plan = calloc(1, sizeof *plan);
    enum weir_status status;

    if (plan == NULL) {
        return weir_error_memory(err);
    }
    plan->given = graph;
    plan->policy = options->policy;
    plan->recording = options->recording;
    status = make(plan, options, report, err);
    if (status != WEIR_OK) {
        plan_free(plan);
        return status;
    }
    *out = plan;
    return WEIR_OK;
}

void plan_free(struct plan *plan)
{
    if (plan == NULL) {
        return;
    }
    if (plan->has_begun && plan->policy->end != NULL) {
        plan->policy->end(plan->state);
    }
    bind_free(plan->binding);
    graph_free(plan->made);
    free(plan->edits);
    free(plan->priorities);
    free(plan->orderings);
    free(plan->nodes);
    arena_free(&plan->arena);
    free(plan);
}
