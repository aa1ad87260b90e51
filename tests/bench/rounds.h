/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every benchmark does: it stops at the first error, and tells medians of rounds. */
#ifndef TESTS_BENCH_ROUNDS_H
#define TESTS_BENCH_ROUNDS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

/* Exits with the status, and says why, unless all is well. */
static inline void must(enum weir_status status, const struct weir_error *err)
{
    if (status != WEIR_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit((int)status);
    }
}

/* Zeros, for one more than @p count; exits when memory runs out. */
static inline void *need(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(WEIR_MEMORY);
    }
    return memory;
}

static inline int rounds_by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The middle one of an odd number of values, which are put in order. */
static inline double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, rounds_by_value);
    return values[n / 2];
}

#endif
