/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an action takes alone, and a copy by its size. */
#include "replay/measure.h"

#include <math.h>
#include <stdlib.h>

#include "replay/measure_internal.h"

#define SHORTEST_NS 30000
#define TRIAL_NS 100000 /* long enough to guess a rate from */
#define TRIAL_ROUNDS 8
#define SIZES 6

int64_t measure_amount(const struct measure_rate *rate, double duration_ns)
{
    double amount = (duration_ns - rate->fixed_ns) / rate->unit_ns;

    return amount < 1 ? 1 : amount > 9e18 ? INT64_MAX : (int64_t)llround(amount);
}

bool measure_has_line(const struct measure_rate *rate)
{
    return rate->noise.n_samples > 0;
}

enum weir_status measure_no_line(const struct device_ops *ops, struct weir_error *err)
{
    return weir_error_set(
        err, WEIR_DEVICE,
        "measuring the %s device: more work took no more time; try again when the "
        "machine is idle",
        ops->name);
}

/* ---- a rate ---- */

/* The least duration of a few steps of that amount. @param after how the device is then; or NULL */
static enum weir_status trial_once(const struct device_ops *ops,
                                   const struct measure_action *action, int64_t amount,
                                   int64_t *least_ns, struct measure_condition *after,
                                   struct weir_error *err)
{
    struct device_buffer buffers[2] = {{.size_bytes = 0}};
    const struct trial_step step = action_step(action, 0, amount, 0);
    struct trial trial;
    enum weir_status status =
        trial_open(&trial, ops, 1, 3, buffers, action_buffers(action, buffers), err);

    for (int i = 0; i < 3 && status == WEIR_OK; i++)
        status = trial_add(&trial, &step, err);
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK) {
        if (after != NULL) {
            ops->state(trial.device, &after->state);
            ops->remark(trial.device, after->remark, sizeof after->remark);
        }
        *least_ns = trial_duration_ns(&trial, 0);
        for (uint32_t i = 1; i < 3; i++) {
            if (trial_duration_ns(&trial, i) < *least_ns)
                *least_ns = trial_duration_ns(&trial, i);
        }
    }
    trial_close(&trial);
    return status;
}

enum weir_status measure_condition(const struct device_ops *ops, struct measure_condition *out,
                                   struct weir_error *err)
{
    const struct measure_action work = {.action = STEP_COMPUTE};
    int64_t took_ns;

    return trial_once(ops, &work, 4096, &took_ns, out, err);
}

/* About how many units of work a nanosecond holds. */
static enum weir_status guess_rate(const struct device_ops *ops,
                                   const struct measure_action *action, double *units_per_ns,
                                   struct weir_error *err)
{
    int64_t amount = action->action == STEP_COPY      ? action->window_bytes
                     : action->action == STEP_COMPUTE ? 4096
                     : ops->has_modes                 ? 16 << 20
                                                      : 64 << 10;
    int64_t took_ns = 0;

    for (int round = 0; round < TRIAL_ROUNDS; round++) {
        enum weir_status status = trial_once(ops, action, amount, &took_ns, NULL, err);

        if (status != WEIR_OK)
            return status;
        if (took_ns >= TRIAL_NS)
            break;
        amount *= 2 + (int64_t)2 * TRIAL_NS / took_ns;
    }
    *units_per_ns = (double)amount / (double)took_ns;
    return WEIR_OK;
}

