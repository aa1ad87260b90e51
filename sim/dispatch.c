/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finishing and starting: what a node gives back when it ends, and, in dispatch order, who starts. */
#include <stdlib.h>

#include "sim/barred.h"
#include "sim/lacking.h"
#include "sim/open.h"

/* What ends with the node: its share of bytes and of forbidden and unknown overlaps. */
static enum weir_status give_bytes(struct simulation *sim, uint32_t node)
{
    enum weir_status status = memory_give(sim->memory, node, true, sim->err);

    if (sim->options->keeps_details) {
        sim->log.items[sim->log.n++] = node | LOG_FINISH;
    }
    if (sim->memory->n_freed > 0) {
        lacking_wake(sim);
    }
    return status;
}

static enum weir_status end_overlaps(struct simulation *sim, uint32_t node)
{
    if (sim->unknown != NULL) {
        overlap_end(sim->unknown, node);
        sim->unknown_pairs -= overlap_count(sim->unknown, node);
    }
    if (sim->barred == NULL) {
        return WEIR_OK;
    }
    overlap_end(sim->forbidden, node);
    return barred_end(sim, node);
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
    struct timeline_span *span = &sim->timeline->spans[node];
    enum weir_status status = WEIR_OK;

    span->finish_ns = sim->now_ns;
    sim->n_to_run--;
    if ((sim->program->nodes[node].flags & PROGRAM_BYTES) != 0) {
        status = give_bytes(sim, node);
    }
    if (status == WEIR_OK && sim->has_overlaps && span->isolated_ns > 0) {
        status = end_overlaps(sim, node);
    }
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

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

void simulation_sort_nodes(uint32_t *nodes, uint32_t n)
{
    bool is_sorted = true;

    for (uint32_t i = 1; i < n && is_sorted; i++) {
        is_sorted = nodes[i - 1] < nodes[i];
    }
    if (!is_sorted) {
        qsort(nodes, n, sizeof *nodes, by_number);
    }
}

/* Takes out of the running set who ends now. */
static enum weir_status collect_ended(struct simulation *sim, uint32_t *n_ended)
{
    enum weir_status status = WEIR_OK;

    if (sim->contention != NULL) {
        status = array_grow(&sim->ended, &sim->ended_room, sim->n_running, sim->err);
        if (status == WEIR_OK) {
            contention_end(sim->contention, sim->now_ns, sim->ended, n_ended);
        }
        return status;
    }
    while (status == WEIR_OK && event_n(&sim->ends) > 0 &&
           event_first(&sim->ends).time_ns <= sim->now_ns) {
        if (*n_ended == sim->ended_room) {
            status = array_grow(&sim->ended, &sim->ended_room, (size_t)*n_ended + 1, sim->err);
        }
        if (status == WEIR_OK) {
            sim->ended[(*n_ended)++] = event_pop(&sim->ends).node;
        }
    }
    return status;
}

static enum weir_status arrive_now(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && event_n(&sim->arrivals) > 0 &&
           event_first(&sim->arrivals).time_ns <= sim->now_ns) {
        uint32_t node = event_pop(&sim->arrivals).node;

        status = sim->timeline->spans[node].cause == WAIT_ADMISSION ? simulation_resume(sim, node)
                                                                    : simulation_enqueue(sim, node);
    }
    return status;
}

enum weir_status simulation_finish_all(struct simulation *sim)
{
    uint32_t n_ended = 0;
    enum weir_status status = collect_ended(sim, &n_ended);

    sim->n_running -= n_ended;
    if (n_ended > 1) {
        simulation_sort_nodes(sim->ended, n_ended);
    }
    for (uint32_t i = 0; i < n_ended; i++) {
        free_slot(sim, sim->ended[i]);
    }
    for (uint32_t i = 0; i < n_ended && status == WEIR_OK; i++) {
        status = finish_node(sim, sim->ended[i]);
    }
    return status == WEIR_OK ? arrive_now(sim) : status;
}

/* Says why the node starts no earlier: mostly it waited for a slot, and for nothing else. */
static enum weir_status explain_start(struct simulation *sim, struct candidate candidate)
{
    struct timeline_span *span = &sim->timeline->spans[candidate.node];

    if (span->cause != WAIT_NONE || candidate.since_ns != span->ready_ns) {
        return waits_start(sim, candidate);
    }
    if (span->ready_ns < sim->now_ns) {
        span->cause = WAIT_ENGINE;
        span->blocker.index = sim->engines[sim->program->nodes[candidate.node].engine].freed_by;
    }
    return WEIR_OK;
}

static enum weir_status mark_start(struct simulation *sim, struct candidate candidate)
{
    uint32_t node = candidate.node;
    struct timeline_span *span = &sim->timeline->spans[node];
    enum weir_status status = explain_start(sim, candidate);

    span->start_ns = sim->now_ns;
    span->order = sim->n_started++;
    if (status == WEIR_OK && (sim->program->nodes[node].flags & PROGRAM_FEEDS_START) != 0) {
        status = simulation_feed(sim, node, PROGRAM_FROM_START, sim->now_ns);
    }
    if (status == WEIR_OK && sim->fallbacks != NULL) {
        status = fallback_started(sim, node);
    }
    return status == WEIR_OK && sim->n_passes > 0 ? simulation_drain(sim) : status;
}

