/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heaps of ranks, and the trees of those that lack bytes: the first whose need the free bytes cover is
 * found in the logarithm of their number, so that one that cannot start is not looked at again until it
 * might. */
#include "judge/verify_lines.h"

#include <stdlib.h>

#include "base/array.h"

/* --- those that are ready and have not been looked at ------------------------------------------- */

enum weir_status ranks_push(uint32_t **heap, size_t *room, uint32_t *n, uint32_t value,
                            struct weir_error *err)
{
    uint32_t at = *n;
    enum weir_status status = array_grow(heap, room, (size_t)*n + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    (*n)++;
    for (; at > 0 && (*heap)[(at - 1) / 2] > value; at = (at - 1) / 2) {
        (*heap)[at] = (*heap)[(at - 1) / 2];
    }
    (*heap)[at] = value;
    return WEIR_OK;
}

void ranks_pop(uint32_t *heap, uint32_t *n)
{
    uint32_t value = heap[--*n], at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= *n) {
            break;
        }
        child += child + 1 < *n && heap[child + 1] < heap[child] ? 1 : 0;
        if (heap[child] >= value) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    if (*n > 0) {
        heap[at] = value;
    }
}

/* --- those that lack bytes -------------------------------------------------------------------- */

static bool may_need(const struct verify *verify, uint32_t node, uint32_t domain,
                     struct verify_need *needs)
{
    uint32_t n = verify_needs_at(verify, node, -1, needs);

    for (uint32_t i = 0; i < n; i++) {
        if (needs[i].domain == domain) {
            return true;
        }
    }
    return false;
}

static enum weir_status open_shelf(struct dispatch *dispatch, struct line *line,
                                   struct shelf *shelf)
{
    const struct verify *verify = dispatch->verify;

    shelf->nodes = malloc(((size_t)line->n + 1) * sizeof *shelf->nodes);
    if (shelf->nodes == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = line->first; i < line->first + line->n; i++) {
        if (may_need(verify, dispatch->in_line[i], shelf->domain, dispatch->needs)) {
            shelf->nodes[shelf->n++] = dispatch->in_line[i];
        }
    }
    shelf->leaves = 1;
    while (shelf->leaves < shelf->n) {
        shelf->leaves *= 2;
    }
    shelf->least = malloc(2 * shelf->leaves * sizeof *shelf->least);
    if (shelf->least == NULL) {
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < 2 * shelf->leaves; i++) {
        shelf->least[i] = INT64_MAX;
    }
    return WEIR_OK;
}

static enum weir_status find_shelf(struct dispatch *dispatch, struct line *line, uint32_t domain,
                                   uint32_t *out)
{
    struct list *list;
    enum weir_status status;

    for (uint32_t i = 0; i < line->n_shelves; i++) {
        if (line->shelves[i].domain == domain) {
            *out = i;
            return WEIR_OK;
        }
    }
    status = array_grow(&line->shelves, &line->shelves_room, (size_t)line->n_shelves + 1,
                        dispatch->verify->err);
    if (status != WEIR_OK) {
        return status;
    }
    list = &dispatch->lacking[domain];
    status = array_grow(&list->items, &list->room, (size_t)list->n + 1, dispatch->verify->err);
    if (status != WEIR_OK) {
        return status;
    }
    list->items[list->n++] = (uint32_t)(line - dispatch->lines);
    *out = line->n_shelves++;
    line->shelves[*out] = (struct shelf){.domain = domain};
    return open_shelf(dispatch, line, &line->shelves[*out]);
}

/* The node's leaf: they are in dispatch order. */
static uint32_t leaf_of(const struct dispatch *dispatch, const struct shelf *shelf, uint32_t node)
{
    uint32_t low = 0, high = shelf->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (dispatch->rank[shelf->nodes[middle]] < dispatch->rank[node]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void lines_set_need(const struct dispatch *dispatch, struct shelf *shelf, uint32_t node,
                    int64_t value)
{
    size_t at = shelf->leaves + leaf_of(dispatch, shelf, node);

    shelf->least[at] = value;
    for (at /= 2; at > 0; at /= 2) {
        int64_t left = shelf->least[2 * at], right = shelf->least[2 * at + 1];

        shelf->least[at] = left < right ? left : right;
    }
}

/* The first that needs no more than that; NONE. */
uint32_t lines_first_covered(const struct shelf *shelf, int64_t bytes)
{
    size_t at = 1;

    if (shelf->least[1] > bytes || shelf->least[1] == INT64_MAX) {
        return NONE;
    }
    while (at < shelf->leaves) {
        at = shelf->least[2 * at] <= bytes ? 2 * at : 2 * at + 1;
    }
    return shelf->nodes[at - shelf->leaves];
}

enum weir_status lines_set_aside(struct dispatch *dispatch, struct line *line, uint32_t node,
                                 uint32_t domain, int64_t need_bytes)
{
    uint32_t shelf = 0;
    enum weir_status status = find_shelf(dispatch, line, domain, &shelf);

    if (status == WEIR_OK) {
        dispatch->state[node] = LACKING;
        dispatch->lacks[node] = shelf;
        lines_set_need(dispatch, &line->shelves[shelf], node, need_bytes);
    }
    return status;
}

void lines_take_down(struct dispatch *dispatch, uint32_t node)
{
    struct line *line = &dispatch->lines[dispatch->line_of[node]];

    lines_set_need(dispatch, &line->shelves[dispatch->lacks[node]], node, INT64_MAX);
}
