/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that may not overlap stay in the order in which they ran. For each key of the overlap lines,
 * and, where every pair of classes without a factor is forbidden, for each class, there is a front:
 * what a node must wait for to be after all of them so far. Of many it is made a point, once for all
 * that wait for it. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/overlap_keys.h"
#include "sim/retime_internal.h"

struct front {
    uint32_t last;     /* after every node before the pending ones; WEIR_NONE */
    uint32_t *pending; /* positions */
    size_t room;
    uint32_t n;
};

struct retime_overlaps {
    struct retime_build *build;
    struct overlap_keys keys;
    struct front *of_key;
    bool has_known; /* every pair of classes that is not listed is forbidden */
    struct overlap_known known;
    struct front *of_class;
    uint32_t *awaited; /* what the node waits for that is about to get its position */
    size_t awaited_room;
    uint32_t n_awaited;
};

static struct front *fronts_new(uint32_t n)
{
    struct front *fronts = calloc((size_t)n + 1, sizeof *fronts);

    for (uint32_t i = 0; fronts != NULL && i < n; i++) {
        fronts[i].last = WEIR_NONE;
    }
    return fronts;
}

static enum weir_status read_lines(struct retime_overlaps *overlaps)
{
    const struct retime_build *build = overlaps->build;
    enum weir_status status = overlap_keys_begin(&overlaps->keys, build->graph, build->err);

    if (status == WEIR_OK) {
        status = overlap_keys_add(&overlaps->keys, OVERLAP_FORBIDDEN, build->err);
    }
    if (status != WEIR_OK || build->options->unknown_overlap != UNKNOWN_FORBID) {
        return status;
    }
    status = overlap_keys_add(&overlaps->keys, OVERLAP_UNKNOWN, build->err);
    if (status == WEIR_OK && contention_is_by_factor(build->graph, build->options->contention)) {
        overlaps->has_known = true;
        status = overlap_known_find(build->graph, &overlaps->known, build->err);
    }
    return status;
}

enum weir_status retime_overlaps_new(struct retime_build *build, struct retime_overlaps **out)
{
    struct retime_overlaps *overlaps = calloc(1, sizeof *overlaps);
    enum weir_status status;

    *out = NULL;
    if (overlaps == NULL) {
        return weir_error_memory(build->err);
    }
    overlaps->build = build;
    status = read_lines(overlaps);
    if (status == WEIR_OK && overlaps->keys.n_pairs == 0 && !overlaps->has_known) {
        retime_overlaps_free(overlaps);
        return WEIR_OK;
    }
    if (status == WEIR_OK) {
        status = overlap_keys_index(&overlaps->keys, build->err);
    }
    if (status == WEIR_OK) {
        overlaps->of_key = fronts_new(overlaps->keys.n_keys);
        overlaps->of_class = fronts_new(graph_n_classes(build->graph));
        if (overlaps->of_key == NULL || overlaps->of_class == NULL) {
            status = weir_error_memory(build->err);
        }
    }
    if (status != WEIR_OK) {
        retime_overlaps_free(overlaps);
        return status;
    }
    *out = overlaps;
    return WEIR_OK;
}

void retime_overlaps_free(struct retime_overlaps *overlaps)
{
    if (overlaps == NULL) {
        return;
    }
    for (uint32_t i = 0; overlaps->of_key != NULL && i < overlaps->keys.n_keys; i++) {
        free(overlaps->of_key[i].pending);
    }
    for (uint32_t i = 0; overlaps->of_class != NULL && i < graph_n_classes(overlaps->build->graph);
         i++) {
        free(overlaps->of_class[i].pending);
    }
    free(overlaps->of_key);
    free(overlaps->of_class);
    overlap_keys_free(&overlaps->keys);
    overlap_known_free(&overlaps->known);
    free(overlaps->awaited);
    free(overlaps);
}

/* One position that is after the whole front: the pending ones become part of it. */
static enum weir_status close_front(struct retime_overlaps *overlaps, struct front *front)
{
    struct retime_build *build = overlaps->build;
    uint32_t point;
    enum weir_status status = WEIR_OK;

