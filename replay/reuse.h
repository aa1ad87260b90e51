/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One block of memory for buffers that do not all live at once, on several queues.
 *
 * What is known of time is how far each queue has come: a vector with a point for each queue, where
 * points of a queue follow each other. A place is free again from a vector of points on, and may be
 * taken by who knows that all of these have been passed. So no two buffers share bytes whose order
 * the steps themselves do not keep; nothing has to be waited for that the plan does not wait for. */
#ifndef WEIR_REPLAY_REUSE_H
#define WEIR_REPLAY_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"

/* Free bytes, from a vector of points on; those of one planner are in the order of their offsets. */
struct reuse_gap {
    int64_t offset, size_bytes;
    const uint32_t *after; /* by queue */
};

struct reuse {
    uint32_t n_queues;
    int64_t extent_bytes; /* that were ever taken: the size of the block */
    struct reuse_gap *gaps;
    size_t n_gaps, gaps_room;
    struct arena arena; /* owns the vectors */
};

/** An empty block. The caller ends it with reuse_end, also when something failed. */
void reuse_begin(struct reuse *reuse, uint32_t n_queues);
void reuse_end(struct reuse *reuse);

/** Takes the tightest free stretch, else more of the block. @param align_bytes a power of two
 *  @param known by queue: the points that have been passed before the buffer is first touched
 *  @param offset where it lies  @return WEIR_OK; WEIR_MEMORY; WEIR_INPUT when a block of more than
 *  2^62 bytes would be needed */
MUST_CHECK enum weir_status reuse_take(struct reuse *reuse, int64_t size_bytes, int64_t align_bytes,
                                       const uint32_t *known, int64_t *offset,
                                       struct weir_error *err);
/** Gives back what was taken. @param after by queue: the points behind which nobody touches it; copied
 *  @return WEIR_OK or WEIR_MEMORY */
MUST_CHECK enum weir_status reuse_give(struct reuse *reuse, int64_t offset, int64_t size_bytes,
                                       const uint32_t *after, struct weir_error *err);

#endif
