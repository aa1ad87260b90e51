/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a plan keeps more queues busy than there are processors: they then share them, and each
 * takes longer than planned, whatever the device. */
#ifndef WEIR_REPLAY_SHARING_H
#define WEIR_REPLAY_SHARING_H

#include "replay/schedule.h"

struct sharing {
    uint32_t busy_queues; /* that work at the same time in the plan, at most */
    bool is_time_shared;  /* more than there are processors */
    int64_t shared_ns;    /* for so long in the plan, scaled */
    int64_t cost_ns;      /* by which that takes longer when processors are shared evenly */
};

/** WEIR_MEMORY */
MUST_CHECK enum weir_status sharing_find(const struct schedule *schedule, uint32_t n_processors,
                                         struct sharing *out, struct weir_error *err);

/** As sharing_find; one that is time-shared is named among the schedule's deviations, of the run. */
MUST_CHECK enum weir_status sharing_name(struct schedule *schedule, uint32_t n_processors,
                                         struct sharing *out, struct weir_error *err);

#endif
