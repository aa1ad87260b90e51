/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many samples in a few figures: mean, quantiles, the worst, each with the interval that a bootstrap
 * gives it; and how two sets of samples differ.
 *
 * A quantile q of n values lies at position q (n - 1) of the sorted ones, from 0, interpolated between
 * the two next to it (gsl_stats_quantile_from_sorted_data; type 7 of Hyndman and Fan, 1996), to the
 * nearest whole number. An interval holds the middle 95 % of what the figure is in TAILS_RESAMPLES
 * resamples of n values drawn with replacement (the percentile interval of Efron and Tibshirani, 1993,
 * chapter 13). It supposes that the samples are independent. That of the worst never reaches above it:
 * what no sample showed, no resample shows; and p99 of less than some 500 samples is hardly better
 * off. The resamples have a stream of their own of the seed: the same values give the same
 * intervals. */
#ifndef WEIR_JUDGE_TAILS_H
#define WEIR_JUDGE_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define TAILS_RESAMPLES 2000
#define TAILS_CONFIDENCE 0.95

enum tails_figure {
    TAILS_MEAN,
    TAILS_MEDIAN,
    TAILS_P90,
    TAILS_P95,
    TAILS_P99,
    TAILS_WORST,
    N_TAILS_FIGURES
};

struct tails_value {
    int64_t value;
    int64_t low, high; /* ends of its interval */
};

struct tails {
    size_t n_samples;
    struct tails_value of[N_TAILS_FIGURES];
};

/** @param values  of each sample, in any order  @param n at least 1
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status tails_find(const int64_t *values, size_t n, uint64_t seed,
                                       struct tails *out, struct weir_error *err);

/* How two sets of samples are resampled: each for itself, or, where sample i of one belongs to sample i
 * of the other (as of one seed, whose draws both share), pair by pair: what both have in common does
 * not widen the interval of their difference then. */
enum tails_pairing { TAILS_APART, TAILS_PAIRED };

/* What became of a figure from one set of samples to another. */
struct tails_change {
    int64_t before, after;
    int64_t change;    /* after less before: above 0 is worse, of times and of peaks */
    int64_t low, high; /* of the change */
};

struct tails_comparison {
    size_t n_before, n_after;
    struct tails_change of[N_TAILS_FIGURES];
};

/** As tails_find, for the differences of two sets of samples.
 *  @param pairing TAILS_PAIRED only where both have as many */
MUST_CHECK enum weir_status tails_compare(const int64_t *before, size_t n_before,
                                          const int64_t *after, size_t n_after,
                                          enum tails_pairing pairing, uint64_t seed,
                                          struct tails_comparison *out, struct weir_error *err);

enum tails_verdict {
    TAILS_FINE,     /* the mean does not improve, or the quantile does not get worse */
    TAILS_DOUBTFUL, /* both do, but an interval of a change holds 0 */
    TAILS_REGRESSES /* both do, beyond what chance explains */
};

/** A better mean with a worse tail: does the mean improve while the declared figure gets worse? */
enum tails_verdict tails_regress(const struct tails_comparison *comparison,
                                 enum tails_figure declared);

/** "mean", "median", "p90", "p95", "p99", "worst". */
const char *tails_figure_name(enum tails_figure);
bool tails_figure_from(const char *name, enum tails_figure *out);

#endif
