/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roofline that a machine was fitted to. A group is a set of demands. With d the part of a
 * resource's capacity that a node of the group asks for, n * d summed over the groups that run, in the
 * order of their first nodes in the program, D the sum, and m = D / eta where that is above 1, else 1:
 *
 *     s = 1 + (d m)^p - (d m alone)^p + ...  over the resources that the group uses, as declared
 *     kappa = s^(1/p)
 *
 * so that a node that runs alone has a kappa of exactly 1. p is a whole number of quarters: powers are
 * products and square roots, and the root is found by Newton's rule from above, so that every machine
 * with IEEE doubles finds the same to the last bit. The order of operations is part of the definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "sim/contention_internal.h"

/* 1 multiplied by x as often as p has whole parts, then by its roots for the quarters left. */
static double power(double x, uint32_t quarters)
{
    double product = 1, root = sqrt(x);

    for (uint32_t i = 0; i < quarters / MEASURED_QUARTERS; i++) {
        product *= x;
    }
    product *= quarters & 2 ? root : 1;
    return product * (quarters & 1 ? sqrt(root) : 1);
}

/* The k with k^p = s, s at least 1: from a k that is no less, down until it no longer falls. */
static double power_root(double s, uint32_t quarters)
{
    double p = (double)quarters / MEASURED_QUARTERS, k = s;

    if (quarters == MEASURED_QUARTERS) {
        return s;
    }
    if (!(s < 1e150)) {
        return INFINITY;
    }
    for (uint32_t left = quarters; left >= 2 * MEASURED_QUARTERS; left /= 2) {
        k = sqrt(k);
    }
    for (;;) {
        double reached = power(k, quarters);
        double next = k - (reached - s) * k / (p * reached);

        if (!(next < k)) {
            return k;
        }
        k = next;
    }
}

/* --- groups ---------------------------------------------------------------------------------- */

/* The rates as a text, so that equal ones have one number. */
static void text_of(const int64_t *rates_per_s, uint32_t n, char *text)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t rate = (uint64_t)rates_per_s[i];

        for (int digit = 0; digit < 16; digit++, rate >>= 4) {
            *text++ = (char)('a' + (rate & 15));
        }
    }
}

static enum weir_status add_parts(struct contention_state *state, const int64_t *rates_per_s,
                                  size_t *room, struct weir_error *err)
{
    const struct graph *graph = state->program->graph;
    uint32_t n = state->measured.n_resources;
    double *parts;
    enum weir_status status =
        array_grow(&state->roofline.parts, room, ((size_t)state->n_groups + 1) * n + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    parts = state->roofline.parts + (size_t)state->n_groups * n;
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = (double)rates_per_s[i] /
                   (double)graph_resource(graph, (weir_resource){i})->capacity_per_s;
    }
    state->n_groups++;
    return WEIR_OK;
}

static enum weir_status find_groups(struct contention_state *state, struct weir_error *err)
{
    uint32_t n = state->measured.n_resources, n_nodes = state->program->n_nodes;
    struct names *sets = names_new();
    int64_t *rates_per_s = malloc(((size_t)n + 1) * sizeof *rates_per_s);
    char *text = malloc((size_t)n * 16 + 1);
    size_t room = 0;
    enum weir_status status = WEIR_OK;

    state->group_of = malloc(((size_t)n_nodes + 1) * sizeof *state->group_of);
    if (sets == NULL || rates_per_s == NULL || text == NULL || state->group_of == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        measured_rates(&state->measured, state->program->graph, (weir_node){i}, rates_per_s);
        text_of(rates_per_s, n, text);
        status = names_intern(sets, text, (size_t)n * 16, &state->group_of[i], err);
        if (status == WEIR_OK && state->group_of[i] == state->n_groups) {
            status = add_parts(state, rates_per_s, &room, err);
        }
    }
    state->family_bytes = n_nodes * sizeof *state->group_of + room * sizeof *state->roofline.parts;
    names_free(sets);
    free(rates_per_s);
    free(text);
    return status;
}

