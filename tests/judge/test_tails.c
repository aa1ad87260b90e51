/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of samples: solved by hand, and intervals that hold what they promise: of samples of known
 * distributions the true figure lies in them about as often as they say. */
#include "judge/tails.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "base/random.h"
#include "tests/suite.h"

#define UNIT 1000000 /* a value of 1 */

START_TEST(test_figures_by_hand)
{
    /* 0, 10 ... 100: the mean and the median are 50; p90 stands at 0.9 * 10 = 9: 90; p95 at 9.5, between
     * 90 and 100: 95; p99 at 9.9: 99. Shuffled, which does not matter. */
    static const int64_t values[] = {100, 0, 50, 10, 90, 20, 80, 30, 70, 40, 60};
    static const int64_t expected[] = {50, 50, 90, 95, 99, 100};
    struct tails tails, again;
    struct weir_error err;

    ck_assert_int_eq(tails_find(values, 11, 7, &tails, &err), WEIR_OK);
    ck_assert_uint_eq(tails.n_samples, 11);
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        ck_assert_int_eq(tails.of[i].value, expected[i]);
        ck_assert_int_le(tails.of[i].low, expected[i]);
        ck_assert_int_ge(tails.of[i].high, expected[i]);
    }
    ck_assert_int_eq(tails.of[TAILS_WORST].high, 100);
    ck_assert_int_eq(tails_find(values, 11, 7, &again, &err), WEIR_OK);
    ck_assert_mem_eq(&tails, &again, sizeof tails);
    ck_assert_int_eq(tails_find(values, 1, 7, &tails, &err), WEIR_OK);
    ck_assert_int_eq(tails.of[TAILS_P99].low, 100);
    ck_assert_int_eq(tails.of[TAILS_P99].high, 100);
}
END_TEST

/* The bootstrap of a mean has the standard error s / sqrt(n), s of the values themselves (divided by
 * n): for 400 values of 0 and as many of 2000 that is 1000 / sqrt(800) = 35.4, and the interval 1000
 * plus or minus 1.96 of it: 930.7 to 1069.3, to within what 2000 resamples tell. */
START_TEST(test_interval_of_a_mean_by_hand)
{
    int64_t values[800];
    struct tails tails;
    struct weir_error err;

    for (int i = 0; i < 800; i++) {
        values[i] = i % 2 * 2000;
    }
    ck_assert_int_eq(tails_find(values, 800, 1, &tails, &err), WEIR_OK);
    ck_assert_int_eq(tails.of[TAILS_MEAN].value, 1000);
    ck_assert_double_eq_tol((double)tails.of[TAILS_MEAN].low, 930.7, 6);
    ck_assert_double_eq_tol((double)tails.of[TAILS_MEAN].high, 1069.3, 6);
}
END_TEST

/* --- coverage --- */

enum shape { SHAPE_UNIFORM, SHAPE_EXPONENTIAL, N_SHAPES };

/* The value below which that part lies. */
static double inverse(enum shape shape, double part)
{
    return shape == SHAPE_UNIFORM ? part : -log1p(-part);
}

static double true_figure(enum shape shape, int figure)
{
    static const double parts[] = {0, 0.5, 0.9, 0.95, 0.99};

    if (figure == TAILS_MEAN) {
        return shape == SHAPE_UNIFORM ? 0.5 : 1;
    }
    return inverse(shape, parts[figure]);
}

#define TRIALS 100
#define SAMPLES 1000

/* Of 100 intervals at 95 % 95 hold the figure, give or take 2.2 (the deviation of a binomial): fewer
 * than 86 would be chance once in some ten thousand tries; and that nearly all do, of every figure,
 * would say that they are too wide. The percentile interval of a p99 of 1000, beyond which there are
 * 10 values, is a little short: there 82 will do. */
START_TEST(test_intervals_cover_the_truth)
{
    enum shape shape = (enum shape)_i;
    int covered[TAILS_WORST] = {0}, n_covered = 0;
    struct random_stream random;
    int64_t values[SAMPLES];
    struct tails tails;
    struct weir_error err;

    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        random_seed(&random, 11, trial);
        for (int i = 0; i < SAMPLES; i++) {
            values[i] = (int64_t)llround(UNIT * inverse(shape, random_unit(&random)));
        }
        ck_assert_int_eq(tails_find(values, SAMPLES, trial, &tails, &err), WEIR_OK);
        for (int i = TAILS_MEAN; i < TAILS_WORST; i++) {
            double truth = UNIT * true_figure(shape, i);

            covered[i] +=
                (double)tails.of[i].low <= truth && truth <= (double)tails.of[i].high ? 1 : 0;
        }
    }
    for (int i = TAILS_MEAN; i < TAILS_WORST; i++) {
        ck_assert_msg(covered[i] >= (i == TAILS_P99 ? 82 : 86), "%s: %d of %d",
                      tails_figure_name((enum tails_figure)i), covered[i], TRIALS);
        n_covered += covered[i];
    }
    ck_assert_int_lt(n_covered, TAILS_WORST * TRIALS * 99 / 100);
}
END_TEST

