/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of priority: each computes one number a node from the graph alone, before the run, and ranks
 * the nodes by it; ties go to the earlier in program order. The simulator's dispatch with such
 * priorities is the parallel schedule generation scheme; with serial=1 the nodes get their starts from
 * the serial one, and are held until then.
 *
 * Names and definitions: Kolisch, European Journal of Operational Research 90 (1996) 320-333. */
#include <stdlib.h>

#include "policies/builtin.h"
#include "policies/ranking.h"
#include "policies/serial.h"

struct rule;

struct rule_state {
    const struct rule *rule;
    struct weir_setup *setup;
    int64_t *start_ns; /* by node, of the serial scheme; NULL: parallel */
    bool is_serial;
    struct links links;
    int64_t *keys; /* by node: the least goes first */
};

struct rule {
    const char *reason;
    enum weir_status (*key)(struct rule_state *state, const struct weir_view *view,
                            struct weir_error *err);
};

/* --- keys ------------------------------------------------------------------------------------- */

/* How long the node takes; 0 when it is off, or runs only when another gives way. */
static int64_t length_of(const struct weir_view *view, uint32_t i)
{
    weir_node node = {i};

    return view->node_latest_finish_ns(view, node) - view->node_latest_start_ns(view, node);
}

static enum weir_status key_lft(struct rule_state *state, const struct weir_view *view,
                                struct weir_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = view->node_latest_finish_ns(view, (weir_node){i});
    }
    return WEIR_OK;
}

static enum weir_status key_lst(struct rule_state *state, const struct weir_view *view,
                                struct weir_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = view->node_latest_start_ns(view, (weir_node){i});
    }
    return WEIR_OK;
}

static enum weir_status key_mslk(struct rule_state *state, const struct weir_view *view,
                                 struct weir_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = view->node_latest_start_ns(view, (weir_node){i}) -
                         view->node_earliest_ns(view, (weir_node){i});
    }
    return WEIR_OK;
}

static enum weir_status key_fifo(struct rule_state *state, const struct weir_view *view,
                                 struct weir_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = i;
    }
    return WEIR_OK;
}

static enum weir_status key_spt(struct rule_state *state, const struct weir_view *view,
                                struct weir_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = length_of(view, i);
    }
    return WEIR_OK;
}

/* The greatest first. */
static void negate(int64_t *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = -keys[i];
    }
}

static enum weir_status key_mts(struct rule_state *state, const struct weir_view *view,
                                struct weir_error *err)
{
    enum weir_status status = links_count(state->setup, &state->links, state->keys, err);

    negate(state->keys, view->n_nodes);
    return status;
}

static int64_t *lengths(struct rule_state *state, const struct weir_view *view)
{
    int64_t *length_ns =
        state->setup->alloc(state->setup, ((size_t)view->n_nodes + 1) * sizeof *length_ns);

    for (uint32_t i = 0; length_ns != NULL && i < view->n_nodes; i++) {
        length_ns[i] = length_of(view, i);
    }
    return length_ns;
}

/* A node that waits by way of several links counts once. */
static enum weir_status key_grpw(struct rule_state *state, const struct weir_view *view,
                                 struct weir_error *err)
{
    const struct links *links = &state->links;
    int64_t *length_ns = lengths(state, view);
    uint32_t *seen_by =
        state->setup->alloc(state->setup, ((size_t)view->n_nodes + 1) * sizeof *seen_by);

    if (length_ns == NULL || seen_by == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = length_ns[i];
        for (uint32_t j = links->first[i]; j < links->first[i + 1]; j++) {
            uint32_t next = links->items[j].node.index;

            if (seen_by[next] != i + 1) {
                state->keys[i] = links_add(state->keys[i], length_ns[next]);
                seen_by[next] = i + 1;
            }
        }
    }
    negate(state->keys, view->n_nodes);
    return WEIR_OK;
}

static enum weir_status key_grpw_all(struct rule_state *state, const struct weir_view *view,
                                     struct weir_error *err)
{
    int64_t *length_ns = lengths(state, view);
    enum weir_status status;

    if (length_ns == NULL) {
        return weir_error_memory(err);
    }
    status = links_sum(state->setup, &state->links, length_ns, state->keys, err);
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        state->keys[i] = links_add(state->keys[i], length_ns[i]);
    }
    negate(state->keys, view->n_nodes);
    return status;
}

