/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes while time runs: what each node takes when it starts and what it gives back when it ends. */
#ifndef WEIR_SIM_MEMORY_H
#define WEIR_SIM_MEMORY_H

#include "sim/ledger.h"
#include "sim/program.h"

struct memory;

MUST_CHECK enum weir_status memory_new(const struct program *program, struct memory **out,
                                       struct weir_error *err);
void memory_free(struct memory *memory);
/** Brings everything back to time 0; from there on @p ledger is told of each take and gift. It must
 *  outlive the memory. */
MUST_CHECK enum weir_status memory_rewind(struct memory *memory, struct ledger *ledger,
                                          struct weir_error *err);

/** @return the domain whose initial copies do not fit; none when all do */
weir_domain memory_overfull(const struct memory *memory);

/** Can the node start, as far as bytes go? @param where the first domain that is short, when not */
bool memory_fits(struct memory *memory, uint32_t node, weir_domain *where);
/** Takes what the node needs from its start; it must fit. */
MUST_CHECK enum weir_status memory_take(struct memory *memory, uint32_t node,
                                        struct weir_error *err);
/** Gives back what ends with the node (also with one that never ran). */
MUST_CHECK enum weir_status memory_give(struct memory *memory, uint32_t node, bool did_run,
                                        struct weir_error *err);
/** Someone waits for bytes there: memory_next_freed will tell when some come back, once. */
void memory_await(struct memory *memory, weir_domain domain);
/** The awaited domains where bytes came back, one a call; false after the last. */
bool memory_next_freed(struct memory *memory, weir_domain *domain);
/** An instant has settled: pressure is read. */
void memory_settle(struct memory *memory);

const int64_t *memory_used_bytes(const struct memory *memory); /* by domain */
int64_t memory_usable_bytes(const struct memory *memory, weir_domain domain);
int64_t memory_peak_bytes(const struct memory *memory, weir_domain domain);
/** The object given back last in a domain; none when that was workspace or staging. */
weir_object memory_last_freed(const struct memory *memory, weir_domain domain);

/* For the explanation of a run that is stuck. */
/** What the node would take in that domain if it started now. */
int64_t memory_need_bytes(struct memory *memory, uint32_t node, weir_domain domain);
/** Live bytes of a copy; 0 when it is not live. */
int64_t memory_live_bytes(const struct memory *memory, weir_copy copy);

size_t memory_memory_bytes(const struct memory *memory);

#endif
