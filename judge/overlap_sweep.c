/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two nodes that run together do so from the later start to the earlier finish: over all pairs of two
 * classes that is how long how many pairs of them ran. So starts and ends are gone through in the order of
 * time, ends out of a heap of the nodes that run. */
#include "judge/overlap.h"

#include <stdlib.h>

#include "base/array.h"
#include "judge/together.h"

/* A running node, by its finish. */
struct running {
    int64_t finish_ns;
    uint32_t class_;
};

struct overlap_sweep {
    const struct timeline *timeline;
    struct running *heap; /* least finish first; behind the last, one that never finishes */
    size_t heap_room;
    uint32_t n_running; /* in the heap, with the hole */
    bool has_hole;      /* heap[0] has been taken: mostly another comes at once */
    uint32_t n_classes; /* and one for nodes without */
    struct together *together;
    struct overlaps out;
    struct weir_error *err;
};

/* --- the heap ------------------------------------------------------------------------------- */

/* By its parts: a copy of the whole would wait until what was written in parts is in memory. */
static void put(struct running *at, int64_t finish_ns, uint32_t class_)
{
    at->finish_ns = finish_ns;
    at->class_ = class_;
}

/* Puts the item where heap[0] is free. */
static void sift_down(struct overlap_sweep *sweep, struct running item)
{
    struct running *heap = sweep->heap;
    uint32_t at = 0, n = sweep->n_running;

    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        int64_t finish_ns;

        child += heap[child + 1].finish_ns < heap[child].finish_ns ? 1 : 0;
        finish_ns = heap[child].finish_ns;
        if (finish_ns >= item.finish_ns) {
            break;
        }
        put(&heap[at], finish_ns, heap[child].class_);
        at = child;
    }
    put(&heap[at], item.finish_ns, item.class_);
}

static enum weir_status heap_add(struct overlap_sweep *sweep, struct running item)
{
    uint32_t at = sweep->n_running;
    enum weir_status status;

    if (sweep->has_hole) {
        sweep->has_hole = false;
        sift_down(sweep, item);
        return WEIR_OK;
    }
    status = array_grow_raw(&sweep->heap, &sweep->heap_room, (size_t)at + 2, sweep->err);
    if (status != WEIR_OK) {
        return status;
    }
    while (at > 0 && sweep->heap[(at - 1) / 2].finish_ns > item.finish_ns) {
        put(&sweep->heap[at], sweep->heap[(at - 1) / 2].finish_ns,
            sweep->heap[(at - 1) / 2].class_);
        at = (at - 1) / 2;
    }
    put(&sweep->heap[at], item.finish_ns, item.class_);
    sweep->n_running++;
    sweep->heap[sweep->n_running].finish_ns = INT64_MAX;
    return WEIR_OK;
}

/* Is there one that finishes up to t_ns? */
static bool ends_by(const struct overlap_sweep *sweep, int64_t t_ns)
{
    const struct running *heap = sweep->heap;
    uint32_t n = sweep->n_running;

    if (!sweep->has_hole) {
        return n > 0 && heap[0].finish_ns <= t_ns;
    }
    return (n > 1 && heap[1].finish_ns <= t_ns) || (n > 2 && heap[2].finish_ns <= t_ns);
}

/* The first to finish, which there is. */
static struct running heap_take(struct overlap_sweep *sweep)
{
    if (sweep->has_hole) {
        struct running last = sweep->heap[--sweep->n_running];

        sweep->heap[sweep->n_running].finish_ns = INT64_MAX;
        sift_down(sweep, last);
    }
    sweep->has_hole = true;
    return sweep->heap[0];
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* Ends all that ends up to t_ns, but for one of the class given that ends at t_ns itself: another of it
 * takes its place, and no number changes. @param is_followed was there one? */
static enum weir_status end_up_to(struct overlap_sweep *sweep, int64_t t_ns, uint32_t class_,
                                  bool *is_followed)
{
    enum weir_status status = WEIR_OK;

    *is_followed = false;
    while (status == WEIR_OK && ends_by(sweep, t_ns)) {
        struct running first = heap_take(sweep);

        if (first.finish_ns == t_ns && first.class_ == class_ && !*is_followed) {
            *is_followed = true;
        } else {
            status = together_end(sweep->together, first.finish_ns, first.class_, sweep->err);
        }
    }
    return status;
}

static void add_kappa(struct overlap_kappa *kappa, weir_node node, const struct timeline_span *span)
{
    bool is_as_alone = span->finish_ns - span->start_ns == span->isolated_ns;
    double ratio;

    if (span->finish_ns < 0 || span->isolated_ns <= 0) {
        return;
    }
    ratio = is_as_alone ? 1 : overlap_node_kappa(span); /* mostly, and a division less */
    if (ratio == 0) {
        return;
    }
    kappa->n_nodes++;
    kappa->ran_ns = pairs_clamped_add(kappa->ran_ns, span->finish_ns - span->start_ns);
    kappa->isolated_ns = pairs_clamped_add(kappa->isolated_ns, span->isolated_ns);
    if (ratio > kappa->worst_ratio ||
        (ratio == kappa->worst_ratio && weir_is(kappa->worst) && node.index < kappa->worst.index)) {
        kappa->worst_ratio = ratio;
        kappa->worst = node;
    }
}

static enum weir_status add_node(struct overlap_sweep *sweep, const struct started *node)
{
    const struct timeline_span *span = node->span;
    uint32_t class_ = weir_is(node->class_) ? node->class_.index : sweep->n_classes - 1;
    int64_t end_ns = span->finish_ns < 0 ? sweep->timeline->makespan_ns : span->finish_ns;
    bool is_followed;
    enum weir_status status;

