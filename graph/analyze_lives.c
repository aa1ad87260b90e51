/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When copies can begin and end by precedence, and what settles it:
 * reclaim_ready(b) = max(last reader, last alias use, last transfer, last protecting barrier). */
#include <stdlib.h>

#include "graph/analyze.h"
#include "graph/graph_internal.h"

static int64_t finish_of(const struct analysis *analysis, uint32_t node)
{
    return analysis->earliest_ns[node] + analysis->length_ns[node];
}

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

static void walk_touches(const struct analysis *analysis, struct analyze_life *lives,
                         uint32_t *roles)
{
    const struct binding *binding = analysis->binding;

    for (uint32_t i = 0; i < graph_n_nodes(bind_of(binding)); i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            struct analyze_life *life = &lives[touches[j].copy.index];

            if ((touches[j].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0) {
                begin_with(life, bind_copy(binding, touches[j].copy), i, analysis->earliest_ns[i]);
            }
            if ((touches[j].roles & (BIND_READS | BIND_FILLS | BIND_HOLDS)) != 0) {
                used_by(life, &roles[touches[j].copy.index], i, touches[j].roles,
                        finish_of(analysis, i));
            }
        }
    }
}

/* The copy that the node gives back; none. */
static weir_copy copy_given_back(const struct binding *binding, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_RECLAIMS) != 0) {
            return touches[i].copy;
        }
    }
    return (weir_copy){WEIR_NONE};
}

static bool touches_copy(const struct binding *binding, uint32_t node, weir_copy copy)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (weir_same(touches[i].copy, copy)) {
            return true;
        }
    }
    return false;
}

/* The copy that the edge's consumer gives back; none when it gives back nothing. */
static weir_copy copy_behind(const struct binding *binding, uint32_t edge)
{
    const struct graph *graph = bind_of(binding);
    uint32_t consumer = graph->edges.ends[edge].consumer;

    return graph->nodes[consumer].kind == NODE_RECLAMATION ? copy_given_back(binding, consumer)
                                                           : (weir_copy){WEIR_NONE};
}

/* Barriers before a reclamation protect its copy. */
static void walk_barriers(const struct analysis *analysis, struct analyze_life *lives,
                          uint32_t *roles)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        uint32_t producer = graph->edges.ends[i].producer;
        weir_copy copy;

        if (graph->nodes[producer].kind != NODE_BARRIER) {
            continue;
        }
        copy = copy_behind(analysis->binding, i);
        if (weir_is(copy)) {
            used_by(&lives[copy.index], &roles[copy.index], producer, BIND_HOLDS,
                    finish_of(analysis, producer));
        }
    }
}

/* Who else keeps a reclamation waiting, longest. */
static void walk_late(const struct analysis *analysis, struct analyze_life *lives)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        weir_copy copy = copy_behind(analysis->binding, i);
        struct edge_ends ends = graph->edges.ends[i];
        struct analyze_life *life;

        if (!weir_is(copy)) {
            continue;
        }
        life = &lives[copy.index];
        if (analysis->bound_by[ends.consumer] == ends.producer &&
            analysis->earliest_ns[ends.consumer] > life->reclaim_ready_ns &&
            graph->nodes[ends.producer].kind != NODE_BARRIER &&
            !touches_copy(analysis->binding, ends.producer, copy)) {
            life->late_by.index = ends.producer;
        }
    }
}

#define MOST_NAMES 256 /* of a node, that are looked through for each copy it is the last to use */

/* Does the node name the object that owns the bytes, or only views of it? A node that names very many
 * objects is taken to name it. */
static bool uses_root(const struct graph *graph, uint32_t node, weir_object root)
{
    uint32_t n_reads, n_writes;
    const struct graph_access *reads =
        list_get(&graph->accesses, graph->nodes[node].reads, &n_reads);
    const weir_object *writes =
        list_get(&graph->object_lists, graph->nodes[node].writes, &n_writes);

    if (n_reads > MOST_NAMES || n_writes > MOST_NAMES) {
        return true;
    }
    for (uint32_t i = 0; i < n_reads; i++) {
        if (weir_same(reads[i].object, root)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < n_writes; i++) {
        if (weir_same(writes[i], root)) {
            return true;
        }
    }
    return false;
}

/* @param roles what the node does to the copy */
static enum analyze_role role_of(const struct analysis *analysis, weir_copy copy, uint32_t node,
                                 uint32_t roles)
{
    const struct graph *graph = bind_of(analysis->binding);
    enum node_kind kind = (enum node_kind)graph->nodes[node].kind;

    if (kind == NODE_BARRIER && (roles & BIND_HOLDS) != 0) {
        return ROLE_BARRIER;
    }
    if ((roles & (BIND_READS | BIND_FILLS)) == 0) {
        return ROLE_HOLD;
    }
    if (graph_kind_is_copy(kind) && graph->nodes[node].object != WEIR_NONE) {
        return ROLE_TRANSFER;
    }
    if (kind == NODE_MAPPING) {
        return ROLE_MAPPING;
    }
    return uses_root(graph, node, bind_copy(analysis->binding, copy)->object) ? ROLE_READER
                                                                              : ROLE_ALIAS;
}

static void end(const struct analysis *analysis, weir_copy id, uint32_t roles,
                struct analyze_life *life)
{
    const struct bind_copy *copy = bind_copy(analysis->binding, id);

    life->role =
        weir_is(life->ready_by) ? role_of(analysis, id, life->ready_by.index, roles) : ROLE_NONE;
    if (!weir_is(life->ready_by)) {
        life->reclaim_ready_ns = life->begin_ns;
    }
    life->end_ns = weir_is(copy->reclamation) ? finish_of(analysis, copy->reclamation.index)
                   : copy->stays              ? -1
                                              : life->reclaim_ready_ns;
}

enum weir_status analyze_lives(const struct analysis *analysis, struct analyze_life **out,
                               struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(analysis->binding);
    struct analyze_life *lives = malloc(((size_t)n_copies + 1) * sizeof *lives);
    uint32_t *roles = calloc((size_t)n_copies + 1, sizeof *roles);

    if (lives == NULL || roles == NULL) {
        free(lives);
        free(roles);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_copies; i++) {
        lives[i] = (struct analyze_life){
            {WEIR_NONE}, {WEIR_NONE}, {WEIR_NONE}, ROLE_NONE, 0, 0, 0,
        };
    }
    walk_touches(analysis, lives, roles);
    walk_barriers(analysis, lives, roles);
    walk_late(analysis, lives);
    for (uint32_t i = 0; i < n_copies; i++) {
        end(analysis, (weir_copy){i}, roles[i], &lives[i]);
    }
    free(roles);
    *out = lives;
    return WEIR_OK;
}

const char *analyze_role_name(enum analyze_role role)
{
    static const char *const names[] = {"none",    "reader",  "alias", "transfer",
                                        "mapping", "barrier", "hold"};

    return names[role];
}
