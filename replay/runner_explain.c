/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why the run took as long as it did, and what is said of it as a whole. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/runner_internal.h"

#define LAUNCH_BOUND_RATIO 0.1 /* of the makespan */

/* ---- of the run as a whole ---- */

/* @param what NULL: memory ran out */
static enum weir_status say(struct replay_result *result, const char *what, int64_t cost_ns,
                            struct weir_error *err)
{
    return what == NULL
               ? weir_error_memory(err)
               : schedule_deviates(result->schedule, (weir_node){WEIR_NONE}, what, cost_ns, err);
}

/* A run that timing disturbs says so. */
static enum weir_status remark_timing(struct replay_result *result, struct weir_error *err)
{
    const struct replay_timing *timing = &result->timing;
    double more = timing->ratio - 1;
    int64_t cost_ns = llround(more * (double)timing->untimed_ns);
    const char *first = timing->disturbance == REPLAY_PERTURBED ? "" : "perhaps ";
    const char *what;

    if (timing->n_pairs == 0 || timing->disturbance == REPLAY_UNDISTURBED ||
        timing->ratio <= REPLAY_PERTURBED_RATIO)
        return WEIR_OK;
    if (timing->has_interval)
        what = schedule_text(result->schedule,
                             "%sperturbed: timing makes the run %.1f %% longer than it is without "
                             "(95 %%: %.1f %% to %.1f %%, by %" PRIu32
                             " pairs of runs); its times are of a run that is timed",
                             first, 100 * more, 100 * (timing->low - 1), 100 * (timing->high - 1),
                             timing->n_pairs);
    else
        what = schedule_text(result->schedule,
                             "%sperturbed: timing makes the run %.1f %% longer than it is without, "
                             "by %" PRIu32 " pairs of runs, too few to know",
                             first, 100 * more, timing->n_pairs);
    return say(result, what, cost_ns, err);
}

/* One line of what the device says is one deviation. */
static enum weir_status remark_device(struct replay_result *result, const char *remark,
                                      struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    while (remark != NULL && *remark != '\0' && status == WEIR_OK) {
        int length = (int)strcspn(remark, "\n");

        status = say(result, schedule_text(result->schedule, "%.*s", length, remark), -1, err);
        remark += length + (remark[length] == '\n');
    }
    return status;
}

enum weir_status runner_remark(struct replay_result *result, const struct runner_pass *pass,
                               struct weir_error *err)
{
    enum weir_status status = remark_device(result, pass->remark, err);

    return status == WEIR_OK ? remark_timing(result, err) : status;
}

/* A run that waits for its actions to be handed over says little of the device. */
static enum weir_status judge_launches(struct replay_result *result, struct weir_error *err)
{
    int64_t submission_ns = result->deviate.makespan.submission_ns;
    double part = (double)submission_ns / (double)(result->timeline->makespan_ns + 1);
    const char *what;

    if (!result->ops->has_modes || part <= LAUNCH_BOUND_RATIO)
        return WEIR_OK;
    what =
        schedule_text(result->schedule,
                      "launch-bound: for %.0f %% of the run its critical chain waits for actions "
                      "to be handed over",
                      100 * part);
    return say(result, what, submission_ns, err);
}

/* ---- of the plan ---- */

/* Of the pass whose timeline is the run's. */
enum weir_status runner_explain(struct replay_result *result, const struct runner_pass *pass,
                                struct weir_error *err)
{
    struct schedule *schedule = result->schedule;
    struct step_times *times = malloc((schedule->steps.n_steps + (size_t)1) * sizeof *times);
    struct step_order order = {NULL, NULL, 0};
    enum weir_status status = times == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK)
        status = step_order_make(schedule, &order, err);
    if (status == WEIR_OK) {
        times_find(schedule, &order, result->timeline, 1, times);
        status = account_complete(schedule, times, result->timeline, &result->overhead, err);
    }
    if (status == WEIR_OK)
        status = deviate_find(schedule, &order, result->timeline, times, pass->submit_ns,
                              &result->arena, &result->deviate, err);
    if (status == WEIR_OK)
        status = judge_launches(result, err);
    if (status == WEIR_OK)
        status = deviations_list(schedule, result->timeline, pass->processor_ns, &result->deviate,
                                 &result->arena, &result->deviations, err);
    result->n_deviations_kept = result->deviations.n_list < REPLAY_DEVIATIONS
                                    ? result->deviations.n_list
                                    : REPLAY_DEVIATIONS;
    step_order_free(&order);
    free(times);
    return status;
}
