/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Borders are listed once, sorted by root and place, and counted by bisection. */
#include "judge/verify_pieces.h"

#include <stdlib.h>

struct border {
    uint32_t root;
    int64_t at_bytes;
};

static int by_place(const void *left, const void *right)
{
    const struct border *a = left, *b = right;

    if (a->root != b->root) {
        return a->root < b->root ? -1 : 1;
    }
    return (a->at_bytes > b->at_bytes) - (a->at_bytes < b->at_bytes);
}

/* How many borders are before that one. */
static size_t place_of(const struct border *borders, size_t n, uint32_t root, int64_t at_bytes)
{
    const struct border sought = {root, at_bytes};
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_place(&borders[middle], &sought) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t sort_distinct(struct border *borders, size_t n)
{
    size_t kept = 0;

    qsort(borders, n, sizeof *borders, by_place);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || by_place(&borders[kept - 1], &borders[i]) != 0) {
            borders[kept++] = borders[i];
        }
    }
    return kept;
}

static void count_pieces(const struct graph *graph, const struct border *borders, size_t n,
                         struct pieces *out)
{
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        struct graph_object object;
        int64_t offset = 0;
        uint32_t root = graph_object_root(graph, (weir_object){i}, &offset).index;
        size_t begin = place_of(borders, n, root, 0);

        graph_object(graph, (weir_object){i}, &object);
        out->first[i] = (uint32_t)(place_of(borders, n, root, offset) - begin);
        out->count[i] = (uint32_t)(place_of(borders, n, root, offset + object.size_bytes) - begin) -
                        out->first[i];
        if (out->count[i] == 0 && root == i) {
            out->count[i] = 1;
        }
    }
}

enum weir_status pieces_cut(const struct graph *graph, struct pieces *out, struct weir_error *err)
{
    uint32_t n_objects = graph_n_objects(graph);
    struct border *borders = malloc((4 * (size_t)n_objects + 1) * sizeof *borders);
    size_t n = 0;

    *out = (struct pieces){
        .root = malloc(((size_t)n_objects + 1) * sizeof *out->root),
        .first = calloc((size_t)n_objects + 1, sizeof *out->first),
        .count = malloc(((size_t)n_objects + 1) * sizeof *out->count),
    };
    if (borders == NULL || out->root == NULL || out->first == NULL || out->count == NULL) {
        free(borders);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_objects; i++) {
        struct graph_object object;
        int64_t offset = 0;

        out->root[i] = graph_object_root(graph, (weir_object){i}, &offset);
        out->count[i] = 1;
        graph_object(graph, (weir_object){i}, &object);
        if (weir_is(object.alias_of)) {
            struct graph_object whole;

            graph_object(graph, out->root[i], &whole);
            borders[n++] = (struct border){out->root[i].index, offset};
            borders[n++] = (struct border){out->root[i].index, offset + object.size_bytes};
            borders[n++] = (struct border){out->root[i].index, 0};
            borders[n++] = (struct border){out->root[i].index, whole.size_bytes};
        }
    }
    if (n > 0) {
        n = sort_distinct(borders, n);
        count_pieces(graph, borders, n, out);
    }
    free(borders);
    return WEIR_OK;
}

void pieces_free(struct pieces *pieces)
{
    free(pieces->root);
    free(pieces->first);
    free(pieces->count);
}
