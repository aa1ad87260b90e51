/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest chain of nodes, and what each node has to do with it. */
#include <string.h>

#include "graph/analyze_proof.h"

static uint32_t at_position(const struct proof *proof, uint32_t position)
{
    return proof->order == NULL ? bind_order(proof->analysis->binding, position).index
                                : proof->order[position];
}

/* Who waits to know whether this node gives way; WEIR_NONE. */
static uint32_t waits_for_fate(const struct proof *proof, uint32_t node)
{
    return proof->order == NULL || !graph_node_is_on(proof->graph, (weir_node){node})
               ? WEIR_NONE
               : analyze_fallback_of(proof->graph, node).index;
}

/* One less to wait for. */
static void let_go(struct proof *proof, uint32_t *left, uint32_t *tail, uint32_t node)
{
    if (node != WEIR_NONE && --left[node] == 0) {
        proof->order[(*tail)++] = node;
    }
}

/* Kahn's algorithm, over precedence and waits for fates. */
bool proof_order(struct proof *proof, uint32_t *left)
{
    const struct adjacency *next = &proof->analysis->next;
    uint32_t head = 0, tail = 0;

    memset(left, 0, proof->n_nodes * sizeof *left);
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t waiting = waits_for_fate(proof, i);

        for (uint32_t j = next->first[i]; j < next->first[i + 1]; j++) {
            left[next->items[j].consumer]++;
        }
        if (waiting != WEIR_NONE) {
            left[waiting]++;
        }
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        if (left[i] == 0) {
            proof->order[tail++] = i;
        }
    }
    while (head < tail) {
        uint32_t node = proof->order[head++];

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            let_go(proof, left, &tail, next->items[j].consumer);
        }
        let_go(proof, left, &tail, waits_for_fate(proof, node));
    }
    return tail == proof->n_nodes;
}

/* --- the chain --- */

/* The node with the most nodes before it, and of each node the one before it on the longest way. */
static uint32_t longest_way(const struct proof *proof, uint32_t *depth, uint32_t *from)
{
    const struct adjacency *next = &proof->analysis->next;
    uint32_t last = 0;

    memset(depth, 0, proof->n_nodes * sizeof *depth);
    memset(from, 0xff, proof->n_nodes * sizeof *from);
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = at_position(proof, i);

        last = depth[node] > depth[last] ? node : last;
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t consumer = next->items[j].consumer;

            if (depth[node] + 1 > depth[consumer]) {
                depth[consumer] = depth[node] + 1;
                from[consumer] = node;
            }
        }
    }
    return last;
}

/* The first of the chain that the node leads to. @param with_fates by waits for fates as well */
static void spread_back(const struct proof *proof, bool with_fates, uint32_t *until)
{
    const struct adjacency *next = &proof->analysis->next;

    for (uint32_t i = proof->n_nodes; i-- > 0;) {
        uint32_t node = at_position(proof, i);
        uint32_t waiting = with_fates ? waits_for_fate(proof, node) : WEIR_NONE;

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t to = until[next->items[j].consumer];

            until[node] = to < until[node] ? to : until[node];
        }
        if (waiting != WEIR_NONE && until[waiting] < until[node]) {
            until[node] = until[waiting];
        }
    }
}

/* Fills after, until and asked with the places of the chain, then spreads them. */
void proof_place_chain(struct proof *proof)
{
    const struct adjacency *next = &proof->analysis->next;
    uint32_t last = longest_way(proof, proof->after, proof->until), place;

    proof->n_chain = proof->after[last] + 1;
    memset(proof->settled, 0, proof->n_nodes * sizeof *proof->settled);
    for (uint32_t at = last, i = proof->n_chain; at != WEIR_NONE; at = proof->until[at]) {
        proof->settled[at] = i--;
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        place = proof->settled[i];
        proof->after[i] = place;
        proof->until[i] = place == 0 ? proof->n_chain + 1 : place;
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = at_position(proof, i);

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t *to = &proof->after[next->items[j].consumer];

            *to = proof->after[node] > *to ? proof->after[node] : *to;
        }
    }
    if (proof->asked != proof->until) {
        memcpy(proof->asked, proof->until, proof->n_nodes * sizeof *proof->asked);
        spread_back(proof, true, proof->asked);
    }
    spread_back(proof, false, proof->until);
}

/* before[]: the greatest of what comes before each. */
void proof_settle(struct proof *proof, uint32_t *before)
{
    const struct adjacency *next = &proof->analysis->next;

    memset(before, 0, proof->n_nodes * sizeof *before);
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = at_position(proof, i), waiting = waits_for_fate(proof, node);
        uint32_t at = proof->until[node];

        if (proof->always_fits[node] && before[node] < at) {
            at = before[node];
        }
        proof->settled[node] = at;
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t *to = &before[next->items[j].consumer];

            *to = at > *to ? at : *to;
        }
        if (waiting != WEIR_NONE && at > before[waiting]) {
            before[waiting] = at;
        }
    }
}
