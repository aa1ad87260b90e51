/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is found by going through the nodes in the order of their starts, all of it in one go: what each
 * needs of a node is fetched once. */
#ifndef WEIR_JUDGE_SWEEP_H
#define WEIR_JUDGE_SWEEP_H

#include "judge/overlap.h"
#include "judge/stalls.h"
#include "judge/waiting.h"

/** The same as stalls_find, overlaps_find and waiting_find, sooner. The caller frees the three.
 *  @return WEIR_OK; WEIR_MEMORY, and then none is there */
MUST_CHECK enum weir_status sweep_find(const struct bound_index *index,
                                       const struct waiting_options *options, struct stalls *stalls,
                                       struct overlaps *overlaps, struct waiting *waiting,
                                       struct weir_error *err);

#endif
