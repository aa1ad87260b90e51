/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a replay's runs share. */
#ifndef WEIR_REPLAY_RUNNER_INTERNAL_H
#define WEIR_REPLAY_RUNNER_INTERNAL_H

#include "replay/runner.h"

/* One run of the steps. */
struct runner_pass {
    struct timeline *timeline;
    int64_t *processor_ns, *submit_ns; /* by step */
};

/* The runs of a replay. */
struct runner {
    const struct replay_options *options;
    struct replay_result *result;
    struct device *device;
    struct device_setup setup;
    struct runner_pass *passes; /* of the repeats that count */
    uint32_t n_passes;
    char remark[480]; /* the device's, of the last run */
};

/* runner_passes.c */
/** Opens the device and hands it the steps; the first time, how it does each is noted. */
MUST_CHECK enum weir_status runner_open(struct runner *r, struct weir_error *err);
void runner_close(struct runner *r);
/** Runs the steps once. What counts is the next of the passes. */
MUST_CHECK enum weir_status runner_run_pass(struct runner *r, bool is_warm_up,
                                            struct weir_error *err);
void runner_end_pass(struct runner_pass *pass);
/** The pass with the median makespan, the shorter of two; of equal ones the first. */
uint32_t runner_median(const struct runner *r);

/* runner_timing.c */
/** The same runs again without timing them: what timing costs. */
MUST_CHECK enum weir_status runner_run_bare(struct runner *r, struct weir_error *err);
/** A run that timing disturbs says so. */
MUST_CHECK enum weir_status runner_judge_timing(const struct runner *r, struct weir_error *err);

/* runner_explain.c */
/** What the device says of its times goes with the run. */
MUST_CHECK enum weir_status runner_take_remark(struct runner *r, struct weir_error *err);
/** Finds what deviated from the plan. @param pass whose timeline is the run's */
MUST_CHECK enum weir_status runner_explain(struct replay_result *result,
                                           const struct runner_pass *pass, struct weir_error *err);

#endif
