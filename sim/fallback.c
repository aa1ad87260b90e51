/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes with a fallback. The window of a node closes its length before its deadline; one that has
 * not started by then, when all of that instant that could start has started, gives way: its
 * fallback runs, and only then does it run. A node that does not run passes its edges on when it
 * would have been ready, and no earlier than when that was settled. */
#include <stdlib.h>

#include "sim/lacking.h"

static enum weir_status add_window(struct simulation *sim, uint32_t node)
{
    int64_t close_ns;
    struct graph_node value;

    graph_node(sim->program->graph, (weir_node){node}, &value);
    if (value.fallback == FALLBACK_NODE) {
        sim->fallbacks[value.fallback_node.index].primaries_left++;
    }
    if (value.deadline_ns < 0) {
        return WEIR_OK; /* the window never closes */
    }
    close_ns = value.deadline_ns - sim->timeline->spans[node].isolated_ns;
    return event_push(&sim->windows, (struct event){close_ns > 0 ? close_ns : 0, node}, sim->err);
}

static bool has_fallbacks(const struct program *program)
{
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        if ((program->nodes[i].flags & (PROGRAM_WINDOW | PROGRAM_STANDIN)) != 0) {
            return true;
        }
    }
    return false;
}

/* The node that stands in for this one; none. */
static weir_node fallback_of(const struct simulation *sim, uint32_t node)
{
    struct graph_node value;

    if ((sim->program->nodes[node].flags & PROGRAM_WINDOW) == 0) {
        return (weir_node){WEIR_NONE};
    }
    graph_node(sim->program->graph, (weir_node){node}, &value);
    return value.fallback == FALLBACK_NODE ? value.fallback_node : (weir_node){WEIR_NONE};
}

/* Nobody needs it from the beginning; nor, it may be, the one that stands in for it, and so on. */
static void leave_out(struct simulation *sim, uint32_t node)
{
    weir_node fallback;

    do {
        sim->fallbacks[node].fate = FATE_SKIPPED;
        fallback = fallback_of(sim, node);
        node = fallback.index;
    } while (weir_is(fallback) && --sim->fallbacks[node].primaries_left == 0);
}

/* A fallback is open while some primary may still need it; one whose primaries are all off, or left
 * out themselves, is not needed from the beginning. */
static void set_fates(struct simulation *sim)
{
    for (uint32_t i = 0; i < sim->program->n_nodes; i++) {
        if ((sim->program->nodes[i].flags & PROGRAM_STANDIN) != 0) {
            sim->fallbacks[i].fate = FATE_OPEN;
        }
    }
    for (uint32_t i = 0; i < sim->program->n_nodes; i++) {
        if (sim->fallbacks[i].fate == FATE_OPEN && sim->fallbacks[i].primaries_left == 0) {
            leave_out(sim, i);
        }
    }
}

enum weir_status fallback_begin(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    if (!has_fallbacks(sim->program)) {
        return WEIR_OK;
    }
    sim->fallbacks = calloc(sim->program->n_nodes, sizeof *sim->fallbacks);
    if (sim->fallbacks == NULL) {
        return weir_error_memory(sim->err);
    }
    for (uint32_t i = 0; i < sim->program->n_nodes && status == WEIR_OK; i++) {
        if ((sim->program->nodes[i].flags & PROGRAM_WINDOW) != 0) {
            status = add_window(sim, i);
        }
    }
    set_fates(sim);
    return status;
}

/* What it would have used ends without it. */
static void log_skip(struct simulation *sim, uint32_t node)
{
    struct event_log *log = &sim->log;

    if (sim->options->keeps_details && (sim->program->nodes[node].flags & PROGRAM_BYTES) != 0) {
        log->items[log->n++] = node | LOG_SKIP;
        log->items[log->n++] = (uint32_t)((uint64_t)sim->now_ns & 0xffffffffu);
        log->items[log->n++] = (uint32_t)((uint64_t)sim->now_ns >> 32);
    }
}

