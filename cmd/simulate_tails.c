/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples and perturbations of weir simulate: options, and the work. */
#include "cmd/simulate_tails.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "base/workers.h"
#include "sim/sample.h"

#define SAMPLES_MOST 10000000
#define TRIES_MOST 1000000

/* --- options ---------------------------------------------------------------------------------- */

static enum weir_status read_numbers(const struct tails_request *request, struct tailed *tailed,
                                     struct weir_error *err)
{
    int64_t n_samples = 0, n_threads = 1, n_tries = 32;
    enum weir_status status = WEIR_OK;

    if (request->samples != NULL) {
        status =
            cmd_option_integer("--samples", request->samples, 1, SAMPLES_MOST, &n_samples, err);
    }
    if (status == WEIR_OK && request->threads != NULL) {
        status =
            cmd_option_integer("--threads", request->threads, 1, WORKERS_MOST, &n_threads, err);
    }
    if (status == WEIR_OK && request->sample != NULL) {
        status =
            cmd_option_integer("--sample", request->sample, 0, INT32_MAX, &tailed->sample, err);
    }
    if (status == WEIR_OK && request->tries != NULL) {
        status = cmd_option_integer("--tries", request->tries, 1, TRIES_MOST, &n_tries, err);
    }
    tailed->n_samples = (uint32_t)n_samples;
    tailed->n_threads = (uint32_t)n_threads;
    tailed->n_tries = (uint32_t)n_tries;
    return status;
}

static enum weir_status read_words(const struct tails_request *request, struct tailed *tailed,
                                   struct weir_error *err)
{
    tailed->has_quantile = request->quantile != NULL;
    if (tailed->has_quantile && !tails_figure_from(request->quantile, &tailed->quantile)) {
        return weir_error_set(err, WEIR_USAGE,
                              "--quantile %.80s: expected mean, median, p90, p95, p99 or worst",
                              request->quantile);
    }
    if (request->perturb != NULL && (number_time(request->perturb, strlen(request->perturb),
                                                 &tailed->perturb_ns) != NUMBER_OK ||
                                     tailed->perturb_ns == 0)) {
        return weir_error_set(err, WEIR_USAGE,
                              "--perturb %.80s: a time above 0 was expected, such as 1ns",
                              request->perturb);
    }
    return WEIR_OK;
}

/* What means nothing without another option, or against it. */
static enum weir_status check_together(const struct tails_request *request,
                                       const struct scenario_request *scenario,
                                       struct weir_error *err)
{
    const struct {
        const char *name;
        bool is_given, may_be;
        const char *needs;
    } rules[] = {
        {"--fixed-order", request->is_fixed_order, request->samples != NULL, "--samples"},
        {"--quantile", request->quantile != NULL, request->samples != NULL, "--samples"},
        {"--threads", request->threads != NULL,
         request->samples != NULL || request->perturb != NULL, "--samples or --perturb"},
        {"--tries", request->tries != NULL, request->perturb != NULL, "--perturb"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].is_given && !rules[i].may_be) {
            return weir_error_set(err, WEIR_USAGE, "%s is of use only with %s", rules[i].name,
                                  rules[i].needs);
        }
    }
    if (request->sample != NULL && (request->samples != NULL || request->perturb != NULL)) {
        return weir_error_set(err, WEIR_USAGE, "--sample runs one sample: give it without %s",
                              request->samples != NULL ? "--samples" : "--perturb");
    }
    if (request->is_fixed_order && scenario->contention != NULL &&
        strcmp(scenario->contention, "none") != 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "--fixed-order with --contention %.40s: how long a node takes would "
                              "depend on what runs beside it, and a fixed order does not say that; "
                              "leave out one of the two",
                              scenario->contention);
    }
    return WEIR_OK;
}

enum weir_status tailed_options(const struct tails_request *request,
                                const struct scenario_request *scenario, struct tailed *tailed,
                                struct weir_error *err)
{
    enum weir_status status;

    *tailed =
        (struct tailed){.is_fixed_order = request->is_fixed_order, .sample = -1, .perturb_ns = -1};
    status = read_numbers(request, tailed, err);
    if (status == WEIR_OK) {
        status = read_words(request, tailed, err);
    }
    if (status == WEIR_OK) {
        status = check_together(request, scenario, err);
    }
    /* Nobody knows what a policy from outside does on several. */
    if (scenario->policy != NULL && strchr(scenario->policy, '/') != NULL) {
        tailed->n_threads = 1;
    }
    return status;
}

