/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Happens-before for 64 buffers at a time: a bit for each is set in every node that can only start
 * after the node that ends the buffer has finished. A buffer that several nodes end is asked for in
 * as many rounds, and has ended when all of them say so. */
#include "policies/arena_order.h"

#include <stdlib.h>

#include "graph/reach.h"

struct passing {
    const struct arena_lifetimes *lifetimes;
    struct arena_order *order;
    struct adjacency next;
    uint32_t n_nodes;
    uint64_t *own;     /* by node: the buffers that it ends, of the word and round */
    uint64_t *reached; /* by node: those that have ended when it starts */
    uint64_t *row;     /* by buffer: those that have ended in all rounds so far */
};

/* One pass along the order, from the first node that ends anything on. */
static void carry(struct passing *passing, uint32_t first_position)
{
    const struct binding *binding = passing->lifetimes->binding;
    const struct graph *graph = bind_of(binding);

    for (uint32_t i = first_position; i < passing->n_nodes; i++) {
        uint32_t node = bind_order(binding, i).index;
        uint64_t bits = passing->reached[node], own = passing->own[node];

        if ((bits | own) == 0) {
            continue;
        }
        for (uint32_t j = passing->next.first[node]; j < passing->next.first[node + 1]; j++) {
            struct adjacent to = passing->next.items[j];
            bool is_after = to.edge >= graph_n_edges(graph) || reach_leaves_finish(graph, to.edge);

            passing->reached[to.consumer] |= is_after ? bits | own : bits;
        }
    }
}

/* What has ended when the buffer begins: when all nodes start that may begin it. */
static uint64_t ended_before(const struct passing *passing, uint32_t buffer)
{
    const struct arena_lifetimes *l = passing->lifetimes;
    uint64_t bits = UINT64_MAX;

    for (uint32_t i = l->begin_first[buffer]; i < l->begin_first[buffer + 1]; i++) {
        bits &= passing->reached[l->begins[i].index];
    }
    return l->begin_first[buffer] == l->begin_first[buffer + 1] ? 0 : bits;
}

/* The nodes that end the word's buffers in this round; false when all have had their rounds. */
static bool begin_round(struct passing *passing, uint32_t first, uint32_t last, uint32_t round,
                        uint32_t *first_position)
{
    const struct arena_lifetimes *l = passing->lifetimes;
    bool is_any = false;

    *first_position = passing->n_nodes;
    for (uint32_t i = first; i < last; i++) {
        uint32_t n = l->end_first[i + 1] - l->end_first[i];

        if (n > 0) {
            weir_node node = l->ends[l->end_first[i] + (round < n ? round : n - 1)];
            uint32_t position = l->position[node.index];

            passing->own[node.index] |= UINT64_C(1) << (i - first);
            *first_position = position < *first_position ? position : *first_position;
            is_any |= round < n;
        }
    }
    return is_any;
}

static void end_round(struct passing *passing, uint32_t first, uint32_t last,
                      uint32_t first_position)
{
    const struct arena_lifetimes *l = passing->lifetimes;

    for (uint32_t i = first; i < last; i++) {
        for (uint32_t j = l->end_first[i]; j < l->end_first[i + 1]; j++) {
            passing->own[l->ends[j].index] = 0;
        }
    }
    for (uint32_t i = first_position; i < passing->n_nodes; i++) {
        passing->reached[bind_order(l->binding, i).index] = 0;
    }
}

/* One word of every row: the buffers [first, last). */
static void answer_word(struct passing *passing, uint32_t first, uint32_t last)
{
    uint32_t n_buffers = passing->lifetimes->n_buffers, first_position;
    bool is_first = true;

    for (uint32_t round = 0; begin_round(passing, first, last, round, &first_position); round++) {
        carry(passing, first_position);
        for (uint32_t i = first; i < n_buffers; i++) {
            uint64_t ended = ended_before(passing, i);

            passing->row[i] = is_first ? ended : passing->row[i] & ended;
        }
        is_first = false;
        end_round(passing, first, last, first_position);
    }
    end_round(passing, first, last, passing->n_nodes);
    for (uint32_t i = first + 1; i < n_buffers && !is_first; i++) {
        /* In its own word a buffer has bits below its own alone. */
        uint64_t kept = i < last ? (UINT64_C(1) << (i - first)) - 1 : UINT64_MAX;

        passing->order->bits[passing->order->first[i] + first / 64] = passing->row[i] & kept;
    }
}

static enum weir_status make_rows(struct arena_order *order, uint32_t n_buffers,
                                  struct weir_error *err)
{
    size_t n_words = 0;

    order->first = malloc(((size_t)n_buffers + 1) * sizeof *order->first);
    if (order->first == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        order->first[i] = n_words;
        n_words += i / 64 + 1;
    }
    order->bits = calloc(n_words + 1, sizeof *order->bits);
    return order->bits == NULL ? weir_error_memory(err) : WEIR_OK;
}

enum weir_status arena_order_make(const struct arena_lifetimes *lifetimes, struct arena_order **out,
                                  struct weir_error *err)
{
    const struct binding *binding = lifetimes->binding;
    struct passing passing = {.lifetimes = lifetimes,
                              .order = calloc(1, sizeof *passing.order),
                              .n_nodes = graph_n_nodes(bind_of(binding))};
    size_t n_nodes = (size_t)passing.n_nodes + 1;
    enum weir_status status;

    passing.own = calloc(n_nodes, sizeof *passing.own);
    passing.reached = calloc(n_nodes, sizeof *passing.reached);
    passing.row = malloc(((size_t)lifetimes->n_buffers + 1) * sizeof *passing.row);
    if (passing.order == NULL || passing.own == NULL || passing.reached == NULL ||
        passing.row == NULL) {
        status = weir_error_memory(err);
    } else {
        status = make_rows(passing.order, lifetimes->n_buffers, err);
    }
    if (status == WEIR_OK) {
        status = adjacency_make(bind_of(binding), bind_edges(binding), bind_n_edges(binding),
                                &passing.next, err);
    }
    for (uint32_t i = 0; i < lifetimes->n_buffers && status == WEIR_OK; i += 64) {
        answer_word(&passing, i, lifetimes->n_buffers - i < 64 ? lifetimes->n_buffers : i + 64);
    }
    if (status == WEIR_OK) {
        *out = passing.order;
    } else {
        arena_order_free(passing.order);
    }
    adjacency_free(&passing.next);
    free(passing.own);
    free(passing.reached);
    free(passing.row);
    return status;
}

void arena_order_free(struct arena_order *order)
{
    if (order != NULL) {
        free(order->bits);
        free(order->first);
        free(order);
    }
}
