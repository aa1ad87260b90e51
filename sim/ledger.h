/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of bytes: who held which from when to when, the pressure, and which returned bytes
 * each taker got, so that a replay needs no more than the order of these.
 *
 * It is not kept while time runs: starts and finishes in the order in which they happened say all,
 * so afterwards the bytes go through the same hands again, and this time every hand signs. */
#ifndef WEIR_SIM_LEDGER_H
#define WEIR_SIM_LEDGER_H

#include "graph/timeline.h"
#include "sim/program.h"

struct ledger;
struct memory;

/* What happened to bytes, in order: the number of a node, or'ed with one of these. */
#define LOG_FINISH 0x40000000u
#define LOG_SKIP 0x80000000u /* it will never run; its instant follows, low word first */

struct event_log {
    uint32_t *items;
    size_t n;
};

/** Goes through the log and writes the holds, the pressure and the induced edges of the timeline.
 *  @param memory is rewound, and stays at the end */
MUST_CHECK enum weir_status ledger_write(const struct program *program, struct memory *memory,
                                         const struct event_log *log, struct timeline *timeline,
                                         struct weir_error *err);

/* What the memory tells, in the order in which it happens. */
/** The initial copy is live from 0. */
MUST_CHECK enum weir_status ledger_initial(struct ledger *, uint32_t copy, struct weir_error *);
/** The node takes bytes. @param copy that begins with it; WEIR_NONE for workspace and staging */
MUST_CHECK enum weir_status ledger_take(struct ledger *, uint32_t domain, uint32_t node,
                                        uint32_t copy, int64_t bytes, struct weir_error *);
/** The bytes are those of a staging, which is numbered from 0 in order of acquisition. */
MUST_CHECK enum weir_status ledger_stage(struct ledger *, uint32_t domain, uint32_t node,
                                         int64_t bytes, struct weir_error *);
/* Of a node: what it staged comes back. */
#define LEDGER_STAGED 0x80000000u
/** Bytes come back. @param by_uses of that copy, all its last ones together; or of every copy that
 *  that node filled, when it is or'ed with LEDGER_STAGED; WEIR_NONE when the giver alone gave them */
MUST_CHECK enum weir_status ledger_give(struct ledger *, uint32_t domain, uint32_t giver,
                                        uint32_t by_uses, int64_t bytes, struct weir_error *);
void ledger_end_copy(struct ledger *, uint32_t copy);
void ledger_end_staging(struct ledger *, uint32_t staging);
/** Workspace, held since the node started, ends. */
MUST_CHECK enum weir_status ledger_end_workspace(struct ledger *, uint32_t domain, uint32_t node,
                                                 int64_t bytes, struct weir_error *);

#endif
