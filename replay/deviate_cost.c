/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each action costs the makespan: the longest way through the steps of the replay, less the
 * longest when this action alone is come to and done as planned. Steps that do not run pass on. */
#include <stdlib.h>

#include "graph/around.h"
#include "replay/deviate_internal.h"

/* The steps as a network, its places in the order of the steps. */
struct costing {
    const struct deviating *d;
    uint32_t *place; /* by step */
    uint32_t *first, *from;
    int64_t *lag_ns;
    int64_t *times_ns; /* by place: release, ready, start, length, one after the other */
    bool *is_passage;
    struct around_network network;
};

static size_t count_edges(const struct deviating *d)
{
    size_t n = 0;

    for (uint32_t s = 0; s < d->schedule->steps.n_steps; s++)
        n += d->schedule->step[s].n_waits + (size_t)(d->order->before[s] != WEIR_NONE);
    return n;
}

static enum weir_status make_room(struct costing *c, struct weir_error *err)
{
    size_t n = c->d->schedule->steps.n_steps + (size_t)1, n_edges = count_edges(c->d) + 1;

    c->place = malloc(n * sizeof *c->place);
    c->first = malloc(n * sizeof *c->first);
    c->from = malloc(n_edges * sizeof *c->from);
    c->lag_ns = malloc(n_edges * sizeof *c->lag_ns);
    c->times_ns = malloc(4 * n * sizeof *c->times_ns);
    c->is_passage = malloc(n * sizeof *c->is_passage);
    return c->place == NULL || c->first == NULL || c->from == NULL || c->lag_ns == NULL ||
                   c->times_ns == NULL || c->is_passage == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

static void add_edges(struct costing *c, uint32_t s, uint32_t *n_edges)
{
    const struct step *step = &c->d->schedule->step[s];

    for (uint32_t w = 0; w < step->n_waits; w++) {
        c->from[*n_edges] =
            c->place[step->waits[w].step] | (step->waits[w].is_from_start ? AROUND_FROM_START : 0);
        c->lag_ns[(*n_edges)++] = step->waits[w].lag_ns;
    }
    if (c->d->order->before[s] != WEIR_NONE) {
        c->from[*n_edges] = c->place[c->d->order->before[s]];
        c->lag_ns[(*n_edges)++] = 0;
    }
}

static void fill(struct costing *c)
{
    uint32_t n = c->d->order->n_steps, n_edges = 0;
    int64_t *release_ns = c->times_ns, *ready_ns = release_ns + n, *start_ns = ready_ns + n,
            *length_ns = start_ns + n;

    for (uint32_t p = 0; p < n; p++) {
        uint32_t s = c->d->order->steps[p];
        const struct step_times *real = &c->d->real[s];

        c->place[s] = p;
        c->first[p] = n_edges;
        add_edges(c, s, &n_edges);
        release_ns[p] = c->d->schedule->step[s].release_ns;
        ready_ns[p] = real->ready_ns;
        start_ns[p] = real->start_ns;
        length_ns[p] = real->finish_ns - real->start_ns;
        c->is_passage[p] = s >= c->d->schedule->steps.n_started;
    }
    c->first[n] = n_edges;
    c->network = (struct around_network){.n_places = n,
                                         .first = c->first,
                                         .from = c->from,
                                         .lag_ns = c->lag_ns,
                                         .release_ns = release_ns,
                                         .ready_ns = ready_ns,
                                         .start_ns = start_ns,
                                         .length_ns = length_ns,
                                         .is_passage = c->is_passage};
}

static int64_t cost_of(const struct costing *c, const struct around *around, uint32_t s)
{
    const struct step_times *real = &c->d->real[s];
    const struct step_times *planned = &c->d->planned[s];

    return c->d->makespan_ns - around_end_ns(around, c->place[s],
                                             real->ready_ns + planned->start_ns - planned->ready_ns,
                                             planned->finish_ns - planned->start_ns);
}

static enum weir_status find_costs(struct costing *c, struct deviate_action *actions,
                                   struct weir_error *err)
{
    struct around around;
    enum weir_status status;

    fill(c);
    status = around_find(&c->network, &around, err);
    if (status != WEIR_OK)
        return status;
    for (uint32_t s = 0; s < c->d->schedule->steps.n_started; s++)
        actions[s].cost_ns = cost_of(c, &around, s);
    around_free(&around);
    return WEIR_OK;
}

enum weir_status deviate_cost(const struct deviating *d, struct deviate_action *actions,
                              struct weir_error *err)
{
    struct costing c = {.d = d};
    enum weir_status status = make_room(&c, err);

    if (status == WEIR_OK)
        status = find_costs(&c, actions, err);
    free(c.place);
    free(c.first);
    free(c.from);
    free(c.lag_ns);
    free(c.times_ns);
    free(c.is_passage);
    return status;
}
