/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inversions by merge sort are those that comparing every pair finds. */
#include "judge/inversions.h"

#include "base/random.h"
#include "tests/suite.h"

static uint64_t inversions_of(struct inversion_item *items, size_t n, uint64_t *pairs)
{
    uint64_t inversions = 0;
    struct weir_error err;

    ck_assert_int_eq(count_inversions(items, n, &inversions, pairs, &err), WEIR_OK);
    return inversions;
}

START_TEST(nothing_has_no_inversions)
{
    struct inversion_item one = {0, 5, 5};
    uint64_t pairs;

    ck_assert_uint_eq(inversions_of(&one, 0, &pairs), 0);
    ck_assert_uint_eq(pairs, 0);
    ck_assert_uint_eq(inversions_of(&one, 1, &pairs), 0);
    ck_assert_uint_eq(pairs, 0);
}
END_TEST

/* 4 in reverse: all 6 pairs. Another group in the same places adds its own and none between. */
START_TEST(reversed_order_inverts_every_pair)
{
    struct inversion_item items[8];
    uint64_t pairs;

    for (uint32_t i = 0; i < 8; i++)
        items[i] = (struct inversion_item){i / 4, i % 4, 3 - (int64_t)(i % 4)};
    ck_assert_uint_eq(inversions_of(items, 8, &pairs), 12);
    ck_assert_uint_eq(pairs, 12);
}
END_TEST

/* Equal places in either list have no order to invert. */
START_TEST(ties_are_no_inversions)
{
    struct inversion_item items[] = {{0, 1, 9}, {0, 1, 2}, {0, 2, 2}, {0, 3, 2}};
    uint64_t pairs;

    /* 9 at place 1 against 2 at places 2 and 3; its tie at place 1 does not count. */
    ck_assert_uint_eq(inversions_of(items, 4, &pairs), 2);
}
END_TEST

START_TEST(merge_sort_agrees_with_every_pair)
{
    struct random_stream random;
    struct inversion_item items[200];

    random_seed(&random, 7, 0);
    for (int round = 0; round < 50; round++) {
        size_t n = 1 + random_below(&random, 200);
        uint64_t expected = 0, pairs;

        for (size_t i = 0; i < n; i++) {
            items[i] = (struct inversion_item){(uint32_t)random_below(&random, 3),
                                               (int64_t)random_below(&random, 60),
                                               (int64_t)random_below(&random, 60)};
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n; k++) {
                expected += items[i].group == items[k].group && items[i].first < items[k].first &&
                            items[i].second > items[k].second;
            }
        }
        ck_assert_uint_eq(inversions_of(items, n, &pairs), expected);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inversions");
    TCase *tests = tcase_create("inversions");

    tcase_add_test(tests, nothing_has_no_inversions);
    tcase_add_test(tests, reversed_order_inverts_every_pair);
    tcase_add_test(tests, ties_are_no_inversions);
    tcase_add_test(tests, merge_sort_agrees_with_every_pair);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
