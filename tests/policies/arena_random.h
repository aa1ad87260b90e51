/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of buffers drawn from a seed, for tests and measurements. */
#ifndef TESTS_POLICIES_ARENA_RANDOM_H
#define TESTS_POLICIES_ARENA_RANDOM_H

#include <stdlib.h>

#include "base/random.h"
#include "policies/arena_plan.h"

struct arena_draw {
    uint32_t n_buffers;
    int64_t n_steps;
    int64_t longest;    /* a life, in steps */
    int64_t most_bytes; /* a size */
    bool has_extras;    /* alignments, gaps, and buffers of 0 bytes */
};

static inline int64_t arena_draw_below(struct random_stream *random, int64_t bound)
{
    return (int64_t)random_below(random, (uint64_t)bound);
}

/* A gap inside the life, that may keep some of the bytes. */
static inline void arena_draw_gap(struct random_stream *random, struct arena_problem *problem,
                                  struct arena_buffer *at)
{
    struct arena_gap *gap = arena_alloc(&problem->memory, sizeof *gap);
    int64_t life = at->upper - at->lower;

    if (gap == NULL)
        abort();
    gap->lower = at->lower + arena_draw_below(random, life);
    gap->upper = gap->lower + 1 + arena_draw_below(random, at->upper - gap->lower);
    if (arena_draw_below(random, 2) == 0) {
        gap->from_bytes = arena_draw_below(random, at->size_bytes + 1);
        gap->to_bytes =
            gap->from_bytes + arena_draw_below(random, at->size_bytes + 1 - gap->from_bytes);
    }
    at->gaps = gap;
    at->n_gaps = 1;
}

static inline void arena_draw_extras(struct random_stream *random, struct arena_problem *problem,
                                     struct arena_buffer *at)
{
    static const int64_t aligns[] = {1, 1, 1, 2, 4, 16, 3, 48};

    at->align_bytes = aligns[arena_draw_below(random, 8)];
    if (arena_draw_below(random, 16) == 0)
        at->size_bytes = 0;
    if (arena_draw_below(random, 4) == 0)
        arena_draw_gap(random, problem, at);
}

/* The caller frees with arena_problem_free. */
static inline struct arena_problem arena_draw(const struct arena_draw *draw, uint64_t seed)
{
    struct arena_problem problem = {.n_buffers = draw->n_buffers};
    struct random_stream random;

    random_seed(&random, seed, 0);
    problem.buffers = calloc((size_t)draw->n_buffers + 1, sizeof *problem.buffers);
    if (problem.buffers == NULL)
        abort();
    for (uint32_t i = 0; i < draw->n_buffers; i++) {
        struct arena_buffer *at = &problem.buffers[i];
        char name[16];
        int length = snprintf(name, sizeof name, "b%u", (unsigned)i);

        at->name = arena_text(&problem.memory, name, (size_t)length);
        at->lower = arena_draw_below(&random, draw->n_steps);
        at->upper = at->lower + 1 + arena_draw_below(&random, draw->longest);
        at->size_bytes = 1 + arena_draw_below(&random, draw->most_bytes);
        at->align_bytes = 1;
        at->fixed_bytes = at->hint_bytes = -1;
        if (draw->has_extras)
            arena_draw_extras(&random, &problem, at);
    }
    return problem;
}

#endif
