/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random starts and ends: the sums are those that comparing every pair of stretches finds. */
#include "judge/together.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "tests/suite.h"

enum { STRETCHES = 60, EVENTS = 2 * STRETCHES };

struct stretch {
    int64_t from_ns, to_ns;
    uint32_t class_;
};

struct event {
    int64_t t_ns;
    uint32_t class_;
    bool is_start;
};

/* Ends come before starts of their instant, or after: both are told. */
static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->t_ns != b->t_ns)
        return a->t_ns < b->t_ns ? -1 : 1;
    return (int)a->is_start - (int)b->is_start;
}

static pairs_sum shared_ns(const struct stretch *a, const struct stretch *b)
{
    int64_t from_ns = a->from_ns > b->from_ns ? a->from_ns : b->from_ns;
    int64_t to_ns = a->to_ns < b->to_ns ? a->to_ns : b->to_ns;

    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static pairs_sum expected(const struct stretch *stretches, uint32_t a, uint32_t b)
{
    pairs_sum sum = 0;

    for (int i = 0; i < STRETCHES; i++) {
        for (int k = 0; k < i; k++) {
            uint32_t x = stretches[i].class_, y = stretches[k].class_;

            if ((x == a && y == b) || (x == b && y == a))
                sum += shared_ns(&stretches[i], &stretches[k]);
        }
    }
    return sum;
}

static void tell(struct together *together, const struct stretch *stretches)
{
    struct event events[EVENTS];
    struct weir_error err;

    for (int i = 0; i < STRETCHES; i++) {
        const struct stretch *of = &stretches[i];

        events[2 * i] = (struct event){of->from_ns, of->class_, true};
        events[2 * i + 1] = (struct event){of->to_ns, of->class_, false};
    }
    qsort(events, EVENTS, sizeof *events, by_time);
    for (int i = 0; i < EVENTS; i++) {
        if (events[i].is_start)
            ck_assert_int_eq(together_start(together, events[i].t_ns, events[i].class_, &err),
                             WEIR_OK);
        else
            ck_assert_int_eq(together_end(together, events[i].t_ns, events[i].class_, &err),
                             WEIR_OK);
    }
}

/* @param scale_ns above 2^57 the products of 60 that run together pass 2^63 within one stretch */
static void check(uint64_t seed, uint32_t n_classes, uint32_t n_used, int64_t scale_ns)
{
    struct stretch stretches[STRETCHES];
    struct random_stream random;
    struct together *together;
    struct pair_sum *pairs;
    struct weir_error err;
    size_t n, at = 0;

    random_seed(&random, seed, 0);
    for (int i = 0; i < STRETCHES; i++) {
        int64_t from = (int64_t)random_below(&random, 20),
                length = 1 + (int64_t)random_below(&random, 11);

        stretches[i] = (struct stretch){from * scale_ns, (from + length) * scale_ns,
                                        n_classes - 1 - (uint32_t)random_below(&random, n_used)};
    }
    ck_assert_int_eq(together_new(n_classes, &together, &err), WEIR_OK);
    tell(together, stretches);
    ck_assert_int_eq(together_pairs(together, &pairs, &n, &err), WEIR_OK);
    for (uint32_t a = n_classes - n_used; a < n_classes; a++) {
        for (uint32_t b = a; b < n_classes; b++) {
            pairs_sum sum = expected(stretches, a, b);

            if (sum == 0)
                continue;
            ck_assert_uint_lt(at, n);
            ck_assert_uint_eq(pairs[at].a, a);
            ck_assert_uint_eq(pairs[at].b, b);
            ck_assert(pairs[at].sum == sum);
            at++;
        }
    }
    ck_assert_uint_eq(at, n);
    free(pairs);
    together_free(together);
}

/* Few classes, more than that, and more than rows are kept for; short times and the longest. */
START_TEST(test_sums)
{
    const uint32_t n_classes[] = {1, 2, 16, 17, 512, 513};
    const int64_t scales_ns[] = {1, 1000003, INT64_C(1) << 50, INT64_C(1) << 58};

    for (size_t i = 0; i < sizeof n_classes / sizeof *n_classes; i++) {
        for (size_t k = 0; k < sizeof scales_ns / sizeof *scales_ns; k++)
            check((uint64_t)_i, n_classes[i], n_classes[i] < 5 ? n_classes[i] : 5, scales_ns[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("together");
    TCase *tests = tcase_create("together");

    tcase_add_loop_test(tests, test_sums, 0, 50);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
