/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who overtook the nodes that waited longest. */
#ifndef WEIR_JUDGE_PASSERS_H
#define WEIR_JUDGE_PASSERS_H

#include "judge/waiting.h"

/** Counts and names the passers of each of out->longest, which are without.
 *  @param order the n_started nodes that started, by start; their orders rise with it, and none was ready
 *    after it started. n_started 0: this is not known
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status passers_find(const struct graph *graph, const struct timeline *timeline,
                                         const weir_node *order, uint32_t n_started,
                                         struct waiting *out, struct weir_error *err);

#endif
