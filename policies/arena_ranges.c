/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The segment tree of taken addresses. Node 1 is its root, node i has the children 2i and 2i + 1;
 * leaf j stands for the steps from the j-th boundary to the next.
 *
 * What is taken in the steps of a node is kept in the sets below it and, where all its steps are taken,
 * in sets of the nodes above it. Each of these may have many holes although all together have few, and
 * going through them is slow. So the nodes near the root, about sqrt(n) of them, are told of all that is
 * taken in their steps, and the lowest of these of all that is taken in all of them: these sets lead past
 * what is full at once. */
#include "policies/arena_ranges.h"

#include <stdlib.h>

#include "base/array.h"
#include "policies/arena_taken.h"

#define FULL_LEAST 64

struct node {
    struct arena_taken
        taken; /* in some step of it, by buffers whose lives do not hold the parent of the
                                 node; near the root by any */
    struct arena_taken
        whole; /* in all its steps, and not in all of its parent's; in the lowest near the
                                 root all that is, above them nothing */
};

/* A set that is in the way of a part. */
struct obstacle {
    struct arena_taken *set;
    uint32_t node;                /* by which they are asked: large ones first */
    int64_t from_bytes, to_bytes; /* of the part */
};

struct arena_ranges {
    int64_t *steps; /* boundaries, rising */
    uint32_t n_steps;
    uint32_t n_leaves; /* a power of two */
    uint32_t n_full;   /* nodes below this are told of all that is taken in their steps */
    struct node *nodes;
    int64_t least_bytes; /* no part is smaller */
    int64_t grain_bytes; /* every part begins at a multiple of this */
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

static int64_t smallest(const struct arena_part *parts, uint32_t n_parts)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < n_parts; i++) {
        int64_t bytes = parts[i].to_bytes - parts[i].from_bytes;

        least = bytes < least ? bytes : least;
    }
    return least;
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
    made->least_bytes = smallest(parts, n_parts);
    made->n_leaves = 1;
    while (made->n_leaves < made->n_steps) {
        made->n_leaves *= 2;
    }
    made->n_full = FULL_LEAST;
    while (4 * (uint64_t)made->n_full * made->n_full < made->n_leaves) {
        made->n_full *= 2;
    }
    made->n_full = made->n_full < 2 * made->n_leaves ? made->n_full : 2 * made->n_leaves;
    made->nodes = calloc(2 * (size_t)made->n_leaves, sizeof *made->nodes);
    if (made->nodes == NULL) {
        arena_ranges_free(made);
        return weir_error_memory(err);
    }
    *out = made;
    return WEIR_OK;
}

void arena_ranges_free(struct arena_ranges *ranges)
{
    if (ranges == NULL) {
        return;
    }
    for (size_t i = 0; ranges->nodes != NULL && i < 2 * (size_t)ranges->n_leaves; i++) {
        arena_taken_free(&ranges->nodes[i].taken);
        arena_taken_free(&ranges->nodes[i].whole);
    }
    free(ranges->nodes);
    free(ranges->steps);
    free(ranges->obstacles);
    free(ranges);
}

