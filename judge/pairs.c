/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table with open addresses, at most half full. */
#include "judge/pairs.h"

#include <assert.h>
#include <stdlib.h>

static size_t place_of(const struct pairs *pairs, uint32_t a, uint32_t b)
{
    uint64_t key = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(key >> 20) & (pairs->room - 1);

    while (pairs->items[at].a != UINT32_MAX && (pairs->items[at].a != a || pairs->items[at].b != b))
        at = (at + 1) & (pairs->room - 1);
    return at;
}

static enum weir_status grow(struct pairs *pairs, struct weir_error *err)
{
    struct pairs larger = {.room = pairs->room == 0 ? 64 : 2 * pairs->room, .n = pairs->n};

    larger.items = malloc(larger.room * sizeof *larger.items);
    if (larger.items == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < larger.room; i++)
        larger.items[i].a = UINT32_MAX;
    for (size_t i = 0; i < pairs->room; i++) {
        const struct pair_sum *item = &pairs->items[i];

        if (item->a != UINT32_MAX)
            larger.items[place_of(&larger, item->a, item->b)] = *item;
    }
    free(pairs->items);
    *pairs = larger;
    return WEIR_OK;
}

enum weir_status pairs_add(struct pairs *pairs, uint32_t a, uint32_t b, pairs_sum more,
                           struct weir_error *err)
{
    size_t at;

    assert(a != UINT32_MAX);
    if (2 * (pairs->n + 1) > pairs->room) {
        enum weir_status status = grow(pairs, err);

        if (status != WEIR_OK)
            return status;
    }
    at = place_of(pairs, a, b);
    if (pairs->items[at].a == UINT32_MAX) {
        pairs->items[at] = (struct pair_sum){a, b, 0};
        pairs->n++;
    }
    pairs->items[at].sum += more;
    return WEIR_OK;
}

static int by_pair(const void *left, const void *right)
{
    const struct pair_sum *x = left, *y = right;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

void pairs_sort(struct pairs *pairs)
{
    size_t n = 0;

    for (size_t i = 0; i < pairs->room; i++) {
        if (pairs->items[i].a != UINT32_MAX)
            pairs->items[n++] = pairs->items[i];
    }
    if (n > 0)
        qsort(pairs->items, n, sizeof *pairs->items, by_pair);
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct pairs){NULL, 0, 0};
}

int64_t pairs_clamp(pairs_sum sum)
{
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

int64_t pairs_clamped_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
