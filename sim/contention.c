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

static double clock_from(int64_t bits)
{
    double clock;

    memcpy(&clock, &bits, sizeof clock);
    return clock;
}

static int64_t bits_of(double clock)
{
    int64_t bits;

    memcpy(&bits, &clock, sizeof bits);
    return bits;
}

/* Brings every clock to now; the speeds are those of the set that ran until now. */
static void advance(struct contention_state *state, int64_t now_ns)
{
    double elapsed = (double)(now_ns - state->changed_ns);

    for (uint32_t i = 0; i < state->n_clocks; i++) {
        state->clocks[i].clock += elapsed * state->clocks[i].speed;
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
    whole += value - (double)whole >= 0.5; /* without a branch: either is as likely */
    return (double)whole;
}

/* When the first of the group ends, seen from the last change of the set. */
static double end_after(const struct progress *progress)
{
    double left = (progress->target - progress->clock) / progress->speed;

    if (left > 0) {
        return round_half_up(left);
    }
    return left <= 0 ? 0 : INFINITY; /* factors without a product: 0 times infinity */
}

/* One node more or less of the group runs. */
static void note_change(struct contention_state *state, uint32_t index)
{
    state->has_changed = true;
    if (!state->groups[index].has_changed) {
        state->groups[index].has_changed = true;
        state->changed[state->n_changed++] = index;
    }
}

static struct progress *activate(struct contention_state *state, uint32_t index)
{
    struct group *group = &state->groups[index];

    if (group->n_running == 0) {
        group->at_clock = state->n_clocks;
        state->clocks[state->n_clocks++] = (struct progress){.speed = group->speed, .group = index};
    }
    return &state->clocks[group->at_clock];
}

static void deactivate(struct contention_state *state, uint32_t at)
{
    state->clocks[at] = state->clocks[--state->n_clocks];
    state->groups[state->clocks[at].group].at_clock = at;
}

/* --- what the families share ---------------------------------------------------------------- */

/* What a measured family comes down to is in its machine. */
static enum weir_status find_rule(struct contention_state *state, enum contention family,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    state->rule = family == CONTENTION_SHARE ? RULE_SHARE : RULE_PAIRWISE;
    if (family == CONTENTION_MEASURED) {
        status = measured_read(state->program->graph, &state->measured, err);
        state->rule = state->measured.family == MEASURED_ROOFLINE ? RULE_ROOFLINE
                      : state->measured.family == MEASURED_SHARE  ? RULE_SHARE
                                                                  : RULE_PAIRWISE;
    }
    return status;
}

static enum weir_status begin_rule(struct contention_state *state, struct weir_error *err)
{
    switch (state->rule) {
    case RULE_PAIRWISE:
        return pairwise_begin(state, err);
    case RULE_SHARE:
        return share_begin(state, err);
    case RULE_ROOFLINE:
        break;
    }
    return roofline_begin(state, err);
}

enum weir_status contention_new(const struct program *program, enum contention family,
                                struct contention_state **out, struct weir_error *err)
{
    struct contention_state *state = calloc(1, sizeof *state);
    enum weir_status status;

    if (state == NULL) {
        return weir_error_memory(err);
    }
    state->program = program;
    status = find_rule(state, family, err);
    if (status == WEIR_OK) {
        status = begin_rule(state, err);
    }
    if (status == WEIR_OK) {
        state->clocks = malloc(((size_t)state->n_groups + 1) * sizeof *state->clocks);
        state->changed = malloc(((size_t)state->n_groups + 1) * sizeof *state->changed);
        status = state->clocks == NULL || state->changed == NULL ? weir_error_memory(err) : WEIR_OK;
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
        event_free(&state->groups[i].targets);
    }
    pairwise_end(state);
    share_end(state);
    roofline_end(state);
    measured_free(&state->measured);
    free(state->groups);
    free(state->group_of);
    free(state->clocks);
    free(state->changed);
    free(state);
}

enum weir_status contention_start(struct contention_state *state, uint32_t node, int64_t length_ns,
                                  int64_t now_ns, struct weir_error *err)
{
    uint32_t index = state->group_of[node];
    struct group *group = &state->groups[index];
    struct progress *progress;
    enum weir_status status;

    advance(state, now_ns);
    progress = activate(state, index);
    group->n_running++;
    status = event_push(&group->targets,
                        (struct event){bits_of(progress->clock + (double)length_ns), node}, err);
    if (status != WEIR_OK) {
        return status;
    }
    progress->target = clock_from(event_first(&group->targets).time_ns);
    state->n_running++;
    note_change(state, index);
    switch (state->rule) {
    case RULE_PAIRWISE:
        return pairwise_add(state, index, err);
    case RULE_SHARE:
        return share_add(state, node, err);
    case RULE_ROOFLINE:
        break;
    }
    return WEIR_OK;
}

int64_t contention_next_ns(const struct contention_state *state)
{
    return state->n_running == 0 ? INT64_MAX : state->next_ns;
}

/* Takes out the nodes of one group that end within the elapsed time. */
static void end_group(struct contention_state *state, uint32_t at, double elapsed, uint32_t *ended,
                      uint32_t *n_ended)
{
    struct progress *progress = &state->clocks[at];
    struct group *group = &state->groups[progress->group];

    while (group->n_running > 0 && progress->end_after <= elapsed) {
        ended[(*n_ended)++] = event_pop(&group->targets).node;
        if (--group->n_running > 0) {
            progress->target = clock_from(event_first(&group->targets).time_ns);
            progress->end_after = end_after(progress);
        }
    }
    note_change(state, progress->group);
    if (group->n_running == 0) {
        deactivate(state, at);
    }
}

/* All ends are judged by the clocks of the last change; only then do the clocks move. */
void contention_end(struct contention_state *state, int64_t now_ns, uint32_t *ended,
                    uint32_t *n_ended)
{
    uint32_t first = *n_ended;
    double elapsed = (double)(now_ns - state->changed_ns);

    for (uint32_t i = state->n_clocks; i > 0; i--) {
        if (state->clocks[i - 1].end_after <= elapsed) {
            end_group(state, i - 1, elapsed, ended, n_ended);
        }
    }
    if (*n_ended == first) {
        return;
    }
    advance(state, now_ns);
    state->n_running -= *n_ended - first;
    for (uint32_t i = first; i < *n_ended && state->rule == RULE_SHARE; i++) {
        share_remove(state, ended[i]);
    }
}

/* No running node ends before 2^63 ns: names the one that would end first. */
static enum weir_status stretched(const struct contention_state *state, double soonest,
                                  struct weir_error *err)
{
    uint32_t first = WEIR_NONE;

    for (uint32_t i = 0; i < state->n_clocks; i++) {
        uint32_t node = event_first(&state->groups[state->clocks[i].group].targets).node;

        if (!(state->clocks[i].end_after > soonest) && node < first) {
            first = node;
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

/* Are the speeds still those of the set? Under share it counts which nodes run, else how many of each
 * group. */
static bool is_stale(struct contention_state *state)
{
    bool is_other = state->rule == RULE_SHARE;

    for (uint32_t i = 0; i < state->n_changed; i++) {
        struct group *group = &state->groups[state->changed[i]];

        group->has_changed = false;
        is_other = is_other || group->n_running != group->n_settled;
        group->n_settled = group->n_running;
    }
    state->n_changed = 0;
    return is_other;
}

static void set_speeds(struct contention_state *state)
{
    switch (state->rule) {
    case RULE_PAIRWISE:
        pairwise_speeds(state);
        break;
    case RULE_SHARE:
        share_speeds(state);
        break;
    case RULE_ROOFLINE:
        roofline_speeds(state);
        break;
    }
    for (uint32_t i = 0; i < state->n_clocks; i++) {
        state->clocks[i].speed = state->groups[state->clocks[i].group].speed;
    }
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
    if (is_stale(state)) {
        set_speeds(state);
    }
    for (uint32_t i = 0; i < state->n_clocks; i++) {
        struct progress *progress = &state->clocks[i];

        progress->end_after = end_after(progress);
        soonest = progress->end_after < soonest ? progress->end_after : soonest;
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
        bytes += event_memory_bytes(&state->groups[i].targets);
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
    case CONTENTION_MEASURED:
        return "measured";
    }
    return "";
}

bool contention_from(const char *name, enum contention *out)
{
    for (int i = CONTENTION_NONE; i <= CONTENTION_MEASURED; i++) {
        if (strcmp(name, contention_name((enum contention)i)) == 0) {
            *out = (enum contention)i;
            return true;
        }
    }
    return false;
}

bool contention_is_by_factor(const struct graph *graph, enum contention family)
{
    return family == CONTENTION_PAIRWISE ||
           (family == CONTENTION_MEASURED && measured_family(graph) == MEASURED_PAIRWISE);
}
