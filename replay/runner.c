/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a plan to a measured timeline. Every repeat runs the same steps from the same beginning; what
 * is kept of each is when its actions ran and how long they had a processor. */
#include "replay/runner.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/fit.h"

#define DEADLINE_TIMES 10
#define DEADLINE_NS 10000000000
#define ACTIONS (STEP_PASS + 1)
#define LAUNCH_BOUND_RATIO 0.1  /* of the makespan */
#define PERTURBED_RATIO 1.02    /* of a makespan that is timed to one that is not */
#define CACHED_BYTES (64 << 20) /* no cache holds more */

struct replay_options replay_default(void)
{
    return (struct replay_options){
        .device = "host", .scale_time = 1, .n_repeats = 7, .n_warm_up = 2};
}

/* One run of the steps. */
struct pass {
    struct timeline *timeline;
    int64_t *processor_ns, *submit_ns; /* by step */
};

struct running {
    const struct replay_options *options;
    struct replay_result *result;
    struct device *device;
    struct device_setup setup;
    struct pass *passes; /* of the repeats that count */
    uint32_t n_passes;
    char remark[480]; /* the device's, of the last run */
};

/* ---- running ---- */

static const char *queue_mechanism(struct replay_result *result, const struct step *step,
                                   const char *how, const char **known)
{
    const char **slot =
        step->queue == STEP_NO_QUEUE ? NULL : &known[step->queue * ACTIONS + step->action];
    char lane[160];
    char text[320];

    if (slot == NULL)
        return how;
    if (*slot == NULL) {
        lanes_name(result->schedule->graph, &result->schedule->lanes.lanes[step->queue], lane,
                   sizeof lane);
        (void)snprintf(text, sizeof text, "%s, queue %s", how, lane);
        *slot = arena_text(&result->arena, text, strlen(text));
    }
    return *slot;
}

/* Takes note of how the device does the step. @param known names made so far; NULL: nothing is noted */
static enum weir_status submit_step(struct running *r, uint32_t index, const char **known,
                                    struct weir_error *err)
{
    struct schedule *schedule = r->result->schedule;
    const struct step *step = &schedule->step[index];
    struct mechanism how = {NULL, NULL};
    struct replay_mechanism *mechanism;
    enum weir_status status = r->result->ops->submit(r->device, step, &how, err);

    if (status != WEIR_OK || known == NULL || step->action == STEP_PASS)
        return status;
    mechanism = &r->result->mechanisms[r->result->n_mechanisms++];
    mechanism->node = step->node;
    mechanism->name = queue_mechanism(r->result, step, how.name, known);
    mechanism->note = schedule->notes[index];
    if (how.note != NULL)
        mechanism->note = schedule->notes[index] == NULL
                              ? how.note
                              : schedule_text(schedule, "%s; %s", schedule->notes[index], how.note);
    return mechanism->name == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status open_device(struct running *r, struct weir_error *err)
{
    struct schedule *schedule = r->result->schedule;
    bool is_first = r->result->mechanisms == NULL;
    const char **known = NULL;
    enum weir_status status = WEIR_OK;

    if (is_first) {
        size_t n_known = (size_t)schedule->lanes.n_lanes * ACTIONS;

        known = arena_array(&r->result->arena, n_known, sizeof *known);
        r->result->mechanisms = arena_array(&r->result->arena, schedule->steps.n_started,
                                            sizeof *r->result->mechanisms);
        if (known == NULL || r->result->mechanisms == NULL)
            return weir_error_memory(err);
    }
    status = r->result->ops->open(&r->setup, &r->device, err);
    for (uint32_t s = 0; s < schedule->steps.n_steps && status == WEIR_OK; s++)
        status = submit_step(r, s, known, err);
    return status;
}

static void close_device(struct running *r)
{
    if (r->device != NULL)
        r->result->ops->close(r->device);
    r->device = NULL;
}

static enum weir_status begin_pass(const struct schedule *schedule, struct pass *pass,
                                   struct weir_error *err)
{
    pass->timeline = timeline_new(schedule->plan->n_nodes, graph_n_domains(schedule->graph));
    pass->processor_ns = malloc((schedule->steps.n_steps + (size_t)1) * sizeof(int64_t));
    pass->submit_ns = malloc((schedule->steps.n_steps + (size_t)1) * sizeof(int64_t));
    return pass->timeline == NULL || pass->processor_ns == NULL || pass->submit_ns == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

static void end_pass(struct pass *pass)
{
    timeline_free(pass->timeline);
    free(pass->processor_ns);
    free(pass->submit_ns);
}

static enum weir_status run_pass(struct running *r, bool is_warm_up, struct weir_error *err)
{
    struct replay_result *result = r->result;
    struct pass *pass = &r->passes[r->n_passes];
    enum weir_status status = r->device == NULL ? open_device(r, err) : WEIR_OK;

