/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Best fit over freed whole slots. Buffers come in the order of their births; each takes the smallest
 * slot that holds it among those whose last holder has ended, or a new slot behind all others. A slot
 * is never cut and never grows, so its holders need no more than to follow each other.
 *
 * On one queue n buffers cost O(n log n): a heap knows the next slot to be given back, a bit set over
 * the sizes the smallest that is large enough. Slots that are free and do not have the alignment are
 * passed over one by one. On several queues so are those whose holder is not known to have ended,
 * which can cost O(n * slots). */
#include <stdlib.h>

#include "policies/arena_order.h"
#include "policies/arena_plan.h"

#define LEVELS 6 /* of 64 ways each: for 2^32 ranks and more */

/* A set of ranks below a limit: level 0 has a bit for each, each level above one for each word. */
struct rank_set {
    uint64_t *words[LEVELS];
    int n_levels;
};

struct slot {
    int64_t offset_bytes, size_bytes;
    uint32_t rank;   /* of the buffer that it was made for: slots by size, then age */
    uint32_t holder; /* the last */
};

/* Slots in use, the first to be given back on top. */
struct held {
    int64_t upper;
    uint32_t slot;
};

struct fixed_range {
    int64_t from_bytes, to_bytes;
};

struct fit {
    const struct arena_problem *problem;
    int64_t *offsets_bytes;
    uint32_t *births;     /* buffers in the order of their births */
    uint32_t *rank_of;    /* of a buffer, by size, then birth */
    uint32_t *first_rank; /* by rank: the first of the same size */
    uint32_t *slot_of;    /* by rank */
    struct slot *slots;
    uint32_t n_slots;
    struct held *heap;
    uint32_t n_held;
    struct fixed_range *fixed; /* by address: slots keep out of them */
    uint32_t n_fixed, next_fixed;
    int64_t top_bytes; /* the end of the last slot */
    struct rank_set free;
};

static enum weir_status rank_set_make(struct rank_set *set, uint32_t limit, struct weir_error *err)
{
    size_t n = limit;

    do {
        n = n / 64 + 1;
        set->words[set->n_levels] = calloc(n, sizeof **set->words);
        if (set->words[set->n_levels++] == NULL) {
            return weir_error_memory(err);
        }
    } while (n > 1);
    return WEIR_OK;
}

static void rank_set_free(struct rank_set *set)
{
    for (int i = 0; i < set->n_levels; i++) {
        free(set->words[i]);
    }
}

static void rank_set_add(struct rank_set *set, uint32_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= 64) {
        set->words[i][rank / 64] |= UINT64_C(1) << rank % 64;
    }
}

static void rank_set_remove(struct rank_set *set, uint32_t rank)
{
    for (int i = 0; i < set->n_levels; i++, rank /= 64) {
        set->words[i][rank / 64] &= ~(UINT64_C(1) << rank % 64);
        if (set->words[i][rank / 64] != 0) {
            return;
        }
    }
}

/* The least rank of the set from @p rank on, which may be its limit; UINT32_MAX when there is none. */
static uint32_t rank_set_from(const struct rank_set *set, uint32_t rank)
{
    int level = 0;
    uint64_t bits = set->words[0][rank / 64] >> rank % 64 << rank % 64;

    while (bits == 0) { /* up, to a word with something behind */
        if (++level == set->n_levels) {
            return UINT32_MAX;
        }
        rank /= 64;
        bits = rank % 64 == 63 ? 0
                               : set->words[level][rank / 64] >> (rank % 64 + 1) << (rank % 64 + 1);
    }
    for (;;) { /* down, always to the first */
        rank = rank / 64 * 64 + (uint32_t)__builtin_ctzll(bits);
        if (level == 0) {
            return rank;
        }
        bits = set->words[--level][rank];
        rank *= 64;
    }
}

