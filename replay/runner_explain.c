/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why the run took as long as it did, and what is said of it as a whole. */
#include <stdlib.h>

#include "replay/runner_internal.h"

#define LAUNCH_BOUND_RATIO 0.1 /* of the makespan */

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
    return what == NULL ? weir_error_memory(err)
                        : schedule_deviates(result->schedule, (weir_node){WEIR_NONE}, what,
                                            submission_ns, err);
}

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

/* What the device says of its times goes with the run. */
enum weir_status runner_take_remark(struct runner *r, struct weir_error *err)
{
    const char *kept;

    if (r->remark[0] == '\0')
        return WEIR_OK;
    kept = schedule_text(r->result->schedule, "%s", r->remark);
    return kept == NULL
               ? weir_error_memory(err)
               : schedule_deviates(r->result->schedule, (weir_node){WEIR_NONE}, kept, -1, err);
}
