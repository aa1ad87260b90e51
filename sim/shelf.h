/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ready nodes of one engine that wait for bytes of one domain, in dispatch order. The first of them
 * that the free bytes suffice for is found, and taken out, in time that grows with the logarithm of
 * their number: a node that still lacks bytes costs nothing when some come back. */
#ifndef WEIR_SIM_SHELF_H
#define WEIR_SIM_SHELF_H

#include "sim/queue.h"

struct shelf_item {
    struct candidate candidate;
    int64_t need_bytes;
    int64_t least_bytes;  /* needed by any of its subtree */
    uint32_t left, right; /* those that go before and after it, plus one; 0 none */
};

/* Where the items of all shelves stand. A shelf is the root of a tree: its item's number plus one,
 * 0 when nothing is on it. The trees are treaps: random, but always the same, so that the depth is
 * the logarithm of the size whatever the order in which nodes come (Seidel and Aragon, "Randomized
 * search trees", Algorithmica 16, 1996). */
struct shelf_pool {
    struct shelf_item *items;
    size_t room;
    uint32_t n;      /* items ever used */
    uint32_t unused; /* list of those free again, by left; plus one */
};

MUST_CHECK enum weir_status shelf_add(struct shelf_pool *pool, uint32_t *shelf,
                                      struct candidate candidate, int64_t need_bytes,
                                      struct weir_error *err);
/** The first whose need the free bytes cover. @return false when there is none */
bool shelf_first(const struct shelf_pool *pool, uint32_t shelf, int64_t free_bytes,
                 struct candidate *first);
/** Takes out one that is on the shelf. */
void shelf_remove(struct shelf_pool *pool, uint32_t *shelf, const struct candidate *candidate);
/** Takes out the first of all, and what it needed. @return false when the shelf is empty */
bool shelf_pop(struct shelf_pool *pool, uint32_t *shelf, struct candidate *first,
               int64_t *need_bytes);
/** Takes out the last of all, if it goes after that one (NULL: in any case). @return false when not */
bool shelf_pop_last(struct shelf_pool *pool, uint32_t *shelf, const struct candidate *after,
                    struct candidate *last);

#endif
