/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan carried out: memory is allocated, each buffer writes its own pattern where the plan puts it
 * when it begins, and reads it at every step of its life. */
#ifndef WEIR_POLICIES_ARENA_BYTES_H
#define WEIR_POLICIES_ARENA_BYTES_H

#include "policies/arena_plan.h"

enum arena_executed {
    ARENA_NOT_EXECUTED, /* even that would move too much */
    ARENA_CELLS_ONCE,   /* by cells, read once, in the last step: what overwrites a pattern is not
                           written over in turn, so that this finds the same */
    ARENA_CELLS,        /* 8 bytes for each stretch of addresses that no buffer begins or ends in */
    ARENA_WHOLE         /* every byte, at an address that meets every alignment */
};

struct arena_execution {
    enum arena_executed how;
    int64_t n_steps;    /* at which a buffer begins or ends */
    int64_t read_bytes; /* in all */
};

/** The most thorough way that reads at most @p most_bytes; whole only an arena of at most 1 GiB, once
 *  also up to 16 times as many.
 *  @return WEIR_NO names a buffer that did not read what it wrote, and the step; WEIR_MEMORY */
MUST_CHECK enum weir_status arena_execute(const struct arena_problem *problem,
                                          const struct arena_plan *plan, int64_t most_bytes,
                                          struct arena_execution *out, struct weir_error *err);

#endif
