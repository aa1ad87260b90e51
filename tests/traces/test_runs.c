/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting of what is nearly sorted: whatever comes in, what comes out is what qsort makes of it. */
#include "traces/runs.h"

#include <string.h>

#include "tests/suite.h"

struct row {
    int64_t key;
    uint32_t number; /* makes the order total */
    uint32_t filler[5];
};

static int by_key(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

#define MOST 4000

/* Rows of `n_sequences` ascending sequences, mixed in bursts; 0: no order at all. */
static size_t make(struct row *rows, uint64_t seed, size_t n_sequences)
{
    int64_t keys[128] = {0};
    uint64_t state = seed;
    size_t n = (size_t)(next(&state) % MOST), sequence = 0;

    for (size_t i = 0; i < n; i++) {
        if (n_sequences > 0 && next(&state) % 5 == 0)
            sequence = (size_t)(next(&state) % n_sequences);
        keys[sequence] += (int64_t)(next(&state) % 3);
        rows[i] = (struct row){.number = (uint32_t)i};
        rows[i].key = n_sequences == 0 ? (int64_t)(next(&state) % 1000)
                                       : keys[sequence] + (int64_t)sequence * 1000;
    }
    return n;
}

static void check(uint64_t seed, size_t n_sequences)
{
    static struct row given[MOST], sorted[MOST], expected[MOST];
    static uint32_t numbers[MOST];
    size_t n = make(given, seed, n_sequences);

    memcpy(sorted, given, sizeof given);
    memcpy(expected, given, sizeof given);
    qsort(expected, n, sizeof *expected, by_key);
    runs_sort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(sorted[i].number, expected[i].number);
    if (!runs_order(given, n, sizeof *given, by_key, numbers)) {
        ck_assert(n_sequences == 0 || n_sequences > 64);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(numbers[i], expected[i].number);
}

START_TEST(as_qsort)
{
    const size_t n_sequences[] = {0, 1, 2, 3, 7, 64, 100};

    for (uint64_t seed = 1; seed < (uint64_t)n_inputs(40, 10); seed++) {
        for (size_t i = 0; i < sizeof n_sequences / sizeof *n_sequences; i++)
            check(seed, n_sequences[i]);
    }
}
END_TEST

START_TEST(few_and_reversed)
{
    struct row rows[100];

    runs_sort(rows, 0, sizeof *rows, by_key);
    rows[0] = (struct row){.key = 5};
    runs_sort(rows, 1, sizeof *rows, by_key);
    ck_assert_int_eq(rows[0].key, 5);
    for (uint32_t i = 0; i < 100; i++)
        rows[i] = (struct row){.key = 100 - (int64_t)i, .number = i};
    runs_sort(rows, 100, sizeof *rows, by_key);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_int_eq(rows[i].key, (int64_t)i + 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runs");
    TCase *tcase = tcase_create("sorting");

    tcase_add_test(tcase, as_qsort);
    tcase_add_test(tcase, few_and_reversed);
    suite_add_tcase(suite, tcase);
    return run_suite_together(suite);
}
