/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions in batches of 64 producers: a bit for each, set in every node that starts after it has
 * finished. A batch costs as much as the edges between its first producer and its last consumer. */
#include <stdlib.h>

#include "graph/reach.h"

#define BATCH 64

/* Carries the bits of a node, and its own, to its consumers up to a position. */
static void carry(const struct reach *reach, uint64_t *reached, uint32_t node, uint64_t own,
                  uint32_t last_position)
{
    const struct adjacency *next = reach->next;
    uint64_t bits = reached[node];

    if ((bits | own) == 0) {
        return;
    }
    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        struct adjacent to = next->items[i];

        if (reach->position[to.consumer] <= last_position) {
            reached[to.consumer] |=
                own != 0 && reach_leaves_finish(bind_of(reach->binding), to.edge) ? bits | own
                                                                                  : bits;
        }
    }
}

static uint32_t last_consumer(const struct reach *reach, const struct reach_question *questions,
                              uint32_t n)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = reach->position[questions[i].consumer];

        last = end > last ? end : last;
    }
    return last;
}

/* All questions of at most BATCH producers. */
static void answer_batch(const struct reach *reach, struct reach_question *questions, uint32_t n,
                         uint64_t *reached)
{
    uint32_t from = reach->position[questions[0].producer], at = 0;
    uint32_t to = last_consumer(reach, questions, n), producer = WEIR_NONE;
    uint64_t bit = 0;

    for (uint32_t position = from; position <= to; position++) {
        uint32_t node = bind_order(reach->binding, position).index;
        uint64_t own = 0;

        if (at < n && questions[at].producer == node) {
            bit = bit == 0 ? 1 : bit << 1;
            own = bit;
        }
        for (; at < n && questions[at].producer == node; at++) {
        }
        carry(reach, reached, node, own, to);
    }
    bit = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (questions[i].producer != producer) {
            producer = questions[i].producer;
            bit = bit == 0 ? 1 : bit << 1;
        }
        questions[i].is_met = (reached[questions[i].consumer] & bit) != 0;
    }
    for (uint32_t position = from; position <= to; position++) {
        reached[bind_order(reach->binding, position).index] = 0;
    }
}

/* Behind the questions of the first BATCH producers from @p first on. */
static uint32_t batch_end(const struct reach_question *questions, uint32_t n_questions,
                          uint32_t first)
{
    uint32_t producers = 0, producer = WEIR_NONE, last = first;

    for (; last < n_questions; last++) {
        if (questions[last].producer != producer) {
            producer = questions[last].producer;
            if (++producers > BATCH) {
                break;
            }
        }
    }
    return last;
}

uint64_t reach_bits_cost(const struct reach *reach, const struct reach_question *questions,
                         uint32_t n_questions)
{
    uint64_t cost = 0;

    for (uint32_t first = 0; first < n_questions;) {
        uint32_t last = batch_end(questions, n_questions, first);
        uint32_t from = reach->position[questions[first].producer];
        uint32_t to = last_consumer(reach, questions + first, last - first);

        cost += to < from ? 0 : (uint64_t)to - from + 1;
        first = last;
    }
    return cost;
}

enum weir_status reach_by_bits(const struct reach *reach, struct reach_question *questions,
                               uint32_t n_questions, struct weir_error *err)
{
    size_t n_nodes = graph_n_nodes(bind_of(reach->binding));
    uint64_t *reached = calloc(n_nodes + 1, sizeof *reached);
    uint32_t first = 0;

    if (reached == NULL) {
        return weir_error_memory(err);
    }
    while (first < n_questions) {
        uint32_t last = batch_end(questions, n_questions, first);

        answer_batch(reach, questions + first, last - first, reached);
        first = last;
    }
    free(reached);
    return WEIR_OK;
}
