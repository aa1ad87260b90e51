/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Happens-before of any two nodes, fast in graphs of millions of nodes. Two depth-first walks give each
 * node two intervals; where one node leads to another, both intervals of the second lie inside those
 * of the first, and it stands later in the topological order. Most pairs without a path fail one of
 * these three comparisons at once. What a walk found below a node is one interval as well, so that most
 * pairs with a path are known as soon as a search from the first comes to one of the few nodes below
 * which a walk found nearly everything; the search goes only where there may be a path. An index costs
 * two walks over the edges and 48 bytes a node.
 * Source: GRAIL (Yildirim, Chaoji, Zaki 2010), with the tree intervals of its positive cut; the second
 * walk here goes the other way round instead of at random, so that the answer costs the same every
 * time. */
#include <stdlib.h>
#include <string.h>

#include "graph/analyze.h"

/* Ranks are given when a walk leaves a node. */
struct label {
    uint32_t low; /* the least rank of all that the node leads to */
    uint32_t rank;
    uint32_t first;  /* of the ranks that the walk gave below the node: from this to its own */
    uint32_t parent; /* whence the walk came */
};

struct analyze_order {
    const struct analysis *analysis;
    uint32_t *position; /* in the topological order */
    struct label *labels[2];
    uint32_t *seen; /* by the how-manieth question, from 1 */
    uint32_t *via;  /* the node that led there, in the last question */
    uint32_t *stack;
    uint32_t n_questions;
    uint32_t hit; /* of the last question: the second, or a node below which a walk found it */
    int hit_walk;
};

/* --- labels --- */

struct walk {
    const struct adjacency *next;
    struct label *labels;
    uint32_t *stack;
    uint32_t n_stack, n_ranked;
    bool is_reverse;
};

/* The next consumer of the node that the walk has not seen; WEIR_NONE. */
static uint32_t unseen_consumer(const struct walk *walk, const bool *is_seen, uint32_t node,
                                uint32_t *at)
{
    uint32_t first = walk->next->first[node], n = walk->next->first[node + 1] - first;

    while (*at < n) {
        uint32_t index = walk->is_reverse ? n - 1 - *at : *at;
        uint32_t consumer = walk->next->items[first + index].consumer;

        (*at)++;
        if (!is_seen[consumer]) {
            return consumer;
        }
    }
    return WEIR_NONE;
}

static void settle(struct walk *walk, uint32_t node)
{
    uint32_t low = walk->n_ranked;

    for (uint32_t i = walk->next->first[node]; i < walk->next->first[node + 1]; i++) {
        uint32_t below = walk->labels[walk->next->items[i].consumer].low;

        low = below < low ? below : low;
    }
    walk->labels[node].low = low;
    walk->labels[node].rank = walk->n_ranked++;
}

static void enter(struct walk *walk, bool *is_seen, uint32_t node, uint32_t parent)
{
    is_seen[node] = true;
    walk->labels[node].first = walk->n_ranked;
    walk->labels[node].parent = parent;
    walk->stack[walk->n_stack++] = node;
}

static void walk_from(struct walk *walk, bool *is_seen, uint32_t *at, uint32_t root)
{
    enter(walk, is_seen, root, WEIR_NONE);
    while (walk->n_stack > 0) {
        uint32_t node = walk->stack[walk->n_stack - 1];
        uint32_t consumer = unseen_consumer(walk, is_seen, node, &at[node]);

        if (consumer == WEIR_NONE) {
            settle(walk, node);
            walk->n_stack--;
        } else {
            enter(walk, is_seen, consumer, node);
        }
    }
}

/* Lists the nodes without producers: every other one is below one of them. */
static uint32_t list_roots(const struct analyze_order *order, const bool *is_consumer,
                           uint32_t *roots)
{
    uint32_t n_roots = 0;

    for (uint32_t i = 0; i < graph_n_nodes(bind_of(order->analysis->binding)); i++) {
        if (!is_consumer[i]) {
            roots[n_roots++] = i;
        }
    }
    return n_roots;
}

static enum weir_status label(struct analyze_order *order, int which, struct weir_error *err)
{
    const struct analysis *analysis = order->analysis;
    uint32_t n_nodes = graph_n_nodes(bind_of(analysis->binding));
    bool *is_seen = calloc((size_t)n_nodes + 1, sizeof *is_seen);
    uint32_t *at = calloc((size_t)n_nodes + 1, sizeof *at);
    struct walk walk = {&analysis->next, order->labels[which], order->stack, 0, 0, which == 1};
    bool has_room = is_seen != NULL && at != NULL;
    uint32_t n_roots = 0;

    if (has_room) { /* marks consumers first, and uses room that the questions need later */
        for (uint32_t i = 0; i < analysis->next.first[n_nodes]; i++) {
            is_seen[analysis->next.items[i].consumer] = true;
        }
        n_roots = list_roots(order, is_seen, order->via);
        memset(is_seen, 0, n_nodes * sizeof *is_seen);
    }
    for (uint32_t i = 0; has_room && i < n_roots; i++) {
        uint32_t position = which == 1 ? n_roots - 1 - i : i;

        walk_from(&walk, is_seen, at, order->via[position]);
    }
    free(is_seen);
    free(at);
    return has_room ? WEIR_OK : weir_error_memory(err);
}

