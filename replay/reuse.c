/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Best fit over stretches of gaps that are free for who asks. Gaps of different vectors are never
 * made one: each stays as free as it is. */
#include "replay/reuse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MOST_BYTES ((int64_t)1 << 62)

void reuse_begin(struct reuse *reuse, uint32_t n_queues)
{
    *reuse = (struct reuse){.n_queues = n_queues};
}

void reuse_end(struct reuse *reuse)
{
    free(reuse->gaps);
    arena_free(&reuse->arena);
    *reuse = (struct reuse){.n_queues = 0};
}

static bool is_free_for(const struct reuse *reuse, const struct reuse_gap *gap,
                        const uint32_t *known)
{
    for (uint32_t q = 0; q < reuse->n_queues; q++) {
        if (gap->after[q] > known[q])
            return false;
    }
    return true;
}

/* Gaps side by side that are free for who asks; or the end of the block, with none. */
struct stretch {
    size_t first, n;
    int64_t offset, end; /* end: of the last gap; the block's may grow */
};

static struct stretch stretch_at(const struct reuse *reuse, size_t first, const uint32_t *known)
{
    struct stretch found = {first, 0, reuse->gaps[first].offset, reuse->gaps[first].offset};

    while (first + found.n < reuse->n_gaps) {
        const struct reuse_gap *gap = &reuse->gaps[first + found.n];

        if (gap->offset != found.end || !is_free_for(reuse, gap, known))
            break;
        found.end += gap->size_bytes;
        found.n++;
    }
    return found;
}

static int64_t aligned(int64_t offset, int64_t align_bytes)
{
    return (offset + align_bytes - 1) & -align_bytes;
}

/* The stretch of least size into which that fits; else the one at the block's end, which grows. */
static struct stretch find_stretch(const struct reuse *reuse, int64_t size_bytes,
                                   int64_t align_bytes, const uint32_t *known)
{
    struct stretch best = {reuse->n_gaps, 0, reuse->extent_bytes, reuse->extent_bytes};
    bool is_found = false;

    for (size_t at = 0; at < reuse->n_gaps;) {
        struct stretch one = stretch_at(reuse, at, known);

        at += one.n == 0 ? 1 : one.n;
        if (one.n == 0)
            continue;
        if (aligned(one.offset, align_bytes) + size_bytes <= one.end) {
            if (!is_found || one.end - one.offset < best.end - best.offset)
                best = one;
            is_found = true;
        } else if (!is_found && one.end == reuse->extent_bytes) {
            best = one;
        }
    }
    return best;
}

/* In the place of n gaps from the first on come those of the list that have any bytes. */
static enum weir_status replace(struct reuse *reuse, size_t first, size_t n,
                                const struct reuse_gap *list, size_t n_list, struct weir_error *err)
{
    enum weir_status status =
        array_grow(&reuse->gaps, &reuse->gaps_room, reuse->n_gaps + n_list, err);
    size_t n_kept = 0;

    if (status != WEIR_OK)
        return status;
    for (size_t i = 0; i < n_list; i++)
        n_kept += list[i].size_bytes > 0 ? 1 : 0;
    memmove(reuse->gaps + first + n_kept, reuse->gaps + first + n,
            (reuse->n_gaps - first - n) * sizeof *reuse->gaps);
    reuse->n_gaps += n_kept - n;
    for (size_t i = 0; i < n_list; i++) {
        if (list[i].size_bytes > 0)
            reuse->gaps[first++] = list[i];
    }
    return WEIR_OK;
}

/* What a buffer from begin to end leaves of the stretch: gaps in front of it and behind it stay. */
static enum weir_status cut(struct reuse *reuse, struct stretch stretch, int64_t begin, int64_t end,
                            struct weir_error *err)
{
    struct reuse_gap left[2] = {{0, 0, NULL}, {0, 0, NULL}};
    size_t first = stretch.first, behind = stretch.first + stretch.n, n = 0;

    while (first < behind && reuse->gaps[first].offset + reuse->gaps[first].size_bytes <= begin)
        first++;
    while (first + n < behind && reuse->gaps[first + n].offset < end)
        n++;
    if (n > 0) {
        const struct reuse_gap *front = &reuse->gaps[first], *back = &reuse->gaps[first + n - 1];

        left[0] = (struct reuse_gap){front->offset, begin - front->offset, front->after};
        left[1] = (struct reuse_gap){end, back->offset + back->size_bytes - end, back->after};
    }
    return replace(reuse, first, n, left, 2, err);
}

/* Alignment may leave bytes behind the old end that nobody ever had. */
static enum weir_status grow(struct reuse *reuse, int64_t begin, int64_t end,
                             struct weir_error *err)
{
    int64_t old = reuse->extent_bytes;
    uint32_t *never;

    if (end <= old)
        return WEIR_OK;
    reuse->extent_bytes = end;
    if (begin <= old)
        return WEIR_OK;
    never = arena_array(&reuse->arena, (size_t)reuse->n_queues + 1, sizeof *never);
    return never == NULL ? weir_error_memory(err)
                         : replace(reuse, reuse->n_gaps, 0,
                                   &(const struct reuse_gap){old, begin - old, never}, 1, err);
}

enum weir_status reuse_take(struct reuse *reuse, int64_t size_bytes, int64_t align_bytes,
                            const uint32_t *known, int64_t *offset, struct weir_error *err)
{
    struct stretch stretch;
    int64_t begin;
    enum weir_status status;

    if (size_bytes > MOST_BYTES - align_bytes - reuse->extent_bytes)
        return weir_error_set(err, WEIR_INPUT, "buffers of more than 2^62 bytes together");
    stretch = find_stretch(reuse, size_bytes, align_bytes, known);
    begin = aligned(stretch.offset, align_bytes);
    status = cut(reuse, stretch, begin, begin + size_bytes, err);
    if (status == WEIR_OK)
        status = grow(reuse, begin, begin + size_bytes, err);
    *offset = begin;
    return status;
}

enum weir_status reuse_give(struct reuse *reuse, int64_t offset, int64_t size_bytes,
                            const uint32_t *after, struct weir_error *err)
{
    uint32_t *kept = arena_array(&reuse->arena, (size_t)reuse->n_queues + 1, sizeof *kept);
    size_t low = 0, high = reuse->n_gaps;

    if (kept == NULL)
        return weir_error_memory(err);
    if (reuse->n_queues > 0)
        memcpy(kept, after, reuse->n_queues * sizeof *kept);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (reuse->gaps[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return replace(reuse, low, 0, &(const struct reuse_gap){offset, size_bytes, kept}, 1, err);
}
