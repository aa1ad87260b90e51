/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it costs to time the actions of a run. */
#include <stdlib.h>

#include "replay/runner_internal.h"

#define PERTURBED_RATIO 1.02 /* of a makespan that is timed to one that is not */

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The same runs again without timing them: what timing costs. */
enum weir_status runner_run_bare(struct runner *r, struct weir_error *err)
{
    uint32_t n_runs = r->options->n_warm_up + r->options->n_repeats;
    int64_t *makespans_ns = malloc(((size_t)r->options->n_repeats + 1) * sizeof *makespans_ns);
    struct timeline *timeline = timeline_new(r->result->schedule->plan->n_nodes,
                                             graph_n_domains(r->result->schedule->graph));
    enum weir_status status =
        makespans_ns == NULL || timeline == NULL ? weir_error_memory(err) : WEIR_OK;
    uint32_t n = 0;

    r->setup.is_bare = true;
    for (uint32_t i = 0; i < n_runs && status == WEIR_OK; i++) {
        status = r->device == NULL ? runner_open(r, err) : WEIR_OK;
        if (status == WEIR_OK)
            status = r->result->ops->drain(r->device, timeline, err);
        if (status == WEIR_OK && i >= r->options->n_warm_up)
            makespans_ns[n++] = timeline->makespan_ns;
        if (r->options->progress != NULL)
            r->options->progress(r->options->progress_arg, 1);
        if (r->options->is_cold)
            runner_close(r);
    }
    runner_close(r);
    r->setup.is_bare = false;
    if (status == WEIR_OK) {
        qsort(makespans_ns, n, sizeof *makespans_ns, compare_ns);
        r->result->bare_ns = makespans_ns[(n - 1) / 2];
    }
    free(makespans_ns);
    timeline_free(timeline);
    return status;
}

/* A run that timing disturbs says so. */
enum weir_status runner_judge_timing(const struct runner *r, struct weir_error *err)
{
    int64_t timed_ns = r->result->timeline->makespan_ns, bare_ns = r->result->bare_ns;
    const char *what;

    if (bare_ns <= 0 || (double)timed_ns <= PERTURBED_RATIO * (double)bare_ns)
        return WEIR_OK;
    what = schedule_text(r->result->schedule,
                         "perturbed: timing makes the run %.1f %% longer than it is without; its "
                         "times are of a run that is timed",
                         100 * ((double)timed_ns / (double)bare_ns - 1));
    return what == NULL ? weir_error_memory(err)
                        : schedule_deviates(r->result->schedule, (weir_node){WEIR_NONE}, what,
                                            timed_ns - bare_ns, err);
}
