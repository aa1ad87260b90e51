/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL's nonlinear least squares know no robust loss: weights are Huber's for the distances of the last
 * round, until the parameters stay. Distances count in standard deviations of their own value, and in
 * 1.4826 times the median of these where that is more, so that a deviation that was told too small
 * makes no outliers. */
#include "replay/fit_curve.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAD_TO_SIGMA 1.4826
#define HUBER 1.345 /* 95 % as efficient as least squares when errors are normal */
#define ROUNDS 12
#define STAYS 1e-4 /* of a parameter, from round to round: far less than any interval */
#define STEPS 20   /* of the trust region in a round: the next round goes on from there */
#define RESAMPLES 200
#define RESAMPLE_SEED 20150801
#define TAIL 0.025

/* One fit: of rows of the curve's values, any of them several times. */
struct work {
    const struct fit_curve *curve;
    const size_t *rows;
    size_t n_rows;
    double *predicted; /* by value */
    double *distances; /* scratch, by row */
    gsl_vector *weights, *begin;
    gsl_multifit_nlinear_workspace *space;
};

static void work_free(struct work *work)
{
    gsl_multifit_nlinear_free(work->space);
    gsl_vector_free(work->weights);
    gsl_vector_free(work->begin);
    free(work->predicted);
    free(work->distances);
}

static bool work_begin(struct work *work, const struct fit_curve *curve, const size_t *rows,
                       size_t n_rows)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    size_t n = n_rows + curve->n_parameters; /* each parameter's prior is a row too */

    how.trs = gsl_multifit_nlinear_trs_lm;
    *work = (struct work){.curve = curve, .rows = rows, .n_rows = n_rows};
    work->predicted = malloc((curve->n_values + 1) * sizeof *work->predicted);
    work->distances = malloc((n_rows + 1) * sizeof *work->distances);
    work->weights = gsl_vector_alloc(n);
    work->begin = gsl_vector_alloc(curve->n_parameters);
    work->space =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n, curve->n_parameters);
    return work->predicted != NULL && work->distances != NULL && work->weights != NULL &&
           work->begin != NULL && work->space != NULL;
}

static int residuals(const gsl_vector *x, void *arg, gsl_vector *out)
{
    struct work *work = arg;
    const struct fit_curve *curve = work->curve;
    double parameters[FIT_CURVE_PARAMETERS];

    for (size_t i = 0; i < curve->n_parameters; i++) {
        parameters[i] = gsl_vector_get(x, i);
        gsl_vector_set(out, work->n_rows + i,
                       (parameters[i] - curve->prior[i]) / curve->prior_sigmas[i]);
    }
    curve->predict(curve->context, parameters, work->predicted);
    for (size_t i = 0; i < work->n_rows; i++) {
        size_t row = work->rows[i];
        double distance = (work->predicted[row] - curve->values[row]) / curve->sigmas[row];

        if (!isfinite(distance))
            return GSL_EDOM;
        gsl_vector_set(out, i, distance);
    }
    return GSL_SUCCESS;
}

/* Huber's weights for the distances of the parameters as they are. */
static bool weigh(struct work *work, const double *parameters)
{
    const struct fit_curve *curve = work->curve;
    double scale;

    curve->predict(curve->context, parameters, work->predicted);
    for (size_t i = 0; i < work->n_rows; i++) {
        size_t row = work->rows[i];

        work->distances[i] = fabs(work->predicted[row] - curve->values[row]) / curve->sigmas[row];
        if (!isfinite(work->distances[i]))
            return false;
        gsl_vector_set(work->weights, i, work->distances[i]);
    }
    scale = fmax(1, MAD_TO_SIGMA * fit_quantile(work->distances, work->n_rows, 0.5));
    for (size_t i = 0; i < work->n_rows; i++) {
        double distance = gsl_vector_get(work->weights, i) / scale;

        gsl_vector_set(work->weights, i,
                       (distance > HUBER ? HUBER / distance : 1) / (scale * scale));
    }
    return true;
}

