/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much work stands for a planned duration, and at which scale of sizes copies fit theirs. */
#ifndef WEIR_REPLAY_AMOUNTS_H
#define WEIR_REPLAY_AMOUNTS_H

#include "replay/schedule.h"

/* What nodes that compute do, by their class; those of any other do arithmetic. */
#define AMOUNTS_STREAM_CLASS "stream"
#define AMOUNTS_CACHE_CLASS "cache"
#define AMOUNTS_MIX_CLASS "mix"

/** What a node of the graph does. */
enum step_action amounts_action(const struct graph *graph, weir_node node, int64_t isolated_ns);
/** Bytes that a copy node moves at scale 1: of its object, else its bytes=; 0 when nothing says. */
int64_t amounts_copy_bytes(const struct graph *graph, weir_node node);

/** Sets schedule->scale_bytes, and why, when the options leave it open. WEIR_MEMORY */
MUST_CHECK enum weir_status amounts_choose_scale(struct schedule *schedule,
                                                 const struct schedule_options *options,
                                                 const struct rates *rates, struct weir_error *err);
/** Sets the amounts of all steps, after their reads and writes. */
MUST_CHECK enum weir_status amounts_set(struct schedule *schedule, const struct rates *rates,
                                        struct weir_error *err);

#endif
