/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and filling: which copy an access means, whether its bytes are valid there, and the
 * hazards. What is wrong is reported and then skipped, so that one mistake gives one finding and
 * not a trail of them. */
#include <stdlib.h>

#include "graph/walk_internal.h"

/* --- reading ------------------------------------------------------------------------------ */

static bool is_valid(const struct walk *walk, const struct place *place, const struct span *span,
                     uint32_t i)
{
    uint32_t index = span->range.first + i;

    return walk_segment(walk, place, index)->version == *walk_version(walk, span->root, index);
}

bool walk_is_valid(const struct walk *walk, const struct place *place, const struct span *span)
{
    for (uint32_t i = 0; i < span->range.count; i++) {
        if (!is_valid(walk, place, span, i)) {
            return false;
        }
    }
    return true;
}

/* Some bytes are not valid: were they valid once, or did nothing ever write them? */
enum finding_code walk_why_invalid(const struct walk *walk, const struct place *place,
                                   const struct span *span)
{
    bool was_initial = walk->binding->copies[place->copy].is_initial;

    for (uint32_t i = 0; i < span->range.count && !was_initial; i++) {
        const struct segment *at = walk_segment(walk, place, span->range.first + i);

        if (at->last_change == NONE && !is_valid(walk, place, span, i)) {
            return FINDING_UNWRITTEN;
        }
    }
    return FINDING_STALE_COPY;
}

/* Readers of an initial copy wait for the object to be ready. */
static enum weir_status wait_until_ready(struct walk *walk, const struct bind_copy *copy)
{
    struct binding *binding = walk->binding;
    int64_t ready_ns;

    if (!copy->is_initial) {
        return WEIR_OK;
    }
    ready_ns = rare_get(&walk->graph->rares, walk->graph->objects[copy->object.index].rare,
                        OBJECT_RARE_READY, 0);
    if (ready_ns <= 0) {
        return WEIR_OK;
    }
    if (binding->ready_ns == NULL) {
        binding->ready_ns = calloc(graph_n_nodes(walk->graph), sizeof *binding->ready_ns);
        if (binding->ready_ns == NULL) {
            return weir_error_memory(walk->err);
        }
    }
    if (binding->ready_ns[walk->node.index] < ready_ns) {
        binding->ready_ns[walk->node.index] = ready_ns;
    }
    return WEIR_OK;
}

/* The node at work reads the segments of the live copy at that place. */
enum weir_status walk_use_as_reader(struct walk *walk, const struct place *place,
                                    struct segment_range range)
{
    uint32_t copy = place->copy;
    enum weir_status status = walk_touch(walk, copy, BIND_READS);

    if (status == WEIR_OK) {
        status = wait_until_ready(walk, &walk->binding->copies[copy]);
    }
    for (uint32_t i = 0; i < range.count && status == WEIR_OK; i++) {
        status = walk_follow(walk, walk_segment(walk, place, range.first + i)->last_change, copy,
                             EDGE_DATA_READY);
        if (status == WEIR_OK) {
            status = walk_add_reader(walk, place, range.first + i);
        }
    }
    return status;
}

static enum weir_status read_valid(struct walk *walk, const struct span *span,
                                   const struct place *place)
{
    if (!walk_is_valid(walk, place, span)) {
        walk_complain(walk, walk_why_invalid(walk, place, span), span->object,
                      (weir_domain){place->domain}, "reads");
        return WEIR_OK;
    }
    return walk_use_as_reader(walk, place, span->range);
}

/* The node that made that segment of the home copy visible here; NONE: a mapping ends with the copy
 * that it mapped. */
static uint32_t mapping_of(const struct walk *walk, const struct place *here,
                           const struct place *home, uint32_t index)
{
    uint32_t mapping = here == NULL ? NONE : walk_segment(walk, here, index)->mapping;

    if (mapping != NONE && home->last_reclaim != NONE && mapping < home->last_reclaim) {
        return NONE;
    }
    return mapping;
}

