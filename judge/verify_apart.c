/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of nodes, by name or class, as `overlap` lines say. A name in a line is that of a node, of a
 * class, or of both: each name is a key, and a node has those of its own name and of its class. */
#include <stdlib.h>

#include "judge/verify_internal.h"

static int by_text(const void *left, const void *right)
{
    const weir_text *a = left, *b = right;

    return (a->index > b->index) - (a->index < b->index);
}

static uint32_t key_of(const struct apart *pairs, weir_text name)
{
    const weir_text *found =
        pairs->n_keys == 0 ? NULL
                           : bsearch(&name, pairs->names, pairs->n_keys, sizeof name, by_text);

    return found == NULL ? NONE : (uint32_t)(found - pairs->names);
}

void apart_keys(const struct apart *pairs, uint32_t node, uint32_t keys[2])
{
    const struct graph *graph = pairs->verify->graph;
    weir_class class_ = graph_node_class(graph, (weir_node){node});
    struct graph_node value;

    keys[0] = keys[1] = NONE;
    if (pairs->n_keys == 0) {
        return;
    }
    graph_node(graph, (weir_node){node}, &value);
    keys[0] = key_of(pairs, value.name);
    if (weir_is(class_)) {
        keys[1] = key_of(pairs, graph_class_name(graph, class_));
    }
    if (keys[0] == keys[1]) {
        keys[1] = NONE;
    }
}

/* --- making ---------------------------------------------------------------------------------- */

static bool counts(const struct graph_overlap *line, enum overlap_rule rule,
                   enum overlap_rule other)
{
    return line->rule == rule || line->rule == other;
}

static void list_names(struct apart *pairs, const struct graph *graph, enum overlap_rule rule,
                       enum overlap_rule other)
{
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);

        if (counts(line, rule, other)) {
            pairs->names[n++] = line->a;
            pairs->names[n++] = line->b;
        }
    }
    qsort(pairs->names, n, sizeof *pairs->names, by_text);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || pairs->names[kept - 1].index != pairs->names[i].index) {
            pairs->names[kept++] = pairs->names[i];
        }
    }
    pairs->n_keys = kept;
}

/* Twice: to count and to place. */
static void place_partners(struct apart *pairs, const struct graph *graph, enum overlap_rule rule,
                           enum overlap_rule other, bool is_counting)
{
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);
        uint32_t a, b;

        if (!counts(line, rule, other)) {
            continue;
        }
        a = key_of(pairs, line->a);
        b = key_of(pairs, line->b);
        if (is_counting) {
            pairs->first[a + 2]++;
            pairs->first[b + 2] += a != b ? 1 : 0;
            continue;
        }
        pairs->partners[pairs->first[a + 1]++] = b;
        if (a != b) {
            pairs->partners[pairs->first[b + 1]++] = a;
        }
    }
}

struct known_pair {
    uint32_t a, b;
    bool is_factor; /* one way only: the other must be there too */
};

static int by_pair(const void *left, const void *right)
{
    const struct known_pair *x = left, *y = right;

    if (x->a != y->a) {
        return x->a < y->a ? -1 : 1;
    }
    return (x->b > y->b) - (x->b < y->b);
}

static bool has_pair(const struct known_pair *list, uint32_t n, uint32_t a, uint32_t b)
{
    const struct known_pair sought = {a, b, false};

    return bsearch(&sought, list, n, sizeof sought, by_pair) != NULL;
}

/* What a pair of classes does is known when both have a factor, or a line allows it. */
static enum weir_status list_known(struct apart *pairs, const struct graph *graph,
                                   struct weir_error *err)
{
    uint32_t n_kappas = graph_n_kappas(graph), n_classes = graph_n_classes(graph), n = 0, kept = 0;
    size_t room = (size_t)n_kappas + 2 * (size_t)graph_n_overlaps(graph) + 1;
    struct known_pair *list = malloc(room * sizeof *list);
    struct known_pair *factors = malloc(((size_t)n_kappas + 1) * sizeof *factors);

    pairs->known_first = calloc((size_t)n_classes + 2, sizeof *pairs->known_first);
    pairs->known = malloc(room * sizeof *pairs->known);
    if (list == NULL || factors == NULL || pairs->known_first == NULL || pairs->known == NULL) {
        free(list);
        free(factors);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_kappas; i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        factors[i] = (struct known_pair){kappa->slowed.index, kappa->beside.index, true};
    }
    qsort(factors, n_kappas, sizeof *factors, by_pair);
    for (uint32_t i = 0; i < n_kappas; i++) {
        if (has_pair(factors, n_kappas, factors[i].b, factors[i].a)) {
            list[n++] = factors[i];
        }
    }
    free(factors);
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);
        weir_class a = graph_find_class(graph, line->a), b = graph_find_class(graph, line->b);

        if (line->rule == OVERLAP_ALLOWED && weir_is(a) && weir_is(b)) {
            list[n++] = (struct known_pair){a.index, b.index, false};
            list[n++] = (struct known_pair){b.index, a.index, false};
        }
    }
    qsort(list, n, sizeof *list, by_pair);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_pair(&list[i - 1], &list[i]) != 0) {
            pairs->known_first[list[i].a + 1]++;
            pairs->known[kept++] = list[i].b;
        }
    }
    for (uint32_t i = 0; i < n_classes; i++) {
        pairs->known_first[i + 1] += pairs->known_first[i];
    }
    free(list);
    return WEIR_OK;
}

