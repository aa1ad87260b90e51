/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heaps give back what a sort would, whatever the order in which things came. */
#include "sim/queue.h"

#include "base/random.h"
#include "tests/suite.h"

#define N 500

START_TEST(test_events_come_by_time_then_node)
{
    struct event_queue queue = {0};
    struct event last = {-1, 0};
    struct random_stream random;
    struct weir_error err;

    random_seed(&random, (uint64_t)_i, 0);
    for (uint32_t i = 0; i < N; i++) {
        const struct event event = {(int64_t)random_below(&random, 50), i};

        ck_assert_int_eq(event_push(&queue, event, &err), WEIR_OK);
    }
    for (uint32_t i = 0; i < N; i++) {
        struct event event = event_pop(&queue);

        ck_assert(event.time_ns > last.time_ns ||
                  (event.time_ns == last.time_ns && event.node > last.node));
        last = event;
    }
    ck_assert_uint_eq(event_n(&queue), 0);
    event_free(&queue);
}
END_TEST

/* As in a simulation: time goes on, and what comes is later than now; as many are there as the seed
 * says, from few, all near, to many, most of them far. */
START_TEST(test_events_while_time_runs)
{
    struct event_queue queue = {0};
    struct event last = {0, 0};
    struct random_stream random;
    struct weir_error err;
    uint32_t next = 0, most = 1u << _i;

    random_seed(&random, (uint64_t)_i, 2);
    while (next < 20 * N) {
        struct event first;

        while (event_n(&queue) < most) {
            const struct event event = {last.time_ns + (int64_t)random_below(&random, 90), next++};

            ck_assert_int_eq(event_push(&queue, event, &err), WEIR_OK);
        }
        first = event_first(&queue);
        for (uint32_t i = 1; next % N == 0 && i < event_n(&queue); i++) {
            struct event other = event_at(&queue, i);

            ck_assert(event_before(&first, &other));
        }
        first = event_pop(&queue);
        ck_assert_int_ge(first.time_ns, last.time_ns);
        last = first;
    }
    event_free(&queue);
}
END_TEST

START_TEST(test_candidates_come_in_dispatch_order)
{
    struct ready_queue queue = {0};
    struct candidate last = {.priority = INT64_MAX};
    struct random_stream random;
    struct weir_error err;

    random_seed(&random, (uint64_t)_i, 1);
    for (uint32_t i = 0; i < N; i++) {
        const struct candidate candidate = {.priority = (int64_t)random_below(&random, 4) - 2,
                                            .ready_ns = (int64_t)random_below(&random, 9),
                                            .node = i};

        ck_assert_int_eq(candidate.priority == 0
                             ? ready_push_fresh(&queue, (struct event){candidate.ready_ns, i}, &err)
                             : ready_push(&queue, candidate, &err),
                         WEIR_OK);
    }
    for (uint32_t i = 0; i < N; i++) {
        struct candidate candidate = ready_pop(&queue);

        ck_assert(candidate_before(&last, &candidate));
        last = candidate;
    }
    ready_free(&queue);
}
END_TEST

START_TEST(test_reorder_after_priorities_changed)
{
    struct ready_queue queue = {0};
    int64_t priority[N];
    struct weir_error err;

    for (uint32_t i = 0; i < N; i++) {
        ck_assert_int_eq(ready_push_fresh(&queue, (struct event){0, i}, &err), WEIR_OK);
    }
    for (uint32_t i = 0; i < N; i++) {
        priority[i] = i; /* now the last goes first */
    }
    ck_assert_int_eq(ready_reorder(&queue, priority, &err), WEIR_OK);
    for (uint32_t i = N; i > 0; i--) {
        ck_assert_uint_eq(ready_pop(&queue).node, i - 1);
    }
    ready_free(&queue);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue");
    TCase *tests = tcase_create("queue");

    tcase_add_loop_test(tests, test_events_come_by_time_then_node, 0, 5);
    tcase_add_loop_test(tests, test_events_while_time_runs, 0, 9);
    tcase_add_loop_test(tests, test_candidates_come_in_dispatch_order, 0, 5);
    tcase_add_test(tests, test_reorder_after_priorities_changed);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
