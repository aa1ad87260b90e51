/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serial schedule generation scheme: one node after another gets the earliest start that those
 * before it leave. */
#ifndef WEIR_POLICIES_SERIAL_H
#define WEIR_POLICIES_SERIAL_H

#include "policies/links.h"

/** Of the nodes whose producers all have their start, the first by rank gets its own: the earliest at
 *  which links and releases allow it, and from which on, for its length, a slot of its engine and its
 *  workspace are free. Bytes of objects do not count: how long these live is not known before all
 *  their users have a start. What no engine or domain could ever hold does not hold it up. Kolisch,
 *  European Journal of Operational Research 90 (1996) 320-333, section 2.
 *  @param rank by node, each another, the least first
 *  @param start_ns by node, to be filled
 *  @return WEIR_INPUT when a time passes 64 bits, WEIR_MEMORY */
MUST_CHECK enum weir_status serial_schedule(struct weir_setup *setup, const struct weir_view *view,
                                            const struct links *links, const uint32_t *rank,
                                            int64_t *start_ns, struct weir_error *err);

#endif
