/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overlaps that must not arise. The simulation kept such nodes apart by when it started them; a
 * replay, whose times are other, needs an order: that of the plan. Nodes on one queue are in order
 * anyway, so of each other queue only the last node before is waited for. */
#include <stdlib.h>
#include <string.h>

#include "graph/overlap_keys.h"
#include "replay/waits_internal.h"

/* What ran on a queue, by class: a list of the classes, that of the last node first. */
struct recent {
    uint32_t head;                         /* class; WEIR_NONE: nothing ran yet */
    uint32_t *next, *previous, *last_node; /* by class; last_node WEIR_NONE: not in the list */
};

struct forbidding {
    const struct graph *graph;
    const struct waits_steps *steps;
    const struct lanes *lanes;
    struct overlap_keys keys;
    uint32_t *last; /* [key][queue]: the node that started last; WEIR_NONE */
    /* Where pairs of classes without a factor are forbidden too. */
    bool has_known;
    struct overlap_known known;
    struct recent *recent; /* by queue */
    struct made_edges *edges;
};

static enum weir_status add_edge(struct forbidding *f, uint32_t producer, uint32_t node,
                                 struct weir_error *err)
{
    return made_edges_add(f->edges, (struct made_edge){producer, node, false, INSERTED_OVERLAP},
                          err);
}

/* ---- pairs that lines forbid ---- */

/* The node waits for the last on each other queue of what has the key. */
static enum weir_status wait_for_key(struct forbidding *f, uint32_t key, uint32_t node,
                                     struct weir_error *err)
{
    const uint32_t *last = &f->last[(size_t)key * f->lanes->n_lanes];
    enum weir_status status = WEIR_OK;

    for (uint32_t q = 0; q < f->lanes->n_lanes && status == WEIR_OK; q++) {
        if (last[q] != WEIR_NONE && q != f->lanes->of_node[node])
            status = add_edge(f, last[q], node, err);
    }
    return status;
}

static enum weir_status walk_keys(struct forbidding *f, uint32_t node, struct weir_error *err)
{
    uint32_t own[2];
    uint32_t n_own = overlap_keys_of(&f->keys, node, own);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_own; i++) {
        for (uint32_t p = f->keys.first[own[i]]; p < f->keys.first[own[i] + 1] && status == WEIR_OK;
             p++)
            status = wait_for_key(f, f->keys.partners[p], node, err);
    }
    for (uint32_t i = 0; i < n_own; i++)
        f->last[(size_t)own[i] * f->lanes->n_lanes + f->lanes->of_node[node]] = node;
    return status;
}

/* ---- pairs of classes of which nothing is known ---- */