    add_kappa(&sweep->out.kappa[class_], node->node, span);
    if (end_ns <= span->start_ns) {
        return WEIR_OK;
    }
    status = end_up_to(sweep, span->start_ns, class_, &is_followed);
    if (status == WEIR_OK && !is_followed) {
        status = together_start(sweep->together, span->start_ns, class_, sweep->err);
    }
    if (status == WEIR_OK) {
        status = heap_add(sweep, (struct running){end_ns, class_});
    }
    if (sweep->n_running > sweep->out.most_running) { /* no hole: it was filled */
        sweep->out.most_running = sweep->n_running;
    }
    return status;
}

/* --- the result ----------------------------------------------------------------------------- */

static weir_class class_at(const struct overlap_sweep *sweep, uint32_t index)
{
    return (weir_class){index == sweep->n_classes - 1 ? WEIR_NONE : index};
}

static enum weir_status take_pairs(struct overlap_sweep *sweep)
{
    struct overlaps *out = &sweep->out;
    struct pair_sum *sums;
    size_t n;
    enum weir_status status = together_pairs(sweep->together, &sums, &n, sweep->err);

    if (status != WEIR_OK) {
        return status;
    }
    out->pairs = malloc((n + 1) * sizeof *out->pairs);
    if (out->pairs == NULL) {
        free(sums);
        return weir_error_memory(sweep->err);
    }
    for (size_t i = 0; i < n; i++) {
        out->pairs[i] = (struct overlap_classes){
            class_at(sweep, sums[i].a), class_at(sweep, sums[i].b), pairs_clamp(sums[i].sum)};
    }
    out->n_pairs = n;
    free(sums);
    return WEIR_OK;
}

static enum weir_status make_room(struct overlap_sweep *sweep)
{
    sweep->out.kappa = calloc(sweep->n_classes, sizeof *sweep->out.kappa);
    if (sweep->out.kappa == NULL) {
        return weir_error_memory(sweep->err);
    }
    for (size_t i = 0; i < sweep->n_classes; i++) {
        sweep->out.kappa[i].worst.index = WEIR_NONE;
    }
    return together_new(sweep->n_classes, &sweep->together, sweep->err);
}

enum weir_status overlap_sweep_begin(const struct graph *graph, const struct timeline *timeline,
                                     struct overlap_sweep **out, struct weir_error *err)
{
    struct overlap_sweep *sweep = calloc(1, sizeof *sweep);
    enum weir_status status;

    if (sweep == NULL) {
        return weir_error_memory(err);
    }
    sweep->timeline = timeline;
    sweep->out.n_classes = graph_n_classes(graph);
    sweep->n_classes = sweep->out.n_classes + 1;
    sweep->err = err;
    status = make_room(sweep);
    if (status != WEIR_OK) {
        overlap_sweep_free(sweep);
        return status;
    }
    *out = sweep;
    return WEIR_OK;
}

enum weir_status overlap_sweep_add(struct overlap_sweep *sweep, const struct started *nodes,
                                   uint32_t n, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    sweep->err = err;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = add_node(sweep, &nodes[i]);
    }
    return status;
}

enum weir_status overlap_sweep_end(struct overlap_sweep *sweep, struct overlaps *out,
                                   struct weir_error *err)
{
    bool is_followed;
    enum weir_status status;

    sweep->err = err;
    status = end_up_to(sweep, INT64_MAX, WEIR_NONE, &is_followed);
    if (status == WEIR_OK) {
        status = take_pairs(sweep);
    }
    if (status == WEIR_OK) {
        *out = sweep->out;
        sweep->out = (struct overlaps){.n_pairs = 0};
    }
    return status;
}

void overlap_sweep_free(struct overlap_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    free(sweep->heap);
    together_free(sweep->together);
    overlaps_free(&sweep->out);
    free(sweep);
}

static enum weir_status take_some(void *arg, const struct started *nodes, uint32_t n,
                                  struct weir_error *err)
{
    return overlap_sweep_add(arg, nodes, n, err);
}

enum weir_status overlaps_find(const struct graph *graph, const struct timeline *timeline,
                               const weir_node *order, uint32_t n_started, struct overlaps *out,
                               struct weir_error *err)
{
    struct overlap_sweep *sweep = NULL;
    enum weir_status status = overlap_sweep_begin(graph, timeline, &sweep, err);

    if (status == WEIR_OK) {
        status = started_each(graph, timeline, order, n_started, take_some, sweep, err);
    }
    if (status == WEIR_OK) {
        status = overlap_sweep_end(sweep, out, err);
    }
    overlap_sweep_free(sweep);
    return status;
}
