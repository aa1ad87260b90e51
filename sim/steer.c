/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy at work while time runs: asks whether a node may start, tells it what happened, and
 * takes the priorities that it changes. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/simulate_internal.h"

enum weir_status steer_admit(struct simulation *sim, uint32_t node, bool *is_admitted,
                             int64_t *until_ns)
{
    const struct weir_policy *policy = sim->policy;
    struct weir_view view;
    const char *why = NULL;

    plan_view(sim->plan, sim->now_ns, memory_used_bytes(sim->memory), sim->timeline, &view);
    *is_admitted = policy->admit(plan_state(sim->plan), &view, (weir_node){node}, until_ns, &why) ==
                   WEIR_ADMIT;
    return WEIR_OK;
}

static enum weir_status set_priority(struct weir_draft *draft, weir_node node, int64_t priority,
                                     const char *reason, const char *instead_of,
                                     struct weir_error *err)
{
    struct simulation *sim = draft->impl;

    (void)reason;
    (void)instead_of;
    if (node.index >= sim->program->n_nodes || sim->timeline->spans[node.index].start_ns >= 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "policy %s: node %" PRIu32 " is none, or has started: only the "
                              "priority of a node that has not started can change",
                              sim->policy->name, node.index);
    }
    if (sim->priority == NULL) {
        sim->priority = calloc(sim->program->n_nodes, sizeof *sim->priority);
        if (sim->priority == NULL) {
            return weir_error_memory(err);
        }
    }
    sim->priority[node.index] = priority;
    sim->engines[sim->program->nodes[node.index].engine].is_stale = true;
    sim->has_stale = true;
    return WEIR_OK;
}

static enum weir_status refuse(const struct weir_draft *draft, struct weir_error *err)
{
    const struct simulation *sim = draft->impl;

    return weir_error_set(err, WEIR_INPUT,
                          "policy %s adds to the graph while time runs; do so in its plan callback",
                          sim->policy->name);
}

static enum weir_status refuse_ordering(struct weir_draft *draft, weir_node producer,
                                        weir_node consumer, int64_t lag_ns, const char *reason,
                                        const char *instead_of, struct weir_error *err)
{
    (void)producer;
    (void)consumer;
    (void)lag_ns;
    (void)reason;
    (void)instead_of;
    return refuse(draft, err);
}

static enum weir_status refuse_node(struct weir_draft *draft, weir_node before,
                                    const char *statement, const char *reason,
                                    const char *instead_of, weir_node *out, struct weir_error *err)
{
    (void)before;
    (void)statement;
    (void)reason;
    (void)instead_of;
    (void)out;
    return refuse(draft, err);
}

enum weir_status steer_event(struct simulation *sim, enum weir_event_kind kind, weir_node node,
                             weir_domain domain, int64_t needed_bytes)
{
    const struct weir_policy *policy = sim->policy;
    const struct weir_event event = {kind, node, domain, needed_bytes};
    struct weir_draft draft = {sizeof draft, sim, set_priority, refuse_ordering, refuse_node};
    struct weir_view view;

    plan_view(sim->plan, sim->now_ns, memory_used_bytes(sim->memory), sim->timeline, &view);
    return plan_answer(sim->plan, "on_event",
                       policy->on_event(plan_state(sim->plan), &view, &event, &draft, sim->err),
                       sim->err);
}

enum weir_status steer_rank(struct simulation *sim)
{
    struct weir_draft draft = {sizeof draft, sim, set_priority, refuse_ordering, refuse_node};
    struct weir_view view;

    plan_view(sim->plan, sim->now_ns, memory_used_bytes(sim->memory), sim->timeline, &view);
    return plan_answer(sim->plan, "rank",
                       sim->policy->rank(plan_state(sim->plan), &view, &draft, sim->err), sim->err);
}
