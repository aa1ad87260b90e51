/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taken addresses, compared with a map of all of them. */
#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "policies/arena_taken.h"
#include "tests/suite.h"

#define ADDRESSES 4096

static void add(struct arena_taken *set, int64_t from, int64_t to)
{
    struct weir_error err;

    ck_assert_msg(arena_taken_add(set, from, to, 1, &err) == WEIR_OK, "%s", err.text);
}

/* 0-10 and 20-30 leave ten between them; 10-12 joins the first, and 12-20 all of it. */
START_TEST(neighbours_join)
{
    struct arena_taken set = {0};

    ck_assert_int_eq(arena_taken_lowest(&set, 5, 100), 5);
    add(&set, 20, 30);
    add(&set, 0, 10);
    ck_assert_int_eq(arena_taken_lowest(&set, 0, 10), 10);
    ck_assert_int_eq(arena_taken_lowest(&set, 0, 11), 30);
    ck_assert_int_eq(arena_taken_lowest(&set, 11, 9), 11);
    ck_assert_int_eq(arena_taken_lowest(&set, 12, 9), 30);
    add(&set, 10, 12);
    ck_assert_int_eq(arena_taken_lowest(&set, 0, 1), 12);
    add(&set, 12, 20);
    ck_assert_int_eq(arena_taken_lowest(&set, 0, 1), 30);
    ck_assert_int_eq(arena_taken_lowest(&set, 40, 1), 40);
    arena_taken_free(&set);
}
END_TEST

/* Of holes below four bytes nobody asks: 3 between 0-5 and 8-9 are as if they were taken. */
START_TEST(small_holes_are_not_kept)
{
    struct arena_taken set = {0};
    struct weir_error err;

    ck_assert(arena_taken_add(&set, 0, 5, 4, &err) == WEIR_OK);
    ck_assert(arena_taken_add(&set, 8, 9, 4, &err) == WEIR_OK);
    ck_assert(arena_taken_add(&set, 13, 14, 4, &err) == WEIR_OK);
    ck_assert_int_eq(arena_taken_lowest(&set, 0, 4), 9);
    arena_taken_free(&set);
}
END_TEST

static int64_t lowest_on_map(const bool *is_taken, int64_t from, int64_t bytes)
{
    int64_t n_free = 0, at = from;

    for (; n_free < bytes; at++) {
        n_free = at < ADDRESSES && is_taken[at] ? 0 : n_free + 1;
    }
    return at - bytes;
}

/* Single bytes at first, so that there are many ranges and blocks, then more and more at once. */
START_TEST(drawn_sets_say_what_a_map_says)
{
    static bool is_taken[ADDRESSES];
    struct arena_taken set = {0};
    struct random_stream random;

    memset(is_taken, 0, sizeof is_taken);
    random_seed(&random, (uint64_t)_i, 0);
    for (uint64_t turn = 0; turn < 3000; turn++) {
        int64_t from = (int64_t)random_below(&random, ADDRESSES - 200);
        int64_t to = from + 1 + (int64_t)random_below(&random, 1 + turn / 100);
        int64_t asked = (int64_t)random_below(&random, ADDRESSES);
        int64_t bytes = 1 + (int64_t)random_below(&random, 1 + random_below(&random, 60));

        add(&set, from, to);
        memset(is_taken + from, 1, (size_t)(to - from));
        ck_assert_int_eq(arena_taken_lowest(&set, asked, bytes),
                         lowest_on_map(is_taken, asked, bytes));
        ck_assert_int_eq(arena_taken_lowest(&set, 0, bytes), lowest_on_map(is_taken, 0, bytes));
    }
    arena_taken_free(&set);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policies/arena_taken");
    TCase *by_hand = tcase_create("by hand"), *drawn = tcase_create("drawn");

    tcase_add_test(by_hand, neighbours_join);
    tcase_add_test(by_hand, small_holes_are_not_kept);
    tcase_add_loop_test(drawn, drawn_sets_say_what_a_map_says, 0, 8);
    suite_add_tcase(suite, by_hand);
    suite_add_tcase(suite, drawn);
    return run_suite(suite);
}
