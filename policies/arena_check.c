/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The check paints: all buffers, by their beginning, each over the addresses that it has, which then
 * show who had them last. Whoever is painted over must have ended; since each was checked against
 * those before it, no more than the last need be asked. The canvas is a tree over the stretches of
 * addresses between neighbouring ends of buffers, O(n log n) in all.
 *
 * By steps, to have ended is a comparison. On several queues it is a question to the graph: does a
 * path lead from the finish of each node that ends the one to each that may begin the other? All
 * questions are asked together. That one which was painted over by another which was painted over
 * has ended too follows, since a buffer does not end before it begins. */
#include "policies/arena_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/reach.h"
#include "policies/arena_graph.h"

#define NOBODY UINT32_MAX
#define MIXED (UINT32_MAX - 1)

/* Addresses [from, to) that a buffer uses in the steps [lower, upper). */
struct patch {
    int64_t lower, upper, from, to;
    uint32_t buffer;
};

struct canvas {
    int64_t *edges; /* addresses at which a patch begins or ends, rising */
    uint32_t n_edges;
    uint32_t n_cells;  /* a power of two */
    uint32_t *painted; /* by node of the tree: the last patch on all of it, NOBODY, or MIXED */
    struct patch *patches;
    uint32_t n_patches;
};

struct check {
    const struct arena_problem *problem;
    const int64_t *offsets_bytes;
    struct canvas canvas;
    struct reach_question *questions; /* of lifetimes */
    size_t questions_room;
    uint32_t n_questions;
    struct pair {
        uint32_t old, young;
    } * pairs; /* who asks each question */
    size_t pairs_room;
};

static enum weir_status overlap(const struct check *check, uint32_t a, uint32_t b,
                                struct weir_error *err)
{
    const struct arena_buffer *x = &check->problem->buffers[a], *y = &check->problem->buffers[b];

    return weir_error_set(
        err, WEIR_NO,
        "buffers %.80s (%" PRId64 " bytes at %" PRId64 ", steps %" PRId64 " to %" PRId64
        ") and %.80s (%" PRId64 " bytes at %" PRId64 ", steps %" PRId64 " to %" PRId64
        ") share addresses while both are in use; let their addresses or their lifetimes not meet",
        x->name, x->size_bytes, check->offsets_bytes[a], x->lower, x->upper - 1, y->name,
        y->size_bytes, check->offsets_bytes[b], y->lower, y->upper - 1);
}

static enum weir_status check_offset(const struct check *check, uint32_t buffer,
                                     struct weir_error *err)
{
    const struct arena_buffer *at = &check->problem->buffers[buffer];
    int64_t offset = check->offsets_bytes[buffer], end;

    if (offset < 0 || __builtin_add_overflow(offset, at->size_bytes, &end)) {
        return weir_error_set(err, WEIR_NO,
                              "buffer %.80s is at %" PRId64 "; expected an offset from 0 on whose "
                              "end is in 64 bits",
                              at->name, offset);
    }
    if (at->fixed_bytes >= 0 && offset != at->fixed_bytes) {
        return weir_error_set(
            err, WEIR_NO, "buffer %.80s is at %" PRId64 "; expected %" PRId64 ", where it is fixed",
            at->name, offset, at->fixed_bytes);
    }
    if (offset % at->align_bytes != 0) {
        return weir_error_set(err, WEIR_NO,
                              "buffer %.80s is at %" PRId64 "; expected a multiple of its "
                              "alignment %" PRId64,
                              at->name, offset, at->align_bytes);
    }
    return WEIR_OK;
}

/* --- what is painted --- */

static void add_patch(struct check *check, uint32_t buffer, int64_t lower, int64_t upper,
                      int64_t from_bytes, int64_t to_bytes)
{
    int64_t offset = check->offsets_bytes[buffer];

    if (lower < upper && from_bytes < to_bytes) {
        check->canvas.patches[check->canvas.n_patches++] =
            (struct patch){lower, upper, offset + from_bytes, offset + to_bytes, buffer};
    }
}

