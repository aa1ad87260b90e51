/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting objects into segments. An object without aliases is one segment, whatever its size; one
 * with aliases is cut wherever an alias begins or ends inside it. */
#include "graph/segments.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph_internal.h"

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
                       const int64_t *offsets, struct segments *out)
{
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        uint32_t root = out->roots[i];
        int64_t size = graph->objects[i].size_bytes;
        uint32_t first = segment_at(cuts, n_cuts, root, offsets[i]);
        uint32_t last = segment_at(cuts, n_cuts, root, offsets[i] + size);

        if (last == first && root == i) {
            last = first + 1;
        }
        out->ranges[i] = (struct segment_range){first, last - first};
    }
}

static bool has_alias(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        if (graph->objects[i].alias_of != WEIR_NONE) {
            return true;
        }
    }
    return false;
}

static int64_t offset_in_target(const struct graph *graph, uint32_t object)
{
    return rare_get(&graph->rares, graph->objects[object].rare, OBJECT_RARE_ALIAS_OFFSET, 0);
}

/* Follows the chain of aliases from an object up to one whose root is known or that is a root, and
 * then says so for all of the chain. */
static void resolve(const struct graph *graph, uint32_t object, uint32_t *roots, int64_t *offsets)
{
    uint32_t at = object, root;
    int64_t offset = 0;

    for (uint32_t step = 0; step < graph->n_objects && roots[at] == WEIR_NONE &&
                            graph->objects[at].alias_of != WEIR_NONE;
         step++) {
        offset += offset_in_target(graph, at);
        at = graph->objects[at].alias_of;
    }
    if (roots[at] == WEIR_NONE) {
        roots[at] = at;
        offsets[at] = 0;
    }
    root = roots[at];
    offset += offsets[at];
    for (at = object; roots[at] == WEIR_NONE; at = graph->objects[at].alias_of) {
        roots[at] = root;
        offsets[at] = offset;
        offset -= offset_in_target(graph, at);
    }
}

static void resolve_all(const struct graph *graph, uint32_t *roots, int64_t *offsets)
{
    memset(roots, 0xff, graph->n_objects * sizeof *roots);
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        resolve(graph, i, roots, offsets);
    }
}

enum weir_status segments_cut(const struct graph *graph, struct segments *out,
                              struct weir_error *err)
{
    size_t n_objects = graph->n_objects, n_cuts = 0;
    int64_t *offsets = NULL;
    struct cut *cuts = NULL;
    enum weir_status status = WEIR_OK;

    *out = (struct segments){NULL, NULL};
    if (!has_alias(graph)) {
        return WEIR_OK;
    }
    cuts = malloc(2 * n_objects * sizeof *cuts);
    offsets = malloc(n_objects * sizeof *offsets);
    out->ranges = malloc(n_objects * sizeof *out->ranges);
    out->roots = malloc(n_objects * sizeof *out->roots);
    if (cuts == NULL || offsets == NULL || out->ranges == NULL || out->roots == NULL) {
        segments_free(out);
        status = weir_error_memory(err);
        goto done;
    }
    resolve_all(graph, out->roots, offsets);
    for (uint32_t i = 0; i < n_objects; i++) {
        cuts[n_cuts++] = (struct cut){out->roots[i], offsets[i]};
        cuts[n_cuts++] = (struct cut){out->roots[i], offsets[i] + graph->objects[i].size_bytes};
    }
    n_cuts = keep_distinct(cuts, n_cuts);
    set_ranges(graph, cuts, n_cuts, offsets, out);
done:
    free(offsets);
    free(cuts);
    return status;
}

void segments_free(struct segments *segments)
{
    free(segments->ranges);
    free(segments->roots);
    *segments = (struct segments){NULL, NULL};
}

weir_object segments_root(const struct segments *segments, weir_object object)
{
    return segments->roots == NULL ? object : (weir_object){segments->roots[object.index]};
}

struct segment_range segments_of(const struct segments *segments, weir_object object)
{
    if (segments->ranges == NULL) {
        return (struct segment_range){0, 1};
    }
    return segments->ranges[object.index];
}
