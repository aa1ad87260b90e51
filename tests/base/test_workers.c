/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every item once, whatever the number of threads. */
#include "base/workers.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "tests/suite.h"

#define ITEMS 1000

struct tally {
    atomic_uint times[ITEMS];
    atomic_uint waiting; /* threads that have come */
    uint32_t n_threads;
    atomic_bool is_wrong;
};

static void count(void *arg, uint32_t item, uint32_t thread)
{
    struct tally *tally = arg;

    atomic_fetch_add(&tally->times[item], 1);
    if (thread >= tally->n_threads)
        atomic_store(&tally->is_wrong, true);
}

static void check(uint32_t n_items, uint32_t n_threads)
{
    static struct tally tally;

    for (uint32_t i = 0; i < ITEMS; i++)
        atomic_store(&tally.times[i], 0);
    tally.n_threads = n_threads;
    workers_run(n_items, n_threads, count, &tally);
    for (uint32_t i = 0; i < ITEMS; i++)
        ck_assert_uint_eq(atomic_load(&tally.times[i]), i < n_items ? 1 : 0);
    ck_assert(!atomic_load(&tally.is_wrong));
}

START_TEST(each_item_once)
{
    check(ITEMS, 1);
    check(ITEMS, 2);
    check(ITEMS, 7);
    check(ITEMS, WORKERS_MOST);
    check(3, 8);
    check(1, 8);
    check(0, 8);
}
END_TEST

/* Each item waits until as many as there are threads have begun: done only where they do work at once. */
static void meet(void *arg, uint32_t item, uint32_t thread)
{
    struct tally *tally = arg;

    (void)item;
    (void)thread;
    atomic_fetch_add(&tally->waiting, 1);
    while (atomic_load(&tally->waiting) < tally->n_threads)
        ;
}

START_TEST(threads_work_at_once)
{
    static struct tally tally;

    tally.n_threads = 3;
    workers_run(3, 3, meet, &tally);
    ck_assert_uint_eq(atomic_load(&tally.waiting), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base/workers");
    TCase *threads = tcase_create("threads");

    tcase_add_test(threads, each_item_once);
    tcase_add_test(threads, threads_work_at_once);
    suite_add_tcase(suite, threads);
    return run_suite(suite);
}
