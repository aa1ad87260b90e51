/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waited, for how long, and whom others overtook. A node waits from when it is ready to when it
 * starts; one that was ready and did not start, in a run that could not go on, to the makespan. */
#ifndef WEIR_JUDGE_WAITING_H
#define WEIR_JUDGE_WAITING_H

#include "judge/started.h"

#define WAITING_CAUSES ((int)WAIT_OVERLAP + 1)
#define WAITING_PASSERS 3 /* named for each */

struct waiting_options {
    int64_t bound_ns; /* no node should wait longer; -1: no bound is declared */
    uint32_t n_most;  /* of the longest waits that are listed */
};

/* Of one cause: its stretches. */
struct waiting_cause {
    uint64_t n_waits;
    int64_t total_ns; /* INT64_MAX when past it */
    int64_t longest_ns;
    weir_node longest; /* none */
};

/* Of the nodes with one group=; those without one are a group too, the last. */
struct waiting_group {
    weir_text group;           /* 0: none */
    weir_node first;           /* in program order */
    uint32_t n_nodes;          /* that started, or were ready and did not */
    uint32_t n_waited, n_over; /* of them, waited at all; longer than the bound */
    int64_t total_ns, longest_ns;
    weir_node longest; /* none: nobody waited */
};

/* A wait that is told of. */
struct waiting_event {
    weir_node node;
    int64_t from_ns, to_ns;
    bool has_started;      /* else it waits still */
    enum wait_cause cause; /* of its last stretch */
    weir_node blocker;
    /* Nodes of its engine that became ready later and started while it waited: its turn was passed. */
    uint64_t n_passers;
    weir_node passers[WAITING_PASSERS]; /* the first to start */
    uint32_t n_named;
};

struct waiting {
    struct waiting_cause causes[WAITING_CAUSES]; /* by enum wait_cause */
    struct waiting_group *groups; /* as their first nodes stand in the program; without one last */
    uint32_t n_groups;
    uint64_t n_waited;
    int64_t longest_ns;
    bool has_bound;
    uint64_t n_over;               /* waited longer than the bound: starved */
    struct waiting_event *longest; /* the n_most longest waits, longest first, then program order */
    uint32_t n_longest;
};

/* Finding them in one sweep. */
struct waiting_sweep;

MUST_CHECK enum weir_status waiting_sweep_begin(const struct graph *graph,
                                                const struct timeline *timeline,
                                                const struct waiting_options *options,
                                                struct waiting_sweep **out, struct weir_error *err);
/** @param nodes the next n that started, in the order of their starts */
MUST_CHECK enum weir_status waiting_sweep_add(struct waiting_sweep *sweep,
                                              const struct started *nodes, uint32_t n,
                                              struct weir_error *err);
/** After all of them. The caller frees *out with waiting_free.
 *  @param order all n_started of them */
MUST_CHECK enum weir_status waiting_sweep_end(struct waiting_sweep *sweep, const weir_node *order,
                                              uint32_t n_started, struct waiting *out,
                                              struct weir_error *err);
void waiting_sweep_free(struct waiting_sweep *sweep);

/** All at once. The caller frees with waiting_free.  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status waiting_find(const struct graph *graph, const struct timeline *timeline,
                                         const struct waiting_options *options, struct waiting *out,
                                         struct weir_error *err);
void waiting_free(struct waiting *waiting);

#endif
