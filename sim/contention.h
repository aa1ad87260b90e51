/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs, how fast, and who ends next. Nodes that always run at one speed form a group with one
 * progress clock, so that an event costs in groups and not in running nodes. */
#ifndef WEIR_SIM_CONTENTION_H
#define WEIR_SIM_CONTENTION_H

#include "sim/program.h"
#include "sim/simulate.h"

struct contention_state;

/** @param family one that has contention: not CONTENTION_NONE */
MUST_CHECK enum weir_status contention_new(const struct program *program, enum contention family,
                                           struct contention_state **out, struct weir_error *err);
void contention_free(struct contention_state *state);

/** A node of that length, above 0, starts now. */
MUST_CHECK enum weir_status contention_start(struct contention_state *state, uint32_t node,
                                             int64_t length_ns, int64_t now_ns,
                                             struct weir_error *err);
/** When the next running node ends; INT64_MAX when none runs. */
int64_t contention_next_ns(const struct contention_state *state);
/** Appends the nodes that end at now_ns or before to ended[0..*n_ended) and takes them out of the
 *  running set. @param ended has room for every running node */
void contention_end(struct contention_state *state, int64_t now_ns, uint32_t *ended,
                    uint32_t *n_ended);
/** The set of running nodes has changed at now_ns: sets speeds and ends anew. WEIR_INPUT when an
 *  end passes 2^63 ns. */
MUST_CHECK enum weir_status contention_settle(struct contention_state *state, int64_t now_ns,
                                              struct weir_error *err);
size_t contention_memory_bytes(const struct contention_state *state);

#endif
