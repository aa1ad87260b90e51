/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the bytes, which taking and giving back share. */
#ifndef WEIR_SIM_MEMORY_INTERNAL_H
#define WEIR_SIM_MEMORY_INTERNAL_H

#include "sim/memory.h"

struct pool {
    int64_t usable_bytes;

    int64_t peak_bytes;
    uint32_t last_copy; /* given back last; WEIR_NONE when that was workspace or staging */
    bool is_awaited;    /* memory_next_freed tells when bytes come back */
};

enum copy_state { COPY_AWAITED, COPY_LIVE, COPY_ENDED };
enum copy_end { END_BY_LAST_USE, END_BY_RECLAMATION, END_NEVER };

/* A copy while time runs. */
struct live {
    int64_t bytes;
    uint32_t uses_left;
    uint32_t domain : 24;
    uint32_t state : 2; /* enum copy_state */
    uint32_t end : 2;   /* enum copy_end */
    uint32_t has_holds : 1;
    uint32_t has_stagings : 1;
};

/* Staging that outlives its node: waits for the last use of each copy that the node filled. */
struct staging {
    uint32_t node, domain, copies_left;
    int64_t bytes;
};

struct staging_link {
    uint32_t staging, next; /* next plus one; 0 ends */
};

struct memory {
    const struct program *program;
    struct ledger *ledger; /* NULL: no record is kept */
    struct pool *pools;
    int64_t *used_bytes;  /* by domain */
    bool has_changed;     /* since memory_settle */
    struct live *lives;   /* by copy */
    uint32_t *holds_left; /* by copy; NULL when no copy is held */
    int64_t *needs;       /* by domain: scratch, 0 between calls */
    uint32_t *needed;     /* scratch: the domains of which needs is not 0 */
    uint32_t *freed;      /* the domains where awaited bytes came back */
    uint32_t n_freed;

    uint32_t *staging_of; /* by node: its staging, plus one; NULL until there is one */
    uint32_t
        *staged_for; /* by copy: first link of what waits for its last use, plus one; likewise */
    struct staging *stagings;
    size_t stagings_room;
    uint32_t n_stagings;
    struct staging_link *links;
    size_t links_room;
    uint32_t n_links;
};

#endif
