/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chains: each node is in one, and finishes before the next of its chain starts. What has finished of
 * a chain when a node starts is therefore known by one number. The engines of a real run make few
 * chains, however many nodes and questions there are. Source: Jagadish 1990 (chain covers); the
 * cover here is a plain greedy one. */
#include <stdlib.h>
#include <string.h>

#include "graph/reach.h"

#define LANES 8 /* chains at a time */

struct chains {
    uint32_t
        *chain_of; /* by node; once ranked: the rank of its chain, WEIR_NONE of one not asked for */
    uint32_t *place;  /* by node: in its chain, from 1 */
    uint32_t n_ranks; /* chains that a producer of a question is in */
};

/* The first consumer of the node's finish that is in no chain yet. */
static uint32_t follower(const struct reach *reach, const struct chains *chains, uint32_t node)
{
    const struct adjacency *next = reach->next;

    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        struct adjacent to = next->items[i];

        if (chains->chain_of[to.consumer] == WEIR_NONE &&
            reach_leaves_finish(bind_of(reach->binding), to.edge)) {
            return to.consumer;
        }
    }
    return WEIR_NONE;
}

static uint32_t cut_chains(const struct reach *reach, struct chains *chains, uint32_t n_nodes)
{
    uint32_t n_chains = 0;

    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t node = bind_order(reach->binding, i).index, place = 0;

        if (chains->chain_of[node] != WEIR_NONE) {
            continue;
        }
        for (; node != WEIR_NONE; node = follower(reach, chains, node)) {
            chains->chain_of[node] = n_chains;
            chains->place[node] = ++place;
        }
        n_chains++;
    }
    return n_chains;
}

/* Numbers the chains that are asked for. */
static enum weir_status rank_chains(struct chains *chains, uint32_t n_chains, uint32_t n_nodes,
                                    const struct reach_question *questions, uint32_t n_questions,
                                    struct weir_error *err)
{
    uint32_t *rank = malloc(((size_t)n_chains + 1) * sizeof *rank);

    if (rank == NULL) {
        return weir_error_memory(err);
    }
    memset(rank, 0xff, ((size_t)n_chains + 1) * sizeof *rank);
    for (uint32_t i = 0; i < n_questions; i++) {
        uint32_t chain = chains->chain_of[questions[i].producer];

        if (rank[chain] == WEIR_NONE) {
            rank[chain] = chains->n_ranks++;
        }
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        chains->chain_of[i] = rank[chains->chain_of[i]];
    }
    free(rank);
    return WEIR_OK;
}

/* Positions that the questions about some chains lie between: [from, to]. */
struct window {
    uint32_t from, to;
};

/* A consumer may stand before the producer in the order: then no path leads to it. */
static bool is_in_lanes(const struct reach *reach, const struct chains *chains, uint32_t first_rank,
                        const struct reach_question *question)
{
    return chains->chain_of[question->producer] - first_rank < LANES &&
           reach->position[question->producer] < reach->position[question->consumer];
}

static struct window window_of(const struct reach *reach, const struct chains *chains,
                               uint32_t first_rank, const struct reach_question *questions,
                               uint32_t n_questions)
{
    struct window window = {UINT32_MAX, 0};

    for (uint32_t i = 0; i < n_questions; i++) {
        uint32_t begin = reach->position[questions[i].producer];
        uint32_t end = reach->position[questions[i].consumer];

        if (!is_in_lanes(reach, chains, first_rank, &questions[i])) {
            continue;
        }
        window.from = begin < window.from ? begin : window.from;
        window.to = end > window.to ? end : window.to;
    }
    return window;
}

/* How far each chain has finished when the node starts goes to its consumers; its own finish too. */
static void carry(const struct reach *reach, const struct chains *chains, uint32_t first_rank,
                  struct window window, uint32_t node, uint32_t (*done)[LANES])
{
    const struct adjacency *next = reach->next;
    const uint32_t *from = done[reach->position[node] - window.from];
    uint32_t lane = chains->chain_of[node] - first_rank;

    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        struct adjacent edge = next->items[i];
        uint32_t position = reach->position[edge.consumer], *to;

        if (position > window.to) {
            continue;
        }
        to = done[position - window.from];
        for (unsigned k = 0; k < LANES; k++) {
            to[k] = from[k] > to[k] ? from[k] : to[k];
        }
        if (lane < LANES && to[lane] < chains->place[node] &&
            reach_leaves_finish(bind_of(reach->binding), edge.edge)) {
            to[lane] = chains->place[node];
        }
    }
}

static void answer_lanes(const struct reach *reach, const struct chains *chains,
                         uint32_t first_rank, struct reach_question *questions,
                         uint32_t n_questions, uint32_t (*done)[LANES])
{
    struct window window = window_of(reach, chains, first_rank, questions, n_questions);

    if (window.to < window.from) {
        return;
    }
    memset(done, 0, ((size_t)window.to - window.from + 1) * sizeof *done);
    for (uint32_t position = window.from; position <= window.to; position++) {
        carry(reach, chains, first_rank, window, bind_order(reach->binding, position).index, done);
    }
    for (uint32_t i = 0; i < n_questions; i++) {
        uint32_t producer = questions[i].producer;
        uint32_t lane = chains->chain_of[producer] - first_rank;

        if (is_in_lanes(reach, chains, first_rank, &questions[i])) {
            questions[i].is_met =
                done[reach->position[questions[i].consumer] - window.from][lane] >=
                chains->place[producer];
        }
    }
}

/* Passing a node with LANES numbers costs about as much as eight times with 64 bits. */
static uint64_t cost_of(const struct chains *chains, uint32_t n_nodes)
{
    return ((uint64_t)chains->n_ranks + LANES - 1) / LANES * 8 * n_nodes;
}

static enum weir_status answer_all(const struct reach *reach, const struct chains *chains,
                                   struct reach_question *questions, uint32_t n_questions,
                                   struct weir_error *err)
{
    size_t n_nodes = graph_n_nodes(bind_of(reach->binding));
    uint32_t(*done)[LANES] = malloc((n_nodes + 1) * sizeof *done);

    if (done == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t rank = 0; rank < chains->n_ranks; rank += LANES) {
        answer_lanes(reach, chains, rank, questions, n_questions, done);
    }
    free(done);
    return WEIR_OK;
}

enum weir_status reach_by_chains(const struct reach *reach, struct reach_question *questions,
                                 uint32_t n_questions, uint64_t most_cost, bool *is_done,
                                 struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(bind_of(reach->binding)), n_chains;
    struct chains chains = {malloc(((size_t)n_nodes + 1) * sizeof *chains.chain_of),
                            malloc(((size_t)n_nodes + 1) * sizeof *chains.place), 0};
    enum weir_status status;

    *is_done = false;
    if (chains.chain_of == NULL || chains.place == NULL) {
        status = weir_error_memory(err);
        goto done;
    }
    memset(chains.chain_of, 0xff, n_nodes * sizeof *chains.chain_of);
    n_chains = cut_chains(reach, &chains, n_nodes);
    status = rank_chains(&chains, n_chains, n_nodes, questions, n_questions, err);
    if (status == WEIR_OK && cost_of(&chains, n_nodes) <= most_cost) {
        *is_done = true;
        status = answer_all(reach, &chains, questions, n_questions, err);
    }
done:
    free(chains.chain_of);
    free(chains.place);
    return status;
}