/* Reads the home copy from afar. */
static enum weir_status read_mapped(struct walk *walk, const struct span *span, weir_domain from)
{
    const struct place *there = walk_live_place(walk, span->root, walk_home(walk, span->root));
    const struct place *here = walk_find_place(walk, span->root, from);
    enum weir_status status = WEIR_OK;

    if (there == NULL) {
        walk_complain(walk, FINDING_MISSING_COPY, span->object, from, "reads");
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < span->range.count; i++) {
        if (mapping_of(walk, here, there, span->range.first + i) == NONE) {
            walk_complain(walk, FINDING_NO_MAPPING, span->object, from, "reads");
            return WEIR_OK;
        }
    }
    for (uint32_t i = 0; i < span->range.count && status == WEIR_OK; i++) {
        status = walk_follow(walk, mapping_of(walk, here, there, span->range.first + i),
                             there->copy, EDGE_DATA_READY);
    }
    return status == WEIR_OK ? read_valid(walk, span, there) : status;
}

enum weir_status walk_read_object(struct walk *walk, const struct graph_access *access)
{
    struct span span = walk_span_of(walk, access->object);
    weir_domain domain = weir_is(access->domain) ? access->domain : walk->domain;
    const struct place *place = walk_live_place(walk, span.root, domain);

    if (place != NULL) {
        return read_valid(walk, &span, place);
    }
    if (weir_is(access->domain) || weir_same(domain, walk_home(walk, span.root))) {
        walk_complain(walk, FINDING_MISSING_COPY, access->object, domain, "reads");
        return WEIR_OK;
    }
    return read_mapped(walk, &span, domain);
}

/* --- filling ------------------------------------------------------------------------------ */

/* The hazards of changing one segment. */
static enum weir_status follow_before_change(struct walk *walk, const struct place *place,
                                             const struct segment *at)
{
    const struct bind_copy *copy = &walk->binding->copies[place->copy];
    enum weir_status status = WEIR_OK;

    if (at->last_change == NONE) {
        uint32_t allocation = copy->allocation.index;

        status = walk_follow(walk, allocation, place->copy, EDGE_STORAGE_READY);
        if (status == WEIR_OK && (walk->keeps_all || allocation == NONE)) {
            status = walk_follow(walk, place->last_reclaim, place->copy, EDGE_STORAGE_READY);
        }
    } else if (walk->keeps_all || !walk_has_other_reader(walk, at)) {
        status = walk_follow(walk, at->last_change, place->copy, EDGE_STORAGE_READY);
    }
    return status == WEIR_OK ? walk_follow_readers(walk, at, place->copy, EDGE_STORAGE_READY)
                             : status;
}

/* The node at work changes the object's bytes in the domain, whose copy begins when there is none.
 * @param is_write the new bytes differ from those of the other copies */
enum weir_status walk_fill_object(struct walk *walk, weir_object object, weir_domain domain,
                                  bool is_write)
{
    struct span span = walk_span_of(walk, object);
    uint32_t index;
    enum weir_status status = walk_make_place(walk, span.root, domain, &index);

    if (status == WEIR_OK && walk->places[index].copy == NONE) {
        status = walk_begin_copy(walk, span.root, index, (weir_node){NONE}, false);
    }
    if (status == WEIR_OK) {
        status = walk_touch(walk, walk->places[index].copy, BIND_FILLS);
    }
    for (uint32_t i = span.range.first; i < span.range.first + span.range.count; i++) {
        struct segment *at = walk_segment(walk, &walk->places[index], i);
        uint32_t *version = walk_version(walk, span.root, i);

        if (status == WEIR_OK) {
            status = follow_before_change(walk, &walk->places[index], at);
        }
        walk_drop_readers(walk, at);
        at->last_change = walk->node.index;
        *version += is_write ? 1 : 0; /* which leaves the bytes of every other copy stale */
        at->version = *version;
    }
    return status;
}
