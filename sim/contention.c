/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress under contention.
 *
 * Each group has a clock, a double that is 0 whenever none of the group runs and grows by
 * elapsed * speed each time the set of running nodes changes; a node ends when the clock has grown
 * by the node's length since its start, rounded to the nearest nanosecond, halves away from zero.
 * Strong contention is chaotic, so the order of these operations is part of the definition and must
 * not be changed. */
#include "sim/contention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/contention_internal.h"
#include "sim/queue.h"

/* --- groups and their clocks ---------------------------------------------------------------- */

static bool target_before(const struct target *a, const struct target *b)
{
    return a->clock != b->clock ? a->clock < b->clock : a->node < b->node;
}

static enum weir_status target_push(struct group *group, struct target target,
                                    struct weir_error *err)
{
    uint32_t at = group->n_running;
    enum weir_status status = WEIR_OK;

    if (at == group->room) {
        status = array_grow(&group->targets, &group->room, (size_t)at + 1, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    group->n_running++;
    while (at > 0 && target_before(&target, &group->targets[(at - 1) / 4])) {
        group->targets[at] = group->targets[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    group->targets[at] = target;
    return WEIR_OK;
}

static uint32_t target_pop(struct group *group)
{
    uint32_t first = group->targets[0].node, at = 0;
    struct target moved = group->targets[--group->n_running];

    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= group->n_running) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < group->n_running; i++) {
            best = target_before(&group->targets[i], &group->targets[best]) ? i : best;
        }
        if (!target_before(&group->targets[best], &moved)) {
            break;
        }
        group->targets[at] = group->targets[best];
        at = best;
    }
    group->targets[at] = moved;
    return first;
}

/* Brings every clock to now; the speeds are those of the set that ran until now. */
static void advance(struct contention_state *state, int64_t now_ns)
{
    double elapsed = (double)(now_ns - state->changed_ns);

    for (uint32_t i = 0; i < state->n_active; i++) {
        struct group *group = &state->groups[state->active[i]];

        group->clock += elapsed * group->speed;
    }
    state->changed_ns = now_ns;
}

/* Rounds what is not negative, halves away from zero; exact, and needs no call. */
static double round_half_up(double value)
{
    int64_t whole;

    if (value >= 9.0e18) {
        return value;
    }
    whole = (int64_t)value;
    return (double)(value - (double)whole >= 0.5 ? whole + 1 : whole);
}

/* When the first of the group ends, seen from the last change of the set. */
static double end_after(const struct group *group)
{
    double left = (group->targets[0].clock - group->clock) / group->speed;

    if (left > 0) {
        return round_half_up(left);
    }
    return left <= 0 ? 0 : INFINITY; /* factors without a product: 0 times infinity */
}

static void activate(struct contention_state *state, uint32_t index)
{
    struct group *group = &state->groups[index];

    if (group->n_running == 0) {
        group->at_active = state->n_active;
        state->active[state->n_active++] = index;
    }
}

static void deactivate(struct contention_state *state, uint32_t index)
{
    struct group *group = &state->groups[index];
    uint32_t last = state->active[--state->n_active];

    state->active[group->at_active] = last;
    state->groups[last].at_active = group->at_active;
    group->clock = 0;
}

/* --- what the families share ---------------------------------------------------------------- */

enum weir_status contention_new(const struct program *program, enum contention family,
                                struct contention_state **out, struct weir_error *err)
{
    struct contention_state *state = calloc(1, sizeof *state);
    enum weir_status status = WEIR_OK;

