/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a scheduling problem and a policy to a schedule, by the simulator; and a look at the schedule
 * that shares nothing with it. */
#ifndef TESTS_PSPLIB_SOLVE_H
#define TESTS_PSPLIB_SOLVE_H

#include <stddef.h>

#include "graph/timeline.h"

#define SOLVE_UNIT_NS 1000

/** Imports the problem; a failure ends the test. */
struct graph *solve_import(const char *text, size_t length, const char *name);
/** Simulates with that policy and setting ("serial=1"; NULL: none), looks at the schedule, and gives
 *  its makespan in units. @param starts by node, in units; may be NULL */
int64_t solve(const struct graph *graph, const char *policy, const char *setting, int64_t *starts);

#endif
