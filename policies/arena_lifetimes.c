/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By which nodes the buffers of a graph begin and end. */
#include <stdlib.h>

#include "policies/arena_graph_internal.h"
#include "policies/arena_order.h"

void arena_lifetimes_free(struct arena_lifetimes *lifetimes)
{
    if (lifetimes != NULL) {
        free(lifetimes->position);
        free(lifetimes->begin_first);
        free(lifetimes->end_first);
        free(lifetimes->begins);
        free(lifetimes->ends);
        free(lifetimes);
    }
}

/* Which nodes begin and end each buffer. Counted first (lists NULL), then written. */
struct listing {
    uint32_t *first;
    weir_node *nodes; /* NULL while counting */
};

static void list_node(struct listing *listing, uint32_t buffer, weir_node node)
{
    if (listing->nodes == NULL) {
        listing->first[buffer + 1]++;
    } else {
        listing->nodes[listing->first[buffer]++] = node;
    }
}

static void list_copy_begins(const struct arena_drafting *drafting, struct listing *begins)
{
    for (uint32_t i = 0; i < graph_n_nodes(drafting->graph); i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(drafting->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            const struct bind_copy *copy = bind_copy(drafting->binding, touches[j].copy);
            uint32_t buffer = drafting->buffer_of[touches[j].copy.index];

            if (buffer != WEIR_NONE && !copy->is_initial &&
                (touches[j].roles & (weir_is(copy->allocation) ? BIND_ALLOCATES : BIND_FILLS)) !=
                    0) {
                list_node(begins, buffer, (weir_node){i});
            }
        }
    }
}

static void list_ends(const struct arena_drafting *drafting, uint32_t buffer, struct listing *ends)
{
    const struct arena_draft_buffer *at = &drafting->items[buffer];
    uint32_t cursor = 0;
    weir_node node;

    if (weir_is(at->node)) {
        list_node(ends, buffer, at->node);
    } else if (weir_is(bind_copy(drafting->binding, at->copy)->reclamation)) {
        list_node(ends, buffer, bind_copy(drafting->binding, at->copy)->reclamation);
        return;
    } else if (bind_copy(drafting->binding, at->copy)->stays) {
        return;
    }
    while (weir_is(at->copy) && bind_last_use(drafting->binding, at->copy, &cursor, &node)) {
        list_node(ends, buffer, node);
    }
}

static void list_all(const struct arena_drafting *drafting, struct listing *begins,
                     struct listing *ends)
{
    list_copy_begins(drafting, begins);
    for (uint32_t i = 0; i < drafting->n; i++) {
        if (weir_is(drafting->items[i].node)) {
            list_node(begins, i, drafting->items[i].node);
        }
        list_ends(drafting, i, ends);
    }
}

/* From counts at [i + 1] to where the items of i are; after writing, first[i] is one too far. */
static enum weir_status open_listing(struct listing *listing, uint32_t n, struct weir_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        listing->first[i + 1] += listing->first[i];
    }
    listing->nodes = malloc(((size_t)listing->first[n] + 1) * sizeof *listing->nodes);
    return listing->nodes == NULL ? weir_error_memory(err) : WEIR_OK;
}

static void close_listing(struct listing *listing, uint32_t n)
{
    memmove(listing->first + 1, listing->first, n * sizeof *listing->first);
    listing->first[0] = 0;
}

static enum weir_status fill_lifetimes(struct arena_drafting *drafting,
                                       struct arena_lifetimes *made, struct weir_error *err)
{
    uint32_t n = drafting->n;
    struct listing begins = {NULL, NULL}, ends = {NULL, NULL};
    enum weir_status status;

    made->begin_first = begins.first = calloc((size_t)n + 2, sizeof *begins.first);
    made->end_first = ends.first = calloc((size_t)n + 2, sizeof *ends.first);
    if (begins.first == NULL || ends.first == NULL) {
        return weir_error_memory(err);
    }
    list_all(drafting, &begins, &ends);
    status = open_listing(&begins, n, err);
    if (status == WEIR_OK) {
        status = open_listing(&ends, n, err);
    }
    made->begins = begins.nodes;
    made->ends = ends.nodes;
    if (status == WEIR_OK) {
        list_all(drafting, &begins, &ends);
        close_listing(&begins, n);
        close_listing(&ends, n);
    }
    return status;
}

enum weir_status arena_lifetimes_make(struct arena_drafting *drafting,
                                      struct arena_problem *problem, struct weir_error *err)
{
    struct arena_lifetimes *made = calloc(1, sizeof *made);
    enum weir_status status;

    if (made == NULL) {
        return weir_error_memory(err);
    }
    made->binding = drafting->binding;
    made->n_buffers = drafting->n;
    made->position = drafting->position;
    drafting->position = NULL;
    status = fill_lifetimes(drafting, made, err);
    if (status == WEIR_OK) {
        status = arena_order_make(made, &problem->order, err);
    }
    if (status != WEIR_OK) {
        arena_lifetimes_free(made);
        return status;
    }
    problem->lifetimes = made;
    return WEIR_OK;
}
