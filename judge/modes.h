/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mistakes of a schedule that the graph alone does not show: bytes brought in too early, transfers and
 * recomputations that a consumer waits for, contention on the critical chain, bytes held while others
 * waited, speculative work in front, barriers that cost time, circles of waits.
 *
 * Each finding is a statement about the timeline as it is: what would be otherwise, with every other
 * node at its recorded times. Nothing is told that this does not hold for. Of each kind the worst are
 * told, and only when all of that kind together are worth it. */
#ifndef WEIR_JUDGE_MODES_H
#define WEIR_JUDGE_MODES_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "store/store.h"

struct modes_settings {
    const char *contention;       /* as --contention takes it: who slows whom; NULL: not known */
    bool forbids_unknown;         /* --unknown-overlap forbid */
    const struct run_link *links; /* the realized critical chain; NULL: none is looked at */
    size_t n_links;
    double least_ratio;  /* of the makespan (or the peak): what a kind must cost to be told, 0.01 */
    uint32_t most_shown; /* of each kind; then how many more there are: 20 */
};

struct modes_settings modes_default(void);

/** Adds what it finds to the report: codes that finding_is_of_run() says yes to.
 *  @param binding of the graph that ran
 *  @param timeline of a simulation, with waits, holds and pressure
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status modes_find(const struct binding *binding,
                                       const struct timeline *timeline,
                                       const struct modes_settings *settings, struct report *report,
                                       struct weir_error *err);

#endif