enum weir_status apart_make(const struct verify *verify, enum overlap_rule rule,
                            enum overlap_rule other, bool has_unlisted, struct apart *out)
{
    const struct graph *graph = verify->graph;
    size_t n_lines = graph_n_overlaps(graph);

    *out = (struct apart){
        .verify = verify,
        .names = malloc((2 * n_lines + 1) * sizeof *out->names),
        .first = calloc(2 * n_lines + 3, sizeof *out->first),
        .partners = malloc((2 * n_lines + 1) * sizeof *out->partners),
        .running = calloc(2 * n_lines + 1, sizeof *out->running),
        .class_running = calloc((size_t)graph_n_classes(graph) + 1, sizeof *out->class_running),
        .has_unlisted = has_unlisted,
    };
    if (out->names == NULL || out->first == NULL || out->partners == NULL || out->running == NULL ||
        out->class_running == NULL) {
        return weir_error_memory(verify->err);
    }
    list_names(out, graph, rule, other);
    place_partners(out, graph, rule, other, true);
    for (uint32_t i = 1; i < out->n_keys + 2; i++) {
        out->first[i] += out->first[i - 1];
    }
    place_partners(out, graph, rule, other, false);
    return has_unlisted ? list_known(out, graph, verify->err) : WEIR_OK;
}

void apart_free(struct apart *pairs)
{
    free(pairs->names);
    free(pairs->first);
    free(pairs->partners);
    free(pairs->known_first);
    free(pairs->known);
    free(pairs->running);
    free(pairs->class_running);
}

bool apart_is_none(const struct apart *pairs)
{
    return pairs->n_keys == 0 && !pairs->has_unlisted;
}

/* --- counting -------------------------------------------------------------------------------- */

uint64_t apart_count(const struct apart *pairs, uint32_t node)
{
    weir_class class_ = graph_node_class(pairs->verify->graph, (weir_node){node});
    uint32_t keys[2];
    uint64_t n = 0;

    apart_keys(pairs, node, keys);
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = keys[i] == NONE ? 0 : pairs->first[keys[i]];
             keys[i] != NONE && j < pairs->first[keys[i] + 1]; j++) {
            n += pairs->running[pairs->partners[j]];
        }
    }
    if (pairs->has_unlisted && weir_is(class_)) {
        n += pairs->n_class_running;
        for (uint32_t i = pairs->known_first[class_.index];
             i < pairs->known_first[class_.index + 1]; i++) {
            n -= pairs->class_running[pairs->known[i]];
        }
    }
    return n;
}

static void change(struct apart *pairs, uint32_t node, uint32_t by)
{
    weir_class class_ = graph_node_class(pairs->verify->graph, (weir_node){node});
    uint32_t keys[2];

    apart_keys(pairs, node, keys);
    for (int i = 0; i < 2; i++) {
        if (keys[i] != NONE) {
            pairs->running[keys[i]] += by;
        }
    }
    if (weir_is(class_)) {
        pairs->class_running[class_.index] += by;
        pairs->n_class_running += by;
    }
}

void apart_start(struct apart *pairs, uint32_t node)
{
    change(pairs, node, 1);
}

void apart_end(struct apart *pairs, uint32_t node)
{
    change(pairs, node, UINT32_MAX); /* one less */
}

bool apart_has(const struct apart *pairs, uint32_t node, uint32_t other)
{
    const struct graph *graph = pairs->verify->graph;
    weir_class a = graph_node_class(graph, (weir_node){node});
    weir_class b = graph_node_class(graph, (weir_node){other});
    uint32_t mine[2], theirs[2];

    apart_keys(pairs, node, mine);
    apart_keys(pairs, other, theirs);
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = mine[i] == NONE ? 0 : pairs->first[mine[i]];
             mine[i] != NONE && j < pairs->first[mine[i] + 1]; j++) {
            if (pairs->partners[j] == theirs[0] || pairs->partners[j] == theirs[1]) {
                return true;
            }
        }
    }
    if (!pairs->has_unlisted || !weir_is(a) || !weir_is(b)) {
        return false;
    }
    for (uint32_t i = pairs->known_first[a.index]; i < pairs->known_first[a.index + 1]; i++) {
        if (pairs->known[i] == b.index) {
            return false;
        }
    }
    return true;
}
