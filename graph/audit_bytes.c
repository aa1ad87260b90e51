/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies without a purpose, in the wrong place, or larger than their place; views that cut into each
 * other. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

/* --- copies without a purpose --- */

/* Is what the node fills read or held later, or kept as a result? */
static bool has_consumer(const struct audit *audit, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t reader = audit->last_reader[touches[i].copy.index];

        if ((touches[i].roles & BIND_FILLS) != 0 &&
            ((reader != WEIR_NONE && reader > node) ||
             bind_copy(audit->binding, touches[i].copy)->stays)) {
            return true;
        }
    }
    return false;
}

/* Does the copy that it moves away make room, by a reclamation behind it? */
static bool opens_window(const struct audit *audit, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        weir_node reclamation = bind_copy(audit->binding, touches[i].copy)->reclamation;

        if ((touches[i].roles & BIND_READS) != 0 && weir_is(reclamation) &&
            reclamation.index > node) {
            return true;
        }
    }
    return false;
}

static bool has_purpose(const struct audit *audit, uint32_t node)
{
    const struct node_row *row = &audit->graph->nodes[node];
    uint32_t n;

    if (rare_get(&audit->graph->rares, row->rare, NODE_RARE_DEADLINE, -1) >= 0) {
        return true;
    }
    (void)bind_touches(audit->binding, (weir_node){node}, &n);
    if (n == 0) { /* without bytes only edges tell whom it serves */
        return audit->analysis.next.first[node] != audit->analysis.next.first[node + 1];
    }
    return has_consumer(audit, node) || (row->kind == NODE_OFFLOAD && opens_window(audit, node));
}

static void check_purpose(struct audit *audit, uint32_t node)
{
    enum node_kind kind = (enum node_kind)audit->graph->nodes[node].kind;

    if (has_purpose(audit, node) || !audit_takes(audit, FINDING_NO_CONSUMER)) {
        return;
    }
    report_add(audit->report, FINDING_NO_CONSUMER, NOWHERE,
               "%s %s: no node reads what it brings, and it has no deadline%s",
               node_kind_name(kind), audit_node(audit, node),
               kind == NODE_OFFLOAD ? "; no reclamation of its source follows it" : "");
    report_name(audit->report, audit_node(audit, node));
}

/* --- places --- */

/* An object with more placements than this has them in a table. */
#define SCANNED_PLACEMENTS 16

struct placements {
    struct keys *table; /* by (object, domain); NULL before the first object with many */
    bool *is_entered;   /* by object; NULL likewise */
};

static enum weir_status enter_placements(const struct audit *audit, weir_object id,
                                         const struct graph_object *object,
                                         struct placements *placements)
{
    enum weir_status status = WEIR_OK;

    if (placements->table == NULL) {
        placements->table = keys_new();
        placements->is_entered =
            calloc((size_t)audit->graph->n_objects + 1, sizeof *placements->is_entered);
    }
    if (placements->table == NULL || placements->is_entered == NULL) {
        return weir_error_memory(audit->err);
    }
    for (uint32_t i = 0;
         !placements->is_entered[id.index] && i < object->n_placements && status == WEIR_OK; i++) {
        struct key key = {{id.index, object->placements[i].index, 0, 0}};

        status = keys_put(placements->table, &key, i, audit->err);
    }
    placements->is_entered[id.index] = true;
    return status;
}

/* An object with many has been entered. */
static bool is_placement(const struct placements *placements, weir_object id,
                         const struct graph_object *object, weir_domain domain)
{
    if (object->n_placements > SCANNED_PLACEMENTS) {
        struct key key = {{id.index, domain.index, 0, 0}};

        return keys_find(placements->table, &key) != KEYS_NONE;
    }
    for (uint32_t i = 0; i < object->n_placements; i++) {
        if (weir_same(object->placements[i], domain)) {
            return true;
        }
    }
    return object->n_placements == 0;
}

