/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The segment tree of taken addresses. Node 1 is its root, node i has the children 2i and 2i + 1;
 * leaf j stands for the steps from the j-th boundary to the next.
 *
 * What is taken in the steps of a node is kept in the sets below it and, where all its steps are taken,
 * in sets of the nodes above it. Each of these may have many holes although all together have few, and
 * going through them is slow. So the nodes near the root, about sqrt(n) of them, are told of all that
 * is taken in their steps: any life but a short one holds some of them, and their sets lead past what
 * is full at once. */
#include "policies/arena_ranges.h"

#include <stdlib.h>

#include "base/array.h"

#define FULL_LEAST 64

struct range {
    int64_t from, to; /* taken addresses [from, to) */
};

/* By address; between two there is room for the smallest part. */
struct range_set {
    struct range *items;
    size_t n, room;
};

/* A set that is in the way of a part, and how far it has been gone through. */
struct obstacle {
    const struct range_set *set;
    size_t at;
    int64_t from_bytes, to_bytes; /* of the part */
};

struct arena_ranges {
    int64_t *steps; /* boundaries, rising */
    uint32_t n_steps;
    uint32_t n_leaves;       /* a power of two */
    uint32_t n_full;         /* nodes below this are told of all that is taken in their steps */
    struct range_set *whole; /* by node: taken in all its steps, and not in all of its parent's */
    struct range_set *taken; /* in some step of it, by buffers whose lives do not hold the node's
                                parent; near the root by any */
    int64_t least_bytes;     /* no part that is asked for is smaller */
    int64_t grain_bytes;     /* every part begins at a multiple of this */
    struct obstacle *obstacles;
    size_t obstacles_room;
    uint32_t n_obstacles;
};

static int step_compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint32_t leaf_of(const struct arena_ranges *ranges, int64_t step)
{
    const int64_t *found =
        bsearch(&step, ranges->steps, ranges->n_steps, sizeof *ranges->steps, step_compare);

    return (uint32_t)(found - ranges->steps);
}

static void find_steps(struct arena_ranges *ranges, const struct arena_part *parts,
                       uint32_t n_parts)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_parts; i++) {
        ranges->steps[n++] = parts[i].lower;
        ranges->steps[n++] = parts[i].upper;
    }
    qsort(ranges->steps, n, sizeof *ranges->steps, step_compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || ranges->steps[i] != ranges->steps[i - 1]) {
            ranges->steps[ranges->n_steps++] = ranges->steps[i];
        }
    }
}

/* What every part begins at a multiple of. */
static void find_grain(struct arena_ranges *ranges, const struct arena_problem *problem,
                       const struct arena_part *parts, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts; i++) {
        int64_t align =
            parts[i].from_bytes == 0 ? problem->buffers[parts[i].buffer].align_bytes : 1;

        while (align != 0) { /* the common divisor */
            int64_t rest = ranges->grain_bytes % align;

            ranges->grain_bytes = align;
            align = rest;
        }
    }
    if (ranges->grain_bytes == 0) {
        ranges->grain_bytes = 1;
    }
}

enum weir_status arena_ranges_make(const struct arena_problem *problem,
                                   const struct arena_part *parts, uint32_t n_parts,
                                   struct arena_ranges **out, struct weir_error *err)
{
    struct arena_ranges *made = calloc(1, sizeof *made);

    if (made == NULL || n_parts > UINT32_MAX / 8) {
        free(made);
        return weir_error_memory(err);
    }
    made->steps = malloc((2 * (size_t)n_parts + 1) * sizeof *made->steps);
    if (made->steps == NULL) {
        arena_ranges_free(made);
        return weir_error_memory(err);
    }
    find_steps(made, parts, n_parts);
    find_grain(made, problem, parts, n_parts);
    made->least_bytes = 1;
    made->n_leaves = 1;
    while (made->n_leaves < made->n_steps) {
        made->n_leaves *= 2;
    }
    made->n_full = FULL_LEAST;
    while (4 * (uint64_t)made->n_full * made->n_full < made->n_leaves) {
        made->n_full *= 2;
    }
    made->n_full = made->n_full < 2 * made->n_leaves ? made->n_full : 2 * made->n_leaves;
    made->whole = calloc(2 * (size_t)made->n_leaves, sizeof *made->whole);
    made->taken = calloc(2 * (size_t)made->n_leaves, sizeof *made->taken);
    if (made->whole == NULL || made->taken == NULL) {
        arena_ranges_free(made);
        return weir_error_memory(err);
    }
    *out = made;
    return WEIR_OK;
}