/* How many times over the resource is asked for. */
static double stretch_of(double wanted, double eta)
{
    double times = wanted / eta;

    return times > 1 ? times : 1;
}

static void find_alone(struct contention_state *state)
{
    struct roofline *roofline = &state->roofline;
    uint32_t n = state->measured.n_resources;

    for (size_t i = 0; i < (size_t)state->n_groups * n; i++) {
        double part = roofline->parts[i];

        roofline->alone[i] = power(part * stretch_of(part, state->measured.eta[i % n]),
                                   state->measured.power_quarters);
    }
}

enum weir_status roofline_begin(struct contention_state *state, struct weir_error *err)
{
    struct roofline *roofline = &state->roofline;
    uint32_t n = state->measured.n_resources;
    enum weir_status status = find_groups(state, err);

    if (status != WEIR_OK) {
        return status;
    }
    state->groups = calloc((size_t)state->n_groups + 1, sizeof *state->groups);
    roofline->alone = malloc(((size_t)state->n_groups * n + 1) * sizeof *roofline->alone);
    roofline->running = malloc(((size_t)state->n_groups + 1) * sizeof *roofline->running);
    roofline->stretch = malloc(((size_t)n + 1) * sizeof *roofline->stretch);
    if (state->groups == NULL || roofline->alone == NULL || roofline->running == NULL ||
        roofline->stretch == NULL) {
        return weir_error_memory(err);
    }
    find_alone(state);
    return WEIR_OK;
}

void roofline_end(struct contention_state *state)
{
    free(state->roofline.parts);
    free(state->roofline.alone);
    free(state->roofline.running);
    free(state->roofline.stretch);
}

/* --- speeds ---------------------------------------------------------------------------------- */

/* Lists the groups that run in rising order. Most stood in the list before. */
static void list_running(struct contention_state *state)
{
    struct roofline *roofline = &state->roofline;
    uint32_t n = 0;

    for (uint32_t i = 0; i < roofline->n_running; i++) {
        uint32_t group = roofline->running[i];

        if (state->groups[group].n_running > 0) {
            roofline->running[n++] = group;
            state->groups[group].has_changed = true; /* it stands in the list */
        }
    }
    for (uint32_t i = 0; i < state->n_clocks; i++) {
        uint32_t group = state->clocks[i].group, at = n;

        if (state->groups[group].has_changed) {
            continue;
        }
        for (; at > 0 && roofline->running[at - 1] > group; at--) {
            roofline->running[at] = roofline->running[at - 1];
        }
        roofline->running[at] = group;
        n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        state->groups[roofline->running[i]].has_changed = false;
    }
    roofline->n_running = n;
}

static void sum_demands(struct contention_state *state)
{
    struct roofline *roofline = &state->roofline;
    uint32_t n = state->measured.n_resources;

    for (uint32_t i = 0; i < n; i++) {
        double wanted = 0;

        for (uint32_t j = 0; j < roofline->n_running; j++) {
            uint32_t group = roofline->running[j];

            wanted +=
                (double)state->groups[group].n_running * roofline->parts[(size_t)group * n + i];
        }
        roofline->stretch[i] = stretch_of(wanted, state->measured.eta[i]);
    }
}

void roofline_speeds(struct contention_state *state)
{
    struct roofline *roofline = &state->roofline;
    uint32_t n = state->measured.n_resources, quarters = state->measured.power_quarters;

    list_running(state);
    sum_demands(state);
    for (uint32_t i = 0; i < roofline->n_running; i++) {
        uint32_t group = roofline->running[i];
        const double *parts = roofline->parts + (size_t)group * n;
        const double *alone = roofline->alone + (size_t)group * n;
        double s = 1;

        for (uint32_t j = 0; j < n; j++) {
            if (parts[j] > 0) {
                s += power(parts[j] * roofline->stretch[j], quarters) - alone[j];
            }
        }
        state->groups[group].speed = 1.0 / power_root(s, quarters);
    }
}
