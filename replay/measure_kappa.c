/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An action beside others, each in a queue of its own. In each block it runs alone, and right after that
 * beside the others, so that both met the same machine; the others must go on until it is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/measure_internal.h"

#define MEASURED 2     /* of a block's steps alone, and beside the others */
#define ALONE 3        /* of them the first comes after the others' end and is left out */
#define LEAST_COVER 5  /* steps of each other in a block */
#define MOST_COVER 400 /* at first */
#define COVER_TIMES \
    1.5 /* of what the measured steps take alone: how long the others go on at first */
#define COVER_TRIES 3 /* each twice as long as the one before */

/* What is run: n_blocks times own alone, then own beside n_cover of each of the others. */
struct blocks {
    struct trial_step own, others[MEASURE_OTHERS];
    uint32_t n_others, n_cover[MEASURE_OTHERS];
    uint32_t n_blocks;
};

/* What was found. */
struct ratios {
    double *logs;         /* first of the blocks in which the others went on until the end */
    uint32_t n_covered;   /* so many blocks */
    uint32_t n_disturbed; /* steps that were measured: pre-empted, or of a block without cover */
    double own_ns, beside_ns; /* that the measured steps ran, and the others meanwhile, summed */
};

/* The first step of an other in the block, or behind the last of them the first that is measured. */
static uint32_t other_step(const struct blocks *blocks, uint32_t first, uint32_t other)
{
    uint32_t step = first + ALONE;

    for (uint32_t i = 0; i < other; i++)
        step += blocks->n_cover[i];
    return step;
}

static uint32_t block_steps(const struct blocks *blocks)
{
    return other_step(blocks, 0, blocks->n_others) + MEASURED;
}

static enum weir_status add_times(struct trial *trial, struct trial_step step, uint32_t n,
                                  const struct step_wait *waits, uint32_t n_waits,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        step.waits = waits;
        step.n_waits = i == 0 ? n_waits : 0;
        status = trial_add(trial, &step, err);
    }
    return status;
}

static enum weir_status add_block(struct trial *trial, const struct blocks *blocks, uint32_t block,
                                  struct weir_error *err)
{
    uint32_t first = block * block_steps(blocks);
    const struct step_wait last_alone = {.step = first + ALONE - 1};
    struct step_wait ended[MEASURE_OTHERS] = {{.step = 0}};
    struct step_wait began[MEASURE_OTHERS] = {{.step = 0}};
    enum weir_status status;

    for (uint32_t i = 0; i < blocks->n_others; i++) {
        began[i] = (struct step_wait){.step = other_step(blocks, first, i), .is_from_start = true};
        if (block > 0)
            ended[i].step = other_step(blocks, first - block_steps(blocks), i + 1) - 1;
    }
    status = add_times(trial, blocks->own, ALONE, ended, block > 0 ? blocks->n_others : 0, err);
    for (uint32_t i = 0; i < blocks->n_others && status == WEIR_OK; i++)
        status = add_times(trial, blocks->others[i], blocks->n_cover[i], &last_alone, 1, err);
    if (status == WEIR_OK)
        status = add_times(trial, blocks->own, MEASURED, began, blocks->n_others, err);
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

static bool is_covered(const struct trial *trial, const struct blocks *blocks, uint32_t first)
{
    const struct timeline_span *spans = trial->timeline->spans;
    uint32_t last_own = other_step(blocks, first, blocks->n_others) + MEASURED - 1;

    for (uint32_t i = 0; i < blocks->n_others; i++) {
        if (spans[other_step(blocks, first, i + 1) - 1].finish_ns < spans[last_own].finish_ns)
            return false;
    }
    return true;
}

/* How long the others ran while the measured steps of the block did. */
static void add_beside(const struct trial *trial, const struct blocks *blocks, uint32_t first,
                       struct ratios *ratios)
{
    const struct timeline_span *spans = trial->timeline->spans;
    uint32_t own = other_step(blocks, first, blocks->n_others);

    for (uint32_t i = own; i < own + MEASURED; i++) {
        ratios->own_ns += (double)trial_duration_ns(trial, i);
        for (uint32_t other = first + ALONE; other < own; other++) {
            double from_ns = fmax((double)spans[i].start_ns, (double)spans[other].start_ns);
            double to_ns = fmin((double)spans[i].finish_ns, (double)spans[other].finish_ns);

            ratios->beside_ns += fmax(0, to_ns - from_ns);
        }
    }
}

static void find_ratios(const struct trial *trial, const struct blocks *blocks,
                        struct ratios *ratios)
{
    uint32_t n_uncovered = 0;