/* Without contention a node ends a whole number of nanoseconds after it starts. */
static enum weir_status set_end(struct simulation *sim, uint32_t node, int64_t length_ns)
{
    int64_t end_ns;

    if (__builtin_add_overflow(sim->now_ns, length_ns, &end_ns)) {
        return weir_error_set(sim->err, WEIR_INPUT, "node %s ends past 2^63 ns",
                              graph_node_name(sim->program->graph, (weir_node){node}));
    }
    return event_push(&sim->ends, (struct event){end_ns, node}, sim->err);
}

static enum weir_status begin_overlaps(struct simulation *sim, uint32_t node)
{
    if (sim->unknown != NULL) {
        sim->unknown_pairs += overlap_count(sim->unknown, node);
        overlap_start(sim->unknown, node);
    }
    if (sim->barred == NULL) {
        return WEIR_OK;
    }
    overlap_start(sim->forbidden, node);
    return sim->barred->n_awake > 0 ? barred_started(sim, node) : WEIR_OK;
}

/* A node of length above 0 joins the running set. */
static enum weir_status begin_running(struct simulation *sim, uint32_t node, int64_t length_ns)
{
    sim->engines[sim->program->nodes[node].engine].free_slots--;
    sim->n_running++;
    if (sim->has_overlaps) {
        enum weir_status status = begin_overlaps(sim, node);

        if (status != WEIR_OK) {
            return status;
        }
    }
    return sim->contention == NULL
               ? set_end(sim, node, length_ns)
               : contention_start(sim->contention, node, length_ns, sim->now_ns, sim->err);
}

/* Whoever might have begun the same copy needs less now. */
static void need_less(struct simulation *sim)
{
    for (uint32_t i = 0; i <= sim->program->n_engines; i++) {
        sim->engines[i].is_stale = sim->engines[i].is_stale || sim->engines[i].n_shelved > 0;
    }
    sim->has_stale = true;
}

static enum weir_status start_node(struct simulation *sim, struct candidate candidate)
{
    uint32_t node = candidate.node;
    int64_t length_ns = sim->timeline->spans[node].isolated_ns;
    enum weir_status status = WEIR_OK;

    if ((sim->program->nodes[node].flags & PROGRAM_TAKES) != 0) {
        status = memory_take(sim->memory, node, sim->err);
        if (sim->options->keeps_details) {
            sim->log.items[sim->log.n++] = node;
        }
        if (sim->program->shares_begins && sim->n_lacking > 0) {
            need_less(sim);
        }
    }
    if (status == WEIR_OK && length_ns > 0) {
        status = begin_running(sim, node, length_ns);
    }
    if (status == WEIR_OK) {
        status = mark_start(sim, candidate);
    }
    return status == WEIR_OK && length_ns == 0 ? finish_node(sim, node) : status;
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
        return simulation_hold(sim, candidate);
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

    if (sim->barred != NULL) {
        barred_turn(sim->barred, &candidate);
    }
    if (sim->fallbacks != NULL && sim->fallbacks[candidate.node].fate == FATE_SKIPPED) {
        return WEIR_OK;
    }
    if ((fixed->flags & PROGRAM_TAKES) != 0 &&
        !memory_fits(sim->memory, candidate.node, &short_of)) {
        return lacking_add(sim, candidate, short_of);
    }
    if (sim->barred != NULL && sim->timeline->spans[candidate.node].isolated_ns > 0 &&
        overlap_blocking_key(sim->forbidden, candidate.node) != WEIR_NONE) {
        return barred_add(sim, candidate);
    }
    status = sim->policy->admit == NULL ? WEIR_OK : ask_policy(sim, candidate, &is_admitted);
    return status == WEIR_OK && is_admitted ? start_node(sim, candidate) : status;
}

enum weir_status simulation_start_what_fits(struct simulation *sim)
{
    const bool ranks = plan_ranks(sim->plan);
    uint32_t ranked_at = UINT32_MAX; /* how many had started */
    enum weir_status status = WEIR_OK;

    if (sim->for_policy.n > 0) {
        status = simulation_wake_held(sim);
    }
    while ((sim->n_open > 0 || sim->has_stale) && status == WEIR_OK) {
        struct candidate candidate;
        uint32_t index;

        if (ranks && sim->n_started != ranked_at) {
            ranked_at = sim->n_started;
            status = steer_rank(sim);
            continue;
        }
        if (sim->has_stale) {
            status = open_reorder(sim); /* may open an engine that was not */
            continue;
        }
        /* Closed while at work: what it frees or makes ready may open it again. */
        if (open_take(sim, &index, &candidate)) {
            status = try_start(sim, candidate);
            open_offer(sim, index);
        }
    }
    if (status == WEIR_OK && sim->barred != NULL && sim->barred->n_awake > 0) {
        barred_settle(sim);
    }
    return status;
}
