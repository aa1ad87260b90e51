/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each node by the longest way around it; groups by passes without them, those first that could save
 * most, until no other can save as much as what is found already. */
#include "sim/worth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/around.h"

static_assert(RETIME_FROM_START == AROUND_FROM_START, "edges are handed on as they are");

/* Of what is summed, so that no sum passes 64 bits. */
static enum weir_status check_makespan(int64_t makespan_ns, struct weir_error *err)
{
    return makespan_ns < INT64_MAX / 4
               ? WEIR_OK
               : weir_error_set(
                     err, WEIR_INPUT,
                     "the run takes 2^61 ns or more; what its nodes are worth is told of "
                     "shorter ones");
}

/* ---- nodes ---- */

/* The caller frees is_passage, which points of the order make needed. */
static enum weir_status find_passages(const struct retime *retime, bool **is_passage,
                                      struct weir_error *err)
{
    *is_passage = NULL;
    for (uint32_t p = 0; p < retime->n_nodes; p++) {
        if (weir_is(retime->nodes[p]))
            continue;
        if (*is_passage == NULL)
            *is_passage = calloc(retime->n_nodes, sizeof **is_passage);
        if (*is_passage == NULL)
            return weir_error_memory(err);
        (*is_passage)[p] = true;
    }
    return WEIR_OK;
}

static void fill(const struct around *around, const int64_t *start_ns, const int64_t *length_ns,
                 uint32_t n, struct worth *out)
{
    for (uint32_t p = 0; p < n; p++) {
        int64_t start = start_ns[p], length = length_ns[p];
        int64_t on_ns = around->onward[p].from_finish_ns;

        out->saves_ns[p] = around->end_ns - around_end_ns(around, p, start, 0);
        out->half_saves_ns[p] =
            around->end_ns - around_end_ns(around, p, start, length / 2 + length % 2);
        out->slack_ns[p] = on_ns < 0 ? INT64_MAX : around->end_ns - (start + length + on_ns);
    }
}

static enum weir_status find(const struct retime *retime, const int64_t *length_ns,
                             int64_t *start_ns, struct worth *out, struct weir_error *err)
{
    struct around_network network = {.n_places = retime->n_nodes,
                                     .first = retime->first,
                                     .from = retime->from,
                                     .lag_ns = retime->lag_ns,
                                     .release_ns = retime->release_ns,
                                     .start_ns = start_ns,
                                     .length_ns = length_ns};
    struct around around;
    bool *is_passage;
    enum weir_status status = check_makespan(retime_pass(retime, length_ns, start_ns), err);

    if (status == WEIR_OK)
        status = find_passages(retime, &is_passage, err);
    if (status != WEIR_OK)
        return status;
    network.is_passage = is_passage;
    status = around_find(&network, &around, err);
    free(is_passage);
    if (status != WEIR_OK)
        return status;
    out->makespan_ns = around.end_ns;
    fill(&around, start_ns, length_ns, retime->n_nodes, out);
    around_free(&around);
    return WEIR_OK;
}

enum weir_status worth_find(const struct retime *retime, const int64_t *length_ns,
                            struct worth *out, struct weir_error *err)
{
    size_t n = retime->n_nodes + (size_t)1;
    struct worth worth = {.saves_ns = malloc(n * sizeof *worth.saves_ns),
                          .half_saves_ns = malloc(n * sizeof *worth.half_saves_ns),
                          .slack_ns = malloc(n * sizeof *worth.slack_ns)};
    int64_t *start_ns = malloc(n * sizeof *start_ns);
    enum weir_status status;

    if (worth.saves_ns == NULL || worth.half_saves_ns == NULL || worth.slack_ns == NULL ||
        start_ns == NULL)
        status = weir_error_memory(err);
    else
        status = find(retime, length_ns, start_ns, &worth, err);
    free(start_ns);
    if (status == WEIR_OK)
        *out = worth;
    else
        worth_free(&worth);
    return status;
}

void worth_free(struct worth *worth)
{
    free(worth->saves_ns);
    free(worth->half_saves_ns);
    free(worth->slack_ns);
    *worth = (struct worth){.makespan_ns = 0};
}

/* ---- groups ---- */

struct grouping {
    const struct retime *retime;
    const int64_t *length_ns;
    const uint32_t *group_of;
    struct worth_group *groups; /* by group, then in the order in which they are tried */
    int64_t *limit_ns;          /* by group: it saves no more */
    int64_t *without_ns;        /* by position: lengths, of one group 0 */
    int64_t *start_ns;
    int64_t makespan_ns;
};

