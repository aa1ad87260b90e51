/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies through buffers of one size, which are in a cache as far as they would be in a plan: the
 * first pass of a copy finds its bytes there, or in memory; every further pass finds them where the
 * first has left them. */
#include <math.h>
#include <stdlib.h>

#include "replay/measure_internal.h"

#define WINDOW_AMOUNTS 6
#define WINDOW_STEPS (6 * WINDOW_AMOUNTS)
#define MOST_FOOTPRINT_BYTES ((int64_t)64 << 20)
#define LONG_WINDOW_BYTES ((int64_t)8 << 20) /* from here on fewer and smaller amounts do */
#define PROBE_BYTES ((int64_t)4 << 20)       /* the least amount that the greatest may be */

/* One size: its buffers, its steps. Before them something else is used. */
struct window_plan {
    int64_t window_bytes;
    uint32_t first_buffer, n_pairs;
    uint32_t first_step, n_steps;
    int64_t amounts[WINDOW_STEPS];
};

static void plan_window(struct window_plan *plan, int64_t window_bytes, int64_t footprint_bytes)
{
    double most = window_bytes < PROBE_BYTES / 4 ? (double)PROBE_BYTES : 3 * (double)window_bytes;
    int64_t n_pairs = footprint_bytes / (2 * window_bytes);

    plan->window_bytes = window_bytes;
    plan->n_steps = window_bytes < LONG_WINDOW_BYTES ? WINDOW_STEPS : WINDOW_STEPS / 2;
    plan->n_pairs = n_pairs < 1                        ? 1
                    : n_pairs > (int64_t)plan->n_steps ? plan->n_steps
                                                       : (uint32_t)n_pairs;
    for (uint32_t i = 0; i < plan->n_steps; i++)
        plan->amounts[i] = (int64_t)llround(
            (double)window_bytes * pow(most / (double)window_bytes,
                                       (double)(i * 5 % WINDOW_AMOUNTS) / (WINDOW_AMOUNTS - 1)));
}

/* What was last used is pushed out of the caches as far as the footprint would. */
static enum weir_status add_window(struct trial *trial, struct window_plan *plan,
                                   int64_t footprint_bytes, struct weir_error *err)
{
    const struct measure_action other = {.action = STEP_STREAM};
    const struct measure_action copy = {.action = STEP_COPY, .window_bytes = plan->window_bytes};
    enum weir_status status = trial_add(trial, &other, 0, footprint_bytes, 0, NULL, err);

    plan->first_step = trial->n_steps;
    for (uint32_t i = 0; i < plan->n_steps && status == WEIR_OK; i++)
        status = trial_add(trial, &copy, 0, plan->amounts[i],
                           plan->first_buffer + 2 * (i % plan->n_pairs), NULL, err);
    return status;
}

static enum weir_status run_windows(struct trial *trial, struct window_plan *plans,
                                    uint32_t n_windows, int64_t footprint_bytes,
                                    struct measure_rate *out, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++)
        status = add_window(trial, &plans[w], footprint_bytes, err);
    for (int round = 0; round < 2 && status == WEIR_OK; round++) /* the first to warm up */
        status = trial->ops->drain(trial->device, trial->timeline, err);
    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++)
        status =
            trial_fit(trial, plans[w].first_step, plans[w].amounts, plans[w].n_steps, &out[w], err);
    return status;
}

enum weir_status measure_windows(const struct device_ops *ops, weir_domain from, weir_domain to,
                                 const int64_t *windows, uint32_t n_windows,
                                 int64_t footprint_bytes, struct measure_rate *out,
                                 struct weir_error *err)
{
    struct window_plan *plans = calloc((size_t)n_windows + 1, sizeof *plans);
    struct device_buffer *buffers = NULL;
    struct trial trial = {.device = NULL, .timeline = NULL};
    uint32_t n_buffers = 0;
    uint32_t n_steps = 0;
    enum weir_status status = plans == NULL ? weir_error_memory(err) : WEIR_OK;

    if (footprint_bytes > MOST_FOOTPRINT_BYTES)
        footprint_bytes = MOST_FOOTPRINT_BYTES;
    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++) {
        plan_window(&plans[w], windows[w], footprint_bytes);
        plans[w].first_buffer = n_buffers;
        n_buffers += 2 * plans[w].n_pairs;
        n_steps += plans[w].n_steps + 1;
    }
    if (status == WEIR_OK) {
        buffers = calloc((size_t)n_buffers + 1, sizeof *buffers);
        status = buffers == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    for (uint32_t w = 0; w < n_windows && status == WEIR_OK; w++) {
        for (uint32_t b = 0; b < 2 * plans[w].n_pairs; b++)
            buffers[plans[w].first_buffer + b] = trial_buffer(windows[w], b % 2 == 0 ? from : to);
    }
    if (status == WEIR_OK)
        status = trial_open(&trial, ops, 1, n_steps, buffers, n_buffers, err);
    if (status == WEIR_OK)
        status = run_windows(&trial, plans, n_windows, footprint_bytes, out, err);
    trial_close(&trial);
    free(buffers);
    free(plans);
    return status;
}
