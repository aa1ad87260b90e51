/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays a realized plan on a device: measures its rates, makes the steps, runs them again and
 * again, and tells what happened. No policy is at work. */
#ifndef WEIR_REPLAY_RUNNER_H
#define WEIR_REPLAY_RUNNER_H

#include "replay/account.h"
#include "replay/deviations.h"
#include "replay/sharing.h"
#include "replay/spread.h"

/* When more repeats are allowed, they go on until half of the interval of the median makespan is no
 * wider than this part of it, or the first run began so long ago. */
#define REPLAY_NARROW_RATIO 0.01
#define REPLAY_LONG_NS ((int64_t)60000000000)

struct replay_options {
    const char *device;
    enum device_mode mode;
    enum device_storage storage;
    double scale_time;       /* above 0 */
    double scale_bytes;      /* 0: chosen */
    uint32_t n_repeats;      /* 1 or more */
    uint32_t n_most_repeats; /* see above; not more than n_repeats: just these */
    uint32_t n_warm_up;      /* runs before them that do not count; 0 when is_cold */
    bool is_cold;            /* each run opens the device anew: no block of memory is there yet */
    bool forbids_unknown;    /* how the plan was simulated: see struct waits_options */
    bool unknown_by_factor;
    void (*progress)(void *arg, double part); /* NULL: nobody is told */
    void *progress_arg;
};

/** For that device: 7 repeats after 2 runs; where steps can be timed or not, 30 to 100 after 5. */
struct replay_options replay_default(const struct device_ops *ops);
/** As many repeats as it takes: 30 to 100. */
void replay_repeat_as_needed(struct replay_options *options);

/* Where a device has to do something to time steps, a repeat is two runs, one after the other, timed
 * and not, in turn the one first and the other: so no change of the device's clock falls on one kind
 * alone. */
struct replay_sample {
    int64_t makespan_ns;
    int64_t whole_ns;   /* of the same run, by the measure of untimed_ns */
    int64_t untimed_ns; /* of the run whose steps were not timed; -1: there was none */
    bool is_warm_up;
};

/* Why there are no more repeats. */
enum replay_end {
    REPLAY_AS_ASKED,
    REPLAY_IS_NARROW, /* half of the interval is narrow enough */
    REPLAY_IS_LONG,   /* it took too long */
    REPLAY_IS_MOST    /* as many as may be */
};
const char *replay_end_name(enum replay_end);

/* Does timing disturb a run? */
enum replay_disturbance {
    REPLAY_UNDISTURBED, /* the interval of the ratio ends at REPLAY_PERTURBED_RATIO or before */
    REPLAY_PERTURBED,   /* it begins above that */
    REPLAY_UNDECIDED    /* neither, or the repeats are too few to know */
};
#define REPLAY_PERTURBED_RATIO 1.02
const char *replay_disturbance_name(enum replay_disturbance);

/* What timing costs, by the repeats that count. */
struct replay_timing {
    int64_t untimed_ns; /* the median; -1: no run was without */
    uint32_t n_pairs;   /* that have a ratio */
    double ratio;       /* the median of a run that is timed to its pair's that is not */
    bool has_interval;
    double low, high; /* 95 % interval of the ratio; else 0 */
    enum replay_disturbance disturbance;
};

/* All nodes of a kind, by repeat: how long they took together. */
struct replay_kind {
    enum node_kind kind;
    uint32_t n_nodes;
    int64_t planned_ns;
    struct spread spread;
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
    struct device_state state;   /* after the repeat whose timeline this is */
    int64_t memory_bytes;        /* that buffers might use */
    struct device_placed placed; /* where a device with memory of its own had them */
    struct rates rates;
    struct schedule *schedule;
    struct sharing sharing;
    struct timeline *timeline; /* of the repeat with the median makespan (of two, the shorter) */
    struct account_overhead overhead;
    struct replay_sample *samples; /* warm-up first, in the order in which they ran */
    uint32_t n_samples, n_repeats; /* all, and those that count */
    uint32_t median_sample;
    enum replay_end end;
    struct spread spread; /* of the makespans that count */
    struct replay_kind kinds[NODE_KINDS];
    uint32_t n_kinds; /* that nodes have which ran */
    struct replay_timing timing;
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

#endif
