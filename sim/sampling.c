/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop over samples. Threads share what does not change: the compiled plan, or the order, and what
 * is drawn. Each has a row of lengths and a source of its own, and writes the results of its samples
 * only. Of several errors the one of the lowest number is told, as a single thread would tell it. */
#include "sim/sampling.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "sim/retime_holds.h"
#include "sim/sample.h"

/* What a thread has for itself. */
struct hand {
    struct sampler_source *source;
    int64_t *length_ns;
    int64_t *start_ns;            /* with a fixed order */
    struct retime_event *scratch; /* likewise, where its peaks can be told */
    struct weir_error err;
    uint32_t failed; /* the sample that err is about; n_samples: none */
    char *explanation;
    uint32_t explained; /* the sample that got stuck first of this thread's; n_samples: none */
};

struct job {
    const struct plan *plan;
    const struct sampling_options *options;
    struct sampling *out;
    struct sampler *sampler;
    struct simulator *simulator; /* NULL with a fixed order */
    struct retime order;
    struct retime_holds *holds; /* NULL: its peaks cannot be told */
    bool is_steered;
    uint32_t n_hands;
    struct hand *hands;
    atomic_uint_least32_t first_failed; /* no need to run those after it */
    atomic_uint_least32_t n_done;
};

/* --- one sample ------------------------------------------------------------------------------- */

static enum weir_status retime_sample(struct job *job, uint32_t number, struct hand *hand)
{
    int64_t makespan_ns = retime_pass(&job->order, hand->length_ns, hand->start_ns);

    if (makespan_ns == INT64_MAX) {
        return weir_error_set(&hand->err, WEIR_INPUT,
                              "sample %" PRIu32 " ends past 2^63 ns: some duration has a deviation "
                              "that is too large",
                              number);
    }
    job->out->makespan_ns[number] = makespan_ns;
    job->out->status[number] = RUN_COMPLETE;
    if (job->holds != NULL) {
        retime_peaks(job->holds, hand->length_ns, hand->start_ns, hand->scratch,
                     job->out->peak_bytes + (size_t)number * job->out->n_domains);
    }
    return WEIR_OK;
}

/* The plan again, for a policy whose state no run has changed. */
static enum weir_status plan_again(struct job *job, struct plan **out, struct weir_error *err)
{
    struct report *report = report_new(0);
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    status = plan_make(job->options->given, &job->options->planning, report, out, err);
    report_free(report);
    return status;
}

static void keep_result(struct job *job, uint32_t number, struct hand *hand,
                        struct simulate_result *result)
{
    struct sampling *out = job->out;
    size_t row = (size_t)number * out->n_domains;

    out->makespan_ns[number] = result->timeline->makespan_ns;
    out->status[number] = result->timeline->status;
    for (uint32_t i = 0; i < out->n_domains; i++) {
        out->peak_bytes[row + i] = result->timeline->peak_bytes[i];
    }
    if (result->explanation != NULL && number < hand->explained) {
        free(hand->explanation);
        hand->explanation = result->explanation;
        hand->explained = number;
        result->explanation = NULL;
    }
    timeline_free(result->timeline);
    free(result->explanation);
}

static enum weir_status simulate_sample(struct job *job, uint32_t number, struct hand *hand)
{
    struct simulate_options options = job->options->simulate;
    struct plan *own = NULL;
    struct simulate_result result;
    enum weir_status status = WEIR_OK;

    options.keeps_details = false;
    options.progress = NULL;
    options.length_ns = hand->length_ns;
    if (job->is_steered) {
        status = plan_again(job, &own, &hand->err);
    }
    if (status == WEIR_OK) {
        status = simulator_run(job->simulator, own != NULL ? own : job->plan, &options, &result,
                               &hand->err);
    }
    if (status == WEIR_OK) {
        keep_result(job, number, hand, &result);
    } else {
        status = weir_error_within(&hand->err, "sample %" PRIu32, number);
    }
    plan_free(own);
    return status;
}

static enum weir_status draw_sample(struct job *job, uint32_t number, struct hand *hand)
{
    sampler_draw(job->sampler, hand->source, job->options->seed, number, hand->length_ns);
    return job->simulator == NULL ? retime_sample(job, number, hand)
                                  : simulate_sample(job, number, hand);
}

static enum weir_status lengthen_sample(struct job *job, uint32_t number, struct hand *hand)
{
    int64_t *length_ns = &hand->length_ns[job->options->longer[number]], mean_ns = *length_ns;
    enum weir_status status;

