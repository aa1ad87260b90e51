/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long nodes of two classes ran together: told of starts and ends as they come, it keeps how many of
 * each class run, and the integral over time of the number of running pairs of any two classes. */
#ifndef WEIR_JUDGE_TOGETHER_H
#define WEIR_JUDGE_TOGETHER_H

#include "judge/pairs.h"

struct together;

/** @param n_classes above 0  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status together_new(uint32_t n_classes, struct together **out,
                                         struct weir_error *err);
/** One more of the class runs. @param t_ns no earlier than anything told before, 0 or more
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status together_start(struct together *together, int64_t t_ns, uint32_t class_,
                                           struct weir_error *err);
/** One less, of those that run. Otherwise as together_start. */
MUST_CHECK enum weir_status together_end(struct together *together, int64_t t_ns, uint32_t class_,
                                         struct weir_error *err);
/** When nothing runs any more: the pairs a <= b whose sum is above 0, by a, then b, malloc'ed.
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status together_pairs(struct together *together, struct pair_sum **out,
                                           size_t *n, struct weir_error *err);
void together_free(struct together *together);

#endif
