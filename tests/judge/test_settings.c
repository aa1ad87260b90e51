/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number of the settings is found at the top, and nowhere else. */
#include "judge/settings.h"

#include <stdio.h>
#include <string.h>

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

static const char *text_of(const char *settings, size_t out_bytes)
{
    static char out[64];

    return settings_text(settings, "scale", out, out_bytes);
}

START_TEST(texts_have_no_escapes)
{
    ck_assert_str_eq(text_of("{\"scale\":\"a GPU\",\"b\":1}", 64), "a GPU");
    ck_assert_str_eq(text_of("{\"scale\":\"a \\\"b\\\" c\\\\d\\/e\"}", 64), "a \"b\" c\\d/e");
    ck_assert_str_eq(text_of("{\"scale\":\"a\\nb\\u001bc\\u00\"}", 64), "a b c 00");
    ck_assert_str_eq(text_of("{\"scale\":\"a\\\\\"}", 64), "a\\");
    ck_assert_str_eq(text_of("{\"scale\":\"a GPU\"}", 4), "a G");
    ck_assert_str_eq(text_of("{\"scale\":\"\"}", 64), "");
    ck_assert_str_eq(text_of("{\"scale\":3}", 64), "");
    ck_assert_str_eq(text_of("{\"scale\":\"a", 64), "");
    ck_assert_str_eq(text_of("{}", 64), "");
}
END_TEST

static const char *value_of(const char *settings, char out[64])
{
    size_t length = 0;
    const char *value = settings_value(settings, "scale", &length);

    ck_assert_uint_lt(length, 64);
    (void)snprintf(out, 64, "%.*s", (int)length, value == NULL ? "" : value);
    return value == NULL ? "none" : out;
}

START_TEST(values_have_their_ends)
{
    char text[64];

    ck_assert_str_eq(value_of("{\"scale\":0.25}", text), "0.25");
    ck_assert_str_eq(value_of("{\"scale\": [1, 2] , \"b\":3}", text), "[1, 2]");
    ck_assert_str_eq(value_of("{\"scale\":{\"a\":{\"b\":[]},\"c\":\"}\"},\"d\":1}", text),
                     "{\"a\":{\"b\":[]},\"c\":\"}\"}");
    ck_assert_str_eq(value_of("{\"scale\":\"a \\\" b\",\"c\":1}", text), "\"a \\\" b\"");
    ck_assert_str_eq(value_of("{\"scale\":{\"a\":1", text), "none");
    ck_assert_str_eq(value_of("{\"scale\":\"a", text), "none");
    ck_assert_str_eq(value_of("{\"scale\":", text), "none");
}
END_TEST

/* Of an object inside, nothing behind it is found. */
START_TEST(objects_inside_have_keys)
{
    const char settings[] = "{\"in\":{\"a\":1},\"later\":{\"scale\":3},\"then\":{\"scale\":4}}";
    size_t length = 0;
    const char *in = settings_value(settings, "in", &length);
    const char *later = settings_value(settings, "later", &length);

    ck_assert_double_eq(ratio_of(in), -1);
    ck_assert_double_eq(ratio_of(later), 3);
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
    tcase_add_test(tests, texts_have_no_escapes);
    tcase_add_test(tests, values_have_their_ends);
    tcase_add_test(tests, objects_inside_have_keys);
    tcase_add_test(tests, broken_text_is_not_read_past_its_end);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
