/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of taken addresses, as ranges by address that do not touch, which finds its lowest hole of a
 * size fast: ranges lie in blocks, and each block knows how large its holes are at most. */
#ifndef WEIR_POLICIES_ARENA_TAKEN_H
#define WEIR_POLICIES_ARENA_TAKEN_H

#include <stdint.h>

#include "base/attributes.h"

struct arena_taken_block;

/* A zeroed one is empty. */
struct arena_taken {
    struct arena_taken_block *blocks;
    uint32_t n_blocks, room;
    int64_t end; /* of the last range; 0 when there is none */
};

void arena_taken_free(struct arena_taken *set);

/** Adds the addresses [from, to), from 0 on, and joins the ranges between which they leave less than
 *  @p least_bytes, 1 or more: nobody will ask for so little. */
MUST_CHECK enum weir_status arena_taken_add(struct arena_taken *set, int64_t from, int64_t to,
                                            int64_t least_bytes, struct weir_error *err);

/** The lowest address from @p from on behind which @p bytes, 1 or more, are free. What it learns of the
 *  holes it keeps. */
int64_t arena_taken_lowest(struct arena_taken *set, int64_t from, int64_t bytes);

#endif
