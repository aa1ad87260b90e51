/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Happens-before for 512 buffers at a time: a bit for each is set in every node that can only start
 * after the node that ends the buffer has finished. A buffer that several nodes end is asked for in
 * as many rounds, and has ended when all of them say so. */
#include "policies/arena_order.h"

#include <stdlib.h>

#include "graph/reach.h"

#define WORDS 8 /* that go along together */
#define TOGETHER (64 * WORDS)

struct bits {
    uint64_t word[WORDS];
};

static const struct bits no_bits;

struct passing {
    const struct arena_lifetimes *lifetimes;
    struct arena_order *order;
    struct adjacency next;
    uint32_t n_nodes;
    bool *is_end;         /* by node: it ends some of the buffers, in this round */
    struct bits *own;     /* by node: the buffers that it ends, of the pass and round */
    struct bits *reached; /* by node: those that have ended when it starts */
    struct bits *row;     /* by buffer: those that have ended in all rounds so far */
};

static void join(struct bits *to, const struct bits *more)
{
    for (int i = 0; i < WORDS; i++) {
        to->word[i] |= more->word[i];
    }
}

static void keep_common(struct bits *of, const struct bits *other)
{
    for (int i = 0; i < WORDS; i++) {
        of->word[i] &= other->word[i];
    }
}

static bool is_none(const struct bits *bits)
{
    uint64_t any = 0;

    for (int i = 0; i < WORDS; i++) {
        any |= bits->word[i];
    }
    return any == 0;
}

/* One pass along the order, from the first node that ends anything on. */
static void carry(struct passing *passing, uint32_t first_position)
{
    const struct binding *binding = passing->lifetimes->binding;
    const struct graph *graph = bind_of(binding);

    for (uint32_t i = first_position; i < passing->n_nodes; i++) {
        uint32_t node = bind_order(binding, i).index;
        struct bits before = passing->reached[node], after = before;

        if (passing->is_end[node]) {
            join(&after, &passing->own[node]);
        }
        if (is_none(&after)) {
            continue;
        }
        for (uint32_t j = passing->next.first[node]; j < passing->next.first[node + 1]; j++) {
            struct adjacent to = passing->next.items[j];
            bool is_after = to.edge >= graph_n_edges(graph) || reach_leaves_finish(graph, to.edge);

            join(&passing->reached[to.consumer], is_after ? &after : &before);
        }
    }
}

/* What has ended when the buffer begins: when all nodes start that may begin it. */
static struct bits ended_before(const struct passing *passing, uint32_t buffer)
{
    const struct arena_lifetimes *l = passing->lifetimes;
    uint32_t first = l->begin_first[buffer], end = l->begin_first[buffer + 1];
    struct bits bits;

    if (first == end) {
        return no_bits;
    }
    bits = passing->reached[l->begins[first].index];
    for (uint32_t i = first + 1; i < end; i++) {
        keep_common(&bits, &passing->reached[l->begins[i].index]);
    }
    return bits;
}

/* The nodes that end the buffers of the pass in this round; false when all have had their rounds. */
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

            passing->is_end[node.index] = true;
            passing->own[node.index].word[(i - first) / 64] |= UINT64_C(1) << (i - first) % 64;
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
            passing->is_end[l->ends[j].index] = false;
            passing->own[l->ends[j].index] = no_bits;
        }
    }
    for (uint32_t i = first_position; i < passing->n_nodes; i++) {
        passing->reached[bind_order(l->binding, i).index] = no_bits;
    }
}

/* Of a row, those words of the pass that begins at @p first which stand below the buffer or hold it. */
static void keep_row(struct passing *passing, uint32_t first, uint32_t buffer)
{
    uint64_t *to = passing->order->bits + passing->order->first[buffer] + first / 64;

    for (uint32_t i = 0; i < WORDS && first + 64 * i <= buffer; i++) {
        uint32_t below = buffer - (first + 64 * i);

        /* In its own word a buffer has bits below its own alone. */
        to[i] =
            passing->row[buffer].word[i] & (below < 64 ? (UINT64_C(1) << below) - 1 : UINT64_MAX);
    }
}

