/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Greedy by size: what is fixed first, then the largest buffer that is left (of equal ones the one that
 * lives longer), each at the lowest address that is free all along its life.
 *
 * By steps a buffer asks O(log n) sets of ranges and marks O(sqrt n) at most (arena_ranges.h), each as
 * long as there are holes of at least its size; since sizes fall, these are few. By happens-before a
 * buffer is compared with those placed below it, O(n^2) in all: being ordered is no stretch of steps
 * that a tree could find. What is placed lies by address, so that this is a walk through memory, and
 * most pairs are told apart by two numbers of each (arena_order.h). */
#include <stdlib.h>

#include "policies/arena_order.h"
#include "policies/arena_plan.h"
#include "policies/arena_ranges.h"

/* A buffer's place in the order of placing. */
struct turn {
    uint32_t buffer;
    bool is_fixed;
    int64_t size_bytes, life, lower;
};

static int turn_compare(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->is_fixed != y->is_fixed) {
        return x->is_fixed ? -1 : 1;
    }
    if (x->size_bytes != y->size_bytes) {
        return x->size_bytes > y->size_bytes ? -1 : 1;
    }
    if (x->life != y->life) {
        return x->life > y->life ? -1 : 1;
    }
    if (x->lower != y->lower) {
        return x->lower < y->lower ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* Steps that are 64 bits apart count as the longest life there is. */
static int64_t life_of(const struct arena_buffer *buffer)
{
    int64_t life;

    return __builtin_sub_overflow(buffer->upper, buffer->lower, &life) ? INT64_MAX : life;
}

static struct turn *make_turns(const struct arena_problem *problem)
{
    struct turn *turns = malloc(((size_t)problem->n_buffers + 1) * sizeof *turns);

    for (uint32_t i = 0; i < problem->n_buffers && turns != NULL; i++) {
        const struct arena_buffer *at = &problem->buffers[i];

        turns[i] = (struct turn){i, at->fixed_bytes >= 0, at->size_bytes, life_of(at), at->lower};
    }
    if (turns != NULL) {
        qsort(turns, problem->n_buffers, sizeof *turns, turn_compare);
    }
    return turns;
}

/* --- by steps --- */

struct greedy {
    const struct arena_problem *problem;
    struct arena_part *parts;
    uint32_t *first_part; /* by buffer: its parts end where those of the next begin */
    struct arena_ranges *ranges;
    int64_t *offsets_bytes;
};

static enum weir_status greedy_make(struct greedy *greedy, struct weir_error *err)
{
    uint32_t n = greedy->problem->n_buffers, n_parts = 0, at = 0;
    enum weir_status status = arena_parts(greedy->problem, &greedy->parts, &n_parts, err);

    if (status != WEIR_OK) {
        return status;
    }
    greedy->first_part = malloc(((size_t)n + 1) * sizeof *greedy->first_part);
    if (greedy->first_part == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        greedy->first_part[i] = at;
        while (at < n_parts && greedy->parts[at].buffer == i) {
            at++;
        }
    }
    greedy->first_part[n] = n_parts;
    return arena_ranges_make(greedy->problem, greedy->parts, n_parts, &greedy->ranges, err);
}

static enum weir_status mark(struct greedy *greedy, uint32_t buffer, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = greedy->first_part[buffer];
         i < greedy->first_part[buffer + 1] && status == WEIR_OK; i++) {
        status = arena_ranges_mark(greedy->ranges, &greedy->parts[i], greedy->offsets_bytes[buffer],
                                   err);
    }
    return status;
}

static enum weir_status place(struct greedy *greedy, uint32_t buffer, struct weir_error *err)
{
    const struct arena_buffer *at = &greedy->problem->buffers[buffer];
    uint32_t first = greedy->first_part[buffer], end = greedy->first_part[buffer + 1];
    enum weir_status status = WEIR_OK;

    greedy->offsets_bytes[buffer] = at->fixed_bytes;
    if (at->fixed_bytes < 0) {
        status = arena_ranges_lowest(greedy->ranges, greedy->parts + first, end - first,
                                     at->align_bytes, &greedy->offsets_bytes[buffer], err);
    }
    return status == WEIR_OK ? mark(greedy, buffer, err) : status;
}

static enum weir_status by_steps(const struct arena_problem *problem, const struct turn *turns,
                                 int64_t *offsets_bytes, struct weir_error *err)
{
    struct greedy greedy = {.problem = problem, .offsets_bytes = offsets_bytes};
    enum weir_status status = greedy_make(&greedy, err);

    for (uint32_t i = 0; i < problem->n_buffers && status == WEIR_OK; i++) {
        status = place(&greedy, turns[i].buffer, err);
    }
    arena_ranges_free(greedy.ranges);
    free(greedy.parts);
    free(greedy.first_part);
    return status;
}

/* --- by happens-before --- */

/* What is placed, by offset, in blocks: as much of it as fits in a few pages moves when one comes in. */
#define BLOCK_PLACED 512

struct placed {
    int64_t from, to;
    uint32_t buffer;
};

struct block {
    struct placed *items; /* BLOCK_PLACED */
    uint32_t n;
    int64_t end; /* the greatest of its buffers */
};

struct pile {
    const struct arena_problem *problem;
    struct block *blocks; /* none is empty */
    uint32_t n_blocks;
};

/* Does the other conflict? Of those that stand before the buffer its own row tells, which is at hand; of
 * those behind, mostly the two numbers of the buffer. */
