/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a plan right? Found out without anything that planning uses: neither its conflicts nor its
 * structures, but the lifetimes themselves and, on several queues, the edges of the graph. */
#ifndef WEIR_POLICIES_ARENA_CHECK_H
#define WEIR_POLICIES_ARENA_CHECK_H

#include "policies/arena_plan.h"

/** Every buffer is at its fixed offset, if it has one, at a multiple of its alignment, from 0 on, and
 *  shares no byte with another that is in use when it is.
 *  @return WEIR_NO names a buffer, or two, and what is wrong; WEIR_MEMORY */
MUST_CHECK enum weir_status arena_check(const struct arena_problem *problem,
                                        const int64_t *offsets_bytes, struct weir_error *err);

#endif
