/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no plan can be smaller than. All that is alive in one step lies side by side; so does every set
 * of buffers of which each conflicts with each. O(n log n) by steps; on several queues the set of the
 * fullest step is grown by what conflicts with all of it, by a number of comparisons that is bounded. */
#include <stdlib.h>

#include "policies/arena_order.h"
#include "policies/arena_plan.h"

#define MOST_COMPARISONS (INT64_C(1) << 28)

/* Bytes come into use at a step, or (less than 0) are no longer in use. */
struct change {
    int64_t step, bytes;
};

static int change_compare(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The most in use at a step, and the first such step. */
static enum weir_status fullest_step(const struct arena_problem *problem, int64_t *bytes,
                                     int64_t *step, struct weir_error *err)
{
    struct arena_part *parts;
    uint32_t n_parts, n = 0;
    int64_t now = 0;
    struct change *changes;
    enum weir_status status = arena_parts(problem, &parts, &n_parts, err);

    if (status != WEIR_OK) {
        return status;
    }
    changes = malloc((2 * (size_t)n_parts + 1) * sizeof *changes);
    if (changes == NULL) {
        free(parts);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_parts; i++) {
        int64_t own = parts[i].to_bytes - parts[i].from_bytes;

        changes[n++] = (struct change){parts[i].lower, own};
        changes[n++] = (struct change){parts[i].upper, -own};
    }
    qsort(changes, n, sizeof *changes, change_compare);
    *bytes = 0;
    *step = n > 0 ? changes[0].step : 0;
    for (uint32_t i = 0; i < n; i++) {
        now += changes[i].bytes;
        if (now > *bytes) {
            *bytes = now;
            *step = changes[i].step;
        }
    }
    free(changes);
    free(parts);
    return WEIR_OK;
}

struct by_size {
    int64_t bytes;
    uint32_t buffer;
};

static int by_size_compare(const void *a, const void *b)
{
    const struct by_size *x = a, *y = b;

    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static bool conflicts_with_all(const struct arena_problem *problem, uint32_t buffer,
                               const uint32_t *set, uint32_t n_set, int64_t *n_left)
{
    for (uint32_t i = 0; i < n_set; i++) {
        if (--*n_left < 0 || !arena_conflict(problem, buffer, set[i])) {
            return false;
        }
    }
    return true;
}

/* Grows a set, of what is alive in the step or (@p is_empty) of nothing, by the largest first. */
static int64_t grow(const struct arena_problem *problem, const struct by_size *sorted,
                    uint32_t *set, bool is_empty, int64_t step)
{
    uint32_t n_set = 0;
    int64_t bytes = 0, n_left = MOST_COMPARISONS;

    for (uint32_t i = 0; i < problem->n_buffers && !is_empty; i++) {
        const struct arena_buffer *at = &problem->buffers[sorted[i].buffer];

        if (at->lower <= step && step < at->upper) {
            set[n_set++] = sorted[i].buffer;
            bytes += at->size_bytes;
        }
    }
    for (uint32_t i = 0; i < problem->n_buffers && n_left > 0 && sorted[i].bytes > 0; i++) {
        const struct arena_buffer *at = &problem->buffers[sorted[i].buffer];
        bool is_in = !is_empty && at->lower <= step && step < at->upper;

        if (!is_in && conflicts_with_all(problem, sorted[i].buffer, set, n_set, &n_left)) {
            set[n_set++] = sorted[i].buffer;
            bytes += at->size_bytes;
        }
    }
    return bytes;
}

static enum weir_status largest_set(const struct arena_problem *problem, int64_t step,
                                    int64_t *bound_bytes, struct weir_error *err)
{
    uint32_t n = problem->n_buffers;
    struct by_size *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    uint32_t *set = malloc(((size_t)n + 1) * sizeof *set);
    enum weir_status status = WEIR_OK;

    if (sorted == NULL || set == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        sorted[i] = (struct by_size){problem->buffers[i].size_bytes, i};
    }
    if (status == WEIR_OK) {
        qsort(sorted, n, sizeof *sorted, by_size_compare);
        for (int is_empty = 0; is_empty < 2; is_empty++) {
            int64_t bytes = grow(problem, sorted, set, is_empty != 0, step);

            *bound_bytes = bytes > *bound_bytes ? bytes : *bound_bytes;
        }
    }
    free(sorted);
    free(set);
    return status;
}

enum weir_status arena_bound(const struct arena_problem *problem, int64_t *bound_bytes,
                             struct weir_error *err)
{
    int64_t bytes = 0, step = 0;
    enum weir_status status = fullest_step(problem, &bytes, &step, err);

    if (status == WEIR_OK && problem->order != NULL) {
        status = largest_set(problem, step, &bytes, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];
        int64_t end = at->fixed_bytes + at->size_bytes;

        bytes = at->fixed_bytes >= 0 && at->size_bytes > 0 && end > bytes ? end : bytes;
    }
    *bound_bytes = bytes;
    return WEIR_OK;
}
