/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that the contention families share. */
#ifndef WEIR_SIM_CONTENTION_INTERNAL_H
#define WEIR_SIM_CONTENTION_INTERNAL_H

#include "base/array.h"
#include "sim/contention.h"
#include "sim/queue.h"

/* A running node ends when its group's clock shows this. */
struct target {
    double clock;
    uint32_t node;
};

struct group {
    struct target *targets; /* a heap of the running nodes */
    size_t room;
    uint32_t n_running;
    uint32_t at_active; /* where it stands in the list of groups that run */
    double clock;
    double speed;
    double end_after; /* of its first target: ns after the last change of the set */
};

/* One class that slows another down. */
struct factor {
    uint32_t beside; /* the group whose running nodes count */
    uint32_t slowed; /* the group that slows down */
    uint32_t rank;   /* of the class beside it, by first mention */
    double *powers;  /* powers[n]: 1 multiplied by the factor n times */
    size_t powers_room;
    uint32_t n_powers;
    double value;
};

struct pairwise {
    struct factor *factors; /* by slowed group, then first mention of the class beside it */
    double *now;            /* by factor: 1 multiplied by it for each running node that counts */
    uint32_t n_factors;
    uint32_t *first;  /* of group g: factors [first[g], first[g + 1]) */
    uint32_t *beside; /* of group g: indices [beside_first[g] ...) of factors it counts in */
    uint32_t *beside_first;
};

struct share {
    uint32_t *running; /* in program order */
    size_t running_room;
    uint32_t n_running;
    struct graph_demand *demands; /* by node: [demand_first[i], demand_first[i + 1]) */
    uint32_t *demand_first;
    int64_t *wanted_per_s; /* by resource: the sum over running nodes */
    double *frozen, *open; /* by resource: demand of frozen nodes times speed, of the others */
    bool *is_full;         /* by resource: its users are frozen */
    bool *is_frozen;       /* by group */
    uint32_t n_resources;
};

struct contention_state {
    const struct program *program;
    enum contention family;
    uint32_t n_running;

    struct group *groups;
    uint32_t n_groups;
    uint32_t *group_of; /* by node */
    uint32_t *active;   /* groups of which some node runs */
    uint32_t n_active;
    int64_t changed_ns; /* when the set of running nodes last changed */
    int64_t next_ns;
    bool has_changed; /* since the speeds were set */
    size_t family_bytes;

    struct pairwise pairwise;
    struct share share;
};

MUST_CHECK enum weir_status pairwise_begin(struct contention_state *, struct weir_error *);
void pairwise_end(struct contention_state *);
MUST_CHECK enum weir_status pairwise_add(struct contention_state *, uint32_t group,
                                         struct weir_error *);
/** The number of the group's running nodes has changed: sets anew what it does to others. */
void pairwise_count(struct contention_state *, uint32_t group);
void pairwise_speeds(struct contention_state *);

MUST_CHECK enum weir_status share_begin(struct contention_state *, struct weir_error *);
void share_end(struct contention_state *);
MUST_CHECK enum weir_status share_add(struct contention_state *, uint32_t node,
                                      struct weir_error *);
void share_remove(struct contention_state *, uint32_t node);
void share_speeds(struct contention_state *);

#endif
