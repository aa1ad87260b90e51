/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of charging, applied to the times of a replay: a copy from the start of its allocation
 * or first filler to its reclamation or last use, workspace while its node runs, staging until every
 * node that uses the copy it filled has finished. */
#include "replay/account.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/* Bytes come or go. */
struct change {
    int64_t t_ns;
    uint32_t domain;
    uint32_t number; /* in the order in which changes were found: settles ties */
    int64_t bytes;
};

struct bytes {
    const struct schedule *schedule;
    const int64_t *ended_ns;
    struct timeline *timeline;
    /* By copy. */
    int64_t *begin_ns;           /* -1: did not begin */
    uint32_t *begun_by;          /* node; WEIR_NONE: initial */
    int64_t *last_use_ns;        /* of its users and holders */
    int64_t *last_user_ns;       /* of its users alone */
    struct timeline_hold *holds; /* before they are sorted */
    size_t n_holds, holds_room;
};

static int64_t scaled(const struct bytes *b, int64_t bytes)
{
    double product = (double)bytes * b->schedule->scale_bytes;

    return b->schedule->scale_bytes == 1 ? bytes
           : product < 9e18              ? (int64_t)llround(product)
                                         : INT64_MAX;
}

static enum weir_status add_hold(struct bytes *b, weir_domain domain, weir_object object,
                                 uint32_t node, int64_t bytes, int64_t acquire_ns,
                                 int64_t release_ns, struct weir_error *err)
{
    enum weir_status status = array_grow(&b->holds, &b->holds_room, b->n_holds + 1, err);

    if (status == WEIR_OK)
        b->holds[b->n_holds++] = (struct timeline_hold){.domain = domain,
                                                        .object = object,
                                                        .node = {node},
                                                        .bytes = scaled(b, bytes),
                                                        .acquire_ns = acquire_ns,
                                                        .release_ns = release_ns};
    return status;
}

/* ---- lifetimes of copies ---- */

static void touch(struct bytes *b, uint32_t node, const struct bind_touch *touched)
{
    const struct bind_copy *copy = bind_copy(b->schedule->binding, touched->copy);
    const struct timeline_span *span = &b->timeline->spans[node];
    uint32_t c = touched->copy.index;
    bool begins = (touched->roles & BIND_ALLOCATES) != 0 ||
                  ((touched->roles & BIND_FILLS) != 0 && !weir_is(copy->allocation));

    if (begins && !copy->is_initial && span->start_ns >= 0 &&
        (b->begin_ns[c] < 0 || span->start_ns < b->begin_ns[c])) {
        b->begin_ns[c] = span->start_ns;
        b->begun_by[c] = node;
    }
    if (b->ended_ns[node] > b->last_use_ns[c])
        b->last_use_ns[c] = b->ended_ns[node];
    if ((touched->roles & (BIND_READS | BIND_FILLS)) != 0 && span->start_ns >= 0 &&
        b->ended_ns[node] > b->last_user_ns[c])
        b->last_user_ns[c] = b->ended_ns[node];
}

static void find_lifetimes(struct bytes *b)
{
    for (uint32_t c = 0; c < bind_n_copies(b->schedule->binding); c++) {
        b->begin_ns[c] = bind_copy(b->schedule->binding, (weir_copy){c})->is_initial ? 0 : -1;
        b->begun_by[c] = WEIR_NONE;
        b->last_use_ns[c] = -1;
        b->last_user_ns[c] = -1;
    }
    for (uint32_t i = 0; i < b->timeline->n_nodes; i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(b->schedule->binding, (weir_node){i}, &n_touches);

        for (uint32_t t = 0; t < n_touches; t++)
            touch(b, i, &touches[t]);
    }
}

static enum weir_status hold_copies(struct bytes *b, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t c = 0; c < bind_n_copies(b->schedule->binding) && status == WEIR_OK; c++) {
        const struct bind_copy *copy = bind_copy(b->schedule->binding, (weir_copy){c});
        int64_t end_ns = b->last_use_ns[c];

        if (b->begin_ns[c] < 0 || copy->bytes == 0)
            continue;
        if (weir_is(copy->reclamation))
            end_ns = b->ended_ns[copy->reclamation.index];
        else if (copy->stays)
            end_ns = -1;
        status = add_hold(b, copy->domain, copy->object, b->begun_by[c], copy->bytes,
                          b->begin_ns[c], end_ns, err);
    }
    return status;
}

/* ---- workspace and staging ---- */

static int64_t staging_end_ns(const struct bytes *b, uint32_t node)
{
    int64_t end_ns = b->ended_ns[node];
    uint32_t n_touches;
    const struct bind_touch *touches =
        bind_touches(b->schedule->binding, (weir_node){node}, &n_touches);

    for (uint32_t t = 0; t < n_touches; t++) {
        if ((touches[t].roles & BIND_FILLS) != 0 && b->last_user_ns[touches[t].copy.index] > end_ns)
            end_ns = b->last_user_ns[touches[t].copy.index];
    }
    return end_ns;
}

