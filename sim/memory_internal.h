/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the bytes, which taking and giving back share. */
#ifndef WEIR_SIM_MEMORY_INTERNAL_H
#define WEIR_SIM_MEMORY_INTERNAL_H

#include "sim/memory.h"

struct parcel {
    int64_t bytes;
    uint32_t giver;
    uint32_t copy; /* whose last uses all gave; WEIR_NONE when the giver alone did */
};

struct pool {
    int64_t usable_bytes, used_bytes;
    int64_t fresh_bytes;    /* usable and never used so far */
    int64_t settled_bytes;  /* as last recorded; -1 before the first record */
    struct parcel *parcels; /* [head, tail) */
    size_t room;
    uint32_t head, tail;
    bool is_freed;      /* since memory_next_freed told of it */
    uint32_t last_copy; /* given back last; WEIR_NONE when that was workspace or staging */
};

enum copy_state { COPY_AWAITED, COPY_LIVE, COPY_ENDED };
enum copy_end { END_BY_LAST_USE, END_BY_RECLAMATION, END_NEVER };

/* A copy while time runs. */
struct live {
    int64_t bytes;
    uint32_t domain;
    uint32_t uses_left, holds_left;
    uint32_t hold_row; /* of the timeline, plus one; 0 none */
    uint32_t stagings; /* first of the list that waits for its last use, plus one; 0 none */
    uint8_t state;     /* enum copy_state */
    uint8_t end;       /* enum copy_end */
};

/* Staging that outlives its node: waits for the last use of each copy that the node filled. */
struct staging {
    uint32_t node, domain, copies_left;
    uint32_t hold_row; /* as in struct live */
    int64_t bytes;
};

struct staging_link {
    uint32_t staging, next; /* next plus one; 0 ends */
};

struct memory {
    const struct program *program;
    struct timeline *timeline;
    bool keeps_details;
    struct pool *pools;
    struct live *lives; /* by copy */
    int64_t *needs;     /* by domain: scratch, 0 between calls */
    uint32_t *needed;   /* scratch: the domains of which needs is not 0 */
    uint32_t *freed;    /* the domains where bytes came back */
    uint32_t n_freed;
    int64_t *used;        /* by domain: for the policy's view */
    uint32_t *staging_of; /* by node: its staging, plus one; NULL until there is one */
    struct staging *stagings;
    size_t stagings_room;
    uint32_t n_stagings;
    struct staging_link *links;
    size_t links_room;
    uint32_t n_links;
};

/** Opens a row of the timeline. @param row its number plus one, 0 when details are not kept */
MUST_CHECK enum weir_status memory_open_hold(struct memory *memory, struct timeline_hold hold,
                                             uint32_t *row, struct weir_error *err);

#endif
