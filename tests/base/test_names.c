/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of strings: dense ids in order of first mention, whatever the strings hold. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/suite.h"

static uint32_t intern(struct names *names, const char *text, size_t length)
{
    struct weir_error err;
    uint32_t id;

    ck_assert_int_eq(names_intern(names, text, length, &id, &err), WEIR_OK);
    return id;
}

START_TEST(ids_are_dense_and_stable)
{
    struct names *names = names_new();
    char text[32];

    /* Enough for the table to grow many times, in runs of names that differ in one digit. */
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, "layer%u.gemm#%u", i / 7, i % 7);
        ck_assert_uint_eq(intern(names, text, (size_t)n), i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, "layer%u.gemm#%u", i / 7, i % 7);
        ck_assert_uint_eq(names_find(names, text, (size_t)n), i);
        ck_assert_uint_eq(intern(names, text, (size_t)n), i);
        ck_assert_str_eq(names_text(names, i), text);
    }
    ck_assert_uint_eq(names_count(names), 20000);
    names_free(names);
}
END_TEST

/* Whatever is said to be near, the string is found, and no other. */
START_TEST(near_is_only_a_hint)
{
    static const char *const forms[] = {"n%u", "layer%u.gemm", "%u", "a%ub%u", "x"};
    struct names *names = names_new();
    struct random_stream random;
    struct weir_error err;
    char text[64];

    random_seed(&random, 3, 0);
    ck_assert_uint_eq(names_find_near(names, "x", 1, 0), NAMES_NONE);
    ck_assert_int_eq(names_reserve(names, 500, &err), WEIR_OK);
    for (uint32_t i = 0; i < 3000; i++) {
        int n = snprintf(text, sizeof text, forms[random_below(&random, 5)],
                         (unsigned)random_below(&random, 1200), i % 7);
        intern(names, text, (size_t)n);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, forms[random_below(&random, 5)],
                         (unsigned)random_below(&random, 1300), i % 7);
        uint32_t near = (uint32_t)random_below(&random, names_count(names) + 2);
        ck_assert_uint_eq(names_find_near(names, text, (size_t)n, near),
                          names_find(names, text, (size_t)n));
    }
    names_free(names);
}
END_TEST

/* Strings beside the table have their number and are not found; equal ones have two numbers. */
START_TEST(unlisted_are_not_found)
{
    struct names *names = names_new();
    char text[32];

    for (uint32_t i = 0; i < 3000; i++) {
        int n = snprintf(text, sizeof text, "row %u", i % 1500);
        struct weir_error err;
        uint32_t id;

        ck_assert_int_eq(names_add(names, text, (size_t)n, &id, &err), WEIR_OK);
        ck_assert_uint_eq(id, 2 * i);
        ck_assert_uint_eq(names_find(names, text, (size_t)n), NAMES_NONE);
        n = snprintf(text, sizeof text, "name#%u", i);
        ck_assert_uint_eq(intern(names, text, (size_t)n), 2 * i + 1);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        int n = snprintf(text, sizeof text, "row %u", i % 1500);
        ck_assert_str_eq(names_text(names, 2 * i), text);
        ck_assert_uint_eq(names_find(names, text, (size_t)n), NAMES_NONE);
        n = snprintf(text, sizeof text, "name#%u", i);
        ck_assert_uint_eq(names_find(names, text, (size_t)n), 2 * i + 1);
    }
    /* One that is interned later is a string of its own, and found from then on. */
    ck_assert_uint_eq(intern(names, "row 7", 5), 6000);
    ck_assert_uint_eq(names_find(names, "row 7", 5), 6000);
    names_free(names);
}
END_TEST

START_TEST(strangers_are_not_found)
{
    struct names *names = names_new();

    ck_assert_uint_eq(names_find(names, "x", 1), NAMES_NONE);
    intern(names, "abc", 3);
    ck_assert_uint_eq(names_find(names, "ab", 2), NAMES_NONE);
    ck_assert_uint_eq(names_find(names, "abcd", 4), NAMES_NONE);
    ck_assert_uint_eq(names_find(names, "abcd", 3), 0);
    ck_assert_uint_eq(names_find(names, "", 0), NAMES_NONE);
    ck_assert_uint_eq(intern(names, "", 0), 1);
    ck_assert_uint_eq(names_find(names, "", 0), 1);
    ck_assert_str_eq(names_text(names, 1), "");
    names_free(names);
}
END_TEST

/* Random byte strings of up to 70 bytes over a small alphabet, so that many are equal, against a
 * list that is searched from the front. */
START_TEST(random_strings_match_a_plain_list)
{
    static char list[3000][80];
    static size_t lengths[3000];
    struct names *names = names_new();
    struct random_stream random;
    uint32_t n = 0;

    random_seed(&random, 11, (uint64_t)_i);
    for (int round = 0; round < 3000; round++) {
        char text[80];
        size_t length = random_below(&random, random_below(&random, 8) == 0 ? 70 : 4);
        uint32_t at = 0;
        for (size_t i = 0; i < length; i++)
            text[i] = (char)"019a\xff"[random_below(&random, 5)];
        while (at < n && (lengths[at] != length || memcmp(list[at], text, length) != 0))
            at++;
        ck_assert_uint_eq(names_find(names, text, length), at == n ? NAMES_NONE : at);
        ck_assert_uint_eq(intern(names, text, length), at);
        if (at == n) {
            memcpy(list[n], text, length);
            lengths[n++] = length;
        }
    }
    ck_assert_uint_eq(names_count(names), n);
    names_free(names);
}
END_TEST

/* Boundaries of each row of the table of RFC 3629: the first and last that are, and their
 * neighbours that are not. */
START_TEST(utf8_knows_characters)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xdf\x7f", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0}, /* a surrogate */
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xe2\x82", 0}, /* cut off */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        ck_assert_uint_eq(utf8_length(text, text + strlen(text)), cases[i].length);
        ck_assert_uint_eq(utf8_length(text, NULL), cases[i].length);
        if (cases[i].length > 1)
            ck_assert_uint_eq(utf8_length(text, text + cases[i].length - 1), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *all = tcase_create("names");

    tcase_add_test(all, ids_are_dense_and_stable);
    tcase_add_test(all, near_is_only_a_hint);
    tcase_add_test(all, unlisted_are_not_found);
    tcase_add_test(all, strangers_are_not_found);
    tcase_add_loop_test(all, random_strings_match_a_plain_list, 0, 4);
    tcase_add_test(all, utf8_knows_characters);
    suite_add_tcase(suite, all);
    return run_suite_together(suite);
}
