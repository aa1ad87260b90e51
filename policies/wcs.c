/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Worst case slack: whenever somebody is to be chosen, of those that could start now the one goes first
 * that would be left with the least slack if the worst other one went instead. Kolisch, Journal of
 * Operations Management 14 (1996) 179-192:
 *
 *     slack(j) = LS(j) - max over i of E(i, j)
 *
 * where E(i, j) is the earliest time at which j could start if i started now: now, when both fit side by
 * side; else when i has finished, or enough of what runs has. An engine's slots count as a resource like
 * the bytes of a domain. A running node gives back its slot and its workspace when it finishes; what it
 * leaves in objects is counted as staying. */
#include <stdlib.h>
#include <string.h>

#include "policies/builtin.h"
#include "policies/ranking.h"

struct runner {
    weir_node node;
    int64_t end_ns; /* as far as its length tells */
};

struct contender {
    weir_node node;
    int64_t slack_ns;
};

struct wcs {
    struct weir_setup *setup;
    uint32_t most; /* contenders compared with each other */
    uint32_t n_domains;
    uint32_t *rank;             /* by latest start, for those that are not compared */
    int64_t *takes, *workspace; /* by node and domain */
    int64_t *given;             /* by node: the priority it has */
    int64_t *spare;             /* by domain: bytes free now */
    int64_t *spare_then;
    int64_t *slots;  /* by engine: free now */
    uint32_t *ready; /* arrived, and not seen to have started */
    uint32_t n_ready;
    struct runner *running; /* by end */
    uint32_t n_running;
    struct contender *contenders;
    uint32_t n_contenders;
    uint32_t *raised; /* nodes whose priority is not that of their rank */
    uint32_t n_raised;
};

static void *array_of(struct weir_setup *setup, size_t n, size_t item_bytes)
{
    size_t bytes;

    return __builtin_mul_overflow(n + 1, item_bytes, &bytes) ? NULL : setup->alloc(setup, bytes);
}

static enum weir_status wcs_begin(struct weir_setup *setup, void **out, struct weir_error *err)
{
    struct wcs *wcs = setup->alloc(setup, sizeof *wcs);

    if (wcs == NULL) {
        return weir_error_memory(err);
    }
    wcs->setup = setup;
    wcs->most = (uint32_t)setup->param(setup, "among");
    *out = wcs;
    return WEIR_OK;
}

static enum weir_status allocate(struct wcs *wcs, const struct weir_view *view,
                                 struct weir_error *err)
{
    struct weir_setup *setup = wcs->setup;
    size_t n = view->n_nodes, n_domains = view->n_domains;

    wcs->rank = array_of(setup, n, sizeof *wcs->rank);
    wcs->takes = array_of(setup, n * n_domains, sizeof *wcs->takes);
    wcs->workspace = array_of(setup, n * n_domains, sizeof *wcs->workspace);
    wcs->given = array_of(setup, n, sizeof *wcs->given);
    wcs->spare = array_of(setup, n_domains, sizeof *wcs->spare);
    wcs->spare_then = array_of(setup, n_domains, sizeof *wcs->spare_then);
    wcs->slots = array_of(setup, view->n_engines, sizeof *wcs->slots);
    wcs->ready = array_of(setup, n, sizeof *wcs->ready);
    wcs->running = array_of(setup, n, sizeof *wcs->running);
    wcs->contenders = array_of(setup, n, sizeof *wcs->contenders);
    wcs->raised = array_of(setup, n, sizeof *wcs->raised);
    return wcs->rank == NULL || wcs->takes == NULL || wcs->workspace == NULL ||
                   wcs->given == NULL || wcs->spare == NULL || wcs->spare_then == NULL ||
                   wcs->slots == NULL || wcs->ready == NULL || wcs->running == NULL ||
                   wcs->contenders == NULL || wcs->raised == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

static enum weir_status wcs_plan(void *state, const struct weir_view *view,
                                 struct weir_draft *draft, struct weir_error *err)
{
    struct wcs *wcs = state;
    enum weir_status status;

    wcs->n_domains = view->n_domains;
    status = allocate(wcs, view, err);
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        weir_node node = {i};

        wcs->given[i] = view->node_latest_start_ns(view, node);
        for (uint32_t d = 0; d < wcs->n_domains; d++) {
            size_t at = (size_t)i * wcs->n_domains + d;

            wcs->takes[at] = view->node_takes_bytes(view, node, (weir_domain){d});
            wcs->workspace[at] = view->node_workspace_bytes(view, node, (weir_domain){d});
        }
    }
    status = ranking_make(wcs->setup, view->n_nodes, wcs->given, wcs->rank, err);
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        wcs->given[i] = (int64_t)view->n_nodes - wcs->rank[i];
    }
    return status == WEIR_OK ? ranking_set(view, draft, wcs->rank, "it has to start earlier", err)
                             : status;
}

