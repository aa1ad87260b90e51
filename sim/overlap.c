/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node carries the keys of its own name and of its class, where a pair speaks of them: counting
 * running nodes by key answers every question.
 *
 * Under pairwise contention most pairs of classes may be unknown, so it is the known ones that are
 * listed: of all running nodes with a class, those of a class known to this one do not count. */
#include "sim/overlap.h"

#include <stdlib.h>

#include "graph/overlap_keys.h"

struct overlap_set {
    const struct program *program;
    struct overlap_keys keys;
    uint32_t *running; /* by key */

    bool has_known;             /* each pair of classes counts that is not listed here */
    struct overlap_known known; /* classes of which it is known what they do beside each other */
    uint32_t *class_running;    /* by class */
    uint32_t n_class_running;
};

/* Under pairwise contention a pair of classes without a factor, either way, is unknown. */
static enum weir_status add_without_factor(struct overlap_set *set, struct weir_error *err)
{
    const struct graph *graph = set->program->graph;

    set->has_known = true;
    set->class_running = calloc((size_t)graph_n_classes(graph) + 1, sizeof *set->class_running);
    if (set->class_running == NULL) {
        return weir_error_memory(err);
    }
    return overlap_known_find(graph, &set->known, err);
}

static enum weir_status set_new(const struct program *program, struct overlap_set **out,
                                struct weir_error *err)
{
    struct overlap_set *set = calloc(1, sizeof *set);
    enum weir_status status;

    if (set == NULL) {
        return weir_error_memory(err);
    }
    set->program = program;
    status = overlap_keys_begin(&set->keys, program->graph, err);
    if (status != WEIR_OK) {
        overlap_free(set);
        return status;
    }
    *out = set;
    return WEIR_OK;
}

/* Keeps the set when it has pairs and all went well. */
static enum weir_status set_done(struct overlap_set *set, enum weir_status status,
                                 struct overlap_set **out, struct weir_error *err)
{
    bool is_empty = set->keys.n_pairs == 0 && !set->has_known;

    if (status == WEIR_OK && !is_empty) {
        status = overlap_keys_index(&set->keys, err);
    }
    if (status == WEIR_OK && !is_empty) {
        set->running = calloc((size_t)set->keys.n_keys + 1, sizeof *set->running);
        status = set->running == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    if (status != WEIR_OK || is_empty) {
        overlap_free(set);
        return status;
    }
    *out = set;
    return WEIR_OK;
}

static enum weir_status add_unknown(struct overlap_set *set, const struct simulate_options *options,
                                    struct weir_error *err)
{
    enum weir_status status = overlap_keys_add(&set->keys, OVERLAP_UNKNOWN, err);

    if (status == WEIR_OK && contention_is_by_factor(set->program->graph, options->contention)) {
        status = add_without_factor(set, err);
    }
    return status;
}

enum weir_status overlap_forbidden(const struct program *program,
                                   const struct simulate_options *options, struct overlap_set **out,
                                   struct weir_error *err)
{
    struct overlap_set *set;
    enum weir_status status = set_new(program, &set, err);

    *out = NULL;
    if (status != WEIR_OK) {
        return status;
    }
    status = overlap_keys_add(&set->keys, OVERLAP_FORBIDDEN, err);
    if (status == WEIR_OK && options->unknown_overlap == UNKNOWN_FORBID) {
        status = add_unknown(set, options, err);
    }
    return set_done(set, status, out, err);
}

enum weir_status overlap_unknown(const struct program *program,
                                 const struct simulate_options *options, struct overlap_set **out,
                                 struct weir_error *err)
{
    struct overlap_set *set;
    enum weir_status status = set_new(program, &set, err);

