/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storage planning: lifetimes to offsets in one stretch of memory, the arena. Buffers whose lifetimes
 * meet have addresses that do not. */
#ifndef WEIR_POLICIES_ARENA_PLAN_H
#define WEIR_POLICIES_ARENA_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"

struct arena_lifetimes;
struct arena_order;

/* Steps of a lifetime in which only some of the bytes are in use. */
struct arena_gap {
    int64_t lower, upper;         /* steps [lower, upper), inside the lifetime */
    int64_t from_bytes, to_bytes; /* [from, to) of the buffer stays in use; equal: nothing does */
};

enum arena_kind { ARENA_BUFFER, ARENA_OBJECT, ARENA_WORKSPACE, ARENA_STAGING };

struct arena_buffer {
    const char *name;             /* unique in its problem, of its memory */
    int64_t lower, upper;         /* lives in the steps [lower, upper) */
    int64_t size_bytes;           /* 0 or more; of 0 bytes it conflicts with nothing */
    int64_t align_bytes;          /* its offset is a multiple of this, 1 or more */
    int64_t fixed_bytes;          /* the offset that it must have; -1: any */
    int64_t hint_bytes;           /* read, written again, and not used; -1 none */
    const struct arena_gap *gaps; /* by step, none meets another; of the problem's memory */
    uint32_t n_gaps;
    enum arena_kind kind;
};

/* A zeroed one is empty. Without lifetimes two buffers conflict when a step is in both. With them,
 * which come from a graph on several queues, two conflict unless one ends before the other begins in
 * every order that the graph allows; then buffers stand by `lower`, and steps are positions in one of
 * these orders. */
struct arena_problem {
    struct arena_buffer *buffers;
    uint32_t n_buffers;
    struct arena memory;
    struct arena_lifetimes *lifetimes;
    struct arena_order *order; /* what the lifetimes make of each pair; NULL without them */
};

void arena_problem_free(struct arena_problem *problem);

/** Whether the problem makes sense as a whole: the sums that any plan of it may reach are in 64 bits,
 *  there is an address that meets all alignments, and what is fixed has its alignment. WEIR_INPUT
 *  names the buffer. */
MUST_CHECK enum weir_status arena_problem_check(const struct arena_problem *problem,
                                                struct weir_error *err);
/** Do the two lifetimes meet? Gaps are not looked at. */
bool arena_conflict(const struct arena_problem *problem, uint32_t a, uint32_t b);

/* A way to place. Deterministic. */
struct arena_method {
    const char *name, *summary;
    /* Fills the offset of every buffer. */
    enum weir_status (*place)(const struct arena_problem *problem, int64_t *offsets_bytes,
                              struct weir_error *err);
};

/* Ends with a NULL name. */
extern const struct arena_method arena_methods[];
const struct arena_method *arena_method_find(const char *name);

struct arena_plan {
    const struct arena_method *method;
    int64_t *offsets_bytes;    /* by buffer */
    int64_t peak_bytes;        /* the greatest end of a buffer */
    int64_t lower_bound_bytes; /* no plan can have a peak below */
    int64_t base_align_bytes;  /* a multiple of every alignment: the arena begins at one of it */
};

/** Plans, and has the plan checked. The problem has passed arena_problem_check. WEIR_INPUT when what
 *  is fixed is in the way of each other, WEIR_MEMORY; WEIR_NO when the plan does not stand up to its
 *  check, which is a fault of the method. The caller frees *out. */
MUST_CHECK enum weir_status arena_plan_make(const struct arena_problem *problem,
                                            const struct arena_method *method,
                                            struct arena_plan *out, struct weir_error *err);
void arena_plan_free(struct arena_plan *plan);

/* --- what the methods share --- */

/* Bytes [from, to) of a buffer in the steps [lower, upper): a lifetime without its gaps. */
struct arena_part {
    int64_t lower, upper;
    int64_t from_bytes, to_bytes;
    uint32_t buffer;
};

/** Cuts every lifetime at its gaps; parts without bytes are left out. malloc'ed, by buffer. */
MUST_CHECK enum weir_status arena_parts(const struct arena_problem *problem,
                                        struct arena_part **parts, uint32_t *n_parts,
                                        struct weir_error *err);
/** The least multiple of @p align_bytes from @p bytes on. */
static inline int64_t arena_align(int64_t bytes, int64_t align_bytes)
{
    int64_t past = bytes % align_bytes;

    return past == 0 ? bytes : bytes + (align_bytes - past);
}
/** The least common multiple of two alignments; false when it is above 2^40. */
bool arena_common_multiple(int64_t a, int64_t b, int64_t *out);
/** The most bytes that live together: in a step, and of buffers that conflict with each other; and
 *  what is fixed reaches its end. */
MUST_CHECK enum weir_status arena_bound(const struct arena_problem *problem, int64_t *bound_bytes,
                                        struct weir_error *err);

/* The methods: arena_best_fit.c, arena_greedy.c. */
MUST_CHECK enum weir_status arena_best_fit(const struct arena_problem *problem,
                                           int64_t *offsets_bytes, struct weir_error *err);
MUST_CHECK enum weir_status arena_greedy(const struct arena_problem *problem,
                                         int64_t *offsets_bytes, struct weir_error *err);

#endif
