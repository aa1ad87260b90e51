/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes while time runs: what each node takes when it starts and what it gives back when it ends.
 * The state is open only so that what runs for every node can be inline. */
#ifndef WEIR_SIM_MEMORY_H
#define WEIR_SIM_MEMORY_H

#include "sim/ledger.h"
#include "sim/program.h"

struct pool {
    int64_t usable_bytes;

    int64_t peak_bytes;
    uint32_t last_copy;  /* given back last; WEIR_NONE when that was workspace or staging */
    uint32_t last_giver; /* that gave it back */
    bool is_awaited;     /* memory_next_freed tells when bytes come back */
};

enum copy_state { COPY_AWAITED, COPY_LIVE, COPY_ENDED };
enum copy_end { END_BY_LAST_USE, END_BY_RECLAMATION, END_NEVER };

/* A copy while time runs. What changes with every use stands apart from what hardly ever does: read
 * together right after a write, they would stall. */
struct live {
    int64_t bytes;
    uint32_t uses_left;
    uint16_t domain;
    uint8_t state; /* enum copy_state */
    uint8_t end;   /* enum copy_end, or'ed with these */
};

#define LIVE_HAS_HOLDS 4
#define LIVE_HAS_STAGINGS 8
#define LIVE_END 3

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

MUST_CHECK enum weir_status memory_new(const struct program *program, struct memory **out,
                                       struct weir_error *err);
void memory_free(struct memory *memory);
/** Brings everything back to time 0; from there on @p ledger is told of each take and gift. It must
 *  outlive the memory. */
MUST_CHECK enum weir_status memory_rewind(struct memory *memory, struct ledger *ledger,
                                          struct weir_error *err);

/** @return the domain whose initial copies do not fit; none when all do */
weir_domain memory_overfull(const struct memory *memory);

/** Would all copies fit at once, with all workspace and all staging? Then no node ever lacks bytes. */
bool memory_is_ample(struct memory *memory);

/* What the functions below leave to memory_take.c and memory_give.c. */
bool memory_fits_all(struct memory *memory, uint32_t node, weir_domain *where);
MUST_CHECK enum weir_status memory_take_all(struct memory *memory, uint32_t node,
                                            struct weir_error *err);
MUST_CHECK enum weir_status memory_give_charges(struct memory *memory, uint32_t node,
                                                struct weir_error *err);
MUST_CHECK enum weir_status memory_hand_on_staging(struct memory *memory, uint32_t node,
                                                   struct weir_error *err);
/* @param touch one that is more than a use with others to come */
MUST_CHECK enum weir_status memory_end_touch(struct memory *memory, uint32_t touch, uint32_t node,
                                             bool did_run, struct weir_error *err);

/* The copy that a node with PROGRAM_TAKES_ONE may begin. */
static inline uint32_t memory_begun_by(const struct memory *memory, uint32_t node)
{
    const uint32_t *touch = memory->program->touches + memory->program->nodes[node + 1].touches - 1;

    while ((*touch & TOUCH_BEGINS) == 0) {
        touch--; /* mostly it is the last: what a node writes comes after what it reads */
    }
    return *touch & TOUCH_COPY;
}

/** Can the node start, as far as bytes go? @param where the first domain that is short, when not */
static inline bool memory_fits(struct memory *memory, uint32_t node, weir_domain *where)
{
    const struct live *live;

    if ((memory->program->nodes[node].flags & PROGRAM_TAKES_ONE) == 0) {
        return memory_fits_all(memory, node, where);
    }
    live = &memory->lives[memory_begun_by(memory, node)];
    where->index = live->domain;
    return live->state != COPY_AWAITED || live->bytes == 0 ||
           live->bytes <=
               memory->pools[live->domain].usable_bytes - memory->used_bytes[live->domain];
}

/* The copy begins with the node. */
MUST_CHECK static inline enum weir_status memory_begin_copy(struct memory *memory, uint32_t copy,
                                                            uint32_t node, struct weir_error *err)
{
    struct live *live = &memory->lives[copy];

    live->state = COPY_LIVE;
    memory->used_bytes[live->domain] += live->bytes;
    memory->has_changed = true;
    return memory->ledger == NULL
               ? WEIR_OK
               : ledger_take(memory->ledger, live->domain, node, copy, live->bytes, err);
}

/** Takes what the node needs from its start; it must fit. */
MUST_CHECK static inline enum weir_status memory_take(struct memory *memory, uint32_t node,
                                                      struct weir_error *err)
{
    uint32_t copy;

    if ((memory->program->nodes[node].flags & PROGRAM_TAKES_ONE) == 0) {
        return memory_take_all(memory, node, err);
    }
    copy = memory_begun_by(memory, node);
    return memory->lives[copy].state == COPY_AWAITED ? memory_begin_copy(memory, copy, node, err)
                                                     : WEIR_OK;
}

/** Gives back what ends with the node (also with one that never ran). */
MUST_CHECK static inline enum weir_status memory_give(struct memory *memory, uint32_t node,
                                                      bool did_run, struct weir_error *err)
{
    const struct program_node *fixed = &memory->program->nodes[node];
    const uint32_t *touch = memory->program->touches + fixed->touches;
    const uint32_t *end = memory->program->touches + fixed[1].touches;
    bool has_charges = (fixed->flags & PROGRAM_CHARGES) != 0 && did_run;
    enum weir_status status = has_charges ? memory_give_charges(memory, node, err) : WEIR_OK;

    for (; touch < end && status == WEIR_OK; touch++) {
        struct live *live = &memory->lives[*touch & TOUCH_COPY];

        if ((*touch & ~(TOUCH_COPY | TOUCH_BEGINS)) == TOUCH_USES && live->uses_left > 1) {
            live->uses_left--;
        } else {
            status = memory_end_touch(memory, *touch, node, did_run, err);
        }
    }
    return status == WEIR_OK && has_charges ? memory_hand_on_staging(memory, node, err) : status;
}

/** Someone waits for bytes there: memory_next_freed will tell when some come back, once. */
void memory_await(struct memory *memory, weir_domain domain);
/** The awaited domains where bytes came back, one a call; false after the last. */
bool memory_next_freed(struct memory *memory, weir_domain *domain);
/** An instant has settled: pressure is read. */
void memory_settle(struct memory *memory);

const int64_t *memory_used_bytes(const struct memory *memory); /* by domain */
int64_t memory_usable_bytes(const struct memory *memory, weir_domain domain);
int64_t memory_peak_bytes(const struct memory *memory, weir_domain domain);
/** The copy given back last in a domain; WEIR_NONE when that was workspace or staging. */
uint32_t memory_last_copy(const struct memory *memory, weir_domain domain);
/** The node that gave it back. */
weir_node memory_last_giver(const struct memory *memory, weir_domain domain);

/* For the explanation of a run that is stuck. */
/** What the node would take in that domain if it started now. */
int64_t memory_need_bytes(struct memory *memory, uint32_t node, weir_domain domain);
/** Live bytes of a copy; 0 when it is not live. */
int64_t memory_live_bytes(const struct memory *memory, weir_copy copy);

size_t memory_memory_bytes(const struct memory *memory);

#endif
