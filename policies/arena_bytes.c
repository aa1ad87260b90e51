/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps at which nothing begins or ends read what the step before did, and are left out. Between
 * neighbouring ends of buffers all addresses have the same holders, so that by cells one stretch of
 * them is as good as each of its bytes. */
#include "policies/arena_bytes.h"

#include <inttypes.h>
#include <stdlib.h>

#define WHOLE_ARENA_BYTES (INT64_C(1) << 30)
#define CELL_BYTES 8
#define ONCE_FACTOR 8
#define BLOCK_BYTES 4096 /* of pattern, compared at once */

/* Something with a stretch of memory: what a buffer uses between two of its changes. */
struct holder {
    int64_t lower, upper;
    int64_t from, to; /* of the memory */
    uint32_t buffer;
};

struct execution {
    const struct arena_problem *problem;
    const struct arena_plan *plan;
    struct holder *holders; /* by lower */
    uint32_t n_holders;
    int64_t *steps; /* rising */
    uint32_t n_steps;
    uint32_t *live;   /* holders that are in use */
    uint32_t *place;  /* of a holder among these */
    uint32_t *by_end; /* holders by upper */
    uint32_t n_live;
    unsigned char *block;  /* malloc'ed */
    unsigned char *memory; /* in it, where alignments want it */
    int64_t memory_bytes;
    int64_t read_bytes;
    enum arena_executed how;
};

