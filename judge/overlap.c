/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of overlaps that were found, and of single nodes. */
#include "judge/overlap.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/overlap_keys.h"

void overlaps_free(struct overlaps *overlaps)
{
    free(overlaps->pairs);
    free(overlaps->kappa);
    *overlaps = (struct overlaps){.n_pairs = 0};
}

static const char *class_text(const struct graph *graph, weir_class class_)
{
    return weir_is(class_) ? graph_text(graph, graph_class_name(graph, class_)) : "";
}

enum weir_status overlaps_list(const struct graph *graph, const struct overlaps *overlaps,
                               struct run_overlap **out, struct weir_error *err)
{
    struct run_overlap *list = malloc((overlaps->n_pairs + 1) * sizeof *list);

    if (list == NULL) {
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        list[i] = (struct run_overlap){class_text(graph, overlaps->pairs[i].a),
                                       class_text(graph, overlaps->pairs[i].b),
                                       overlaps->pairs[i].overlap_ns};
    }
    *out = list;
    return WEIR_OK;
}

/* --- one node ------------------------------------------------------------------------------- */

double overlap_node_kappa(const struct timeline_span *span)
{
    if (span->start_ns < 0 || span->finish_ns < 0 || span->isolated_ns <= 0) {
        return 0;
    }
    return (double)(span->finish_ns - span->start_ns) / (double)span->isolated_ns;
}

static int64_t end_of(const struct timeline *timeline, const struct timeline_span *span)
{
    return span->finish_ns < 0 ? timeline->makespan_ns : span->finish_ns;
}

static int by_overlap(const void *left, const void *right)
{
    const struct overlap_beside *a = left, *b = right;

    if (a->overlap_ns != b->overlap_ns) {
        return a->overlap_ns > b->overlap_ns ? -1 : 1;
    }
    return (a->node.index > b->node.index) - (a->node.index < b->node.index);
}

enum weir_status overlaps_beside(const struct timeline *timeline, weir_node node,
                                 struct overlap_beside **out, size_t *n, struct weir_error *err)
{
    const struct timeline_span *of = &timeline->spans[node.index];
    struct overlap_beside *list = NULL;
    size_t room = 0, count = 0;

    for (uint32_t i = 0; i < timeline->n_nodes && of->start_ns >= 0; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        int64_t from_ns = span->start_ns > of->start_ns ? span->start_ns : of->start_ns;
        int64_t end_ns = end_of(timeline, span), of_end_ns = end_of(timeline, of);
        int64_t to_ns = end_ns < of_end_ns ? end_ns : of_end_ns;

        if (i == node.index || span->start_ns < 0 || from_ns >= to_ns) {
            continue;
        }
        if (array_grow_raw(&list, &room, count + 1, err) != WEIR_OK) {
            free(list);
            return err->status;
        }
        list[count++] = (struct overlap_beside){{i}, to_ns - from_ns};
    }
    if (count > 0) {
        qsort(list, count, sizeof *list, by_overlap);
    }
    *out = list;
    *n = count;
    return WEIR_OK;
}

/* --- what is hypothetical ------------------------------------------------------------------- */

static bool is_known(const struct overlap_known *known, weir_class a, weir_class b)
{
    for (uint32_t i = known->first[a.index]; i < known->first[a.index + 1]; i++) {
        if (known->classes[i] == b.index) {
            return true;
        }
    }
    return false;
}

/* Does a line call the pair unknown? */
static bool is_called_unknown(const struct overlap_keys *keys, weir_class a, weir_class b)
{
    uint32_t of_a = keys->of_class[a.index], of_b = keys->of_class[b.index];

    if (of_a == WEIR_NONE || of_b == WEIR_NONE) {
        return false;
    }
    for (uint32_t i = keys->first[of_a]; i < keys->first[of_a + 1]; i++) {
        if (keys->partners[i] == of_b) {
            return true;
        }
    }
    return false;
}

enum weir_status overlaps_hypothetical(const struct graph *graph, const struct overlaps *overlaps,
                                       bool by_factor, bool **is_hypothetical,
                                       struct weir_error *err)
{
    struct overlap_keys keys;
    struct overlap_known known = {NULL, NULL};
    bool *is_one = calloc(overlaps->n_pairs + 1, sizeof *is_one);
    enum weir_status status = overlap_keys_begin(&keys, graph, err);

    if (status == WEIR_OK && is_one == NULL) {
        status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = overlap_keys_add(&keys, OVERLAP_UNKNOWN, err);
    }
    if (status == WEIR_OK) {
        status = overlap_keys_index(&keys, err);
    }
    if (status == WEIR_OK && by_factor) {
        status = overlap_known_find(graph, &known, err);
    }
    for (size_t i = 0; i < overlaps->n_pairs && status == WEIR_OK; i++) {
        weir_class a = overlaps->pairs[i].a, b = overlaps->pairs[i].b;

        is_one[i] = weir_is(a) && weir_is(b) &&
                    (is_called_unknown(&keys, a, b) || (by_factor && !is_known(&known, a, b)));
    }
    overlap_keys_free(&keys);
    overlap_known_free(&known);
    if (status != WEIR_OK) {
        free(is_one);
        return status;
    }
    *is_hypothetical = is_one;
    return WEIR_OK;
}
