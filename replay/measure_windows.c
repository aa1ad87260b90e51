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

/* One size: its buffers, its steps. Before them something else is used. */
struct window_plan {
    int64_t window_bytes;
    uint32_t first_source, n_sources;
    uint32_t first_target, n_targets;
    uint32_t first_step, n_steps;
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

/* @param first_buffer the first that is free  @return the next */
static uint32_t plan_window(struct window_plan *plan, int64_t window_bytes,
                            const struct measure_direction *direction, int64_t most_passes,
                            uint32_t first_buffer)
{
    double most = window_bytes < PROBE_BYTES / 4 ? (double)PROBE_BYTES : 3 * (double)window_bytes;

    if (most_passes > 0)
        most = fmin(most, (double)most_passes * (double)window_bytes);

    plan->window_bytes = window_bytes;
    plan->n_steps = window_bytes < LONG_WINDOW_BYTES ? WINDOW_STEPS : WINDOW_STEPS / 2;
    plan->n_sources = n_in(direction->from_bytes, plan);
    plan->n_targets = n_in(direction->to_bytes, plan);
    plan->first_source = first_buffer;
    plan->first_target = first_buffer + plan->n_sources;
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        double part = (double)(i * 5 % WINDOW_AMOUNTS) / (WINDOW_AMOUNTS - 1);

        plan->amounts[i] =
            (int64_t)llround((double)window_bytes * pow(most / (double)window_bytes, part));
    }
    return plan->first_target + plan->n_targets;
}

/* What was last used is pushed out of the caches as far as the footprint would. */
static enum weir_status add_window(struct trial *trial, struct window_plan *plan,
                                   const struct measure_direction *direction,
                                   struct weir_error *err)
{
    const struct trial_step other = {
        .action = STEP_STREAM,
        .amount = bounded(bounded(direction->from_bytes) + bounded(direction->to_bytes))};
    enum weir_status status = trial_add(trial, &other, err);

    plan->first_step = trial->n_steps;
    for (uint32_t i = 0; i < plan->n_steps && status == WEIR_OK; i++) {
        const struct trial_step copy = {.action = STEP_COPY,
                                        .amount = plan->amounts[i],
                                        .window_bytes = plan->window_bytes,
                                        .source = plan->first_source + i % plan->n_sources,
                                        .target = plan->first_target + i % plan->n_targets};

        status = trial_add(trial, &copy, err);
    }
    return status;
}

static enum weir_status run_windows(struct trial *trial, struct window_plan *plans,
                                    uint32_t n_windows, const struct measure_direction *direction,
                                    struct measure_rate *out, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++)
        status = add_window(trial, &plans[w], direction, err);
    for (int round = 0; round < 2 && status == WEIR_OK; round++) /* the first to warm up */
        status = trial->ops->drain(trial->device, trial->timeline, err);
    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++)
        status = trial_fit(trial, plans[w].first_step, plans[w].amounts, plans[w].n_steps, 0,
                           &out[w], err);
    return status;
}

/* @return the buffers of all sizes, malloc'ed; NULL when memory ran out */
static struct device_buffer *make_buffers(const struct window_plan *plans, uint32_t n_windows,
                                          const struct measure_direction *direction,
                                          uint32_t n_buffers)
{
    struct device_buffer *buffers = calloc((size_t)n_buffers + 1, sizeof *buffers);

    for (uint32_t w = 0; w < n_windows && buffers != NULL; w++) {
        for (uint32_t b = 0; b < plans[w].n_sources; b++)
            buffers[plans[w].first_source + b] =
                trial_buffer(plans[w].window_bytes, direction->from);
        for (uint32_t b = 0; b < plans[w].n_targets; b++)
            buffers[plans[w].first_target + b] = trial_buffer(plans[w].window_bytes, direction->to);
    }
    return buffers;
}

/* Of several sizes in one run. */
static enum weir_status measure_group(const struct device_ops *ops,
                                      const struct measure_direction *direction,
                                      const int64_t *windows, uint32_t n_windows,
                                      struct measure_rate *out, struct weir_error *err)
{
    struct window_plan *plans = calloc((size_t)n_windows + 1, sizeof *plans);
    struct device_buffer *buffers = NULL;
    struct trial trial = {.device = NULL, .timeline = NULL};
    uint32_t n_buffers = 0;
    uint32_t n_steps = 0;
    enum weir_status status = plans == NULL ? weir_error_memory(err) : WEIR_OK;

    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++) {
        n_buffers = plan_window(&plans[w], windows[w], direction, ops->most_passes, n_buffers);
        n_steps += plans[w].n_steps + 1;
    }
    if (status == WEIR_OK) {
        buffers = make_buffers(plans, n_windows, direction, n_buffers);
        status = buffers == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    if (status == WEIR_OK)
        status = trial_open(&trial, ops, 1, n_steps, buffers, n_buffers, err);
    if (status == WEIR_OK)
        status = run_windows(&trial, plans, n_windows, direction, out, err);
    trial_close(&trial);
    free(buffers);
    free(plans);
    return status;
}

/* A device that takes steps ahead of time takes only so many of them: then each size is a run of its own,
 * else what all of them need is made once. */
enum weir_status measure_windows(const struct device_ops *ops,
                                 const struct measure_direction *direction, const int64_t *windows,
                                 uint32_t n_windows, struct measure_rate *out,
                                 struct weir_error *err)
{
    uint32_t n_group = ops->has_modes ? 1 : n_windows;
    enum weir_status status = WEIR_OK;

    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w += n_group)
        status = measure_group(ops, direction, windows + w, n_group, out + w, err);
    return status;
}
