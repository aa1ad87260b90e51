/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the steps run, which of the runs are timed, and which is the replay's. */
#include <stdlib.h>
#include <time.h>

#include "replay/runner_internal.h"

const char *replay_end_name(enum replay_end end)
{
    static const char *const names[] = {"as asked", "narrow enough", "took too long",
                                        "as many as may be"};

    return names[end];
}

static uint32_t most_repeats(const struct replay_options *options)
{
    return options->n_most_repeats > options->n_repeats ? options->n_most_repeats
                                                        : options->n_repeats;
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A sign of life after each run. */
static void tell(const struct runner *r, uint32_t n_done, uint32_t n_of_each)
{
    uint32_t n_all = (r->options->n_warm_up + most_repeats(r->options)) * n_of_each;

    if (r->options->progress != NULL)
        r->options->progress(r->options->progress_arg, 0.5 + 0.5 * n_done / n_all);
}

/* One timed run, and one that is not where timing costs something. */
static enum weir_status repeat(struct runner *r, bool is_warm_up, struct weir_error *err)
{
    struct replay_result *result = r->result;
    uint32_t index = result->n_samples, n_of_each = result->ops->has_modes ? 2 : 1;
    struct replay_sample *sample = &result->samples[index];
    enum weir_status status = WEIR_OK;

    *sample = (struct replay_sample){.untimed_ns = -1, .is_warm_up = is_warm_up};
    for (uint32_t i = 0; i < n_of_each && status == WEIR_OK; i++) {
        bool is_timed = n_of_each == 1 || (index + i) % 2 == 0;

        status = runner_run_one(r, is_timed, sample, err);
        tell(r, index * n_of_each + i + 1, n_of_each);
    }
    result->n_samples += status == WEIR_OK;
    return status;
}

/* Is one more repeat due? @param end when not, why; an even number is asked for, so that as many
 * pairs began with the one kind of run as with the other */
static enum weir_status is_due(const struct runner *r, bool *due, enum replay_end *end,
                               struct weir_error *err)
{
    const struct replay_options *options = r->options;
    struct spread spread;

    *due = r->n_passes < options->n_repeats;
    *end = REPLAY_AS_ASKED;
    if (*due || most_repeats(options) == options->n_repeats)
        return WEIR_OK;
    *end = REPLAY_IS_MOST;
    *due = r->n_passes < options->n_most_repeats;
    if (!*due || r->n_passes % 2 == 1)
        return WEIR_OK;
    if (runner_spread(r, &spread, err) != WEIR_OK)
        return err->status;
    *end = REPLAY_IS_NARROW;
    *due = !spread.has_interval || (double)(spread.high_ns - spread.low_ns) >
                                       2 * REPLAY_NARROW_RATIO * (double)spread.median_ns;
    if (*due && now_ns() - r->begin_ns >= REPLAY_LONG_NS) {
        *end = REPLAY_IS_LONG;
        *due = false;
    }
    return WEIR_OK;
}

static enum weir_status run_all(struct runner *r, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    bool due = true;

    r->begin_ns = now_ns();
    for (uint32_t i = 0; i < r->options->n_warm_up && status == WEIR_OK; i++)
        status = repeat(r, true, err);
    while (due && status == WEIR_OK) {
        status = repeat(r, false, err);
        if (status == WEIR_OK)
            status = is_due(r, &due, &r->result->end, err);
    }
    return status;
}

enum weir_status runner_run(struct runner *r, struct weir_error *err)
{
    struct replay_result *result = r->result;
    size_t n_most = most_repeats(r->options);
    enum weir_status status;

    result->samples =
        arena_array(&result->arena, r->options->n_warm_up + n_most, sizeof *result->samples);
    r->passes = calloc(n_most + 1, sizeof *r->passes);
    status =
        result->samples == NULL || r->passes == NULL ? weir_error_memory(err) : run_all(r, err);
    runner_close(r);
    result->n_repeats = r->n_passes;
    return status;
}

/* Of equal ones the first. */
uint32_t runner_median(const struct runner *r)
{
    for (uint32_t i = 0; i < r->n_passes; i++) {
        uint32_t n_before = 0;

        for (uint32_t j = 0; j < r->n_passes; j++) {
            int64_t other_ns = r->passes[j].timeline->makespan_ns;
            int64_t own_ns = r->passes[i].timeline->makespan_ns;

            n_before += other_ns < own_ns || (other_ns == own_ns && j < i);
        }
        if (n_before == (r->n_passes - 1) / 2)
            return i;
    }
    return 0;
}
