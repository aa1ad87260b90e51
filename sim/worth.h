/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each node is worth in fixed order: so much sooner the run would end if the node alone took no
 * time, or half of it, and so much longer it may take before the run ends later. Whatever waited for
 * what, waits for it still; what dispatch would do instead is another question. */
#ifndef WEIR_SIM_WORTH_H
#define WEIR_SIM_WORTH_H

#include "sim/retime.h"

struct worth {
    int64_t makespan_ns;
    int64_t *saves_ns; /* by position: of the makespan, when it takes no time: 0 to its length */
    int64_t *half_saves_ns; /* when it takes half of it, to the nearest nanosecond, halves up */
    int64_t *slack_ns;      /* may take so much longer */
};

/** Of all positions together, in n log n. WEIR_MEMORY; WEIR_INPUT when the run takes 2^61 ns or more. The
 *  caller frees with worth_free.
 *  @param length_ns by position */
MUST_CHECK enum weir_status worth_find(const struct retime *retime, const int64_t *length_ns,
                                       struct worth *out, struct weir_error *err);
void worth_free(struct worth *worth);

/* Nodes taken together: when none of them takes any time. */
struct worth_group {
    uint32_t group;
    uint32_t n_nodes;
    int64_t length_ns; /* of all its nodes; INT64_MAX when it passes that */
    int64_t saves_ns;
};

/** The groups that save most, by savings and then by number: up to @p most of them, and none that saves
 *  nothing. The way that made the makespan stays where a group is gone, but for that group's lengths on
 *  it: no group saves more than those, so that few need a pass.
 *  @param group_of by position: below n_groups, or WEIR_NONE: none
 *  @param progress now and then, of the passes that may be needed; NULL: to nobody
 *  @param out room for @p most  @param n_out how many there are. WEIR_MEMORY, WEIR_INPUT */
MUST_CHECK enum weir_status worth_groups(const struct retime *retime, const int64_t *length_ns,
                                         const uint32_t *group_of, uint32_t n_groups, uint32_t most,
                                         void (*progress)(void *arg, double part),
                                         void *progress_arg, struct worth_group *out,
                                         uint32_t *n_out, struct weir_error *err);

#endif