/* The position that the start of this one waited for; WEIR_NONE: its release, or nothing. */
static uint32_t bound_by(const struct grouping *g, uint32_t p, bool *is_from_start)
{
    const struct retime *retime = g->retime;

    for (uint32_t e = retime->first[p]; e < retime->first[p + 1]; e++) {
        uint32_t producer = retime->from[e] & ~RETIME_FROM_START;
        int64_t ns = g->start_ns[producer] + (retime->lag_ns == NULL ? 0 : retime->lag_ns[e]);

        *is_from_start = (retime->from[e] & RETIME_FROM_START) != 0;
        if (!*is_from_start)
            ns += g->length_ns[producer];
        if (ns == g->start_ns[p])
            return producer;
    }
    return WEIR_NONE;
}

/* Along the way that made the makespan, back from its end. */
static void find_limits(struct grouping *g)
{
    uint32_t at = WEIR_NONE;
    bool is_from_start = false;

    for (uint32_t p = 0; p < g->retime->n_nodes; p++) {
        if (weir_is(g->retime->nodes[p]) && g->start_ns[p] + g->length_ns[p] == g->makespan_ns)
            at = p;
    }
    while (at != WEIR_NONE) {
        if (!is_from_start && g->group_of[at] != WEIR_NONE)
            g->limit_ns[g->group_of[at]] += g->length_ns[at];
        at = bound_by(g, at, &is_from_start);
    }
}

static void sum_groups(struct grouping *g, uint32_t n_groups)
{
    for (uint32_t i = 0; i < n_groups; i++)
        g->groups[i].group = i;
    for (uint32_t p = 0; p < g->retime->n_nodes; p++) {
        struct worth_group *group;

        if (g->group_of[p] == WEIR_NONE)
            continue;
        group = &g->groups[g->group_of[p]];
        group->n_nodes++;
        if (__builtin_add_overflow(group->length_ns, g->length_ns[p], &group->length_ns))
            group->length_ns = INT64_MAX;
    }
    for (uint32_t i = 0; i < n_groups; i++) /* until it is tried */
        g->groups[i].saves_ns = g->limit_ns[i];
}

static int by_savings(const void *a, const void *b)
{
    const struct worth_group *x = a, *y = b;

    if (x->saves_ns != y->saves_ns)
        return x->saves_ns < y->saves_ns ? 1 : -1;
    return (x->group > y->group) - (x->group < y->group);
}

static void try_without(struct grouping *g, struct worth_group *group)
{
    for (uint32_t p = 0; p < g->retime->n_nodes; p++)
        g->without_ns[p] = g->group_of[p] == group->group ? 0 : g->length_ns[p];
    group->saves_ns = g->makespan_ns - retime_pass(g->retime, g->without_ns, g->start_ns);
}

/* Puts it among the first found, which are sorted; *n grows up to most. */
static void keep(const struct worth_group *group, struct worth_group *found, uint32_t *n,
                 uint32_t most)
{
    uint32_t at = *n;

    while (at > 0 && by_savings(group, &found[at - 1]) < 0)
        at--;
    if (group->saves_ns <= 0 || at == most)
        return;
    if (*n < most)
        (*n)++;
    memmove(&found[at + 1], &found[at], (*n - 1 - at) * sizeof *found);
    found[at] = *group;
}

static enum weir_status make_room(struct grouping *g, uint32_t n_groups, struct weir_error *err)
{
    size_t n = g->retime->n_nodes + (size_t)1;

    g->groups = calloc(n_groups + (size_t)1, sizeof *g->groups);
    g->limit_ns = calloc(n_groups + (size_t)1, sizeof *g->limit_ns);
    g->without_ns = malloc(n * sizeof *g->without_ns);
    g->start_ns = malloc(n * sizeof *g->start_ns);
    return g->groups == NULL || g->limit_ns == NULL || g->without_ns == NULL || g->start_ns == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

enum weir_status worth_groups(const struct retime *retime, const int64_t *length_ns,
                              const uint32_t *group_of, uint32_t n_groups, uint32_t most,
                              void (*progress)(void *arg, double part), void *progress_arg,
                              struct worth_group *out, uint32_t *n_out, struct weir_error *err)
{
    struct grouping g = {.retime = retime, .length_ns = length_ns, .group_of = group_of};
    enum weir_status status = make_room(&g, n_groups, err);
    uint32_t n = 0;

    if (status == WEIR_OK) {
        g.makespan_ns = retime_pass(retime, length_ns, g.start_ns);
        status = check_makespan(g.makespan_ns, err);
    }
    if (status == WEIR_OK) {
        find_limits(&g);
        sum_groups(&g, n_groups);
        qsort(g.groups, n_groups, sizeof *g.groups, by_savings);
        for (uint32_t i = 0; i < n_groups && g.groups[i].saves_ns > 0 &&
                             (n < most || g.groups[i].saves_ns >= out[most - 1].saves_ns);
             i++) {
            try_without(&g, &g.groups[i]);
            keep(&g.groups[i], out, &n, most);
            if (progress != NULL)
                progress(progress_arg, (double)(i + 1) / n_groups);
        }
        *n_out = n;
    }
    free(g.groups);
    free(g.limit_ns);
    free(g.without_ns);
    free(g.start_ns);
    return status;
}
