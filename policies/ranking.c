/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes sorted by a key, ties by id. */
#include "policies/ranking.h"

#include <stdlib.h>

struct keyed {
    int64_t key;
    uint32_t node;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

enum weir_status ranking_make(struct weir_setup *setup, uint32_t n_nodes, const int64_t *keys,
                              uint32_t *rank, struct weir_error *err)
{
    struct keyed *sorted = setup->alloc(setup, ((size_t)n_nodes + 1) * sizeof *sorted);

    if (sorted == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        sorted[i] = (struct keyed){keys[i], i};
    }
    qsort(sorted, n_nodes, sizeof *sorted, by_key);
    for (uint32_t i = 0; i < n_nodes; i++) {
        rank[sorted[i].node] = i;
    }
    return WEIR_OK;
}

enum weir_status ranking_set(const struct weir_view *view, struct weir_draft *draft,
                             const uint32_t *rank, const char *reason, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < view->n_nodes && status == WEIR_OK; i++) {
        status = draft->set_priority(draft, (weir_node){i}, (int64_t)view->n_nodes - rank[i],
                                     reason, NULL, err);
    }
    return status;
}