static enum weir_status wcs_on_event(void *state, const struct weir_view *view,
                                     const struct weir_event *event, struct weir_draft *draft,
                                     struct weir_error *err)
{
    struct wcs *wcs = state;

    (void)view;
    (void)draft;
    (void)err;
    if (event->kind == WEIR_EVENT_ARRIVED) {
        wcs->ready[wcs->n_ready++] = event->node.index;
    }
    return WEIR_OK;
}

/* --- what is free ------------------------------------------------------------------------------- */

static int by_end(const void *left, const void *right)
{
    const struct runner *a = left, *b = right;

    if (a->end_ns != b->end_ns) {
        return a->end_ns < b->end_ns ? -1 : 1;
    }
    return (a->node.index > b->node.index) - (a->node.index < b->node.index);
}

/* One that has been there longer than its length says, because of others, may end any time. */
static int64_t end_of(const struct weir_view *view, weir_node node)
{
    int64_t end_ns;

    if (__builtin_add_overflow(view->node_start_ns(view, node), view->node_length_ns(view, node),
                               &end_ns)) {
        return INT64_MAX;
    }
    return end_ns < view->now_ns ? view->now_ns : end_ns;
}

/* Moves those that have started from the ready to the running, and drops those that have finished. */
static void follow(struct wcs *wcs, const struct weir_view *view)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < wcs->n_ready; i++) {
        weir_node node = {wcs->ready[i]};

        if (view->node_start_ns(view, node) < 0) {
            wcs->ready[n_kept++] = node.index;
        } else {
            wcs->running[wcs->n_running++].node = node;
        }
    }
    wcs->n_ready = n_kept;
    n_kept = 0;
    for (uint32_t i = 0; i < wcs->n_running; i++) {
        weir_node node = wcs->running[i].node;

        if (view->node_finish_ns(view, node) < 0) {
            wcs->running[n_kept++] = (struct runner){node, end_of(view, node)};
        }
    }
    wcs->n_running = n_kept;
    qsort(wcs->running, wcs->n_running, sizeof *wcs->running, by_end);
}

static void find_spare(struct wcs *wcs, const struct weir_view *view)
{
    for (uint32_t i = 0; i < view->n_domains; i++) {
        wcs->spare[i] = view->domain_room_bytes(view, (weir_domain){i}) -
                        view->domain_used_bytes(view, (weir_domain){i});
    }
    for (uint32_t i = 0; i < view->n_engines; i++) {
        wcs->slots[i] = view->engine_slots(view, (weir_engine){i});
    }
    for (uint32_t i = 0; i < wcs->n_running; i++) {
        weir_engine engine = view->node_engine(view, wcs->running[i].node);

        if (weir_is(engine)) {
            wcs->slots[engine.index]--;
        }
    }
}

static const int64_t *takes_of(const struct wcs *wcs, weir_node node)
{
    return &wcs->takes[(size_t)node.index * wcs->n_domains];
}

/* Does the node fit in what is spare, beside another (may be none)? */
static bool fits(const struct wcs *wcs, weir_node node, weir_node other, const int64_t *spare)
{
    const int64_t *takes = takes_of(wcs, node);

    for (uint32_t d = 0; d < wcs->n_domains; d++) {
        int64_t others = weir_is(other) ? takes_of(wcs, other)[d] : 0;

        if (takes[d] > 0 && takes[d] > spare[d] - others) {
            return false;
        }
    }
    return true;
}

/* --- the comparison ------------------------------------------------------------------------------ */

/* When j could start if i started now. */
static int64_t earliest_after(struct wcs *wcs, const struct weir_view *view, weir_node i,
                              weir_node j)
{
    weir_engine engine = view->node_engine(view, j);
    bool shares = weir_is(engine) && weir_same(engine, view->node_engine(view, i));
    int64_t n_slots = weir_is(engine) ? wcs->slots[engine.index] - (shares ? 1 : 0) : 1;
    int64_t length_ns = view->node_length_ns(view, i), over_ns;

    if (n_slots > 0 && fits(wcs, j, i, wcs->spare)) {
        return view->now_ns;
    }
    if (__builtin_add_overflow(view->now_ns, length_ns, &over_ns)) {
        over_ns = INT64_MAX;
    }
    memcpy(wcs->spare_then, wcs->spare, wcs->n_domains * sizeof *wcs->spare);
    for (uint32_t r = 0; r < wcs->n_running && wcs->running[r].end_ns < over_ns; r++) {
        weir_node node = wcs->running[r].node;

        n_slots += weir_is(engine) && weir_same(engine, view->node_engine(view, node)) ? 1 : 0;
        for (uint32_t d = 0; d < wcs->n_domains; d++) {
            wcs->spare_then[d] += wcs->workspace[(size_t)node.index * wcs->n_domains + d];
        }
        if (n_slots > 0 && fits(wcs, j, i, wcs->spare_then)) {
            return wcs->running[r].end_ns;
        }
    }
    return over_ns; /* j fits now, so it does when i is gone */
}