void arena_ranges_empty(struct arena_ranges *ranges, int64_t least_bytes)
{
    for (size_t i = 0; i < 2 * (size_t)ranges->n_leaves; i++) {
        ranges->whole[i].n = 0;
        ranges->taken[i].n = 0;
    }
    ranges->least_bytes = least_bytes;
}

void arena_ranges_free(struct arena_ranges *ranges)
{
    if (ranges == NULL) {
        return;
    }
    for (size_t i = 0; ranges->whole != NULL && i < 2 * (size_t)ranges->n_leaves; i++) {
        free(ranges->whole[i].items);
    }
    for (size_t i = 0; ranges->taken != NULL && i < 2 * (size_t)ranges->n_leaves; i++) {
        free(ranges->taken[i].items);
    }
    free(ranges->whole);
    free(ranges->taken);
    free(ranges->steps);
    free(ranges->obstacles);
    free(ranges);
}

/* The first range, from @p first on, that ends behind the address. Mostly it is near. */
static size_t first_behind(const struct range_set *set, size_t first, int64_t address)
{
    size_t step = 1, low = first, high;

    while (low + step <= set->n && set->items[low + step - 1].to <= address) {
        low += step;
        step *= 2;
    }
    high = low + step < set->n ? low + step : set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->items[middle].to <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Adds [from, to) to a set, and joins what it then touches, or what leaves too little between. */
static enum weir_status set_add(struct range_set *set, struct range range, int64_t least_bytes,
                                struct weir_error *err)
{
    size_t first = first_behind(set, 0, range.from - least_bytes), last = first;

    while (last < set->n && set->items[last].from < range.to + least_bytes) {
        range.from = set->items[last].from < range.from ? set->items[last].from : range.from;
        range.to = set->items[last].to > range.to ? set->items[last].to : range.to;
        last++;
    }
    if (last == first) {
        enum weir_status status = array_grow_raw(&set->items, &set->room, set->n + 1, err);

        if (status != WEIR_OK) {
            return status;
        }
        memmove(set->items + first + 1, set->items + first, (set->n - first) * sizeof range);
        set->n++;
    } else if (last > first + 1) {
        memmove(set->items + first + 1, set->items + last, (set->n - last) * sizeof range);
        set->n -= last - first - 1;
    }
    set->items[first] = range;
    return WEIR_OK;
}

/* A stretch of leaves [low, high) and the node of the tree that stands for it. */
struct stretch {
    uint32_t node, low, high;
};

static struct stretch half(struct stretch of, bool is_right)
{
    uint32_t middle = of.low + (of.high - of.low) / 2;

    return is_right ? (struct stretch){2 * of.node + 1, middle, of.high}
                    : (struct stretch){2 * of.node, of.low, middle};
}

/* Tells the nodes near the root, below one that is taken all along. */
static enum weir_status tell_full(struct arena_ranges *ranges, uint32_t node, struct range range,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t child = 2 * node;
         child <= 2 * node + 1 && child < ranges->n_full && status == WEIR_OK; child++) {
        status = set_add(&ranges->taken[child], range, ranges->least_bytes, err);
        if (status == WEIR_OK) {
            status = tell_full(ranges, child, range, err);
        }
    }
    return status;
}