    *out = NULL;
    if (status != WEIR_OK) {
        return status;
    }
    return set_done(set, add_unknown(set, options, err), out, err);
}

void overlap_free(struct overlap_set *set)
{
    if (set == NULL) {
        return;
    }
    overlap_keys_free(&set->keys);
    overlap_known_free(&set->known);
    free(set->running);
    free(set->class_running);
    free(set);
}

/* Running nodes with a class of which nobody knows what it does beside this one's. */
static uint32_t count_unlisted(const struct overlap_set *set, uint32_t node)
{
    weir_class class_ = graph_node_class(set->program->graph, (weir_node){node});
    uint32_t count = set->n_class_running;

    if (!weir_is(class_)) {
        return 0;
    }
    for (uint32_t i = set->known.first[class_.index]; i < set->known.first[class_.index + 1]; i++) {
        count -= set->class_running[set->known.classes[i]];
    }
    return count;
}

uint32_t overlap_count(const struct overlap_set *set, uint32_t node)
{
    const struct overlap_keys *of = &set->keys;
    uint32_t keys[2], n_keys = overlap_keys_of(of, node, keys);
    uint32_t count = set->has_known ? count_unlisted(set, node) : 0;

    for (uint32_t i = 0; i < n_keys; i++) {
        for (uint32_t j = of->first[keys[i]]; j < of->first[keys[i] + 1]; j++) {
            count += set->running[of->partners[j]];
        }
    }
    return count;
}

/* Beside the keys of the lines there is one for all of whom nothing is known. */
uint32_t overlap_blocking_key(const struct overlap_set *set, uint32_t node)
{
    const struct overlap_keys *of = &set->keys;
    uint32_t keys[2], n_keys = overlap_keys_of(of, node, keys);

    for (uint32_t i = 0; i < n_keys; i++) {
        for (uint32_t j = of->first[keys[i]]; j < of->first[keys[i] + 1]; j++) {
            if (set->running[of->partners[j]] > 0) {
                return of->partners[j];
            }
        }
    }
    return set->has_known && count_unlisted(set, node) > 0 ? of->n_keys : WEIR_NONE;
}

uint32_t overlap_n_blocking_keys(const struct overlap_set *set)
{
    return set->keys.n_keys + 1;
}

uint32_t overlap_keys_gone(const struct overlap_set *set, uint32_t node,
                           uint32_t out[OVERLAP_MOST_KEYS])
{
    uint32_t keys[2], n_keys = overlap_keys_of(&set->keys, node, keys), n = 0;

    for (uint32_t i = 0; i < n_keys; i++) {
        if (set->running[keys[i]] == 0) {
            out[n++] = keys[i];
        }
    }
    if (set->has_known && weir_is(graph_node_class(set->program->graph, (weir_node){node}))) {
        out[n++] = set->keys.n_keys;
    }
    return n;
}

/* Classes first, then the keys of nodes that lines name. */
uint32_t overlap_kind(const struct overlap_set *set, uint32_t node)
{
    const struct graph *graph = set->program->graph;
    bool is_named = set->keys.of_node != NULL && set->keys.of_node[node] != WEIR_NONE;

    return is_named ? graph_n_classes(graph) + set->keys.of_node[node]
                    : graph_node_class(graph, (weir_node){node}).index;
}

uint32_t overlap_n_kinds(const struct overlap_set *set)
{
    return graph_n_classes(set->program->graph) + set->keys.n_keys;
}

/* @param change 1 when the node starts, -1 when it ends */
static void change_running(struct overlap_set *set, uint32_t node, int change)
{
    weir_class class_ = graph_node_class(set->program->graph, (weir_node){node});
    uint32_t keys[2], n_keys = overlap_keys_of(&set->keys, node, keys);

    for (uint32_t i = 0; i < n_keys; i++) {
        set->running[keys[i]] += (uint32_t)change;
    }
    if (set->has_known && weir_is(class_)) {
        set->class_running[class_.index] += (uint32_t)change;
        set->n_class_running += (uint32_t)change;
    }
}

void overlap_start(struct overlap_set *set, uint32_t node)
{
    change_running(set, node, 1);
}

void overlap_end(struct overlap_set *set, uint32_t node)
{
    change_running(set, node, -1);
}