static bool is_lowest_full(const struct arena_ranges *ranges, uint32_t node)
{
    return node < ranges->n_full && 2 * node >= ranges->n_full;
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

/* Addresses to be marked in the leaves [low, high). */
struct mark {
    uint32_t low, high;
    int64_t from, to;
};

static enum weir_status add(const struct arena_ranges *ranges, struct arena_taken *set,
                            const struct mark *mark, struct weir_error *err)
{
    return arena_taken_add(set, mark->from, mark->to, ranges->least_bytes, err);
}

/* Tells the nodes near the root, below one that is taken all along. */
static enum weir_status tell_full(struct arena_ranges *ranges, uint32_t node,
                                  const struct mark *mark, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (is_lowest_full(ranges, node)) {
        return add(ranges, &ranges->nodes[node].whole, mark, err);
    }
    for (uint32_t child = 2 * node; child <= 2 * node + 1 && status == WEIR_OK; child++) {
        status = add(ranges, &ranges->nodes[child].taken, mark, err);
        if (status == WEIR_OK) {
            status = tell_full(ranges, child, mark, err);
        }
    }
    return status;
}

/* Marks the leaves below a node. */
static enum weir_status mark_below(struct arena_ranges *ranges, struct stretch at,
                                   const struct mark *mark, struct weir_error *err)
{
    enum weir_status status;

    if (mark->high <= at.low || at.high <= mark->low) {
        return WEIR_OK;
    }
    status = add(ranges, &ranges->nodes[at.node].taken, mark, err);
    if (status == WEIR_OK && mark->low <= at.low && at.high <= mark->high) {
        return at.node < ranges->n_full ? tell_full(ranges, at.node, mark, err)
                                        : add(ranges, &ranges->nodes[at.node].whole, mark, err);
    }
    if (status == WEIR_OK) {
        status = mark_below(ranges, half(at, false), mark, err);
    }
    return status == WEIR_OK ? mark_below(ranges, half(at, true), mark, err) : status;
}

enum weir_status arena_ranges_mark(struct arena_ranges *ranges, const struct arena_part *part,
                                   int64_t offset_bytes, struct weir_error *err)
{
    struct mark mark = {
        leaf_of(ranges, part->lower),
        leaf_of(ranges, part->upper),
        offset_bytes + part->from_bytes,
        arena_align(offset_bytes + part->to_bytes, ranges->grain_bytes),
    };

    return mark_below(ranges, (struct stretch){1, 0, ranges->n_leaves}, &mark, err);
}

/* --- the lowest that is free --- */

/* Keeps the obstacles by node: those near the root have the fewest holes. */
static enum weir_status add_obstacle(struct arena_ranges *ranges, struct arena_taken *set,
                                     uint32_t node, const struct arena_part *part,
                                     struct weir_error *err)
{
    uint32_t at = ranges->n_obstacles;
    enum weir_status status;

    if (set->end == 0) {
        return WEIR_OK;
    }
    status = array_grow_raw(&ranges->obstacles, &ranges->obstacles_room, (size_t)at + 1, err);
    if (status != WEIR_OK) {
        return status;
    }
    for (; at > 0 && ranges->obstacles[at - 1].node > node; at--) {
        ranges->obstacles[at] = ranges->obstacles[at - 1];
    }
    ranges->obstacles[at] = (struct obstacle){set, node, part->from_bytes, part->to_bytes};
    ranges->n_obstacles++;
    return WEIR_OK;
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
        return add_obstacle(ranges, &ranges->nodes[at.node].taken, at.node, part, err);
    }
    status = WEIR_OK;
    if (at.node >= ranges->n_full || is_lowest_full(ranges, at.node)) {
        status = add_obstacle(ranges, &ranges->nodes[at.node].whole, at.node, part, err);
    }
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

    ranges->n_obstacles = 0;
    for (uint32_t i = 0; i < n_parts; i++) {
        enum weir_status status = gather_below(ranges, (struct stretch){1, 0, ranges->n_leaves},
                                               leaf_of(ranges, parts[i].lower),
                                               leaf_of(ranges, parts[i].upper), &parts[i], err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < ranges->n_obstacles;) { /* those before it are not in the way */
        struct obstacle at = ranges->obstacles[i];
        int64_t begin = offset + at.from_bytes;
        int64_t free = arena_taken_lowest(at.set, begin, at.to_bytes - at.from_bytes);

        if (free == begin) {
            i++;
            continue;
        }
        offset = arena_align(free - at.from_bytes, align_bytes);
        if (i > 0) { /* who stands in the way once does so again: it is asked earlier */
            ranges->obstacles[i] = ranges->obstacles[i - 1];
            ranges->obstacles[i - 1] = at;
            i = 0;
        }
    }
    *offset_bytes = offset;
    return WEIR_OK;
}
