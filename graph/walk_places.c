/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places, the copies that live there, who touches them, and who must follow whom. */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "graph/walk_internal.h"

static const char *node_text(const struct walk *walk)
{
    return graph_node_name(walk->graph, walk->node);
}

const char *walk_domain_text(const struct walk *walk, weir_domain domain)
{
    return weir_is(domain) ? graph_text(walk->graph, graph_domain(walk->graph, domain)->name)
                           : "(none)";
}

/* The reclamation after which there is no copy of the object in the domain; NONE: there never was one. */
static uint32_t given_back_by(const struct walk *walk, weir_object object, weir_domain domain)
{
    const struct place *place = walk_find_place(walk, walk_span_of(walk, object).root, domain);

    return place == NULL || place->copy != NONE ? NONE : place->last_reclaim;
}

/* Reports a misuse of an object by the node at work. */
void walk_complain(struct walk *walk, enum finding_code code, weir_object object,
                   weir_domain domain, const char *what)
{
    const char *name = graph_object_name(walk->graph, object);
    const char *summary = finding_summary(code);
    uint32_t gone = code == FINDING_MISSING_COPY || code == FINDING_RECLAIMED_MISSING
                        ? given_back_by(walk, object, domain)
                        : NONE;
    const char *by = gone == NONE ? "" : graph_node_name(walk->graph, (weir_node){gone});

    /* A summary is a sentence; here it ends one. */
    report_add(walk->report, code, (struct report_at){NULL, 0, 0},
               "node %s %s object %s in %s: %c%.*s%s%s%s", node_text(walk), what, name,
               walk_domain_text(walk, domain), tolower((unsigned char)summary[0]),
               (int)strcspn(summary + 1, "."), summary + 1, gone == NONE ? "" : " (node ", by,
               gone == NONE ? "" : " gave it back)");
    report_name(walk->report, node_text(walk));
    report_name(walk->report, name);
    if (gone != NONE) {
        report_name(walk->report, by);
    }
}

/* Places of one object that are looked through; from then on all of them are in a table. */
#define NEAR_PLACES 8

struct place *walk_find_place(const struct walk *walk, weir_object root, weir_domain domain)
{
    uint32_t at = walk->place_of[root.index], n = 0;
    struct key key = {{root.index, domain.index, 0, 0}};

    for (; at != NONE && walk->places[at].domain != domain.index; at = walk->places[at].next) {
        if (++n == NEAR_PLACES && walk->places[at].next != NONE) {
            at = keys_find(walk->far_places, &key);
            break;
        }
    }
    return at == NONE ? NULL : &walk->places[at];
}

/* Enters the newest place of the object in the table when it has more than the near ones, and the
 * others when it is the first more. */
static enum weir_status enter_place(struct walk *walk, weir_object root)
{
    uint32_t n = 0, first = walk->place_of[root.index];
    enum weir_status status = WEIR_OK;

    for (uint32_t at = first; at != NONE && n <= NEAR_PLACES + 1; at = walk->places[at].next) {
        n++;
    }
    if (n <= NEAR_PLACES) {
        return WEIR_OK;
    }
    if (walk->far_places == NULL) {
        walk->far_places = keys_new();
    }
    if (walk->far_places == NULL) {
        return weir_error_memory(walk->err);
    }
    for (uint32_t at = first; at != NONE && status == WEIR_OK; at = walk->places[at].next) {
        struct key key = {{root.index, walk->places[at].domain, 0, 0}};

        status = keys_put(walk->far_places, &key, at, walk->err);
        if (n > NEAR_PLACES + 1) {
            break;
        }
    }
    return status;
}

struct place *walk_live_place(const struct walk *walk, weir_object root, weir_domain domain)
{
    struct place *place = walk_find_place(walk, root, domain);

    return place != NULL && place->copy != NONE ? place : NULL;
}

/* Finds or makes the place; *index is its number, since a later call may move it. */
enum weir_status walk_make_place(struct walk *walk, weir_object root, weir_domain domain,
                                 uint32_t *index)
{
    struct place *found = walk_find_place(walk, root, domain);
    uint32_t count = walk_segments_in(walk, root);
    enum weir_status status;

    if (found != NULL) {
        *index = (uint32_t)(found - walk->places);
        return WEIR_OK;
    }
    status =
        array_grow_raw(&walk->places, &walk->places_room, (size_t)walk->n_places + 1, walk->err);
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->segments, &walk->segments_room,
                                (size_t)walk->n_segments_used + count, walk->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        walk->segments[walk->n_segments_used + i] = (struct segment){NONE, NONE, NONE, 0};
    }
    walk->places[walk->n_places] =
        (struct place){domain.index, walk->place_of[root.index], NONE, NONE, walk->n_segments_used};
    walk->place_of[root.index] = walk->n_places;
    walk->n_segments_used += count;
    *index = walk->n_places++;
    return enter_place(walk, root);
}

void walk_drop_readers(struct walk *walk, struct segment *at)
{
    while (at->readers != NONE) {
        uint32_t first = at->readers;

        at->readers = walk->readers[first].next;
        walk->readers[first].next = walk->free_reader;
        walk->free_reader = first;
    }
}

enum weir_status walk_add_reader(struct walk *walk, const struct place *place, uint32_t index)
{
    uint32_t at = walk->free_reader;
    struct segment *where = walk_segment(walk, place, index);

