/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust fits with GSL. Each row is divided by what a first fit expects of it, so that a percent of a
 * short duration counts as much as a percent of a long one. (Divided by its own y, all would be 1, and
 * GSL takes its scale from how much they differ.) */
#include "replay/fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define FEWEST_POINTS 4
#define MAD_TO_SIGMA 1.4826 /* of the median distance, for normal errors */

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
