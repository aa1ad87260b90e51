/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many runs of one plan, each with lengths drawn anew: simulated one by one with dispatch, or timed
 * in the order that one run realized. The result is the same for any number of threads. */
#ifndef WEIR_SIM_SAMPLING_H
#define WEIR_SIM_SAMPLING_H

#include "sim/retime.h"
#include "sim/simulate.h"

struct sampling_options {
    uint64_t seed;
    uint32_t n_samples; /* numbers 0 up to it */
    uint32_t n_threads; /* 1 to WORKERS_MOST */
    const struct timeline
        *fixed_order; /* complete, of the plan: its order is kept, and only times are
                                           anew; NULL: each sample is simulated with dispatch */
    const uint32_t
        *longer; /* by sample: nothing is drawn, but this node takes longer than its mean,
                               by longer_ns; not with fixed_order. NULL: lengths are drawn */
    int64_t longer_ns;
    struct simulate_options simulate; /* with fixed_order: what that was simulated with */
    /* A policy that acts while time runs has a state: each sample plans anew then. */
    const struct graph *given; /* what was planned */
    struct plan_options planning;
    void (*progress)(void *arg,
                     double part); /* of the samples, on the thread that calls; or NULL */
    void *progress_arg;
};

/* By sample. */
struct sampling {
    uint32_t n_samples, n_domains;
    int64_t *makespan_ns; /* the last finish, also of one that got stuck */
    enum run_status *status;
    int64_t *peak_bytes; /* n_domains of each sample; NULL: not known, in a fixed order in which a
                            node that did not run ends a copy */
    uint32_t n_complete;
    uint32_t n_random; /* nodes whose lengths are drawn */
    char *explanation; /* of the first that got stuck; NULL when none did */
};

/** Draws and runs all of them.
 *  @return WEIR_OK, also when samples get stuck; WEIR_INPUT when a length is missing or unknown, when
 *  one passes 2^63 ns, and for what a fixed order cannot say: contention, and lengths drawn for nodes
 *  of mean length 0 where overlaps are forbidden; what a policy said when it failed; WEIR_MEMORY.
 *  The caller frees with sampling_free. */
MUST_CHECK enum weir_status sampling_run(const struct plan *plan,
                                         const struct sampling_options *options,
                                         struct sampling *out, struct weir_error *err);
void sampling_free(struct sampling *sampling);

#endif
