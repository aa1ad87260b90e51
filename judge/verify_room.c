/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least level below each vertex of a binary tree; its leaves are the levels in the order of time. */
#include "judge/verify_room.h"

#include <stdlib.h>

enum weir_status room_begin(const struct verify *verify, struct room *out)
{
    *out = (struct room){verify, calloc((size_t)verify->n_domains + 1, sizeof *out->least_bytes)};
    return out->least_bytes == NULL ? weir_error_memory(verify->err) : WEIR_OK;
}

void room_free(struct room *room)
{
    for (uint32_t i = 0; room->least_bytes != NULL && i < room->verify->n_domains; i++) {
        free(room->least_bytes[i]);
    }
    free(room->least_bytes);
}

/* As many leaves as the next power of two. */
static size_t n_leaves(const struct verify *verify, uint32_t domain)
{
    size_t n = verify->level_first[domain + 1] - verify->level_first[domain], leaves = 1;

    while (leaves < n) {
        leaves *= 2;
    }
    return leaves;
}

static enum weir_status make_tree(struct room *room, uint32_t domain)
{
    const struct verify *verify = room->verify;
    size_t first = verify->level_first[domain], n = verify->level_first[domain + 1] - first;
    size_t leaves = n_leaves(verify, domain);
    int64_t *least = malloc(2 * leaves * sizeof *least);

    if (least == NULL) {
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < leaves; i++) {
        least[leaves + i] = i < n ? verify->levels[first + i].bytes : INT64_MAX;
    }
    for (size_t i = leaves - 1; i > 0; i--) {
        least[i] = least[2 * i] < least[2 * i + 1] ? least[2 * i] : least[2 * i + 1];
    }
    room->least_bytes[domain] = least;
    return WEIR_OK;
}

/* The first leaf from @p from on that is at most that; the number of leaves when there is none. */
static size_t first_at_most(const int64_t *least, size_t leaves, size_t from, int64_t bytes)
{
    size_t at = leaves + from;

    if (from >= leaves) {
        return leaves;
    }
    while (least[at] > bytes) {
        while (at % 2 == 1 && at > 1) {
            at /= 2;
        }
        if (at <= 1) {
            return leaves;
        }
        at++; /* the right neighbour of a left part */
    }
    while (at < leaves) {
        at = least[2 * at] <= bytes ? 2 * at : 2 * at + 1;
    }
    return at - leaves;
}

/* The level that holds at that time; the number of levels when it is before the first. */
static size_t level_at(const struct verify *verify, uint32_t domain, int64_t t_ns)
{
    size_t begin = verify->level_first[domain], low = begin, high = verify->level_first[domain + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (verify->levels[middle].t_ns <= t_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == begin ? verify->level_first[domain + 1] - begin : low - 1 - begin;
}

enum weir_status room_short_until(struct room *room, uint32_t domain, int64_t bytes, int64_t t_ns,
                                  int64_t *until_ns)
{
    const struct verify *verify = room->verify;
    size_t first = verify->level_first[domain], n = verify->level_first[domain + 1] - first;
    size_t at = level_at(verify, domain, t_ns), fits;
    int64_t most_bytes = verify_usable_bytes(verify, domain) - bytes;

    if (at == n) { /* nothing is held yet */
        *until_ns = most_bytes >= 0 ? t_ns : NEVER_NS;
        return WEIR_OK;
    }
    if (room->least_bytes[domain] == NULL) {
        enum weir_status status = make_tree(room, domain);

        if (status != WEIR_OK) {
            return status;
        }
    }
    fits = first_at_most(room->least_bytes[domain], n_leaves(verify, domain), at, most_bytes);
    *until_ns = fits >= n ? NEVER_NS : fits == at ? t_ns : verify->levels[first + fits].t_ns;
    return WEIR_OK;
}