static int number_compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int holder_compare(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;

    if (x->lower != y->lower) {
        return x->lower < y->lower ? -1 : 1;
    }
    if (x->buffer != y->buffer) {
        return x->buffer < y->buffer ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

/* Sorts and drops repetitions. @return how many are left */
static uint32_t distinct(int64_t *numbers, uint32_t n)
{
    uint32_t kept = 0;

    qsort(numbers, n, sizeof *numbers, number_compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || numbers[i] != numbers[kept - 1]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

struct end {
    int64_t upper;
    uint32_t holder;
};

static int end_compare(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->upper != y->upper) {
        return x->upper < y->upper ? -1 : 1;
    }
    return (x->holder > y->holder) - (x->holder < y->holder);
}

static enum weir_status sort_by_end(struct execution *execution, struct weir_error *err)
{
    struct end *ends = malloc(((size_t)execution->n_holders + 1) * sizeof *ends);

    if (ends == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < execution->n_holders; i++) {
        ends[i] = (struct end){execution->holders[i].upper, i};
    }
    qsort(ends, execution->n_holders, sizeof *ends, end_compare);
    for (uint32_t i = 0; i < execution->n_holders; i++) {
        execution->by_end[i] = ends[i].holder;
    }
    free(ends);
    return WEIR_OK;
}

static enum weir_status make_holders(struct execution *execution, struct weir_error *err)
{
    struct arena_part *parts;
    uint32_t n_parts;
    enum weir_status status = arena_parts(execution->problem, &parts, &n_parts, err);

    if (status != WEIR_OK) {
        return status;
    }
    execution->holders = malloc(((size_t)n_parts + 1) * sizeof *execution->holders);
    execution->steps = malloc((2 * (size_t)n_parts + 1) * sizeof *execution->steps);
    execution->live = malloc(((size_t)n_parts + 1) * sizeof *execution->live);
    execution->place = malloc(((size_t)n_parts + 1) * sizeof *execution->place);
    execution->by_end = malloc(((size_t)n_parts + 1) * sizeof *execution->by_end);
    if (execution->holders == NULL || execution->steps == NULL || execution->live == NULL ||
        execution->place == NULL || execution->by_end == NULL) {
        free(parts);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_parts; i++) {
        int64_t offset = execution->plan->offsets_bytes[parts[i].buffer];

        execution->holders[i] =
            (struct holder){parts[i].lower, parts[i].upper, offset + parts[i].from_bytes,
                            offset + parts[i].to_bytes, parts[i].buffer};
        execution->steps[2 * (size_t)i] = parts[i].lower;
        execution->steps[2 * (size_t)i + 1] = parts[i].upper;
    }
    free(parts);
    execution->n_holders = n_parts;
    execution->n_steps = distinct(execution->steps, 2 * n_parts);
    execution->memory_bytes = execution->plan->peak_bytes;
    qsort(execution->holders, n_parts, sizeof *execution->holders, holder_compare);
    return sort_by_end(execution, err);
}

/* What reading everything costs, in every step or (@p is_once) in the last; INT64_MAX when it is more. */
static int64_t cost_bytes(const struct execution *execution, bool is_once)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < execution->n_holders; i++) {
        const struct holder *at = &execution->holders[i];
        const int64_t *first = bsearch(&at->lower, execution->steps, execution->n_steps,
                                       sizeof at->lower, number_compare);
        const int64_t *last = bsearch(&at->upper, execution->steps, execution->n_steps,
                                      sizeof at->upper, number_compare);
        int64_t own;

        if (__builtin_mul_overflow(at->to - at->from, is_once ? 1 : last - first, &own) ||
            __builtin_add_overflow(sum, own, &sum)) {
            return INT64_MAX;
        }
    }
    return sum;
}

/* Gives each stretch of addresses between neighbouring ends a cell. */
static enum weir_status shrink_to_cells(struct execution *execution, struct weir_error *err)
{
    uint32_t n = 2 * execution->n_holders;
    int64_t *ends = malloc(((size_t)n + 1) * sizeof *ends);

    if (ends == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < execution->n_holders; i++) {
        ends[2 * (size_t)i] = execution->holders[i].from;
        ends[2 * (size_t)i + 1] = execution->holders[i].to;
    }
    n = distinct(ends, n);
    for (uint32_t i = 0; i < execution->n_holders; i++) {
        struct holder *at = &execution->holders[i];
        const int64_t *from = bsearch(&at->from, ends, n, sizeof at->from, number_compare);
        const int64_t *to = bsearch(&at->to, ends, n, sizeof at->to, number_compare);

        at->from = CELL_BYTES * (int64_t)(from - ends);
        at->to = CELL_BYTES * (int64_t)(to - ends);
    }
    free(ends);
    execution->memory_bytes = CELL_BYTES * (int64_t)n;
    return WEIR_OK;
}

static enum weir_status allocate(struct execution *execution, int64_t align_bytes,
                                 struct weir_error *err)
{
    size_t room = (size_t)execution->memory_bytes + (size_t)align_bytes;
    uintptr_t past;

    execution->block = malloc(room);
    if (execution->block == NULL) {
        return weir_error_memory(err);
    }
    past = (uintptr_t)execution->block % (uintptr_t)align_bytes;
    execution->memory = execution->block + (past == 0 ? 0 : (uintptr_t)align_bytes - past);
    return WEIR_OK;
}

/* The bytes of a holder that are written or compared at once from @p at on. */
static size_t block_at(const struct holder *holder, int64_t at)
{
    return holder->to - at < BLOCK_BYTES ? (size_t)(holder->to - at) : BLOCK_BYTES;
}

/* A holder's pattern: a word that no other has, again and again. It starts anew with the holder, whose
 * bytes are nobody else's. */
static void make_pattern(const struct execution *execution, uint32_t holder,
                         unsigned char out[BLOCK_BYTES])
{
    const struct holder *at = &execution->holders[holder];
    uint64_t word = (holder + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    size_t n = block_at(at, at->from);

    for (size_t i = 0; i < n; i += sizeof word) {
        memcpy(out + i, &word, sizeof word);
    }
}

static void write_pattern(const struct execution *execution, uint32_t holder)
{
    const struct holder *at = &execution->holders[holder];
    unsigned char pattern[BLOCK_BYTES];

    make_pattern(execution, holder, pattern);
    for (int64_t i = at->from; i < at->to; i += BLOCK_BYTES) {
        memcpy(execution->memory + i, pattern, block_at(at, i));
    }
}

static enum weir_status read_pattern(struct execution *execution, uint32_t holder, int64_t step,
                                     struct weir_error *err)
{
    const struct holder *at = &execution->holders[holder];
    unsigned char pattern[BLOCK_BYTES];

    make_pattern(execution, holder, pattern);
    for (int64_t i = at->from; i < at->to; i += BLOCK_BYTES) {
        if (memcmp(execution->memory + i, pattern, block_at(at, i)) != 0) {
            return weir_error_set(err, WEIR_NO,
                                  "buffer %.100s, at %" PRId64 ", does not read in step %" PRId64
                                  " what it wrote: another has written there",
                                  execution->problem->buffers[at->buffer].name,
                                  execution->plan->offsets_bytes[at->buffer], step);
        }
    }
    execution->read_bytes += at->to - at->from;
    return WEIR_OK;
}

static void join_live(struct execution *execution, uint32_t holder)
{
    execution->place[holder] = execution->n_live;
    execution->live[execution->n_live++] = holder;
}

static void leave_live(struct execution *execution, uint32_t holder)
{
    uint32_t last = execution->live[--execution->n_live];

    execution->live[execution->place[holder]] = last;
    execution->place[last] = execution->place[holder];
}

/* Takes out what has ended, from *next on in the order of ends; it reads for the last time before
 * anything is written in this step. */
static enum weir_status end_holders(struct execution *execution, int64_t step, uint32_t *next,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (; *next < execution->n_holders && status == WEIR_OK; (*next)++) {
        uint32_t holder = execution->by_end[*next];

        if (execution->holders[holder].upper > step) {
            break;
        }
        leave_live(execution, holder);
        if (execution->how == ARENA_CELLS_ONCE) {
            status = read_pattern(execution, holder, step - 1, err);
        }
    }
    return status;
}

/* What has ended leaves, what begins writes, and all that is there reads. */
static enum weir_status run_steps(struct execution *execution, struct weir_error *err)
{
    uint32_t next = 0, next_end = 0;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < execution->n_steps && status == WEIR_OK; i++) {
        int64_t step = execution->steps[i];

        status = end_holders(execution, step, &next_end, err);
        for (; next < execution->n_holders && execution->holders[next].lower == step; next++) {
            write_pattern(execution, next);
            join_live(execution, next);
        }
        for (uint32_t j = 0;
             j < execution->n_live && execution->how != ARENA_CELLS_ONCE && status == WEIR_OK;
             j++) {
            status = read_pattern(execution, execution->live[j], step, err);
        }
    }
    return status;
}

/* Settles how, and shrinks to cells where that is by cells. */
static enum weir_status choose(struct execution *execution, int64_t most_bytes,
                               struct weir_error *err)
{
    enum weir_status status;

    execution->how = ARENA_WHOLE;
    if (execution->memory_bytes <= WHOLE_ARENA_BYTES &&
        execution->plan->base_align_bytes <= WHOLE_ARENA_BYTES &&
        cost_bytes(execution, false) <= most_bytes) {
        return WEIR_OK;
    }
    status = shrink_to_cells(execution, err);
    execution->how = cost_bytes(execution, false) <= most_bytes                ? ARENA_CELLS
                     : cost_bytes(execution, true) / ONCE_FACTOR <= most_bytes ? ARENA_CELLS_ONCE
                                                                               : ARENA_NOT_EXECUTED;
    return status;
}

enum weir_status arena_execute(const struct arena_problem *problem, const struct arena_plan *plan,
                               int64_t most_bytes, struct arena_execution *out,
                               struct weir_error *err)
{
    struct execution execution = {.problem = problem, .plan = plan};
    enum weir_status status = make_holders(&execution, err);

    if (status == WEIR_OK) {
        status = choose(&execution, most_bytes, err);
    }
    if (status == WEIR_OK && execution.how != ARENA_NOT_EXECUTED) {
        status =
            allocate(&execution, execution.how == ARENA_WHOLE ? plan->base_align_bytes : 1, err);
    }
    if (status == WEIR_OK && execution.how != ARENA_NOT_EXECUTED) {
        status = run_steps(&execution, err);
    }
    if (status == WEIR_OK) {
        *out = (struct arena_execution){execution.how, execution.n_steps, execution.read_bytes};
    }
    free(execution.holders);
    free(execution.steps);
    free(execution.live);
    free(execution.place);
    free(execution.by_end);
    free(execution.block);
    return status;
}