/* --- one sample as the run -------------------------------------------------------------------- */

enum weir_status tailed_draw(struct tailed *tailed, const struct scenario *scenario,
                             struct simulate_options *options, struct weir_error *err)
{
    const struct graph *graph = plan_graph(scenario->plan);
    struct sampler_source *source = NULL;
    struct sampler *sampler;
    enum weir_status status;

    if (tailed->sample < 0) {
        return WEIR_OK;
    }
    status = sampler_new(graph, NULL, graph_n_nodes(graph), &sampler, err);
    if (status != WEIR_OK) {
        return status;
    }
    source = sampler_source_new();
    tailed->length_ns = malloc(((size_t)graph_n_nodes(graph) + 1) * sizeof *tailed->length_ns);
    if (source == NULL || tailed->length_ns == NULL) {
        status = weir_error_memory(err);
    } else {
        sampler_fill(sampler, tailed->length_ns);
        sampler_draw(sampler, source, (uint64_t)scenario->seed, (uint64_t)tailed->sample,
                     tailed->length_ns);
        options->length_ns = tailed->length_ns;
    }
    sampler_source_free(source);
    sampler_free(sampler);
    return status;
}

/* --- samples ---------------------------------------------------------------------------------- */

static struct sampling_options
sampling_of(const struct tailed *tailed, const struct scenario *scenario, struct progress *progress)
{
    return (struct sampling_options){
        .seed = (uint64_t)scenario->seed,
        .n_samples = tailed->n_samples,
        .n_threads = tailed->n_threads,
        .simulate = scenario->simulate,
        .given = scenario->graph,
        .planning = scenario->planning,
        .progress = progress_show,
        .progress_arg = progress,
    };
}

static enum weir_status list_rows(struct tailed *tailed, struct weir_error *err)
{
    const struct sampling *sampling = &tailed->sampling;

    tailed->rows = malloc(((size_t)sampling->n_samples + 1) * sizeof *tailed->rows);
    if (tailed->rows == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < sampling->n_samples; i++) {
        tailed->rows[i] = (struct run_sample){
            .number = i,
            .makespan_ns = sampling->makespan_ns[i],
            .status = sampling->status[i],
            .peak_bytes = sampling->peak_bytes == NULL
                              ? NULL
                              : sampling->peak_bytes + (size_t)i * sampling->n_domains};
    }
    return WEIR_OK;
}

/* Of the complete samples. @param domain WEIR_NONE: their makespans */
static enum weir_status find_tails(const struct tailed *tailed, uint32_t domain, uint64_t seed,
                                   int64_t *values, struct tails *out, struct weir_error *err)
{
    const struct sampling *sampling = &tailed->sampling;
    size_t n = 0;

    for (uint32_t i = 0; i < sampling->n_samples; i++) {
        if (sampling->status[i] == RUN_COMPLETE) {
            values[n++] = domain == WEIR_NONE
                              ? sampling->makespan_ns[i]
                              : sampling->peak_bytes[(size_t)i * sampling->n_domains + domain];
        }
    }
    return tails_find(values, n, seed, out, err);
}

static enum weir_status spread(struct tailed *tailed, uint64_t seed, struct weir_error *err)
{
    const struct sampling *sampling = &tailed->sampling;
    int64_t *values = malloc(((size_t)sampling->n_samples + 1) * sizeof *values);
    enum weir_status status = values == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK) {
        status = find_tails(tailed, WEIR_NONE, seed, values, &tailed->makespan_ns, err);
    }
    if (status == WEIR_OK && sampling->peak_bytes != NULL) {
        tailed->peak_bytes = calloc((size_t)sampling->n_domains + 1, sizeof *tailed->peak_bytes);
        status = tailed->peak_bytes == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    for (uint32_t i = 0;
         i < sampling->n_domains && status == WEIR_OK && sampling->peak_bytes != NULL; i++) {
        status = find_tails(tailed, i, seed, values, &tailed->peak_bytes[i], err);
    }
    free(values);
    tailed->is_spread = status == WEIR_OK;
    return status;
}

static enum weir_status sample(struct tailed *tailed, const struct scenario *scenario,
                               const struct timeline *timeline, struct progress *progress,
                               struct weir_error *err)
{
    struct sampling_options options = sampling_of(tailed, scenario, progress);
    enum weir_status status;

