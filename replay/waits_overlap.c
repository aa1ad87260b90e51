/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overlaps that must not arise. The simulation kept such nodes apart by when it started them; a
 * replay, whose times are other, needs an order: that of the plan. Nodes on one queue are in order
 * anyway, so of each other queue only the last node before is waited for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/waits_internal.h"

/* A name, of a class or of a node, that some pair forbids with others. */
struct party {
    uint32_t *others; /* parties that it must not run with */
    size_t n_others, others_room;
    uint32_t *last; /* by queue: the node that started last; NULL until there is one */
};

struct forbidding {
    const struct graph *graph;
    const struct waits_steps *steps;
    const struct lanes *lanes;
    struct party *parties; /* classes first, then nodes that a line names */
    size_t n_parties, parties_room;
    uint32_t *party_of_node; /* by node; NULL: no line names a node */
    struct made_edges *edges;
};

static enum weir_status add_other(struct forbidding *f, uint32_t party, uint32_t other,
                                  struct weir_error *err)
{
    struct party *p = &f->parties[party];
    enum weir_status status;

    for (size_t i = 0; i < p->n_others; i++) {
        if (p->others[i] == other)
            return WEIR_OK;
    }
    status = array_grow(&p->others, &p->others_room, p->n_others + 1, err);
    if (status == WEIR_OK)
        p->others[p->n_others++] = other;
    return status;
}

static enum weir_status add_pair(struct forbidding *f, uint32_t a, uint32_t b,
                                 struct weir_error *err)
{
    enum weir_status status = add_other(f, a, b, err);

    return status == WEIR_OK ? add_other(f, b, a, err) : status;
}

static enum weir_status node_party(struct forbidding *f, weir_node node, uint32_t *out,
                                   struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(f->graph);
    enum weir_status status;

    if (f->party_of_node == NULL) {
        f->party_of_node = malloc(n_nodes * sizeof *f->party_of_node);
        if (f->party_of_node == NULL)
            return weir_error_memory(err);
        memset(f->party_of_node, 0xff, n_nodes * sizeof *f->party_of_node);
    }
    if (f->party_of_node[node.index] == WEIR_NONE) {
        status = array_grow(&f->parties, &f->parties_room, f->n_parties + 1, err);
        if (status != WEIR_OK)
            return status;
        f->parties[f->n_parties] = (struct party){.others = NULL};
        f->party_of_node[node.index] = (uint32_t)f->n_parties++;
    }
    *out = f->party_of_node[node.index];
    return WEIR_OK;
}

/* The parties that a name stands for: a class, a node, or both. */
static enum weir_status parties_of(struct forbidding *f, weir_text name, uint32_t out[2],
                                   uint32_t *n_out, struct weir_error *err)
{
    weir_class class_ = graph_find_class(f->graph, name);
    weir_node node = graph_find_node(f->graph, name);

    *n_out = 0;
    if (weir_is(class_))
        out[(*n_out)++] = class_.index;
    return weir_is(node) ? node_party(f, node, &out[(*n_out)++], err) : WEIR_OK;
}

static enum weir_status add_lines(struct forbidding *f, enum overlap_rule rule,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_overlaps(f->graph) && status == WEIR_OK; i++) {
        const struct graph_overlap *line = graph_overlap(f->graph, i);
        uint32_t a[2];
        uint32_t b[2];
        uint32_t n_a;
        uint32_t n_b;

        if (line->rule != rule)
            continue;
        status = parties_of(f, line->a, a, &n_a, err);
        if (status == WEIR_OK)
            status = parties_of(f, line->b, b, &n_b, err);
        for (uint32_t p = 0; status == WEIR_OK && p < n_a * n_b; p++)
            status = add_pair(f, a[p / n_b], b[p % n_b], err);
    }
    return status;
}

/* ---- pairs of classes of which nothing is known ---- */

static bool has_factor(const struct graph *graph, uint32_t slowed, uint32_t beside)
{
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        if (graph_kappa(graph, i)->slowed.index == slowed &&
            graph_kappa(graph, i)->beside.index == beside)
            return true;
    }
    return false;
}

static bool is_allowed(const struct graph *graph, weir_text a, weir_text b)
{
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        const struct graph_overlap *line = graph_overlap(graph, i);

        if (line->rule == OVERLAP_ALLOWED && ((weir_same(line->a, a) && weir_same(line->b, b)) ||
                                              (weir_same(line->a, b) && weir_same(line->b, a))))
            return true;
    }
    return false;
}

static enum weir_status add_without_factor(struct forbidding *f, struct weir_error *err)
{
    uint32_t n_classes = graph_n_classes(f->graph);
    enum weir_status status = WEIR_OK;

