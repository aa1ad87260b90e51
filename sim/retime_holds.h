/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who holds bytes in a realized order, from whose start to whose finish: so that a schedule that was
 * timed anew tells its peaks. */
#ifndef WEIR_SIM_RETIME_HOLDS_H
#define WEIR_SIM_RETIME_HOLDS_H

#include "sim/retime.h"

struct retime_holds; /* nothing in it changes: threads share it */

/* Bytes that come or go at a time. */
struct retime_event {
    int64_t time_ns;
    int64_t bytes;
};

/** @param binding of the graph whose order it is
 *  @param out NULL when it cannot be told: a node that did not run ends a copy
 *  @return WEIR_OK; WEIR_MEMORY. The caller frees. */
MUST_CHECK enum weir_status retime_holds_new(const struct binding *binding,
                                             const struct retime *retime, struct retime_holds **out,
                                             struct weir_error *err);
void retime_holds_free(struct retime_holds *holds);

/** So many events of scratch does retime_peaks need. */
size_t retime_holds_room(const struct retime_holds *holds);
/** The most bytes of each domain, read as in a simulation: after every instant has settled.
 *  @param length_ns @param start_ns of a pass, by position  @param peak_bytes by domain, written */
void retime_peaks(const struct retime_holds *holds, const int64_t *length_ns,
                  const int64_t *start_ns, struct retime_event *scratch, int64_t *peak_bytes);

#endif
