/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes gave way to their fallbacks. */
#ifndef WEIR_JUDGE_GAVE_WAY_H
#define WEIR_JUDGE_GAVE_WAY_H

#include "graph/timeline.h"

struct gave_way {
    weir_node node, fallback;
    int64_t at_ns; /* when its window closed, or, when that was before it was needed, when it was */
};

/** Finds them, in program order. A fallback that was not needed has not given way, whether it ran or
 *  not. @param found the caller frees it
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status gave_way_find(const struct graph *graph,
                                          const struct timeline *timeline, struct gave_way **found,
                                          size_t *n_found, struct weir_error *err);

#endif