    if (status == WEIR_OK)
        status = begin_pass(result->schedule, pass, err);
    if (status == WEIR_OK)
        status = result->ops->drain(r->device, pass->timeline, err);
    if (status != WEIR_OK) {
        end_pass(pass);
        *pass = (struct pass){NULL, NULL, NULL};
        return status;
    }
    for (uint32_t s = 0; s < result->schedule->steps.n_steps; s++) {
        pass->processor_ns[s] = result->ops->processor_ns(r->device, s);
        pass->submit_ns[s] = result->ops->submitted_ns(r->device, s);
    }
    result->ops->remark(r->device, r->remark, sizeof r->remark);
    result->samples[result->n_samples++] =
        (struct replay_sample){pass->timeline->makespan_ns, is_warm_up};
    if (is_warm_up)
        end_pass(pass);
    else
        r->n_passes++;
    if (r->options->is_cold)
        close_device(r);
    return WEIR_OK;
}

/* The pass with the median makespan, the shorter of two; of equal ones the first. */
static uint32_t find_median(const struct running *r)
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

/* ---- telling what happened ---- */

/* A run that waits for its actions to be handed over says little of the device. */
static enum weir_status judge_launches(struct replay_result *result, struct weir_error *err)
{
    int64_t submission_ns = result->deviate.makespan.submission_ns;
    double part = (double)submission_ns / (double)(result->timeline->makespan_ns + 1);
    const char *what;

    if (!result->ops->has_modes || part <= LAUNCH_BOUND_RATIO)
        return WEIR_OK;
    what =
        schedule_text(result->schedule,
                      "launch-bound: for %.0f %% of the run its critical chain waits for actions "
                      "to be handed over",
                      100 * part);
    return what == NULL ? weir_error_memory(err)
                        : schedule_deviates(result->schedule, (weir_node){WEIR_NONE}, what,
                                            submission_ns, err);
}

/* Of the pass whose timeline is the run's. */
static enum weir_status explain(struct replay_result *result, const struct pass *pass,
                                struct weir_error *err)
{
    struct schedule *schedule = result->schedule;
    struct step_times *times = malloc((schedule->steps.n_steps + (size_t)1) * sizeof *times);
    struct step_order order = {NULL, NULL, 0};
    enum weir_status status = times == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK)
        status = step_order_make(schedule, &order, err);
    if (status == WEIR_OK) {
        times_find(schedule, &order, result->timeline, 1, times);
        status = account_complete(schedule, times, result->timeline, &result->overhead, err);
    }
    if (status == WEIR_OK)
        status = deviate_find(schedule, &order, result->timeline, times, pass->submit_ns,
                              &result->arena, &result->deviate, err);
    if (status == WEIR_OK)
        status = judge_launches(result, err);
    if (status == WEIR_OK)
        status = deviations_list(schedule, result->timeline, pass->processor_ns, &result->deviate,
                                 &result->arena, &result->deviations, err);
    result->n_deviations_kept = result->deviations.n_list < REPLAY_DEVIATIONS
                                    ? result->deviations.n_list
                                    : REPLAY_DEVIATIONS;
    step_order_free(&order);
    free(times);
    return status;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The same runs again without timing them: what timing costs. */
static enum weir_status run_bare(struct running *r, struct weir_error *err)
{
    uint32_t n_runs = r->options->n_warm_up + r->options->n_repeats;
    int64_t *makespans_ns = malloc(((size_t)r->options->n_repeats + 1) * sizeof *makespans_ns);
    struct timeline *timeline = timeline_new(r->result->schedule->plan->n_nodes,
                                             graph_n_domains(r->result->schedule->graph));
    enum weir_status status =
        makespans_ns == NULL || timeline == NULL ? weir_error_memory(err) : WEIR_OK;
    uint32_t n = 0;