    progress_phase(progress, "sampling");
    options.fixed_order = tailed->is_fixed_order ? timeline : NULL;
    status = sampling_run(scenario->plan, &options, &tailed->sampling, err);
    if (status == WEIR_OK) {
        status = list_rows(tailed, err);
    }
    return status == WEIR_OK && tailed->sampling.n_complete > 0
               ? spread(tailed, (uint64_t)scenario->seed, err)
               : status;
}

/* --- perturbations ---------------------------------------------------------------------------- */

#define PERTURB_STREAM 1 /* of the seed: 0 is the policy's */

/* Nodes that took time, so many of them, each once while there are enough: the first of a shuffle. */
static enum weir_status choose_nodes(const struct tailed *tailed, const struct scenario *scenario,
                                     const struct timeline *timeline, uint32_t **out, uint32_t *n,
                                     struct weir_error *err)
{
    uint32_t *nodes = malloc(((size_t)timeline->n_nodes + 1) * sizeof *nodes), n_nodes = 0;
    struct random_stream random;

    if (nodes == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        if (timeline->spans[i].start_ns >= 0 && timeline->spans[i].isolated_ns > 0) {
            nodes[n_nodes++] = i;
        }
    }
    random_seed(&random, (uint64_t)scenario->seed, PERTURB_STREAM);
    *n = n_nodes < tailed->n_tries ? n_nodes : tailed->n_tries;
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t at = i + (uint32_t)random_below(&random, n_nodes - i), node = nodes[at];

        nodes[at] = nodes[i];
        nodes[i] = node;
    }
    *out = nodes;
    return WEIR_OK;
}

static int by_move(const void *left, const void *right)
{
    const struct perturbation *a = left, *b = right;

    if (a->moved_ns != b->moved_ns) {
        return a->moved_ns < b->moved_ns ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static enum weir_status list_moves(struct tailed *tailed, const struct sampling *sampling,
                                   const uint32_t *nodes, int64_t makespan_ns,
                                   struct weir_error *err)
{
    tailed->moves = malloc(((size_t)sampling->n_samples + 1) * sizeof *tailed->moves);
    if (tailed->moves == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < sampling->n_samples; i++) {
        if (sampling->status[i] == RUN_COMPLETE) {
            tailed->moves[tailed->n_moves++] =
                (struct perturbation){nodes[i], sampling->makespan_ns[i] - makespan_ns};
        }
    }
    tailed->n_stuck = sampling->n_samples - tailed->n_moves;
    qsort(tailed->moves, tailed->n_moves, sizeof *tailed->moves, by_move);
    return WEIR_OK;
}

static enum weir_status perturb(struct tailed *tailed, const struct scenario *scenario,
                                const struct timeline *timeline, struct progress *progress,
                                struct weir_error *err)
{
    struct sampling_options options = sampling_of(tailed, scenario, progress);
    struct sampling sampling = {0};
    uint32_t *nodes = NULL;
    enum weir_status status =
        choose_nodes(tailed, scenario, timeline, &nodes, &options.n_samples, err);

    if (status == WEIR_OK) {
        progress_phase(progress, "perturbing");
        options.longer = nodes;
        options.longer_ns = tailed->perturb_ns;
        status = sampling_run(scenario->plan, &options, &sampling, err);
    }
    if (status == WEIR_OK) {
        status = list_moves(tailed, &sampling, nodes, timeline->makespan_ns, err);
    }
    sampling_free(&sampling);
    free(nodes);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

enum weir_status tailed_run(struct tailed *tailed, const struct scenario *scenario,
                            const struct timeline *timeline, struct progress *progress,
                            struct weir_error *err)
{
    bool is_complete = timeline->status == RUN_COMPLETE;
    enum weir_status status = WEIR_OK;

    if (tailed->n_samples > 0 && (is_complete || !tailed->is_fixed_order)) {
        status = sample(tailed, scenario, timeline, progress, err);
    }
    if (status == WEIR_OK && tailed->perturb_ns > 0 && is_complete) {
        status = perturb(tailed, scenario, timeline, progress, err);
    }
    return status;
}

void tailed_free(struct tailed *tailed)
{
    free(tailed->length_ns);
    sampling_free(&tailed->sampling);
    free(tailed->rows);
    free(tailed->peak_bytes);
    free(tailed->moves);
}
