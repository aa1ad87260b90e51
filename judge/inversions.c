/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inversions of one order against another. Sorted by group, first and second place, a pair is an
 * inversion exactly when the later one has the lesser second place: equal first places stand by
 * their second ones, so they give none. */
#include "judge/inversions.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const struct inversion_item *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* Merges two sorted runs, places[0..middle) and places[middle..n), through spare; each place taken
 * from the second passes all that are left of the first. */
static uint64_t merge(int64_t *places, size_t middle, size_t n, int64_t *spare)
{
    size_t i = 0, j = middle, k = 0;
    uint64_t inversions = 0;

    while (i < middle && j < n) {
        if (places[j] < places[i]) {
            inversions += middle - i;
            spare[k++] = places[j++];
        } else {
            spare[k++] = places[i++];
        }
    }
    while (i < middle)
        spare[k++] = places[i++];
    while (j < n)
        spare[k++] = places[j++];
    for (size_t at = 0; at < n; at++)
        places[at] = spare[at];
    return inversions;
}

/* From the bottom up, so that the depth of the stack does not depend on the input. */
static uint64_t sort_places(int64_t *places, size_t n, int64_t *spare)
{
    uint64_t inversions = 0;

    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at + run < n; at += 2 * run) {
            size_t length = n - at < 2 * run ? n - at : 2 * run;

            inversions += merge(places + at, run, length, spare);
        }
    }
    return inversions;
}

enum weir_status count_inversions(struct inversion_item *items, size_t n_items,
                                  uint64_t *inversions, uint64_t *pairs, struct weir_error *err)
{
    int64_t *places = calloc(2 * n_items + 1, sizeof *places);
    uint64_t found = 0, all = 0;

    if (places == NULL)
        return weir_error_memory(err);
    qsort(items, n_items, sizeof *items, by_first);
    for (size_t begin = 0, end; begin < n_items; begin = end) {
        for (end = begin; end < n_items && items[end].group == items[begin].group; end++)
            places[end - begin] = items[end].second;
        found += sort_places(places, end - begin, places + n_items);
        all += (uint64_t)(end - begin) * (end - begin - 1) / 2;
    }
    free(places);
    *inversions = found;
    *pairs = all;
    return WEIR_OK;
}
