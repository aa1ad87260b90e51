/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When each step was ready, began and ended, in a replay or as planned. Ready is when all that it
 * follows was over: its waits with their lags, the step before it on its queue, its release. */
#ifndef WEIR_REPLAY_TIMES_H
#define WEIR_REPLAY_TIMES_H

#include "replay/schedule.h"

struct step_times {
    int64_t ready_ns;
    int64_t start_ns, finish_ns; /* of a step that does not run: when it passes on, which is when it
                                    is ready */
    uint32_t bound_by;           /* the step that ended last of what it follows; WEIR_NONE: none
                                    ended after its release */
    bool is_from_start;          /* of that step it follows the start */
};

/* What every step follows, in an order in which each comes after what it follows. */
struct step_order {
    uint32_t *before; /* by step: the one before it on its queue; WEIR_NONE */
    uint32_t *steps;  /* all of them */
    uint32_t n_steps;
};

/** The caller frees with step_order_free. WEIR_MEMORY */
MUST_CHECK enum weir_status step_order_make(const struct schedule *schedule, struct step_order *out,
                                            struct weir_error *err);
void step_order_free(struct step_order *order);

/** The times of all steps, from the spans of the nodes that started.
 *  @param scale_time the spans' times are multiplied by it  @param out room for all steps */
void times_find(const struct schedule *schedule, const struct step_order *order,
                const struct timeline *timeline, double scale_time, struct step_times *out);

#endif
