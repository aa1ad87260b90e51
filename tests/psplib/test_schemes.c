/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small problems whose schedules are worked out by hand: what the parallel and the serial scheme make of
 * each, and that the rules rank as they say. */
#include <stdio.h>
#include <string.h>

#include "tests/psplib/solve.h"
#include "tests/suite.h"

#define HEAD(jobs)                                   \
    "****************\n"                             \
    "file with basedata            : made by hand\n" \
    "projects                      :  1\n"           \
    "jobs (incl. supersource/sink ):  " jobs "\n"    \
    "horizon                       :  99\n"          \
    "RESOURCES\n"                                    \
    "  - renewable                 :  1   R\n"       \
    "  - nonrenewable              :  0   N\n"       \
    "  - doubly constrained        :  0   D\n"       \
    "****************\n"                             \
    "PRECEDENCE RELATIONS:\n"                        \
    "jobnr.    #modes  #successors   successors\n"
#define REQUESTS                  \
    "****************\n"          \
    "REQUESTS/DURATIONS:\n"       \
    "jobnr. mode duration  R 1\n" \
    "----------------\n"
#define CAPACITY(units)         \
    "****************\n"        \
    "RESOURCEAVAILABILITIES:\n" \
    "  R 1\n"                   \
    "  " units "\n"             \
    "****************\n"

static void check(const char *problem, const char *policy, const char *setting,
                  const int64_t *expected, int64_t makespan)
{
    struct graph *graph = solve_import(problem, strlen(problem), "made.sm");
    int64_t starts[16];

    ck_assert_int_eq(solve(graph, policy, setting, starts), makespan);
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        ck_assert_msg(starts[i] == expected[i], "%s %s: job %u starts at %lld, not %lld", policy,
                      setting == NULL ? "" : setting, i + 1, (long long)starts[i],
                      (long long)expected[i]);
    }
    graph_free(graph);
}

/* Capacity 2. Job 2 takes 1 unit of it for 1 time; behind it job 3 takes 2 for 3; job 4, on its own,
 * takes 1 for 5. The critical path is 5, latest finishes are 2, 5, 5: lft ranks 2, 3, 4.
 *
 * Parallel: at 0 jobs 2 and 4 start, both fit. At 1 job 3 would be next and lacks a unit until 5: 5 to 8.
 * Serial: 2 at 0, then 3 at 1, to 4; then 4, for which no 5 times are free before 4: 4 to 9. */
static const char gap[] = HEAD("5") "  1  1  2   2 4\n"
                                    "  2  1  1   3\n"
                                    "  3  1  1   5\n"
                                    "  4  1  1   5\n"
                                    "  5  1  0\n" REQUESTS "  1  1  0   0\n"
                                    "  2  1  1   1\n"
                                    "  3  1  3   2\n"
                                    "  4  1  5   1\n"
                                    "  5  1  0   0\n" CAPACITY("2");

START_TEST(test_parallel_fills_a_gap_that_serial_keeps)
{
    check(gap, "lft", NULL, (const int64_t[]){0, 0, 5, 0, 8}, 8);
    check(gap, "lft", "serial=1", (const int64_t[]){0, 0, 1, 4, 9}, 9);
    /* Longest with all behind it: job 4 is 5, job 2 is 1 + 3 = 4, job 3 is 3: the order is 4, 2, 3, and
     * serial too gives job 3 no room before 5. */
    check(gap, "grpw-all", NULL, (const int64_t[]){0, 0, 5, 0, 8}, 8);
    check(gap, "grpw-all", "serial=1", (const int64_t[]){0, 0, 5, 0, 8}, 8);
}
END_TEST

/* Capacity 2. Ready at 0: job 2 (10 times, 1 unit), job 3 (2 times, both units) with job 5 behind it
 * (3 times, 1 unit), job 4 (3 times, 1 unit). The critical path is 10; latest starts are 0, 5, 7, 7.
 *
 * lst: job 2 at 0; job 3 does not fit, job 4 does. At 3 job 3 still lacks a unit, at 10 it has both: 10
 * to 12, and job 5 to 15.
 * wcs: job 3 fits beside neither. Behind job 2 it would start at 10, which leaves it 5 - 10 = -5; job 2
 * behind job 3 has 0 - 2, job 4 has 7 - 2. So job 3 goes first, 0 to 2; then all fit, by latest start:
 * job 2, then 4 and 5, of which 4 has the lower number. Job 5 starts at 5; job 2 ends at 12. */
static const char worst_case[] = HEAD("6") "  1  1  3   2 3 4\n"
                                           "  2  1  1   6\n"
                                           "  3  1  1   5\n"
                                           "  4  1  1   6\n"
                                           "  5  1  1   6\n"
                                           "  6  1  0\n" REQUESTS "  1  1  0   0\n"
                                           "  2  1 10   1\n"
                                           "  3  1  2   2\n"
                                           "  4  1  3   1\n"
                                           "  5  1  3   1\n"
                                           "  6  1  0   0\n" CAPACITY("2");

