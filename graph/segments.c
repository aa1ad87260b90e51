/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting objects into segments. An object without aliases is one segment, whatever its size; one
 * with aliases is cut wherever an alias begins or ends inside it. */
#include "graph/segments.h"

#include <stdlib.h>

struct cut {
    uint32_t root;
    int64_t at_bytes;
};

static int cut_compare(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;

    if (x->root != y->root) {
        return x->root < y->root ? -1 : 1;
    }
    return (x->at_bytes > y->at_bytes) - (x->at_bytes < y->at_bytes);
}

/* The first cut that is not before (root, at_bytes). */
static size_t lower_bound(const struct cut *cuts, size_t n_cuts, uint32_t root, int64_t at_bytes)
{
    struct cut key = {root, at_bytes};
    size_t low = 0, high = n_cuts;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cut_compare(&cuts[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The number of the root's segment that begins at at_bytes, which is a cut. */
static uint32_t segment_at(const struct cut *cuts, size_t n_cuts, uint32_t root, int64_t at_bytes)
{
    return (uint32_t)(lower_bound(cuts, n_cuts, root, at_bytes) -
                      lower_bound(cuts, n_cuts, root, 0));
}

static size_t keep_distinct(struct cut *cuts, size_t n_cuts)
{
    size_t kept = 0;

    qsort(cuts, n_cuts, sizeof *cuts, cut_compare);
    for (size_t i = 0; i < n_cuts; i++) {
        if (kept == 0 || cut_compare(&cuts[kept - 1], &cuts[i]) != 0) {
            cuts[kept++] = cuts[i];
        }
    }
    return kept;
}

static void set_ranges(const struct graph *graph, const struct cut *cuts, size_t n_cuts,
                       struct segment_range *ranges)
{
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        weir_object object = {i};
        struct graph_object value;
        int64_t offset;
        weir_object root = graph_object_root(graph, object, &offset);
        uint32_t first, last;

        graph_object(graph, object, &value);
        first = segment_at(cuts, n_cuts, root.index, offset);
        last = segment_at(cuts, n_cuts, root.index, offset + value.size_bytes);
        if (last == first && weir_same(root, object)) {
            last = first + 1;
        }
        ranges[i] = (struct segment_range){first, last - first};
    }
}

static bool has_alias(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        weir_object object = {i};

        if (!weir_same(graph_object_root(graph, object, NULL), object)) {
            return true;
        }
    }
    return false;
}

enum weir_status segments_cut(const struct graph *graph, struct segments *out,
                              struct weir_error *err)
{
    uint32_t n_objects = graph_n_objects(graph);
    struct cut *cuts;
    size_t n_cuts = 0;

    out->ranges = NULL;
    if (!has_alias(graph)) {
        return WEIR_OK;
    }
    cuts = malloc(2 * (size_t)n_objects * sizeof *cuts);
    out->ranges = malloc((size_t)n_objects * sizeof *out->ranges);
    if (cuts == NULL || out->ranges == NULL) {
        free(cuts);
        segments_free(out);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_objects; i++) {
        weir_object object = {i};
        struct graph_object value;
        int64_t offset;
        weir_object root = graph_object_root(graph, object, &offset);

        graph_object(graph, object, &value);
        cuts[n_cuts++] = (struct cut){root.index, offset};
        cuts[n_cuts++] = (struct cut){root.index, offset + value.size_bytes};
    }
    n_cuts = keep_distinct(cuts, n_cuts);
    set_ranges(graph, cuts, n_cuts, out->ranges);
    free(cuts);
    return WEIR_OK;
}

void segments_free(struct segments *segments)
{
    free(segments->ranges);
    segments->ranges = NULL;
}

struct segment_range segments_of(const struct segments *segments, weir_object object)
{
    if (segments->ranges == NULL) {
        return (struct segment_range){0, 1};
    }
    return segments->ranges[object.index];
}
