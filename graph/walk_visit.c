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
    if (!walk_is_valid(walk, source, &span)) {
        walk_complain(walk, walk_why_invalid(walk, source, &span), object, from, "copies");
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
    weir_domain home = walk_home(walk, span.root);
    const struct place *there = walk_live_place(walk, span.root, home);
    uint32_t index;
    enum weir_status status;

    if (there == NULL) {
        walk_complain(walk, FINDING_MAPPED_MISSING, object, home, "maps");
        return WEIR_OK;
    }
    status = walk_use_as_reader(walk, there, span.range);
    if (status == WEIR_OK) {
        status = walk_make_place(walk, span.root, walk->domain, &index);
    }
    for (uint32_t i = 0; status == WEIR_OK && i < span.range.count; i++) {
        walk_segment(walk, &walk->places[index], span.range.first + i)->mapping = walk->node.index;
    }
    return status;
}

static bool is_alias(struct walk *walk, weir_object object, const char *what)
{
    weir_object root = walk_span_of(walk, object).root;

    if (weir_same(root, object)) {
        return false;
    }
    walk_complain(walk, FINDING_ALIAS_STORAGE, object, walk->domain, what);
    report_name(walk->report, graph_object_name(walk->graph, root));
    return true;
}

static enum weir_status allocate_object(struct walk *walk, weir_object object)
{
    weir_domain domain = walk->domain;
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

static enum weir_status reclaim_object(struct walk *walk, weir_object object)
{
    weir_domain domain = walk->domain;
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
        walk_segment(walk, place, i)->version = 0;
        walk_drop_readers(walk, walk_segment(walk, place, i));
    }
    return status;
}

static enum weir_status visit_before_writes(struct walk *walk)
{
    weir_object object = {walk->row->object};

    if (!weir_is(object)) {
        return WEIR_OK;
    }
    switch ((enum node_kind)walk->row->kind) {
    case NODE_MAPPING:
        return map_object(walk, object);
    case NODE_ALLOCATION:
        return allocate_object(walk, object);
    case NODE_TRANSFER:
    case NODE_PREFETCH:
    case NODE_OFFLOAD:
        return copy_object(walk, object);
    case NODE_COMPUTE:
    case NODE_REMATERIALIZATION:
    case NODE_BARRIER:
    case NODE_RECLAMATION:
        return WEIR_OK;
    }
    return WEIR_OK;
}

static enum weir_status visit_reads(struct walk *walk)
{
    uint32_t n;
    const struct graph_access *reads = list_get(&walk->graph->accesses, walk->row->reads, &n);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = walk_read_object(walk, &reads[i]);
    }
    return status;
}

static enum weir_status visit_writes(struct walk *walk)
{
    uint32_t n;
    const weir_object *writes = list_get(&walk->graph->object_lists, walk->row->writes, &n);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = walk_fill_object(walk, writes[i], walk->domain, true);
    }
    return status;
}

enum weir_status walk_visit(struct walk *walk)
{
    const struct node_row *row = &walk->graph->nodes[walk->node.index];
    enum weir_status status;

    if ((row->object == NONE && row->reads == 0 && row->writes == 0) ||
        (row->rare != 0 && !graph_node_is_on(walk->graph, walk->node)) ||
        (walk->binding->is_out != NULL && walk->binding->is_out[walk->node.index])) {
        return WEIR_OK;
    }
    walk->row = row;
    walk->domain = graph_node_domain(walk->graph, walk->node);
    status = visit_reads(walk);
    if (status == WEIR_OK) {
        status = visit_before_writes(walk);
    }
    if (status == WEIR_OK) {
        status = visit_writes(walk);
    }
    if (status == WEIR_OK && row->kind == NODE_RECLAMATION && row->object != NONE) {
        status = reclaim_object(walk, (weir_object){row->object});
    }
    return status;
}
