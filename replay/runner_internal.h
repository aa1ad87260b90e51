/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a replay's runs share. */
#ifndef WEIR_REPLAY_RUNNER_INTERNAL_H
#define WEIR_REPLAY_RUNNER_INTERNAL_H

#include "replay/runner.h"

/* One run whose steps were timed. */
struct runner_pass {
    struct timeline *timeline;
    int64_t *processor_ns, *submit_ns; /* by step */
    int64_t kind_ns[NODE_KINDS];       /* that the nodes of each kind took together */
    char *remark;                      /* the device's, malloc'ed; NULL: it had none */
    struct device_state state;         /* right after it */
};

/* The runs of a replay. */
struct runner {
    const struct replay_options *options;
    struct replay_result *result;
    struct device *device;
    struct device_setup setup;
    struct runner_pass *passes; /* of the repeats that count */
    uint32_t n_passes;
    int64_t begin_ns; /* CLOCK_MONOTONIC, when the first run began */
};

/* runner_passes.c */
/** Runs the steps once, on the open device or a new one. A run that is timed and counts is the next of
 *  the passes. @param sample says whether it counts, and takes what the run tells */
MUST_CHECK enum weir_status runner_run_one(struct runner *r, bool is_timed,
                                           struct replay_sample *sample, struct weir_error *err);
void runner_close(struct runner *r);
/** Gives all passes back. */
void runner_end(struct runner *r);

/* runner_repeats.c */
/** Runs the steps again and again, until there are repeats enough. */
MUST_CHECK enum weir_status runner_run(struct runner *r, struct weir_error *err);
/** The pass with the median makespan, the shorter of two; of equal ones the first. */
uint32_t runner_median(const struct runner *r);

/* runner_figures.c */
/** Fills in what a pass says of each kind of node. */
void runner_sum_kinds(const struct schedule *schedule, struct runner_pass *pass);
/** The spread of the makespans so far. WEIR_MEMORY */
MUST_CHECK enum weir_status runner_spread(const struct runner *r, struct spread *out,
                                          struct weir_error *err);
/** What all repeats together say of the makespan, of each kind and of timing. WEIR_MEMORY */
MUST_CHECK enum weir_status runner_figures(struct runner *r, struct weir_error *err);

/* runner_explain.c */
/** What the device says of the pass, and what timing costs, goes with the run. */
MUST_CHECK enum weir_status runner_remark(struct replay_result *result,
                                          const struct runner_pass *pass, struct weir_error *err);
/** Finds what deviated from the plan. @param pass whose timeline is the run's */
MUST_CHECK enum weir_status runner_explain(struct replay_result *result,
                                           const struct runner_pass *pass, struct weir_error *err);

#endif
