/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What somebody may have meant who misspelt a name. Likeness is the number of characters to add,
 * drop, change, or swap with their neighbour; about a third of the text may differ. */
#include "graph/read_internal.h"

#define LONGEST 64         /* longer names are not compared */
#define MOST_NAMES 100000u /* nor more of them than this */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Source: the optimal string alignment distance (Damerau 1964), three rows of its table. */
static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];

    for (unsigned j = 0; j <= n_b; j++)
        last[j] = j;
    for (unsigned i = 1; i <= n_a; i++) {
        unsigned *spare = before;
        now[0] = i;
        for (unsigned j = 1; j <= n_b; j++) {
            now[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(now[j], least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[n_b];
}

/* The likeness of the texts, when it is better than @p best; else @p best. */
static unsigned better(const char *text, size_t length, const char *name, unsigned best)
{
    size_t n = strlen(name);
    size_t gap = n > length ? n - length : length - n;
    unsigned found;

    if (n == 0 || n > LONGEST || length > LONGEST || gap >= best)
        return best;
    found = distance(text, length, name, n);
    return found < best ? found : best;
}

/* One more than may differ. */
static unsigned too_far(size_t length)
{
    if (length < 2)
        return 1;
    return length < 6 ? 2 : length < 9 ? 3 : 4;
}

weir_text nearest_name(const struct graph *graph, enum statement_kind kind, const char *text,
                       size_t length)
{
    uint32_t n = graph_count(graph, kind);
    unsigned best = too_far(length);
    weir_text nearest = {0};

    for (uint32_t i = 0; i < n && i < MOST_NAMES; i++) {
        weir_text name = graph_row_name(graph, kind, i);
        unsigned found = better(text, length, graph_text(graph, name), best);
        if (found < best) {
            best = found;
            nearest = name;
        }
    }
    return nearest;
}

const char *nearest_word(const char *const *words, const char *text, size_t length)
{
    unsigned best = too_far(length);
    const char *nearest = NULL;

    for (; *words != NULL; words++) {
        unsigned found = better(text, length, *words, best);
        if (found < best) {
            best = found;
            nearest = *words;
        }
    }
    return nearest;
}
