/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that the contention families share. */
#ifndef WEIR_SIM_CONTENTION_INTERNAL_H
#define WEIR_SIM_CONTENTION_INTERNAL_H

#include "base/array.h"
#include "graph/measured.h"
#include "sim/contention.h"
#include "sim/queue.h"

struct group {
    /* What the clock shows when each running node ends. Doubles that are not negative are in the
     * order of their bits, so these stand where events have their times. */
    struct event_queue targets;
    uint32_t n_running;
    uint32_t n_settled; /* n_running when the speeds were set last */
    uint32_t at_clock;  /* where its clock stands, while some of it run */
    bool has_changed;   /* stands in the list of those whose n_running may have changed since */
    double speed;       /* as set last */
};

/* The progress of a group of which some node runs. */
struct progress {
    double clock;
    double speed;
    double target;    /* of the group's node that ends first */
    double end_after; /* of that node: ns after the last change of the set */
    uint32_t group;
};

/* A class that slows others down. */
struct slower {
    uint32_t group;
    uint32_t first, n_factors; /* of those that it slows down: [first, first + n_factors) */
    double *rows; /* row n, beside n of its nodes: 1 multiplied n times by each factor (by its own,
                     once less) */
    size_t rows_room;
    uint32_t n_rows;
};

struct pairwise {
    struct slower *slowers; /* by first mention */
    uint32_t n_slowers;
    uint32_t *slower_of; /* by group; WEIR_NONE */
    uint32_t *slowed;    /* by factor: the group that it slows down */
    double *factors;
    double *kappa; /* by group: scratch */
};

/* What the families come down to. */
enum contention_rule { RULE_PAIRWISE, RULE_SHARE, RULE_ROOFLINE };

struct share {
    uint32_t *running; /* in program order */
    size_t running_room;
    uint32_t n_running;
    struct graph_demand *demands; /* by node: [demand_first[i], demand_first[i + 1]) */
    uint32_t *demand_first;
    int64_t *wanted_per_s;   /* by resource: the sum over running nodes */
    double *frozen, *open;   /* by resource: demand of frozen nodes times speed, of the others */
    bool *is_full;           /* by resource: its users are frozen */
    bool *is_frozen;         /* by group */
    int64_t *capacity_per_s; /* by resource: what the running nodes get of it */
    uint32_t n_resources;
};

struct roofline {
    double *parts;     /* by group and resource: what one node asks for, of its capacity */
    double *alone;     /* the same: to the power of p, as it is when the node runs alone */
    uint32_t *running; /* groups that run, rising; n_running */
    uint32_t n_running;
    double *stretch; /* by resource: how many times over it is asked for; 1: not */
};

struct contention_state {
    const struct program *program;
    enum contention_rule rule;
    struct measured measured; /* of a measured family; zero otherwise */
    uint32_t n_running;

    struct group *groups;
    uint32_t n_groups;
    uint32_t *group_of;      /* by node */
    struct progress *clocks; /* of the groups that run */
    uint32_t n_clocks;
    uint32_t *changed; /* groups whose number of running nodes may have changed */
    uint32_t n_changed;
    int64_t changed_ns; /* when the set of running nodes last changed */
    int64_t next_ns;
    bool has_changed; /* since the speeds were set */
    size_t family_bytes;

    struct pairwise pairwise;
    struct share share;
    struct roofline roofline;
};

MUST_CHECK enum weir_status pairwise_begin(struct contention_state *, struct weir_error *);
void pairwise_end(struct contention_state *);
/** One node more of the group runs. */
MUST_CHECK enum weir_status pairwise_add(struct contention_state *, uint32_t group,
                                         struct weir_error *);
/** Sets the speed of every group that runs. */
void pairwise_speeds(struct contention_state *);

MUST_CHECK enum weir_status share_begin(struct contention_state *, struct weir_error *);
void share_end(struct contention_state *);
MUST_CHECK enum weir_status share_add(struct contention_state *, uint32_t node,
                                      struct weir_error *);
void share_remove(struct contention_state *, uint32_t node);
void share_speeds(struct contention_state *);

MUST_CHECK enum weir_status roofline_begin(struct contention_state *, struct weir_error *);
void roofline_end(struct contention_state *);
void roofline_speeds(struct contention_state *);

#endif
