/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finishing and starting: what a node gives back when it ends, and, in dispatch order, who starts. */
#include "sim/simulate_internal.h"

static enum weir_status give_back(struct simulation *sim, uint32_t node)
{
    const struct program_node *fixed = &sim->program->nodes[node];
    enum weir_status status = WEIR_OK;

    if ((fixed->flags & PROGRAM_BYTES) != 0) {
        status = memory_give(sim->memory, node, true, sim->now_ns, sim->err);
        if (status == WEIR_OK) {
            status = simulation_wake(sim, node);
        }
    }
    if (status != WEIR_OK || (fixed->flags & PROGRAM_RUNS_LONG) == 0) {
        return status;
    }
    if (sim->unknown != NULL) {
        overlap_end(sim->unknown, node);
        sim->unknown_pairs -= overlap_count(sim->unknown, node);
    }
    if (sim->forbidden != NULL) {
        overlap_end(sim->forbidden, node);
        status = simulation_wake_all(sim, &sim->for_overlap, node, (weir_object){WEIR_NONE});
    }
    return status;
}

static void free_slot(struct simulation *sim, uint32_t node)
{
    uint32_t index = sim->program->nodes[node].engine;
    struct engine_state *engine = &sim->engines[index];

    engine->free_slots++;
    engine->freed_by = node;
    open_offer(sim, index);
}

/* The node ends now. Its slot, if it held one, is free already. */
static enum weir_status finish_node(struct simulation *sim, uint32_t node)
{
    enum weir_status status;

    sim->timeline->spans[node].finish_ns = sim->now_ns;
    sim->timeline->makespan_ns = sim->now_ns;
    sim->n_to_run--;
    status = give_back(sim, node);
    if (status == WEIR_OK) {
        status = simulation_feed(sim, node, 0, sim->now_ns);
    }
    if (status == WEIR_OK && sim->n_passes > 0) {
        status = simulation_drain(sim);
    }
    if (status == WEIR_OK && sim->policy->on_event != NULL) {
        status =
            steer_event(sim, WEIR_EVENT_FINISHED, (weir_node){node}, (weir_domain){WEIR_NONE}, 0);
    }
    return status;
}

/* By program order, so that nothing rests on how the ends were found. */
static void sort_nodes(uint32_t *nodes, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t moved = nodes[i], at = i;

        while (at > 0 && nodes[at - 1] > moved) {
            nodes[at] = nodes[at - 1];
            at--;
        }
        nodes[at] = moved;
    }
}

enum weir_status simulation_finish_all(struct simulation *sim)
{
    uint32_t n_ended = 0;
    enum weir_status status = WEIR_OK;

    contention_end(sim->contention, sim->now_ns, sim->ended, &n_ended);
    sort_nodes(sim->ended, n_ended);
    for (uint32_t i = 0; i < n_ended; i++) {
        free_slot(sim, sim->ended[i]);
    }
    for (uint32_t i = 0; i < n_ended && status == WEIR_OK; i++) {
        status = finish_node(sim, sim->ended[i]);
    }
    while (status == WEIR_OK && sim->arrivals.n > 0 &&
           sim->arrivals.items[0].time_ns <= sim->now_ns) {
        uint32_t node = event_pop(&sim->arrivals).node;

        status = sim->timeline->spans[node].cause == WAIT_ADMISSION ? simulation_resume(sim, node)
                                                                    : simulation_enqueue(sim, node);
    }
    return status;
}

static enum weir_status mark_start(struct simulation *sim, struct candidate candidate)
{
    uint32_t node = candidate.node;
    struct timeline_span *span = &sim->timeline->spans[node];
    const struct program_node *fixed = &sim->program->nodes[node];
    enum weir_status status = waits_start(sim, &candidate);

    span->start_ns = sim->now_ns;
    span->isolated_ns = fixed->length_ns;
    span->order = sim->n_started++;
    if (status == WEIR_OK && (fixed->flags & PROGRAM_FEEDS_START) != 0) {
        status = simulation_feed(sim, node, PROGRAM_FROM_START, sim->now_ns);
    }
    if (status == WEIR_OK && sim->fallbacks != NULL) {
        status = fallback_started(sim, node);
    }
    if (status == WEIR_OK && sim->n_passes > 0) {
        status = simulation_drain(sim);
    }
    return status;
}

