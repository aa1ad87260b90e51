/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays a realized plan on a device: measures its rates, makes the steps, runs them again and
 * again, and tells what happened. No policy is at work. */
#ifndef WEIR_REPLAY_RUNNER_H
#define WEIR_REPLAY_RUNNER_H

#include "replay/account.h"
#include "replay/deviations.h"
#include "replay/sharing.h"

struct replay_options {
    const char *device;
    enum device_mode mode;
    enum device_storage storage;
    double scale_time;    /* above 0 */
    double scale_bytes;   /* 0: chosen */
    uint32_t n_repeats;   /* 1 or more */
    uint32_t n_warm_up;   /* runs before them that do not count; 0 when is_cold */
    bool is_cold;         /* each repeat opens the device anew: no block of memory is there yet */
    bool forbids_unknown; /* how the plan was simulated: see struct waits_options */
    bool unknown_by_factor;
    void (*progress)(void *arg, double part); /* NULL: nobody is told */
    void *progress_arg;
};

struct replay_options replay_default(void);

struct replay_sample {
    int64_t makespan_ns;
    bool is_warm_up;
};

struct replay_mechanism {
    weir_node node;
    const char *name;
    const char *note; /* NULL mostly */
};

#define REPLAY_DEVIATIONS 1000 /* kept, those that cost most; all are counted */

struct replay_result {
    const struct device_ops *ops;
    struct device_info info;
    int64_t memory_bytes;        /* that buffers might use */
    struct device_placed placed; /* where a device with memory of its own had them */
    struct rates rates;
    struct schedule *schedule;
    struct sharing sharing;
    struct timeline *timeline; /* of the repeat with the median makespan (of two, the shorter) */
    struct account_overhead overhead;
    int64_t
        bare_ns; /* the median makespan of as many runs of which nothing was timed; -1: there were
                        none, the device times without disturbing */
    struct replay_sample *samples; /* warm-up first, in the order in which they ran */
    uint32_t n_samples;
    uint32_t median_sample;
    struct replay_mechanism *mechanisms; /* of the actions, in the order of the plan */
    uint32_t n_mechanisms;
    struct deviate deviate; /* of that repeat */
    struct deviations deviations;
    uint32_t n_deviations_kept;
    struct arena arena;
};

/** Replays. @param plan of a complete simulation of @p binding's graph
 *  WEIR_USAGE: an unknown device. WEIR_DEVICE: it is not there, or the replay failed on it: the
 *  message names the action. WEIR_INFEASIBLE, WEIR_INPUT: no plan to replay. The caller frees. */
MUST_CHECK enum weir_status replay_run(const struct binding *binding, const struct timeline *plan,
                                       const struct replay_options *options,
                                       struct replay_result **out, struct weir_error *err);
void replay_free(struct replay_result *result);

/** Of the repeats that count: the least, the median, the greatest, and the middle half's width as a
 *  part of the median. */
struct replay_spread {
    int64_t low_ns, high_ns; /* 95 % interval of the median, by resampling the repeats; 0 to 0 with
                                too few of them */
    int64_t least_ns, median_ns, greatest_ns;
    double quartiles_ratio;
};
struct replay_spread replay_spread_of(const struct replay_result *result);

#endif
