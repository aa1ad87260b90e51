/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran beside what, for how long, and how much slower it was: of a pair of nodes
 * max(0, min(f_i, f_j) - max(s_i, s_j)), of a pair of classes the sum over their pairs of different
 * nodes. A node that did not finish ran to the makespan. */
#ifndef WEIR_JUDGE_OVERLAP_H
#define WEIR_JUDGE_OVERLAP_H

#include "judge/started.h"
#include "store/store.h"

struct overlap_classes {
    weir_class a, b;    /* a <= b; none, which is the last, for nodes without one */
    int64_t overlap_ns; /* above 0; INT64_MAX when it passes that */
};

/* The realized kappa of a class, over its nodes of known length above 0. */
struct overlap_kappa {
    uint32_t n_nodes;
    int64_t ran_ns, isolated_ns; /* summed; kappa is their ratio. INT64_MAX when past it */
    weir_node worst;             /* the greatest (finish - start) / isolated; none */
    double worst_ratio;          /* 0 without one */
};

struct overlaps {
    struct overlap_classes *pairs; /* by a, then b */
    size_t n_pairs;
    uint32_t n_classes;          /* of the graph */
    struct overlap_kappa *kappa; /* by class, and one more for nodes without one */
    uint32_t most_running;       /* nodes at once, of length above 0 */
};

/* Finding them in one sweep over starts and finishes: n log r, r the most that ran at once, and for
 * each change of how many of a class run the number of classes that run. */
struct overlap_sweep;

MUST_CHECK enum weir_status overlap_sweep_begin(const struct graph *graph,
                                                const struct timeline *timeline,
                                                struct overlap_sweep **out, struct weir_error *err);
/** @param nodes the next n that started, in the order of their starts */
MUST_CHECK enum weir_status overlap_sweep_add(struct overlap_sweep *sweep,
                                              const struct started *nodes, uint32_t n,
                                              struct weir_error *err);
/** After all of them. The caller frees *out with overlaps_free. */
MUST_CHECK enum weir_status overlap_sweep_end(struct overlap_sweep *sweep, struct overlaps *out,
                                              struct weir_error *err);
void overlap_sweep_free(struct overlap_sweep *sweep);

/** All at once. The caller frees with overlaps_free.
 *  @param order the n_started nodes that started, as timeline_order gives them
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status overlaps_find(const struct graph *graph,
                                          const struct timeline *timeline, const weir_node *order,
                                          uint32_t n_started, struct overlaps *out,
                                          struct weir_error *err);
void overlaps_free(struct overlaps *overlaps);

/** The pairs as a run keeps them, malloc'ed; names lie in the graph.  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status overlaps_list(const struct graph *graph,
                                          const struct overlaps *overlaps, struct run_overlap **out,
                                          struct weir_error *err);

/* A node that ran beside another. */
struct overlap_beside {
    weir_node node;
    int64_t overlap_ns; /* above 0 */
};

/** Of one node: those that ran beside it, longest first, then in program order, malloc'ed.
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status overlaps_beside(const struct timeline *timeline, weir_node node,
                                            struct overlap_beside **out, size_t *n,
                                            struct weir_error *err);

/** (finish - start) / isolated of a node; 0 when it did not finish, or its length is 0 or unknown. */
double overlap_node_kappa(const struct timeline_span *span);

/** Which of the pairs are hypothetical: nobody knows what the two classes do beside each other. A line
 *  calls them unknown, or, when @p by_factor (pairwise contention), they have no factor and no line
 *  allows them. Lines that name single nodes are left to the time that the run itself summed up.
 *  @param is_hypothetical by pair, n_pairs of them, malloc'ed  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status overlaps_hypothetical(const struct graph *graph,
                                                  const struct overlaps *overlaps, bool by_factor,
                                                  bool **is_hypothetical, struct weir_error *err);

#endif