static bool solve(struct work *work, double *parameters)
{
    gsl_multifit_nlinear_fdf function = {.f = residuals,
                                         .n = work->n_rows + work->curve->n_parameters,
                                         .p = work->curve->n_parameters,
                                         .params = work};
    int why;

    for (size_t i = 0; i < work->curve->n_parameters; i++)
        gsl_vector_set(work->begin, i, parameters[i]);
    if (gsl_multifit_nlinear_winit(work->begin, work->weights, &function, work->space) !=
        GSL_SUCCESS)
        return false;
    /* One that makes no progress any more is as near as it gets. */
    (void)gsl_multifit_nlinear_driver(STEPS, 1e-5, 1e-5, 0, NULL, NULL, &why, work->space);
    for (size_t i = 0; i < work->curve->n_parameters; i++) {
        parameters[i] = gsl_vector_get(gsl_multifit_nlinear_position(work->space), i);
        if (!isfinite(parameters[i]))
            return false;
    }
    return true;
}

static bool find(struct work *work, double *parameters)
{
    size_t n = work->curve->n_parameters;

    gsl_vector_set_all(work->weights, 1);
    for (int round = 0; round < ROUNDS; round++) {
        double before[FIT_CURVE_PARAMETERS];
        double moved = 0;

        memcpy(before, parameters, n * sizeof *parameters);
        if (!weigh(work, parameters) || !solve(work, parameters))
            return false;
        for (size_t i = 0; i < n; i++)
            moved = fmax(moved, fabs(parameters[i] - before[i]) / (1 + fabs(before[i])));
        if (moved < STAYS)
            break;
    }
    return true;
}

static bool find_deviations(const struct work *work, double *deviations)
{
    size_t n = work->curve->n_parameters;
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    bool is_found =
        covariance != NULL && gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work->space), 0,
                                                         covariance) == GSL_SUCCESS;

    for (size_t i = 0; i < n && is_found; i++)
        deviations[i] = sqrt(gsl_matrix_get(covariance, i, i));
    gsl_matrix_free(covariance);
    return is_found;
}

static double column_product(const gsl_matrix *jacobian, size_t a, size_t b)
{
    double product = 0;

    for (size_t i = 0; i < jacobian->size1; i++)
        product += gsl_matrix_get(jacobian, i, a) * gsl_matrix_get(jacobian, i, b);
    return product;
}

/* @return the ratio of the eigenvalues of a matrix that is destroyed; below 0: memory ran out */
static double eigenvalue_ratio(gsl_matrix *products)
{
    gsl_vector *values = gsl_vector_alloc(products->size1);
    gsl_eigen_symm_workspace *space = gsl_eigen_symm_alloc(products->size1);
    double ratio = -1;

    if (values != NULL && space != NULL && gsl_eigen_symm(products, values, space) == GSL_SUCCESS)
        ratio = gsl_vector_max(values) / fmax(gsl_vector_min(values), 0);
    gsl_eigen_symm_free(space);
    gsl_vector_free(values);
    return ratio;
}

static bool find_condition(const struct work *work, double *condition)
{
    size_t n = work->curve->n_parameters;
    const gsl_matrix *jacobian = gsl_multifit_nlinear_jac(work->space);
    gsl_matrix *products = gsl_matrix_alloc(n, n);
    double ratio;

    if (products == NULL)
        return false;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            double lengths = sqrt(column_product(jacobian, a, a) * column_product(jacobian, b, b));

            /* Of a parameter so near 0 that no step of a part of it is left the column is 0. */
            gsl_matrix_set(products, a, b,
                           lengths > 0 ? column_product(jacobian, a, b) / lengths : a == b);
        }
    }
    ratio = eigenvalue_ratio(products);
    gsl_matrix_free(products);
    *condition = sqrt(ratio);
    return ratio >= 0;
}

static enum weir_status no_fit(const struct fit_curve *curve, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "no %zu parameters fit %zu measurements: they are too far from what the "
                          "model can be; measure again",
                          curve->n_parameters, curve->n_values);
}

static enum weir_status find_quality(const struct work *work, struct fit_curve_quality *out,
                                     struct weir_error *err)
{
    if (!find_deviations(work, out->deviations))
        return no_fit(work->curve, err);
    return find_condition(work, &out->condition) ? WEIR_OK : weir_error_memory(err);
}

