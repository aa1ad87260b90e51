/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk in program order: which copy each access means, which bytes of it are valid, and which
 * earlier nodes it must follow.
 *
 * A place is an object in a domain: at most one copy lives there at a time. Each place has a state
 * for each segment of its object. What is wrong is reported and then skipped, so that one mistake
 * gives one finding and not a trail of them. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/bind_internal.h"
#include "graph/segments.h"

#define NONE WEIR_NONE

/* Nodes that read a segment since its last change: a list in a pool. */
struct reader {
    uint32_t node, next;
};

struct segment {
    uint32_t last_change; /* the node; NONE since the copy began */
    uint32_t readers;     /* first of the list; NONE */
    uint32_t mapping;     /* the last node that mapped the home copy into this domain; NONE */
    bool is_valid;
};

struct place {
    uint32_t domain;
    uint32_t next;         /* place of the same root; NONE */
    uint32_t copy;         /* the live one; NONE */
    uint32_t last_reclaim; /* the node that ended the copy before; NONE */
    uint32_t segments;     /* index of its first segment */
};

struct walk {
    struct binding *binding;
    const struct graph *graph;
    struct report *report;
    struct weir_error *err;
    bool keeps_all; /* every hazard, not only those that no others imply */

    struct segments cut;
    uint32_t *place_of;   /* first place by root object; NONE */
    uint32_t *n_segments; /* by root; NULL when all have one */

    struct place *places;
    size_t places_room;
    uint32_t n_places;
    struct segment *segments;
    size_t segments_room;
    uint32_t n_segments_used;
    struct reader *readers;
    size_t readers_room;
    uint32_t n_readers, free_reader;

    uint32_t *touch_of_copy; /* the copy's newest touch */
    size_t touch_of_copy_room;
    uint32_t *linked; /* by producer: the consumer of its newest edge, plus one */

    weir_node node; /* at work */
    uint32_t first_touch;
};

/* What an access covers: segments of its root. */
struct span {
    weir_object object, root;
    struct segment_range range;
};

static const char *node_text(const struct walk *walk)
{
    return graph_node_name(walk->graph, walk->node);
}

static const char *domain_text(const struct walk *walk, weir_domain domain)
{
    return weir_is(domain) ? graph_text(walk->graph, graph_domain(walk->graph, domain)->name)
                           : "(none)";
}

/* Reports a misuse of an object by the node at work. */
static void complain(struct walk *walk, enum finding_code code, weir_object object,
                     weir_domain domain, const char *what)
{
    const char *name = graph_object_name(walk->graph, object);

    report_add(walk->report, code, (struct report_at){NULL, 0, 0}, "node %s %s object %s in %s: %s",
               node_text(walk), what, name, domain_text(walk, domain), finding_summary(code));
    report_name(walk->report, node_text(walk));
    report_name(walk->report, name);
}

static struct span span_of(const struct walk *walk, weir_object object)
{
    struct span span;

    span.object = object;
    span.root = graph_object_root(walk->graph, object, NULL);
    span.range = segments_of(&walk->cut, object);
    return span;
}

/* --- places ------------------------------------------------------------------------------- */

static struct place *find_place(const struct walk *walk, weir_object root, weir_domain domain)
{
    uint32_t at = walk->place_of[root.index];

    while (at != NONE && walk->places[at].domain != domain.index) {
        at = walk->places[at].next;
    }
    return at == NONE ? NULL : &walk->places[at];
}

static struct place *live_place(const struct walk *walk, weir_object root, weir_domain domain)
{
    struct place *place = find_place(walk, root, domain);

    return place != NULL && place->copy != NONE ? place : NULL;
}

static uint32_t segments_in(const struct walk *walk, weir_object root)
{
    return walk->n_segments == NULL ? 1 : walk->n_segments[root.index];
}

