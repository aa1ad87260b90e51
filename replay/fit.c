/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust fits with GSL. Each row is divided by what a first fit expects of it, so that a percent of a
 * short duration counts as much as a percent of a long one. (Divided by its own y, all would be 1, and
 * GSL takes its scale from how much they differ.) */
#include "replay/fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define FEWEST_POINTS 4
#define MAD_TO_SIGMA 1.4826 /* of the median distance, for normal errors */
#define RESAMPLES 400
#define RESAMPLE_SEED 20150801
#define TAIL 0.025 /* on either side of an interval */

double fit_quantile(double *values, size_t n, double part)
{
    if (n == 0)
        return 0;
    gsl_sort(values, 1, n);
    return gsl_stats_quantile_from_sorted_data(values, 1, n, part);
}

double fit_spread_ratio(double *values, size_t n, double centre)
{
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - centre) / centre;
    return MAD_TO_SIGMA * fit_quantile(values, n, 0.5);
}

struct fit_space {
    gsl_matrix *design;
    gsl_vector *values;
    gsl_vector *line;
    gsl_matrix *covariance;
    gsl_multifit_robust_workspace *robust;
    double *distances;
};

static void space_free(struct fit_space *space)
{
    gsl_matrix_free(space->design);
    gsl_vector_free(space->values);
    gsl_vector_free(space->line);
    gsl_matrix_free(space->covariance);
    if (space->robust != NULL) /* unlike its sisters it does not look */
        gsl_multifit_robust_free(space->robust);
    free(space->distances);
}

static bool space_begin(struct fit_space *space, size_t n)
{
    space->design = gsl_matrix_alloc(n, 2);
    space->values = gsl_vector_alloc(n);
    space->line = gsl_vector_alloc(2);
    space->covariance = gsl_matrix_alloc(2, 2);
    space->robust = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, 2);
    space->distances = malloc(n * sizeof *space->distances);
    return space->design != NULL && space->values != NULL && space->line != NULL &&
           space->covariance != NULL && space->robust != NULL && space->distances != NULL;
}

/* @param x_unit x is divided by it, so that both columns are of one size
 * @param expected what rows are divided by; NULL: 1 */
static bool solve(struct fit_space *space, const double *x, const double *y, size_t n,
                  double x_unit, const double *expected, struct fit_line *out)
{
    int fault;

    for (size_t i = 0; i < n; i++) {
        double unit = expected == NULL ? 1 : expected[i];

        gsl_matrix_set(space->design, i, 0, 1 / unit);
        gsl_matrix_set(space->design, i, 1, x[i] / x_unit / unit);
        gsl_vector_set(space->values, i, y[i] / unit);
    }
    fault = gsl_multifit_robust(space->design, space->values, space->line, space->covariance,
                                space->robust);
    /* After too many rounds the line is still that of the last one. */
    if (fault != GSL_SUCCESS && fault != GSL_EMAXITER)
        return false;
    out->intercept = gsl_vector_get(space->line, 0);
    out->slope = gsl_vector_get(space->line, 1) / x_unit;
    return isfinite(out->intercept) && isfinite(out->slope);
}

static bool solve_twice(struct fit_space *space, const double *x, const double *y, size_t n,
                        double x_unit, struct fit_line *out)
{
    double *expected = space->distances;

    if (!solve(space, x, y, n, x_unit, NULL, out))
        return false;
    for (size_t i = 0; i < n; i++) {
        expected[i] = out->intercept + out->slope * x[i];
        if (expected[i] < y[i] / 2) /* the first line was led astray here */
            expected[i] = y[i];
    }
    if (!solve(space, x, y, n, x_unit, expected, out))
        return false;
    for (size_t i = 0; i < n; i++)
        space->distances[i] = fabs(out->intercept + out->slope * x[i] - y[i]) / y[i];
    out->spread_ratio = MAD_TO_SIGMA * fit_quantile(space->distances, n, 0.5);
    return true;
}

enum weir_status fit_line(const double *x, const double *y, size_t n, struct fit_line *out,
                          struct weir_error *err)
{
    struct fit_space space = {NULL, NULL, NULL, NULL, NULL, NULL};
    struct fit_line line;
    double least = INFINITY;
    double greatest = -INFINITY;
    bool is_solved;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, x[i]);
        greatest = fmax(greatest, x[i]);
    }
    if (n < FEWEST_POINTS || !(greatest > least))
        return weir_error_set(err, WEIR_INPUT,
                              "a line needs %d measurements of different sizes, and there are %zu",
                              FEWEST_POINTS, n);
    if (!space_begin(&space, n)) {
        space_free(&space);
        return weir_error_memory(err);
    }
    is_solved = solve_twice(&space, x, y, n, greatest, &line);
    space_free(&space);
    if (!is_solved)
        return weir_error_set(err, WEIR_INPUT,
                              "no line fits %zu measurements: they are too "
                              "far from one; measure again",
                              n);
    *out = line;
    return WEIR_OK;
}

/* ---- intervals ---- */

/* Blocks drawn with repetition, and what was found from them. */
struct resampling {
    gsl_rng *rng;
    double *x, *y, *expected; /* one sample */
    double *first, *second;   /* found: n_found of them */
    size_t n_found;
};

static void resampling_free(struct resampling *r)
{
    gsl_rng_free(r->rng);
    free(r->x);
    free(r->y);
    free(r->expected);
    free(r->first);
    free(r->second);
}

