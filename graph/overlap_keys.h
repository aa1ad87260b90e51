/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom the `overlap` lines of a graph speak of. A name in a line is that of a node, of a class, or of
 * both: each has a key, and a node has the keys of its own name and of its class, where a line speaks
 * of them. */
#ifndef WEIR_GRAPH_OVERLAP_KEYS_H
#define WEIR_GRAPH_OVERLAP_KEYS_H

#include "graph/graph.h"

struct overlap_pair {
    uint32_t a, b;
};

struct overlap_keys {
    const struct graph *graph;
    uint32_t n_keys;
    uint32_t *of_class;         /* by class; WEIR_NONE: no line speaks of it */
    uint32_t *of_node;          /* by node, likewise; NULL until a line names a node */
    struct overlap_pair *pairs; /* of keys, as the lines stand: one may be there twice */
    size_t n_pairs, pairs_room;
    uint32_t *first; /* of key k: partners[first[k]] up to the next; from overlap_keys_index on */
    uint32_t *partners;
};

/** No lines yet. The caller ends it with overlap_keys_free, also when this fails. WEIR_MEMORY */
MUST_CHECK enum weir_status overlap_keys_begin(struct overlap_keys *keys, const struct graph *graph,
                                               struct weir_error *err);
/** Adds every line with that rule. */
MUST_CHECK enum weir_status overlap_keys_add(struct overlap_keys *keys, enum overlap_rule rule,
                                             struct weir_error *err);
/** Fills first and partners: a pair stands with both its keys, that of a key and itself once. */
MUST_CHECK enum weir_status overlap_keys_index(struct overlap_keys *keys, struct weir_error *err);
void overlap_keys_free(struct overlap_keys *keys);

/** The keys of a node: none, one or two. */
static inline uint32_t overlap_keys_of(const struct overlap_keys *keys, uint32_t node,
                                       uint32_t out[2])
{
    weir_class class_ = graph_node_class(keys->graph, (weir_node){node});
    uint32_t n = 0;

    if (weir_is(class_) && keys->of_class[class_.index] != WEIR_NONE)
        out[n++] = keys->of_class[class_.index];
    if (keys->of_node != NULL && keys->of_node[node] != WEIR_NONE)
        out[n++] = keys->of_node[node];
    return n;
}

/* Of which pairs of classes it is known what they do beside each other: both have a factor, or a line
 * allows them. Most pairs may be unknown, so it is these that are listed. */
struct overlap_known {
    uint32_t *first; /* of class c: classes[first[c]] up to the next, in rising order */
    uint32_t *classes;
};

/** The caller frees it. WEIR_MEMORY */
MUST_CHECK enum weir_status overlap_known_find(const struct graph *graph, struct overlap_known *out,
                                               struct weir_error *err);
void overlap_known_free(struct overlap_known *known);

#endif
