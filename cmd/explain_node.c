/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known about one node of a run. */
#include <stdlib.h>

#include "cmd/explain_internal.h"

const char *explain_role(uint32_t roles, int at)
{
    static const struct {
        uint32_t role;
        const char *name;
    } names[] = {{BIND_ALLOCATES, "allocates"},
                 {BIND_READS, "reads"},
                 {BIND_FILLS, "fills"},
                 {BIND_HOLDS, "holds"},
                 {BIND_RECLAIMS, "reclaims"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((roles & names[i].role) != 0 && at-- == 0) {
            return names[i].name;
        }
    }
    return NULL;
}

/* From the node that bound this one on: what bound each in its turn. */
static void find_way_back(struct explain_node *of)
{
    weir_node node = of->why.bound.node;

    while (weir_is(node) && of->n_back < EXPLAIN_BACK) {
        of->back_of[of->n_back] = node;
        of->back[of->n_back] = bound_of_start(of->explained->index, node);
        node = of->back[of->n_back++].node;
    }
}

/* Bytes of the copy while the node ran, or when it began or ended them. */
static size_t hold_of(const struct explain_node *of, const struct bind_copy *copy)
{
    const struct timeline *timeline = of->explained->timeline;

    for (size_t i = 0; i < timeline->n_holds && of->has_started; i++) {
        const struct timeline_hold *hold = &timeline->holds[i];

        if (weir_same(hold->object, copy->object) && weir_same(hold->domain, copy->domain) &&
            hold->acquire_ns <= of->span->start_ns &&
            (hold->release_ns < 0 || hold->release_ns >= of->span->finish_ns)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static enum weir_status find_copies(struct explain_node *of, struct weir_error *err)
{
    const struct binding *binding = bound_binding(of->explained->index);
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, of->node, &n);

    of->copies = calloc((size_t)n + 1, sizeof *of->copies);
    if (of->copies == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        of->copies[i].copy = *bind_copy(binding, touches[i].copy);
        of->copies[i].roles = touches[i].roles;
        of->copies[i].hold = hold_of(of, &of->copies[i].copy);
    }
    of->n_copies = n;
    return WEIR_OK;
}

static enum weir_status find_way(struct explain_node *of, struct weir_error *err)
{
    enum weir_status status =
        gave_way_find(of->explained->graph, of->explained->timeline, &of->ways, &of->n_ways, err);

    for (size_t i = 0; status == WEIR_OK && i < of->n_ways; i++) {
        if (weir_same(of->ways[i].node, of->node)) {
            of->way = &of->ways[i];
        }
    }
    return status;
}

enum weir_status explain_node_find(const struct explained *explained, weir_node node, size_t n_rows,
                                   struct explain_node *out, struct weir_error *err)
{
    enum weir_status status;

    *out = (struct explain_node){.explained = explained,
                                 .node = node,
                                 .span = &explained->timeline->spans[node.index],
                                 .n_rows = n_rows};
    out->has_started = out->span->start_ns >= 0;
    for (size_t i = 0; i < explained->n_links; i++) {
        out->is_on_chain |= weir_same(explained->links[i].node, node);
    }
    status = find_copies(out, err);
    if (status == WEIR_OK && !out->has_started) {
        return find_way(out, err);
    }
    if (status == WEIR_OK) {
        status = why_find(explained->index, node, &out->why, err);
    }
    if (status == WEIR_OK) {
        find_way_back(out);
        status = overlaps_beside(explained->timeline, node, &out->beside, &out->n_beside, err);
    }
    return status;
}

void explain_node_free(struct explain_node *of)
{
    free(of->beside);
    free(of->copies);
    free(of->ways);
    *of = (struct explain_node){.n_rows = 0};
}
