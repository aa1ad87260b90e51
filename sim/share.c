/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared resources: the speeds of all running nodes rise together from 0 to at most 1; where a
 * resource reaches its capacity its users stay, and the others go on. A group is a set of resources:
 * the speed of a node depends on nothing else. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "sim/contention_internal.h"

/* What a node asks of resources, as a machine says it: of its class too, and no more than there is.
 * @param out room for every resource @return how many */
static uint32_t measured_uses(const struct contention_state *state, uint32_t node,
                              int64_t *rates_per_s, struct graph_demand *out)
{
    uint32_t n = 0;

    measured_rates(&state->measured, state->program->graph, (weir_node){node}, rates_per_s);
    for (uint32_t i = 0; i < state->share.n_resources; i++) {
        int64_t most = state->share.capacity_per_s[i];

        if (rates_per_s[i] > 0) {
            out[n++] = (struct graph_demand){
                .resource = {i}, .rate_per_s = rates_per_s[i] < most ? rates_per_s[i] : most};
        }
    }
    return n;
}

static enum weir_status read_measured(struct contention_state *state, struct weir_error *err)
{
    struct share *share = &state->share;
    uint32_t n_nodes = state->program->n_nodes, n = 0;
    size_t room = 0;
    int64_t *rates_per_s = malloc(((size_t)share->n_resources + 1) * sizeof *rates_per_s);
    enum weir_status status = rates_per_s == NULL ? weir_error_memory(err) : WEIR_OK;

    share->demand_first = malloc(((size_t)n_nodes + 1) * sizeof *share->demand_first);
    if (share->demand_first == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        share->demand_first[i] = n;
        status = array_grow(&share->demands, &room, (size_t)n + share->n_resources + 1, err);
        if (status == WEIR_OK) {
            n += measured_uses(state, i, rates_per_s, share->demands + n);
        }
    }
    if (status == WEIR_OK) {
        share->demand_first[n_nodes] = n;
        state->family_bytes =
            ((size_t)n_nodes * 2 + 1) * sizeof *share->demand_first + room * sizeof *share->demands;
    }
    free(rates_per_s);
    return status;
}

static enum weir_status read_demands(struct contention_state *state, struct weir_error *err)
{
    const struct graph *graph = state->program->graph;
    struct share *share = &state->share;
    uint32_t n_nodes = state->program->n_nodes, n = 0;

    share->demand_first = malloc(((size_t)n_nodes + 1) * sizeof *share->demand_first);
    if (share->demand_first == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        n = 0;
        for (uint32_t i = 0; i < n_nodes; i++) {
            struct graph_node value;

            graph_node(graph, (weir_node){i}, &value);
            share->demand_first[i] = n;
            for (uint32_t j = 0; pass == 1 && j < value.n_uses; j++) {
                share->demands[n + j] = value.uses[j];
            }
            n += value.n_uses;
        }
        share->demand_first[n_nodes] = n;
        if (pass == 0) {
            share->demands = malloc(((size_t)n + 1) * sizeof *share->demands);
            if (share->demands == NULL) {
                return weir_error_memory(err);
            }
        }
    }
    state->family_bytes =
        ((size_t)n_nodes * 2 + 1) * sizeof *share->demand_first + n * sizeof *share->demands;
    return WEIR_OK;
}

/* The set of a node's resources as a string of bits, one character each. */
static void set_of(const struct contention_state *state, uint32_t node, char *bits)
{
    const struct share *share = &state->share;

    memset(bits, '0', share->n_resources);
    for (uint32_t i = share->demand_first[node]; i < share->demand_first[node + 1]; i++) {
        bits[share->demands[i].resource.index] = '1';
    }
}

static enum weir_status find_groups(struct contention_state *state, struct weir_error *err)
{
    struct share *share = &state->share;
    struct names *sets = names_new();
    char *bits = malloc((size_t)share->n_resources + 1);
    enum weir_status status = WEIR_OK;

    state->group_of = malloc(((size_t)state->program->n_nodes + 1) * sizeof *state->group_of);
    if (sets == NULL || bits == NULL || state->group_of == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < state->program->n_nodes && status == WEIR_OK; i++) {
        set_of(state, i, bits);
        status = names_intern(sets, bits, share->n_resources, &state->group_of[i], err);
    }
    if (status == WEIR_OK) {
        state->n_groups = names_count(sets);
        state->groups = calloc((size_t)state->n_groups + 1, sizeof *state->groups);
        share->is_frozen = calloc((size_t)state->n_groups + 1, sizeof *share->is_frozen);
        status =
            state->groups == NULL || share->is_frozen == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    names_free(sets);
    free(bits);
    return status;
}

enum weir_status share_begin(struct contention_state *state, struct weir_error *err)
{
    struct share *share = &state->share;
    const struct graph *graph = state->program->graph;
    bool is_measured = state->measured.family != MEASURED_NONE;
    uint32_t n = graph_n_resources(graph);
    enum weir_status status;

