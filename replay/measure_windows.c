/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies through buffers of one size, which are in a cache as far as they would be in a plan: the
 * first pass of a copy finds its bytes there, or in memory; every further pass finds them where the
 * first has left them. */
#include <math.h>
#include <stdlib.h>

#include "replay/measure_internal.h"

#define WINDOW_AMOUNTS 6
#define WINDOW_STEPS (6 * WINDOW_AMOUNTS)
#define MOST_FOOTPRINT_BYTES ((int64_t)64 << 20) /* more than caches hold */
#define LONG_WINDOW_BYTES ((int64_t)8 << 20)     /* from here on fewer and smaller amounts do */
#define PROBE_BYTES ((int64_t)4 << 20)           /* the least amount that the greatest may be */

/* One size: its buffers, its steps. Before them something else is used. A plan of its own: devices take
 * only so many steps at once. */
struct window_plan {
    int64_t window_bytes;
    uint32_t n_sources, n_targets, n_steps;
    int64_t amounts[WINDOW_STEPS];
};

static int64_t bounded(int64_t bytes)
{
    return bytes < MOST_FOOTPRINT_BYTES ? bytes : MOST_FOOTPRINT_BYTES;
}

/* How many such buffers make up the footprint, as far as there are steps to use them. */
static uint32_t n_in(int64_t footprint_bytes, const struct window_plan *plan)
{
    int64_t n = bounded(footprint_bytes) / plan->window_bytes;

    return n < 1 ? 1 : n > (int64_t)plan->n_steps ? plan->n_steps : (uint32_t)n;
}

static void plan_window(struct window_plan *plan, int64_t window_bytes,
                        const struct measure_direction *direction, int64_t most_passes)
{
    double most = window_bytes < PROBE_BYTES / 4 ? (double)PROBE_BYTES : 3 * (double)window_bytes;

    if (most_passes > 0)
        most = fmin(most, (double)most_passes * (double)window_bytes);

    plan->window_bytes = window_bytes;
    plan->n_steps = window_bytes < LONG_WINDOW_BYTES ? WINDOW_STEPS : WINDOW_STEPS / 2;
    plan->n_sources = n_in(direction->from_bytes, plan);
    plan->n_targets = n_in(direction->to_bytes, plan);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        double part = (double)(i * 5 % WINDOW_AMOUNTS) / (WINDOW_AMOUNTS - 1);

        plan->amounts[i] =
            (int64_t)llround((double)window_bytes * pow(most / (double)window_bytes, part));
    }
}

/* What was last used is pushed out of the caches as far as the footprint would. */
static enum weir_status add_steps(struct trial *trial, const struct window_plan *plan,
                                  const struct measure_direction *direction, struct weir_error *err)
{
    const struct trial_step other = {
        .action = STEP_STREAM,
        .amount = bounded(bounded(direction->from_bytes) + bounded(direction->to_bytes))};
    enum weir_status status = trial_add(trial, &other, err);

    for (uint32_t i = 0; i < plan->n_steps && status == WEIR_OK; i++) {
        const struct trial_step copy = {.action = STEP_COPY,
                                        .amount = plan->amounts[i],
                                        .window_bytes = plan->window_bytes,
                                        .source = i % plan->n_sources,
                                        .target = plan->n_sources + i % plan->n_targets};

        status = trial_add(trial, &copy, err);
    }
    return status;
}

/* The sources, then the targets: malloc'ed; NULL when memory ran out. */
static struct device_buffer *make_buffers(const struct window_plan *plan,
                                          const struct measure_direction *direction)
{
    uint32_t n = plan->n_sources + plan->n_targets;
    struct device_buffer *buffers = calloc(n, sizeof *buffers);

    for (uint32_t b = 0; b < n && buffers != NULL; b++)
        buffers[b] =
            trial_buffer(plan->window_bytes, b < plan->n_sources ? direction->from : direction->to);
    return buffers;
}

static enum weir_status measure_window(const struct device_ops *ops,
                                       const struct measure_direction *direction,
                                       const struct window_plan *plan, struct measure_rate *out,
                                       struct weir_error *err)
{
    struct device_buffer *buffers = make_buffers(plan, direction);
    struct trial trial = {.device = NULL, .timeline = NULL};
    enum weir_status status = buffers == NULL
                                  ? weir_error_memory(err)
                                  : trial_open(&trial, ops, 1, plan->n_steps + 1, buffers,
                                               plan->n_sources + plan->n_targets, err);

    if (status == WEIR_OK)
        status = add_steps(&trial, plan, direction, err);
    for (int round = 0; round < 2 && status == WEIR_OK; round++) /* the first to warm up */
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK)
        status = trial_fit(&trial, 1, plan->amounts, plan->n_steps, 0, out, err);
    trial_close(&trial);
    free(buffers);
    return status;
}

enum weir_status measure_windows(const struct device_ops *ops,
                                 const struct measure_direction *direction, const int64_t *windows,
                                 uint32_t n_windows, struct measure_rate *out,
                                 struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++) {
        struct window_plan plan;

        plan_window(&plan, windows[w], direction, ops->most_passes);
        status = measure_window(ops, direction, &plan, &out[w], err);
    }
    return status;
}
