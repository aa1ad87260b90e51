/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ready nodes that lack bytes. Each waits on the shelf of its engine for the first domain that is
 * short; from there it takes part in dispatch as soon as that domain has room for it, and costs
 * nothing until then. */
#ifndef WEIR_SIM_LACKING_H
#define WEIR_SIM_LACKING_H

#include "sim/simulate_internal.h"

/** The candidate, whose turn has come, lacks bytes of the domain. */
MUST_CHECK enum weir_status lacking_add(struct simulation *sim, struct candidate candidate,
                                        weir_domain domain);
/** The first in dispatch order of those of the engine that would fit now; false when there is none.
 *  @param shelf which of the engine's shelves it is on */
bool lacking_first(const struct simulation *sim, uint32_t engine, struct candidate *first,
                   uint32_t *shelf);
/** Takes that one from its shelf: what it lacked has been given back. */
struct candidate lacking_take(struct simulation *sim, uint32_t engine, uint32_t shelf,
                              struct candidate candidate);
/** Bytes came back: engines with a free slot may start what fits now. */
void lacking_wake(struct simulation *sim);
/** The instant has settled. */
MUST_CHECK enum weir_status lacking_settle(struct simulation *sim);
/** Needs, or the order, may have changed: those of the engine find their places anew. One that
 *  needs less, and has room, stands in the queue again. */
MUST_CHECK enum weir_status lacking_reorder(struct simulation *sim, uint32_t engine);
/** The nodes that wait for the domain (none: for any), by number, malloc'ed. */
MUST_CHECK enum weir_status lacking_list(const struct simulation *sim, weir_domain domain,
                                         uint32_t **out, uint32_t *n, struct weir_error *err);
void lacking_free(struct simulation *sim);

#endif
