/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each name in a pair is a key; a node carries the key of its own name and that of its class, where
 * they are keys. Counting running nodes by key answers every question.
 *
 * Under pairwise contention most pairs of classes may be unknown, so it is the known ones that are
 * listed: of all running nodes with a class, those of a class known to this one do not count. */
#include "sim/overlap.h"

#include <stdlib.h>

#include "base/array.h"

#define NONE WEIR_NONE

struct pair {
    uint32_t a, b;
};

struct overlap_set {
    const struct program *program;
    uint32_t n_classes;
    uint32_t *key_of_class; /* NONE: not in any pair */
    uint32_t *key_of_node;  /* NULL until a pair names a node */
    uint32_t n_keys;
    struct pair *pairs;
    size_t pairs_room;
    uint32_t n_pairs;
    uint32_t *first; /* of key k: partners[first[k]] up to the next */
    uint32_t *partners;
    uint32_t *running; /* by key */

    bool has_known;          /* each pair of classes counts that is not listed here */
    uint32_t *known_first;   /* of class c: known[known_first[c]] up to the next */
    uint32_t *known;         /* classes of which it is known what they do beside it */
    uint32_t *class_running; /* by class */
    uint32_t n_class_running;
};

static enum weir_status add_pair(struct overlap_set *set, uint32_t a, uint32_t b,
                                 struct weir_error *err)
{
    enum weir_status status =
        array_grow(&set->pairs, &set->pairs_room, (size_t)set->n_pairs + 1, err);

    if (status == WEIR_OK) {
        set->pairs[set->n_pairs++] = (struct pair){a, b};
    }
    return status;
}

static uint32_t class_key(struct overlap_set *set, weir_class class_)
{
    if (set->key_of_class[class_.index] == NONE) {
        set->key_of_class[class_.index] = set->n_keys++;
    }
    return set->key_of_class[class_.index];
}

static enum weir_status node_key(struct overlap_set *set, weir_node node, uint32_t *key,
                                 struct weir_error *err)
{
    uint32_t n_nodes = set->program->n_nodes;

    if (set->key_of_node == NULL) {
        set->key_of_node = malloc(n_nodes * sizeof *set->key_of_node);
        if (set->key_of_node == NULL) {
            return weir_error_memory(err);
        }
        for (uint32_t i = 0; i < n_nodes; i++) {
            set->key_of_node[i] = NONE;
        }
    }
    if (set->key_of_node[node.index] == NONE) {
        set->key_of_node[node.index] = set->n_keys++;
    }
    *key = set->key_of_node[node.index];
    return WEIR_OK;
}

/* A name may be that of a node and of a class: then it has two keys. */
static enum weir_status keys_of_name(struct overlap_set *set, weir_text name, uint32_t keys[2],
                                     uint32_t *n_keys, struct weir_error *err)
{
    weir_class class_ = graph_find_class(set->program->graph, name);
    weir_node node = graph_find_node(set->program->graph, name);

    *n_keys = 0;
    if (weir_is(class_)) {
        keys[(*n_keys)++] = class_key(set, class_);
    }
    if (weir_is(node)) {
        enum weir_status status = node_key(set, node, &keys[*n_keys], err);

        if (status != WEIR_OK) {
            return status;
        }
        (*n_keys)++;
    }
    return WEIR_OK;
}

/* Adds the pairs of every `overlap` line with that rule. */
static enum weir_status add_lines(struct overlap_set *set, enum overlap_rule rule,
                                  struct weir_error *err)
{
    const struct graph *graph = set->program->graph;

    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);
        uint32_t a[2], b[2], n_a = 0, n_b = 0;
        enum weir_status status;

        if (line->rule != rule) {
            continue;
        }
        status = keys_of_name(set, line->a, a, &n_a, err);
        if (status == WEIR_OK) {
            status = keys_of_name(set, line->b, b, &n_b, err);
        }
        for (uint32_t j = 0; j < n_a * n_b && status == WEIR_OK; j++) {
            status = add_pair(set, a[j / n_b], b[j % n_b], err);
        }
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

static int pair_compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->a != y->a) {
        return x->a < y->a ? -1 : 1;
    }
    return (x->b > y->b) - (x->b < y->b);
}

/* The ordered pairs of classes that have a factor, and both orders of those that are said to be
 * allowed; sorted. */
static uint32_t list_factors(const struct graph *graph, struct pair *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        out[n++] = (struct pair){kappa->slowed.index, kappa->beside.index};
    }
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);
        weir_class a = graph_find_class(graph, line->a), b = graph_find_class(graph, line->b);

        if (line->rule == OVERLAP_ALLOWED && weir_is(a) && weir_is(b)) {
            out[n++] = (struct pair){a.index, b.index};
            out[n++] = (struct pair){b.index, a.index};
        }
    }
    qsort(out, n, sizeof *out, pair_compare);
    return n;
}

/* Keeps each pair once, and only when the opposite order is there too. */
static uint32_t keep_mutual(struct pair *pairs, uint32_t n, struct pair *out)
{
    uint32_t n_out = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct pair opposite = {pairs[i].b, pairs[i].a};

        if ((i == 0 || pair_compare(&pairs[i - 1], &pairs[i]) != 0) &&
            bsearch(&opposite, pairs, n, sizeof *pairs, pair_compare) != NULL) {
            out[n_out++] = pairs[i];
        }
    }
    return n_out;
}