    if (state == NULL) {
        return weir_error_memory(err);
    }
    state->program = program;
    state->family = family;
    switch (family) {
    case CONTENTION_NONE:
        break;
    case CONTENTION_PAIRWISE:
        status = pairwise_begin(state, err);
        break;
    case CONTENTION_SHARE:
        status = share_begin(state, err);
        break;
    }
    if (status == WEIR_OK) {
        state->active = malloc(((size_t)state->n_groups + 1) * sizeof *state->active);
        status = state->active == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    if (status != WEIR_OK) {
        contention_free(state);
        return status;
    }
    *out = state;
    return WEIR_OK;
}

void contention_free(struct contention_state *state)
{
    if (state == NULL) {
        return;
    }
    for (uint32_t i = 0; i < state->n_groups && state->groups != NULL; i++) {
        free(state->groups[i].targets);
    }
    pairwise_end(state);
    share_end(state);
    free(state->groups);
    free(state->group_of);
    free(state->active);
    free(state);
}

enum weir_status contention_start(struct contention_state *state, uint32_t node, int64_t length_ns,
                                  int64_t now_ns, struct weir_error *err)
{
    struct group *group;
    enum weir_status status;

    advance(state, now_ns);
    group = &state->groups[state->group_of[node]];
    activate(state, state->group_of[node]);
    status = target_push(group, (struct target){group->clock + (double)length_ns, node}, err);
    if (status != WEIR_OK) {
        return status;
    }
    state->n_running++;
    state->has_changed = true;
    return state->family == CONTENTION_PAIRWISE ? pairwise_add(state, state->group_of[node], err)
                                                : share_add(state, node, err);
}

int64_t contention_next_ns(const struct contention_state *state)
{
    return state->n_running == 0 ? INT64_MAX : state->next_ns;
}

/* All ends are judged by the clocks of the last change; only then do the clocks move. */
void contention_end(struct contention_state *state, int64_t now_ns, uint32_t *ended,
                    uint32_t *n_ended)
{
    uint32_t first = *n_ended;
    double elapsed = (double)(now_ns - state->changed_ns);

    for (uint32_t i = state->n_active; i > 0; i--) {
        struct group *group = &state->groups[state->active[i - 1]];

        while (group->n_running > 0 && group->end_after <= elapsed) {
            ended[(*n_ended)++] = target_pop(group);
            group->end_after = group->n_running > 0 ? end_after(group) : 0;
        }
    }
    if (*n_ended == first) {
        return;
    }
    advance(state, now_ns);
    for (uint32_t i = state->n_active; i > 0; i--) {
        if (state->groups[state->active[i - 1]].n_running == 0) {
            deactivate(state, state->active[i - 1]);
        }
    }
    for (uint32_t i = first; i < *n_ended; i++) {
        state->n_running--;
        if (state->family == CONTENTION_PAIRWISE) {
            pairwise_count(state, state->group_of[ended[i]]);
        } else {
            share_remove(state, ended[i]);
        }
    }
    state->has_changed = true;
}

/* No running node ends before 2^63 ns: names the one that would end first. */
static enum weir_status stretched(const struct contention_state *state, double soonest,
                                  struct weir_error *err)
{
    uint32_t first = WEIR_NONE;

    for (uint32_t i = 0; i < state->n_active; i++) {
        const struct group *group = &state->groups[state->active[i]];

        if (!(group->end_after > soonest) && group->targets[0].node < first) {
            first = group->targets[0].node;
        }
    }
    return weir_error_set(err, WEIR_INPUT,
                          "node %s runs beside %u others, and contention stretches each past 2^63 "
                          "ns; lower their durations, or the factors of their classes",
                          weir_is((weir_node){first})
                              ? graph_node_name(state->program->graph, (weir_node){first})
                              : "",
                          state->n_running - 1);
}

enum weir_status contention_settle(struct contention_state *state, int64_t now_ns,
                                   struct weir_error *err)
{
    const double last = 9.0e18;
    double soonest = INFINITY;

    if (!state->has_changed) {
        return WEIR_OK;
    }
    state->has_changed = false;
    if (state->family == CONTENTION_PAIRWISE) {
        pairwise_speeds(state);
    } else {
        share_speeds(state);
    }
    for (uint32_t i = 0; i < state->n_active; i++) {
        struct group *group = &state->groups[state->active[i]];

        group->end_after = end_after(group);
        soonest = group->end_after < soonest ? group->end_after : soonest;
    }
    if (state->n_running > 0 && !((double)now_ns + soonest < last)) {
        return stretched(state, soonest, err);
    }
    state->next_ns = state->n_running > 0 ? now_ns + (int64_t)soonest : INT64_MAX;
    return WEIR_OK;
}

size_t contention_memory_bytes(const struct contention_state *state)
{
    size_t bytes = state->n_groups * sizeof *state->groups + state->family_bytes;

    for (uint32_t i = 0; i < state->n_groups; i++) {
        bytes += state->groups[i].room * sizeof *state->groups[i].targets;
    }
    return bytes;
}

const char *contention_name(enum contention family)
{
    switch (family) {
    case CONTENTION_NONE:
        return "none";
    case CONTENTION_PAIRWISE:
        return "pairwise";
    case CONTENTION_SHARE:
        return "share";
    }
    return "";
}

bool contention_from(const char *name, enum contention *out)
{
    for (int i = CONTENTION_NONE; i <= CONTENTION_SHARE; i++) {
        if (strcmp(name, contention_name((enum contention)i)) == 0) {
            *out = (enum contention)i;
            return true;
        }
    }
    return false;
}
