/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More of a simulation than one run: samples with drawn lengths, one of them as a run of its own, and
 * how far a small change moves the makespan. */
#ifndef WEIR_CMD_SIMULATE_TAILS_H
#define WEIR_CMD_SIMULATE_TAILS_H

#include "cmd/progress.h"
#include "cmd/scenario.h"
#include "judge/tails.h"
#include "sim/sampling.h"

struct tails_request {
    const char *samples, *threads, *quantile, *sample, *perturb, *tries;
    bool is_fixed_order;
};

#define TAILS_OPTIONS(request)                                                     \
    {.name = "--samples", .takes_value = true, .value = &(request).samples},       \
        {.name = "--threads", .takes_value = true, .value = &(request).threads},   \
        {.name = "--fixed-order", .flag = &(request).is_fixed_order},              \
        {.name = "--quantile", .takes_value = true, .value = &(request).quantile}, \
        {.name = "--sample", .takes_value = true, .value = &(request).sample},     \
        {.name = "--perturb", .takes_value = true, .value = &(request).perturb},   \
    {                                                                              \
        .name = "--tries", .takes_value = true, .value = &(request).tries          \
    }

#define TAILS_USAGE                                                                                \
    "  --samples N          also draws every duration N times, and tells how makespan and peaks\n" \
    "                       are spread: mean, median, p90, p95, p99, worst\n"                      \
    "  --fixed-order        times the samples in the order of the run, which is fast, instead "    \
    "of\n"                                                                                         \
    "                       simulating each\n"                                                     \
    "  --threads T          for the samples; the answer is the same for any number (1)\n"          \
    "  --quantile Q         the one that counts: mean, median, p90, p95, p99 or worst; weir\n"     \
    "                       compare tells when it gets worse while the mean improves\n"            \
    "  --sample K           runs sample K of the seed, instead of the mean durations\n"            \
    "  --perturb TIME       also simulates again with one node longer by TIME, and tells how "     \
    "far\n"                                                                                        \
    "                       the makespan moves\n"                                                  \
    "  --tries K            so many times, each another node (32)\n"

/* The makespan after one node took longer. */
struct perturbation {
    uint32_t node;
    int64_t moved_ns; /* makespan less that of the run */
};

struct tailed {
    uint32_t n_samples; /* 0: none */
    uint32_t n_threads;
    bool is_fixed_order, has_quantile;
    enum tails_figure quantile;
    int64_t sample;     /* -1: the run is that of the mean lengths */
    int64_t perturb_ns; /* -1: not asked for */
    uint32_t n_tries;

    int64_t *length_ns; /* of the run, with --sample */
    struct sampling sampling;
    struct run_sample *rows;  /* for the store; NULL without samples */
    bool is_spread;           /* what follows is known: some sample is complete */
    struct tails makespan_ns; /* of the complete ones */
    struct tails *peak_bytes; /* by domain; NULL: not known */

    struct perturbation *moves; /* by how far, the least first; NULL without any */
    uint32_t n_moves;
    uint32_t n_stuck; /* that did not complete */
};

/** What the options say. WEIR_USAGE */
MUST_CHECK enum weir_status tailed_options(const struct tails_request *request,
                                           const struct scenario_request *scenario,
                                           struct tailed *tailed, struct weir_error *err);
/** With --sample: draws its lengths into the options. The plan is made. */
MUST_CHECK enum weir_status tailed_draw(struct tailed *tailed, const struct scenario *scenario,
                                        struct simulate_options *options, struct weir_error *err);
/** Samples and perturbs what gave that timeline, as far as was asked for; of a run that got stuck
 *  there is no order to keep and no makespan to move. */
MUST_CHECK enum weir_status tailed_run(struct tailed *tailed, const struct scenario *scenario,
                                       const struct timeline *timeline, struct progress *progress,
                                       struct weir_error *err);
void tailed_free(struct tailed *tailed);

/** Keys of the settings, and of the answer; lines of the answer. */
void tailed_settings(struct json *json, const struct tailed *tailed);
void tailed_json(struct json *json, const struct tailed *tailed, const struct graph *graph);
void tailed_print(const struct tailed *tailed, const struct graph *graph);

#endif
