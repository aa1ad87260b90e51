/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the induced edges do not say about bytes: they hold for the copies that began with the nodes
 * that began them, and where bytes were staged for several copies they name the last uses of the copy
 * that ended last. */
#include <stdlib.h>

#include "base/array.h"
#include "sim/retime_internal.h"

/* --- beginnings ----------------------------------------------------------------------------- */

static bool may_begin(const struct retime_build *build, const struct bind_touch *touch)
{
    const struct bind_copy *copy = bind_copy(build->binding, touch->copy);

    return !copy->is_initial && !weir_is(copy->allocation) && (touch->roles & BIND_FILLS) != 0;
}

/* In the order of starts the first that may begin a copy begins it. */
static enum weir_status order_beginnings(struct retime_build *build)
{
    uint32_t n_copies = bind_n_copies(build->binding);
    weir_node *begun_by = malloc(((size_t)n_copies + 1) * sizeof *begun_by);
    enum weir_status status = begun_by == NULL ? weir_error_memory(build->err) : WEIR_OK;

    for (uint32_t i = 0; i < n_copies && begun_by != NULL; i++) {
        begun_by[i].index = WEIR_NONE;
    }
    for (uint32_t i = 0; i < build->n_started && status == WEIR_OK; i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(build->binding, build->order[i], &n_touches);

        for (uint32_t j = 0; j < n_touches && status == WEIR_OK; j++) {
            weir_node *begins = &begun_by[touches[j].copy.index];

            if (!may_begin(build, &touches[j])) {
                continue;
            }
            if (!weir_is(*begins)) {
                *begins = build->order[i];
            } else if (!weir_same(*begins, build->order[i])) {
                status = retime_add_pair(build, *begins, build->order[i], true);
            }
        }
    }
    free(begun_by);
    return status;
}

/* --- stagings for several copies ------------------------------------------------------------ */

/* A last use of a copy for which bytes were staged together with others. */
struct staged {
    weir_node user, stager;
    weir_domain domain;
};

struct stagings {
    struct retime_build *build;
    struct staged *items; /* by user */
    size_t room, n;
};

static enum weir_status add_users(struct stagings *stagings, weir_node stager, weir_domain domain,
                                  weir_copy copy)
{
    uint32_t cursor = 0;
    weir_node user;
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && bind_last_use(stagings->build->binding, copy, &cursor, &user)) {
        status =
            array_grow(&stagings->items, &stagings->room, stagings->n + 1, stagings->build->err);
        if (status == WEIR_OK) {
            stagings->items[stagings->n++] = (struct staged){user, stager, domain};
        }
    }
    return status;
}

/* Of a node that stages bytes and fills more than one copy. */
static enum weir_status add_staging(struct stagings *stagings, weir_node node)
{
    const struct retime_build *build = stagings->build;
    struct graph_node value;
    uint32_t n_touches, n_filled = 0;
    const struct bind_touch *touches = bind_touches(build->binding, node, &n_touches);
    enum weir_status status = WEIR_OK;

    graph_node(build->graph, node, &value);
    for (uint32_t i = 0; i < n_touches; i++) {
        n_filled += (touches[i].roles & BIND_FILLS) != 0 ? 1 : 0;
    }
    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        if (value.staging.bytes > 0 && n_filled > 1 && (touches[i].roles & BIND_FILLS) != 0) {
            status =
                add_users(stagings, node, graph_charge_domain(build->graph, node, &value.staging),
                          touches[i].copy);
        }
    }
    return status;
}

static int by_user(const void *left, const void *right)
{
    const struct staged *a = left, *b = right;

    if (a->user.index != b->user.index) {
        return a->user.index < b->user.index ? -1 : 1;
    }
    return (a->stager.index > b->stager.index) - (a->stager.index < b->stager.index);
}

/* The taker waits for every last use of what the node filled that was over before it. */
static enum weir_status await_users(struct stagings *stagings, weir_node stager, weir_node taker)
{
    struct retime_build *build = stagings->build;
    uint32_t n_touches, cursor;
    const struct bind_touch *touches = bind_touches(build->binding, stager, &n_touches);
    enum weir_status status = WEIR_OK;
    weir_node user;

    for (uint32_t i = 0; i < n_touches; i++) {
        cursor = 0;
        while (status == WEIR_OK && (touches[i].roles & BIND_FILLS) != 0 &&
               bind_last_use(build->binding, touches[i].copy, &cursor, &user)) {
            if (retime_did_run(build, user) &&
                retime_span(build, user)->order < retime_span(build, taker)->order &&
                retime_span(build, user)->finish_ns <= retime_span(build, taker)->start_ns) {
                status = retime_add_pair(build, user, taker, false);
            }
        }
    }
    return status;
}

static enum weir_status order_takers(struct stagings *stagings)
{
    const struct timeline *timeline = stagings->build->timeline;
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < timeline->n_induced && status == WEIR_OK; i++) {
        const struct timeline_induced *induced = &timeline->induced[i];
        size_t low = 0, high = stagings->n;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (stagings->items[middle].user.index < induced->producer.index) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; low < stagings->n && weir_same(stagings->items[low].user, induced->producer) &&
               status == WEIR_OK;
             low++) {
            if (weir_same(stagings->items[low].domain, induced->domain)) {
                status = await_users(stagings, stagings->items[low].stager, induced->consumer);
            }
        }
    }
    return status;
}

static enum weir_status order_stagings(struct retime_build *build)
{
    struct stagings stagings = {.build = build};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < build->n_started && status == WEIR_OK; i++) {
        status = add_staging(&stagings, build->order[i]);
    }
    if (status == WEIR_OK && stagings.n > 0) {
        qsort(stagings.items, stagings.n, sizeof *stagings.items, by_user);
        status = order_takers(&stagings);
    }
    free(stagings.items);
    return status;
}

enum weir_status retime_order_bytes(struct retime_build *build)
{
    enum weir_status status = order_beginnings(build);

    return status == WEIR_OK && build->timeline->n_induced > 0 ? order_stagings(build) : status;
}
