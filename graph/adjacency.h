/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The edges of a bound graph by producer: given ones first, then implied ones. */
#ifndef WEIR_GRAPH_ADJACENCY_H
#define WEIR_GRAPH_ADJACENCY_H

#include "graph/bind.h"

/* One edge, as its producer sees it. */
struct adjacent {
    uint32_t consumer;
    uint32_t edge; /* of the graph when below graph_n_edges, else implied: less that count */
};

struct adjacency {
    uint32_t *first; /* of node i: [first[i], first[i + 1]) */
    struct adjacent *items;
};

/** @param implied the implied edges to add, n_implied of them */
MUST_CHECK enum weir_status adjacency_make(const struct graph *graph,
                                           const struct bind_edge *implied, uint32_t n_implied,
                                           struct adjacency *out, struct weir_error *err);
void adjacency_free(struct adjacency *adjacency);

#endif
