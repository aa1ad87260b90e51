/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far measurements of one time are from each other, and how exactly their median is known. The
 * caller has turned GSL's aborting error handler off. */
#ifndef WEIR_REPLAY_SPREAD_H
#define WEIR_REPLAY_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct spread {
    int64_t least_ns, median_ns, greatest_ns; /* the median is, of two, the shorter */
    double quartiles_ratio;                   /* the width of the middle half, as a part of it */
    bool has_interval;                        /* there are enough of them */
    int64_t low_ns, high_ns; /* 95 % interval of the median, by resampling; else 0 */
};

/** @param values_ns none negative  @param n 1 or more  WEIR_MEMORY */
MUST_CHECK enum weir_status spread_find(const int64_t *values_ns, size_t n, struct spread *out,
                                        struct weir_error *err);

#endif
