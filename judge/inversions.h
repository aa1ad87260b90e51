/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many pairs stand in another order in a second list. */
#ifndef WEIR_JUDGE_INVERSIONS_H
#define WEIR_JUDGE_INVERSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Where one thing stands in either list; equal places have no order. */
struct inversion_item {
    uint32_t group; /* only pairs of one group count */
    int64_t first, second;
};

/** Counts the pairs of a group whose first places and second places differ in opposite directions:
 *  by merge sort, n log n. The items are left sorted. @param pairs of one group, all of them
 *  @return WEIR_OK, WEIR_MEMORY */
MUST_CHECK enum weir_status count_inversions(struct inversion_item *items, size_t n_items,
                                             uint64_t *inversions, uint64_t *pairs,
                                             struct weir_error *err);

#endif