static enum weir_status check_place(struct audit *audit, uint32_t node,
                                    const struct bind_copy *copy, struct placements *placements)
{
    struct graph_object object;
    enum weir_status status = WEIR_OK;

    graph_object(audit->graph, copy->object, &object);
    if (object.n_placements > SCANNED_PLACEMENTS) {
        status = enter_placements(audit, copy->object, &object, placements);
    }
    if (status != WEIR_OK || is_placement(placements, copy->object, &object, copy->domain) ||
        !audit_takes(audit, FINDING_BAD_PLACEMENT)) {
        return status;
    }
    report_add(audit->report, FINDING_BAD_PLACEMENT, NOWHERE,
               "node %s puts object %s into %s, which is none of its placements",
               audit_node(audit, node), graph_object_name(audit->graph, copy->object),
               audit_domain(audit, copy->domain));
    report_name(audit->report, audit_node(audit, node));
    report_name(audit->report, graph_object_name(audit->graph, copy->object));
    return WEIR_OK;
}

static enum weir_status check_places(struct audit *audit, uint32_t node,
                                     struct placements *placements)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct bind_copy *copy = bind_copy(audit->binding, touches[i].copy);

        if ((touches[i].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
            audit->graph->objects[copy->object.index].rare != 0) {
            status = check_place(audit, node, copy, placements);
        }
    }
    return status;
}

/* Where the graph says of some objects that they may move, moving another is against it. */
static void check_offload(struct audit *audit, uint32_t node)
{
    const struct node_row *row = &audit->graph->nodes[node];
    weir_object root;

    if (row->kind != NODE_OFFLOAD || row->object == WEIR_NONE) {
        return;
    }
    root = graph_object_root(audit->graph, (weir_object){row->object}, NULL);
    if (((audit->graph->objects[row->object].flags | audit->graph->objects[root.index].flags) &
         OBJECT_IS_OFFLOADABLE) == 0 &&
        audit_takes(audit, FINDING_NOT_OFFLOADABLE)) {
        report_add(audit->report, FINDING_NOT_OFFLOADABLE, NOWHERE,
                   "offload %s moves object %s, which is not said to be offloadable, as others are",
                   audit_node(audit, node), graph_object_name(audit->graph, root));
        report_name(audit->report, audit_node(audit, node));
        report_name(audit->report, graph_object_name(audit->graph, root));
    }
}

/* --- capacity --- */

/* @param node WEIR_NONE: the initial copies */
static void tell_shortage(struct audit *audit, uint32_t node, uint32_t domain, int64_t bytes,
                          int64_t room)
{
    const char *where = audit_domain(audit, (weir_domain){domain});

    if (!audit_takes(audit, FINDING_OVER_CAPACITY)) {
        return;
    }
    if (node == WEIR_NONE) {
        report_add(audit->report, FINDING_OVER_CAPACITY, NOWHERE,
                   "the initial copies in %s take %" PRId64 " bytes of %" PRId64
                   ": no schedule has room for them",
                   where, bytes, room);
    } else {
        report_add(audit->report, FINDING_OVER_CAPACITY, NOWHERE,
                   "while node %s runs, %" PRId64 " bytes are live in %s, which has %" PRId64
                   ": no schedule has room for it",
                   audit_node(audit, node), bytes, where, room);
        report_name(audit->report, audit_node(audit, node));
    }
    report_name(audit->report, where);
}

static int64_t room_of(const struct graph *graph, uint32_t domain)
{
    return graph->domains[domain].capacity_bytes - graph->domains[domain].reserve_bytes;
}

static void check_needs(struct audit *audit, int64_t *always)
{
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        weir_domain domain;
        int64_t live;

        if (audit_runs(audit, i) &&
            analyze_never_fits(audit->binding, (weir_node){i}, always, &domain, &live)) {
            tell_shortage(audit, i, domain.index, live, room_of(audit->graph, domain.index));
        }
    }
}

