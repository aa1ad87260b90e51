/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How nodes become ready, and how those that are ready and cannot start wait. A node that cannot
 * start holds up no other: it is set aside until what it lacks is given back. */
#include "base/array.h"
#include "sim/open.h"

enum weir_status simulation_push_again(struct simulation *sim, struct candidate candidate)
{
    uint32_t index = sim->program->nodes[candidate.node].engine;
    enum weir_status status;

    candidate.priority = sim->priority == NULL ? 0 : sim->priority[candidate.node];
    status = ready_push(&sim->engines[index].queue, candidate, sim->err);
    if (status == WEIR_OK) {
        open_offer(sim, index);
    }
    return status;
}

static enum weir_status push_fresh(struct simulation *sim, struct event ready)
{
    uint32_t index = sim->program->nodes[ready.node].engine;
    enum weir_status status;

    if (sim->priority != NULL) {
        return simulation_push_again(sim, candidate_of(ready));
    }
    status = ready_push_fresh(&sim->engines[index].queue, ready, sim->err);
    if (status == WEIR_OK) {
        open_offer(sim, index);
    }
    return status;
}

enum weir_status simulation_push_pass(struct simulation *sim, uint32_t node, int64_t time_ns)
{
    enum weir_status status =
        array_grow(&sim->passes, &sim->passes_room, (size_t)sim->n_passes + 1, sim->err);

    if (status == WEIR_OK) {
        sim->passes[sim->n_passes++] = (struct pass){node, time_ns};
    }
    return status;
}

enum weir_status simulation_enqueue(struct simulation *sim, uint32_t node)
{
    bool is_taken = false;
    enum weir_status status = WEIR_OK;

    if (sim->fallbacks != NULL) {
        status = fallback_intercept(sim, node, &is_taken);
    }
    if (status != WEIR_OK || is_taken) {
        return status;
    }
    status = push_fresh(sim, (struct event){sim->timeline->spans[node].ready_ns, node});
    if (status == WEIR_OK && sim->policy->on_event != NULL) {
        status =
            steer_event(sim, WEIR_EVENT_ARRIVED, (weir_node){node}, (weir_domain){WEIR_NONE}, 0);
    }
    return status;
}

enum weir_status simulation_resume(struct simulation *sim, uint32_t node)
{
    struct candidate candidate = {0, sim->timeline->spans[node].ready_ns, sim->now_ns, node,
                                  WEIR_NONE};

    waits_resume(sim, node);
    sim->n_held--;
    return simulation_push_again(sim, candidate);
}

/* Every producer has done its part. */
enum weir_status simulation_become_ready(struct simulation *sim, uint32_t node)
{
    struct timeline_span *span = &sim->timeline->spans[node];

    if (sim->program->release_ns != NULL && sim->program->release_ns[node] > span->ready_ns) {
        span->ready_ns = sim->program->release_ns[node];
    }
    if ((sim->program->nodes[node].flags & PROGRAM_OFF) != 0) {
        return simulation_push_pass(sim, node, span->ready_ns);
    }
    if (span->ready_ns > sim->now_ns) {
        return event_push(&sim->arrivals, (struct event){span->ready_ns, node}, sim->err);
    }
    return simulation_enqueue(sim, node);
}

static enum weir_status arrive(struct simulation *sim, uint32_t consumer, int64_t time_ns)
{
    struct timeline_span *span = &sim->timeline->spans[consumer];

    if (time_ns > span->ready_ns) {
        span->ready_ns = time_ns;
    }
    return --sim->left[consumer] == 0 ? simulation_become_ready(sim, consumer) : WEIR_OK;
}

static enum weir_status arrive_late(struct simulation *sim, uint32_t consumer, int64_t time_ns,
                                    int64_t lag_ns)
{
    int64_t at_ns;

    if (__builtin_add_overflow(time_ns, lag_ns, &at_ns)) {
        return weir_error_set(sim->err, WEIR_INPUT, "node %s is ready past 2^63 ns",
                              graph_node_name(sim->program->graph, (weir_node){consumer}));
    }
    return arrive(sim, consumer, at_ns);
}

/* Where nothing delays an edge, the last one to be fed says when its consumer is ready: now. */
static enum weir_status feed_plain(struct simulation *sim, uint32_t node, int64_t time_ns)
{
    const struct program *program = sim->program;
    uint32_t end = program->nodes[node + 1].next;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->nodes[node].next; i < end && status == WEIR_OK; i++) {
        uint32_t consumer = program->next[i];

        if (--sim->left[consumer] == 0) {
            sim->timeline->spans[consumer].ready_ns = time_ns;
            status = simulation_enqueue(sim, consumer);
        }
    }
    return status;
}

/* Follows the node's edges of one sort: from its start, or from its finish. */
enum weir_status simulation_feed(struct simulation *sim, uint32_t node, uint32_t from_start,
                                 int64_t time_ns)
{
    const struct program *program = sim->program;
    uint32_t end = program->nodes[node + 1].next;
    enum weir_status status = WEIR_OK;

    if (program->is_plain) {
        return feed_plain(sim, node, time_ns);
    }
    for (uint32_t i = program->nodes[node].next; i < end && status == WEIR_OK; i++) {
        uint32_t consumer = program->next[i];

        if ((consumer & PROGRAM_FROM_START) != from_start) {
            continue;
        }
        status = arrive_late(sim, consumer & ~PROGRAM_FROM_START, time_ns,
                             program->lag_ns == NULL ? 0 : program->lag_ns[i]);
    }
    return status;
}

enum weir_status simulation_drain(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    while (sim->n_passes > 0 && status == WEIR_OK) {
        struct pass pass = sim->passes[--sim->n_passes];

        status = simulation_feed(sim, pass.node, PROGRAM_FROM_START, pass.time_ns);
        if (status == WEIR_OK) {
            status = simulation_feed(sim, pass.node, 0, pass.time_ns);
        }
    }
    return status;
}

enum weir_status simulation_hold(struct simulation *sim, struct candidate candidate)
{
    struct waiting *held = &sim->for_policy;
    enum weir_status status = array_grow(&held->items, &held->room, (size_t)held->n + 1, sim->err);

    if (status == WEIR_OK) {
        status = waits_set_aside(sim, &candidate, WAIT_ADMISSION);
    }
    if (status == WEIR_OK) {
        held->items[held->n++] = candidate;
    }
    return status;
}

enum weir_status simulation_wake_held(struct simulation *sim)
{
    uint32_t n = sim->for_policy.n;
    enum weir_status status = WEIR_OK;

    sim->for_policy.n = 0;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        struct candidate candidate = sim->for_policy.items[i];

        sim->timeline->spans[candidate.node].blocker.index = WEIR_NONE;
        candidate.given = WEIR_NONE;
        status = simulation_push_again(sim, candidate);
    }
    return status;
}