static int patch_compare(const void *a, const void *b)
{
    const struct patch *x = a, *y = b;

    if (x->lower != y->lower) {
        return x->lower < y->lower ? -1 : 1;
    }
    if (x->buffer != y->buffer) {
        return x->buffer < y->buffer ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

static enum weir_status cut_patches(struct check *check, struct weir_error *err)
{
    const struct arena_problem *problem = check->problem;
    size_t n = 1;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        n += 1 + 2 * (size_t)problem->buffers[i].n_gaps;
    }
    check->canvas.patches = malloc(n * sizeof *check->canvas.patches);
    if (check->canvas.patches == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];
        int64_t since = at->lower;

        for (uint32_t j = 0; j < at->n_gaps; j++) {
            add_patch(check, i, since, at->gaps[j].lower, 0, at->size_bytes);
            add_patch(check, i, at->gaps[j].lower, at->gaps[j].upper, at->gaps[j].from_bytes,
                      at->gaps[j].to_bytes);
            since = at->gaps[j].upper;
        }
        add_patch(check, i, since, at->upper, 0, at->size_bytes);
    }
    qsort(check->canvas.patches, check->canvas.n_patches, sizeof *check->canvas.patches,
          patch_compare);
    return WEIR_OK;
}

static int address_compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static enum weir_status stretch_canvas(struct canvas *canvas, struct weir_error *err)
{
    uint32_t n = 0;

    canvas->edges = malloc((2 * (size_t)canvas->n_patches + 1) * sizeof *canvas->edges);
    if (canvas->edges == NULL || canvas->n_patches > UINT32_MAX / 8) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < canvas->n_patches; i++) {
        canvas->edges[n++] = canvas->patches[i].from;
        canvas->edges[n++] = canvas->patches[i].to;
    }
    qsort(canvas->edges, n, sizeof *canvas->edges, address_compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || canvas->edges[i] != canvas->edges[canvas->n_edges - 1]) {
            canvas->edges[canvas->n_edges++] = canvas->edges[i];
        }
    }
    canvas->n_cells = 1;
    while (canvas->n_cells < canvas->n_edges) {
        canvas->n_cells *= 2;
    }
    canvas->painted = malloc(2 * (size_t)canvas->n_cells * sizeof *canvas->painted);
    if (canvas->painted == NULL) {
        return weir_error_memory(err);
    }
    memset(canvas->painted, 0xff, 2 * (size_t)canvas->n_cells * sizeof *canvas->painted);
    return WEIR_OK;
}

static uint32_t cell_at(const struct canvas *canvas, int64_t address)
{
    const int64_t *found =
        bsearch(&address, canvas->edges, canvas->n_edges, sizeof address, address_compare);

    return (uint32_t)(found - canvas->edges);
}

/* --- who is painted over --- */

/* Keeps the questions whether the old buffer has ended whenever the young one begins. */
static enum weir_status ask(struct check *check, uint32_t old, uint32_t young,
                            struct weir_error *err)
{
    const struct arena_lifetimes *l = check->problem->lifetimes;
    enum weir_status status = WEIR_OK;

    if (l->end_first[old] == l->end_first[old + 1] ||
        l->begin_first[young] == l->begin_first[young + 1]) {
        return overlap(check, old, young, err); /* it stays, or it is there at once */
    }
    for (uint32_t i = l->end_first[old]; i < l->end_first[old + 1]; i++) {
        for (uint32_t j = l->begin_first[young]; j < l->begin_first[young + 1]; j++) {
            status = array_grow_raw(&check->questions, &check->questions_room,
                                    (size_t)check->n_questions + 1, err);
            if (status == WEIR_OK) {
                status = array_grow_raw(&check->pairs, &check->pairs_room,
                                        (size_t)check->n_questions + 1, err);
            }
            if (status != WEIR_OK) {
                return status;
            }
            check->pairs[check->n_questions] = (struct pair){old, young};
            check->questions[check->n_questions++] =
                (struct reach_question){l->ends[i].index, l->begins[j].index, false};
        }
    }
    return status;
}

static enum weir_status paint_over(struct check *check, uint32_t old, uint32_t young,
                                   struct weir_error *err)
{
    const struct patch *x = &check->canvas.patches[old], *y = &check->canvas.patches[young];

    if (check->problem->lifetimes != NULL) {
        return ask(check, x->buffer, y->buffer, err);
    }
    return x->upper <= y->lower ? WEIR_OK : overlap(check, x->buffer, y->buffer, err);
}

