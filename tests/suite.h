/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one Check suite and prints it as TAP on standard output. Each test of the suite is its own
 * process, so a crash, a leak or a hang names the test it happened in. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs @p suite, frees it, and returns the exit status of the test program: failure also when the
 * suite holds no test. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int n_failed = srunner_ntests_failed(runner);
    int n_run = srunner_ntests_run(runner);
    srunner_free(runner);
    return n_failed == 0 && n_run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* How many inputs to try: @p many, or @p few where WEIR_BRIEF is set, which says that another build of
 * the same check tries many. */
static inline int n_inputs(int many, int few)
{
    return getenv("WEIR_BRIEF") != NULL ? few : many;
}

#endif