    ratios->n_covered = 0;
    ratios->n_disturbed = 0;
    ratios->own_ns = 0;
    ratios->beside_ns = 0;
    for (uint32_t b = 0; b < blocks->n_blocks; b++) {
        uint32_t first = b * block_steps(blocks);
        uint32_t beside = other_step(blocks, first, blocks->n_others);
        uint32_t n_preempted = 0;
        double alone_ns = sum_ns(trial, first + ALONE - MEASURED, MEASURED, &n_preempted);
        double log_ratio = log(sum_ns(trial, beside, MEASURED, &n_preempted) / alone_ns);
        bool has_cover = is_covered(trial, blocks, first);

        add_beside(trial, blocks, first, ratios);

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
        trial_open(&trial, ops, blocks->n_others + 1, blocks->n_blocks * block_steps(blocks),
                   buffers, n_buffers, err);

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
        .n_beside = ratios->beside_ns / ratios->own_ns,
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
                            const struct trial_step *other, const struct measure_rate *other_rate)
{
    double n = ceil(COVER_TIMES * MEASURED * duration_of(&blocks->own, rate) /
                    duration_of(other, other_rate));

    return n < LEAST_COVER ? LEAST_COVER : n > MOST_COVER ? MOST_COVER : (uint32_t)n;
}

/* A step of that length. Where each pass of a copy is a call of its own it is done in one: many short
 * ones would be handed over more slowly than they run.
 * @param buffers room for two  @return how many it has */
static uint32_t plan_step(const struct device_ops *ops, const struct measure_runner *runner,
                          uint32_t queue, int64_t duration_ns, uint32_t first_buffer,
                          struct device_buffer *buffers, struct trial_step *out)
{
    struct measure_action action = runner->action;
    int64_t amount = amount_for(&action, runner->rate, duration_ns);

    if (ops->most_passes > 0 && action.window_bytes < amount)
        action.window_bytes = (amount + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    *out = action_step(&action, queue, amount, first_buffer);
    return action_buffers(&action, buffers + first_buffer);
}

/* @param buffers room for two of each action @return how many they have */
static uint32_t plan_blocks(const struct device_ops *ops, struct blocks *blocks,
                            const struct measure_runner *own, const struct measure_runner *others,
                            int64_t duration_ns, struct device_buffer *buffers)
{
    uint32_t n_buffers = plan_step(ops, own, 0, duration_ns, 0, buffers, &blocks->own);

    for (uint32_t i = 0; i < blocks->n_others; i++) {
        n_buffers +=
            plan_step(ops, &others[i], i + 1, duration_ns, n_buffers, buffers, &blocks->others[i]);
        blocks->n_cover[i] = first_cover(blocks, own->rate, &blocks->others[i], others[i].rate);
    }
    return n_buffers;
}

enum weir_status measure_kappa(const struct device_ops *ops, const struct measure_runner *own,
                               const struct measure_runner *others, uint32_t n_others,
                               int64_t duration_ns, uint32_t n_blocks, struct measure_kappa *out,
                               struct weir_error *err)
{
    struct device_buffer buffers[2 * (MEASURE_OTHERS + 1)] = {{.size_bytes = 0}};
    struct ratios ratios = {.logs = malloc((n_blocks + (size_t)1) * sizeof *ratios.logs)};
    struct blocks blocks = {.n_others = n_others, .n_blocks = n_blocks};
    uint32_t n_buffers = plan_blocks(ops, &blocks, own, others, duration_ns, buffers);
    enum weir_status status = ratios.logs == NULL ? weir_error_memory(err) : WEIR_OK;

    for (int i = 0; i < COVER_TRIES && status == WEIR_OK; i++) {
        status = run_blocks(ops, &blocks, buffers, n_buffers, &ratios, err);
        if (status == WEIR_OK && 2 * ratios.n_covered >= n_blocks)
            break;
        for (uint32_t o = 0; o < n_others; o++)
            blocks.n_cover[o] *= 2;
    }
    if (status == WEIR_OK)
        status = take_ratios(&blocks, &ratios, out, err);
    free(ratios.logs);
    return status;
}
