/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each action costs the makespan, which is the longest way through starts (S) and finishes (F)
 * of steps: into S of a step go its release and what it follows, each with the time from ready to
 * start, and from S to F its length. Without one action's own deviation the ways through it change
 * by that; the others stay, and the longest of those passes over its place in the order by one edge,
 * or ends before it, or begins behind it. */
#include <stdlib.h>
#include <string.h>

#include "replay/deviate_internal.h"

#define NO_WAY (INT64_MIN / 4)

/* The longest ways on from a step, to the end of the run. */
struct onward {
    int64_t from_start_ns;  /* over those that follow its start alone */
    int64_t from_finish_ns; /* over those that follow its finish, or to an end there: 0 or more */
};

struct costing {
    const struct deviating *d;
    struct onward *onward; /* by step */
    uint32_t *place;       /* by step: in the order */
    uint32_t *n_critical;  /* by place: critical steps before it; one more than there are places */
    /* A tree over the critical steps, its leaves in the second half: the longest way that passes over
     * all steps below the place. */
    int64_t *over_ns;
};

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From when the step is ready, through its start, to the end of the run. */
static int64_t from_ready_ns(const struct costing *c, uint32_t s)
{
    const struct step_times *real = &c->d->real[s];
    const struct onward *onward = &c->onward[s];

    return longer(onward->from_start_ns,
                  real->finish_ns - real->start_ns + onward->from_finish_ns) +
           real->start_ns - real->ready_ns;
}

static void find_onward(struct costing *c)
{
    const struct schedule *schedule = c->d->schedule;

    for (uint32_t s = 0; s < schedule->steps.n_steps; s++)
        c->onward[s] = (struct onward){NO_WAY, s < schedule->steps.n_started ? 0 : NO_WAY};
    for (uint32_t i = c->d->order->n_steps; i-- > 0;) {
        uint32_t s = c->d->order->steps[i];
        const struct step *step = &schedule->step[s];
        uint32_t before = c->d->order->before[s];
        int64_t on_ns = from_ready_ns(c, s);

        for (uint32_t w = 0; w < step->n_waits; w++) {
            struct onward *producer = &c->onward[step->waits[w].step];
            int64_t *way =
                step->waits[w].is_from_start ? &producer->from_start_ns : &producer->from_finish_ns;

            *way = longer(*way, step->waits[w].lag_ns + on_ns);
        }
        if (before != WEIR_NONE)
            c->onward[before].from_finish_ns = longer(c->onward[before].from_finish_ns, on_ns);
    }
}

static bool is_critical(const struct costing *c, uint32_t s)
{
    return s < c->d->schedule->steps.n_started &&
           c->d->real[s].ready_ns + from_ready_ns(c, s) == c->d->makespan_ns;
}

/* ---- ways around ---- */

/* A way of that length passes over the places from first up to end. */
static void pass_over(struct costing *c, uint32_t first, uint32_t end, int64_t way_ns)
{
    uint32_t n_leaves = c->n_critical[c->d->order->n_steps];
    uint32_t low, high;

    if (first >= end)
        return;
    low = n_leaves + c->n_critical[first];
    high = n_leaves + c->n_critical[end];
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1) {
            c->over_ns[low] = longer(c->over_ns[low], way_ns);
            low++;
        }
        if (high % 2 == 1) {
            high--;
            c->over_ns[high] = longer(c->over_ns[high], way_ns);
        }
    }
}

/* The longest way around a critical step. */
static int64_t around_ns(const struct costing *c, uint32_t s)
{
    int64_t way_ns = NO_WAY;

    for (uint32_t at = c->n_critical[c->d->order->n_steps] + c->n_critical[c->place[s]]; at > 0;
         at /= 2)
        way_ns = longer(way_ns, c->over_ns[at]);
    return way_ns;
}

static void pass_all(struct costing *c)
{
    const struct schedule *schedule = c->d->schedule;
    uint32_t n_steps = c->d->order->n_steps;

    for (uint32_t s = 0; s < n_steps; s++) {
        const struct step *step = &schedule->step[s];
        uint32_t before = c->d->order->before[s];
        int64_t on_ns = from_ready_ns(c, s);

        pass_over(c, 0, c->place[s], step->release_ns + on_ns);
        if (s < schedule->steps.n_started)
            pass_over(c, c->place[s] + 1, n_steps, c->d->real[s].finish_ns);
        for (uint32_t w = 0; w < step->n_waits; w++) {
            const struct step_times *producer = &c->d->real[step->waits[w].step];
            int64_t ns = step->waits[w].is_from_start ? producer->start_ns : producer->finish_ns;

            pass_over(c, c->place[step->waits[w].step] + 1, c->place[s],
                      ns + step->waits[w].lag_ns + on_ns);
        }
        if (before != WEIR_NONE)
            pass_over(c, c->place[before] + 1, c->place[s], c->d->real[before].finish_ns + on_ns);
    }
}

static enum weir_status find_around(struct costing *c, struct weir_error *err)
{
    size_t n_places;

    for (uint32_t i = 0; i < c->d->order->n_steps; i++) {
        c->place[c->d->order->steps[i]] = i;
        c->n_critical[i + 1] = c->n_critical[i] + is_critical(c, c->d->order->steps[i]);
    }
    n_places = 2 * (size_t)c->n_critical[c->d->order->n_steps];
    c->over_ns = malloc((n_places + 1) * sizeof *c->over_ns);
    if (c->over_ns == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < n_places; i++)
        c->over_ns[i] = NO_WAY;
    pass_all(c);
    return WEIR_OK;
}

/* ---- costs ---- */

static int64_t cost_of(const struct costing *c, uint32_t s)
{
    const struct step_times *real = &c->d->real[s];
    const struct step_times *planned = &c->d->planned[s];
    const struct onward *onward = &c->onward[s];
    int64_t start_ns = real->ready_ns + planned->start_ns - planned->ready_ns;
    int64_t through_ns =
        longer(start_ns + onward->from_start_ns,
               start_ns + planned->finish_ns - planned->start_ns + onward->from_finish_ns);
    int64_t other_ns = is_critical(c, s) ? around_ns(c, s) : c->d->makespan_ns;

    return c->d->makespan_ns - longer(through_ns, other_ns);
}

enum weir_status deviate_cost(const struct deviating *d, struct deviate_action *actions,
                              struct weir_error *err)
{
    size_t n = d->schedule->steps.n_steps + (size_t)1;
    struct costing c = {.d = d,
                        .onward = malloc(n * sizeof *c.onward),
                        .place = malloc(n * sizeof *c.place),
                        .n_critical = calloc(n, sizeof *c.n_critical)};
    enum weir_status status = WEIR_OK;

    if (c.onward == NULL || c.place == NULL || c.n_critical == NULL) {
        status = weir_error_memory(err);
    } else {
        find_onward(&c);
        status = find_around(&c, err);
    }
    for (uint32_t s = 0; s < d->schedule->steps.n_started && status == WEIR_OK; s++)
        actions[s].cost_ns = cost_of(&c, s);
    free(c.onward);
    free(c.place);
    free(c.n_critical);
    free(c.over_ns);
    return status;
}
