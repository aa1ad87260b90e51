/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number of the settings is found at the top, and nowhere else. */
#include "judge/settings.h"

#include <stddef.h>

#include "tests/suite.h"

static double ratio_of(const char *settings)
{
    double value = -1;

    return settings_ratio(settings, "scale", &value) ? value : -1;
}

START_TEST(numbers_at_the_top_are_found)
{
    ck_assert_double_eq(ratio_of("{\"scale\":0.25}"), 0.25);
    ck_assert_double_eq(ratio_of("{ \"a\" : [1, {\"b\": 2}], \"scale\" : 1e3 , \"c\": 3}"), 1000);
    ck_assert_double_eq(ratio_of("{\"x\":\"\\\"scale\\\": 7\",\"scale\":2\n}"), 2);
}
END_TEST

START_TEST(other_places_do_not_count)
{
    ck_assert_double_eq(ratio_of("{}"), -1);
    ck_assert_double_eq(ratio_of(""), -1);
    ck_assert_double_eq(ratio_of("{\"a\":{\"scale\":3}}"), -1);
    ck_assert_double_eq(ratio_of("{\"a\":\"scale\",\"b\":1}"), -1);
    ck_assert_double_eq(ratio_of("[\"scale\",2]"), -1);
    ck_assert_double_eq(ratio_of("{\"scale_time\":3}"), -1);
    ck_assert_double_eq(ratio_of("{\"scale\":\"3\"}"), -1);
    ck_assert_double_eq(ratio_of("{\"scale\":null}"), -1);
}
END_TEST

START_TEST(broken_text_is_not_read_past_its_end)
{
    ck_assert_double_eq(ratio_of("{\"scale"), -1);
    ck_assert_double_eq(ratio_of("{\"scale\\"), -1);
    ck_assert_double_eq(ratio_of("{\"scale\""), -1);
    ck_assert_double_eq(ratio_of("{\"scale\":"), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("settings");
    TCase *tests = tcase_create("settings");

    tcase_add_test(tests, numbers_at_the_top_are_found);
    tcase_add_test(tests, other_places_do_not_count);
    tcase_add_test(tests, broken_text_is_not_read_past_its_end);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