    r->setup.is_bare = true;
    for (uint32_t i = 0; i < n_runs && status == WEIR_OK; i++) {
        status = r->device == NULL ? open_device(r, err) : WEIR_OK;
        if (status == WEIR_OK)
            status = r->result->ops->drain(r->device, timeline, err);
        if (status == WEIR_OK && i >= r->options->n_warm_up)
            makespans_ns[n++] = timeline->makespan_ns;
        if (r->options->progress != NULL)
            r->options->progress(r->options->progress_arg, 1);
        if (r->options->is_cold)
            close_device(r);
    }
    close_device(r);
    r->setup.is_bare = false;
    if (status == WEIR_OK) {
        qsort(makespans_ns, n, sizeof *makespans_ns, compare_ns);
        r->result->bare_ns = makespans_ns[(n - 1) / 2];
    }
    free(makespans_ns);
    timeline_free(timeline);
    return status;
}

/* A run that timing disturbs says so. */
static enum weir_status judge_timing(const struct running *r, struct weir_error *err)
{
    int64_t timed_ns = r->result->timeline->makespan_ns, bare_ns = r->result->bare_ns;
    const char *what;

    if (bare_ns <= 0 || (double)timed_ns <= PERTURBED_RATIO * (double)bare_ns)
        return WEIR_OK;
    what = schedule_text(r->result->schedule,
                         "perturbed: timing makes the run %.1f %% longer than it is without; its "
                         "times are of a run that is timed",
                         100 * ((double)timed_ns / (double)bare_ns - 1));
    return what == NULL ? weir_error_memory(err)
                        : schedule_deviates(r->result->schedule, (weir_node){WEIR_NONE}, what,
                                            timed_ns - bare_ns, err);
}

/* What the device says of its times goes with the run. */
static enum weir_status take_remark(struct running *r, struct weir_error *err)
{
    const char *kept;

    if (r->remark[0] == '\0')
        return WEIR_OK;
    kept = schedule_text(r->result->schedule, "%s", r->remark);
    return kept == NULL
               ? weir_error_memory(err)
               : schedule_deviates(r->result->schedule, (weir_node){WEIR_NONE}, kept, -1, err);
}

/* ---- putting it together ---- */

static enum weir_status run_all(struct running *r, struct weir_error *err)
{
    uint32_t n_runs = r->options->n_warm_up + r->options->n_repeats;
    struct replay_result *result = r->result;
    enum weir_status status = WEIR_OK;
    uint32_t median;

    result->samples = arena_array(&result->arena, n_runs, sizeof *result->samples);
    r->passes = calloc((size_t)r->options->n_repeats + 1, sizeof *r->passes);
    if (result->samples == NULL || r->passes == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < n_runs && status == WEIR_OK; i++) {
        status = run_pass(r, i < r->options->n_warm_up, err);
        if (r->options->progress != NULL)
            r->options->progress(r->options->progress_arg, 0.5 + 0.5 * (i + 1) / n_runs);
    }
    if (status == WEIR_OK)
        status = take_remark(r, err);
    close_device(r);
    if (status != WEIR_OK)
        return status;
    median = find_median(r);
    result->median_sample = r->options->n_warm_up + median;
    result->timeline = r->passes[median].timeline;
    r->passes[median].timeline = NULL;
    assert(result->timeline != NULL);
    if (result->ops->has_modes) {
        status = run_bare(r, err);
        if (status == WEIR_OK)
            status = judge_timing(r, err);
        if (status != WEIR_OK)
            return status;
    }
    return explain(result, &r->passes[median], err);
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

static enum weir_status prepare(const struct binding *binding, const struct timeline *plan,
                                const struct replay_options *options, struct replay_result *result,
                                struct weir_error *err)
{
    /* Sizes that a user chose may take more than those that Weir chooses. */
    const struct schedule_options schedule = {.scale_time = options->scale_time,
                                              .scale_bytes = options->scale_bytes,
                                              .memory_bytes = result->memory_bytes,
                                              .forbids_unknown = options->forbids_unknown,
                                              .unknown_by_factor = options->unknown_by_factor};
    enum weir_status status = measure_for(binding, plan, &schedule, options, result, err);

