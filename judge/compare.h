/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds one timeline against another of the same graph. */
#ifndef WEIR_JUDGE_COMPARE_H
#define WEIR_JUDGE_COMPARE_H

#include "graph/timeline.h"
#include "store/store.h"

#define COMPARE_WORST 10

/* Errors over the nodes that ran in both. */
struct compare_spread {
    double median, p95, worst;
    weir_node worst_node; /* in the first run's graph */
};

struct compare_pair {
    weir_node a, b;                            /* the same name in either graph */
    int64_t duration_error_ns, start_error_ns; /* second minus first */
    double duration_error_ratio;               /* of the first's duration; 0 when both are 0 */
};

struct comparison {
    int64_t makespan_a_ns, makespan_b_ns; /* the first's scaled by time_scale */
    double makespan_error_ratio;          /* (b - a) / a */
    double time_scale;                    /* first's times were multiplied by it; 1 mostly */
    uint32_t n_pairs, n_only_a, n_only_b; /* nodes that ran in both, in one only */
    struct compare_spread duration_error_ratio, start_error_ns; /* absolute values */
    uint64_t order_inversions; /* pairs on one engine that start in the other order */
    struct compare_pair worst_duration[COMPARE_WORST], worst_start[COMPARE_WORST];
    uint32_t n_worst;
    uint32_t n_domains;
    int64_t *peak_a_bytes, *peak_b_bytes; /* by domain of the first's graph; -1: not in that run */
};

/** Compares by name. WEIR_INPUT when the graphs differ (graph_hash) or a cold run meets a warm one;
 *  nothing that ran in both is WEIR_INPUT too. */
MUST_CHECK enum weir_status compare_runs(const struct stored_run *a, const struct stored_run *b,
                                         struct comparison *out, struct weir_error *err);
void comparison_free(struct comparison *comparison);

#endif