    if (__builtin_add_overflow(mean_ns, job->options->longer_ns, length_ns)) {
        return weir_error_set(
            &hand->err, WEIR_INPUT,
            "node %s would take more than 2^63 ns: a smaller change is expected",
            graph_node_name(plan_graph(job->plan), (weir_node){job->options->longer[number]}));
    }
    status = simulate_sample(job, number, hand);
    *length_ns = mean_ns;
    return status;
}

static void note_failure(struct job *job, uint32_t number, struct hand *hand)
{
    uint_least32_t first = atomic_load(&job->first_failed);

    hand->failed = number;
    while (number < first && !atomic_compare_exchange_weak(&job->first_failed, &first, number)) {
    }
}

/* Samples are begun in the order of their numbers: so every one before the first that fails is run. */
static void run_sample(void *arg, uint32_t number, uint32_t thread)
{
    struct job *job = arg;
    struct hand *hand = &job->hands[thread];
    const struct sampling_options *options = job->options;
    enum weir_status status;

    if (number > atomic_load(&job->first_failed) || hand->failed < number) {
        return;
    }
    status = options->longer == NULL ? draw_sample(job, number, hand)
                                     : lengthen_sample(job, number, hand);
    if (status != WEIR_OK) {
        note_failure(job, number, hand);
    }
    atomic_fetch_add(&job->n_done, 1);
    if (thread == 0 && options->progress != NULL) {
        options->progress(options->progress_arg,
                          (double)atomic_load(&job->n_done) / options->n_samples);
    }
}

/* --- what a fixed order cannot say ------------------------------------------------------------ */

static bool forbids_overlap(const struct graph *graph, const struct simulate_options *options)
{
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        enum overlap_rule rule = graph_overlap(graph, i)->rule;

        if (rule == OVERLAP_FORBIDDEN ||
            (rule == OVERLAP_UNKNOWN && options->unknown_overlap == UNKNOWN_FORBID)) {
            return true;
        }
    }
    return false;
}

/* A node that took no time overlapped nothing: so the order does not say after what it may start when
 * it does take some. */
static enum weir_status check_order(struct job *job, struct weir_error *err)
{
    const struct graph *graph = plan_graph(job->plan);
    uint32_t place = sampler_zero_mean(job->sampler);

    if (place == WEIR_NONE || !forbids_overlap(graph, &job->options->simulate)) {
        return WEIR_OK;
    }
    return weir_error_set(
        err, WEIR_INPUT,
        "the mean duration of node %s is 0 and its draws are not: in a fixed order "
        "nothing says when it may run where overlaps are forbidden; simulate the "
        "samples with dispatch",
        graph_node_name(graph, job->order.nodes[place]));
}

static enum weir_status make_order(struct job *job, struct weir_error *err)
{
    const struct sampling_options *options = job->options;
    uint32_t n_nodes = graph_n_nodes(plan_graph(job->plan)), *places;
    enum weir_status status;

    if (options->simulate.contention != CONTENTION_NONE) {
        return weir_error_set(
            err, WEIR_INPUT,
            "a fixed order cannot be timed with contention %s: how long a node "
            "takes would depend on what runs beside it; simulate the samples with "
            "dispatch, or without contention",
            contention_name(options->simulate.contention));
    }
    status = retime_make(plan_binding(job->plan), options->fixed_order, &options->simulate,
                         &job->order, err);
    if (status != WEIR_OK) {
        return status;
    }
    status = retime_holds_new(plan_binding(job->plan), &job->order, &job->holds, err);
    if (status != WEIR_OK) {
        return status;
    }
    places = malloc(((size_t)n_nodes + 1) * sizeof *places);
    if (places == NULL) {
        return weir_error_memory(err);
    }
    memset(places, 0xff, n_nodes * sizeof *places); /* WEIR_NONE */
    for (uint32_t i = 0; i < job->order.n_nodes; i++) {
        if (weir_is(job->order.nodes[i])) {
            places[job->order.nodes[i].index] = i;
        }
    }
    status = sampler_new(plan_graph(job->plan), places, job->order.n_nodes, &job->sampler, err);
    free(places);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum weir_status make_hand(const struct job *job, struct hand *hand, struct weir_error *err)
{
    size_t n = job->simulator == NULL ? job->order.n_nodes : graph_n_nodes(plan_graph(job->plan));

    hand->failed = hand->explained = UINT32_MAX;
    hand->source = sampler_source_new();
    hand->length_ns = malloc((n + 1) * sizeof *hand->length_ns);
    hand->start_ns = job->simulator == NULL ? malloc((n + 1) * sizeof *hand->start_ns) : NULL;
    if (job->holds != NULL) {
        hand->scratch = malloc(retime_holds_room(job->holds) * sizeof *hand->scratch);
    }
    if (hand->source == NULL || hand->length_ns == NULL ||
        (job->simulator == NULL && hand->start_ns == NULL) ||
        (job->holds != NULL && hand->scratch == NULL)) {
        return weir_error_memory(err);
    }
    sampler_fill(job->sampler, hand->length_ns);
    return WEIR_OK;
}

static enum weir_status make_result(const struct job *job, struct weir_error *err)
{
    struct sampling *out = job->out;
    size_t n = job->options->n_samples;