/* Finds or makes the place; *index is its number, since a later call may move it. */
static enum weir_status make_place(struct walk *walk, weir_object root, weir_domain domain,
                                   uint32_t *index)
{
    struct place *found = find_place(walk, root, domain);
    uint32_t count = segments_in(walk, root);
    enum weir_status status;

    if (found != NULL) {
        *index = (uint32_t)(found - walk->places);
        return WEIR_OK;
    }
    status = array_grow(&walk->places, &walk->places_room, (size_t)walk->n_places + 1, walk->err);
    if (status == WEIR_OK) {
        status = array_grow(&walk->segments, &walk->segments_room,
                            (size_t)walk->n_segments_used + count, walk->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        walk->segments[walk->n_segments_used + i] = (struct segment){NONE, NONE, NONE, false};
    }
    walk->places[walk->n_places] =
        (struct place){domain.index, walk->place_of[root.index], NONE, NONE, walk->n_segments_used};
    walk->place_of[root.index] = walk->n_places;
    walk->n_segments_used += count;
    *index = walk->n_places++;
    return WEIR_OK;
}

static struct segment *segment(const struct walk *walk, const struct place *place, uint32_t index)
{
    return &walk->segments[place->segments + index];
}

static void drop_readers(struct walk *walk, struct segment *at)
{
    while (at->readers != NONE) {
        uint32_t first = at->readers;

        at->readers = walk->readers[first].next;
        walk->readers[first].next = walk->free_reader;
        walk->free_reader = first;
    }
}

static enum weir_status add_reader(struct walk *walk, const struct place *place, uint32_t index)
{
    uint32_t at = walk->free_reader;
    struct segment *where = segment(walk, place, index);

    if (where->readers != NONE && walk->readers[where->readers].node == walk->node.index) {
        return WEIR_OK;
    }
    if (at != NONE) {
        walk->free_reader = walk->readers[at].next;
    } else {
        enum weir_status status =
            array_grow(&walk->readers, &walk->readers_room, (size_t)walk->n_readers + 1, walk->err);

        if (status != WEIR_OK) {
            return status;
        }
        at = walk->n_readers++;
    }
    walk->readers[at] = (struct reader){walk->node.index, where->readers};
    where->readers = at;
    return WEIR_OK;
}

/* --- copies and touches --------------------------------------------------------------------- */

static int64_t charged_bytes(const struct graph *graph, weir_object object, weir_domain domain)
{
    struct graph_object value;
    int64_t granule = graph_domain(graph, domain)->granule_bytes;
    int64_t rest;

    graph_object(graph, object, &value);
    rest = granule > 0 ? value.size_bytes % granule : 0;
    return rest == 0 ? value.size_bytes : value.size_bytes + (granule - rest);
}

static enum weir_status begin_copy(struct walk *walk, weir_object root, uint32_t place_index,
                                   weir_node allocation, bool is_initial)
{
    struct binding *binding = walk->binding;
    struct place *place = &walk->places[place_index];
    weir_domain domain = {place->domain};
    enum weir_status status;

    status = array_grow(&binding->copies, &binding->copies_room, (size_t)binding->n_copies + 1,
                        walk->err);
    if (status == WEIR_OK) {
        status = array_grow(&walk->touch_of_copy, &walk->touch_of_copy_room,
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
    for (uint32_t i = 0; i < segments_in(walk, root); i++) {
        struct segment *at = segment(walk, place, i);

        drop_readers(walk, at);
        at->last_change = NONE;
        at->is_valid = is_initial;
    }
    return WEIR_OK;
}

/* Records that the node at work touches the copy. */
static enum weir_status touch(struct walk *walk, uint32_t copy, uint32_t role)
{
    const uint32_t uses = BIND_READS | BIND_FILLS;
    struct binding *binding = walk->binding;
    uint32_t at = walk->touch_of_copy[copy];

    if (at == NONE || at < walk->first_touch) {
        enum weir_status status = array_grow(&binding->touches, &binding->touches_room,
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
static enum weir_status follow(struct walk *walk, uint32_t producer, uint32_t copy,
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

static enum weir_status follow_readers(struct walk *walk, const struct segment *at, uint32_t copy,
                                       enum edge_type type)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = at->readers; i != NONE && status == WEIR_OK; i = walk->readers[i].next) {
        status = follow(walk, walk->readers[i].node, copy, type);
    }
    return status;
}

/* Has any node but the one at work read the segment since its last change? */
static bool has_other_reader(const struct walk *walk, const struct segment *at)
{
    uint32_t first = at->readers;

    return first != NONE &&
           (walk->readers[first].node != walk->node.index || walk->readers[first].next != NONE);
}

/* --- reading ------------------------------------------------------------------------------ */

static bool is_valid(const struct walk *walk, const struct place *place, struct segment_range range)
{
    for (uint32_t i = 0; i < range.count; i++) {
        if (!segment(walk, place, range.first + i)->is_valid) {
            return false;
        }
    }
    return true;
}

/* Some bytes are not valid: were they valid once, or did nothing ever write them? */
static enum finding_code why_invalid(const struct walk *walk, const struct place *place,
                                     struct segment_range range)
{
    for (uint32_t i = 0; i < range.count; i++) {
        const struct segment *at = segment(walk, place, range.first + i);
        bool was_initial = walk->binding->copies[place->copy].is_initial;

        if (!at->is_valid && at->last_change == NONE && !was_initial) {
            return FINDING_UNWRITTEN;
        }
    }
    return FINDING_STALE_COPY;
}

/* Readers of an initial copy wait for the object to be ready. */
static enum weir_status wait_until_ready(struct walk *walk, const struct bind_copy *copy)
{
    struct binding *binding = walk->binding;
    struct graph_object value;

    if (!copy->is_initial) {
        return WEIR_OK;
    }
    graph_object(walk->graph, copy->object, &value);
    if (value.ready_ns <= 0) {
        return WEIR_OK;
    }
    if (binding->ready_ns == NULL) {
        binding->ready_ns = calloc(graph_n_nodes(walk->graph), sizeof *binding->ready_ns);
        if (binding->ready_ns == NULL) {
            return weir_error_memory(walk->err);
        }
    }
    if (binding->ready_ns[walk->node.index] < value.ready_ns) {
        binding->ready_ns[walk->node.index] = value.ready_ns;
    }
    return WEIR_OK;
}

/* The node at work reads the segments of the live copy at that place. */
static enum weir_status use_as_reader(struct walk *walk, const struct place *place,
                                      struct segment_range range)
{
    uint32_t copy = place->copy;
    enum weir_status status = touch(walk, copy, BIND_READS);

    if (status == WEIR_OK) {
        status = wait_until_ready(walk, &walk->binding->copies[copy]);
    }
    for (uint32_t i = 0; i < range.count && status == WEIR_OK; i++) {
        status =
            follow(walk, segment(walk, place, range.first + i)->last_change, copy, EDGE_DATA_READY);
        if (status == WEIR_OK) {
            status = add_reader(walk, place, range.first + i);
        }
    }
    return status;
}

static enum weir_status read_valid(struct walk *walk, const struct span *span,
                                   const struct place *place)
{
    if (!is_valid(walk, place, span->range)) {
        complain(walk, why_invalid(walk, place, span->range), span->object,
                 (weir_domain){place->domain}, "reads");
        return WEIR_OK;
    }
    return use_as_reader(walk, place, span->range);
}

/* Reads the home copy from afar. */
static enum weir_status read_mapped(struct walk *walk, const struct span *span, weir_domain from)
{
    weir_domain home = graph_object_home(walk->graph, span->root);
    const struct place *there = live_place(walk, span->root, home);
    const struct place *here = find_place(walk, span->root, from);

    if (there == NULL) {
        complain(walk, FINDING_MISSING_COPY, span->object, from, "reads");
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < span->range.count; i++) {
        if (here == NULL || segment(walk, here, span->range.first + i)->mapping == NONE) {
            complain(walk, FINDING_NO_MAPPING, span->object, from, "reads");
            return WEIR_OK;
        }
    }
    for (uint32_t i = 0; i < span->range.count; i++) {
        enum weir_status status = follow(walk, segment(walk, here, span->range.first + i)->mapping,
                                         there->copy, EDGE_DATA_READY);

        if (status != WEIR_OK) {
            return status;
        }
    }
    return read_valid(walk, span, there);
}

static enum weir_status read_object(struct walk *walk, const struct graph_access *access)
{
    struct span span = span_of(walk, access->object);
    weir_domain domain =
        weir_is(access->domain) ? access->domain : graph_node_domain(walk->graph, walk->node);
    const struct place *place = live_place(walk, span.root, domain);

    if (place != NULL) {
        return read_valid(walk, &span, place);
    }
    if (weir_is(access->domain) || weir_same(domain, graph_object_home(walk->graph, span.root))) {
        complain(walk, FINDING_MISSING_COPY, access->object, domain, "reads");
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

        status = follow(walk, allocation, place->copy, EDGE_STORAGE_READY);
        if (status == WEIR_OK && (walk->keeps_all || allocation == NONE)) {
            status = follow(walk, place->last_reclaim, place->copy, EDGE_STORAGE_READY);
        }
    } else if (walk->keeps_all || !has_other_reader(walk, at)) {
        status = follow(walk, at->last_change, place->copy, EDGE_STORAGE_READY);
    }
    return status == WEIR_OK ? follow_readers(walk, at, place->copy, EDGE_STORAGE_READY) : status;
}

/* A write leaves the bytes of every other copy stale. */
static void invalidate_others(struct walk *walk, const struct span *span, uint32_t kept)
{
    for (uint32_t at = walk->place_of[span->root.index]; at != NONE; at = walk->places[at].next) {
        for (uint32_t i = 0; at != kept && i < span->range.count; i++) {
            segment(walk, &walk->places[at], span->range.first + i)->is_valid = false;
        }
    }
}

/* The node at work changes the object's bytes in the domain, whose copy begins when there is none.
 * @param is_write the new bytes differ from those of the other copies */
static enum weir_status fill_object(struct walk *walk, weir_object object, weir_domain domain,
                                    bool is_write)
{
    struct span span = span_of(walk, object);
    uint32_t index;
    enum weir_status status = make_place(walk, span.root, domain, &index);

    if (status == WEIR_OK && walk->places[index].copy == NONE) {
        status = begin_copy(walk, span.root, index, (weir_node){NONE}, false);
    }
    if (status == WEIR_OK) {
        status = touch(walk, walk->places[index].copy, BIND_FILLS);
    }
    for (uint32_t i = 0; i < span.range.count && status == WEIR_OK; i++) {
        struct segment *at = segment(walk, &walk->places[index], span.range.first + i);

        status = follow_before_change(walk, &walk->places[index], at);
        drop_readers(walk, at);
        at->last_change = walk->node.index;
        at->is_valid = true;
    }
    if (is_write) {
        invalidate_others(walk, &span, index);
    }
    return status;
}

/* --- the kinds that act on an object -------------------------------------------------------- */

static enum weir_status copy_object(struct walk *walk, weir_object object)
{
    struct span span = span_of(walk, object);
    weir_domain from = graph_node_from(walk->graph, walk->node);
    weir_domain to = graph_node_to(walk->graph, walk->node);
    const struct place *source = live_place(walk, span.root, from);
    enum weir_status status;

    if (!weir_is(to)) {
        complain(walk, FINDING_BAD_COPY_NODE, object, to, "copies");
        return WEIR_OK;
    }
    if (source == NULL) {
        complain(walk, FINDING_MISSING_COPY, object, from, "copies");
        return WEIR_OK;
    }
    if (!is_valid(walk, source, span.range)) {
        complain(walk, why_invalid(walk, source, span.range), object, from, "copies");
        return WEIR_OK;
    }
    if (weir_same(from, to)) {
        complain(walk, FINDING_SELF_COPY, object, from, "copies");
    }
    status = use_as_reader(walk, source, span.range);
    return status == WEIR_OK ? fill_object(walk, object, to, false) : status;
}

/* A mapping reads the home copy, valid or not, and makes it visible where the node works. */
static enum weir_status map_object(struct walk *walk, weir_object object)
{
    struct span span = span_of(walk, object);
    weir_domain home = graph_object_home(walk->graph, span.root);
    const struct place *there = live_place(walk, span.root, home);
    uint32_t index;
    enum weir_status status;

    if (there == NULL) {
        complain(walk, FINDING_MAPPED_MISSING, object, home, "maps");
        return WEIR_OK;
    }
    status = use_as_reader(walk, there, span.range);
    if (status == WEIR_OK) {
        status = make_place(walk, span.root, graph_node_domain(walk->graph, walk->node), &index);
    }
    for (uint32_t i = 0; status == WEIR_OK && i < span.range.count; i++) {
        segment(walk, &walk->places[index], span.range.first + i)->mapping = walk->node.index;
    }
    return status;
}

static bool is_alias(struct walk *walk, weir_object object, const char *what)
{
    weir_object root = graph_object_root(walk->graph, object, NULL);

    if (weir_same(root, object)) {
        return false;
    }
    complain(walk, FINDING_ALIAS_STORAGE, object, graph_node_domain(walk->graph, walk->node), what);
    report_name(walk->report, graph_object_name(walk->graph, root));
    return true;
}

static enum weir_status allocate_object(struct walk *walk, weir_object object)
{
    weir_domain domain = graph_node_domain(walk->graph, walk->node);
    uint32_t index;
    enum weir_status status;

    if (is_alias(walk, object, "allocates")) {
        return WEIR_OK;
    }
    status = make_place(walk, object, domain, &index);
    if (status != WEIR_OK) {
        return status;
    }
    if (walk->places[index].copy != NONE) {
        complain(walk, FINDING_ALLOCATED_TWICE, object, domain, "allocates");
        return WEIR_OK;
    }
    status = begin_copy(walk, object, index, walk->node, false);
    if (status == WEIR_OK) {
        status = touch(walk, walk->places[index].copy, BIND_ALLOCATES);
    }
    if (status == WEIR_OK) {
        status = follow(walk, walk->places[index].last_reclaim, walk->places[index].copy,
                        EDGE_STORAGE_READY);
    }
    return status;
}

/* Uses that no later change covers, and the allocation when nothing changed; the rest of a copy's
 * uses lie before these. */
static enum weir_status follow_last_uses(struct walk *walk, weir_object root,
                                         const struct place *place)
{
    uint32_t copy = place->copy;
    bool is_changed = false;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < segments_in(walk, root) && status == WEIR_OK; i++) {
        const struct segment *at = segment(walk, place, i);

        is_changed |= at->last_change != NONE;
        if (!has_other_reader(walk, at)) {
            status = follow(walk, at->last_change, copy, EDGE_LIFETIME_HOLD);
        }
        if (status == WEIR_OK) {
            status = follow_readers(walk, at, copy, EDGE_LIFETIME_HOLD);
        }
    }
    if (status == WEIR_OK && !is_changed) {
        status =
            follow(walk, walk->binding->copies[copy].allocation.index, copy, EDGE_LIFETIME_HOLD);
    }
    return status;
}

/* Mappings end with the home copy. */
static void drop_mappings(struct walk *walk, weir_object root)
{
    for (uint32_t at = walk->place_of[root.index]; at != NONE; at = walk->places[at].next) {
        for (uint32_t i = 0; i < segments_in(walk, root); i++) {
            segment(walk, &walk->places[at], i)->mapping = NONE;
        }
    }
}

static enum weir_status reclaim_object(struct walk *walk, weir_object object)
{
    weir_domain domain = graph_node_domain(walk->graph, walk->node);
    struct place *place = live_place(walk, object, domain);
    enum weir_status status = WEIR_OK;

    if (is_alias(walk, object, "reclaims")) {
        return WEIR_OK;
    }
    if (place == NULL) {
        complain(walk, FINDING_RECLAIMED_MISSING, object, domain, "reclaims");
        return WEIR_OK;
    }
    walk->binding->copies[place->copy].reclamation = walk->node;
    status = touch(walk, place->copy, BIND_RECLAIMS);
    if (status == WEIR_OK && !walk->keeps_all) {
        status = follow_last_uses(walk, object, place);
    }
    place->copy = NONE;
    place->last_reclaim = walk->node.index;
    for (uint32_t i = 0; i < segments_in(walk, object); i++) {
        segment(walk, place, i)->is_valid = false;
        drop_readers(walk, segment(walk, place, i));
    }
    if (weir_same(domain, graph_object_home(walk->graph, object))) {
        drop_mappings(walk, object);
    }
    return status;
}

/* --- the walk ----------------------------------------------------------------------------- */

static bool touches_bytes(const struct graph_node *value)
{
    return weir_is(value->object) || value->n_reads > 0 || value->n_writes > 0;
}

static enum weir_status visit_before_writes(struct walk *walk, const struct graph_node *value)
{
    if (!weir_is(value->object)) {
        return WEIR_OK;
    }
    switch (value->kind) {
    case NODE_MAPPING:
        return map_object(walk, value->object);
    case NODE_ALLOCATION:
        return allocate_object(walk, value->object);
    case NODE_TRANSFER:
    case NODE_PREFETCH:
    case NODE_OFFLOAD:
        return copy_object(walk, value->object);
    case NODE_COMPUTE:
    case NODE_REMATERIALIZATION:
    case NODE_BARRIER:
    case NODE_RECLAMATION:
        return WEIR_OK;
    }
    return WEIR_OK;
}

static enum weir_status visit(struct walk *walk)
{
    const struct graph *graph = walk->graph;
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    graph_node(graph, walk->node, &value);
    if (!touches_bytes(&value) || !graph_node_is_on(graph, walk->node)) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < value.n_reads && status == WEIR_OK; i++) {
        status = read_object(walk, &value.reads[i]);
    }
    if (status == WEIR_OK) {
        status = visit_before_writes(walk, &value);
    }
    for (uint32_t i = 0; i < value.n_writes && status == WEIR_OK; i++) {
        status = fill_object(walk, value.writes[i], graph_node_domain(graph, walk->node), true);
    }
    if (status == WEIR_OK && value.kind == NODE_RECLAMATION && weir_is(value.object)) {
        status = reclaim_object(walk, value.object);
    }
    return status;
}

static enum weir_status begin_initial_copies(struct walk *walk)
{
    for (uint32_t i = 0; i < graph_n_objects(walk->graph); i++) {
        weir_object object = {i};
        struct graph_object value;
        uint32_t index;
        enum weir_status status;

        graph_object(walk->graph, object, &value);
        if (!value.is_initial || weir_is(value.alias_of)) {
            continue;
        }
        status = make_place(walk, object, graph_object_home(walk->graph, object), &index);
        if (status == WEIR_OK) {
            status = begin_copy(walk, object, index, (weir_node){NONE}, true);
        }
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

/* A retained object must be whole at home when all is done. */
static void check_retained(struct walk *walk)
{
    for (uint32_t i = 0; i < graph_n_objects(walk->graph); i++) {
        struct span span = span_of(walk, (weir_object){i});
        struct graph_object value;
        weir_domain home;
        const struct place *place;

        graph_object(walk->graph, span.object, &value);
        if (!value.is_retained) {
            continue;
        }
        home = graph_object_home(walk->graph, span.root);
        place = live_place(walk, span.root, home);
        if (place == NULL || !is_valid(walk, place, span.range)) {
            const char *name = graph_object_name(walk->graph, span.object);

            report_add(walk->report, FINDING_RETAINED_GONE, (struct report_at){NULL, 0, 0},
                       "object %s is retained, but its copy in %s is %s at the end", name,
                       domain_text(walk, home), place == NULL ? "missing" : "stale");
            report_name(walk->report, name);
        }
    }
}

static enum weir_status add_last(struct walk *walk, const struct place *place, uint32_t node)
{
    if (node == NONE || walk->linked[node] == place->copy + 1) {
        return WEIR_OK;
    }
    walk->linked[node] = place->copy + 1;
    return binding_add_last(walk->binding, (weir_copy){place->copy}, (weir_node){node}, walk->err);
}

/* The uses after which a copy that is live at the end of the program ends by itself. */
static enum weir_status collect_lasts(struct walk *walk)
{
    enum weir_status status = WEIR_OK;

    memset(walk->linked, 0, (size_t)graph_n_nodes(walk->graph) * sizeof *walk->linked);
    for (uint32_t i = 0; i < walk->n_places; i++) {
        const struct place *place = &walk->places[i];
        uint32_t n_segments;

        if (place->copy == NONE) {
            continue;
        }
        n_segments = segments_in(walk, walk->binding->copies[place->copy].object);
        for (uint32_t j = 0; j < n_segments && status == WEIR_OK; j++) {
            const struct segment *at = segment(walk, place, j);

            if (at->readers == NONE) {
                status = add_last(walk, place, at->last_change);
            }
            for (uint32_t k = at->readers; k != NONE && status == WEIR_OK;
                 k = walk->readers[k].next) {
                status = add_last(walk, place, walk->readers[k].node);
            }
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
    for (uint32_t i = 0; i < graph_n_objects(walk->graph); i++) {
        weir_object root = graph_object_root(walk->graph, (weir_object){i}, NULL);
        struct graph_object value;
        const struct place *place;

        graph_object(walk->graph, (weir_object){i}, &value);
        place =
            value.is_retained ? live_place(walk, root, graph_object_home(walk->graph, root)) : NULL;
        if (place != NULL) {
            binding->copies[place->copy].stays = true;
        }
    }
}

static enum weir_status count_segments(struct walk *walk)
{
    uint32_t n_objects = graph_n_objects(walk->graph);

    if (walk->cut.ranges == NULL) {
        return WEIR_OK;
    }
    walk->n_segments = malloc((size_t)n_objects * sizeof *walk->n_segments);
    if (walk->n_segments == NULL) {
        return weir_error_memory(walk->err);
    }
    for (uint32_t i = 0; i < n_objects; i++) {
        walk->n_segments[i] = walk->cut.ranges[i].count; /* a root covers all of itself */
    }
    return WEIR_OK;
}

static enum weir_status walk_begin(struct walk *walk)
{
    uint32_t n_nodes = graph_n_nodes(walk->graph), n_objects = graph_n_objects(walk->graph);
    enum weir_status status = segments_cut(walk->graph, &walk->cut, walk->err);

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
    free(walk->n_segments);
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
        status = visit(&walk);
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