static int compare_classes(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool is_known(const struct forbidding *f, uint32_t class_, uint32_t other)
{
    uint32_t first = f->known.first[class_];

    return bsearch(&other, f->known.classes + first, f->known.first[class_ + 1] - first,
                   sizeof other, compare_classes) != NULL;
}

static void put_first(struct recent *recent, uint32_t class_, uint32_t node)
{
    bool is_listed = recent->last_node[class_] != WEIR_NONE;

    recent->last_node[class_] = node;
    if (recent->head == class_)
        return;
    if (is_listed) { /* not the first: it has one before it */
        recent->next[recent->previous[class_]] = recent->next[class_];
        if (recent->next[class_] != WEIR_NONE)
            recent->previous[recent->next[class_]] = recent->previous[class_];
    }
    recent->next[class_] = recent->head;
    if (recent->head != WEIR_NONE)
        recent->previous[recent->head] = class_;
    recent->head = class_;
}

/* The node waits for the last on each other queue whose class is not known to its own. */
static enum weir_status walk_classes(struct forbidding *f, uint32_t node, struct weir_error *err)
{
    uint32_t class_ = graph_node_class(f->graph, (weir_node){node}).index;
    enum weir_status status = WEIR_OK;

    if (class_ == WEIR_NONE)
        return WEIR_OK;
    for (uint32_t q = 0; q < f->lanes->n_lanes && status == WEIR_OK; q++) {
        uint32_t other = f->recent[q].head;

        if (q == f->lanes->of_node[node])
            continue;
        while (other != WEIR_NONE && is_known(f, class_, other))
            other = f->recent[q].next[other];
        if (other != WEIR_NONE)
            status = add_edge(f, f->recent[q].last_node[other], node, err);
    }
    put_first(&f->recent[f->lanes->of_node[node]], class_, node);
    return status;
}

static enum weir_status begin_classes(struct forbidding *f, struct weir_error *err)
{
    size_t n = (size_t)graph_n_classes(f->graph) + 1;

    f->recent = calloc(f->lanes->n_lanes + (size_t)1, sizeof *f->recent);
    if (f->recent == NULL)
        return weir_error_memory(err);
    f->has_known = true;
    for (uint32_t q = 0; q < f->lanes->n_lanes; q++) {
        struct recent *recent = &f->recent[q];

        *recent = (struct recent){.head = WEIR_NONE,
                                  .next = malloc(n * sizeof *recent->next),
                                  .previous = malloc(n * sizeof *recent->previous),
                                  .last_node = malloc(n * sizeof *recent->last_node)};
        if (recent->next == NULL || recent->previous == NULL || recent->last_node == NULL)
            return weir_error_memory(err);
        memset(recent->last_node, 0xff, n * sizeof *recent->last_node); /* WEIR_NONE */
    }
    return overlap_known_find(f->graph, &f->known, err);
}

/* ---- walking the plan ---- */

static enum weir_status begin(struct forbidding *f, const struct waits_options *options,
                              struct weir_error *err)
{
    enum weir_status status = overlap_keys_begin(&f->keys, f->graph, err);
    size_t n_last;

    if (status == WEIR_OK)
        status = overlap_keys_add(&f->keys, OVERLAP_FORBIDDEN, err);
    if (status == WEIR_OK && options->forbids_unknown)
        status = overlap_keys_add(&f->keys, OVERLAP_UNKNOWN, err);
    if (status == WEIR_OK && options->forbids_unknown && options->unknown_by_factor)
        status = begin_classes(f, err);
    if (status == WEIR_OK)
        status = overlap_keys_index(&f->keys, err);
    if (status != WEIR_OK)
        return status;
    n_last = (size_t)f->keys.n_keys * f->lanes->n_lanes;
    f->last = malloc((n_last + 1) * sizeof *f->last);
    if (f->last == NULL)
        return weir_error_memory(err);
    memset(f->last, 0xff, n_last * sizeof *f->last); /* WEIR_NONE */
    return WEIR_OK;
}

static void end(struct forbidding *f)
{
    for (uint32_t q = 0; f->recent != NULL && q < f->lanes->n_lanes; q++) {
        free(f->recent[q].next);
        free(f->recent[q].previous);
        free(f->recent[q].last_node);
    }
    free(f->recent);
    free(f->last);
    overlap_known_free(&f->known);
    overlap_keys_free(&f->keys);
}

enum weir_status waits_forbid(const struct graph *graph, const struct timeline *plan,
                              const struct waits_steps *steps, const struct lanes *lanes,
                              const struct waits_options *options, struct made_edges *edges,
                              struct weir_error *err)
{
    struct forbidding f = {.graph = graph, .steps = steps, .lanes = lanes, .edges = edges};
    enum weir_status status;

    if (graph_n_overlaps(graph) == 0 && !options->forbids_unknown)
        return WEIR_OK;
    status = begin(&f, options, err);
    for (uint32_t s = 0; s < steps->n_started && status == WEIR_OK; s++) {
        uint32_t node = steps->node_of[s];

        /* Nodes of length zero never overlap. */
        if (plan->spans[node].isolated_ns == 0 || lanes->of_node[node] == WEIR_NONE)
            continue;
        status = walk_keys(&f, node, err);
        if (status == WEIR_OK && f.has_known)
            status = walk_classes(&f, node, err);
    }
    end(&f);
    return status;
}
