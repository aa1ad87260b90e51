/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A judge of realized orders that are timed anew: it asserts edges, forbidden overlaps and bytes of the
 * starts from the binding alone, by quadratic counts. */
#ifndef TESTS_SIM_LEGAL_H
#define TESTS_SIM_LEGAL_H

#include "sim/retime.h"
#include "sim/retime_holds.h"
#include "tests/sim/scene.h"

/** The most bytes at once that the holds tell of those starts. */
int64_t legal_peak(const struct retime_holds *holds, const int64_t *length_ns,
                   const int64_t *start_ns);

/**
 * Asserts that the order of what ran, with those starts and lengths by position, is legal.
 * @param holds whose peak must be the one counted here; NULL: not told
 * @param text of the graph, for what is said when it is not
 */
void legal_check(const struct retime *retime, const struct retime_holds *holds,
                 const struct scene *scene, const char *text, const int64_t *start_ns,
                 const int64_t *length_ns);

#endif
