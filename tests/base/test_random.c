/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams of random bits, and hashes: both are the same on every machine, so known values are. */
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "tests/suite.h"

/* From the state {1, 2, 3, 4} the first outputs of xoshiro256** follow by hand: rotl(2 * 5, 7) * 9 =
 * 1280 * 9 = 11520; the step then leaves s1 = 1 ^ (3 ^ 1) ^ 2 ... = 0, so the second output is 0. */
START_TEST(steps_are_those_of_xoshiro)
{
    struct random_stream random = {{1, 2, 3, 4}};

    ck_assert_uint_eq(random_bits(&random), 11520);
    ck_assert_uint_eq(random_bits(&random), 0);
    ck_assert_uint_eq(random_bits(&random), 1509978240);
}
END_TEST

START_TEST(streams_repeat_and_differ)
{
    struct random_stream a, b, c, d;
    int n_equal = 0;

    random_seed(&a, 5, 1);
    random_seed(&b, 5, 1);
    random_seed(&c, 5, 2);
    random_seed(&d, 6, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = random_bits(&a);
        ck_assert_uint_eq(bits, random_bits(&b));
        n_equal += bits == random_bits(&c);
        n_equal += bits == random_bits(&d);
    }
    ck_assert_int_eq(n_equal, 0);
}
END_TEST

/* 60,000 draws in [0, 6): each is expected 10,000 times with a deviation of 91; five deviations are
 * allowed. */
START_TEST(below_is_fair_and_below)
{
    struct random_stream random;
    int counts[6] = {0};

    random_seed(&random, (uint64_t)_i, 0);
    for (int i = 0; i < 60000; i++)
        counts[random_below(&random, 6)]++;
    for (int i = 0; i < 6; i++)
        ck_assert_int_lt(abs(counts[i] - 10000), 460);
    ck_assert_uint_eq(random_below(&random, 1), 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_lt(random_below(&random, UINT64_MAX - 3), UINT64_MAX - 3);
}
END_TEST

/* The mean of 100,000 is 0.5 with a deviation of 0.0009. */
START_TEST(unit_lies_in_0_to_1)
{
    struct random_stream random;
    double sum = 0;

    random_seed(&random, 9, 0);
    for (int i = 0; i < 100000; i++) {
        double value = random_unit(&random);
        ck_assert(value >= 0 && value < 1);
        sum += value;
    }
    ck_assert_double_eq_tol(sum / 100000, 0.5, 0.005);
}
END_TEST

/* Published values of MurmurHash3 x64 128 with seed 0. */
START_TEST(hash_has_the_published_values)
{
    static const struct {
        const char *text, *hash;
    } known[] = {
        {"", "00000000000000000000000000000000"},
        {"hello", "cbd8a7b341bd9b025b1e906a48ae1d19"},
        {"The quick brown fox jumps over the lazy dog", "e34bbc7bbc071b6c7a433ca9c49a9347"},
    };
    char text[HASH_TEXT_BYTES];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct hash hash;
        hash_begin(&hash);
        hash_add(&hash, known[i].text, strlen(known[i].text));
        hash_text(&hash, text);
        ck_assert_str_eq(text, known[i].hash);
    }
}
END_TEST

START_TEST(hash_does_not_depend_on_the_pieces)
{
    unsigned char bytes[100];
    char whole[HASH_TEXT_BYTES], pieces[HASH_TEXT_BYTES];

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct hash hash;
        hash_begin(&hash);
        hash_add(&hash, bytes, n);
        hash_text(&hash, whole);
        for (size_t step = 1; step < 40; step++) {
            hash_begin(&hash);
            for (size_t at = 0; at < n; at += step)
                hash_add(&hash, bytes + at, n - at < step ? n - at : step);
            hash_text(&hash, pieces);
            ck_assert_str_eq(whole, pieces);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random");
    TCase *all = tcase_create("random and hash");

    tcase_add_test(all, steps_are_those_of_xoshiro);
    tcase_add_test(all, streams_repeat_and_differ);
    tcase_add_loop_test(all, below_is_fair_and_below, 0, 3);
    tcase_add_test(all, unit_lies_in_0_to_1);
    tcase_add_test(all, hash_has_the_published_values);
    tcase_add_test(all, hash_does_not_depend_on_the_pieces);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
