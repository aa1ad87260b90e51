/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function of a few parameters through measurements that hold outliers: least squares with Huber's
 * weights, found again and again (IRLS), and intervals from blocks drawn anew. The caller has turned
 * GSL's aborting error handler off. */
#ifndef WEIR_REPLAY_FIT_CURVE_H
#define WEIR_REPLAY_FIT_CURVE_H

#include "replay/fit.h"

#define FIT_CURVE_PARAMETERS 16 /* at most */

struct fit_curve {
    size_t n_parameters, n_values;
    /* What the parameters make of every value. */
    void (*predict)(const void *context, const double *parameters, double *predicted);
    const void *context;
    const double *values;
    const double *sigmas; /* of each value: the standard deviation of its error */
    /* Where a parameter is held, weakly, so that one that no value tells anything about stays there. */
    const double *prior, *prior_sigmas;
};

/* What is known of parameters that were found. */
struct fit_curve_quality {
    double deviations[FIT_CURVE_PARAMETERS]; /* standard, from the covariance at the end */
    /* Of the Jacobian at the end, the column of each parameter divided by its length: the square root of
     * the greatest eigenvalue of their products over the least. 1: each does what no other does; without
     * bound: some can stand for each other. */
    double condition;
};

/** Finds the parameters. @param parameters in: where to begin; out: found  @param quality may be NULL
 *  WEIR_INPUT when none are found; WEIR_MEMORY */
MUST_CHECK enum weir_status fit_curve(const struct fit_curve *curve, double *parameters,
                                      struct fit_curve_quality *quality, struct weir_error *err);

/** 95 % intervals of parameters that fit_curve found, by a percentile bootstrap. @param block_of by
 *  value: values of one block are drawn together; counts up from 0
 *  WEIR_INPUT with fewer than FIT_FEWEST_BLOCKS blocks, or when too few samples can be fitted */
MUST_CHECK enum weir_status fit_curve_intervals(const struct fit_curve *curve,
                                                const double *parameters, const size_t *block_of,
                                                size_t n_blocks, struct fit_interval *out,
                                                struct weir_error *err);

#endif