/* Paints the cells [from, to) of a node of the tree, which has the cells [low, high). */
static enum weir_status paint(struct check *check, uint32_t node, uint32_t low, uint32_t high,
                              uint32_t patch, struct weir_error *err)
{
    struct canvas *canvas = &check->canvas;
    uint32_t from = cell_at(canvas, canvas->patches[patch].from);
    uint32_t to = cell_at(canvas, canvas->patches[patch].to);
    uint32_t middle = low + (high - low) / 2, old = canvas->painted[node];
    size_t left = 2 * (size_t)node, right = left + 1;
    enum weir_status status = WEIR_OK;

    if (to <= low || high <= from) {
        return WEIR_OK;
    }
    if (from <= low && high <= to && old != MIXED) {
        status = old == NOBODY ? WEIR_OK : paint_over(check, old, patch, err);
        canvas->painted[node] = patch;
        return status;
    }
    if (old != MIXED) { /* what is on all of it is on both halves */
        canvas->painted[left] = old;
        canvas->painted[right] = old;
    }
    status = paint(check, 2 * node, low, middle, patch, err);
    if (status == WEIR_OK) {
        status = paint(check, 2 * node + 1, middle, high, patch, err);
    }
    canvas->painted[node] =
        canvas->painted[left] == canvas->painted[right] ? canvas->painted[left] : MIXED;
    return status;
}

/* --- what the graph says --- */

struct asked {
    uint32_t position, question;
};

static int asked_compare(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;

    if (x->position != y->position) {
        return x->position < y->position ? -1 : 1;
    }
    return (x->question > y->question) - (x->question < y->question);
}

/* The questions by the position of their producers, as the answer wants them. */
static enum weir_status sort_questions(struct check *check, struct weir_error *err)
{
    uint32_t n = check->n_questions;
    struct asked *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    struct reach_question *questions = malloc(((size_t)n + 1) * sizeof *questions);
    struct pair *pairs = malloc(((size_t)n + 1) * sizeof *pairs);

    if (sorted == NULL || questions == NULL || pairs == NULL) {
        free(sorted);
        free(questions);
        free(pairs);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] =
            (struct asked){check->problem->lifetimes->position[check->questions[i].producer], i};
    }
    qsort(sorted, n, sizeof *sorted, asked_compare);
    for (uint32_t i = 0; i < n; i++) {
        questions[i] = check->questions[sorted[i].question];
        pairs[i] = check->pairs[sorted[i].question];
    }
    free(sorted);
    free(check->questions);
    free(check->pairs);
    check->questions = questions;
    check->pairs = pairs;
    return WEIR_OK;
}

static enum weir_status ask_graph(struct check *check, struct weir_error *err)
{
    const struct arena_lifetimes *l = check->problem->lifetimes;
    const struct binding *binding = l->binding;
    struct adjacency next;
    struct reach reach = {binding, &next, l->position};
    enum weir_status status = sort_questions(check, err);

    if (status != WEIR_OK) {
        return status;
    }
    status =
        adjacency_make(bind_of(binding), bind_edges(binding), bind_n_edges(binding), &next, err);
    if (status != WEIR_OK) {
        return status;
    }
    status = reach_answer(&reach, check->questions, check->n_questions, err);
    for (uint32_t i = 0; i < check->n_questions && status == WEIR_OK; i++) {
        if (!check->questions[i].is_met) {
            status = overlap(check, check->pairs[i].old, check->pairs[i].young, err);
        }
    }
    adjacency_free(&next);
    return status;
}

enum weir_status arena_check(const struct arena_problem *problem, const int64_t *offsets_bytes,
                             struct weir_error *err)
{
    struct check check = {.problem = problem, .offsets_bytes = offsets_bytes};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < problem->n_buffers && status == WEIR_OK; i++) {
        status = check_offset(&check, i, err);
    }
    if (status == WEIR_OK) {
        status = cut_patches(&check, err);
    }
    if (status == WEIR_OK) {
        status = stretch_canvas(&check.canvas, err);
    }
    for (uint32_t i = 0; i < check.canvas.n_patches && status == WEIR_OK; i++) {
        status = paint(&check, 1, 0, check.canvas.n_cells, i, err);
    }
    if (status == WEIR_OK && check.n_questions > 0) {
        status = ask_graph(&check, err);
    }
    free(check.canvas.edges);
    free(check.canvas.painted);
    free(check.canvas.patches);
    free(check.questions);
    free(check.pairs);
    return status;
}
