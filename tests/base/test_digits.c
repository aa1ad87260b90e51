/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digits against those of printf. */
#include "base/digits.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/random.h"
#include "tests/suite.h"

/* All digits of the number, and its last ones for every width. */
static void check_number(uint64_t value)
{
    char digits[DIGITS_ROOM + 1], expected[64];
    unsigned n = digits_count(value);

    (void)snprintf(expected, sizeof expected, "%" PRIu64, value);
    ck_assert_uint_eq(n, strlen(expected));
    (void)snprintf(expected, sizeof expected, "%020" PRIu64, value);
    for (n = 1; n <= DIGITS_MOST; n++) {
        digits_put(digits, value, n);
        digits[n] = '\0';
        ck_assert_str_eq(digits, expected + DIGITS_MOST - n);
    }
}

/* The lanes of a word hold halves below 10^4: all of them, in either lane. */
START_TEST(every_half_of_a_word)
{
    for (uint64_t half = 0; half < 10000; half += (uint64_t)n_inputs(1, 7)) {
        check_number(half);
        check_number(half * 10000);
        check_number(half * 10000 + 9999 - half);
    }
}
END_TEST

START_TEST(numbers_about_the_powers_of_ten_and_of_two)
{
    for (unsigned i = 0; i < DIGITS_MOST; i++) {
        check_number(digits_powers[i] - 1);
        check_number(digits_powers[i]);
        check_number(digits_powers[i] + 1);
    }
    for (unsigned i = 0; i < 64; i++) {
        check_number((UINT64_C(1) << i) - 1);
        check_number(UINT64_C(1) << i);
    }
    check_number(UINT64_MAX);
}
END_TEST

START_TEST(random_numbers)
{
    struct random_stream random;

    random_seed(&random, 3, 0);
    for (int i = n_inputs(100000, 20000); i > 0; i--)
        check_number(random_bits(&random) >> i % 64);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("digits");
    TCase *tests = tcase_create("digits");

    tcase_add_test(tests, every_half_of_a_word);
    tcase_add_test(tests, numbers_about_the_powers_of_ten_and_of_two);
    tcase_add_test(tests, random_numbers);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
