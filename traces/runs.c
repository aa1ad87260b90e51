/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patience: each row is laid on the pile whose last row is the greatest that is not greater than it,
 * or begins a pile. So the piles stay sorted by their last rows, and there are as many as there are
 * sequences in the input. They are lists, merged two by two; then each row is moved once. */
#include "traces/runs.h"

#include <stdlib.h>
#include <string.h>

#define PILES_MOST 64
#define ROW_BYTES_MOST 256

struct sorter {
    const char *rows;
    size_t n, row_bytes;
    int (*order)(const void *, const void *);
    uint32_t *next; /* of a row: the one laid on it; n: none */
    uint32_t heads[PILES_MOST], tails[PILES_MOST];
    size_t n_piles;
};

static const void *row_of(const struct sorter *s, uint32_t number)
{
    return s->rows + number * s->row_bytes;
}

static bool is_in_order(const struct sorter *s, uint32_t a, uint32_t b)
{
    return s->order(row_of(s, a), row_of(s, b)) <= 0;
}

static bool is_sorted(const void *rows, size_t n, size_t row_bytes,
                      int (*order)(const void *, const void *))
{
    const char *at = rows;

    for (size_t i = 1; i < n; i++, at += row_bytes) {
        if (order(at, at + row_bytes) > 0)
            return false;
    }
    return true;
}

/* How many piles end in a row that is not greater. */
static size_t piles_below(const struct sorter *s, uint32_t number)
{
    size_t low = 0, high = s->n_piles;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_in_order(s, s->tails[middle], number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool begin_pile(struct sorter *s, uint32_t number)
{
    if (s->n_piles == PILES_MOST)
        return false;
    memmove(s->heads + 1, s->heads, s->n_piles * sizeof *s->heads);
    memmove(s->tails + 1, s->tails, s->n_piles * sizeof *s->tails);
    s->heads[0] = s->tails[0] = number;
    s->n_piles++;
    return true;
}

/* False when it takes more piles than are worth it. Neighbours mostly go to one pile. */
static bool lay_out(struct sorter *s)
{
    size_t at = 0;

    s->n_piles = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool is_same = s->n_piles > 0 && is_in_order(s, s->tails[at], i) &&
                       (at + 1 == s->n_piles || !is_in_order(s, s->tails[at + 1], i));
        size_t below = is_same ? at + 1 : piles_below(s, i);

        s->next[i] = (uint32_t)s->n;
        if (below == 0) {
            if (!begin_pile(s, i))
                return false;
            at = 0;
            continue;
        }
        at = below - 1;
        s->next[s->tails[at]] = i;
        s->tails[at] = i;
    }
    return true;
}

static uint32_t merge_two(struct sorter *s, uint32_t a, uint32_t b)
{
    const uint32_t none = (uint32_t)s->n;
    uint32_t head = none, *link = &head;

    while (a != none && b != none) {
        uint32_t *least = is_in_order(s, a, b) ? &a : &b;

        *link = *least;
        link = &s->next[*least];
        *least = *link;
    }
    *link = a != none ? a : b;
    return head;
}

/* Each pile with the next one, until one is left. */
static uint32_t merge_all(struct sorter *s)
{
    while (s->n_piles > 1) {
        size_t kept = 0;

        for (size_t i = 0; i < s->n_piles; i += 2) {
            s->heads[kept++] =
                i + 1 < s->n_piles ? merge_two(s, s->heads[i], s->heads[i + 1]) : s->heads[i];
        }
        s->n_piles = kept;
    }
    return s->heads[0];
}

bool runs_order(const void *rows, size_t n, size_t row_bytes,
                int (*order)(const void *, const void *), uint32_t *numbers)
{
    struct sorter sorter = {.rows = rows, .n = n, .row_bytes = row_bytes, .order = order};
    uint32_t at;

    if (n >= UINT32_MAX)
        return false;
    if (is_sorted(rows, n, row_bytes, order)) {
        for (size_t i = 0; i < n; i++)
            numbers[i] = (uint32_t)i;
        return true;
    }
    sorter.next = malloc(n * sizeof *sorter.next);
    if (sorter.next == NULL || !lay_out(&sorter)) {
        free(sorter.next);
        return false;
    }
    at = merge_all(&sorter);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = at;
        at = sorter.next[at];
    }
    free(sorter.next);
    return true;
}

/* Row numbers[i] belongs at i: along each circle, one row waits outside. */
static void move_rows(char *rows, size_t n, size_t row_bytes, uint32_t *numbers)
{
    char held[ROW_BYTES_MOST];

    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        if (numbers[i] == i)
            continue;
        memcpy(held, rows + i * row_bytes, row_bytes);
        while (numbers[at] != i) {
            size_t next = numbers[at];

            memcpy(rows + at * row_bytes, rows + next * row_bytes, row_bytes);
            numbers[at] = (uint32_t)at;
            at = next;
        }
        memcpy(rows + at * row_bytes, held, row_bytes);
        numbers[at] = (uint32_t)at;
    }
}

void runs_sort(void *rows, size_t n, size_t row_bytes, int (*order)(const void *, const void *))
{
    uint32_t *numbers;

    if (n < 2 || is_sorted(rows, n, row_bytes, order))
        return;
    numbers = row_bytes > ROW_BYTES_MOST ? NULL : malloc(n * sizeof *numbers);
    if (numbers != NULL && runs_order(rows, n, row_bytes, order, numbers))
        move_rows(rows, n, row_bytes, numbers);
    else
        qsort(rows, n, row_bytes, order);
    free(numbers);
}
