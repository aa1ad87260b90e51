/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Treaps by dispatch order, with the least need of each subtree. */
#include "sim/shelf.h"

/* The item nearer to the root has the higher rank: a mix of the node's number (the finalizer of
 * MurmurHash3, Austin Appleby, public domain), which is one to one. */
static uint32_t rank_of(const struct shelf_pool *pool, uint32_t at)
{
    uint32_t mixed = pool->items[at - 1].candidate.node;

    mixed = (mixed ^ (mixed >> 16)) * 0x85ebca6bu;
    mixed = (mixed ^ (mixed >> 13)) * 0xc2b2ae35u;
    return mixed ^ (mixed >> 16);
}

static int64_t least_of(const struct shelf_pool *pool, uint32_t at)
{
    return at == 0 ? INT64_MAX : pool->items[at - 1].least_bytes;
}

static void sum_up(struct shelf_pool *pool, uint32_t at)
{
    struct shelf_item *item = &pool->items[at - 1];
    int64_t left = least_of(pool, item->left), right = least_of(pool, item->right);
    int64_t least = left < right ? left : right;

    item->least_bytes = item->need_bytes < least ? item->need_bytes : least;
}

/* Parts a tree: *before gets what goes before the candidate, *after the others. */
static void split(struct shelf_pool *pool, uint32_t at, const struct candidate *candidate,
                  uint32_t *before, uint32_t *after)
{
    struct shelf_item *item = at == 0 ? NULL : &pool->items[at - 1];

    if (at == 0) {
        *before = *after = 0;
    } else if (candidate_before(&item->candidate, candidate)) {
        split(pool, item->right, candidate, &item->right, after);
        *before = at;
        sum_up(pool, at);
    } else {
        split(pool, item->left, candidate, before, &item->left);
        *after = at;
        sum_up(pool, at);
    }
}

/* Joins two trees; all of the first go before all of the second. */
static uint32_t join(struct shelf_pool *pool, uint32_t before, uint32_t after)
{
    if (before == 0 || after == 0) {
        return before == 0 ? after : before;
    }
    if (rank_of(pool, before) > rank_of(pool, after)) {
        pool->items[before - 1].right = join(pool, pool->items[before - 1].right, after);
        sum_up(pool, before);
        return before;
    }
    pool->items[after - 1].left = join(pool, before, pool->items[after - 1].left);
    sum_up(pool, after);
    return after;
}

static enum weir_status new_item(struct shelf_pool *pool, struct shelf_item item, uint32_t *at,
                                 struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (pool->unused > 0) {
        *at = pool->unused;
        pool->unused = pool->items[*at - 1].left;
    } else {
        status = array_grow(&pool->items, &pool->room, (size_t)pool->n + 1, err);
        *at = pool->n + (status == WEIR_OK ? 1 : 0);
        pool->n = *at;
    }
    if (status == WEIR_OK) {
        pool->items[*at - 1] = item;
    }
    return status;
}

enum weir_status shelf_add(struct shelf_pool *pool, uint32_t *shelf, struct candidate candidate,
                           int64_t need_bytes, struct weir_error *err)
{
    const struct shelf_item item = {candidate, need_bytes, need_bytes, 0, 0};
    uint32_t at, before, after;
    enum weir_status status = new_item(pool, item, &at, err);

    if (status == WEIR_OK) {
        split(pool, *shelf, &candidate, &before, &after);
        *shelf = join(pool, join(pool, before, at), after);
    }
    return status;
}

bool shelf_first(const struct shelf_pool *pool, uint32_t shelf, int64_t free_bytes,
                 struct candidate *first)
{
    uint32_t at = shelf;

    if (at == 0 || least_of(pool, at) > free_bytes) {
        return false;
    }
    for (;;) {
        const struct shelf_item *item = &pool->items[at - 1];

        if (item->left > 0 && least_of(pool, item->left) <= free_bytes) {
            at = item->left;
        } else if (item->need_bytes <= free_bytes) {
            *first = item->candidate;
            return true;
        } else {
            at = item->right;
        }
    }
}

/* The tree without the candidate. @param need_bytes gets what that needed */
static uint32_t without(struct shelf_pool *pool, uint32_t at, const struct candidate *candidate,
                        int64_t *need_bytes)
{
    struct shelf_item *item = &pool->items[at - 1];

    if (item->candidate.node == candidate->node) {
        uint32_t rest = join(pool, item->left, item->right);

        *need_bytes = item->need_bytes;
        item->left = pool->unused;
        pool->unused = at;
        return rest;
    }
    if (candidate_before(candidate, &item->candidate)) {
        item->left = without(pool, item->left, candidate, need_bytes);
    } else {
        item->right = without(pool, item->right, candidate, need_bytes);
    }
    sum_up(pool, at);
    return at;
}

void shelf_remove(struct shelf_pool *pool, uint32_t *shelf, const struct candidate *candidate)
{
    int64_t need_bytes;

    *shelf = without(pool, *shelf, candidate, &need_bytes);
}

bool shelf_pop(struct shelf_pool *pool, uint32_t *shelf, struct candidate *first,
               int64_t *need_bytes)
{
    if (!shelf_first(pool, *shelf, INT64_MAX, first)) {
        return false;
    }
    *shelf = without(pool, *shelf, first, need_bytes);
    return true;
}

bool shelf_pop_last(struct shelf_pool *pool, uint32_t *shelf, const struct candidate *after,
                    struct candidate *last)
{
    uint32_t at = *shelf;

    while (at > 0 && pool->items[at - 1].right > 0) {
        at = pool->items[at - 1].right;
    }
    if (at == 0 || (after != NULL && !candidate_before(after, &pool->items[at - 1].candidate))) {
        return false;
    }
    *last = pool->items[at - 1].candidate;
    shelf_remove(pool, shelf, last);
    return true;
}
