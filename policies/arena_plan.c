/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The methods by name, and what is done with each plan: it is measured against the lower bound, and
 * checked by code that knows nothing of how it was made. */
#include "policies/arena_plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "policies/arena_check.h"
#include "policies/arena_graph.h"
#include "policies/arena_order.h"

#define MOST_BYTES (INT64_MAX / 4) /* of anything that a plan adds up */
#define MOST_BASE_ALIGN_BYTES (INT64_C(1) << 40)

const struct arena_method arena_methods[] = {
    {"best-fit", "by birth, each into the smallest freed slot that holds it", arena_best_fit},
    {"greedy", "by size, each at the lowest address that is free for its life", arena_greedy},
    {NULL, NULL, NULL},
};

const struct arena_method *arena_method_find(const char *name)
{
    for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}

void arena_problem_free(struct arena_problem *problem)
{
    arena_order_free(problem->order);
    arena_lifetimes_free(problem->lifetimes);
    free(problem->buffers);
    arena_free(&problem->memory);
    *problem = (struct arena_problem){.buffers = NULL};
}

bool arena_conflict(const struct arena_problem *problem, uint32_t a, uint32_t b)
{
    const struct arena_buffer *x = &problem->buffers[a], *y = &problem->buffers[b];

    if (problem->order != NULL) {
        return !arena_order_before(problem->order, a, b) &&
               !arena_order_before(problem->order, b, a);
    }
    return x->lower < y->upper && y->lower < x->upper;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

bool arena_common_multiple(int64_t a, int64_t b, int64_t *out)
{
    int64_t multiple;

    if (__builtin_mul_overflow(a, b / common_divisor(a, b), &multiple) ||
        multiple > MOST_BASE_ALIGN_BYTES) {
        return false;
    }
    *out = multiple;
    return true;
}

/* The least address but 0 that meets every alignment; 0 when it is too large. */
static int64_t base_align(const struct arena_problem *problem)
{
    int64_t align = 1;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (!arena_common_multiple(align, problem->buffers[i].align_bytes, &align)) {
            return 0;
        }
    }
    return align;
}

static enum weir_status check_fixed(const struct arena_buffer *buffer, struct weir_error *err)
{
    if (buffer->fixed_bytes < 0 || buffer->fixed_bytes % buffer->align_bytes == 0) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_INPUT,
                          "buffer %.100s is fixed at %" PRId64 "; expected a multiple of its "
                          "alignment %" PRId64 ": fix it at one, or leave its offset free",
                          buffer->name, buffer->fixed_bytes, buffer->align_bytes);
}

enum weir_status arena_problem_check(const struct arena_problem *problem, struct weir_error *err)
{
    int64_t sum = 0;

    if (base_align(problem) == 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "no address below 2^40 but 0 is a multiple of every alignment; give "
                              "alignments that are powers of two");
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];
        int64_t own;
        enum weir_status status = check_fixed(at, err);

        if (status != WEIR_OK) {
            return status;
        }
        /* A plan is never longer than all buffers behind each other and behind what is fixed. */
        if (__builtin_add_overflow(at->size_bytes, at->align_bytes - 1, &own) ||
            __builtin_add_overflow(sum, own, &sum) || sum > MOST_BYTES ||
            (at->fixed_bytes > 0 && at->fixed_bytes > MOST_BYTES - at->size_bytes)) {
            return weir_error_set(err, WEIR_INPUT,
                                  "with buffer %.100s of %" PRId64 " bytes the sizes, or its end, "
                                  "come to more than %" PRId64 " bytes; expected less",
                                  at->name, at->size_bytes, (int64_t)MOST_BYTES);
        }
    }
    return WEIR_OK;
}

static void add_part(struct arena_part *parts, uint32_t *n, const struct arena_part *part)
{
    if (part->lower < part->upper && part->from_bytes < part->to_bytes) {
        parts[(*n)++] = *part;
    }
}

