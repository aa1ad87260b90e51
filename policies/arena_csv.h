/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers as comma-separated values, one a row, in the form that allocators' benchmarks come in; a
 * plan is the same with a column of offsets. */
#ifndef WEIR_POLICIES_ARENA_CSV_H
#define WEIR_POLICIES_ARENA_CSV_H

#include <stdio.h>

#include "policies/arena_plan.h"

/** Reads. Columns are found by name: id (or buffer, buffer_id), lower (start, begin), upper, or end,
 *  which is in the lifetime, and size; alignment, hint, gaps and offset may be there, with nothing or
 *  -1 in a row for no hint and no fixed offset. The problem passes arena_problem_check.
 *  @param name stands for the file in messages, which give line and column
 *  @return WEIR_INPUT, WEIR_MEMORY; the caller frees *out */
MUST_CHECK enum weir_status arena_csv_read(const char *text, size_t length, const char *name,
                                           struct arena_problem *out, struct weir_error *err);
/** Writes the buffers in their order, with id, lower, upper, size, what else any of them has, and
 *  offset. What the file refuses is in ferror. */
void arena_csv_write(const struct arena_problem *problem, const int64_t *offsets_bytes, FILE *file);

#endif
