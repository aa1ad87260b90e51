/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When copies can begin and end by precedence, and what settles it:
 * reclaim_ready(b) = max(last reader, last alias use, last transfer, last protecting barrier). */
#include <stdlib.h>
#include <string.h>

#include "graph/analyze.h"
#include "graph/graph_internal.h"

static void begin_with(struct analyze_life *life, const struct bind_copy *copy, uint32_t node,
                       int64_t start_ns)
{
    if (copy->is_initial || (weir_is(copy->allocation) && copy->allocation.index != node)) {
        return;
    }
    if (!weir_is(life->begins) || start_ns < life->begin_ns) {
        life->begins.index = node;
        life->begin_ns = start_ns;
    }
}

static void used_by(struct analyze_life *life, uint32_t *roles, uint32_t node, uint32_t as,
                    int64_t finish_ns)
{
    if (!weir_is(life->ready_by) || finish_ns > life->reclaim_ready_ns) {
        life->ready_by.index = node;
        life->reclaim_ready_ns = finish_ns;
        *roles = as;
    }
}

/* What is found of each copy on the way. */
struct lives {
    const struct analysis *analysis;
    const struct graph *graph;
    struct analyze_life *items; /* by copy */
    uint32_t *roles;            /* by copy: what the node that settles its end does to it */
    bool *is_views_alone; /* by copy: that node names only views of the object; NULL: none is */
};

static void walk_touches(struct lives *lives)
{
    const struct analysis *analysis = lives->analysis;
    const struct binding *binding = analysis->binding;

    for (uint32_t i = 0; i < lives->graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            struct analyze_life *life = &lives->items[touches[j].copy.index];

            if ((touches[j].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0) {
                begin_with(life, bind_copy(binding, touches[j].copy), i, analysis->earliest_ns[i]);
            }
            if ((touches[j].roles & (BIND_READS | BIND_FILLS | BIND_HOLDS)) != 0) {
                used_by(life, &lives->roles[touches[j].copy.index], i, touches[j].roles,
                        analyze_over_ns(analysis, i));
            }
        }
    }
}

/* --- what keeps reclamations waiting --- */

struct ending {
    uint32_t *copy_of;     /* by node: the copy that it gives back; WEIR_NONE */
    bool *is_bound_by_use; /* by copy: what settles the start of its reclamation touches it */
};

static bool ending_make(const struct lives *lives, struct ending *ending)
{
    const struct analysis *analysis = lives->analysis;
    uint32_t n_nodes = lives->graph->n_nodes, n_copies = bind_n_copies(analysis->binding);

    ending->copy_of = malloc(((size_t)n_nodes + 1) * sizeof *ending->copy_of);
    ending->is_bound_by_use = calloc((size_t)n_copies + 1, sizeof *ending->is_bound_by_use);
    if (ending->copy_of == NULL || ending->is_bound_by_use == NULL) {
        return false;
    }
    memset(ending->copy_of, 0xff, n_nodes * sizeof *ending->copy_of);
    for (uint32_t i = 0; i < n_copies; i++) {
        weir_node reclamation = bind_copy(analysis->binding, (weir_copy){i})->reclamation;

        if (weir_is(reclamation)) {
            ending->copy_of[reclamation.index] = i;
        }
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(analysis->binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            weir_node reclamation = bind_copy(analysis->binding, touches[j].copy)->reclamation;

            if (weir_is(reclamation) && analysis->bound_by[reclamation.index] == i) {
                ending->is_bound_by_use[touches[j].copy.index] = true;
            }
        }
    }
    return true;
}

/* Barriers before a reclamation protect its copy. */
static void walk_barriers(struct lives *lives, const struct ending *ending)
{
    const struct graph *graph = lives->graph;

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        struct edge_ends ends = graph->edges.ends[i];
        uint32_t copy = ending->copy_of[ends.consumer];

        if (copy != WEIR_NONE && graph->nodes[ends.producer].kind == NODE_BARRIER) {
            used_by(&lives->items[copy], &lives->roles[copy], ends.producer, BIND_HOLDS,
                    analyze_over_ns(lives->analysis, ends.producer));
        }
    }
}

/* Who else keeps a reclamation waiting, longest. */
static void walk_late(struct lives *lives, const struct ending *ending)
{
    const struct analysis *analysis = lives->analysis;
    const struct graph *graph = lives->graph;

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        struct edge_ends ends = graph->edges.ends[i];
        uint32_t copy = ending->copy_of[ends.consumer];

        if (copy != WEIR_NONE && analysis->bound_by[ends.consumer] == ends.producer &&
            analysis->earliest_ns[ends.consumer] > lives->items[copy].reclaim_ready_ns &&
            graph->nodes[ends.producer].kind != NODE_BARRIER && !ending->is_bound_by_use[copy]) {
            lives->items[copy].late_by.index = ends.producer;
        }
    }
}

