/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and medians through measurements that hold outliers, and how exactly they are known. The
 * caller has turned GSL's aborting error handler off. */
#ifndef WEIR_REPLAY_FIT_H
#define WEIR_REPLAY_FIT_H

#include <stddef.h>

#include "base/attributes.h"

struct fit_line {
    double intercept, slope;
    double spread_ratio; /* 1.4826 times the median distance of a value from the line, as a part of
                            it: the standard deviation, were the errors normal */
};

/** The line y = intercept + slope * x that fits best when errors are a part of y: bisquare weights
 *  over relative distances. @param y all above 0
 *  WEIR_INPUT with fewer than 4 points, or when no line can be told from them; WEIR_MEMORY */
MUST_CHECK enum weir_status fit_line(const double *x, const double *y, size_t n,
                                     struct fit_line *out, struct weir_error *err);

/* Where the true value is, with a confidence of 95 %. */
struct fit_interval {
    double low, high;
};

/* Measurements that follow one another have something in common: the clock rate of that moment, what
 * else ran. So intervals come from blocks of them, not from each alone: blocks are drawn anew, with
 * repetition, by a generator that always begins at the same seed, and the figure is found again from
 * each such sample. The quantiles of these are moved away from the figure by what few blocks make
 * them too narrow: t(B - 1) / z * sqrt(B / (B - 1)) with B blocks (T. Hesterberg, What Teachers
 * Should Know About the Bootstrap, 2015, section 5.3). */
#define FIT_FEWEST_BLOCKS 3

struct fit_line_interval {
    struct fit_interval intercept, slope;
};

/** Of a line that fit_line found in the same values. @param n_per_block so many values that follow
 *  one another are a block; each holds several x; what is left over at the end belongs to none
 *  @param line its slope is above 0
 *  WEIR_INPUT with fewer than FIT_FEWEST_BLOCKS blocks; WEIR_MEMORY */
MUST_CHECK enum weir_status fit_line_interval(const double *x, const double *y, size_t n,
                                              size_t n_per_block, const struct fit_line *line,
                                              struct fit_line_interval *out,
                                              struct weir_error *err);

struct fit_ratio {
    double ratio;        /* the median */
    double spread_ratio; /* as of a line */
    struct fit_interval interval;
};

/** @param log_ratios the logarithm of one ratio a block; sorted  WEIR_INPUT with fewer than
 *  FIT_FEWEST_BLOCKS; WEIR_MEMORY */
MUST_CHECK enum weir_status fit_ratio(double *log_ratios, size_t n, struct fit_ratio *out,
                                      struct weir_error *err);

/** Where a figure is by what was found from n samples of its blocks; sorts them. */
struct fit_interval fit_interval_about(double figure, double *found, size_t n, size_t n_blocks);

/** Sorts the values. @return the quantile (0.5: the median), between two values in proportion;
 *  0 of no values */
double fit_quantile(double *values, size_t n, double part);
/** Turns the values into their distances from the centre. @return 1.4826 times the median distance,
 *  as a part of the centre */
double fit_spread_ratio(double *values, size_t n, double centre);

#endif