    if (front->n == 0) {
        return WEIR_OK;
    }
    if (front->n == 1 && front->last == WEIR_NONE) {
        point = front->pending[0];
    } else {
        status = retime_add_position(build, (weir_node){WEIR_NONE}, &point);
        if (status == WEIR_OK && front->last != WEIR_NONE) {
            status = retime_add_link(build, front->last, point);
        }
        for (uint32_t i = 0; i < front->n && status == WEIR_OK; i++) {
            status = retime_add_link(build, front->pending[i], point);
        }
    }
    if (status == WEIR_OK) {
        front->last = point;
        front->n = 0;
    }
    return status;
}

static enum weir_status await_front(struct retime_overlaps *overlaps, struct front *front)
{
    enum weir_status status = close_front(overlaps, front);

    if (status == WEIR_OK && front->last != WEIR_NONE) {
        status = array_grow(&overlaps->awaited, &overlaps->awaited_room,
                            (size_t)overlaps->n_awaited + 1, overlaps->build->err);
        if (status == WEIR_OK) {
            overlaps->awaited[overlaps->n_awaited++] = front->last;
        }
    }
    return status;
}

/* Every class of which it is not known what it does beside this one. */
static enum weir_status await_unlisted(struct retime_overlaps *overlaps, weir_class class_)
{
    const struct overlap_known *known = &overlaps->known;
    uint32_t at = known->first[class_.index], end = known->first[class_.index + 1];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_classes(overlaps->build->graph) && status == WEIR_OK; i++) {
        if (at < end && known->classes[at] == i) {
            at++;
        } else {
            status = await_front(overlaps, &overlaps->of_class[i]);
        }
    }
    return status;
}

/* Zero-length nodes never overlap. */
static bool takes_part(const struct retime_overlaps *overlaps, weir_node node)
{
    return retime_span(overlaps->build, node)->isolated_ns > 0;
}

enum weir_status retime_overlaps_before(struct retime_overlaps *overlaps, weir_node node)
{
    weir_class class_ = graph_node_class(overlaps->build->graph, node);
    const struct overlap_keys *of = &overlaps->keys;
    uint32_t keys[2], n_keys;
    enum weir_status status = WEIR_OK;

    overlaps->n_awaited = 0;
    if (!takes_part(overlaps, node)) {
        return WEIR_OK;
    }
    n_keys = overlap_keys_of(of, node.index, keys);
    for (uint32_t i = 0; i < n_keys; i++) {
        for (uint32_t j = of->first[keys[i]]; j < of->first[keys[i] + 1] && status == WEIR_OK;
             j++) {
            status = await_front(overlaps, &overlaps->of_key[of->partners[j]]);
        }
    }
    return status == WEIR_OK && overlaps->has_known && weir_is(class_)
               ? await_unlisted(overlaps, class_)
               : status;
}

/* A node that itself waited for the whole front stands for all of it. */
static enum weir_status join_front(struct retime_overlaps *overlaps, struct front *front,
                                   uint32_t position)
{
    enum weir_status status;

    for (uint32_t i = 0; front->n == 0 && i < overlaps->n_awaited; i++) {
        if (overlaps->awaited[i] == front->last) {
            front->last = position;
            return WEIR_OK;
        }
    }
    status = array_grow(&front->pending, &front->room, (size_t)front->n + 1, overlaps->build->err);
    if (status == WEIR_OK) {
        front->pending[front->n++] = position;
    }
    return status;
}

enum weir_status retime_overlaps_after(struct retime_overlaps *overlaps, weir_node node)
{
    uint32_t position = overlaps->build->position[node.index], keys[2], n_keys;
    weir_class class_ = graph_node_class(overlaps->build->graph, node);
    enum weir_status status = WEIR_OK;

    if (!takes_part(overlaps, node)) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < overlaps->n_awaited && status == WEIR_OK; i++) {
        status = retime_add_link(overlaps->build, overlaps->awaited[i], position);
    }
    n_keys = overlap_keys_of(&overlaps->keys, node.index, keys);
    for (uint32_t i = 0; i < n_keys && status == WEIR_OK; i++) {
        status = join_front(overlaps, &overlaps->of_key[keys[i]], position);
    }
    return status == WEIR_OK && overlaps->has_known && weir_is(class_)
               ? join_front(overlaps, &overlaps->of_class[class_.index], position)
               : status;
}