/* --- questions --- */

/* Could a path lead from one to the other? */
static bool may_reach(const struct analyze_order *order, uint32_t from, uint32_t to)
{
    if (order->position[from] >= order->position[to]) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        struct label a = order->labels[i][from], b = order->labels[i][to];

        if (b.low < a.low || b.rank > a.rank) {
            return false;
        }
    }
    return true;
}

/* Is the node the second, or did a walk find the second below it? */
static bool leads_to(struct analyze_order *order, uint32_t node, uint32_t second)
{
    for (int i = 0; i < 2; i++) {
        struct label above = order->labels[i][node];
        uint32_t rank = order->labels[i][second].rank;

        if (above.first <= rank && rank <= above.rank) {
            order->hit = node;
            order->hit_walk = i;
            return true;
        }
    }
    return false;
}

/* Puts the consumers of the node that may lead on to the second on the stack. @return whether one does */
static bool visit(struct analyze_order *order, uint32_t node, bool from_finish_only,
                  uint32_t second, uint32_t *n_stack)
{
    const struct analysis *analysis = order->analysis;
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        uint32_t consumer = next->items[i].consumer;

        if (from_finish_only &&
            analyze_link(bind_of(analysis->binding), next->items[i].edge).is_from_start) {
            continue;
        }
        if (leads_to(order, consumer, second)) {
            order->via[consumer] = node;
            return true;
        }
        if (order->seen[consumer] != order->n_questions && may_reach(order, consumer, second)) {
            order->seen[consumer] = order->n_questions;
            order->via[consumer] = node;
            order->stack[(*n_stack)++] = consumer;
        }
    }
    return false;
}

bool analyze_before(struct analyze_order *order, weir_node first, weir_node second)
{
    uint32_t n_stack = 0, n_nodes = graph_n_nodes(bind_of(order->analysis->binding));

    if (!may_reach(order, first.index, second.index)) {
        return false;
    }
    if (++order->n_questions == 0) { /* came round */
        memset(order->seen, 0, n_nodes * sizeof *order->seen);
        order->n_questions = 1;
    }
    if (visit(order, first.index, true, second.index, &n_stack)) {
        return true;
    }
    while (n_stack > 0) {
        if (visit(order, order->stack[--n_stack], false, second.index, &n_stack)) {
            return true;
        }
    }
    return false;
}

/* The node before this one on the path that was found. */
static uint32_t before_on_path(const struct analyze_order *order, uint32_t node, bool *is_above)
{
    *is_above = *is_above || node == order->hit;
    return *is_above ? order->via[node] : order->labels[order->hit_walk][node].parent;
}

enum weir_status analyze_before_path(const struct analyze_order *order, weir_node first,
                                     weir_node second, weir_node **nodes, uint32_t *n,
                                     struct weir_error *err)
{
    uint32_t count = 1;
    bool is_above = false;
    weir_node *list;

    for (uint32_t at = second.index; at != first.index; at = before_on_path(order, at, &is_above)) {
        count++;
    }
    list = malloc(count * sizeof *list);
    if (list == NULL) {
        return weir_error_memory(err);
    }
    is_above = false;
    for (uint32_t at = second.index, i = count; i-- > 0;) {
        list[i].index = at;
        at = i == 0 ? at : before_on_path(order, at, &is_above);
    }
    *nodes = list;
    *n = count;
    return WEIR_OK;
}

enum weir_status analyze_order_make(const struct analysis *analysis, struct analyze_order **out,
                                    struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(bind_of(analysis->binding));
    size_t room = (size_t)n_nodes + 1;
    struct analyze_order *order = calloc(1, sizeof *order);
    enum weir_status status = WEIR_OK;

    if (order == NULL) {
        return weir_error_memory(err);
    }
    order->analysis = analysis;
    order->position = malloc(room * sizeof *order->position);
    order->labels[0] = malloc(room * sizeof *order->labels[0]);
    order->labels[1] = malloc(room * sizeof *order->labels[1]);
    order->seen = calloc(room, sizeof *order->seen);
    order->via = malloc(room * sizeof *order->via);
    order->stack = malloc(room * sizeof *order->stack);
    if (order->position == NULL || order->labels[0] == NULL || order->labels[1] == NULL ||
        order->seen == NULL || order->via == NULL || order->stack == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        order->position[bind_order(analysis->binding, i).index] = i;
    }
    for (int i = 0; i < 2 && status == WEIR_OK; i++) {
        status = label(order, i, err);
    }
    if (status != WEIR_OK) {
        analyze_order_free(order);
        return status;
    }
    *out = order;
    return WEIR_OK;
}

void analyze_order_free(struct analyze_order *order)
{
    if (order == NULL) {
        return;
    }
    free(order->position);
    free(order->labels[0]);
    free(order->labels[1]);
    free(order->seen);
    free(order->via);
    free(order->stack);
    free(order);
}