/* --- the policy ------------------------------------------------------------------------------- */

static enum weir_status rule_begin(const struct rule *rule, struct weir_setup *setup, void **out,
                                   struct weir_error *err)
{
    struct rule_state *state = setup->alloc(setup, sizeof *state);

    if (state == NULL) {
        return weir_error_memory(err);
    }
    state->rule = rule;
    state->setup = setup;
    state->is_serial = setup->param(setup, "serial") > 0;
    *out = state;
    return WEIR_OK;
}

static enum weir_status plan_serial(struct rule_state *state, const struct weir_view *view,
                                    const uint32_t *rank, struct weir_error *err)
{
    int64_t *start_ns =
        state->setup->alloc(state->setup, ((size_t)view->n_nodes + 1) * sizeof *start_ns);

    if (start_ns == NULL) {
        return weir_error_memory(err);
    }
    state->start_ns = start_ns;
    return serial_schedule(state->setup, view, &state->links, rank, start_ns, err);
}

static enum weir_status rule_plan(void *arg, const struct weir_view *view, struct weir_draft *draft,
                                  struct weir_error *err)
{
    struct rule_state *state = arg;
    size_t n = (size_t)view->n_nodes + 1;
    uint32_t *rank = state->setup->alloc(state->setup, n * sizeof *rank);
    enum weir_status status = links_make(state->setup, view, &state->links, err);

    state->keys = state->setup->alloc(state->setup, n * sizeof *state->keys);
    if (rank == NULL || state->keys == NULL) {
        return weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = state->rule->key(state, view, err);
    }
    if (status == WEIR_OK) {
        status = ranking_make(state->setup, view->n_nodes, state->keys, rank, err);
    }
    if (status == WEIR_OK && state->is_serial) {
        status = plan_serial(state, view, rank, err);
    }
    return status == WEIR_OK ? ranking_set(view, draft, rank, state->rule->reason, err) : status;
}

static enum weir_admission rule_admit(void *arg, const struct weir_view *view, weir_node node,
                                      int64_t *until_ns, const char **why)
{
    const struct rule_state *state = arg;

    if (state->start_ns == NULL || state->start_ns[node.index] <= view->now_ns) {
        return WEIR_ADMIT;
    }
    *until_ns = state->start_ns[node.index];
    *why = "the serial schedule starts it then";
    return WEIR_HOLD;
}

static const struct weir_param rule_params[] = {
    {"serial", "",
     "1: by the serial scheme, each node in turn gets its start; 0: by the parallel one", 0, 0, 1},
    {.name = NULL},
};

#define RULE(id, typed, tells, why)                                            \
    static const struct rule rule_##id = {why, key_##id};                      \
    static enum weir_status begin_##id(struct weir_setup *setup, void **state, \
                                       struct weir_error *err)                 \
    {                                                                          \
        return rule_begin(&rule_##id, setup, state, err);                      \
    }                                                                          \
    const struct weir_policy policy_##id = {                                   \
        .version = WEIR_POLICY_VERSION,                                        \
        .size = sizeof(struct weir_policy),                                    \
        .name = typed,                                                         \
        .summary = tells,                                                      \
        .params = rule_params,                                                 \
        .begin = begin_##id,                                                   \
        .plan = rule_plan,                                                     \
        .admit = rule_admit,                                                   \
        .needs_order = true,                                                   \
    }

RULE(fifo, "fifo", "of the ready, the earlier in program order first",
     "it stands earlier in program order");
RULE(grpw, "grpw", "of the ready, the longest together with those right behind it first",
     "it and what waits for it directly take longer");
RULE(grpw_all, "grpw-all", "of the ready, the longest together with all behind it first",
     "it and all that comes after it take longer");
RULE(lft, "lft", "of the ready, the least latest finish first", "it has to finish earlier");
RULE(lst, "lst", "of the ready, the least latest start first", "it has to start earlier");
RULE(mslk, "mslk", "of the ready, the least slack first", "it has less slack");
RULE(mts, "mts", "of the ready, the one that the most others wait for first",
     "more nodes come after it");
RULE(spt, "spt", "of the ready, the shortest first", "it is shorter");
