/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes with a fallback. The window of a node closes its length before its deadline; one that has
 * not started by then, when all of that instant that could start has started, gives way: its
 * fallback runs, and only then does it run. A node that does not run passes its edges on when it
 * would have been ready, and no earlier than when that was settled. */
#include <stdlib.h>

#include "sim/simulate_internal.h"

static enum weir_status add_window(struct simulation *sim, uint32_t node,
                                   const struct graph_node *value)
{
    int64_t close_ns = value->deadline_ns - sim->program->nodes[node].length_ns;

    if (value->fallback == FALLBACK_NODE) {
        struct fallback_state *fallback = &sim->fallbacks[value->fallback_node.index];

        fallback->fate = FATE_OPEN;
        fallback->primaries_left++;
    }
    if (value->deadline_ns < 0) {
        return WEIR_OK; /* the window never closes */
    }
    return event_push(&sim->windows, (struct event){close_ns > 0 ? close_ns : 0, node}, sim->err);
}

enum weir_status fallback_begin(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sim->program->n_nodes && status == WEIR_OK; i++) {
        struct graph_node value;

        if ((sim->program->nodes[i].flags & PROGRAM_WINDOW) == 0) {
            continue;
        }
        if (sim->fallbacks == NULL) {
            sim->fallbacks = calloc(sim->program->n_nodes, sizeof *sim->fallbacks);
            if (sim->fallbacks == NULL) {
                return weir_error_memory(sim->err);
            }
        }
        graph_node(sim->program->graph, (weir_node){i}, &value);
        status = add_window(sim, i, &value);
    }
    return status;
}

/* Its turn has come, and it does not run. */
static enum weir_status pass_on(struct simulation *sim, uint32_t node)
{
    enum weir_status status = memory_give(sim->memory, node, false, sim->now_ns, sim->err);

    if (status == WEIR_OK) {
        status = simulation_wake(sim, node);
    }
    if (status == WEIR_OK) {
        status = simulation_push_pass(sim, node, sim->now_ns);
    }
    return status == WEIR_OK ? simulation_drain(sim) : status;
}

static enum weir_status skip(struct simulation *sim, uint32_t node)
{
    struct fallback_state *state = &sim->fallbacks[node];

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

    state->primaries_left--;
    if (state->fate != FATE_OPEN) {
        return WEIR_OK;
    }
    state->fate = FATE_RUNS;
    span->ready_ns = span->ready_ns > sim->now_ns ? span->ready_ns : sim->now_ns;
    return state->is_queued ? simulation_enqueue(sim, node) : WEIR_OK;
}

enum weir_status fallback_close(struct simulation *sim, bool *has_changed)
{
    enum weir_status status = WEIR_OK;

    while (sim->windows.n > 0 && sim->windows.items[0].time_ns <= sim->now_ns &&
           status == WEIR_OK) {
        uint32_t node = event_pop(&sim->windows).node;
        struct graph_node value;

        if (sim->timeline->spans[node].start_ns >= 0 || sim->fallbacks[node].fate != FATE_RUNS) {
            continue;
        }
        graph_node(sim->program->graph, (weir_node){node}, &value);
        if (value.fallback == FALLBACK_FAIL) {
            sim->failed.index = node;
            return WEIR_OK;
        }
        *has_changed = true;
        status = arm(sim, value.fallback_node.index);
        if (status == WEIR_OK) {
            status = skip(sim, node);
        }
    }
    return status;
}
