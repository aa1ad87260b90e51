/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a plan to a measured timeline. Every repeat runs the same steps from the same beginning; what
 * is kept of each is when its actions ran and how long they had a processor. */
#include "replay/runner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/runner_internal.h"

#define DEADLINE_TIMES 10
#define DEADLINE_NS 10000000000
#define CACHED_BYTES (64 << 20) /* no cache holds more */

struct replay_options replay_default(const struct device_ops *ops)
{
    struct replay_options options = {
        .device = ops->name, .scale_time = 1, .n_repeats = 7, .n_warm_up = 2};

    if (ops->has_modes) {
        options.n_warm_up = 5;
        replay_repeat_as_needed(&options);
    }
    return options;
}

void replay_repeat_as_needed(struct replay_options *options)
{
    options->n_repeats = 30;
    options->n_most_repeats = 100;
}

/* The rates take the first half of the progress, the repeats the second. */
static void half_progress(void *arg, double part)
{
    const struct replay_options *options = arg;

    if (options->progress != NULL)
        options->progress(options->progress_arg, part / 2);
}

static enum weir_status measure_for(const struct binding *binding, const struct timeline *plan,
                                    const struct schedule_options *schedule,
                                    const struct replay_options *options,
                                    struct replay_result *result, struct weir_error *err)
{
    struct replay_options told = *options;
    struct rates_needs needs;
    enum weir_status status = schedule_needs(bind_of(binding), plan, schedule, &needs, err);

    if (status != WEIR_OK)
        return status;
    rates_free(&result->rates);
    result->rates = (struct rates){.n_directions = 0};
    status = rates_measure(result->ops, &needs, half_progress, &told, &result->rates, err);
    rates_needs_free(&needs);
    return status;
}

/* A scale that was chosen may leave so little that caches hold it, which they did not when the rates
 * were measured: then they are measured, and the schedule made, again. */
static enum weir_status measure_scaled(const struct binding *binding, const struct timeline *plan,
                                       const struct schedule_options *first,
                                       const struct replay_options *options,
                                       struct replay_result *result, struct weir_error *err)
{
    struct schedule_options scaled = *first;
    double footprint_bytes = result->rates.footprint_bytes * result->schedule->scale_bytes;
    const char *why = result->schedule->scale_bytes_why;
    enum weir_status status;

    if (footprint_bytes > CACHED_BYTES || footprint_bytes * 2 > result->rates.footprint_bytes)
        return WEIR_OK;
    scaled.scale_bytes = result->schedule->scale_bytes;
    why = arena_text(&result->arena, why, strlen(why));
    if (why == NULL)
        return weir_error_memory(err);
    schedule_free(result->schedule);
    result->schedule = NULL;
    status = measure_for(binding, plan, &scaled, options, result, err);
    if (status == WEIR_OK)
        status = schedule_make(binding, plan, &scaled, &result->rates, &result->schedule, err);
    if (status == WEIR_OK)
        result->schedule->scale_bytes_why = why;
    return status;
}

/* Sizes that a user chose may take more than those that Weir chooses. */
static int64_t may_use(int64_t memory_bytes, const struct replay_options *options)
{
    return options->scale_bytes > 0 ? memory_bytes / 4 * 3 : memory_bytes / 4;
}

static enum weir_status prepare(const struct binding *binding, const struct timeline *plan,
                                const struct replay_options *options, struct replay_result *result,
                                struct weir_error *err)
{
    const struct schedule_options schedule = {.scale_time = options->scale_time,
                                              .scale_bytes = options->scale_bytes,
                                              .memory_bytes = result->memory_bytes,
                                              .host_memory_bytes =
                                                  may_use(result->info.host_memory_bytes, options),
                                              .forbids_unknown = options->forbids_unknown,
                                              .unknown_by_factor = options->unknown_by_factor};
    enum weir_status status = measure_for(binding, plan, &schedule, options, result, err);

    if (status == WEIR_OK)
        status = schedule_make(binding, plan, &schedule, &result->rates, &result->schedule, err);
    return status == WEIR_OK && options->scale_bytes == 0
               ? measure_scaled(binding, plan, &schedule, options, result, err)
               : status;
}

static struct device_setup setup_for(const struct replay_options *options,
                                     const struct replay_result *result)
{
    const struct schedule *schedule = result->schedule;
    int64_t deadline_ns;

    if (__builtin_mul_overflow(schedule->makespan_ns, DEADLINE_TIMES, &deadline_ns) ||
        __builtin_add_overflow(deadline_ns, DEADLINE_NS, &deadline_ns))
        deadline_ns = INT64_MAX;
    return (struct device_setup){.mode = options->mode,
                                 .storage = options->storage,
                                 .n_queues = schedule->lanes.n_lanes,
                                 .n_steps = schedule->steps.n_steps,
                                 .n_buffers = schedule->n_buffers,
                                 .buffers = schedule->buffers,
                                 .graph = schedule->graph,
                                 .deadline_ns = deadline_ns,
                                 .memory_bytes = result->info.memory_bytes / 4 * 3,
                                 .host_memory_bytes = result->info.host_memory_bytes / 4 * 3};
}

/* The timeline is that of the median repeat. */
static enum weir_status conclude(struct runner *r, struct weir_error *err)
{
    struct replay_result *result = r->result;
    uint32_t median = runner_median(r);
    enum weir_status status;

    result->median_sample = r->options->n_warm_up + median;
    status = runner_figures(r, err);
    if (status == WEIR_OK)
        status = runner_remark(result, &r->passes[median], err);
    result->state = r->passes[median].state;
    result->timeline = r->passes[median].timeline;
    r->passes[median].timeline = NULL;
    assert(result->timeline != NULL);
    return status == WEIR_OK ? runner_explain(result, &r->passes[median], err) : status;
}

static enum weir_status run(const struct binding *binding, const struct timeline *plan,
                            const struct replay_options *options, struct replay_result *result,
                            struct weir_error *err)
{
    struct runner r = {.options = options, .result = result};
    enum weir_status status = device_find_ready(options->device, &result->ops, &result->info, err);

    if (status != WEIR_OK)
        return status;
    result->memory_bytes = may_use(result->info.memory_bytes, options);
    status = prepare(binding, plan, options, result, err);
    if (status == WEIR_OK)
        status = sharing_name(result->schedule, result->info.n_processors, &result->sharing, err);
    if (status != WEIR_OK)
        return status;
    r.setup = setup_for(options, result);
    status = runner_run(&r, err);
    if (status == WEIR_OK)
        status = conclude(&r, err);
    runner_end(&r);
    return status;
}

enum weir_status replay_run(const struct binding *binding, const struct timeline *plan,
                            const struct replay_options *options, struct replay_result **out,
                            struct weir_error *err)
{
    struct replay_result *result = calloc(1, sizeof *result);
    enum weir_status status =
        result == NULL ? weir_error_memory(err) : run(binding, plan, options, result, err);

    if (status != WEIR_OK) {
        replay_free(result);
        return status;
    }
    *out = result;
    return WEIR_OK;
}

void replay_free(struct replay_result *result)
{
    if (result == NULL)
        return;
    rates_free(&result->rates);
    schedule_free(result->schedule);
    timeline_free(result->timeline);
    arena_free(&result->arena);
    free(result);
}