/* Marks the leaves [low, high) below a node. */
static enum weir_status mark_below(struct arena_ranges *ranges, struct stretch at, uint32_t low,
                                   uint32_t high, struct range range, struct weir_error *err)
{
    enum weir_status status;

    if (high <= at.low || at.high <= low) {
        return WEIR_OK;
    }
    status = set_add(&ranges->taken[at.node], range, ranges->least_bytes, err);
    if (status == WEIR_OK && low <= at.low && at.high <= high) {
        status = set_add(&ranges->whole[at.node], range, ranges->least_bytes, err);
        return status == WEIR_OK ? tell_full(ranges, at.node, range, err) : status;
    }
    if (status == WEIR_OK) {
        status = mark_below(ranges, half(at, false), low, high, range, err);
    }
    return status == WEIR_OK ? mark_below(ranges, half(at, true), low, high, range, err) : status;
}

enum weir_status arena_ranges_mark(struct arena_ranges *ranges, const struct arena_part *part,
                                   int64_t offset_bytes, struct weir_error *err)
{
    struct range range = {
        offset_bytes + part->from_bytes,
        arena_align(offset_bytes + part->to_bytes, ranges->grain_bytes),
    };

    return mark_below(ranges, (struct stretch){1, 0, ranges->n_leaves},
                      leaf_of(ranges, part->lower), leaf_of(ranges, part->upper), range, err);
}

static enum weir_status add_obstacle(struct arena_ranges *ranges, const struct range_set *set,
                                     const struct arena_part *part, struct weir_error *err)
{
    enum weir_status status;

    if (set->n == 0) {
        return WEIR_OK;
    }
    status = array_grow_raw(&ranges->obstacles, &ranges->obstacles_room,
                            (size_t)ranges->n_obstacles + 1, err);
    if (status == WEIR_OK) {
        ranges->obstacles[ranges->n_obstacles++] =
            (struct obstacle){set, 0, part->from_bytes, part->to_bytes};
    }
    return status;
}

/* All sets that hold something taken in the leaves [low, high): what is taken in the nodes that these
 * are made of, and all along the nodes above. */
static enum weir_status gather_below(struct arena_ranges *ranges, struct stretch at, uint32_t low,
                                     uint32_t high, const struct arena_part *part,
                                     struct weir_error *err)
{
    enum weir_status status;

    if (high <= at.low || at.high <= low) {
        return WEIR_OK;
    }
    if (low <= at.low && at.high <= high) {
        return add_obstacle(ranges, &ranges->taken[at.node], part, err);
    }
    status = add_obstacle(ranges, &ranges->whole[at.node], part, err);
    if (status == WEIR_OK) {
        status = gather_below(ranges, half(at, false), low, high, part, err);
    }
    return status == WEIR_OK ? gather_below(ranges, half(at, true), low, high, part, err) : status;
}

enum weir_status arena_ranges_lowest(struct arena_ranges *ranges, const struct arena_part *parts,
                                     uint32_t n_parts, int64_t align_bytes, int64_t *offset_bytes,
                                     struct weir_error *err)
{
    int64_t offset = 0;
    uint32_t n_clear = 0; /* obstacles in a row that are not in the way */

    ranges->n_obstacles = 0;
    for (uint32_t i = 0; i < n_parts; i++) {
        enum weir_status status = gather_below(ranges, (struct stretch){1, 0, ranges->n_leaves},
                                               leaf_of(ranges, parts[i].lower),
                                               leaf_of(ranges, parts[i].upper), &parts[i], err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; n_clear < ranges->n_obstacles; i++) {
        struct obstacle *at = &ranges->obstacles[i < ranges->n_obstacles ? i : (i = 0)];
        int64_t begin = offset + at->from_bytes;

        if (at->set->items[at->at].to <= begin) {
            at->at = first_behind(at->set, at->at + 1, begin);
        }
        if (at->at == at->set->n) { /* all of it is below */
            ranges->n_obstacles--;
            memmove(at, at + 1, (ranges->n_obstacles - i) * sizeof *at);
            i--;
        } else if (at->set->items[at->at].from < offset + at->to_bytes) {
            offset = arena_align(at->set->items[at->at].to - at->from_bytes, align_bytes);
            n_clear = 0;
        } else {
            n_clear++;
        }
    }
    *offset_bytes = offset;
    return WEIR_OK;
}
