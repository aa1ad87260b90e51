/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines through measurements: exact on a line, near it with outliers, refused without one. Intervals
 * hold the truth about as often as they say, are not wider than need be, and outliers do not break
 * them. */
#include "replay/fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
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

/* ---- intervals ---- */

#define TRIALS 100
#define BLOCKS 9
#define SIZES 6
#define BLOCK_SIGMA 0.01
#define SAMPLE_SIGMA 0.01

/* How often intervals of figures whose truth is known hold it, and how wide they are. */
struct coverage {
    int n_held;
    double sum, sum_squares; /* of the figures, as parts of the truth */
    double half_width;       /* sum, as parts of the truth */
};

static void count(struct coverage *c, double figure, struct fit_interval interval, double truth)
{
    ck_assert_double_le(interval.low, figure);
    ck_assert_double_ge(interval.high, figure);
    c->n_held += interval.low <= truth && truth <= interval.high;
    c->sum += figure / truth;
    c->sum_squares += figure / truth * (figure / truth);
    c->half_width += (interval.high - interval.low) / 2 / truth;
}

/* Of 100 intervals of 95 % the truth is in 95, give or take 2.2 (one standard deviation), so 89 is
 * unlikely by chance. The half-width that would do is 2 standard deviations of the figures. */
static void check_coverage(const struct coverage *c, double widest)
{
    double mean = c->sum / TRIALS;
    double sigma = sqrt(c->sum_squares / TRIALS - mean * mean);

    ck_assert_int_ge(c->n_held, 89);
    ck_assert_double_ge(c->half_width / TRIALS, 1.6 * sigma);
    ck_assert_double_le(c->half_width / TRIALS, widest * sigma);
}

/* T = 2000 + 0.9 x for x from 1000 to 33000, in blocks that are off by 1 % each, and each value by
 * another; so many values take up to twice as long. @return how many values */
static size_t make_line(gsl_rng *rng, double outliers, double *x, double *y)
{
    size_t n = 0;

    for (int b = 0; b < BLOCKS; b++) {
        double block = gsl_ran_gaussian(rng, BLOCK_SIGMA);

        for (int s = 0; s < SIZES; s++, n++) {
            x[n] = 1000 * pow(33, s / (SIZES - 1.0));
            y[n] = (2000 + 0.9 * x[n]) * (1 + block + gsl_ran_gaussian(rng, SAMPLE_SIGMA));
            if (gsl_rng_uniform(rng) < outliers)
                y[n] *= 1 + gsl_rng_uniform(rng);
        }
    }
    return n;
}

static void cover_lines(unsigned long seed, double outliers)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct coverage slope = {.n_held = 0};
    struct coverage intercept = {.n_held = 0};
    double x[BLOCKS * SIZES];
    double y[BLOCKS * SIZES];
    struct fit_line line;
    struct fit_line_interval interval;
    struct weir_error err;

    gsl_rng_set(rng, seed);
    for (int t = 0; t < TRIALS; t++) {
        size_t n = make_line(rng, outliers, x, y);

        ck_assert_int_eq(fit_line(x, y, n, &line, &err), WEIR_OK);
        ck_assert_int_eq(fit_line_interval(x, y, n, SIZES, &line, &interval, &err), WEIR_OK);
        count(&slope, line.slope, interval.slope, 0.9);
        count(&intercept, line.intercept, interval.intercept, 2000);
    }
    check_coverage(&slope, 3.5);
    check_coverage(&intercept, 3.5);
    gsl_rng_free(rng);
}

START_TEST(intervals_of_lines_hold_the_truth)
{
    cover_lines(1, 0);
}
END_TEST

/* One value in twelve. */
START_TEST(outliers_do_not_break_intervals_of_lines)
{
    cover_lines(2, 1.0 / 12);
}
END_TEST

/* The logarithms of ratios about 1.3, off by 2 %; so many are up to e times as much. */
static void cover_ratios(unsigned long seed, size_t n, double outliers, double widest)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct coverage ratio = {.n_held = 0};
    double logs[40];
    struct fit_ratio fit;
    struct weir_error err;

    gsl_rng_set(rng, seed);
    for (int t = 0; t < TRIALS; t++) {
        for (size_t i = 0; i < n; i++) {
            logs[i] = log(1.3) + gsl_ran_gaussian(rng, 0.02);
            if (gsl_rng_uniform(rng) < outliers)
                logs[i] += gsl_rng_uniform(rng);
        }
        ck_assert_int_eq(fit_ratio(logs, n, &fit, &err), WEIR_OK);
        count(&ratio, fit.ratio, fit.interval, 1.3);
    }
    check_coverage(&ratio, widest);
    gsl_rng_free(rng);
}

