/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairwise contention: a group is a class. Beside n running nodes of another class (of its own: one
 * less, itself) a node runs 1 / kappa as fast, kappa the product, in the order of the classes' first
 * mention in kappa lines, of 1 multiplied n times by the factor for that class. */
#include <stdlib.h>

#include "sim/contention_internal.h"

/* The order of first mention; WEIR_NONE for a class no kappa line names. */
static enum weir_status rank_classes(const struct graph *graph, uint32_t **out,
                                     struct weir_error *err)
{
    uint32_t n_classes = graph_n_classes(graph), next = 0;
    uint32_t *rank = malloc(((size_t)n_classes + 1) * sizeof *rank);

    if (rank == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_classes; i++) {
        rank[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        if (rank[kappa->slowed.index] == WEIR_NONE) {
            rank[kappa->slowed.index] = next++;
        }
        if (rank[kappa->beside.index] == WEIR_NONE) {
            rank[kappa->beside.index] = next++;
        }
    }
    *out = rank;
    return WEIR_OK;
}

/* By slowed group, then by the rank of the class beside it, which stands in the sort key. */
static int factor_compare(const void *a, const void *b)
{
    const struct factor *x = a, *y = b;

    if (x->slowed != y->slowed) {
        return x->slowed < y->slowed ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static enum weir_status index_factors(struct contention_state *state, struct weir_error *err)
{
    struct pairwise *pairwise = &state->pairwise;
    uint32_t n_groups = state->n_groups, n = pairwise->n_factors;

    pairwise->first = calloc((size_t)n_groups + 2, sizeof *pairwise->first);
    pairwise->beside_first = calloc((size_t)n_groups + 2, sizeof *pairwise->beside_first);
    pairwise->beside = malloc(((size_t)n + 1) * sizeof *pairwise->beside);
    if (pairwise->first == NULL || pairwise->beside_first == NULL || pairwise->beside == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        pairwise->first[pairwise->factors[i].slowed + 1]++;
        pairwise->beside_first[pairwise->factors[i].beside + 2]++;
    }
    for (uint32_t i = 0; i < n_groups; i++) {
        pairwise->first[i + 1] += pairwise->first[i];
        pairwise->beside_first[i + 2] += pairwise->beside_first[i + 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        pairwise->beside[pairwise->beside_first[pairwise->factors[i].beside + 1]++] = i;
    }
    return WEIR_OK;
}

static enum weir_status read_factors(struct contention_state *state, struct weir_error *err)
{
    const struct graph *graph = state->program->graph;
    struct pairwise *pairwise = &state->pairwise;
    uint32_t n = graph_n_kappas(graph);
    uint32_t *rank = NULL;
    enum weir_status status = rank_classes(graph, &rank, err);

    if (status != WEIR_OK) {
        return status;
    }
    pairwise->factors = calloc((size_t)n + 1, sizeof *pairwise->factors);
    pairwise->now = malloc(((size_t)n + 1) * sizeof *pairwise->now);
    if (pairwise->factors == NULL || pairwise->now == NULL) {
        free(rank);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        pairwise->factors[i].slowed = kappa->slowed.index;
        pairwise->factors[i].beside = kappa->beside.index;
        pairwise->factors[i].rank = rank[kappa->beside.index];
        pairwise->factors[i].value = kappa->factor;
        pairwise->now[i] = 1.0;
    }
    pairwise->n_factors = n;
    qsort(pairwise->factors, n, sizeof *pairwise->factors, factor_compare);
    free(rank);
    return index_factors(state, err);
}

enum weir_status pairwise_begin(struct contention_state *state, struct weir_error *err)
{
    const struct program *program = state->program;

    state->n_groups = graph_n_classes(program->graph) + 1; /* the last: nodes without a class */
    state->groups = calloc(state->n_groups, sizeof *state->groups);
    state->group_of = malloc(((size_t)program->n_nodes + 1) * sizeof *state->group_of);
    if (state->groups == NULL || state->group_of == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        weir_class class_ = graph_node_class(program->graph, (weir_node){i});

        state->group_of[i] = weir_is(class_) ? class_.index : state->n_groups - 1;
    }
    state->family_bytes = program->n_nodes * sizeof *state->group_of;
    return read_factors(state, err);
}

void pairwise_end(struct contention_state *state)
{
    struct pairwise *pairwise = &state->pairwise;

    for (uint32_t i = 0; i < pairwise->n_factors; i++) {
        free(pairwise->factors[i].powers);
    }
    free(pairwise->factors);
    free(pairwise->now);
    free(pairwise->first);
    free(pairwise->beside);
    free(pairwise->beside_first);
}

/* One more node of the group runs: the powers that its number asks for must be there. */
enum weir_status pairwise_add(struct contention_state *state, uint32_t group,
                              struct weir_error *err)
{
    struct pairwise *pairwise = &state->pairwise;
    uint32_t n = state->groups[group].n_running;

    for (uint32_t i = pairwise->beside_first[group]; i < pairwise->beside_first[group + 1]; i++) {
        struct factor *factor = &pairwise->factors[pairwise->beside[i]];

        while (factor->n_powers <= n) {
            uint32_t at = factor->n_powers;
            enum weir_status status =
                array_grow(&factor->powers, &factor->powers_room, (size_t)at + 1, err);

            if (status != WEIR_OK) {
                return status;
            }
            factor->powers[at] = at == 0 ? 1.0 : factor->powers[at - 1] * factor->value;
            factor->n_powers++;
        }
    }
    pairwise_count(state, group);
    return WEIR_OK;
}

void pairwise_count(struct contention_state *state, uint32_t group)
{
    struct pairwise *pairwise = &state->pairwise;
    uint32_t n = state->groups[group].n_running;

    for (uint32_t i = pairwise->beside_first[group]; i < pairwise->beside_first[group + 1]; i++) {
        uint32_t index = pairwise->beside[i];
        const struct factor *factor = &pairwise->factors[index];
        uint32_t others = factor->slowed == group && n > 0 ? n - 1 : n;

        pairwise->now[index] = others == 0 ? 1.0 : factor->powers[others];
    }
}

void pairwise_speeds(struct contention_state *state)
{
    const struct pairwise *pairwise = &state->pairwise;

    for (uint32_t i = 0; i < state->n_active; i++) {
        uint32_t index = state->active[i];
        double kappa = 1.0;

        for (uint32_t j = pairwise->first[index]; j < pairwise->first[index + 1]; j++) {
            kappa *= pairwise->now[j];
        }
        state->groups[index].speed = 1.0 / kappa;
    }
}
