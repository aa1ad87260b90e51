/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines through measurements: exact on a line, near it with outliers, refused without one. */
#include "replay/fit.h"

#include <gsl/gsl_errno.h>
#include <string.h>

#include "tests/suite.h"

#define POINTS 40

/* T = 2000 + 0.1 x at x = 1000, 2000, ... */
static void fill(double *x, double *y)
{
    for (int i = 0; i < POINTS; i++) {
        x[i] = 1000.0 * (i + 1);
        y[i] = 2000 + 0.1 * x[i];
    }
}

START_TEST(a_line_is_found)
{
    double x[POINTS];
    double y[POINTS];
    struct fit_line line;
    struct weir_error err;

    fill(x, y);
    ck_assert_int_eq(fit_line(x, y, POINTS, &line, &err), WEIR_OK);
    ck_assert_double_eq_tol(line.intercept, 2000, 1e-6);
    ck_assert_double_eq_tol(line.slope, 0.1, 1e-9);
    ck_assert_double_le(line.spread_ratio, 1e-9);
}
END_TEST

/* One point in five takes three times as long, and the others are off by up to 1 %: a least squares
 * line would be off by tens of percent. */
START_TEST(outliers_do_not_bend_it)
{
    double x[POINTS];
    double y[POINTS];
    struct fit_line line;
    struct weir_error err;

    fill(x, y);
    for (int i = 0; i < POINTS; i++)
        y[i] *= i % 5 == 2 ? 3 : 1 + 0.01 * ((i * 7) % 3 - 1);
    ck_assert_int_eq(fit_line(x, y, POINTS, &line, &err), WEIR_OK);
    ck_assert_double_eq_tol(line.intercept, 2000, 60);
    ck_assert_double_eq_tol(line.slope, 0.1, 0.002);
    ck_assert_double_gt(line.spread_ratio, 0.001);
    ck_assert_double_lt(line.spread_ratio, 0.05);
}
END_TEST

START_TEST(no_line_is_an_error)
{
    double x[4] = {5, 5, 5, 5};
    double y[4] = {1, 2, 3, 4};
    double two_x[2] = {1, 2};
    double two_y[2] = {1, 2};
    struct fit_line line;
    struct weir_error err;

    ck_assert_int_eq(fit_line(x, y, 4, &line, &err), WEIR_INPUT);
    ck_assert_int_eq(fit_line(two_x, two_y, 2, &line, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "needs 4 measurements"));
}
END_TEST

START_TEST(quantiles_sort_and_interpolate)
{
    double values[] = {40, 10, 30, 20};
    double same[] = {7, 7, 7};
    double spread[] = {90, 100, 110, 100, 130};

    ck_assert_double_eq_tol(fit_quantile(values, 4, 0.5), 25, 1e-12);
    ck_assert_double_eq_tol(fit_quantile(values, 4, 0), 10, 1e-12);
    ck_assert_double_eq_tol(fit_quantile(values, 4, 1), 40, 1e-12);
    ck_assert_double_eq_tol(fit_quantile(values, 0, 0.5), 0, 1e-12);
    ck_assert_double_eq_tol(fit_spread_ratio(same, 3, 7), 0, 1e-12);
    /* Distances from 100: 10, 0, 10, 0, 30 %: median 10 %. */
    ck_assert_double_eq_tol(fit_spread_ratio(spread, 5, 100), 0.14826, 1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/fit");
    TCase *lines = tcase_create("lines");

    (void)gsl_set_error_handler_off();
    tcase_add_test(lines, a_line_is_found);
    tcase_add_test(lines, outliers_do_not_bend_it);
    tcase_add_test(lines, no_line_is_an_error);
    tcase_add_test(lines, quantiles_sort_and_interpolate);
    suite_add_tcase(suite, lines);
    return run_suite(suite);
}
