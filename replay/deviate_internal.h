/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files behind deviate.h share. */
#ifndef WEIR_REPLAY_DEVIATE_INTERNAL_H
#define WEIR_REPLAY_DEVIATE_INTERNAL_H

#include "replay/deviate.h"

/* A replay and its plan, step by step. */
struct deviating {
    const struct schedule *schedule;
    const struct step_order *order;
    const struct step_times *real, *planned;
    int64_t makespan_ns;
};

/** Fills cost_ns of the actions (deviate_cost.c). */
MUST_CHECK enum weir_status deviate_cost(const struct deviating *, struct deviate_action *actions,
                                         struct weir_error *err);
/** Walks the path that made the makespan (deviate_path.c): fills links, n_links and makespan of
 *  @p out, whose actions have their deviations. */
MUST_CHECK enum weir_status deviate_path(const struct deviating *, struct arena *arena,
                                         struct deviate *out, struct weir_error *err);

#endif
