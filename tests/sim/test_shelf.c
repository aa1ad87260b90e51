/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shelf finds what a look at every node on it would find. */
#include "sim/shelf.h"

#include "base/random.h"
#include "tests/suite.h"

#define N 300

struct row {
    struct candidate candidate;
    int64_t need_bytes;
    bool is_on;
};

/* The first in order of those whose need is covered; NULL when there is none. */
static struct row *look(struct row *rows, int64_t free_bytes)
{
    struct row *first = NULL;

    for (uint32_t i = 0; i < N; i++) {
        if (rows[i].is_on && rows[i].need_bytes <= free_bytes &&
            (first == NULL || candidate_before(&rows[i].candidate, &first->candidate))) {
            first = &rows[i];
        }
    }
    return first;
}

static void add(struct shelf_pool *pool, uint32_t *shelf, struct row *rows, uint32_t node,
                struct random_stream *random)
{
    struct weir_error err;

    rows[node] = (struct row){{.priority = (int64_t)random_below(random, 3) - 1,
                               .ready_ns = (int64_t)random_below(random, 20),
                               .node = node},
                              (int64_t)random_below(random, 1000),
                              true};
    ck_assert_int_eq(shelf_add(pool, shelf, rows[node].candidate, rows[node].need_bytes, &err),
                     WEIR_OK);
}

START_TEST(test_first_that_fits)
{
    struct shelf_pool pool = {0};
    struct row rows[N] = {0};
    struct random_stream random;
    struct candidate first;
    uint32_t shelf = 0;
    int64_t need_bytes;

    random_seed(&random, (uint64_t)_i, 0);
    for (uint32_t step = 0; step < 20 * N; step++) {
        uint32_t node = (uint32_t)random_below(&random, N);
        int64_t free_bytes = (int64_t)random_below(&random, 1000);
        struct row *expected;

        if (!rows[node].is_on) {
            add(&pool, &shelf, rows, node, &random);
        }
        expected = look(rows, free_bytes);
        ck_assert_int_eq(shelf_first(&pool, shelf, free_bytes, &first), expected != NULL);
        if (expected != NULL) {
            ck_assert_uint_eq(first.node, expected->candidate.node);
            shelf_remove(&pool, &shelf, &first);
            expected->is_on = false;
        }
    }
    ck_assert_uint_le(pool.n, N); /* room is used again */
    for (struct row *expected = look(rows, INT64_MAX); expected != NULL;
         expected = look(rows, INT64_MAX)) {
        ck_assert(shelf_pop(&pool, &shelf, &first, &need_bytes));
        ck_assert_uint_eq(first.node, expected->candidate.node);
        ck_assert_int_eq(need_bytes, expected->need_bytes);
        expected->is_on = false;
    }
    ck_assert(!shelf_pop(&pool, &shelf, &first, &need_bytes));
    free(pool.items);
}
END_TEST

START_TEST(test_last_after)
{
    struct shelf_pool pool = {0};
    struct row rows[N] = {0};
    struct random_stream random;
    struct candidate last, before;
    uint32_t shelf = 0, n = 0;

    random_seed(&random, (uint64_t)_i, 1);
    for (uint32_t i = 0; i < N; i++) {
        add(&pool, &shelf, rows, i, &random);
    }
    while (shelf_pop_last(&pool, &shelf, &rows[0].candidate, &last)) {
        ck_assert(candidate_before(&rows[0].candidate, &last));
        ck_assert(n == 0 || candidate_before(&last, &before));
        before = last;
        rows[last.node].is_on = false;
        n++;
    }
    for (uint32_t i = 0; i < N; i++) {
        ck_assert_int_eq(rows[i].is_on, !candidate_before(&rows[0].candidate, &rows[i].candidate));
    }
    for (; shelf_pop_last(&pool, &shelf, NULL, &last); n++) {
        ck_assert(rows[last.node].is_on);
    }
    ck_assert_uint_eq(n, N);
    free(pool.items);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shelf");
    TCase *tests = tcase_create("shelf");

    tcase_add_loop_test(tests, test_first_that_fits, 0, 10);
    tcase_add_loop_test(tests, test_last_after, 0, 10);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