    if (status == WEIR_OK)
        status = schedule_make(binding, plan, &schedule, &result->rates, &result->schedule, err);
    return status == WEIR_OK && options->scale_bytes == 0
               ? measure_scaled(binding, plan, &schedule, options, result, err)
               : status;
}

static enum weir_status run(const struct binding *binding, const struct timeline *plan,
                            const struct replay_options *options, struct replay_result *result,
                            struct weir_error *err)
{
    struct running r = {.options = options, .result = result};
    int64_t deadline_ns;
    enum weir_status status = device_find_ready(options->device, &result->ops, &result->info, err);

    if (status != WEIR_OK)
        return status;
    result->bare_ns = -1;
    result->memory_bytes = options->scale_bytes > 0 ? result->info.memory_bytes / 4 * 3
                                                    : result->info.memory_bytes / 4;
    status = prepare(binding, plan, options, result, err);
    if (status == WEIR_OK)
        status = sharing_name(result->schedule, result->info.n_processors, &result->sharing, err);
    if (status != WEIR_OK)
        return status;
    if (__builtin_mul_overflow(result->schedule->makespan_ns, DEADLINE_TIMES, &deadline_ns) ||
        __builtin_add_overflow(deadline_ns, DEADLINE_NS, &deadline_ns))
        deadline_ns = INT64_MAX;
    r.setup = (struct device_setup){.mode = options->mode,
                                    .n_queues = result->schedule->lanes.n_lanes,
                                    .n_steps = result->schedule->steps.n_steps,
                                    .n_buffers = result->schedule->n_buffers,
                                    .buffers = result->schedule->buffers,
                                    .graph = result->schedule->graph,
                                    .deadline_ns = deadline_ns,
                                    .memory_bytes = result->info.memory_bytes / 4 * 3};
    status = run_all(&r, err);
    for (uint32_t i = 0; i < r.n_passes; i++)
        end_pass(&r.passes[i]);
    free(r.passes);
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

static void find_interval(double *makespans_ns, uint32_t n, struct replay_spread *spread)
{
    struct weir_error err;
    struct fit_ratio fit;

    for (uint32_t i = 0; i < n; i++)
        makespans_ns[i] = log(makespans_ns[i]);
    if (fit_ratio(makespans_ns, n, &fit, &err) == WEIR_OK) {
        spread->low_ns = llround(fit.interval.low);
        spread->high_ns = llround(fit.interval.high);
    }
}

struct replay_spread replay_spread_of(const struct replay_result *result)
{
    struct replay_spread spread = {.least_ns = INT64_MAX};
    double *makespans_ns = malloc((result->n_samples + (size_t)1) * sizeof *makespans_ns);
    uint32_t n = 0;

    spread.median_ns = result->samples[result->median_sample].makespan_ns;
    for (uint32_t i = 0; i < result->n_samples; i++) {
        int64_t ns = result->samples[i].makespan_ns;

        if (result->samples[i].is_warm_up)
            continue;
        spread.least_ns = ns < spread.least_ns ? ns : spread.least_ns;
        spread.greatest_ns = ns > spread.greatest_ns ? ns : spread.greatest_ns;
        if (makespans_ns != NULL)
            makespans_ns[n++] = (double)ns;
    }
    if (makespans_ns != NULL && spread.median_ns > 0 && n > 0)
        spread.quartiles_ratio =
            (fit_quantile(makespans_ns, n, 0.75) - fit_quantile(makespans_ns, n, 0.25)) /
            (double)spread.median_ns;
    if (makespans_ns != NULL && spread.least_ns > 0)
        find_interval(makespans_ns, n, &spread);
    free(makespans_ns);
    return spread;
}