/* Its turn has come, and it does not run. */
static enum weir_status pass_on(struct simulation *sim, uint32_t node)
{
    enum weir_status status = memory_give(sim->memory, node, false, sim->err);

    log_skip(sim, node);
    if (sim->memory->n_freed > 0) {
        lacking_wake(sim);
    }
    if (status == WEIR_OK) {
        status = simulation_push_pass(sim, node, sim->now_ns);
    }
    return status == WEIR_OK ? simulation_drain(sim) : status;
}

static enum weir_status skip(struct simulation *sim, uint32_t node)
{
    struct fallback_state *state = &sim->fallbacks[node];

    if (state->fate == FATE_OPEN && state->is_queued) {
        sim->timeline->spans[node].ready_ns = sim->now_ns; /* its consumers waited for that */
    }
    state->fate = FATE_SKIPPED;
    if ((sim->program->nodes[node].flags & PROGRAM_OFF) == 0) {
        sim->n_to_run--; /* one whose guard is off was never to run */
    }
    return state->is_queued ? pass_on(sim, node) : WEIR_OK;
}

enum weir_status fallback_intercept(struct simulation *sim, uint32_t node, bool *is_taken)
{
    struct fallback_state *state = &sim->fallbacks[node];

    state->is_queued = true;
    *is_taken = state->fate != FATE_RUNS;
    return state->fate == FATE_SKIPPED ? pass_on(sim, node) : WEIR_OK;
}

/* A fallback that is not needed needs none itself: so on along the chain. */
enum weir_status fallback_started(struct simulation *sim, uint32_t node)
{
    weir_node fallback = fallback_of(sim, node);
    enum weir_status status = WEIR_OK;

    while (weir_is(fallback) && status == WEIR_OK) {
        struct fallback_state *state = &sim->fallbacks[fallback.index];

        state->primaries_left--;
        if (state->fate != FATE_OPEN || state->primaries_left > 0) {
            break;
        }
        status = skip(sim, fallback.index);
        fallback = fallback_of(sim, fallback.index);
    }
    return status;
}

/* The fallback is needed from now on. */
static enum weir_status arm(struct simulation *sim, uint32_t node)
{
    struct fallback_state *state = &sim->fallbacks[node];
    struct timeline_span *span = &sim->timeline->spans[node];

    state->fate = FATE_RUNS;
    span->ready_ns = span->ready_ns > sim->now_ns ? span->ready_ns : sim->now_ns;
    return state->is_queued ? simulation_enqueue(sim, node) : WEIR_OK;
}

/* The node has not started and its window is closed: its fallback is needed, and that one's own,
 * where that one's window has closed already, and so on along the chain. */
static enum weir_status give_way(struct simulation *sim, uint32_t node)
{
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK) {
        weir_node fallback = fallback_of(sim, node);
        struct fallback_state *state;

        if (!weir_is(fallback)) {
            sim->failed.index = node; /* fallback=fail */
            return WEIR_OK;
        }
        state = &sim->fallbacks[fallback.index];
        state->primaries_left--;
        status = skip(sim, node);
        if (status != WEIR_OK || state->fate != FATE_OPEN) {
            return status;
        }
        if (!state->is_closed) {
            return arm(sim, fallback.index);
        }
        state->fate = FATE_RUNS;
        node = fallback.index;
    }
    return status;
}

enum weir_status fallback_close(struct simulation *sim, bool *has_changed)
{
    enum weir_status status = WEIR_OK;

    while (event_n(&sim->windows) > 0 && event_first(&sim->windows).time_ns <= sim->now_ns &&
           status == WEIR_OK && !weir_is(sim->failed)) {
        uint32_t node = event_pop(&sim->windows).node;

        sim->fallbacks[node].is_closed = true;
        if (sim->timeline->spans[node].start_ns < 0 && sim->fallbacks[node].fate == FATE_RUNS) {
            *has_changed = true;
            status = give_way(sim, node);
        }
    }
    return status;
}
