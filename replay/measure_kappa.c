/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An action beside another. In each block it runs alone, and right after that beside the other, so
 * that both met the same machine; the other must go on until it is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/measure_internal.h"

#define MEASURED 2     /* of a block's steps alone, and beside the other */
#define ALONE 3        /* of them the first comes after the other's end and is left out */
#define LEAST_COVER 5  /* steps of the other in a block */
#define MOST_COVER 400 /* at first */
#define COVER_TIMES \
    1.5 /* of what the measured steps take alone: how long the other goes on at first */
#define COVER_TRIES 3 /* each twice as long as the one before */

/* What is run: n_blocks times own alone, then own beside n_cover of the other. */
struct blocks {
    struct trial_step own, other;
    uint32_t n_blocks, n_cover;
};

/* What was found. */
struct ratios {
    double *logs;         /* first of the blocks in which the other went on until the end */
    uint32_t n_covered;   /* so many blocks */
    uint32_t n_disturbed; /* steps that were measured: pre-empted, or of a block without cover */
};

static uint32_t block_steps(const struct blocks *blocks)
{
    return ALONE + blocks->n_cover + MEASURED;
}

static enum weir_status add_block(struct trial *trial, const struct blocks *blocks, uint32_t block,
                                  struct weir_error *err)
{
    uint32_t first = block * block_steps(blocks);
    const struct step_wait last_other = {.step = first - MEASURED - 1};
    const struct step_wait last_alone = {.step = first + ALONE - 1};
    const struct step_wait other_began = {.step = first + ALONE, .is_from_start = true};
    struct trial_step own = blocks->own;
    struct trial_step other = blocks->other;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < ALONE && status == WEIR_OK; i++) {
        own.wait = block > 0 && i == 0 ? &last_other : NULL;
        status = trial_add(trial, &own, err);
    }
    for (uint32_t i = 0; i < blocks->n_cover && status == WEIR_OK; i++) {
        other.wait = i == 0 ? &last_alone : NULL;
        status = trial_add(trial, &other, err);
    }
    for (uint32_t i = 0; i < MEASURED && status == WEIR_OK; i++) {
        own.wait = i == 0 ? &other_began : NULL;
        status = trial_add(trial, &own, err);
    }
    return status;
}

/* How long so many steps took. */
static double sum_ns(const struct trial *trial, uint32_t first, uint32_t n, uint32_t *n_preempted)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += trial_sample_ns(trial, first + i, n_preempted);
    return sum;
}

static bool is_covered(const struct trial *trial, uint32_t last_other, uint32_t last_own)
{
    return trial->timeline->spans[last_other].finish_ns >=
           trial->timeline->spans[last_own].finish_ns;
}

static void find_ratios(const struct trial *trial, const struct blocks *blocks,
                        struct ratios *ratios)
{
    uint32_t n_uncovered = 0;

    ratios->n_covered = 0;
    ratios->n_disturbed = 0;
    for (uint32_t b = 0; b < blocks->n_blocks; b++) {
        uint32_t first = b * block_steps(blocks);
        uint32_t beside = first + ALONE + blocks->n_cover;
        uint32_t n_preempted = 0;
        double alone_ns = sum_ns(trial, first + ALONE - MEASURED, MEASURED, &n_preempted);
        double log_ratio = log(sum_ns(trial, beside, MEASURED, &n_preempted) / alone_ns);
        bool has_cover = is_covered(trial, beside - 1, beside + MEASURED - 1);

        if (has_cover)
            ratios->logs[ratios->n_covered++] = log_ratio;
        else
            ratios->logs[blocks->n_blocks - ++n_uncovered] = log_ratio;
        ratios->n_disturbed += has_cover ? n_preempted : 2 * MEASURED;
    }
}

static enum weir_status run_blocks(const struct device_ops *ops, const struct blocks *blocks,
                                   const struct device_buffer *buffers, uint32_t n_buffers,
                                   struct ratios *ratios, struct weir_error *err)
{
    struct trial trial = {.device = NULL, .timeline = NULL};
    enum weir_status status =
        trial_open(&trial, ops, 2, blocks->n_blocks * block_steps(blocks), buffers, n_buffers, err);

