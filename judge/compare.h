/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds one timeline against another of the same graph. */
#ifndef WEIR_JUDGE_COMPARE_H
#define WEIR_JUDGE_COMPARE_H

#include "graph/timeline.h"
#include "store/store.h"

#define COMPARE_WORST 10

/* Errors over nodes that ran in both: of their absolute values. */
struct compare_spread {
    double median, p95, worst; /* quantiles interpolated between the two nearest */
    weir_node worst_node;      /* in the first run's graph; none when there is no value */
};

struct compare_pair {
    weir_node a, b;                            /* the same name in either graph */
    int64_t duration_error_ns, start_error_ns; /* second minus first */
    double duration_error_ratio; /* of the first's duration; 0 when both are 0, infinite when only
                                    the second took time */
};

struct comparison {
    int64_t makespan_a_ns, makespan_b_ns; /* the first's multiplied by time_scale */
    double makespan_error_ratio;          /* (b - a) / a; infinite when only b took time */
    double time_scale;                    /* 1 unless a replay ran slower or faster than planned */
    double byte_scale;                    /* the same of sizes, for the peaks */
    int64_t preempted_a, preempted_b; /* actions of a replay that lost their processor meanwhile */
    uint32_t n_pairs, n_only_a, n_only_b; /* nodes that ran in both, in one only */
    uint32_t n_zero;                      /* pairs whose duration in the first is 0: no ratio */
    struct compare_spread duration_error_ratio, start_error_ns;
    uint64_t order_inversions; /* pairs on one engine that start in the other order */
    uint64_t order_pairs;      /* out of so many pairs on one engine */
    /* By |duration_error_ns| and |start_error_ns|, the largest first, ties by program order. */
    struct compare_pair worst_duration[COMPARE_WORST], worst_start[COMPARE_WORST];
    uint32_t n_worst_duration, n_worst_start; /* those that are not 0 */
    uint32_t n_domains;
    int64_t *peak_a_bytes; /* by domain of the first's graph, multiplied by byte_scale */
    int64_t *peak_b_bytes; /* -1: not in that run */
};

/** Compares by name. A replay may have been scaled: settings of a run hold "scale_time" and
 *  "scale_bytes" then, and the first's times and peaks are multiplied by the second's scale over the
 *  first's. WEIR_INPUT when the graphs differ (graph_hash), a cold run meets a warm one, a run did
 *  not end well, or nothing ran in both; WEIR_MEMORY. The caller frees with comparison_free. */
MUST_CHECK enum weir_status compare_runs(const struct stored_run *a, const struct stored_run *b,
                                         struct comparison *out, struct weir_error *err);
void comparison_free(struct comparison *comparison);

#endif
