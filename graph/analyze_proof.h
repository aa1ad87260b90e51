/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof that no run is stuck, in the making: analyze_proof.c tells how it goes. */
#ifndef WEIR_GRAPH_ANALYZE_PROOF_H
#define WEIR_GRAPH_ANALYZE_PROOF_H

#include "graph/analyze_internal.h"

struct proof {
    const struct analysis *analysis;
    const struct graph *graph;
    uint32_t n_nodes, n_chain;
    uint32_t first, n_domains; /* those at hand */
    uint32_t most_domains;     /* at once */
    uint32_t *order;       /* by position: nodes behind all that they wait for; NULL: bind_order */
    uint32_t *after;       /* by node: the last of the chain that is it or leads to it; 0: none */
    uint32_t *until;       /* by node: the first of the chain that it is or leads to; n_chain + 1 */
    uint32_t *asked;       /* by node: the same, where those that may stand in wait as well */
    uint32_t *settled;     /* by node: a stuck run with that many of the chain has done it */
    uint32_t *users_until; /* by copy: the greatest `settled` of what touches it */
    uint32_t *begins;      /* by copy: least `after` of what may begin it */
    bool *always_fits;     /* by node */
    bool *fits;            /* by node: as far as is known of the domains up to those at hand */
    /* Of the domains at hand. */
    int64_t *held;    /* by place in the chain, then domain */
    int64_t *most;    /* by domain: the greatest of held */
    int64_t *need;    /* by domain, of a node */
    int64_t *counted; /* by domain: what of it is among held */
    uint64_t n_left;  /* questions */
};

/** Orders the nodes by precedence and by who waits to know whether it is needed. Only where some node
 *  stands in for another. @param left room for a number for each node
 *  @return false when they close a circle */
bool proof_order(struct proof *proof, uint32_t *left);
/** Finds the longest chain, and for each node where in it the node lies: after, until and asked. */
void proof_place_chain(struct proof *proof);
/** Finds `settled`: a node that always fits is done once all that it waits for is.
 *  @param before room for a number for each node */
void proof_settle(struct proof *proof, uint32_t *before);

#endif