    for (uint32_t b = 0; b < blocks->n_blocks && status == WEIR_OK; b++)
        status = add_block(&trial, blocks, b, err);
    if (status == WEIR_OK)
        status = ops->drain(trial.device, trial.timeline, err);
    if (status == WEIR_OK)
        find_ratios(&trial, blocks, ratios);
    trial_close(&trial);
    return status;
}

/* Blocks without cover count only when there are too few others; their steps count as pre-empted. */
static enum weir_status take_ratios(const struct blocks *blocks, struct ratios *ratios,
                                    struct measure_kappa *out, struct weir_error *err)
{
    uint32_t n = ratios->n_covered < FIT_FEWEST_BLOCKS ? blocks->n_blocks : ratios->n_covered;
    struct fit_ratio fit;
    enum weir_status status = fit_ratio(ratios->logs, n, &fit, err);

    if (status != WEIR_OK)
        return status;
    *out = (struct measure_kappa){
        .factor = fit.ratio,
        .range = fit.interval,
        .noise = {.spread_ratio = fit.spread_ratio,
                  .width_ratio = (fit.interval.high - fit.interval.low) / 2 / fit.ratio,
                  .preempted_ratio =
                      (double)ratios->n_disturbed / (2.0 * MEASURED * blocks->n_blocks),
                  .n_samples = n}};
    return WEIR_OK;
}

static int64_t amount_for(const struct measure_action *action, const struct measure_rate *rate,
                          int64_t duration_ns)
{
    int64_t amount = measure_amount(rate, (double)duration_ns);

    return action->action == STEP_COPY && amount < action->window_bytes ? action->window_bytes
                                                                        : amount;
}

static double duration_of(const struct trial_step *step, const struct measure_rate *rate)
{
    return rate->fixed_ns + (double)step->amount * rate->unit_ns;
}

static uint32_t first_cover(const struct blocks *blocks, const struct measure_rate *rate,
                            const struct measure_rate *beside_rate)
{
    double n = ceil(COVER_TIMES * MEASURED * duration_of(&blocks->own, rate) /
                    duration_of(&blocks->other, beside_rate));

    return n < LEAST_COVER ? LEAST_COVER : n > MOST_COVER ? MOST_COVER : (uint32_t)n;
}

enum weir_status measure_kappa(const struct device_ops *ops, const struct measure_action *action,
                               const struct measure_rate *rate, const struct measure_action *beside,
                               const struct measure_rate *beside_rate, int64_t duration_ns,
                               uint32_t n_blocks, struct measure_kappa *out, struct weir_error *err)
{
    struct device_buffer buffers[4] = {{.size_bytes = 0}};
    uint32_t n_own = action_buffers(action, buffers);
    uint32_t n_buffers = n_own + action_buffers(beside, buffers + n_own);
    struct ratios ratios = {.logs = malloc((n_blocks + (size_t)1) * sizeof *ratios.logs)};
    struct blocks blocks = {
        .own = action_step(action, 0, amount_for(action, rate, duration_ns), 0),
        .other = action_step(beside, 1, amount_for(beside, beside_rate, duration_ns), n_own),
        .n_blocks = n_blocks};
    enum weir_status status = ratios.logs == NULL ? weir_error_memory(err) : WEIR_OK;

    blocks.n_cover = first_cover(&blocks, rate, beside_rate);
    for (int i = 0; i < COVER_TRIES && status == WEIR_OK; i++, blocks.n_cover *= 2) {
        status = run_blocks(ops, &blocks, buffers, n_buffers, &ratios, err);
        if (status == WEIR_OK && 2 * ratios.n_covered >= n_blocks)
            break;
    }
    if (status == WEIR_OK)
        status = take_ratios(&blocks, &ratios, out, err);
    free(ratios.logs);
    return status;
}
