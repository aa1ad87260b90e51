/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one Check suite and prints it as TAP on standard output. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int run_suite_as(Suite *suite, enum fork_status fork_status)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_set_fork_status(runner, fork_status);
    srunner_run_all(runner, CK_SILENT);
    int n_failed = srunner_ntests_failed(runner);
    int n_run = srunner_ntests_run(runner);
    srunner_free(runner);
    return n_failed == 0 && n_run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Runs @p suite, frees it, and returns the exit status of the test program: failure also when the
 * suite holds no test. Each test of the suite is its own process, so a crash, a leak or a hang names the
 * test it happened in. */
static inline int run_suite(Suite *suite)
{
    return run_suite_as(suite, CK_FORK_GETENV);
}

/* As run_suite, of tests that leave nothing behind them: where WEIR_BRIEF is set all of them are one
 * process. Under a sanitizer to begin and to end one takes longer than most of them. */
static inline int run_suite_together(Suite *suite)
{
    return run_suite_as(suite, getenv("WEIR_BRIEF") != NULL ? CK_NOFORK : CK_FORK_GETENV);
}

/* How many inputs to try: @p many, or @p few where WEIR_BRIEF is set, which says that another build of
 * the same check tries many. */
static inline int n_inputs(int many, int few)
{
    return getenv("WEIR_BRIEF") != NULL ? few : many;
}

#endif
