/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep over the plan: a queue is busy while an action that works runs on it. */
#include "replay/sharing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A queue begins to work, or ends. */
struct change {
    int64_t at_ns;
    int by; /* 1 or -1 */
};

/* Ends before beginnings of the same instant. */
static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

static bool is_working(const struct step *step)
{
    return step->queue != STEP_NO_QUEUE && step->amount > 0 && step->action != STEP_MARK &&
           step->action != STEP_PASS;
}

/* @return how many changes */
static size_t list_changes(const struct schedule *schedule, struct change *changes)
{
    size_t n = 0;

    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        const struct timeline_span *span = &schedule->plan->spans[schedule->steps.node_of[s]];

        if (!is_working(&schedule->step[s]) || span->finish_ns <= span->start_ns)
            continue;
        changes[n++] = (struct change){span->start_ns, 1};
        changes[n++] = (struct change){span->finish_ns, -1};
    }
    return n;
}

static void sweep(const struct change *changes, size_t n, uint32_t n_processors, double scale_time,
                  struct sharing *out)
{
    double shared_ns = 0;
    double cost_ns = 0;
    uint32_t n_busy = 0;

    for (size_t i = 0; i < n; i++) {
        double for_ns = i == 0 ? 0 : (double)(changes[i].at_ns - changes[i - 1].at_ns);

        if (n_busy > n_processors) {
            shared_ns += for_ns;
            cost_ns += for_ns * ((double)n_busy / n_processors - 1);
        }
        n_busy = changes[i].by > 0 ? n_busy + 1 : n_busy - 1;
        out->busy_queues = n_busy > out->busy_queues ? n_busy : out->busy_queues;
    }
    out->shared_ns = (int64_t)fmin(shared_ns * scale_time, 9e18);
    out->cost_ns = (int64_t)fmin(cost_ns * scale_time, 9e18);
    out->is_time_shared = out->busy_queues > n_processors;
}

enum weir_status sharing_find(const struct schedule *schedule, uint32_t n_processors,
                              struct sharing *out, struct weir_error *err)
{
    struct change *changes = malloc((2 * (size_t)schedule->steps.n_started + 1) * sizeof *changes);
    size_t n;

    if (changes == NULL)
        return weir_error_memory(err);
    n = list_changes(schedule, changes);
    qsort(changes, n, sizeof *changes, compare_changes);
    *out = (struct sharing){.busy_queues = 0};
    sweep(changes, n, n_processors, schedule->scale_time, out);
    free(changes);
    return WEIR_OK;
}

enum weir_status sharing_name(struct schedule *schedule, uint32_t n_processors, struct sharing *out,
                              struct weir_error *err)
{
    const char *what;
    enum weir_status status = sharing_find(schedule, n_processors, out, err);

    if (status != WEIR_OK || !out->is_time_shared)
        return status;
    what = schedule_text(schedule,
                         "%" PRIu32 " busy queues on %" PRIu32
                         " processors: the replay is time-shared for %.1f %% of the plan, and its "
                         "times say little there; put fewer engines to work at once, or replay it "
                         "where there are more processors",
                         out->busy_queues, n_processors,
                         100 * (double)out->shared_ns / (double)schedule->makespan_ns);
    return what == NULL
               ? weir_error_memory(err)
               : schedule_deviates(schedule, (weir_node){WEIR_NONE}, what, out->cost_ns, err);
}