enum weir_status arena_parts(const struct arena_problem *problem, struct arena_part **parts,
                             uint32_t *n_parts, struct weir_error *err)
{
    size_t room = 1;
    uint32_t n = 0;
    struct arena_part *made;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        room += 2 * (size_t)problem->buffers[i].n_gaps + 1;
    }
    made = room > UINT32_MAX ? NULL : malloc(room * sizeof *made);
    if (made == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];
        struct arena_part whole = {at->lower, at->upper, 0, at->size_bytes, i};

        for (uint32_t j = 0; j < at->n_gaps; j++) {
            const struct arena_gap *gap = &at->gaps[j];
            struct arena_part before = {whole.lower, gap->lower, 0, at->size_bytes, i};
            struct arena_part within = {gap->lower, gap->upper, gap->from_bytes, gap->to_bytes, i};

            add_part(made, &n, &before);
            add_part(made, &n, &within);
            whole.lower = gap->upper;
        }
        add_part(made, &n, &whole);
    }
    *parts = made;
    *n_parts = n;
    return WEIR_OK;
}

/* What is fixed must be possible before anything else is placed. */
static enum weir_status try_fixed(const struct arena_problem *problem, struct weir_error *err)
{
    struct arena_buffer *fixed = malloc(((size_t)problem->n_buffers + 1) * sizeof *fixed);
    int64_t *offsets = calloc((size_t)problem->n_buffers + 1, sizeof *offsets);
    struct arena_problem only = *problem;
    enum weir_status status = WEIR_OK;
    bool is_any = false;

    if (fixed == NULL || offsets == NULL) {
        status = weir_error_memory(err);
        goto done;
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        fixed[i] = problem->buffers[i];
        if (fixed[i].fixed_bytes >= 0) {
            offsets[i] = fixed[i].fixed_bytes;
            is_any = true;
        } else {
            fixed[i].size_bytes = 0; /* as if it were not there */
            fixed[i].n_gaps = 0;
        }
    }
    only.buffers = fixed;
    if (is_any) {
        status = arena_check(&only, offsets, err);
    }
    if (status == WEIR_NO) {
        (void)weir_error_within(err, "the offsets that are given");
        err->status = status = WEIR_INPUT;
    }
done:
    free(fixed);
    free(offsets);
    return status;
}

static int64_t peak_of(const struct arena_problem *problem, const int64_t *offsets_bytes)
{
    int64_t peak = 0;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        int64_t end = offsets_bytes[i] + problem->buffers[i].size_bytes;

        peak = problem->buffers[i].size_bytes > 0 && end > peak ? end : peak;
    }
    return peak;
}

enum weir_status arena_plan_make(const struct arena_problem *problem,
                                 const struct arena_method *method, struct arena_plan *out,
                                 struct weir_error *err)
{
    struct arena_plan plan = {.method = method, .base_align_bytes = base_align(problem)};
    enum weir_status status = try_fixed(problem, err);

    if (status != WEIR_OK) {
        return status;
    }
    plan.offsets_bytes = calloc((size_t)problem->n_buffers + 1, sizeof *plan.offsets_bytes);
    if (plan.offsets_bytes == NULL) {
        return weir_error_memory(err);
    }
    status = arena_bound(problem, &plan.lower_bound_bytes, err);
    if (status == WEIR_OK) {
        status = method->place(problem, plan.offsets_bytes, err);
    }
    if (status == WEIR_OK) {
        plan.peak_bytes = peak_of(problem, plan.offsets_bytes);
        status = arena_check(problem, plan.offsets_bytes, err);
    }
    if (status == WEIR_NO) {
        (void)weir_error_within(err, "the plan of method %s is wrong, please report it",
                                method->name);
    }
    if (status != WEIR_OK) {
        arena_plan_free(&plan);
        return status;
    }
    *out = plan;
    return WEIR_OK;
}

void arena_plan_free(struct arena_plan *plan)
{
    free(plan->offsets_bytes);
    plan->offsets_bytes = NULL;
}
