/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the times of a replay say: when each action was ready, what it waited for, which bytes were
 * held when. Sizes are the plan's, times the scale. */
#ifndef WEIR_REPLAY_ACCOUNT_H
#define WEIR_REPLAY_ACCOUNT_H

#include "replay/times.h"

/* Time from when nothing more was in the way of an action until it started. */
struct account_overhead {
    int64_t median_ns, p95_ns, total_ns;
};

/** Completes a timeline whose spans have start, finish and order: ready times, causes, waits, bytes.
 *  @param times of all steps, found from them. WEIR_MEMORY */
MUST_CHECK enum weir_status account_complete(const struct schedule *schedule,
                                             const struct step_times *times,
                                             struct timeline *timeline,
                                             struct account_overhead *overhead,
                                             struct weir_error *err);

/** Only holds, pressure and peaks. @param ended_ns by node: its finish, or when a node that did not
 *  run passed its edges on */
MUST_CHECK enum weir_status account_bytes(const struct schedule *schedule, const int64_t *ended_ns,
                                          struct timeline *timeline, struct weir_error *err);

#endif
