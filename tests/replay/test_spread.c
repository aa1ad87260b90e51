/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians of few times, worked out by hand, and where they may lie. */
#include "replay/spread.h"

#include <gsl/gsl_errno.h>

#include "tests/suite.h"

static struct spread spread_of(const int64_t *values_ns, size_t n)
{
    struct spread spread;
    struct weir_error err;

    ck_assert_int_eq(spread_find(values_ns, n, &spread, &err), WEIR_OK);
    return spread;
}

/* Of two in the middle the shorter. The quartiles of 100, 200, 300, 400 lie at 175 and 325. */
START_TEST(the_middle_is_found)
{
    const int64_t values_ns[] = {400, 100, 300, 200};
    struct spread spread = spread_of(values_ns, 4);

    ck_assert_int_eq(spread.least_ns, 100);
    ck_assert_int_eq(spread.median_ns, 200);
    ck_assert_int_eq(spread.greatest_ns, 400);
    ck_assert_double_eq_tol(spread.quartiles_ratio, 0.75, 1e-12);
    ck_assert(spread.has_interval);
    ck_assert_int_le(spread.low_ns, 200);
    ck_assert_int_ge(spread.high_ns, 300);
}
END_TEST

START_TEST(equal_times_are_exactly_known)
{
    const int64_t values_ns[] = {6000000, 6000000, 6000000}, none_ns[] = {0, 0, 0};
    struct spread spread = spread_of(values_ns, 3);

    ck_assert_int_eq(spread.low_ns, 6000000);
    ck_assert_int_eq(spread.high_ns, 6000000);
    spread = spread_of(none_ns, 3);
    ck_assert(spread.has_interval);
    ck_assert_int_eq(spread.low_ns, 0);
    ck_assert_int_eq(spread.high_ns, 0);
    ck_assert_double_eq(spread.quartiles_ratio, 0);
}
END_TEST

START_TEST(too_few_have_no_interval)
{
    const int64_t values_ns[] = {5, 7};
    struct spread spread = spread_of(values_ns, 2);

    ck_assert_int_eq(spread.median_ns, 5);
    ck_assert(!spread.has_interval);
    ck_assert_int_eq(spread.low_ns, 0);
    ck_assert_int_eq(spread.high_ns, 0);
}
END_TEST

/* One far off among many moves neither the median nor its interval. */
START_TEST(one_far_off_does_not_count)
{
    int64_t values_ns[31];
    struct spread spread;

    for (int i = 0; i < 31; i++)
        values_ns[i] = 1000000 + 100 * i;
    values_ns[30] = 900000000;
    spread = spread_of(values_ns, 31);
    ck_assert_int_eq(spread.median_ns, 1001500);
    ck_assert_int_eq(spread.greatest_ns, 900000000);
    ck_assert_int_gt(spread.low_ns, 1000000);
    ck_assert_int_lt(spread.high_ns, 1003000);
    ck_assert_int_lt(spread.low_ns, 1001500);
    ck_assert_int_gt(spread.high_ns, 1001500);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/spread");
    TCase *tests = tcase_create("spread");

    (void)gsl_set_error_handler_off();
    tcase_add_test(tests, the_middle_is_found);
    tcase_add_test(tests, equal_times_are_exactly_known);
    tcase_add_test(tests, too_few_have_no_interval);
    tcase_add_test(tests, one_far_off_does_not_count);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
