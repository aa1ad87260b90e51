/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The deviations that a replay names: the actions that cost the makespan most, and all of which
 * something is to be said. */
#ifndef WEIR_REPLAY_DEVIATIONS_H
#define WEIR_REPLAY_DEVIATIONS_H

#include "replay/deviate.h"

#define DEVIATIONS_NAMED 10 /* actions that cost most: always named, where they deviate at all */

struct replay_deviation {
    weir_node node; /* none: the run as a whole */
    const char *what;
    int64_t
        cost_ns; /* of an action as in struct deviate_action; of the run what it may cost in sum */
};

struct deviations {
    struct replay_deviation *list; /* costliest first; then by what the action did itself */
    uint32_t n_list;
    uint32_t n_preempted; /* actions that lost their processor meanwhile */
};

/** @param processor_ns by step, -1 where it is not known  @param arena owns the list
 *  Texts live as long as the schedule. WEIR_MEMORY */
MUST_CHECK enum weir_status deviations_list(struct schedule *schedule,
                                            const struct timeline *timeline,
                                            const int64_t *processor_ns,
                                            const struct deviate *deviate, struct arena *arena,
                                            struct deviations *out, struct weir_error *err);

#endif
