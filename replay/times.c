/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step that does not run has no times of its own: they follow from what it follows, which may be
 * such steps too. So all are taken in an order that respects every wait and every queue. */
#include "replay/times.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

static void find_before(const struct schedule *schedule, uint32_t *before)
{
    uint32_t last[LANES_MOST];

    memset(last, 0xff, sizeof last);
    for (uint32_t s = 0; s < schedule->steps.n_steps; s++) {
        uint32_t queue = schedule->step[s].queue;

        before[s] = WEIR_NONE;
        if (queue == STEP_NO_QUEUE || s >= schedule->steps.n_started)
            continue;
        before[s] = last[queue];
        last[queue] = s;
    }
}

/* A walk that goes from a step to what it follows, before the step is taken. */
struct walk {
    const struct schedule *schedule;
    struct step_order *order;
    bool *is_met;     /* by step */
    uint32_t *stack;  /* steps on the way */
    uint32_t *looked; /* by step: at how many of what it follows the walk has looked */
};

/* The next of what the step follows that the walk has not met; WEIR_NONE */
static uint32_t next_unmet(struct walk *walk, uint32_t s)
{
    const struct step *step = &walk->schedule->step[s];

    while (walk->looked[s] <= step->n_waits) {
        uint32_t at = walk->looked[s]++;
        uint32_t found = at == step->n_waits ? walk->order->before[s] : step->waits[at].step;

        if (found != WEIR_NONE && !walk->is_met[found])
            return found;
    }
    return WEIR_NONE;
}

static void take_with_all_before(struct walk *walk, uint32_t first)
{
    uint32_t depth = 0;

    if (walk->is_met[first])
        return;
    walk->is_met[first] = true;
    walk->stack[depth++] = first;
    while (depth > 0) {
        uint32_t s = walk->stack[depth - 1];
        uint32_t found = next_unmet(walk, s);

        if (found != WEIR_NONE) {
            walk->is_met[found] = true;
            walk->stack[depth++] = found;
        } else {
            walk->order->steps[walk->order->n_steps++] = s;
            depth--;
        }
    }
}

enum weir_status step_order_make(const struct schedule *schedule, struct step_order *out,
                                 struct weir_error *err)
{
    uint32_t n_steps = schedule->steps.n_steps;
    size_t n = n_steps + (size_t)1;
    struct step_order order = {.before = malloc(n * sizeof *order.before),
                               .steps = malloc(n * sizeof *order.steps)};
    struct walk walk = {.schedule = schedule,
                        .order = &order,
                        .is_met = calloc(n, sizeof *walk.is_met),
                        .stack = malloc(n * sizeof *walk.stack),
                        .looked = calloc(n, sizeof *walk.looked)};
    bool has_room = order.before != NULL && order.steps != NULL && walk.is_met != NULL &&
                    walk.stack != NULL && walk.looked != NULL;

    if (has_room) {
        find_before(schedule, order.before);
        for (uint32_t s = 0; s < n_steps; s++)
            take_with_all_before(&walk, s);
        *out = order;
    } else {
        step_order_free(&order);
    }
    free(walk.is_met);
    free(walk.stack);
    free(walk.looked);
    return has_room ? WEIR_OK : weir_error_memory(err);
}

void step_order_free(struct step_order *order)
{
    free(order->before);
    free(order->steps);
    *order = (struct step_order){NULL, NULL, 0};
}

/* ---- times ---- */

static void follow(struct step_times *out, uint32_t producer, bool is_from_start, int64_t ns)
{
    if (ns <= out->ready_ns)
        return;
    out->ready_ns = ns;
    out->bound_by = producer;
    out->is_from_start = is_from_start;
}

/* All that the step follows has its times. */
static void find_ready(const struct schedule *schedule, const struct step_order *order, uint32_t s,
                       struct step_times *times)
{
    const struct step *step = &schedule->step[s];
    uint32_t before = order->before[s];

    times[s].ready_ns = step->release_ns;
    times[s].bound_by = WEIR_NONE;
    times[s].is_from_start = false;
    for (uint32_t w = 0; w < step->n_waits; w++) {
        const struct step_wait *wait = &step->waits[w];
        const struct step_times *producer = &times[wait->step];

        follow(&times[s], wait->step, wait->is_from_start,
               wait->lag_ns + (wait->is_from_start ? producer->start_ns : producer->finish_ns));
    }
    if (before != WEIR_NONE)
        follow(&times[s], before, false, times[before].finish_ns);
}

void times_find(const struct schedule *schedule, const struct step_order *order,
                const struct timeline *timeline, double scale_time, struct step_times *out)
{
    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        const struct timeline_span *span = &timeline->spans[schedule->steps.node_of[s]];

        out[s].start_ns = waits_scaled_ns(span->start_ns, scale_time);
        out[s].finish_ns = waits_scaled_ns(span->finish_ns, scale_time);
    }
    for (uint32_t i = 0; i < order->n_steps; i++) {
        uint32_t s = order->steps[i];

        find_ready(schedule, order, s, out);
        if (s >= schedule->steps.n_started)
            out[s].start_ns = out[s].finish_ns = out[s].ready_ns;
    }
}
