/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Greedy by size: what is fixed first, then the largest buffer that is left (of equal ones the one that
 * lives longer), each at the lowest address that is free all along its life.
 *
 * By steps a buffer asks O(log n) sets of ranges and marks O(sqrt n) at most (arena_ranges.h), each as
 * long as there are holes of at least its size; since sizes fall, these are few. By happens-before a
 * buffer is compared with those placed below it, O(n^2) in all: being ordered is no stretch of steps
 * that a tree could find. */
#include <stdlib.h>

#include "policies/arena_plan.h"
#include "policies/arena_ranges.h"

#define BATCHES 4

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

/* The smallest part of the turns [first, end). */
static int64_t smallest_part(const struct greedy *greedy, const struct turn *turns, uint32_t first,
                             uint32_t end)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = first; i < end; i++) {
        uint32_t buffer = turns[i].buffer;

        for (uint32_t j = greedy->first_part[buffer]; j < greedy->first_part[buffer + 1]; j++) {
            int64_t bytes = greedy->parts[j].to_bytes - greedy->parts[j].from_bytes;

            least = bytes < least ? bytes : least;
        }
    }
    return least == INT64_MAX ? 1 : least;
}

/* The turns [first, end): what is placed is marked once more, now that smaller holes count. */
static enum weir_status place_batch(struct greedy *greedy, const struct turn *turns, uint32_t first,
                                    uint32_t end, int64_t *least_bytes, struct weir_error *err)
{
    int64_t least = smallest_part(greedy, turns, first, end);
    enum weir_status status = WEIR_OK;

    if (least < *least_bytes) {
        *least_bytes = least;
        arena_ranges_empty(greedy->ranges, least);
        for (uint32_t i = 0; i < first && status == WEIR_OK; i++) {
            status = mark(greedy, turns[i].buffer, err);
        }
    }
    for (uint32_t i = first; i < end && status == WEIR_OK; i++) {
        status = place(greedy, turns[i].buffer, err);
    }
    return status;
}

/* In batches, each of half of what is left, so that most buffers see no holes that are far too small
 * for them. */
static enum weir_status by_steps(const struct arena_problem *problem, const struct turn *turns,
                                 int64_t *offsets_bytes, struct weir_error *err)
{
    struct greedy greedy = {.problem = problem, .offsets_bytes = offsets_bytes};
    uint32_t n = problem->n_buffers, first = 0;
    int64_t least_bytes = INT64_MAX;
    enum weir_status status = greedy_make(&greedy, err);

    for (int batch = 1; first < n && status == WEIR_OK; batch++) {
        uint32_t end = batch == BATCHES ? n : first + (n - first + 1) / 2;

        status = place_batch(&greedy, turns, first, end, &least_bytes, err);
        first = end;
    }
    arena_ranges_free(greedy.ranges);
    free(greedy.parts);
    free(greedy.first_part);
    return status;
}

/* --- by happens-before --- */

/* Goes up through what is placed, by offset: what ends below is passed, what conflicts is jumped. */
static int64_t lowest(const struct arena_problem *problem, uint32_t buffer, const uint32_t *placed,
                      uint32_t n_placed, const int64_t *offsets_bytes)
{
    const struct arena_buffer *at = &problem->buffers[buffer];
    int64_t offset = 0;

    for (uint32_t i = 0; i < n_placed && offsets_bytes[placed[i]] < offset + at->size_bytes; i++) {
        int64_t end = offsets_bytes[placed[i]] + problem->buffers[placed[i]].size_bytes;

        if (end > offset && arena_conflict(problem, buffer, placed[i])) {
            offset = arena_align(end, at->align_bytes);
        }
    }
    return offset;
}

/* Keeps what is placed by offset, then by turn. */
static void enter(uint32_t *placed, uint32_t *n_placed, uint32_t buffer,
                  const int64_t *offsets_bytes)
{
    uint32_t low = 0, high = *n_placed;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (offsets_bytes[placed[middle]] <= offsets_bytes[buffer]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(placed + low + 1, placed + low, (*n_placed - low) * sizeof *placed);
    placed[low] = buffer;
    (*n_placed)++;
}

static enum weir_status by_order(const struct arena_problem *problem, const struct turn *turns,
                                 int64_t *offsets_bytes, struct weir_error *err)
{
    uint32_t *placed = malloc(((size_t)problem->n_buffers + 1) * sizeof *placed);
    uint32_t n_placed = 0;

    if (placed == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        uint32_t buffer = turns[i].buffer;

        offsets_bytes[buffer] = 0;
        if (problem->buffers[buffer].fixed_bytes >= 0) {
            offsets_bytes[buffer] = problem->buffers[buffer].fixed_bytes;
        } else if (problem->buffers[buffer].size_bytes > 0) {
            offsets_bytes[buffer] = lowest(problem, buffer, placed, n_placed, offsets_bytes);
        }
        if (problem->buffers[buffer].size_bytes > 0) {
            enter(placed, &n_placed, buffer, offsets_bytes);
        }
    }
    free(placed);
    return WEIR_OK;
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
