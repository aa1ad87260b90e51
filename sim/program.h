/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bound graph in the form that the simulator runs: compact arrays by node id, edges by producer.
 * Nothing here changes while time runs. */
#ifndef WEIR_SIM_PROGRAM_H
#define WEIR_SIM_PROGRAM_H

#include "graph/bind.h"
#include "graph/timeline.h"

enum program_flag {
    PROGRAM_OFF = 1,          /* the guard is off: passes its edges on, and that is all */
    PROGRAM_BYTES = 2,        /* touches copies, or has workspace or staging */
    PROGRAM_STANDIN = 4,      /* the fallback of another node: runs only when that one gives way */
    PROGRAM_WINDOW = 8,       /* has a fallback that acts when its window closes */
    PROGRAM_TAKES = 16,       /* may begin copies, or has workspace or staging */
    PROGRAM_FEEDS_START = 32, /* some of its edges leave its start */
    PROGRAM_CHARGES = 64,     /* has workspace or staging */
    PROGRAM_TAKES_ONE = 128,  /* may begin one copy, and takes nothing else */
};

struct program_node {
    uint32_t next;        /* its edges are next[] up to the next node's */
    uint32_t touches;     /* what it does to copies is touches[] up to the next node's */
    uint32_t engine : 24; /* n_engines when it needs none */
    uint32_t flags : 8;
};

/* What a node does to a copy: the copy's number, or'ed with these. */
#define TOUCH_BEGINS 0x80000000u /* begins it, unless it has begun */
#define TOUCH_USES 0x40000000u
#define TOUCH_HOLDS 0x20000000u
#define TOUCH_RECLAIMS 0x10000000u
#define TOUCH_COPY 0x0fffffffu

/* Workspace or staging that a node takes when it starts. */
struct program_charge {
    int64_t bytes;
    uint32_t domain;
    bool is_staging; /* until the copies that it fills are used no more; else until it finishes */
};

struct program {
    const struct binding *binding;
    const struct graph *graph;
    uint32_t n_nodes, n_engines, n_domains, n_copies;
    struct program_node *nodes; /* n_nodes + 1: the last one ends the lists */
    uint32_t *n_before;         /* by node: edges into it, from starts and finishes */
    uint32_t *next;             /* consumers; those from a start have PROGRAM_FROM_START set */
    uint32_t *touches;
    uint32_t *first_charge; /* of node i: charges[first_charge[i]] up to the next node's; NULL when
                               there are none */
    struct program_charge *charges;
    int64_t *lag_ns;     /* by edge; NULL when all are 0 */
    int64_t *release_ns; /* by node, with `ready` of initial copies; NULL when all are 0 */
    int64_t *priority;   /* by node; NULL when all are 0 */
    bool is_plain;       /* no lags, no releases, none that passes on or gives way: a node is ready
                            when the last of its edges is fed */
    uint32_t n_touching; /* nodes with PROGRAM_BYTES */
    bool shares_begins;  /* some copy may begin with more than one node */
    size_t memory_bytes;
};

#define PROGRAM_FROM_START 0x80000000u
#define PROGRAM_NODES_MAX 0x3fffffffu

/** Compiles. The binding must outlive the program.
 *  @param spans by node: isolated_ns gets the length of each node that is on
 *  @return WEIR_INPUT when a cost is missing or unknown, or the graph has more of something than
 *  fits: 2^30 - 1 nodes, 2^24 - 2 engines, 2^16 - 1 domains, 2^28 - 1 copies */
MUST_CHECK enum weir_status program_make(const struct binding *binding, struct timeline_span *spans,
                                         struct program *out, struct weir_error *err);
void program_free(struct program *program);

#endif