static int by_slack(const void *left, const void *right)
{
    const struct contender *a = left, *b = right;

    if (a->slack_ns != b->slack_ns) {
        return a->slack_ns < b->slack_ns ? -1 : 1;
    }
    return (a->node.index > b->node.index) - (a->node.index < b->node.index);
}

/* Those that could start now; of too many, the ones that have to start first. */
static void find_contenders(struct wcs *wcs, const struct weir_view *view)
{
    wcs->n_contenders = 0;
    for (uint32_t i = 0; i < wcs->n_ready; i++) {
        weir_node node = {wcs->ready[i]};
        weir_engine engine = view->node_engine(view, node);

        if ((!weir_is(engine) || wcs->slots[engine.index] > 0) &&
            fits(wcs, node, (weir_node){WEIR_NONE}, wcs->spare)) {
            wcs->contenders[wcs->n_contenders++] = (struct contender){node, wcs->rank[node.index]};
        }
    }
    if (wcs->n_contenders > wcs->most) {
        qsort(wcs->contenders, wcs->n_contenders, sizeof *wcs->contenders, by_slack);
        wcs->n_contenders = wcs->most;
    }
}

static void compare(struct wcs *wcs, const struct weir_view *view)
{
    for (uint32_t at = 0; at < wcs->n_contenders; at++) {
        weir_node j = wcs->contenders[at].node;
        int64_t worst_ns = view->now_ns;

        for (uint32_t other = 0; other < wcs->n_contenders; other++) {
            int64_t after_ns = other == at
                                   ? view->now_ns
                                   : earliest_after(wcs, view, wcs->contenders[other].node, j);

            worst_ns = after_ns > worst_ns ? after_ns : worst_ns;
        }
        if (__builtin_sub_overflow(view->node_latest_start_ns(view, j), worst_ns,
                                   &wcs->contenders[at].slack_ns)) {
            wcs->contenders[at].slack_ns = INT64_MIN;
        }
    }
    qsort(wcs->contenders, wcs->n_contenders, sizeof *wcs->contenders, by_slack);
}

static enum weir_status give(struct wcs *wcs, struct weir_draft *draft, weir_node node,
                             int64_t priority, struct weir_error *err)
{
    if (wcs->given[node.index] == priority) {
        return WEIR_OK;
    }
    wcs->given[node.index] = priority;
    return draft->set_priority(draft, node, priority, "its worst case slack is less", NULL, err);
}

/* Back to where their latest start puts them: they may be no contenders any more. */
static enum weir_status lower(struct wcs *wcs, const struct weir_view *view,
                              struct weir_draft *draft, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < wcs->n_raised && status == WEIR_OK; i++) {
        weir_node node = {wcs->raised[i]};

        if (view->node_start_ns(view, node) < 0) {
            status = give(wcs, draft, node, (int64_t)view->n_nodes - wcs->rank[node.index], err);
        }
    }
    wcs->n_raised = 0;
    return status;
}

static enum weir_status wcs_rank(void *state, const struct weir_view *view,
                                 struct weir_draft *draft, struct weir_error *err)
{
    struct wcs *wcs = state;
    enum weir_status status;

    follow(wcs, view);
    find_spare(wcs, view);
    find_contenders(wcs, view);
    status = lower(wcs, view, draft, err);
    if (wcs->n_contenders < 2 || status != WEIR_OK) {
        return status;
    }
    compare(wcs, view);
    for (uint32_t i = 0; i < wcs->n_contenders && status == WEIR_OK; i++) {
        weir_node node = wcs->contenders[i].node;

        wcs->raised[wcs->n_raised++] = node.index;
        status = give(wcs, draft, node, (int64_t)view->n_nodes + wcs->n_contenders - i, err);
    }
    return status;
}

static const struct weir_param wcs_params[] = {
    {"among", "nodes", "compare at most so many, those that have to start first", 64, 1, 1e6},
    {.name = NULL},
};

const struct weir_policy policy_wcs = {
    .version = WEIR_POLICY_VERSION,
    .size = sizeof(struct weir_policy),
    .name = "wcs",
    .summary = "of the ready, the one first that waiting for another costs most (worst case slack)",
    .params = wcs_params,
    .begin = wcs_begin,
    .plan = wcs_plan,
    .on_event = wcs_on_event,
    .needs_order = true,
    .rank = wcs_rank,
};
