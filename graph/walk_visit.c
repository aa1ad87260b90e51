/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each kind of node does to the object it acts on, and the order of its accesses: it reads,
 * then acts, then writes; a reclamation comes last. */
#include "graph/walk_internal.h"

static enum weir_status copy_object(struct walk *walk, weir_object object)
{
    struct span span = walk_span_of(walk, object);
    weir_domain from = graph_node_from(walk->graph, walk->node);
    weir_domain to = graph_node_to(walk->graph, walk->node);
    const struct place *source = walk_live_place(walk, span.root, from);
    enum weir_status status;

    if (!weir_is(to)) {
        walk_complain(walk, FINDING_BAD_COPY_NODE, object, to, "copies");
        return WEIR_OK;
    }
    if (source == NULL) {
        walk_complain(walk, FINDING_MISSING_COPY, object, from, "copies");
        return WEIR_OK;
    }
    if (!walk_is_valid(walk, source, span.range)) {
        walk_complain(walk, walk_why_invalid(walk, source, span.range), object, from, "copies");
        return WEIR_OK;
    }
    if (weir_same(from, to)) {
        walk_complain(walk, FINDING_SELF_COPY, object, from, "copies");
    }
    status = walk_use_as_reader(walk, source, span.range);
    return status == WEIR_OK ? walk_fill_object(walk, object, to, false) : status;
}

/* A mapping reads the home copy, valid or not, and makes it visible where the node works. */
static enum weir_status map_object(struct walk *walk, weir_object object)
{
    struct span span = walk_span_of(walk, object);
    weir_domain home = graph_object_home(walk->graph, span.root);
    const struct place *there = walk_live_place(walk, span.root, home);
    uint32_t index;
    enum weir_status status;

    if (there == NULL) {
        walk_complain(walk, FINDING_MAPPED_MISSING, object, home, "maps");
        return WEIR_OK;
    }
    status = walk_use_as_reader(walk, there, span.range);
    if (status == WEIR_OK) {
        status =
            walk_make_place(walk, span.root, graph_node_domain(walk->graph, walk->node), &index);
    }
    for (uint32_t i = 0; status == WEIR_OK && i < span.range.count; i++) {
        walk_segment(walk, &walk->places[index], span.range.first + i)->mapping = walk->node.index;
    }
    return status;
}

static bool is_alias(struct walk *walk, weir_object object, const char *what)
{
    weir_object root = graph_object_root(walk->graph, object, NULL);

    if (weir_same(root, object)) {
        return false;
    }
    walk_complain(walk, FINDING_ALIAS_STORAGE, object, graph_node_domain(walk->graph, walk->node),
                  what);
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
    status = walk_make_place(walk, object, domain, &index);
    if (status != WEIR_OK) {
        return status;
    }
    if (walk->places[index].copy != NONE) {
        walk_complain(walk, FINDING_ALLOCATED_TWICE, object, domain, "allocates");
        return WEIR_OK;
    }
    status = walk_begin_copy(walk, object, index, walk->node, false);
    if (status == WEIR_OK) {
        status = walk_touch(walk, walk->places[index].copy, BIND_ALLOCATES);
    }
    if (status == WEIR_OK) {
        status = walk_follow(walk, walk->places[index].last_reclaim, walk->places[index].copy,
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

    for (uint32_t i = 0; i < walk_segments_in(walk, root) && status == WEIR_OK; i++) {
        const struct segment *at = walk_segment(walk, place, i);

        is_changed |= at->last_change != NONE;
        if (!walk_has_other_reader(walk, at)) {
            status = walk_follow(walk, at->last_change, copy, EDGE_LIFETIME_HOLD);
        }
        if (status == WEIR_OK) {
            status = walk_follow_readers(walk, at, copy, EDGE_LIFETIME_HOLD);
        }
    }
    if (status == WEIR_OK && !is_changed) {
        status = walk_follow(walk, walk->binding->copies[copy].allocation.index, copy,
                             EDGE_LIFETIME_HOLD);
    }
    return status;
}

/* Mappings end with the home copy. */
static void drop_mappings(struct walk *walk, weir_object root)
{
    for (uint32_t at = walk->place_of[root.index]; at != NONE; at = walk->places[at].next) {
        for (uint32_t i = 0; i < walk_segments_in(walk, root); i++) {
            walk_segment(walk, &walk->places[at], i)->mapping = NONE;
        }
    }
}

static enum weir_status reclaim_object(struct walk *walk, weir_object object)
{
    weir_domain domain = graph_node_domain(walk->graph, walk->node);
    struct place *place = walk_live_place(walk, object, domain);
    enum weir_status status = WEIR_OK;

    if (is_alias(walk, object, "reclaims")) {
        return WEIR_OK;
    }
    if (place == NULL) {
        walk_complain(walk, FINDING_RECLAIMED_MISSING, object, domain, "reclaims");
        return WEIR_OK;
    }
    walk->binding->copies[place->copy].reclamation = walk->node;
    status = walk_touch(walk, place->copy, BIND_RECLAIMS);
    if (status == WEIR_OK && !walk->keeps_all) {
        status = follow_last_uses(walk, object, place);
    }
    if (status == WEIR_OK) {
        status = walk_add_lasts(walk, place);
    }
    place->copy = NONE;
    place->last_reclaim = walk->node.index;
    for (uint32_t i = 0; i < walk_segments_in(walk, object); i++) {
        walk_segment(walk, place, i)->is_valid = false;
        walk_drop_readers(walk, walk_segment(walk, place, i));
    }
    if (weir_same(domain, graph_object_home(walk->graph, object))) {
        drop_mappings(walk, object);
    }
    return status;
}

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

enum weir_status walk_visit(struct walk *walk)
{
    const struct graph *graph = walk->graph;
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    graph_node(graph, walk->node, &value);
    if (!touches_bytes(&value) || !graph_node_is_on(graph, walk->node)) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < value.n_reads && status == WEIR_OK; i++) {
        status = walk_read_object(walk, &value.reads[i]);
    }
    if (status == WEIR_OK) {
        status = visit_before_writes(walk, &value);
    }
    for (uint32_t i = 0; i < value.n_writes && status == WEIR_OK; i++) {
        status =
            walk_fill_object(walk, value.writes[i], graph_node_domain(graph, walk->node), true);
    }
    if (status == WEIR_OK && value.kind == NODE_RECLAMATION && weir_is(value.object)) {
        status = reclaim_object(walk, value.object);
    }
    return status;
}