static enum weir_status index_known(struct overlap_set *set, const struct pair *mutual, uint32_t n,
                                    struct weir_error *err)
{
    set->known_first = calloc((size_t)set->n_classes + 1, sizeof *set->known_first);
    set->known = malloc(((size_t)n + 1) * sizeof *set->known);
    set->class_running = calloc((size_t)set->n_classes + 1, sizeof *set->class_running);
    if (set->known_first == NULL || set->known == NULL || set->class_running == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) { /* sorted by the first class */
        set->known_first[mutual[i].a + 1]++;
        set->known[i] = mutual[i].b;
    }
    for (uint32_t i = 0; i < set->n_classes; i++) {
        set->known_first[i + 1] += set->known_first[i];
    }
    return WEIR_OK;
}

/* Under pairwise contention a pair of classes without a factor, either way, is unknown. */
static enum weir_status add_without_factor(struct overlap_set *set, struct weir_error *err)
{
    const struct graph *graph = set->program->graph;
    size_t room = (size_t)graph_n_kappas(graph) + 2 * (size_t)graph_n_overlaps(graph) + 1;
    struct pair *pairs = malloc(room * sizeof *pairs);
    struct pair *mutual = malloc(room * sizeof *mutual);
    enum weir_status status;

    if (pairs == NULL || mutual == NULL) {
        status = weir_error_memory(err);
    } else {
        set->has_known = true;
        status =
            index_known(set, mutual, keep_mutual(pairs, list_factors(graph, pairs), mutual), err);
    }
    free(pairs);
    free(mutual);
    return status;
}

static enum weir_status index_pairs(struct overlap_set *set, struct weir_error *err)
{
    set->first = calloc((size_t)set->n_keys + 2, sizeof *set->first);
    set->partners = malloc(((size_t)set->n_pairs * 2 + 1) * sizeof *set->partners);
    set->running = calloc((size_t)set->n_keys + 1, sizeof *set->running);
    if (set->first == NULL || set->partners == NULL || set->running == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < set->n_pairs; i++) {
        set->first[set->pairs[i].a + 2]++;
        set->first[set->pairs[i].b + 2] += set->pairs[i].a == set->pairs[i].b ? 0 : 1;
    }
    for (uint32_t i = 2; i < set->n_keys + 2; i++) {
        set->first[i] += set->first[i - 1];
    }
    for (uint32_t i = 0; i < set->n_pairs; i++) {
        struct pair pair = set->pairs[i];

        set->partners[set->first[pair.a + 1]++] = pair.b;
        if (pair.a != pair.b) {
            set->partners[set->first[pair.b + 1]++] = pair.a;
        }
    }
    return WEIR_OK;
}

static enum weir_status set_new(const struct program *program, struct overlap_set **out,
                                struct weir_error *err)
{
    struct overlap_set *set = calloc(1, sizeof *set);

    if (set == NULL) {
        return weir_error_memory(err);
    }
    set->program = program;
    set->n_classes = graph_n_classes(program->graph);
    set->key_of_class = malloc(((size_t)set->n_classes + 1) * sizeof *set->key_of_class);
    if (set->key_of_class == NULL) {
        overlap_free(set);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < set->n_classes; i++) {
        set->key_of_class[i] = NONE;
    }
    *out = set;
    return WEIR_OK;
}

/* Keeps the set when it has pairs and all went well. */
static enum weir_status set_done(struct overlap_set *set, enum weir_status status,
                                 struct overlap_set **out, struct weir_error *err)
{
    bool is_empty = set->n_pairs == 0 && !set->has_known;

    if (status == WEIR_OK && !is_empty) {
        status = index_pairs(set, err);
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
    enum weir_status status = add_lines(set, OVERLAP_UNKNOWN, err);

    if (status == WEIR_OK && options->contention == CONTENTION_PAIRWISE) {
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
    status = add_lines(set, OVERLAP_FORBIDDEN, err);
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
    free(set->key_of_class);
    free(set->key_of_node);
    free(set->pairs);
    free(set->first);
    free(set->partners);
    free(set->running);
    free(set->known_first);
    free(set->known);
    free(set->class_running);
    free(set);
}

/* The keys of a node: none, one or two. */
static uint32_t keys_of_node(const struct overlap_set *set, uint32_t node, uint32_t keys[2])
{
    weir_class class_ = graph_node_class(set->program->graph, (weir_node){node});
    uint32_t n = 0;

    if (weir_is(class_) && set->key_of_class[class_.index] != NONE) {
        keys[n++] = set->key_of_class[class_.index];
    }
    if (set->key_of_node != NULL && set->key_of_node[node] != NONE) {
        keys[n++] = set->key_of_node[node];
    }
    return n;
}

/* Running nodes with a class of which nobody knows what it does beside this one's. */
static uint32_t count_unlisted(const struct overlap_set *set, uint32_t node)
{
    weir_class class_ = graph_node_class(set->program->graph, (weir_node){node});
    uint32_t count = set->n_class_running;

    if (!weir_is(class_)) {
        return 0;
    }
    for (uint32_t i = set->known_first[class_.index]; i < set->known_first[class_.index + 1]; i++) {
        count -= set->class_running[set->known[i]];
    }
    return count;
}

uint32_t overlap_count(const struct overlap_set *set, uint32_t node)
{
    uint32_t keys[2], n_keys = keys_of_node(set, node, keys);
    uint32_t count = set->has_known ? count_unlisted(set, node) : 0;

    for (uint32_t i = 0; i < n_keys; i++) {
        for (uint32_t j = set->first[keys[i]]; j < set->first[keys[i] + 1]; j++) {
            count += set->running[set->partners[j]];
        }
    }
    return count;
}

/* @param change 1 when the node starts, -1 when it ends */
static void change_running(struct overlap_set *set, uint32_t node, int change)
{
    weir_class class_ = graph_node_class(set->program->graph, (weir_node){node});
    uint32_t keys[2], n_keys = keys_of_node(set, node, keys);

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
