/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which way to go about the questions. Most paths are short: where the passes would be many, those of
 * two edges are looked for first, by way of a node that waits for many and that many wait for. */
#include "graph/reach.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph_internal.h"

#define PASSES_WELL_SPENT 32 /* over all nodes, before another way is looked for */
#define LOOKED_BACK 64       /* edges of a consumer that are looked at */

bool reach_leaves_finish(const struct graph *graph, uint32_t edge)
{
    return edge >= graph->n_edges || (graph->edges.kinds[edge] & EDGE_IS_FROM_START) == 0;
}

/* The given edges by consumer: producers alone. */
struct back {
    uint32_t *first; /* of node i: [first[i], first[i + 1]) */
    uint32_t *producers;
};

static enum weir_status back_make(const struct graph *graph, struct back *back,
                                  struct weir_error *err)
{
    const struct edge_ends *ends = graph->edges.ends;
    uint32_t n_nodes = graph->n_nodes;

    back->first = calloc((size_t)n_nodes + 2, sizeof *back->first);
    back->producers = malloc(((size_t)graph->n_edges + 1) * sizeof *back->producers);
    if (back->first == NULL || back->producers == NULL) {
        return weir_error_memory(err);
    }
    /* Counted two further on, so that they stand in their places once all have been put in. */
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        back->first[ends[i].consumer + 2]++;
    }
    for (uint32_t i = 2; i <= n_nodes + 1; i++) {
        back->first[i] += back->first[i - 1];
    }
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        back->producers[back->first[ends[i].consumer + 1]++] = ends[i].producer;
    }
    return WEIR_OK;
}

static void back_free(struct back *back)
{
    free(back->first);
    free(back->producers);
}

/* Leaves its mark on all that waits for the finish of the node. */
static void mark_consumers(const struct reach *reach, uint32_t node, uint32_t *marked_by)
{
    const struct adjacency *next = reach->next;

    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        if (reach_leaves_finish(bind_of(reach->binding), next->items[i].edge)) {
            marked_by[next->items[i].consumer] = node + 1;
        }
    }
}

static bool has_marked(const struct back *back, uint32_t node, const uint32_t *marked_by,
                       uint32_t mark)
{
    uint32_t first = back->first[node], end = back->first[node + 1];

    end = end - first > LOOKED_BACK ? first + LOOKED_BACK : end;
    for (uint32_t i = first; i < end; i++) {
        if (marked_by[back->producers[i]] == mark) {
            return true;
        }
    }
    return false;
}

/* Answers the questions that a path of two edges meets. */
static enum weir_status answer_short(const struct reach *reach, struct reach_question *questions,
                                     uint32_t n_questions, struct weir_error *err)
{
    const struct graph *graph = bind_of(reach->binding);
    uint32_t *marked_by = calloc((size_t)graph->n_nodes + 1, sizeof *marked_by);
    struct back back = {NULL, NULL};
    enum weir_status status = back_make(graph, &back, err);

    if (status == WEIR_OK && marked_by == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_questions && status == WEIR_OK; i++) {
        uint32_t producer = questions[i].producer;

        if (i == 0 || producer != questions[i - 1].producer) {
            mark_consumers(reach, producer, marked_by);
        }
        questions[i].is_met = has_marked(&back, questions[i].consumer, marked_by, producer + 1);
    }
    free(marked_by);
    back_free(&back);
    return status;
}

static enum weir_status answer_long(const struct reach *reach, struct reach_question *questions,
                                    uint32_t n_questions, struct weir_error *err)
{
    uint64_t cost = reach_bits_cost(reach, questions, n_questions);
    enum weir_status status = WEIR_OK;
    bool is_done = false;

    if (cost > (uint64_t)PASSES_WELL_SPENT * graph_n_nodes(bind_of(reach->binding))) {
        status = reach_by_chains(reach, questions, n_questions, cost, &is_done, err);
    }
    return status != WEIR_OK || is_done ? status
                                        : reach_by_bits(reach, questions, n_questions, err);
}

/* The questions that short paths leave open are asked by themselves. */
static enum weir_status answer_rest(const struct reach *reach, struct reach_question *questions,
                                    uint32_t n_questions, struct weir_error *err)
{
    struct reach_question *rest = malloc(((size_t)n_questions + 1) * sizeof *rest);
    uint32_t n = 0;
    enum weir_status status;

    if (rest == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_questions; i++) {
        if (!questions[i].is_met) {
            rest[n++] = questions[i];
        }
    }
    status = answer_long(reach, rest, n, err);
    n = 0;
    for (uint32_t i = 0; i < n_questions && status == WEIR_OK; i++) {
        if (!questions[i].is_met) {
            questions[i].is_met = rest[n++].is_met;
        }
    }
    free(rest);
    return status;
}

enum weir_status reach_answer(const struct reach *reach, struct reach_question *questions,
                              uint32_t n_questions, struct weir_error *err)
{
    uint64_t cost = reach_bits_cost(reach, questions, n_questions);
    enum weir_status status;

    if (cost <= (uint64_t)PASSES_WELL_SPENT * graph_n_nodes(bind_of(reach->binding))) {
        return reach_by_bits(reach, questions, n_questions, err);
    }
    status = answer_short(reach, questions, n_questions, err);
    return status == WEIR_OK ? answer_rest(reach, questions, n_questions, err) : status;
}
