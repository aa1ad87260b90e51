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

/* A kappa line, with the rank of the class that slows the other down. */
struct line {
    uint32_t rank;
    uint32_t slowed;
    uint32_t beside;
    double factor;
};

static int by_rank(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->slowed > y->slowed) - (x->slowed < y->slowed);
}

static enum weir_status sort_lines(const struct graph *graph, struct line **out,
                                   struct weir_error *err)
{
    uint32_t n = graph_n_kappas(graph);
    struct line *lines = malloc(((size_t)n + 1) * sizeof *lines);
    uint32_t *rank = NULL;
    enum weir_status status = lines == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK) {
        status = rank_classes(graph, &rank, err);
    }
    if (status != WEIR_OK) {
        free(lines);
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        lines[i] = (struct line){rank[kappa->beside.index], kappa->slowed.index,
                                 kappa->beside.index, kappa->factor};
    }
    free(rank);
    qsort(lines, n, sizeof *lines, by_rank);
    *out = lines;
    return WEIR_OK;
}

static void fill_slowers(struct pairwise *pairwise, const struct line *lines, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || lines[i].rank != lines[i - 1].rank) {
            pairwise->slower_of[lines[i].beside] = pairwise->n_slowers;
            pairwise->slowers[pairwise->n_slowers++] =
                (struct slower){.group = lines[i].beside, .first = i};
        }
        pairwise->slowers[pairwise->n_slowers - 1].n_factors++;
        pairwise->slowed[i] = lines[i].slowed;
        pairwise->factors[i] = lines[i].factor;
    }
}

static enum weir_status read_factors(struct contention_state *state, struct weir_error *err)
{
    struct pairwise *pairwise = &state->pairwise;
    size_t n = graph_n_kappas(state->program->graph);
    struct line *lines;
    enum weir_status status = sort_lines(state->program->graph, &lines, err);

    if (status != WEIR_OK) {
        return status;
    }
    pairwise->slowers = calloc(n + 1, sizeof *pairwise->slowers);
    pairwise->slower_of = malloc(state->n_groups * sizeof *pairwise->slower_of);
    pairwise->slowed = malloc((n + 1) * sizeof *pairwise->slowed);
    pairwise->factors = malloc((n + 1) * sizeof *pairwise->factors);
    pairwise->kappa = malloc(state->n_groups * sizeof *pairwise->kappa);
    if (pairwise->slowers == NULL || pairwise->slower_of == NULL || pairwise->slowed == NULL ||
        pairwise->factors == NULL || pairwise->kappa == NULL) {
        free(lines);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < state->n_groups; i++) {
        pairwise->slower_of[i] = WEIR_NONE;
    }
    fill_slowers(pairwise, lines, (uint32_t)n);
    free(lines);
    return WEIR_OK;
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

    for (uint32_t i = 0; i < pairwise->n_slowers; i++) {
        free(pairwise->slowers[i].rows);
    }
    free(pairwise->slowers);
    free(pairwise->slower_of);
    free(pairwise->slowed);
    free(pairwise->factors);
    free(pairwise->kappa);
}

/* The row beside one node more than the last. */
static enum weir_status add_row(const struct pairwise *pairwise, struct slower *slower,
                                struct weir_error *err)
{
    size_t n = slower->n_factors, at = slower->n_rows * n;
    enum weir_status status = array_grow(&slower->rows, &slower->rows_room, at + n, err);

    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        bool is_first =
            slower->n_rows == 0 ||
            (slower->n_rows == 1 && pairwise->slowed[slower->first + i] == slower->group);

        slower->rows[at + i] =
            is_first ? 1.0 : slower->rows[at + i - n] * pairwise->factors[slower->first + i];
    }
    slower->n_rows += status == WEIR_OK ? 1 : 0;
    return status;
}

/* One more node of the group runs: its row must be there. */
enum weir_status pairwise_add(struct contention_state *state, uint32_t group,
                              struct weir_error *err)
{
    struct pairwise *pairwise = &state->pairwise;
    uint32_t index = pairwise->slower_of[group];
    enum weir_status status = WEIR_OK;

    while (index != WEIR_NONE && status == WEIR_OK &&
           pairwise->slowers[index].n_rows <= state->groups[group].n_running) {
        status = add_row(pairwise, &pairwise->slowers[index], err);
    }
    return status;
}

void pairwise_speeds(struct contention_state *state)
{
    const struct pairwise *pairwise = &state->pairwise;

    for (uint32_t i = 0; i < state->n_clocks; i++) {
        pairwise->kappa[state->clocks[i].group] = 1.0;
    }
    for (uint32_t i = 0; i < pairwise->n_slowers; i++) {
        const struct slower *slower = &pairwise->slowers[i];
        size_t n_running = state->groups[slower->group].n_running;
        const uint32_t *slowed = pairwise->slowed + slower->first;
        const double *row = slower->rows + n_running * slower->n_factors;

        for (uint32_t j = 0; n_running > 0 && j < slower->n_factors; j++) {
            pairwise->kappa[slowed[j]] *= row[j];
        }
    }
    for (uint32_t i = 0; i < state->n_clocks; i++) {
        uint32_t group = state->clocks[i].group;

        state->groups[group].speed = 1.0 / pairwise->kappa[group];
    }
}