    for (uint32_t a = 0; a < n_classes; a++) {
        for (uint32_t b = a; b < n_classes && status == WEIR_OK; b++) {
            if ((!has_factor(f->graph, a, b) || !has_factor(f->graph, b, a)) &&
                !is_allowed(f->graph, graph_class_name(f->graph, (weir_class){a}),
                            graph_class_name(f->graph, (weir_class){b})))
                status = add_pair(f, a, b, err);
        }
    }
    return status;
}

/* ---- walking the plan ---- */

/* The node waits for the last of the party on each other queue. */
static enum weir_status wait_for_party(struct forbidding *f, const struct party *party,
                                       uint32_t node, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t q = 0; party->last != NULL && q < f->lanes->n_lanes && status == WEIR_OK; q++) {
        if (party->last[q] != WEIR_NONE && q != f->lanes->of_node[node])
            status = made_edges_add(
                f->edges, (struct made_edge){party->last[q], node, false, INSERTED_OVERLAP}, err);
    }
    return status;
}

static enum weir_status note_last(struct forbidding *f, uint32_t party, uint32_t node,
                                  struct weir_error *err)
{
    struct party *p = &f->parties[party];

    if (p->n_others == 0)
        return WEIR_OK;
    if (p->last == NULL) {
        p->last = malloc((f->lanes->n_lanes + (size_t)1) * sizeof *p->last);
        if (p->last == NULL)
            return weir_error_memory(err);
        memset(p->last, 0xff, f->lanes->n_lanes * sizeof *p->last);
    }
    p->last[f->lanes->of_node[node]] = node;
    return WEIR_OK;
}

/* The parties of a node: its class and itself. */
static uint32_t own_parties(const struct forbidding *f, uint32_t node, uint32_t out[2])
{
    weir_class class_ = graph_node_class(f->graph, (weir_node){node});
    uint32_t n = 0;

    if (weir_is(class_))
        out[n++] = class_.index;
    if (f->party_of_node != NULL && f->party_of_node[node] != WEIR_NONE)
        out[n++] = f->party_of_node[node];
    return n;
}

static enum weir_status walk_node(struct forbidding *f, uint32_t node, struct weir_error *err)
{
    uint32_t own[2];
    uint32_t n_own = own_parties(f, node, own);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_own; i++) {
        const struct party *party = &f->parties[own[i]];

        for (size_t o = 0; o < party->n_others && status == WEIR_OK; o++)
            status = wait_for_party(f, &f->parties[party->others[o]], node, err);
    }
    for (uint32_t i = 0; i < n_own && status == WEIR_OK; i++)
        status = note_last(f, own[i], node, err);
    return status;
}

static enum weir_status collect(struct forbidding *f, const struct waits_options *options,
                                struct weir_error *err)
{
    enum weir_status status =
        array_grow(&f->parties, &f->parties_room, (size_t)graph_n_classes(f->graph) + 1, err);

    f->n_parties = graph_n_classes(f->graph);
    if (status == WEIR_OK)
        status = add_lines(f, OVERLAP_FORBIDDEN, err);
    if (status == WEIR_OK && options->forbids_unknown)
        status = add_lines(f, OVERLAP_UNKNOWN, err);
    if (status == WEIR_OK && options->forbids_unknown && options->unknown_by_factor)
        status = add_without_factor(f, err);
    return status;
}

enum weir_status waits_forbid(const struct graph *graph, const struct timeline *plan,
                              const struct waits_steps *steps, const struct lanes *lanes,
                              const struct waits_options *options, struct made_edges *edges,
                              struct weir_error *err)
{
    struct forbidding f = {.graph = graph, .steps = steps, .lanes = lanes, .edges = edges};
    enum weir_status status = WEIR_OK;

    if (graph_n_overlaps(graph) == 0 && !options->forbids_unknown)
        return WEIR_OK;
    status = collect(&f, options, err);
    for (uint32_t s = 0; s < steps->n_started && status == WEIR_OK; s++) {
        const struct timeline_span *span = &plan->spans[steps->node_of[s]];

        /* Nodes of length zero never overlap. */
        if (span->isolated_ns != 0 && lanes->of_node[steps->node_of[s]] != WEIR_NONE)
            status = walk_node(&f, steps->node_of[s], err);
    }
    for (size_t p = 0; p < f.n_parties && f.parties != NULL; p++) {
        free(f.parties[p].others);
        free(f.parties[p].last);
    }
    free(f.parties);
    free(f.party_of_node);
    return status;
}