    if (where->readers != NONE && walk->readers[where->readers].node == walk->node.index) {
        return WEIR_OK;
    }
    if (at != NONE) {
        walk->free_reader = walk->readers[at].next;
    } else {
        enum weir_status status = array_grow_raw(&walk->readers, &walk->readers_room,
                                                 (size_t)walk->n_readers + 1, walk->err);

        if (status != WEIR_OK) {
            return status;
        }
        at = walk->n_readers++;
    }
    walk->readers[at] = (struct reader){walk->node.index, where->readers};
    where->readers = at;
    return WEIR_OK;
}

static int64_t charged_bytes(const struct graph *graph, weir_object object, weir_domain domain)
{
    int64_t size = graph->objects[object.index].size_bytes;
    int64_t granule = graph->domains[domain.index].granule_bytes;
    int64_t rest = granule > 0 ? size % granule : 0;

    return rest == 0 ? size : size + (granule - rest);
}

enum weir_status walk_begin_copy(struct walk *walk, weir_object root, uint32_t place_index,
                                 weir_node allocation, bool is_initial)
{
    struct binding *binding = walk->binding;
    struct place *place = &walk->places[place_index];
    weir_domain domain = {place->domain};
    enum weir_status status;

    status = array_grow_raw(&binding->copies, &binding->copies_room, (size_t)binding->n_copies + 1,
                            walk->err);
    if (status == WEIR_OK) {
        status = array_grow_raw(&walk->touch_of_copy, &walk->touch_of_copy_room,
                                (size_t)binding->n_copies + 1, walk->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    walk->touch_of_copy[binding->n_copies] = NONE;
    binding->copies[binding->n_copies] = (struct bind_copy){
        .object = root,
        .domain = domain,
        .bytes = charged_bytes(walk->graph, root, domain),
        .allocation = allocation,
        .reclamation = {NONE},
        .is_initial = is_initial,
    };
    place->copy = binding->n_copies++;
    for (uint32_t i = 0; i < walk_segments_in(walk, root); i++) {
        struct segment *at = walk_segment(walk, place, i);

        walk_drop_readers(walk, at);
        at->last_change = NONE;
        at->version = is_initial ? *walk_version(walk, root, i) : 0;
    }
    return WEIR_OK;
}

/* Records that the node at work touches the copy. */
enum weir_status walk_touch(struct walk *walk, uint32_t copy, uint32_t role)
{
    const uint32_t uses = BIND_READS | BIND_FILLS;
    struct binding *binding = walk->binding;
    uint32_t at = walk->touch_of_copy[copy];

    if (at == NONE || at < walk->first_touch) {
        enum weir_status status = array_grow_raw(&binding->touches, &binding->touches_room,
                                                 (size_t)binding->n_touches + 1, walk->err);

        if (status != WEIR_OK) {
            return status;
        }
        at = binding->n_touches++;
        binding->touches[at] = (struct bind_touch){{copy}, 0};
        walk->touch_of_copy[copy] = at;
    }
    if ((role & uses) != 0 && (binding->touches[at].roles & uses) == 0) {
        binding->copies[copy].n_uses++;
    }
    binding->touches[at].roles |= role;
    return WEIR_OK;
}

/* The node at work must follow the producer (NONE: nothing to follow). */
enum weir_status walk_follow(struct walk *walk, uint32_t producer, uint32_t copy,
                             enum edge_type type)
{
    if (producer == NONE || producer == walk->node.index ||
        walk->linked[producer] == walk->node.index + 1) {
        return WEIR_OK;
    }
    walk->linked[producer] = walk->node.index + 1;
    return binding_add_edge(walk->binding, (weir_node){producer}, walk->node, (weir_copy){copy},
                            type, walk->err);
}

enum weir_status walk_follow_readers(struct walk *walk, const struct segment *at, uint32_t copy,
                                     enum edge_type type)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = at->readers; i != NONE && status == WEIR_OK; i = walk->readers[i].next) {
        status = walk_follow(walk, walk->readers[i].node, copy, type);
    }
    return status;
}

/* Has any node but the one at work read the segment since its last change? */
bool walk_has_other_reader(const struct walk *walk, const struct segment *at)
{
    uint32_t first = at->readers;

    return first != NONE &&
           (walk->readers[first].node != walk->node.index || walk->readers[first].next != NONE);
}

static enum weir_status add_last(struct walk *walk, uint32_t copy, uint32_t node)
{
    const struct binding *binding = walk->binding;
    uint32_t newest = binding->copies[copy].last_use;

    if (node == NONE || (newest > 0 && binding->lasts[newest - 1].node.index == node)) {
        return WEIR_OK; /* neighbouring segments mostly share their last use */
    }
    return binding_add_last(walk->binding, (weir_copy){copy}, (weir_node){node}, walk->err);
}

enum weir_status walk_add_lasts(struct walk *walk, const struct place *place)
{
    uint32_t n = walk_segments_in(walk, walk->binding->copies[place->copy].object);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct segment *at = walk_segment(walk, place, i);

        if (at->readers == NONE) {
            status = add_last(walk, place->copy, at->last_change);
        }
        for (uint32_t k = at->readers; k != NONE && status == WEIR_OK; k = walk->readers[k].next) {
            status = add_last(walk, place->copy, walk->readers[k].node);
        }
    }
    return status;
}