static enum weir_status check_capacity(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    size_t n_domains = (size_t)graph->n_domains + 1;
    int64_t *always = calloc(n_domains, sizeof *always);
    int64_t *initial = calloc(n_domains, sizeof *initial);
    int64_t *charges = calloc(n_domains, sizeof *charges);
    bool is_short = false;

    if (always == NULL || initial == NULL || charges == NULL) {
        free(always);
        free(initial);
        free(charges);
        return weir_error_memory(audit->err);
    }
    analyze_always(audit->binding, always, initial);
    for (uint32_t d = 0; d < graph->n_domains; d++) {
        if (initial[d] > room_of(graph, d)) {
            tell_shortage(audit, WEIR_NONE, d, initial[d], room_of(graph, d));
            is_short = true;
        }
    }
    if (!is_short && !analyze_all_fits(audit->binding, initial, charges)) {
        check_needs(audit, always);
    }
    free(always);
    free(initial);
    free(charges);
    return WEIR_OK;
}

/* --- views --- */

struct view {
    uint32_t root, object;
    int64_t begin, end;
};

static int by_place(const void *a, const void *b)
{
    const struct view *x = a, *y = b;

    if (x->root != y->root) {
        return x->root < y->root ? -1 : 1;
    }
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end > y->end ? -1 : 1; /* the outer one first */
    }
    return x->object < y->object ? -1 : 1;
}

/* Of the views so far the one that reaches farthest and does not hold this one whole. */
static void check_view(struct audit *audit, const struct view *before, const struct view *view)
{
    const char *root = graph_object_name(audit->graph, (weir_object){view->root});
    const char *a = graph_object_name(audit->graph, (weir_object){before->object});
    const char *b = graph_object_name(audit->graph, (weir_object){view->object});

    if (view->begin >= before->end || view->end <= before->end || view->begin == before->begin ||
        !audit_takes(audit, FINDING_ALIAS_OVERLAP)) {
        return;
    }
    report_add(audit->report, FINDING_ALIAS_OVERLAP, NOWHERE,
               "aliases %s and %s of object %s share its bytes %" PRId64 " to %" PRId64
               ", and neither holds the other",
               a, b, root, view->begin, before->end);
    report_name(audit->report, a);
    report_name(audit->report, b);
    report_name(audit->report, root);
}

static enum weir_status check_views(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    struct view *views;
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph->n_objects; i++) {
        n += graph->objects[i].alias_of != WEIR_NONE ? 1 : 0;
    }
    views = malloc(((size_t)n + 1) * sizeof *views);
    if (views == NULL) {
        return weir_error_memory(audit->err);
    }
    n = 0;
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        int64_t begin;

        if (graph->objects[i].alias_of != WEIR_NONE) {
            uint32_t root = graph_object_root(graph, (weir_object){i}, &begin).index;

            views[n++] = (struct view){root, i, begin, begin + graph->objects[i].size_bytes};
        }
    }
    qsort(views, n, sizeof *views, by_place);
    for (uint32_t i = 1, farthest = 0; i < n; i++) {
        if (views[i].root == views[farthest].root) {
            check_view(audit, &views[farthest], &views[i]);
        }
        if (views[i].root != views[farthest].root || views[i].end > views[farthest].end) {
            farthest = i;
        }
    }
    free(views);
    return WEIR_OK;
}

static enum weir_status check_all_places(struct audit *audit, bool is_moving)
{
    const struct graph *graph = audit->graph;
    struct placements placements = {NULL, NULL};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph->n_nodes && status == WEIR_OK; i++) {
        enum node_kind kind = (enum node_kind)graph->nodes[i].kind;

        if (!audit_runs(audit, i)) {
            continue;
        }
        if (is_moving && (kind == NODE_PREFETCH || kind == NODE_OFFLOAD)) {
            check_purpose(audit, i);
        }
        if (audit->facts.has_placements) {
            status = check_places(audit, i, &placements);
        }
        if (audit->facts.has_offloadable) {
            check_offload(audit, i);
        }
    }
    keys_free(placements.table);
    free(placements.is_entered);
    return status;
}

enum weir_status audit_bytes(struct audit *audit)
{
    bool is_moving = audit_has_kind(audit, NODE_PREFETCH) || audit_has_kind(audit, NODE_OFFLOAD);
    enum weir_status status = WEIR_OK;

    if (is_moving || audit->facts.has_placements) {
        status = check_all_places(audit, is_moving);
    }
    if (status == WEIR_OK) {
        status = check_capacity(audit);
    }
    return status == WEIR_OK ? check_views(audit) : status;
}
