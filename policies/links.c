/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links in arrays, in an order in which each node stands before those that wait for it, and what is
 * reached over them. That is found for BLOCK nodes at a time: one backward pass tells, for every node,
 * which of these come after it. */
#include "policies/links.h"

#include <string.h>

#define WORDS 4
#define BLOCK (WORDS * 64)
#define TABLES (BLOCK / 8)

int64_t links_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void *array_of(struct weir_setup *setup, size_t n, size_t item_bytes)
{
    size_t bytes;

    return __builtin_mul_overflow(n + 1, item_bytes, &bytes) ? NULL : setup->alloc(setup, bytes);
}

/* Each node is taken when all that it waits for has been. */
static void put_in_order(const struct weir_view *view, struct links *links, uint32_t *n_before)
{
    uint32_t n_found = 0;

    for (uint32_t i = 0; i < links->first[links->n_nodes]; i++) {
        n_before[links->items[i].node.index]++;
    }
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        if (n_before[i] == 0) {
            links->order[n_found++] = i;
        }
    }
    for (uint32_t i = 0; i < n_found; i++) {
        uint32_t node = links->order[i];

        links->place[node] = i;
        for (uint32_t j = links->first[node]; j < links->first[node + 1]; j++) {
            uint32_t next = links->items[j].node.index;

            if (--n_before[next] == 0) {
                links->order[n_found++] = next;
            }
        }
    }
}

enum weir_status links_make(struct weir_setup *setup, const struct weir_view *view,
                            struct links *out, struct weir_error *err)
{
    struct links links = {.n_nodes = view->n_nodes};
    uint32_t n = view->n_nodes, n_items = 0, *n_before;

    for (uint32_t i = 0; i < n; i++) {
        n_items += view->node_n_next(view, (weir_node){i});
    }
    links.first = array_of(setup, n, sizeof *links.first);
    links.items = array_of(setup, n_items, sizeof *links.items);
    links.order = array_of(setup, n, sizeof *links.order);
    links.place = array_of(setup, n, sizeof *links.place);
    n_before = array_of(setup, n, sizeof *n_before);
    if (links.first == NULL || links.items == NULL || links.order == NULL || links.place == NULL ||
        n_before == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_next = view->node_n_next(view, (weir_node){i});

        links.first[i + 1] = links.first[i] + n_next;
        for (uint32_t j = 0; j < n_next; j++) {
            links.items[links.first[i] + j] = view->node_next(view, (weir_node){i}, j);
        }
    }
    put_in_order(view, &links, n_before);
    *out = links;
    return WEIR_OK;
}

/* --- what is reached -------------------------------------------------------------------------- */

/* The nodes at places [begin, begin + BLOCK) of the order. */
struct block {
    const struct links *links;
    uint32_t begin, end;
    uint64_t (*reached)[WORDS]; /* by place: which of them come after the node there */
    int64_t (*sums)[256];       /* of each byte of those bits, the weights; NULL: all are 1 */
    int64_t whole[WORDS];       /* of each word with all bits set */
};

static void reach_from(const struct block *block, uint32_t place)
{
    const struct links *links = block->links;
    uint32_t node = links->order[place];
    uint64_t *mine = block->reached[place];

    memset(mine, 0, sizeof *block->reached);
    for (uint32_t i = links->first[node]; i < links->first[node + 1]; i++) {
        uint32_t next = links->place[links->items[i].node.index];

        if (next >= block->end) {
            continue; /* none of the block comes after it */
        }
        for (int w = 0; w < WORDS; w++) {
            mine[w] |= block->reached[next][w];
        }
        if (next >= block->begin) {
            mine[(next - block->begin) / 64] |= UINT64_C(1) << (next - block->begin) % 64;
        }
    }
}

static int64_t weigh(const struct block *block, const uint64_t *reached)
{
    int64_t sum = 0;

    for (int w = 0; w < WORDS; w++) {
        if (reached[w] == UINT64_MAX) { /* what is far away mostly comes after a node as a whole */
            sum = links_add(sum, block->whole[w]);
            continue;
        }
        if (block->sums == NULL) {
            sum += __builtin_popcountll(reached[w]);
            continue;
        }
        for (int b = 0; b < 8 && reached[w] >> 8 * b != 0; b++) {
            sum = links_add(sum, block->sums[8 * w + b][reached[w] >> 8 * b & 0xff]);
        }
    }
    return sum;
}

/* The sum of a byte is that without its lowest bit, and the weight of that bit. */
static void fill_sums(struct block *block, const int64_t *weights)
{
    memset(block->whole, 0, sizeof block->whole);
    for (uint32_t t = 0; t < TABLES; t++) {
        for (uint32_t byte = 1; byte < 256; byte++) {
            uint32_t place = block->begin + 8 * t + (uint32_t)__builtin_ctz(byte);
            int64_t weight = place < block->end ? weights[block->links->order[place]] : 0;

            block->sums[t][byte] = links_add(block->sums[t][byte & (byte - 1)], weight);
        }
        block->whole[t / 8] = links_add(block->whole[t / 8], block->sums[t][255]);
    }
}

static enum weir_status add_up(struct weir_setup *setup, const struct links *links,
                               const int64_t *weights, int64_t *sums, struct weir_error *err)
{
    struct block block = {.links = links, .whole = {64, 64, 64, 64}};

    block.reached = array_of(setup, links->n_nodes, sizeof *block.reached);
    block.sums = weights == NULL ? NULL : array_of(setup, TABLES, sizeof *block.sums);
    if (block.reached == NULL || (weights != NULL && block.sums == NULL)) {
        return weir_error_memory(err);
    }
    memset(sums, 0, links->n_nodes * sizeof *sums);
    while (block.end < links->n_nodes) {
        block.begin = block.end;
        block.end = links->n_nodes - block.begin < BLOCK ? links->n_nodes : block.begin + BLOCK;
        if (weights != NULL) {
            fill_sums(&block, weights);
        }
        for (uint32_t place = block.end; place-- > 0;) {
            int64_t *sum = &sums[links->order[place]];

            reach_from(&block, place);
            *sum = links_add(*sum, weigh(&block, block.reached[place]));
        }
    }
    return WEIR_OK;
}

enum weir_status links_count(struct weir_setup *setup, const struct links *links, int64_t *n_after,
                             struct weir_error *err)
{
    return add_up(setup, links, NULL, n_after, err);
}

enum weir_status links_sum(struct weir_setup *setup, const struct links *links,
                           const int64_t *weights, int64_t *sums, struct weir_error *err)
{
    return add_up(setup, links, weights, sums, err);
}