/* --- comparison --- */

static void fill(int64_t *values, int n, uint64_t stream, double scale, double tail)
{
    struct random_stream random;

    random_seed(&random, 3, stream);
    for (int i = 0; i < n; i++) {
        double drawn = random_unit(&random);

        values[i] = (int64_t)llround(UNIT * scale * (drawn + (drawn > 0.95 ? tail : 0)));
    }
}

/* After: everything takes a tenth less, but one in twenty 10 times as long as the longest before: the
 * mean of the uniform falls only if the tail is small. With tail 0.1 the mean goes from 0.5 to
 * 0.9 (0.5 + 0.005) = 0.4545, p99 from 0.99 to 0.9 * 1.09 = 0.981: fine. With tail 0.5 the mean goes
 * to 0.4725 and p99 to 1.341: worse. */
START_TEST(test_a_better_mean_with_a_worse_tail_is_found)
{
    int64_t before[4000], after[4000];
    struct tails_comparison comparison;
    struct weir_error err;

    fill(before, 4000, 1, 1, 0);
    fill(after, 4000, 2, 0.9, 0.1);
    ck_assert_int_eq(tails_compare(before, 4000, after, 4000, TAILS_APART, 5, &comparison, &err),
                     WEIR_OK);
    ck_assert_int_eq(tails_regress(&comparison, TAILS_P99), TAILS_FINE);
    fill(after, 4000, 2, 0.9, 0.5);
    ck_assert_int_eq(tails_compare(before, 4000, after, 4000, TAILS_APART, 5, &comparison, &err),
                     WEIR_OK);
    ck_assert_int_eq(tails_regress(&comparison, TAILS_P99), TAILS_REGRESSES);
    ck_assert_int_eq(tails_regress(&comparison, TAILS_MEDIAN), TAILS_FINE);
    ck_assert_double_eq_tol((double)comparison.of[TAILS_MEAN].change / UNIT, 0.4725 - 0.5, 0.02);
    ck_assert_double_eq_tol((double)comparison.of[TAILS_P99].change / UNIT, 1.341 - 0.99, 0.02);
    ck_assert_int_lt(comparison.of[TAILS_P99].low, comparison.of[TAILS_P99].change);
    ck_assert_int_gt(comparison.of[TAILS_P99].high, comparison.of[TAILS_P99].change);
    /* The same with 30 samples a side: it may be chance. */
    ck_assert_int_eq(tails_compare(before, 30, after, 30, TAILS_APART, 5, &comparison, &err),
                     WEIR_OK);
    ck_assert_int_ne(tails_regress(&comparison, TAILS_P99), TAILS_REGRESSES);
    ck_assert_int_eq(tails_compare(before, 4000, before, 4000, TAILS_APART, 5, &comparison, &err),
                     WEIR_OK);
    ck_assert_int_eq(comparison.of[TAILS_MEAN].change, 0);
    ck_assert_int_eq(tails_regress(&comparison, TAILS_WORST), TAILS_FINE);
}
END_TEST

/* After is before less 10, sample by sample: resampled in pairs the difference of the means is always
 * -10; each for itself it is anything within some deviations of the mean. */
START_TEST(test_pairs_share_what_they_have_in_common)
{
    int64_t before[500], after[500];
    struct tails_comparison comparison;
    struct weir_error err;

    fill(before, 500, 1, 1, 0);
    for (int i = 0; i < 500; i++) {
        after[i] = before[i] - 10;
    }
    ck_assert_int_eq(tails_compare(before, 500, after, 500, TAILS_PAIRED, 5, &comparison, &err),
                     WEIR_OK);
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        ck_assert_int_eq(comparison.of[i].change, -10);
        ck_assert_int_eq(comparison.of[i].low, -10);
        ck_assert_int_eq(comparison.of[i].high, -10);
    }
    ck_assert_int_eq(tails_compare(before, 500, after, 500, TAILS_APART, 5, &comparison, &err),
                     WEIR_OK);
    ck_assert_int_lt(comparison.of[TAILS_MEAN].low, -10000);
    ck_assert_int_gt(comparison.of[TAILS_MEAN].high, 10000);
}
END_TEST

START_TEST(test_names)
{
    enum tails_figure figure;

    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        ck_assert(tails_figure_from(tails_figure_name((enum tails_figure)i), &figure));
        ck_assert_int_eq(figure, i);
    }
    ck_assert(!tails_figure_from("p98", &figure));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tails");
    TCase *tests = tcase_create("tails");

    gsl_set_error_handler_off();
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_figures_by_hand);
    tcase_add_test(tests, test_interval_of_a_mean_by_hand);
    tcase_add_loop_test(tests, test_intervals_cover_the_truth, 0, n_inputs(N_SHAPES, 1));
    tcase_add_test(tests, test_a_better_mean_with_a_worse_tail_is_found);
    tcase_add_test(tests, test_pairs_share_what_they_have_in_common);
    tcase_add_test(tests, test_names);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