/* Some words of every row: the buffers [first, last). */
static void answer_words(struct passing *passing, uint32_t first, uint32_t last)
{
    uint32_t n_buffers = passing->lifetimes->n_buffers, first_position;
    bool is_first = true;

    for (uint32_t round = 0; begin_round(passing, first, last, round, &first_position); round++) {
        carry(passing, first_position);
        for (uint32_t i = first; i < n_buffers; i++) {
            struct bits ended = ended_before(passing, i);

            if (is_first) {
                passing->row[i] = ended;
            } else {
                keep_common(&passing->row[i], &ended);
            }
        }
        is_first = false;
        end_round(passing, first, last, first_position);
    }
    end_round(passing, first, last, passing->n_nodes);
    for (uint32_t i = first + 1; i < n_buffers && !is_first; i++) {
        keep_row(passing, first, i);
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

/* From the rows, the last buffer first: who is never seen as ended behind which buffer, and from which on
 * always. */
static enum weir_status find_windows(struct arena_order *order, uint32_t n_buffers,
                                     struct weir_error *err)
{
    size_t n_words = (size_t)n_buffers / 64 + 1;
    uint64_t *is_open =
        calloc(n_words, sizeof *is_open); /* a bit for each buffer: not ended somewhere */

    order->first_after = malloc(((size_t)n_buffers + 1) * sizeof *order->first_after);
    order->all_after = malloc(((size_t)n_buffers + 1) * sizeof *order->all_after);
    if (is_open == NULL || order->first_after == NULL || order->all_after == NULL) {
        free(is_open);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        order->first_after[i] = n_buffers;
        order->all_after[i] = i + 1;
    }
    for (uint32_t i = n_buffers; i-- > 0;) {
        for (uint32_t word = 0; word <= i / 64; word++) {
            uint64_t ended = order->bits[order->first[i] + word];
            uint64_t below = word < i / 64 ? UINT64_MAX : (UINT64_C(1) << i % 64) - 1;
            uint64_t opened = ~ended & below & ~is_open[word];

            is_open[word] |= opened;
            for (; opened != 0; opened &= opened - 1) {
                order->all_after[64 * word + (uint32_t)__builtin_ctzll(opened)] = i + 1;
            }
        }
    }
    free(is_open);
    is_open = calloc(n_words, sizeof *is_open); /* now: ended somewhere */
    if (is_open == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        for (uint32_t word = 0; word <= i / 64; word++) {
            uint64_t begun = order->bits[order->first[i] + word] & ~is_open[word];

            is_open[word] |= begun;
            for (; begun != 0; begun &= begun - 1) {
                order->first_after[64 * word + (uint32_t)__builtin_ctzll(begun)] = i;
            }
        }
    }
    free(is_open);
    return WEIR_OK;
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

    passing.is_end = calloc(n_nodes, sizeof *passing.is_end);
    passing.own = calloc(n_nodes, sizeof *passing.own);
    passing.reached = calloc(n_nodes, sizeof *passing.reached);
    passing.row = malloc(((size_t)lifetimes->n_buffers + 1) * sizeof *passing.row);
    if (passing.order == NULL || passing.is_end == NULL || passing.own == NULL ||
        passing.reached == NULL || passing.row == NULL) {
        status = weir_error_memory(err);
    } else {
        status = make_rows(passing.order, lifetimes->n_buffers, err);
    }
    if (status == WEIR_OK) {
        status = adjacency_make(bind_of(binding), bind_edges(binding), bind_n_edges(binding),
                                &passing.next, err);
    }
    for (uint32_t i = 0; i < lifetimes->n_buffers && status == WEIR_OK; i += TOGETHER) {
        uint32_t left = lifetimes->n_buffers - i;

        answer_words(&passing, i, left < TOGETHER ? lifetimes->n_buffers : i + TOGETHER);
    }
    if (status == WEIR_OK) {
        status = find_windows(passing.order, lifetimes->n_buffers, err);
    }
    if (status == WEIR_OK) {
        *out = passing.order;
    } else {
        arena_order_free(passing.order);
    }
    adjacency_free(&passing.next);
    free(passing.is_end);
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
        free(order->first_after);
        free(order->all_after);
        free(order);
    }
}
