/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an action takes alone, a copy by its size, and an action beside another. */
#include "replay/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/fit.h"
#include "replay/measure_internal.h"

#define SHORTEST_NS 30000
#define TRIAL_NS 100000 /* long enough to guess a rate from */
#define TRIAL_ROUNDS 8
#define SIZES 6
#define REPEATS 6

int64_t measure_amount(const struct measure_rate *rate, double duration_ns)
{
    double amount = (duration_ns - rate->fixed_ns) / rate->unit_ns;

    return amount < 1 ? 1 : amount > 9e18 ? INT64_MAX : (int64_t)llround(amount);
}

/* ---- a rate ---- */

/* The two buffers of a copy. @return how many there are */
static uint32_t action_buffers(const struct measure_action *action, struct device_buffer out[2])
{
    if (action->action != STEP_COPY)
        return 0;
    out[0] = trial_buffer(action->window_bytes, action->from);
    out[1] = trial_buffer(action->window_bytes, action->to);
    return 2;
}

/* A step of the action; buffers from first_buffer on are its own. */
static struct trial_step step_of(const struct measure_action *action, uint32_t queue,
                                 int64_t amount, uint32_t first_buffer)
{
    return (struct trial_step){.action = action->action,
                               .queue = queue,
                               .amount = amount,
                               .window_bytes = action->window_bytes,
                               .source = first_buffer,
                               .target = first_buffer + 1};
}

/* The least duration of a few steps of that amount. */
static enum weir_status trial_once(const struct device_ops *ops,
                                   const struct measure_action *action, int64_t amount,
                                   int64_t *least_ns, struct weir_error *err)
{
    struct device_buffer buffers[2] = {{.size_bytes = 0}};
    const struct trial_step step = step_of(action, 0, amount, 0);
    struct trial trial;
    enum weir_status status =
        trial_open(&trial, ops, 1, 3, buffers, action_buffers(action, buffers), err);

    for (int i = 0; i < 3 && status == WEIR_OK; i++)
        status = trial_add(&trial, &step, err);
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK) {
        *least_ns = trial_duration_ns(&trial, 0);
        for (uint32_t i = 1; i < 3; i++) {
            if (trial_duration_ns(&trial, i) < *least_ns)
                *least_ns = trial_duration_ns(&trial, i);
        }
    }
    trial_close(&trial);
    return status;
}

/* About how many units of work a nanosecond holds. */
static enum weir_status guess_rate(const struct device_ops *ops,
                                   const struct measure_action *action, double *units_per_ns,
                                   struct weir_error *err)
{
    int64_t amount = action->action == STEP_COPY ? action->window_bytes : 4096;
    int64_t took_ns = 0;

    for (int round = 0; round < TRIAL_ROUNDS; round++) {
        enum weir_status status = trial_once(ops, action, amount, &took_ns, err);

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
                           int64_t longest_ns, int64_t amounts[SIZES])
{
    double least = SHORTEST_NS * units_per_ns;
    double most = (double)longest_ns * units_per_ns;

    if (action->action == STEP_COPY && least < (double)action->window_bytes)
        least = (double)action->window_bytes;
    if (most < 2 * least)
        most = 2 * least;
    for (int i = 0; i < SIZES; i++)
        amounts[i] = (int64_t)llround(least * pow(most / least, (double)i / (SIZES - 1)));
}

enum weir_status measure_rate(const struct device_ops *ops, const struct measure_action *action,
                              int64_t longest_ns, struct measure_rate *out, struct weir_error *err)
{
    int64_t amounts[SIZES * REPEATS];
    struct device_buffer buffers[2] = {{.size_bytes = 0}};
    struct trial trial;
    double units_per_ns = 0;
    enum weir_status status = guess_rate(ops, action, &units_per_ns, err);

    if (status != WEIR_OK)
        return status;
    choose_amounts(action, units_per_ns, longest_ns, amounts);
    for (uint32_t i = SIZES; i < SIZES * REPEATS; i++)
        amounts[i] = amounts[i - SIZES];
    status = trial_open(&trial, ops, 1, SIZES * REPEATS + 1, buffers,
                        action_buffers(action, buffers), err);
    /* The first step meets cold caches and a thread that has just woken. */
    for (uint32_t i = 0; i < SIZES * REPEATS + 1 && status == WEIR_OK; i++) {
        const struct trial_step step = step_of(action, 0, amounts[i == 0 ? SIZES - 1 : i - 1], 0);

        status = trial_add(&trial, &step, err);
    }
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK)
        status = trial_fit(&trial, 1, amounts, SIZES * REPEATS, out, err);
    trial_close(&trial);
    return status;
}

