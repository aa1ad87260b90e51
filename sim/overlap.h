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
void overlap_start(struct overlap_set *set, uint32_t node);
void overlap_end(struct overlap_set *set, uint32_t node);

#endif