static bool walk_endings(struct lives *lives)
{
    uint32_t n_copies = bind_n_copies(lives->analysis->binding);
    struct ending ending = {NULL, NULL};
    bool is_any = false, has_room = true;

    for (uint32_t i = 0; i < n_copies && !is_any; i++) {
        is_any = weir_is(bind_copy(lives->analysis->binding, (weir_copy){i})->reclamation);
    }
    if (is_any) {
        has_room = ending_make(lives, &ending);
    }
    if (is_any && has_room) {
        walk_barriers(lives, &ending);
        walk_late(lives, &ending);
    }
    free(ending.copy_of);
    free(ending.is_bound_by_use);
    return has_room;
}

/* --- what settles the ends --- */

static bool has_views(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        if (graph->objects[i].alias_of != WEIR_NONE) {
            return true;
        }
    }
    return false;
}

/* Leaves the node's mark on each object that it names. */
static void mark_names(const struct graph *graph, uint32_t node, uint32_t *named_by)
{
    uint32_t n_reads, n_writes;
    const struct graph_access *reads =
        list_get(&graph->accesses, graph->nodes[node].reads, &n_reads);
    const weir_object *writes =
        list_get(&graph->object_lists, graph->nodes[node].writes, &n_writes);

    for (uint32_t i = 0; i < n_reads; i++) {
        named_by[reads[i].object.index] = node;
    }
    for (uint32_t i = 0; i < n_writes; i++) {
        named_by[writes[i].index] = node;
    }
}

/* Of each copy: does the node that settles its end name the object that owns the bytes, or only views
 * of it? */
static bool find_views_alone(struct lives *lives)
{
    const struct binding *binding = lives->analysis->binding;
    uint32_t *named_by = NULL;

    if (!has_views(lives->graph)) {
        return true;
    }
    named_by = malloc(((size_t)lives->graph->n_objects + 1) * sizeof *named_by);
    lives->is_views_alone =
        calloc((size_t)bind_n_copies(binding) + 1, sizeof *lives->is_views_alone);
    if (named_by == NULL || lives->is_views_alone == NULL) {
        free(named_by);
        return false;
    }
    memset(named_by, 0xff, lives->graph->n_objects * sizeof *named_by);
    for (uint32_t i = 0; i < lives->graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        mark_names(lives->graph, i, named_by);
        for (uint32_t j = 0; j < n; j++) {
            weir_copy copy = touches[j].copy;

            if (lives->items[copy.index].ready_by.index == i) {
                lives->is_views_alone[copy.index] =
                    named_by[bind_copy(binding, copy)->object.index] != i;
            }
        }
    }
    free(named_by);
    return true;
}

static enum analyze_role role_of(const struct lives *lives, uint32_t copy)
{
    uint32_t node = lives->items[copy].ready_by.index, roles = lives->roles[copy];
    enum node_kind kind = (enum node_kind)lives->graph->nodes[node].kind;

    if (kind == NODE_BARRIER && (roles & BIND_HOLDS) != 0) {
        return ROLE_BARRIER;
    }
    if ((roles & (BIND_READS | BIND_FILLS)) == 0) {
        return ROLE_HOLD;
    }
    if (graph_kind_is_copy(kind) && lives->graph->nodes[node].object != WEIR_NONE) {
        return ROLE_TRANSFER;
    }
    if (kind == NODE_MAPPING) {
        return ROLE_MAPPING;
    }
    return lives->is_views_alone != NULL && lives->is_views_alone[copy] ? ROLE_ALIAS : ROLE_READER;
}

static void end(const struct lives *lives, uint32_t id)
{
    const struct bind_copy *copy = bind_copy(lives->analysis->binding, (weir_copy){id});
    struct analyze_life *life = &lives->items[id];

    life->role = weir_is(life->ready_by) ? role_of(lives, id) : ROLE_NONE;
    if (!weir_is(life->ready_by)) {
        life->reclaim_ready_ns = life->begin_ns;
    }
    life->end_ns = weir_is(copy->reclamation)
                       ? analyze_over_ns(lives->analysis, copy->reclamation.index)
                   : copy->stays ? -1
                                 : life->reclaim_ready_ns;
}

enum weir_status analyze_lives(const struct analysis *analysis, struct analyze_life **out,
                               struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(analysis->binding);
    struct lives lives = {analysis, bind_of(analysis->binding),
                          malloc(((size_t)n_copies + 1) * sizeof *lives.items),
                          calloc((size_t)n_copies + 1, sizeof *lives.roles), NULL};
    bool has_room;

    if (lives.items == NULL || lives.roles == NULL) {
        free(lives.items);
        free(lives.roles);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_copies; i++) {
        lives.items[i] = (struct analyze_life){
            {WEIR_NONE}, {WEIR_NONE}, {WEIR_NONE}, ROLE_NONE, 0, 0, 0,
        };
    }
    walk_touches(&lives);
    has_room = walk_endings(&lives) && find_views_alone(&lives);
    for (uint32_t i = 0; i < n_copies && has_room; i++) {
        end(&lives, i);
    }
    free(lives.roles);
    free(lives.is_views_alone);
    if (!has_room) {
        free(lives.items);
        return weir_error_memory(err);
    }
    *out = lives.items;
    return WEIR_OK;
}

const char *analyze_role_name(enum analyze_role role)
{
    static const char *const names[] = {"none",    "reader",  "alias", "transfer",
                                        "mapping", "barrier", "hold"};

    return names[role];
}
