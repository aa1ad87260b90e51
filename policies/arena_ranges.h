/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which addresses are taken in which steps: a segment tree over the steps at which something begins
 * or ends. Each of its stretches of steps keeps the addresses that are taken all along it, and those
 * that are taken somewhere in it. A stretch of steps is made of O(log n) of the tree's, so that a range
 * of addresses is marked in O(log n) sets, and as many tell what is free in it: each of them jumps to
 * its next hole that is large enough. */
#ifndef WEIR_POLICIES_ARENA_RANGES_H
#define WEIR_POLICIES_ARENA_RANGES_H

#include "policies/arena_plan.h"

struct arena_ranges;

/** Nothing is taken. @param parts all that will ever be marked or asked for */
MUST_CHECK enum weir_status arena_ranges_make(const struct arena_problem *problem,
                                              const struct arena_part *parts, uint32_t n_parts,
                                              struct arena_ranges **out, struct weir_error *err);
void arena_ranges_free(struct arena_ranges *ranges);
/** Takes the addresses of the part, whose buffer is at the offset. */
MUST_CHECK enum weir_status arena_ranges_mark(struct arena_ranges *ranges,
                                              const struct arena_part *part, int64_t offset_bytes,
                                              struct weir_error *err);
/** The lowest offset, a multiple of the alignment, at which all parts of a buffer find their
 *  addresses free. */
MUST_CHECK enum weir_status arena_ranges_lowest(struct arena_ranges *ranges,
                                                const struct arena_part *parts, uint32_t n_parts,
                                                int64_t align_bytes, int64_t *offset_bytes,
                                                struct weir_error *err);

#endif
