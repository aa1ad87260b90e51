/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy at work: begins it, lets it plan, checks and binds what it planned. */
#include "policies/draft.h"

#include <stdlib.h>

#include "policies/draft_internal.h"

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

weir_node plan_planned(const struct plan *plan, weir_node given)
{
    return plan->planned_of == NULL ? given : (weir_node){plan->planned_of[given.index]};
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
    plan_view(plan, 0, NULL, NULL, &view);
    return plan_answer(plan, "plan", policy->plan(plan->state, &view, &draft, err), err);
}

/* A policy from outside may be older than the fields behind `end`. */
static bool has_field(const struct weir_policy *policy, size_t offset, size_t size)
{
    return policy->size >= offset + size;
}

static bool needs_order(const struct weir_policy *policy)
{
    return has_field(policy, offsetof(struct weir_policy, needs_order),
                     sizeof policy->needs_order) &&
           policy->needs_order;
}

bool plan_ranks(const struct plan *plan)
{
    return has_field(plan->policy, offsetof(struct weir_policy, rank), sizeof plan->policy->rank) &&
           plan->policy->rank != NULL;
}

/* Does the policy have a say while time runs? */
static bool steers(const struct plan *plan)
{
    return plan->policy->admit != NULL || plan->policy->on_event != NULL || plan_ranks(plan);
}

/* What is found of the graph given is told once: here when it is an error, else with the plan. */
static enum weir_status find_order(struct plan *plan, struct report *report, struct weir_error *err)
{
    struct report *unseen = report_new(1);
    enum weir_status status;

    if (unseen == NULL) {
        return weir_error_memory(err);
    }
    status = plan_order_make(plan->given, unseen, &plan->order, err);
    report_free(unseen);
    return status == WEIR_INPUT ? plan_order_make(plan->given, report, &plan->order, err) : status;
}

/* Makes the planned graph and binds it. */
static enum weir_status settle(struct plan *plan, struct report *report, struct weir_error *err)
{
    enum weir_status status = plan_apply(plan, report, err);

    if (!steers(plan)) {
        plan_order_free(plan->order); /* nobody will ask for it */
        plan->order = NULL;
    }
    return status == WEIR_OK ? bind_graph(plan_graph(plan), report, &plan->binding, err) : status;
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
    if (status == WEIR_OK && needs_order(plan->policy)) {
        status = find_order(plan, report, err);
    }
    if (status == WEIR_OK) {
        status = let_plan(plan, err);
    }
    return status == WEIR_OK ? settle(plan, report, err) : status;
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
    plan_order_free(plan->order);
    graph_free(plan->made);
    free(plan->edits);
    free(plan->priorities);
    free(plan->orderings);
    free(plan->nodes);
    arena_free(&plan->arena);
    free(plan);
}
