/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums by pairs of ids, of which few may occur among very many. */
#ifndef WEIR_JUDGE_PAIRS_H
#define WEIR_JUDGE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Wide enough for any sum of times of any number of pairs of nodes. */
__extension__ typedef __int128 pairs_sum;

struct pair_sum {
    uint32_t a, b;
    pairs_sum sum;
};

/* A table with room for a power of two; a free place has a == UINT32_MAX. Zeroed is empty. */
struct pairs {
    struct pair_sum *items;
    size_t room, n;
};

/** Adds to the sum of (a, b), which is 0 at first. a is not UINT32_MAX.  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status pairs_add(struct pairs *pairs, uint32_t a, uint32_t b, pairs_sum more,
                                      struct weir_error *err);
/** Puts the pairs that occurred first, by a, then b: n of them. Nothing may be added any more. */
void pairs_sort(struct pairs *pairs);
void pairs_free(struct pairs *pairs);

/** INT64_MAX for what is above it. @param sum not below 0 */
int64_t pairs_clamp(pairs_sum sum);
/** As pairs_clamp(a + b), both not below 0. */
int64_t pairs_clamped_add(int64_t a, int64_t b);

#endif
