/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small plans of equal actions, and what their spans say. Where the thread lost its processor in the
 * middle, the time that it had one stands for the duration: what other programs do is not what the
 * device does. How often that was tells how far the figure can be trusted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/measure_internal.h"

#define PREEMPTED_RATIO 1.05 /* of wall to processor time */
#define PREEMPTED_NS 5000    /* and at least that much lost */
#define DEADLINE_NS 60000000000

bool measure_is_preempted(int64_t wall_ns, int64_t processor_ns)
{
    return processor_ns >= 0 && wall_ns - processor_ns > PREEMPTED_NS &&
           (double)wall_ns > PREEMPTED_RATIO * (double)processor_ns;
}

void trial_close(struct trial *trial)
{
    if (trial->device != NULL)
        trial->ops->close(trial->device);
    timeline_free(trial->timeline);
}

enum weir_status trial_open(struct trial *trial, const struct device_ops *ops, uint32_t n_queues,
                            uint32_t n_steps, const struct device_buffer *buffers,
                            uint32_t n_buffers, struct weir_error *err)
{
    int64_t memory_bytes = 1 << 20;

    memset(trial, 0, sizeof *trial);
    for (uint32_t b = 0; b < n_buffers; b++)
        memory_bytes += buffers[b].size_bytes + (4 << 20); /* and how a device rounds */
    trial->ops = ops;
    trial->setup = (struct device_setup){.n_queues = n_queues,
                                         .n_steps = n_steps,
                                         .n_buffers = n_buffers,
                                         .buffers = buffers,
                                         .deadline_ns = DEADLINE_NS,
                                         .memory_bytes = memory_bytes,
                                         .host_memory_bytes = memory_bytes};
    trial->timeline = timeline_new(n_steps, 1);
    if (trial->timeline == NULL)
        return weir_error_memory(err);
    return ops->open(&trial->setup, &trial->device, err);
}

enum weir_status trial_add(struct trial *trial, const struct trial_step *added,
                           struct weir_error *err)
{
    struct mechanism how;
    const struct step_buffer source = {.buffer = added->source, .size_bytes = added->window_bytes};
    const struct step_buffer target = {.buffer = added->target, .size_bytes = added->window_bytes};
    struct step step = {.node = {trial->n_steps},
                        .queue = added->queue,
                        .action = added->action,
                        .amount = added->amount,
                        .waits = added->waits,
                        .n_waits = added->n_waits};

    if (added->action == STEP_COPY) {
        step.reads = &source;
        step.writes = &target;
        step.n_reads = 1;
        step.n_writes = 1;
        step.n_copied = 1;
    }
    trial->n_steps++;
    return trial->ops->submit(trial->device, &step, &how, err);
}

int64_t trial_duration_ns(const struct trial *trial, uint32_t step)
{
    const struct timeline_span *span = &trial->timeline->spans[step];

    return span->finish_ns > span->start_ns ? span->finish_ns - span->start_ns : 1;
}

double trial_sample_ns(const struct trial *trial, uint32_t step, uint32_t *n_preempted)
{
    int64_t wall_ns = trial_duration_ns(trial, step);
    int64_t processor_ns = trial->ops->processor_ns(trial->device, step);

    if (!measure_is_preempted(wall_ns, processor_ns))
        return (double)wall_ns;
    ++*n_preempted;
    return (double)processor_ns;
}

struct device_buffer trial_buffer(int64_t size_bytes, struct place place)
{
    return (struct device_buffer){.size_bytes = size_bytes,
                                  .is_host_memory = place.is_host_memory,
                                  .object = {WEIR_NONE},
                                  .is_initial = true,
                                  .allocate_step = WEIR_NONE,
                                  .reclaim_step = WEIR_NONE};
}

/* ---- actions ---- */

uint32_t action_buffers(const struct measure_action *action, struct device_buffer out[2])
{
    if (action->action != STEP_COPY)
        return 0;
    out[0] = trial_buffer(action->window_bytes, action->from);
    out[1] = trial_buffer(action->window_bytes, action->to);
    return 2;
}

struct trial_step action_step(const struct measure_action *action, uint32_t queue, int64_t amount,
                              uint32_t first_buffer)
{
    return (struct trial_step){.action = action->action,
                               .queue = queue,
                               .amount = amount,
                               .window_bytes = action->window_bytes,
                               .source = first_buffer,
                               .target = first_buffer + 1};
}

/* ---- lines ---- */

/* What can be said of any line. */
static struct measure_rate rate_of(const struct fit_line *line, uint32_t n, uint32_t n_preempted)
{
    return (struct measure_rate){.fixed_ns = line->intercept > 0 ? line->intercept : 0,
                                 .unit_ns = line->slope,
                                 .noise = {.spread_ratio = line->spread_ratio,
                                           .preempted_ratio = (double)n_preempted / n,
                                           .n_samples = n}};
}

static void take_interval(struct measure_rate *rate, const struct fit_line_interval *interval,
                          const double *x, uint32_t n)
{
    double least = x[0];
    double unit_width;
    double fixed_width;

    for (uint32_t i = 1; i < n; i++)
        least = fmin(least, x[i]);
    rate->unit_range_ns = interval->slope;
    rate->fixed_range_ns =
        (struct fit_interval){fmax(0, interval->intercept.low), fmax(0, interval->intercept.high)};
    unit_width = (interval->slope.high - interval->slope.low) / 2 / rate->unit_ns;
    fixed_width = (rate->fixed_range_ns.high - rate->fixed_range_ns.low) / 2 /
                  (rate->fixed_ns + least * rate->unit_ns);
    rate->noise.width_ratio = fmax(unit_width, fixed_width);
}

/* More work takes more time, or there is no line. */
static enum weir_status fit(const double *x, const double *y, uint32_t n, uint32_t n_per_block,
                            uint32_t n_preempted, struct measure_rate *out, struct weir_error *err)
{
    struct fit_line line = {.slope = 0};
    struct fit_line_interval interval = {.slope = {0, 0}};
    enum weir_status status = fit_line(x, y, n, &line, err);

    memset(out, 0, sizeof *out);
    if (status == WEIR_OK && line.slope > 0 && n_per_block > 0)
        status = fit_line_interval(x, y, n, n_per_block, &line, &interval, err);
    if (status == WEIR_INPUT || (status == WEIR_OK && !(line.slope > 0)))
        return WEIR_OK;
    if (status != WEIR_OK)
        return status;
    *out = rate_of(&line, n, n_preempted);
    if (n_per_block > 0)
        take_interval(out, &interval, x, n);
    return WEIR_OK;
}

enum weir_status trial_fit(const struct trial *trial, uint32_t first, const int64_t *amounts,
                           uint32_t n, uint32_t n_per_block, struct measure_rate *out,
                           struct weir_error *err)
{
    double *x = malloc((n + (size_t)1) * sizeof *x);
    double *y = malloc((n + (size_t)1) * sizeof *y);
    uint32_t n_preempted = 0;
    enum weir_status status = WEIR_OK;

    if (x == NULL || y == NULL)
        status = weir_error_memory(err);
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        x[i] = (double)amounts[i];
        y[i] = trial_sample_ns(trial, first + i, &n_preempted);
    }
    if (status == WEIR_OK)
        status = fit(x, y, n, n_per_block, n_preempted, out, err);
    free(x);
    free(y);
    return status;
}