/* ---- copies of many sizes ---- */

enum weir_status measure_copies(const struct device_ops *ops, weir_domain from, weir_domain to,
                                const int64_t *sizes, uint32_t n_sizes, uint32_t n_repeats,
                                struct measure_rate *out, struct weir_error *err)
{
    uint32_t n_steps = n_sizes * n_repeats;
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
        const struct trial_step step = step_of(&copy, 0, sizes[i % n_sizes], i % n_sizes * 2);

        amounts[i] = sizes[i % n_sizes];
        status = trial_add(&trial, &step, err);
    }
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK)
        status = trial_fit(&trial, n_sizes, amounts, n_steps - n_sizes, out, err);
    trial_close(&trial);
    free(buffers);
    free(amounts);
    return status;
}

/* ---- contention ---- */

/* The median duration of steps first to first + n - 1. */
static double median_ns(const struct trial *trial, uint32_t first, uint32_t n, double *values,
                        struct measure_kappa *out)
{
    uint32_t n_preempted = 0;
    double median;

    for (uint32_t i = 0; i < n; i++)
        values[i] = trial_sample_ns(trial, first + i, &n_preempted);
    median = fit_quantile(values, n, 0.5);
    out->spread_ratio = fit_spread_ratio(values, n, median);
    out->preempted_ratio = (double)n_preempted / n;
    out->n_samples = n;
    return median;
}

/* n steps of the action alone, then, while the other queue does the other, n more; the other goes on
 * for twice as long as they should take, so that it covers them. */
static enum weir_status add_pair(struct trial *trial, struct trial_step own,
                                 struct trial_step other, uint32_t n, struct weir_error *err)
{
    const struct step_wait last_alone = {.step = n - 1};
    const struct step_wait other_began = {.step = n, .is_from_start = true};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++)
        status = trial_add(trial, &own, err);
    for (uint32_t i = 0; i < 2 * n && status == WEIR_OK; i++) {
        other.wait = i == 0 ? &last_alone : NULL;
        status = trial_add(trial, &other, err);
    }
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        own.wait = i == 0 ? &other_began : NULL;
        status = trial_add(trial, &own, err);
    }
    return status;
}

static int64_t amount_for(const struct measure_action *action, const struct measure_rate *rate,
                          int64_t duration_ns)
{
    int64_t amount = measure_amount(rate, (double)duration_ns);

    return action->action == STEP_COPY && amount < action->window_bytes ? action->window_bytes
                                                                        : amount;
}

enum weir_status measure_kappa(const struct device_ops *ops, const struct measure_action *action,
                               const struct measure_rate *rate, const struct measure_action *beside,
                               const struct measure_rate *beside_rate, int64_t duration_ns,
                               uint32_t n_repeats, struct measure_kappa *out,
                               struct weir_error *err)
{
    struct device_buffer buffers[4] = {{.size_bytes = 0}};
    uint32_t n_own = action_buffers(action, buffers);
    uint32_t n_buffers = n_own + action_buffers(beside, buffers + n_own);
    double *values = malloc((n_repeats + (size_t)1) * sizeof *values);
    struct trial trial = {.device = NULL, .timeline = NULL};
    struct measure_kappa alone;
    struct measure_kappa both;
    enum weir_status status = values == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK)
        status = trial_open(&trial, ops, 2, 4 * n_repeats, buffers, n_buffers, err);
    if (status == WEIR_OK)
        status = add_pair(&trial, step_of(action, 0, amount_for(action, rate, duration_ns), 0),
                          step_of(beside, 1, amount_for(beside, beside_rate, duration_ns), n_own),
                          n_repeats, err);
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK) {
        double alone_ns = median_ns(&trial, 0, n_repeats, values, &alone);

        both.factor = median_ns(&trial, 3 * n_repeats, n_repeats, values, &both) / alone_ns;
        if (alone.spread_ratio > both.spread_ratio)
            both.spread_ratio = alone.spread_ratio;
        if (alone.preempted_ratio > both.preempted_ratio)
            both.preempted_ratio = alone.preempted_ratio;
        *out = both;
    }
    trial_close(&trial);
    free(values);
    return status;
}
