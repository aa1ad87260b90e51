/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and medians through measurements that hold outliers. The caller has turned GSL's aborting
 * error handler off. */
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

/** Sorts the values. @return the quantile (0.5: the median), between two values in proportion;
 *  0 of no values */
double fit_quantile(double *values, size_t n, double part);
/** Turns the values into their distances from the centre. @return 1.4826 times the median distance,
 *  as a part of the centre */
double fit_spread_ratio(double *values, size_t n, double centre);

#endif
