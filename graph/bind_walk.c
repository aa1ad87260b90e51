/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk in program order: begins the initial copies, visits every node, and settles at the end
 * which copies stay and after which uses the others have ended. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/walk_internal.h"

static enum weir_status begin_initial_copies(struct walk *walk)
{
    const struct graph *graph = walk->graph;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph->n_objects && status == WEIR_OK; i++) {
        weir_object object = {i};
        uint32_t index;

        if ((graph->objects[i].flags & OBJECT_IS_INITIAL) == 0 ||
            graph->objects[i].alias_of != NONE) {
            continue;
        }
        status = walk_make_place(walk, object, walk_home(walk, object), &index);
        if (status == WEIR_OK) {
            status = walk_begin_copy(walk, object, index, (weir_node){NONE}, true);
        }
    }
    return status;
}

static bool is_retained(const struct walk *walk, uint32_t object)
{
    return (walk->graph->objects[object].flags & OBJECT_IS_RETAINED) != 0;
}

/* A retained object must be whole at home when all is done. */
static void check_retained(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->graph->n_objects; i++) {
        struct span span;
        weir_domain home;
        const struct place *place;

        if (!is_retained(walk, i)) {
            continue;
        }
        span = walk_span_of(walk, (weir_object){i});
        home = walk_home(walk, span.root);
        place = walk_live_place(walk, span.root, home);
        if (place == NULL || !walk_is_valid(walk, place, &span)) {
            const char *name = graph_object_name(walk->graph, span.object);

            report_add(walk->report, FINDING_RETAINED_GONE, (struct report_at){NULL, 0, 0},
                       "object %s is retained, but its copy in %s is %s at the end", name,
                       walk_domain_text(walk, home), place == NULL ? "missing" : "stale");
            report_name(walk->report, name);
        }
    }
}

/* The uses after which a copy that is live at the end of the program has ended. */
static enum weir_status collect_lasts(struct walk *walk)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < walk->n_places && status == WEIR_OK; i++) {
        if (walk->places[i].copy != NONE) {
            status = walk_add_lasts(walk, &walk->places[i]);
        }
    }
    return status;
}

/* A copy without a reclamation stays when it is retained at home, or when nobody uses it. */
static void decide_stays(struct walk *walk)
{
    struct binding *binding = walk->binding;

    for (uint32_t i = 0; i < binding->n_copies; i++) {
        struct bind_copy *copy = &binding->copies[i];

        copy->stays = !weir_is(copy->reclamation) && copy->n_uses == 0;
    }
    for (uint32_t i = 0; i < walk->graph->n_objects; i++) {
        weir_object root;
        const struct place *place;

        if (!is_retained(walk, i)) {
            continue;
        }
        root = walk_span_of(walk, (weir_object){i}).root;
        place = walk_live_place(walk, root, walk_home(walk, root));
        if (place != NULL) {
            binding->copies[place->copy].stays = true;
        }
    }
}

/* Numbers the segments of all objects, and begins their versions. */
static enum weir_status count_segments(struct walk *walk)
{
    uint32_t n_objects = walk->graph->n_objects, n = n_objects;

    if (walk->cut.ranges != NULL) {
        walk->first_segment = malloc(((size_t)n_objects + 1) * sizeof *walk->first_segment);
        if (walk->first_segment == NULL) {
            return weir_error_memory(walk->err);
        }
        n = 0;
        for (uint32_t i = 0; i < n_objects; i++) {
            bool is_root = segments_root(&walk->cut, (weir_object){i}).index == i;

            walk->first_segment[i] = n;
            n += is_root ? walk->cut.ranges[i].count : 0; /* a root covers all of itself */
        }
        walk->first_segment[n_objects] = n;
    }
    walk->versions = malloc(((size_t)n + 1) * sizeof *walk->versions);
    if (walk->versions == NULL) {
        return weir_error_memory(walk->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        walk->versions[i] = 1;
    }
    return WEIR_OK;
}

/* Room for what most graphs need, so that little grows on the way: what is not used is never touched,
 * and given back. A copy, a place and a segment for each object; a touch, a reader, a hazard and a
 * last use for each access. */
static enum weir_status reserve(struct walk *walk)
{
    const struct graph *graph = walk->graph;
    struct binding *binding = walk->binding;
    size_t n_objects = graph->n_objects, n_reads = graph->accesses.count;
    size_t n_accesses = n_reads + graph->object_lists.count;
    struct weir_error *err = walk->err;
    enum weir_status status =
        array_grow_raw(&binding->copies, &binding->copies_room, n_objects, err);

    if (status == WEIR_OK) {
        status = array_grow_raw(&binding->touches, &binding->touches_room, n_accesses, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&binding->edges, &binding->edges_room, n_accesses, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&binding->lasts, &binding->lasts_room, n_accesses, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->places, &walk->places_room, n_objects, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->segments, &walk->segments_room, n_objects, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->readers, &walk->readers_room, n_reads, err);
    }
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->touch_of_copy, &walk->touch_of_copy_room, n_objects, err);
    }
    return status;
}

static enum weir_status walk_begin(struct walk *walk)
{
    uint32_t n_nodes = graph_n_nodes(walk->graph), n_objects = graph_n_objects(walk->graph);
    enum weir_status status = segments_cut(walk->graph, &walk->cut, walk->err);

    if (status == WEIR_OK) {
        status = reserve(walk);
    }
    if (status != WEIR_OK) {
        return status;
    }
    walk->place_of = malloc(((size_t)n_objects + 1) * sizeof *walk->place_of);
    walk->linked = calloc((size_t)n_nodes + 1, sizeof *walk->linked);
    walk->binding->touch_first = calloc((size_t)n_nodes + 1, sizeof *walk->binding->touch_first);
    if (walk->place_of == NULL || walk->linked == NULL || walk->binding->touch_first == NULL) {
        return weir_error_memory(walk->err);
    }
    memset(walk->place_of, 0xff, ((size_t)n_objects + 1) * sizeof *walk->place_of);
    walk->free_reader = NONE;
    status = count_segments(walk);
    return status == WEIR_OK ? begin_initial_copies(walk) : status;
}

static void walk_end(struct walk *walk)
{
    segments_free(&walk->cut);
    free(walk->place_of);
    free(walk->first_segment);
    free(walk->versions);
    keys_free(walk->far_places);
    free(walk->places);
    free(walk->segments);
    free(walk->readers);
    free(walk->touch_of_copy);
    free(walk->linked);
}

enum weir_status bind_walk(struct binding *binding, struct report *report, struct weir_error *err)
{
    struct walk walk = {.binding = binding, .graph = binding->graph, .report = report, .err = err};
    uint32_t n_nodes = graph_n_nodes(binding->graph);
    enum weir_status status;

    walk.keeps_all = !graph_is_implied(binding->graph);
    status = walk_begin(&walk);
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        walk.node.index = i;
        walk.first_touch = binding->n_touches;
        binding->touch_first[i] = binding->n_touches;
        status = walk_visit(&walk);
    }
    if (status == WEIR_OK) {
        binding->touch_first[n_nodes] = binding->n_touches;
        check_retained(&walk);
        decide_stays(&walk);
        status = collect_lasts(&walk);
    }
    walk_end(&walk);
    return status;
}