START_TEST(intervals_of_ratios_hold_the_truth)
{
    cover_ratios(3, 9, 0, 3.5);
    cover_ratios(4, 15, 0, 3.5);
}
END_TEST

/* One block in fifteen: it pulls the median of those that are left to one side, a little. */
START_TEST(outliers_do_not_break_intervals_of_ratios)
{
    cover_ratios(5, 15, 1.0 / 15, 4);
}
END_TEST

/* The same measurements give the same intervals; those without any error no width. */
START_TEST(intervals_are_the_same_again)
{
    double x[POINTS];
    double y[POINTS];
    double logs[2][5] = {{0.1, 0.3, 0.2, 0.25, 0.22}, {0.1, 0.3, 0.2, 0.25, 0.22}};
    struct fit_line line;
    struct fit_line_interval interval[2];
    struct fit_ratio ratio[2];
    struct weir_error err;

    fill(x, y);
    ck_assert_int_eq(fit_line(x, y, POINTS, &line, &err), WEIR_OK);
    ck_assert_int_eq(fit_line_interval(x, y, POINTS, 8, &line, &interval[0], &err), WEIR_OK);
    ck_assert_double_eq_tol(interval[0].slope.low, 0.1, 1e-9);
    ck_assert_double_eq_tol(interval[0].slope.high, 0.1, 1e-9);
    ck_assert_double_eq_tol(interval[0].intercept.low, 2000, 1e-5);
    ck_assert_double_eq_tol(interval[0].intercept.high, 2000, 1e-5);
    for (int i = 0; i < POINTS; i++)
        y[i] *= 1 + 0.01 * ((i * 7) % 3 - 1);
    ck_assert_int_eq(fit_line(x, y, POINTS, &line, &err), WEIR_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fit_line_interval(x, y, POINTS, 8, &line, &interval[i], &err), WEIR_OK);
        ck_assert_int_eq(fit_ratio(logs[i], 5, &ratio[i], &err), WEIR_OK);
    }
    ck_assert_mem_eq(&interval[0], &interval[1], sizeof interval[0]);
    ck_assert_mem_eq(&ratio[0], &ratio[1], sizeof ratio[0]);
    ck_assert_double_gt(interval[0].slope.high, interval[0].slope.low);
    ck_assert_double_eq_tol(ratio[0].ratio, exp(0.22), 1e-12);
}
END_TEST

START_TEST(few_blocks_give_no_interval)
{
    double x[POINTS];
    double y[POINTS];
    double logs[2] = {0, 1};
    struct fit_line line;
    struct fit_line_interval interval;
    struct fit_ratio ratio;
    struct weir_error err;

    fill(x, y);
    ck_assert_int_eq(fit_line(x, y, POINTS, &line, &err), WEIR_OK);
    ck_assert_int_eq(fit_line_interval(x, y, POINTS, 20, &line, &interval, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "needs 3 blocks of measurements, and there are 2"));
    ck_assert_int_eq(fit_line_interval(x, y, POINTS, 0, &line, &interval, &err), WEIR_INPUT);
    ck_assert_int_eq(fit_ratio(logs, 2, &ratio, &err), WEIR_INPUT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/fit");
    TCase *lines = tcase_create("lines");
    TCase *intervals = tcase_create("intervals");

    (void)gsl_set_error_handler_off();
    tcase_add_test(lines, a_line_is_found);
    tcase_add_test(lines, outliers_do_not_bend_it);
    tcase_add_test(lines, no_line_is_an_error);
    tcase_add_test(lines, quantiles_sort_and_interpolate);
    suite_add_tcase(suite, lines);
    tcase_set_timeout(intervals, 120);
    if (n_inputs(1, 0) > 0) { /* a hundred fits of a hundred samples each */
        tcase_add_test(intervals, intervals_of_lines_hold_the_truth);
        tcase_add_test(intervals, outliers_do_not_break_intervals_of_lines);
        tcase_add_test(intervals, intervals_of_ratios_hold_the_truth);
        tcase_add_test(intervals, outliers_do_not_break_intervals_of_ratios);
    }
    tcase_add_test(intervals, intervals_are_the_same_again);
    tcase_add_test(intervals, few_blocks_give_no_interval);
    suite_add_tcase(suite, intervals);
    return run_suite(suite);
}
