/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With ready, avail = max(ready, submitted), start s and finish e of the replay, and primes for the
 * plan, in which nobody has to come to an action (avail' = ready'):
 *
 *     dependency = ready - ready'             queue   = (s - avail) - (s' - ready')
 *     submission = avail - ready, 0 or more   stretch = (e - s) - (e' - s')
 *
 * The four add up to e - e' whatever the times are. */
#include "replay/deviate.h"

#include <stdlib.h>

#include "replay/deviate_internal.h"

const char *deviate_cause_name(enum deviate_cause cause)
{
    switch (cause) {
    case DEVIATE_BEGINS:
        return "begin";
    case DEVIATE_RELEASE:
        return "release";
    case DEVIATE_PREDECESSOR:
        return "predecessor";
    case DEVIATE_CAPACITY:
        return "capacity";
    case DEVIATE_ENGINE:
        return "engine";
    case DEVIATE_INSERTED:
        return "inserted";
    }
    return "";
}

static struct deviation split(const struct step_times *real, const struct step_times *planned,
                              int64_t submit_ns)
{
    int64_t avail_ns = submit_ns > real->ready_ns ? submit_ns : real->ready_ns;

    return (struct deviation){
        .dependency_ns = real->ready_ns - planned->ready_ns,
        .submission_ns = avail_ns - real->ready_ns,
        .queue_ns = real->start_ns - avail_ns - (planned->start_ns - planned->ready_ns),
        .stretch_ns = real->finish_ns - real->start_ns - (planned->finish_ns - planned->start_ns)};
}

/* Steps are in the order of the plan's starts. */
static void place_planned(const struct schedule *schedule, struct deviate_action *actions,
                          uint32_t *n_placed)
{
    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        if (schedule->step[s].queue != STEP_NO_QUEUE)
            actions[s].planned_position = n_placed[schedule->step[s].queue]++;
    }
}

static void place_real(const struct schedule *schedule, const weir_node *order, uint32_t n_started,
                       struct deviate_action *actions, uint32_t *n_placed)
{
    for (uint32_t i = 0; i < n_started; i++) {
        uint32_t s = schedule->steps.step_of[order[i].index];

        if (schedule->step[s].queue != STEP_NO_QUEUE)
            actions[s].position = n_placed[schedule->step[s].queue]++;
    }
}

static enum weir_status place(const struct schedule *schedule, const struct timeline *timeline,
                              struct deviate_action *actions, struct weir_error *err)
{
    uint32_t planned[LANES_MOST] = {0};
    uint32_t real[LANES_MOST] = {0};
    weir_node *order = NULL;
    uint32_t n_started;
    enum weir_status status = timeline_order(timeline, &order, &n_started, err);

    if (status != WEIR_OK)
        return status;
    place_planned(schedule, actions, planned);
    place_real(schedule, order, n_started, actions, real);
    free(order);
    return WEIR_OK;
}

static enum weir_status find(const struct deviating *d, const struct timeline *timeline,
                             const int64_t *submit_ns, struct arena *arena, struct deviate *out,
                             struct weir_error *err)
{
    enum weir_status status;

    for (uint32_t s = 0; s < d->schedule->steps.n_started; s++) {
        out->actions[s].submit_ns = submit_ns[s];
        out->actions[s].deviation = split(&d->real[s], &d->planned[s], submit_ns[s]);
    }
    status = place(d->schedule, timeline, out->actions, err);
    if (status == WEIR_OK)
        status = deviate_path(d, arena, out, err);
    return status == WEIR_OK ? deviate_cost(d, out->actions, err) : status;
}

enum weir_status deviate_find(const struct schedule *schedule, const struct step_order *order,
                              const struct timeline *timeline, const struct step_times *times,
                              const int64_t *submit_ns, struct arena *arena, struct deviate *out,
                              struct weir_error *err)
{
    struct step_times *planned = malloc((schedule->steps.n_steps + (size_t)1) * sizeof *planned);
    struct deviate made = {.actions =
                               arena_array(arena, schedule->steps.n_started, sizeof *made.actions)};
    const struct deviating d = {.schedule = schedule,
                                .order = order,
                                .real = times,
                                .planned = planned,
                                .makespan_ns = timeline->makespan_ns};
    enum weir_status status =
        planned == NULL || made.actions == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK) {
        times_find(schedule, order, schedule->plan, schedule->scale_time, planned);
        status = find(&d, timeline, submit_ns, arena, &made, err);
    }
    free(planned);
    if (status == WEIR_OK)
        *out = made;
    return status;
}