static inline bool conflicts(const struct arena_order *order, uint32_t buffer, uint32_t other)
{
    if (other < buffer) {
        return (order->bits[order->first[buffer] + other / 64] >> other % 64 & 1) == 0;
    }
    return !arena_order_before(order, buffer, other);
}

/* Goes up through what is placed: what ends below is passed, what conflicts is jumped. */
static int64_t lowest(const struct pile *pile, uint32_t buffer)
{
    const struct arena_buffer *at = &pile->problem->buffers[buffer];
    int64_t offset = 0;

    for (const struct block *block = pile->blocks; block < pile->blocks + pile->n_blocks; block++) {
        for (uint32_t i = 0; i < block->n && block->end > offset; i++) {
            const struct placed *placed = &block->items[i];

            if (placed->from >= offset + at->size_bytes) {
                return offset;
            }
            if (placed->to > offset && conflicts(pile->problem->order, buffer, placed->buffer)) {
                offset = arena_align(placed->to, at->align_bytes);
            }
        }
    }
    return offset;
}

/* Gives the upper half of a full block one of its own. */
static enum weir_status split(struct pile *pile, uint32_t index, struct weir_error *err)
{
    struct block *blocks = pile->blocks, upper = {NULL, BLOCK_PLACED / 2, 0};

    upper.items = malloc(BLOCK_PLACED * sizeof *upper.items);
    if (upper.items == NULL) {
        return weir_error_memory(err);
    }
    memcpy(upper.items, blocks[index].items + BLOCK_PLACED - upper.n,
           upper.n * sizeof *upper.items);
    memmove(blocks + index + 2, blocks + index + 1, (pile->n_blocks - index - 1) * sizeof *blocks);
    blocks[index].n -= upper.n;
    blocks[index + 1] = upper;
    pile->n_blocks++;
    for (uint32_t i = index; i <= index + 1; i++) {
        blocks[i].end = 0;
        for (uint32_t j = 0; j < blocks[i].n; j++) {
            int64_t end = blocks[i].items[j].to;

            blocks[i].end = end > blocks[i].end ? end : blocks[i].end;
        }
    }
    return WEIR_OK;
}

/* Behind what has the same offset: by turn. */
static enum weir_status enter(struct pile *pile, const struct placed *placed,
                              struct weir_error *err)
{
    uint32_t low = 0, high = pile->n_blocks;
    struct block *block;

    while (low + 1 < high) { /* the last block that begins at the offset or below */
        uint32_t middle = low + (high - low) / 2;

        if (pile->blocks[middle].items[0].from <= placed->from) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (pile->blocks[low].n == BLOCK_PLACED) {
        enum weir_status status = split(pile, low, err);

        if (status != WEIR_OK) {
            return status;
        }
        low += pile->blocks[low + 1].items[0].from <= placed->from ? 1 : 0;
    }
    block = &pile->blocks[low];
    for (low = 0, high = block->n; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (block->items[middle].from <= placed->from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(block->items + low + 1, block->items + low, (block->n - low) * sizeof *placed);
    block->items[low] = *placed;
    block->n++;
    block->end = placed->to > block->end ? placed->to : block->end;
    return WEIR_OK;
}

static enum weir_status pile_make(struct pile *pile, struct weir_error *err)
{
    /* Each split leaves two halves. */
    size_t room = 2 * (size_t)pile->problem->n_buffers / BLOCK_PLACED + 2;

    pile->blocks = calloc(room, sizeof *pile->blocks);
    if (pile->blocks == NULL) {
        return weir_error_memory(err);
    }
    pile->blocks[0].items = malloc(BLOCK_PLACED * sizeof *pile->blocks[0].items);
    pile->n_blocks = 1;
    return pile->blocks[0].items == NULL ? weir_error_memory(err) : WEIR_OK;
}

static void pile_free(struct pile *pile)
{
    for (uint32_t i = 0; i < pile->n_blocks; i++) {
        free(pile->blocks[i].items);
    }
    free(pile->blocks);
}

static enum weir_status by_order(const struct arena_problem *problem, const struct turn *turns,
                                 int64_t *offsets_bytes, struct weir_error *err)
{
    struct pile pile = {problem, NULL, 0};
    enum weir_status status = pile_make(&pile, err);

    for (uint32_t i = 0; i < problem->n_buffers && status == WEIR_OK; i++) {
        uint32_t buffer = turns[i].buffer;
        const struct arena_buffer *at = &problem->buffers[buffer];
        struct placed placed = {at->fixed_bytes >= 0 ? at->fixed_bytes : 0, 0, buffer};

        if (at->size_bytes > 0 && at->fixed_bytes < 0) {
            placed.from = lowest(&pile, buffer);
        }
        offsets_bytes[buffer] = placed.from;
        placed.to = placed.from + at->size_bytes;
        if (at->size_bytes > 0) {
            status = enter(&pile, &placed, err);
        }
    }
    pile_free(&pile);
    return status;
}

enum weir_status arena_greedy(const struct arena_problem *problem, int64_t *offsets_bytes,
                              struct weir_error *err)
{
    struct turn *turns = make_turns(problem);
    enum weir_status status;

    if (turns == NULL) {
        return weir_error_memory(err);
    }
    status = problem->order == NULL ? by_steps(problem, turns, offsets_bytes, err)
                                    : by_order(problem, turns, offsets_bytes, err);
    free(turns);
    return status;
}