static void heap_push(struct fit *fit, struct held held)
{
    uint32_t at = fit->n_held++;

    for (; at > 0 && fit->heap[(at - 1) / 2].upper > held.upper; at = (at - 1) / 2) {
        fit->heap[at] = fit->heap[(at - 1) / 2];
    }
    fit->heap[at] = held;
}

static struct held heap_pop(struct fit *fit)
{
    struct held top = fit->heap[0], last = fit->heap[--fit->n_held];
    uint32_t at = 0;

    for (uint32_t child = 1; child < fit->n_held; child = 2 * at + 1) {
        if (child + 1 < fit->n_held && fit->heap[child + 1].upper < fit->heap[child].upper) {
            child++;
        }
        if (fit->heap[child].upper >= last.upper) {
            break;
        }
        fit->heap[at] = fit->heap[child];
        at = child;
    }
    fit->heap[at] = last;
    return top;
}

/* A buffer and what it is sorted by. */
struct sorted {
    int64_t key, then;
    uint32_t buffer;
};

static int sorted_compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->then != y->then) {
        return x->then < y->then ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* Births (of one step the larger first), then ranks. */
static enum weir_status sort_buffers(struct fit *fit, struct weir_error *err)
{
    const struct arena_buffer *buffers = fit->problem->buffers;
    uint32_t n = fit->problem->n_buffers;
    struct sorted *sorted = malloc(((size_t)n + 1) * sizeof *sorted);

    if (sorted == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = (struct sorted){buffers[i].lower, -buffers[i].size_bytes, i};
    }
    qsort(sorted, n, sizeof *sorted, sorted_compare);
    for (uint32_t i = 0; i < n; i++) {
        fit->births[i] = sorted[i].buffer;
        sorted[i].key = buffers[sorted[i].buffer].size_bytes;
        sorted[i].then = i;
    }
    qsort(sorted, n, sizeof *sorted, sorted_compare);
    for (uint32_t i = 0; i < n; i++) {
        fit->rank_of[sorted[i].buffer] = i;
        fit->first_rank[i] =
            i > 0 && sorted[i].key == sorted[i - 1].key ? fit->first_rank[i - 1] : i;
    }
    free(sorted);
    return WEIR_OK;
}

static int range_compare(const void *a, const void *b)
{
    const struct fixed_range *x = a, *y = b;

    if (x->from_bytes != y->from_bytes) {
        return x->from_bytes < y->from_bytes ? -1 : 1;
    }
    return (x->to_bytes > y->to_bytes) - (x->to_bytes < y->to_bytes);
}

static void gather_fixed(struct fit *fit)
{
    for (uint32_t i = 0; i < fit->problem->n_buffers; i++) {
        const struct arena_buffer *at = &fit->problem->buffers[i];

        if (at->fixed_bytes >= 0 && at->size_bytes > 0) {
            fit->fixed[fit->n_fixed++] =
                (struct fixed_range){at->fixed_bytes, at->fixed_bytes + at->size_bytes};
        }
    }
    qsort(fit->fixed, fit->n_fixed, sizeof *fit->fixed, range_compare);
}

static enum weir_status fit_make(struct fit *fit, struct weir_error *err)
{
    size_t room = (size_t)fit->problem->n_buffers + 1;
    enum weir_status status;

    fit->births = malloc(room * sizeof *fit->births);
    fit->rank_of = malloc(room * sizeof *fit->rank_of);
    fit->first_rank = malloc(room * sizeof *fit->first_rank);
    fit->slot_of = malloc(room * sizeof *fit->slot_of);
    fit->slots = malloc(room * sizeof *fit->slots);
    fit->heap = malloc(room * sizeof *fit->heap);
    fit->fixed = malloc(room * sizeof *fit->fixed);
    if (fit->births == NULL || fit->rank_of == NULL || fit->first_rank == NULL ||
        fit->slot_of == NULL || fit->slots == NULL || fit->heap == NULL || fit->fixed == NULL) {
        return weir_error_memory(err);
    }
    status = rank_set_make(&fit->free, fit->problem->n_buffers, err);
    if (status == WEIR_OK) {
        status = sort_buffers(fit, err);
    }
    if (status == WEIR_OK) {
        gather_fixed(fit);
    }
    return status;
}

static void fit_free(struct fit *fit)
{
    free(fit->births);
    free(fit->rank_of);
    free(fit->first_rank);
    free(fit->slot_of);
    free(fit->slots);
    free(fit->heap);
    free(fit->fixed);
    rank_set_free(&fit->free);
}

static void give_back_until(struct fit *fit, int64_t step)
{
    while (fit->n_held > 0 && fit->heap[0].upper <= step) {
        rank_set_add(&fit->free, fit->slots[heap_pop(fit).slot].rank);
    }
}

/* The smallest free slot for the buffer, the oldest of these; UINT32_MAX when there is none. */
static uint32_t smallest_slot(const struct fit *fit, uint32_t buffer)
{
    const struct arena_buffer *at = &fit->problem->buffers[buffer];
    uint32_t rank = rank_set_from(&fit->free, fit->first_rank[fit->rank_of[buffer]]);

    for (; rank != UINT32_MAX; rank = rank_set_from(&fit->free, rank + 1)) {
        const struct slot *slot = &fit->slots[fit->slot_of[rank]];
        int64_t begin = arena_align(slot->offset_bytes, at->align_bytes);

        if (begin - slot->offset_bytes <= slot->size_bytes - at->size_bytes &&
            (fit->problem->order == NULL ||
             arena_order_before(fit->problem->order, slot->holder, buffer))) {
            return fit->slot_of[rank];
        }
    }
    return UINT32_MAX;
}

/* Behind the last slot, and clear of what is fixed. */
static uint32_t new_slot(struct fit *fit, uint32_t buffer)
{
    const struct arena_buffer *at = &fit->problem->buffers[buffer];
    int64_t begin = arena_align(fit->top_bytes, at->align_bytes);
    uint32_t rank = fit->rank_of[buffer];

    /* Ranges that end below the top never matter again: none that begins later begins lower. */
    while (fit->next_fixed < fit->n_fixed &&
           fit->fixed[fit->next_fixed].from_bytes < begin + at->size_bytes) {
        int64_t end = fit->fixed[fit->next_fixed++].to_bytes;

        begin = end > begin ? arena_align(end, at->align_bytes) : begin;
    }
    fit->slots[fit->n_slots] = (struct slot){begin, at->size_bytes, rank, buffer};
    fit->slot_of[rank] = fit->n_slots;
    fit->top_bytes = begin + at->size_bytes;
    return fit->n_slots++;
}

static void place(struct fit *fit, uint32_t buffer)
{
    const struct arena_buffer *at = &fit->problem->buffers[buffer];
    uint32_t slot;

    give_back_until(fit, at->lower);
    slot = smallest_slot(fit, buffer);
    if (slot == UINT32_MAX) {
        slot = new_slot(fit, buffer);
    } else {
        rank_set_remove(&fit->free, fit->slots[slot].rank);
    }
    fit->slots[slot].holder = buffer;
    fit->offsets_bytes[buffer] = arena_align(fit->slots[slot].offset_bytes, at->align_bytes);
    heap_push(fit, (struct held){at->upper, slot});
}

enum weir_status arena_best_fit(const struct arena_problem *problem, int64_t *offsets_bytes,
                                struct weir_error *err)
{
    struct fit fit = {.problem = problem, .offsets_bytes = offsets_bytes};
    enum weir_status status = fit_make(&fit, err);

    for (uint32_t i = 0; i < problem->n_buffers && status == WEIR_OK; i++) {
        const struct arena_buffer *at = &problem->buffers[fit.births[i]];

        if (at->fixed_bytes >= 0) {
            offsets_bytes[fit.births[i]] = at->fixed_bytes;
        } else if (at->size_bytes == 0) {
            offsets_bytes[fit.births[i]] = 0;
        } else {
            place(&fit, fit.births[i]);
        }
    }
    fit_free(&fit);
    return status;
}