/* A node of length above 0 joins the running set. */
static enum weir_status begin_running(struct simulation *sim, uint32_t node)
{
    sim->engines[sim->program->nodes[node].engine].free_slots--;
    if (sim->forbidden != NULL) {
        overlap_start(sim->forbidden, node);
    }
    if (sim->unknown != NULL) {
        sim->unknown_pairs += overlap_count(sim->unknown, node);
        overlap_start(sim->unknown, node);
    }
    return contention_start(sim->contention, node, sim->now_ns, sim->err);
}

static enum weir_status start_node(struct simulation *sim, struct candidate candidate)
{
    uint32_t node = candidate.node;
    const struct program_node *fixed = &sim->program->nodes[node];
    bool is_long = (fixed->flags & PROGRAM_RUNS_LONG) != 0;
    enum weir_status status = WEIR_OK;

    if ((fixed->flags & PROGRAM_BYTES) != 0) {
        status = memory_take(sim->memory, node, sim->now_ns, sim->err);
    }
    if (status == WEIR_OK && is_long) {
        status = begin_running(sim, node);
    }
    if (status == WEIR_OK) {
        status = mark_start(sim, candidate);
    }
    return status == WEIR_OK && !is_long ? finish_node(sim, node) : status;
}

/* Asks the policy. One that is held is tried again at the time it names, or, when it names none
 * that is to come, whenever something else has happened. */
static enum weir_status ask_policy(struct simulation *sim, struct candidate candidate,
                                   bool *is_admitted)
{
    int64_t until_ns = sim->now_ns;
    enum weir_status status = steer_admit(sim, candidate.node, is_admitted, &until_ns);

    if (status != WEIR_OK || *is_admitted) {
        return status;
    }
    if (until_ns <= sim->now_ns || until_ns == INT64_MAX) {
        return simulation_set_aside(sim, &sim->for_policy, candidate, WAIT_ADMISSION);
    }
    status = waits_put_off(sim, &candidate, until_ns);
    sim->n_held++;
    return status != WEIR_OK
               ? status
               : event_push(&sim->arrivals, (struct event){until_ns, candidate.node}, sim->err);
}

/* Starts the node, or sets it aside with what it lacks. */
static enum weir_status try_start(struct simulation *sim, struct candidate candidate)
{
    const struct program_node *fixed = &sim->program->nodes[candidate.node];
    weir_domain short_of;
    bool is_admitted = true;
    enum weir_status status;

    if (sim->fallbacks != NULL && sim->fallbacks[candidate.node].fate == FATE_SKIPPED) {
        return WEIR_OK;
    }
    if ((fixed->flags & PROGRAM_BYTES) != 0 &&
        !memory_fits(sim->memory, candidate.node, &short_of)) {
        return simulation_set_aside(sim, &sim->for_bytes[short_of.index], candidate, WAIT_CAPACITY);
    }
    if (sim->forbidden != NULL && (fixed->flags & PROGRAM_RUNS_LONG) != 0 &&
        overlap_count(sim->forbidden, candidate.node) > 0) {
        return simulation_set_aside(sim, &sim->for_overlap, candidate, WAIT_OVERLAP);
    }
    status = sim->policy->admit == NULL ? WEIR_OK : ask_policy(sim, candidate, &is_admitted);
    return status == WEIR_OK && is_admitted ? start_node(sim, candidate) : status;
}

enum weir_status simulation_start_what_fits(struct simulation *sim)
{
    enum weir_status status =
        simulation_wake_all(sim, &sim->for_policy, WEIR_NONE, (weir_object){WEIR_NONE});

    while (sim->n_open > 0 && status == WEIR_OK) {
        /* Closed while at work: what it frees or makes ready may open it again. */
        uint32_t index = open_take(sim);

        status = try_start(sim, ready_pop(&sim->engines[index].queue));
        open_offer(sim, index);
    }
    return status;
}