enum weir_status fit_curve(const struct fit_curve *curve, double *parameters,
                           struct fit_curve_quality *quality, struct weir_error *err)
{
    size_t *rows = malloc((curve->n_values + 1) * sizeof *rows);
    double found[FIT_CURVE_PARAMETERS];
    struct work work = {.space = NULL};
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < curve->n_values && rows != NULL; i++)
        rows[i] = i;
    memcpy(found, parameters, curve->n_parameters * sizeof *found);
    if (rows == NULL || !work_begin(&work, curve, rows, curve->n_values))
        status = weir_error_memory(err);
    else if (!find(&work, found))
        status = no_fit(curve, err);
    else if (quality != NULL)
        status = find_quality(&work, quality, err);
    if (status == WEIR_OK)
        memcpy(parameters, found, curve->n_parameters * sizeof *found);
    work_free(&work);
    free(rows);
    return status;
}

/* ---- intervals ---- */

/* Rows of blocks drawn with repetition. @return how many */
static size_t draw(gsl_rng *rng, const size_t *block_of, size_t n_values, size_t n_blocks,
                   size_t *rows, size_t room)
{
    size_t n = 0;

    for (size_t b = 0; b < n_blocks; b++) {
        size_t block = gsl_rng_uniform_int(rng, n_blocks);

        for (size_t i = 0; i < n_values && n < room; i++) {
            if (block_of[i] == block)
                rows[n++] = i;
        }
    }
    return n;
}

/* @param found by parameter: of every sample @return how many could be fitted */
static enum weir_status resample(const struct fit_curve *curve, const double *parameters,
                                 const size_t *block_of, size_t n_blocks, double *found,
                                 size_t *n_found, struct weir_error *err)
{
    size_t room = 4 * curve->n_values, n = curve->n_parameters;
    size_t *rows = malloc((room + 1) * sizeof *rows);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    enum weir_status status = rows == NULL || rng == NULL ? weir_error_memory(err) : WEIR_OK;

    *n_found = 0;
    if (rng != NULL)
        gsl_rng_set(rng, RESAMPLE_SEED);
    for (int sample = 0; sample < RESAMPLES && status == WEIR_OK; sample++) {
        size_t n_rows = draw(rng, block_of, curve->n_values, n_blocks, rows, room);
        double one[FIT_CURVE_PARAMETERS];
        struct work work;

        memcpy(one, parameters, n * sizeof *one);
        if (!work_begin(&work, curve, rows, n_rows)) {
            status = weir_error_memory(err);
        } else if (n_rows > 0 && find(&work, one)) {
            for (size_t i = 0; i < n; i++)
                found[i * RESAMPLES + *n_found] = one[i];
            ++*n_found;
        }
        work_free(&work);
    }
    gsl_rng_free(rng);
    free(rows);
    return status;
}

enum weir_status fit_curve_intervals(const struct fit_curve *curve, const double *parameters,
                                     const size_t *block_of, size_t n_blocks,
                                     struct fit_interval *out, struct weir_error *err)
{
    double *found = malloc(curve->n_parameters * RESAMPLES * sizeof *found);
    size_t n_found = 0;
    enum weir_status status = WEIR_OK;

    if (n_blocks < FIT_FEWEST_BLOCKS) {
        free(found);
        return weir_error_set(err, WEIR_INPUT,
                              "an interval needs %d blocks of measurements, and there are %zu",
                              FIT_FEWEST_BLOCKS, n_blocks);
    }
    if (found == NULL)
        return weir_error_memory(err);
    status = resample(curve, parameters, block_of, n_blocks, found, &n_found, err);
    if (status == WEIR_OK && n_found < RESAMPLES / 2)
        status = no_fit(curve, err);
    for (size_t i = 0; i < curve->n_parameters && status == WEIR_OK; i++) {
        double *values = found + i * RESAMPLES;

        out[i] = fit_interval_about(parameters[i], values, n_found, n_blocks);
    }
    free(found);
    return status;
}