    out->n_samples = job->options->n_samples;
    out->n_domains = graph_n_domains(plan_graph(job->plan));
    out->n_random = sampler_n_random(job->sampler);
    out->makespan_ns = calloc(n + 1, sizeof *out->makespan_ns);
    out->status = calloc(n + 1, sizeof *out->status);
    if (job->simulator != NULL || job->holds != NULL) {
        out->peak_bytes = calloc(n * out->n_domains + 1, sizeof *out->peak_bytes);
    }
    return out->makespan_ns == NULL || out->status == NULL ||
                   ((job->simulator != NULL || job->holds != NULL) && out->peak_bytes == NULL)
               ? weir_error_memory(err)
               : WEIR_OK;
}

static enum weir_status set_up(struct job *job, struct weir_error *err)
{
    const struct sampling_options *options = job->options;
    enum weir_status status;

    if (options->fixed_order != NULL) {
        status = make_order(job, err);
    } else {
        status = simulator_new(plan_binding(job->plan), &job->simulator, err);
        if (status == WEIR_OK) {
            const struct graph *graph = plan_graph(job->plan);

            status = sampler_new(graph, NULL, graph_n_nodes(graph), &job->sampler, err);
        }
    }
    if (status == WEIR_OK) {
        status = make_result(job, err);
    }
    job->hands = status == WEIR_OK ? calloc(options->n_threads, sizeof *job->hands) : NULL;
    if (status == WEIR_OK && job->hands == NULL) {
        status = weir_error_memory(err);
    }
    for (; job->n_hands < options->n_threads && status == WEIR_OK; job->n_hands++) {
        status = make_hand(job, &job->hands[job->n_hands], err);
    }
    return status == WEIR_OK && options->fixed_order != NULL ? check_order(job, err) : status;
}

/* What the threads found, put together. */
static enum weir_status gather(struct job *job, struct weir_error *err)
{
    uint32_t explained = UINT32_MAX;

    for (uint32_t i = 0; i < job->n_hands; i++) {
        struct hand *hand = &job->hands[i];

        if (hand->failed == atomic_load(&job->first_failed) && hand->failed != UINT32_MAX) {
            *err = hand->err;
            return err->status;
        }
        if (hand->explained < explained) {
            explained = hand->explained;
            free(job->out->explanation);
            job->out->explanation = hand->explanation;
            hand->explanation = NULL;
        }
    }
    for (uint32_t i = 0; i < job->out->n_samples; i++) {
        job->out->n_complete += job->out->status[i] == RUN_COMPLETE ? 1 : 0;
    }
    return WEIR_OK;
}

static void clear_away(struct job *job)
{
    for (uint32_t i = 0; job->hands != NULL && i < job->options->n_threads; i++) {
        sampler_source_free(job->hands[i].source);
        free(job->hands[i].length_ns);
        free(job->hands[i].start_ns);
        free(job->hands[i].scratch);
        free(job->hands[i].explanation);
    }
    free(job->hands);
    sampler_free(job->sampler);
    simulator_free(job->simulator);
    retime_holds_free(job->holds);
    retime_free(&job->order);
}

enum weir_status sampling_run(const struct plan *plan, const struct sampling_options *options,
                              struct sampling *out, struct weir_error *err)
{
    struct sampling made = {0};
    struct job job = {.plan = plan,
                      .options = options,
                      .out = &made,
                      .is_steered = options->fixed_order == NULL && simulator_is_steered(plan)};
    enum weir_status status;

    atomic_init(&job.first_failed, UINT32_MAX);
    atomic_init(&job.n_done, 0);
    status = set_up(&job, err);
    if (status == WEIR_OK) {
        workers_run(options->n_samples, options->n_threads, run_sample, &job);
        status = gather(&job, err);
    }
    clear_away(&job);
    if (status != WEIR_OK) {
        sampling_free(&made);
        return status;
    }
    *out = made;
    return WEIR_OK;
}

void sampling_free(struct sampling *sampling)
{
    free(sampling->makespan_ns);
    free(sampling->status);
    free(sampling->peak_bytes);
    free(sampling->explanation);
    *sampling = (struct sampling){0};
}