static bool resampling_begin(struct resampling *r, size_t n)
{
    r->rng = gsl_rng_alloc(gsl_rng_mt19937);
    r->x = malloc((n + 1) * sizeof *r->x);
    r->y = malloc((n + 1) * sizeof *r->y);
    r->expected = malloc((n + 1) * sizeof *r->expected);
    r->first = malloc(RESAMPLES * sizeof *r->first);
    r->second = malloc(RESAMPLES * sizeof *r->second);
    if (r->rng == NULL || r->x == NULL || r->y == NULL || r->expected == NULL || r->first == NULL ||
        r->second == NULL)
        return false;
    gsl_rng_set(r->rng, RESAMPLE_SEED);
    return true;
}

static enum weir_status too_few_blocks(size_t n_blocks, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "an interval needs %d blocks of measurements, and there are %zu",
                          FIT_FEWEST_BLOCKS, n_blocks);
}

/* How much further out the quantiles of so few blocks belong. */
static double widening(size_t n_blocks)
{
    double b = (double)n_blocks;

    return gsl_cdf_tdist_Pinv(1 - TAIL, b - 1) / gsl_cdf_ugaussian_Pinv(1 - TAIL) *
           sqrt(b / (b - 1));
}

struct fit_interval fit_interval_about(double figure, double *found, size_t n, size_t n_blocks)
{
    double wider = widening(n_blocks);

    return (struct fit_interval){
        .low = figure - wider * fmax(0, figure - fit_quantile(found, n, TAIL)),
        .high = figure + wider * fmax(0, fit_quantile(found, n, 1 - TAIL) - figure)};
}

static void draw_blocks(struct resampling *r, const double *x, const double *y, size_t n_blocks,
                        size_t n_per_block, const struct fit_line *line)
{
    for (size_t b = 0; b < n_blocks; b++) {
        size_t from = gsl_rng_uniform_int(r->rng, n_blocks) * n_per_block;

        for (size_t i = 0; i < n_per_block; i++) {
            size_t to = b * n_per_block + i;

            r->x[to] = x[from + i];
            r->y[to] = y[from + i];
            r->expected[to] = line->intercept + line->slope * r->x[to];
            if (r->expected[to] < r->y[to] / 2)
                r->expected[to] = r->y[to];
        }
    }
}

/* The lines of all samples: intercepts, and the logarithms of slopes as parts of the line's. */
static void resample_lines(struct resampling *r, struct fit_space *space, const double *x,
                           const double *y, size_t n_blocks, size_t n_per_block, double x_unit,
                           const struct fit_line *line)
{
    for (int sample = 0; sample < RESAMPLES; sample++) {
        struct fit_line found;

        draw_blocks(r, x, y, n_blocks, n_per_block, line);
        if (!solve(space, r->x, r->y, n_blocks * n_per_block, x_unit, r->expected, &found) ||
            found.slope <= 0)
            continue;
        r->first[r->n_found] = found.intercept;
        r->second[r->n_found++] = log(found.slope / line->slope);
    }
}

enum weir_status fit_line_interval(const double *x, const double *y, size_t n, size_t n_per_block,
                                   const struct fit_line *line, struct fit_line_interval *out,
                                   struct weir_error *err)
{
    size_t n_blocks = n_per_block == 0 ? 0 : n / n_per_block;
    size_t n_used = n_blocks * n_per_block;
    struct fit_space space = {NULL, NULL, NULL, NULL, NULL, NULL};
    struct resampling r = {.rng = NULL};
    double greatest = 0;
    enum weir_status status = WEIR_OK;

    if (n_blocks < FIT_FEWEST_BLOCKS)
        return too_few_blocks(n_blocks, err);
    for (size_t i = 0; i < n_used; i++)
        greatest = fmax(greatest, x[i]);
    if (!space_begin(&space, n_used) || !resampling_begin(&r, n_used))
        status = weir_error_memory(err);
    else
        resample_lines(&r, &space, x, y, n_blocks, n_per_block, greatest, line);
    if (status == WEIR_OK && r.n_found < RESAMPLES / 2)
        status = weir_error_set(err, WEIR_INPUT,
                                "%zu of %d samples of the measurements give no line that rises: "
                                "they are too far from one; measure again",
                                RESAMPLES - r.n_found, RESAMPLES);
    if (status == WEIR_OK) {
        struct fit_interval logs = fit_interval_about(0, r.second, r.n_found, n_blocks);

        out->intercept = fit_interval_about(line->intercept, r.first, r.n_found, n_blocks);
        out->slope =
            (struct fit_interval){line->slope * exp(logs.low), line->slope * exp(logs.high)};
    }
    space_free(&space);
    resampling_free(&r);
    return status;
}

enum weir_status fit_ratio(double *log_ratios, size_t n, struct fit_ratio *out,
                           struct weir_error *err)
{
    struct resampling r = {.rng = NULL};
    struct fit_interval logs;
    double median;

    if (n < FIT_FEWEST_BLOCKS)
        return too_few_blocks(n, err);
    if (!resampling_begin(&r, n)) {
        resampling_free(&r);
        return weir_error_memory(err);
    }
    median = fit_quantile(log_ratios, n, 0.5);
    for (int sample = 0; sample < RESAMPLES; sample++) {
        for (size_t i = 0; i < n; i++)
            r.x[i] = log_ratios[gsl_rng_uniform_int(r.rng, n)];
        r.first[r.n_found++] = fit_quantile(r.x, n, 0.5);
    }
    logs = fit_interval_about(median, r.first, r.n_found, n);
    for (size_t i = 0; i < n; i++)
        r.y[i] = exp(log_ratios[i]);
    out->ratio = exp(median);
    out->spread_ratio = fit_spread_ratio(r.y, n, out->ratio);
    out->interval = (struct fit_interval){exp(logs.low), exp(logs.high)};
    resampling_free(&r);
    return WEIR_OK;
}
