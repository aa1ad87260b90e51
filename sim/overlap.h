/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of nodes or classes that must not run together, or of which nobody knows what happens when
 * they do. Only nodes of length above 0 ever overlap. */
#ifndef WEIR_SIM_OVERLAP_H
#define WEIR_SIM_OVERLAP_H

#include "sim/program.h"
#include "sim/simulate.h"

struct overlap_set;

/** The pairs that `overlap` lines forbid, and the unknown ones too when the options say so.
 *  *out is NULL when there is none. */
MUST_CHECK enum weir_status overlap_forbidden(const struct program *program,
                                              const struct simulate_options *options,
                                              struct overlap_set **out, struct weir_error *err);
/** The unknown pairs: by `overlap ... unknown`, and under pairwise contention each pair of classes
 *  that lacks a factor and is not said to be allowed. *out is NULL when there is none. */
MUST_CHECK enum weir_status overlap_unknown(const struct program *program,
                                            const struct simulate_options *options,
                                            struct overlap_set **out, struct weir_error *err);
void overlap_free(struct overlap_set *set);

/** How many running nodes form a pair of the set with this one. */
uint32_t overlap_count(const struct overlap_set *set, uint32_t node);

/** One of the keys by which running nodes form a pair with this one; WEIR_NONE when there is none. */
uint32_t overlap_blocking_key(const struct overlap_set *set, uint32_t node);
/** Such keys are below that number. */
uint32_t overlap_n_blocking_keys(const struct overlap_set *set);
#define OVERLAP_MOST_KEYS 3
/** The keys of a node that has ended which no running node has now, and those of which that may be
 *  so. @return how many */
uint32_t overlap_keys_gone(const struct overlap_set *set, uint32_t node,
                           uint32_t out[OVERLAP_MOST_KEYS]);

/** Nodes of one kind form pairs with the same nodes; one that a line names is alone of its kind.
 *  WEIR_NONE: with none */
uint32_t overlap_kind(const struct overlap_set *set, uint32_t node);
uint32_t overlap_n_kinds(const struct overlap_set *set);
void overlap_start(struct overlap_set *set, uint32_t node);
void overlap_end(struct overlap_set *set, uint32_t node);

#endif