static enum weir_status hold_charges(struct bytes *b, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < b->timeline->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_span *span = &b->timeline->spans[i];
        struct graph_node value;

        if (span->start_ns < 0)
            continue;
        graph_node(b->schedule->graph, (weir_node){i}, &value);
        for (uint32_t w = 0; w < value.n_workspace && status == WEIR_OK; w++) {
            weir_domain domain =
                graph_charge_domain(b->schedule->graph, (weir_node){i}, &value.workspace[w]);

            status = add_hold(b, domain, (weir_object){WEIR_NONE}, i, value.workspace[w].bytes,
                              span->start_ns, span->finish_ns, err);
        }
        if (status == WEIR_OK && value.staging.bytes > 0)
            status =
                add_hold(b, graph_charge_domain(b->schedule->graph, (weir_node){i}, &value.staging),
                         (weir_object){WEIR_NONE}, i, value.staging.bytes, span->start_ns,
                         staging_end_ns(b, i), err);
    }
    return status;
}

/* ---- pressure ---- */

static int compare_holds(const void *a, const void *b)
{
    const struct timeline_hold *x = a;
    const struct timeline_hold *y = b;

    if (x->acquire_ns != y->acquire_ns)
        return x->acquire_ns < y->acquire_ns ? -1 : 1;
    if (x->domain.index != y->domain.index)
        return x->domain.index < y->domain.index ? -1 : 1;
    if (x->node.index != y->node.index) /* none, of initial copies, comes first */
        return x->node.index + 1 < y->node.index + 1 ? -1 : 1;
    return x->object.index < y->object.index ? -1 : x->object.index > y->object.index;
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;

    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Adds up the changes of each domain and instant. */
static enum weir_status add_pressure(struct bytes *b, const struct change *changes, size_t n,
                                     int64_t *used_bytes, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    /* Each domain has a row at 0; what comes then replaces it. */
    for (uint32_t d = 0; d < b->timeline->n_domains && status == WEIR_OK; d++)
        status = timeline_add_pressure(b->timeline, &(struct timeline_pressure){{d}, 0, 0}, err);
    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        uint32_t d = changes[i].domain;
        bool is_last =
            i + 1 == n || changes[i + 1].t_ns != changes[i].t_ns || changes[i + 1].domain != d;

        used_bytes[d] += changes[i].bytes;
        if (!is_last)
            continue;
        if (used_bytes[d] > b->timeline->peak_bytes[d])
            b->timeline->peak_bytes[d] = used_bytes[d];
        status = timeline_add_pressure(
            b->timeline, &(struct timeline_pressure){{d}, changes[i].t_ns, used_bytes[d]}, err);
    }
    return status;
}

static enum weir_status settle(struct bytes *b, struct weir_error *err)
{
    struct change *changes = malloc((2 * b->n_holds + 1) * sizeof *changes);
    int64_t *used_bytes = calloc(b->timeline->n_domains + (size_t)1, sizeof *used_bytes);
    size_t n = 0;
    enum weir_status status =
        changes == NULL || used_bytes == NULL ? weir_error_memory(err) : WEIR_OK;

    if (b->n_holds > 0)
        qsort(b->holds, b->n_holds, sizeof *b->holds, compare_holds);
    for (size_t i = 0; i < b->n_holds && status == WEIR_OK; i++) {
        const struct timeline_hold *hold = &b->holds[i];

        status = timeline_add_hold(b->timeline, hold, err);
        changes[n] =
            (struct change){hold->acquire_ns, hold->domain.index, (uint32_t)n, hold->bytes};
        n++;
        if (hold->release_ns < 0)
            continue;
        changes[n] =
            (struct change){hold->release_ns, hold->domain.index, (uint32_t)n, -hold->bytes};
        n++;
    }
    if (status == WEIR_OK) {
        qsort(changes, n, sizeof *changes, compare_changes);
        status = add_pressure(b, changes, n, used_bytes, err);
    }
    free(changes);
    free(used_bytes);
    return status;
}

enum weir_status account_bytes(const struct schedule *schedule, const int64_t *ended_ns,
                               struct timeline *timeline, struct weir_error *err)
{
    size_t n = bind_n_copies(schedule->binding) + (size_t)1;
    struct bytes b = {.schedule = schedule,
                      .ended_ns = ended_ns,
                      .timeline = timeline,
                      .begin_ns = calloc(n, sizeof *b.begin_ns),
                      .begun_by = calloc(n, sizeof *b.begun_by),
                      .last_use_ns = calloc(n, sizeof *b.last_use_ns),
                      .last_user_ns = calloc(n, sizeof *b.last_user_ns)};
    enum weir_status status = WEIR_OK;

    if (b.begin_ns == NULL || b.begun_by == NULL || b.last_use_ns == NULL || b.last_user_ns == NULL)
        status = weir_error_memory(err);
    if (status == WEIR_OK) {
        find_lifetimes(&b);
        status = hold_copies(&b, err);
    }
    if (status == WEIR_OK)
        status = hold_charges(&b, err);
    if (status == WEIR_OK)
        status = settle(&b, err);
    free(b.begin_ns);
    free(b.begun_by);
    free(b.last_use_ns);
    free(b.last_user_ns);
    free(b.holds);
    return status;
}
