/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bound graph in the form that the simulator runs: compact arrays by node id, edges by producer.
 * Nothing here changes while time runs. */
#ifndef WEIR_SIM_PROGRAM_H
#define WEIR_SIM_PROGRAM_H

#include "graph/bind.h"

enum program_flag {
    PROGRAM_OFF = 1,          /* the guard is off: passes its edges on, and that is all */
    PROGRAM_BYTES = 2,        /* touches copies, or has workspace or staging */
    PROGRAM_STANDIN = 4,      /* the fallback of another node: runs only when that one gives way */
    PROGRAM_WINDOW = 8,       /* has a fallback that acts when its window closes */
    PROGRAM_RUNS_LONG = 16,   /* its length is above 0 */
    PROGRAM_FEEDS_START = 32, /* some of its edges leave its start */
};

struct program_node {
    int64_t length_ns;
    uint32_t engine;   /* n_engines when it needs none */
    uint32_t n_before; /* edges into it, from starts and finishes */
    uint32_t next;     /* its edges are next[] up to the next node's */
    uint32_t flags;
};

/* Bytes that a node takes when it starts. */
struct program_take {
    int64_t bytes;
    uint32_t domain;
    uint32_t copy; /* that begins with it, unless it has begun; or one of the two below */
};

#define PROGRAM_WORKSPACE 0xffffffffu /* until the node finishes */
#define PROGRAM_STAGING 0xfffffffeu   /* until the copies that it fills are used no more */

struct program {
    const struct binding *binding;
    const struct graph *graph;
    uint32_t n_nodes, n_engines, n_domains, n_copies;
    struct program_node *nodes; /* n_nodes + 1: the last one ends the edges */
    uint32_t *next;             /* consumers; those from a start have PROGRAM_FROM_START set */
    uint32_t *first_take;       /* of node i: takes[first_take[i]] up to the next node's */
    struct program_take *takes;
    int64_t *lag_ns;     /* by edge; NULL when all are 0 */
    int64_t *release_ns; /* by node, with `ready` of initial copies; NULL when all are 0 */
    int64_t *priority;   /* by node; NULL when all are 0 */
    size_t memory_bytes;
};

#define PROGRAM_FROM_START 0x80000000u
#define PROGRAM_NODES_MAX 0x7fffffffu

/** Compiles. The binding must outlive the program. WEIR_INPUT when a cost is missing or unknown,
 *  or the graph has more than 2^31 - 1 nodes. */
MUST_CHECK enum weir_status program_make(const struct binding *binding, struct program *out,
                                         struct weir_error *err);
void program_free(struct program *program);

#endif