    share->n_resources = n;
    share->capacity_per_s = malloc(((size_t)n + 1) * sizeof *share->capacity_per_s);
    if (share->capacity_per_s == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        share->capacity_per_s[i] = is_measured
                                       ? measured_limit(&state->measured, graph, (weir_resource){i})
                                       : graph_resource(graph, (weir_resource){i})->capacity_per_s;
    }
    status = is_measured ? read_measured(state, err) : read_demands(state, err);
    if (status == WEIR_OK) {
        status = find_groups(state, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    share->wanted_per_s = calloc((size_t)n + 1, sizeof *share->wanted_per_s);
    share->frozen = calloc((size_t)n + 1, sizeof *share->frozen);
    share->open = calloc((size_t)n + 1, sizeof *share->open);
    share->is_full = calloc((size_t)n + 1, sizeof *share->is_full);
    if (share->wanted_per_s == NULL || share->frozen == NULL || share->open == NULL ||
        share->is_full == NULL) {
        return weir_error_memory(err);
    }
    return WEIR_OK;
}

void share_end(struct contention_state *state)
{
    struct share *share = &state->share;

    free(share->running);
    free(share->demands);
    free(share->demand_first);
    free(share->wanted_per_s);
    free(share->capacity_per_s);
    free(share->frozen);
    free(share->open);
    free(share->is_full);
    free(share->is_frozen);
}

static enum weir_status want_more(struct contention_state *state, uint32_t node,
                                  struct weir_error *err)
{
    const struct graph *graph = state->program->graph;
    struct share *share = &state->share;

    for (uint32_t i = share->demand_first[node]; i < share->demand_first[node + 1]; i++) {
        weir_resource resource = share->demands[i].resource;
        int64_t *wanted_per_s = &share->wanted_per_s[resource.index];

        if (__builtin_add_overflow(*wanted_per_s, share->demands[i].rate_per_s, wanted_per_s)) {
            return weir_error_set(err, WEIR_INPUT,
                                  "node %s runs beside others that use resource %s too, and "
                                  "together they ask for more than %" PRId64 " a second; lower "
                                  "their rates",
                                  graph_node_name(graph, (weir_node){node}),
                                  graph_text(graph, graph_resource(graph, resource)->name),
                                  INT64_MAX);
        }
    }
    return WEIR_OK;
}

static void want_less(struct share *share, uint32_t node)
{
    for (uint32_t i = share->demand_first[node]; i < share->demand_first[node + 1]; i++) {
        share->wanted_per_s[share->demands[i].resource.index] -= share->demands[i].rate_per_s;
    }
}

/* Where the node stands in the list of running nodes, or would stand. */
static uint32_t running_at(const struct share *share, uint32_t node)
{
    uint32_t low = 0, high = share->n_running;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (share->running[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

enum weir_status share_add(struct contention_state *state, uint32_t node, struct weir_error *err)
{
    struct share *share = &state->share;
    uint32_t at = running_at(share, node);
    enum weir_status status =
        array_grow(&share->running, &share->running_room, (size_t)share->n_running + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    memmove(share->running + at + 1, share->running + at,
            (share->n_running - at) * sizeof *share->running);
    share->running[at] = node;
    share->n_running++;
    return want_more(state, node, err);
}

void share_remove(struct contention_state *state, uint32_t node)
{
    struct share *share = &state->share;
    uint32_t at = running_at(share, node);

    share->n_running--;
    memmove(share->running + at, share->running + at + 1,
            (share->n_running - at) * sizeof *share->running);
    want_less(share, node);
}

static bool is_any_short(const struct contention_state *state)
{
    for (uint32_t i = 0; i < state->share.n_resources; i++) {
        if (state->share.wanted_per_s[i] > state->share.capacity_per_s[i]) {
            return true;
        }
    }
    return false;
}

/* Sums the demands of frozen nodes times their speed, and of the others, in program order. */
static void sum_demands(struct contention_state *state)
{
    struct share *share = &state->share;

    for (uint32_t i = 0; i < share->n_resources; i++) {
        share->frozen[i] = 0;
        share->open[i] = 0;
    }
    for (uint32_t i = 0; i < share->n_running; i++) {
        uint32_t node = share->running[i], group = state->group_of[node];

        for (uint32_t j = share->demand_first[node]; j < share->demand_first[node + 1]; j++) {
            uint32_t resource = share->demands[j].resource.index;
            double rate = (double)share->demands[j].rate_per_s;

            if (share->is_frozen[group]) {
                share->frozen[resource] += rate * state->groups[group].speed;
            } else {
                share->open[resource] += rate;
            }
        }
    }
}

static double level_of(const struct contention_state *state, uint32_t resource)
{
    const struct share *share = &state->share;

    if (!(share->open[resource] > 0)) {
        return INFINITY;
    }
    return ((double)share->capacity_per_s[resource] - share->frozen[resource]) /
           share->open[resource];
}

/* Freezes the users of every resource at the least level; false when that is 1 or more. */
static bool freeze(struct contention_state *state)
{
    struct share *share = &state->share;
    double least = INFINITY;

    sum_demands(state);
    for (uint32_t i = 0; i < share->n_resources; i++) {
        double level = level_of(state, i);

        least = level < least ? level : least;
    }
    if (!(least < 1)) {
        return false;
    }
    for (uint32_t i = 0; i < share->n_resources; i++) {
        share->is_full[i] = level_of(state, i) == least;
    }
    for (uint32_t i = 0; i < share->n_running; i++) {
        uint32_t node = share->running[i], group = state->group_of[node];

        for (uint32_t j = share->demand_first[node];
             !share->is_frozen[group] && j < share->demand_first[node + 1]; j++) {
            if (share->is_full[share->demands[j].resource.index]) {
                share->is_frozen[group] = true;
                state->groups[group].speed = least;
            }
        }
    }
    return true;
}

void share_speeds(struct contention_state *state)
{
    struct share *share = &state->share;

    for (uint32_t i = 0; i < state->n_clocks; i++) {
        share->is_frozen[state->clocks[i].group] = false;
        state->groups[state->clocks[i].group].speed = 1;
    }
    if (!is_any_short(state)) {
        return;
    }
    while (freeze(state)) {
    }
}