/* Sizes from the shortest to the longest duration, each so many times as long as the one before. */
static void choose_amounts(const struct measure_action *action, double units_per_ns,
                           int64_t longest_ns, int64_t most_passes, int64_t amounts[SIZES])
{
    double least = SHORTEST_NS * units_per_ns;
    double most = (double)longest_ns * units_per_ns;

    if (action->action == STEP_COPY && least < (double)action->window_bytes)
        least = (double)action->window_bytes;
    if (action->action == STEP_COPY && most_passes > 0)
        most = fmin(most, (double)most_passes * (double)action->window_bytes);
    if (most < 2 * least)
        most = 2 * least;
    for (int i = 0; i < SIZES; i++) {
        amounts[i] = (int64_t)llround(least * pow(most / least, (double)i / (SIZES - 1)));
        if (action->action != STEP_COMPUTE && action->action != STEP_COPY)
            amounts[i] = (amounts[i] + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }
}

/* The first step meets cold caches and a thread that has just woken, and is not in amounts. */
static enum weir_status run_amounts(struct trial *trial, const struct measure_action *action,
                                    const int64_t *amounts, uint32_t n, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n + 1 && status == WEIR_OK; i++) {
        const struct trial_step step = action_step(action, 0, amounts[i == 0 ? n - 1 : i - 1], 0);

        status = trial_add(trial, &step, err);
    }
    return status == WEIR_OK ? trial->ops->drain(trial->device, trial->timeline, err) : status;
}

enum weir_status measure_rate(const struct device_ops *ops, const struct measure_action *action,
                              int64_t longest_ns, uint32_t n_repeats, enum measure_detail detail,
                              struct measure_rate *out, struct weir_error *err)
{
    uint32_t n = SIZES * n_repeats;
    int64_t *amounts = malloc(n * sizeof *amounts);
    struct device_buffer buffers[2] = {{.size_bytes = 0}};
    struct trial trial = {.device = NULL, .timeline = NULL};
    double units_per_ns = 0;
    enum weir_status status =
        amounts == NULL ? weir_error_memory(err) : guess_rate(ops, action, &units_per_ns, err);

    if (status == WEIR_OK) {
        choose_amounts(action, units_per_ns, longest_ns, ops->most_passes, amounts);
        for (uint32_t i = SIZES; i < n; i++)
            amounts[i] = amounts[i - SIZES];
        status = trial_open(&trial, ops, 1, n + 1, buffers, action_buffers(action, buffers), err);
    }
    if (status == WEIR_OK)
        status = run_amounts(&trial, action, amounts, n, err);
    if (status == WEIR_OK)
        status =
            trial_fit(&trial, 1, amounts, n, detail == MEASURE_INTERVALS ? SIZES : 0, out, err);
    trial_close(&trial);
    free(amounts);
    return status;
}

/* ---- copies of many sizes ---- */

enum weir_status measure_copies(const struct device_ops *ops, struct place from, struct place to,
                                const int64_t *sizes, uint32_t n_sizes, uint32_t n_repeats,
                                struct measure_rate *out, struct weir_error *err)
{
    uint32_t n_steps = n_sizes * (n_repeats + 1);
    struct device_buffer *buffers = calloc((size_t)n_sizes + 1, 2 * sizeof *buffers);
    int64_t *amounts = calloc((size_t)n_steps + 1, sizeof *amounts);
    struct trial trial = {.device = NULL, .timeline = NULL};
    enum weir_status status = WEIR_OK;

    if (buffers == NULL || amounts == NULL)
        status = weir_error_memory(err);
    for (uint32_t s = 0; s < n_sizes && status == WEIR_OK; s++) {
        struct device_buffer *pair = buffers + 2 * (size_t)s;

        pair[0] = trial_buffer(sizes[s], from);
        pair[1] = trial_buffer(sizes[s], to);
    }
    if (status == WEIR_OK)
        status = trial_open(&trial, ops, 1, n_steps, buffers, 2 * n_sizes, err);
    /* One round first, left out. */
    for (uint32_t i = 0; i < n_steps && status == WEIR_OK; i++) {
        const struct measure_action copy = {.action = STEP_COPY,
                                            .window_bytes = sizes[i % n_sizes]};
        const struct trial_step step = action_step(&copy, 0, sizes[i % n_sizes], i % n_sizes * 2);

        amounts[i] = sizes[i % n_sizes];
        status = trial_add(&trial, &step, err);
    }
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK)
        status = trial_fit(&trial, n_sizes, amounts, n_steps - n_sizes, n_sizes, out, err);
    trial_close(&trial);
    free(buffers);
    free(amounts);
    return status;
}
