/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of overlap lines made into keys, and pairs of keys into lists by key. */
#include "graph/overlap_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- lines ---- */

enum weir_status overlap_keys_begin(struct overlap_keys *keys, const struct graph *graph,
                                    struct weir_error *err)
{
    size_t n_classes = graph_n_classes(graph);

    *keys = (struct overlap_keys){.graph = graph,
                                  .of_class = malloc((n_classes + 1) * sizeof *keys->of_class)};
    if (keys->of_class == NULL)
        return weir_error_memory(err);
    memset(keys->of_class, 0xff, n_classes * sizeof *keys->of_class); /* WEIR_NONE */
    return WEIR_OK;
}

void overlap_keys_free(struct overlap_keys *keys)
{
    free(keys->of_class);
    free(keys->of_node);
    free(keys->pairs);
    free(keys->first);
    free(keys->partners);
    *keys = (struct overlap_keys){.graph = NULL};
}

static uint32_t class_key(struct overlap_keys *keys, weir_class class_)
{
    if (keys->of_class[class_.index] == WEIR_NONE)
        keys->of_class[class_.index] = keys->n_keys++;
    return keys->of_class[class_.index];
}

static enum weir_status node_key(struct overlap_keys *keys, weir_node node, uint32_t *out,
                                 struct weir_error *err)
{
    size_t n_nodes = graph_n_nodes(keys->graph);

    if (keys->of_node == NULL) {
        keys->of_node = malloc(n_nodes * sizeof *keys->of_node);
        if (keys->of_node == NULL)
            return weir_error_memory(err);
        memset(keys->of_node, 0xff, n_nodes * sizeof *keys->of_node); /* WEIR_NONE */
    }
    if (keys->of_node[node.index] == WEIR_NONE)
        keys->of_node[node.index] = keys->n_keys++;
    *out = keys->of_node[node.index];
    return WEIR_OK;
}

/* A name may be that of a class and of a node: then it has two keys. */
static enum weir_status keys_of_name(struct overlap_keys *keys, weir_text name, uint32_t out[2],
                                     uint32_t *n_out, struct weir_error *err)
{
    weir_class class_ = graph_find_class(keys->graph, name);
    weir_node node = graph_find_node(keys->graph, name);
    enum weir_status status = WEIR_OK;

    *n_out = 0;
    if (weir_is(class_))
        out[(*n_out)++] = class_key(keys, class_);
    if (weir_is(node)) {
        status = node_key(keys, node, &out[*n_out], err);
        *n_out += status == WEIR_OK;
    }
    return status;
}

static enum weir_status add_pair(struct overlap_keys *keys, uint32_t a, uint32_t b,
                                 struct weir_error *err)
{
    enum weir_status status = array_grow(&keys->pairs, &keys->pairs_room, keys->n_pairs + 1, err);

    if (status == WEIR_OK)
        keys->pairs[keys->n_pairs++] = (struct overlap_pair){a, b};
    return status;
}

enum weir_status overlap_keys_add(struct overlap_keys *keys, enum overlap_rule rule,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_overlaps(keys->graph) && status == WEIR_OK; i++) {
        const struct graph_overlap *line = graph_overlap(keys->graph, i);
        uint32_t a[2], b[2], n_a = 0, n_b = 0;

        if (line->rule != rule)
            continue;
        status = keys_of_name(keys, line->a, a, &n_a, err);
        if (status == WEIR_OK)
            status = keys_of_name(keys, line->b, b, &n_b, err);
        for (uint32_t j = 0; j < n_a * n_b && status == WEIR_OK; j++)
            status = add_pair(keys, a[j / n_b], b[j % n_b], err);
    }
    return status;
}

enum weir_status overlap_keys_index(struct overlap_keys *keys, struct weir_error *err)
{
    keys->first = calloc((size_t)keys->n_keys + 2, sizeof *keys->first);
    keys->partners = malloc((keys->n_pairs * 2 + 1) * sizeof *keys->partners);
    if (keys->first == NULL || keys->partners == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < keys->n_pairs; i++) {
        keys->first[keys->pairs[i].a + 2]++;
        keys->first[keys->pairs[i].b + 2] += keys->pairs[i].a == keys->pairs[i].b ? 0 : 1;
    }
    for (uint32_t i = 2; i < keys->n_keys + 2; i++)
        keys->first[i] += keys->first[i - 1];
    for (size_t i = 0; i < keys->n_pairs; i++) {
        struct overlap_pair pair = keys->pairs[i];

        keys->partners[keys->first[pair.a + 1]++] = pair.b;
        if (pair.a != pair.b)
            keys->partners[keys->first[pair.b + 1]++] = pair.a;
    }
    return WEIR_OK;
}

/* ---- pairs of classes that are known ---- */

static int pair_compare(const void *a, const void *b)
{
    const struct overlap_pair *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* The ordered pairs of classes that have a factor, and both orders of those that are said to be
 * allowed; sorted. */
static uint32_t list_factors(const struct graph *graph, struct overlap_pair *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        out[n++] = (struct overlap_pair){kappa->slowed.index, kappa->beside.index};
    }
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);
        weir_class a = graph_find_class(graph, line->a), b = graph_find_class(graph, line->b);

        if (line->rule == OVERLAP_ALLOWED && weir_is(a) && weir_is(b)) {
            out[n++] = (struct overlap_pair){a.index, b.index};
            out[n++] = (struct overlap_pair){b.index, a.index};
        }
    }
    qsort(out, n, sizeof *out, pair_compare);
    return n;
}

/* Keeps each pair once, and only when the opposite order is there too. */
static void keep_mutual(const struct overlap_pair *pairs, uint32_t n, uint32_t n_classes,
                        struct overlap_known *out)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct overlap_pair opposite = {pairs[i].b, pairs[i].a};

        if ((i == 0 || pair_compare(&pairs[i - 1], &pairs[i]) != 0) &&
            bsearch(&opposite, pairs, n, sizeof *pairs, pair_compare) != NULL) {
            out->first[pairs[i].a + 1]++;
            out->classes[n_kept++] = pairs[i].b;
        }
    }
    for (uint32_t i = 0; i < n_classes; i++)
        out->first[i + 1] += out->first[i];
}

enum weir_status overlap_known_find(const struct graph *graph, struct overlap_known *out,
                                    struct weir_error *err)
{
    uint32_t n_classes = graph_n_classes(graph);
    size_t room = (size_t)graph_n_kappas(graph) + 2 * (size_t)graph_n_overlaps(graph) + 1;
    struct overlap_pair *pairs = malloc(room * sizeof *pairs);
    struct overlap_known known = {.first = calloc((size_t)n_classes + 1, sizeof *known.first),
                                  .classes = malloc(room * sizeof *known.classes)};

    if (pairs == NULL || known.first == NULL || known.classes == NULL) {
        free(pairs);
        overlap_known_free(&known);
        return weir_error_memory(err);
    }
    keep_mutual(pairs, list_factors(graph, pairs), n_classes, &known);
    free(pairs);
    *out = known;
    return WEIR_OK;
}

void overlap_known_free(struct overlap_known *known)
{
    free(known->first);
    free(known->classes);
    *known = (struct overlap_known){NULL, NULL};
}
