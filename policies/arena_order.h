/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which lifetimes end before which others begin, in every order that a graph allows. */
#ifndef WEIR_POLICIES_ARENA_ORDER_H
#define WEIR_POLICIES_ARENA_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/arena_graph.h"

/* One bit for each pair; what ends before another begins has the smaller number. */
struct arena_order {
    uint64_t *bits;
    size_t
        *first; /* by buffer: the first word of its row, a bit for each buffer of smaller number */
    uint32_t
        *first_after;    /* by buffer: the first that begins only when it has ended; n: none does */
    uint32_t *all_after; /* by buffer: this and all behind it begin only then; n: none does */
};

/** Asks the graph: n buffers cost n / 512 passes over its edges, and n^2 / 16 bytes. */
MUST_CHECK enum weir_status arena_order_make(const struct arena_lifetimes *lifetimes,
                                             struct arena_order **out, struct weir_error *err);
void arena_order_free(struct arena_order *order);

/** Whether a has ended, in every order, when b begins. */
static inline bool arena_order_before(const struct arena_order *order, uint32_t a, uint32_t b)
{
    if (b < order->first_after[a] || b >= order->all_after[a]) {
        return b >= order->all_after[a]; /* most questions end here, without the bits */
    }
    return (order->bits[order->first[b] + a / 64] >> a % 64 & 1) != 0;
}

#endif