START_TEST(test_worst_case_slack_sees_who_would_wait)
{
    check(worst_case, "lst", NULL, (const int64_t[]){0, 0, 10, 0, 12, 15}, 15);
    check(worst_case, "wcs", NULL, (const int64_t[]){0, 2, 0, 2, 5, 12}, 12);
    /* Compared with nobody, it goes by its latest start. */
    check(worst_case, "wcs", "among=1", (const int64_t[]){0, 0, 10, 0, 12, 15}, 15);
}
END_TEST

/* Capacity 1, so the jobs run one after another, in the order of the rule; each takes the unit.
 *
 *     2 (4) -> 5 (1)
 *     3 (6) -> 6 (1)      the critical path, 7
 *     4 (2) -> 7 (1), 8 (1)
 *
 * job                      2   3   4   5   6   7   8
 * earliest start           0   0   0   4   6   2   2
 * latest finish            6   6   6   7   7   7   7
 * latest start             2   0   4   6   6   6   6
 * slack                    2   0   4   2   0   4   4
 * jobs behind it           2   2   3   1   1   1   1      (the sink is one)
 * with direct successors   5   7   4   1   1   1   1
 *
 * lft:  of 2, 3, 4 all are alike: by number; 5, 6, 7, 8 come after.    2 3 4 5 6 7 8
 * lst:  3 first, then 2, then 4, then the rest by number.              3 2 4 5 6 7 8
 * mslk: 3, then 6 (slack 0) before 2; 5 before 4; 7, 8.                3 6 2 5 4 7 8
 * mts:  4 first, then 2 and 3 before the rest.                         4 2 3 5 6 7 8
 * grpw: 3, 2, 4, the rest.                                             3 2 4 5 6 7 8
 * fifo: by number.                                                     2 3 4 5 6 7 8
 * spt:  4 (2); then 7 and 8 (1 each); then 2 (4); 5 (1); 3; 6.         4 7 8 2 5 3 6 */
static const char alone[] = HEAD("9") "  1  1  3   2 3 4\n"
                                      "  2  1  1   5\n"
                                      "  3  1  1   6\n"
                                      "  4  1  2   7 8\n"
                                      "  5  1  1   9\n"
                                      "  6  1  1   9\n"
                                      "  7  1  1   9\n"
                                      "  8  1  1   9\n"
                                      "  9  1  0\n" REQUESTS "  1  1  0   0\n"
                                      "  2  1  4   1\n"
                                      "  3  1  6   1\n"
                                      "  4  1  2   1\n"
                                      "  5  1  1   1\n"
                                      "  6  1  1   1\n"
                                      "  7  1  1   1\n"
                                      "  8  1  1   1\n"
                                      "  9  1  0   0\n" CAPACITY("1");

static const struct {
    const char *rule, *order;
} orders[] = {
    {"lft", "2345678"},  {"lst", "3245678"},      {"mslk", "3625478"}, {"mts", "4235678"},
    {"grpw", "3245678"}, {"grpw-all", "3245678"}, {"fifo", "2345678"}, {"spt", "4782536"},
};

START_TEST(test_rules_rank_as_they_say)
{
    static const int64_t durations[] = {0, 4, 6, 2, 1, 1, 1, 1, 0};
    int64_t expected[9] = {0}, at = 0;

    for (const char *job = orders[_i].order; *job != '\0'; job++) {
        expected[*job - '1'] = at;
        at += durations[*job - '1'];
    }
    expected[8] = at;
    check(alone, orders[_i].rule, NULL, expected, 16);
    check(alone, orders[_i].rule, "serial=1", expected, 16);
}
END_TEST

/* A job of length 0 in the middle of a chain, and one that asks for all there is. */
static const char milestones[] = HEAD("5") "  1  1  1   2\n"
                                           "  2  1  1   3\n"
                                           "  3  1  1   4\n"
                                           "  4  1  1   5\n"
                                           "  5  1  0\n" REQUESTS "  1  1  0   0\n"
                                           "  2  1  3   7\n"
                                           "  3  1  0   0\n"
                                           "  4  1  2   7\n"
                                           "  5  1  0   0\n" CAPACITY("7");

START_TEST(test_milestones_take_no_time)
{
    check(milestones, "lft", NULL, (const int64_t[]){0, 0, 3, 3, 5}, 5);
    check(milestones, "spt", "serial=1", (const int64_t[]){0, 0, 3, 3, 5}, 5);
    check(milestones, "wcs", NULL, (const int64_t[]){0, 0, 3, 3, 5}, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schemes");
    TCase *tests = tcase_create("schemes");

    tcase_add_test(tests, test_parallel_fills_a_gap_that_serial_keeps);
    tcase_add_test(tests, test_worst_case_slack_sees_who_would_wait);
    tcase_add_loop_test(tests, test_rules_rank_as_they_say, 0,
                        (int)(sizeof orders / sizeof *orders));
    tcase_add_test(tests, test_milestones_take_no_time);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
