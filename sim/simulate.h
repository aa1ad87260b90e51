/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulates a planned graph on its machine: integer nanoseconds, the same input gives the same
 * timeline to the byte, on every machine. */
#ifndef WEIR_SIM_SIMULATE_H
#define WEIR_SIM_SIMULATE_H

#include "graph/timeline.h"
#include "policies/draft.h"

enum contention { CONTENTION_NONE, CONTENTION_PAIRWISE, CONTENTION_SHARE, CONTENTION_MEASURED };
enum unknown_overlap { UNKNOWN_MARK, UNKNOWN_FORBID, UNKNOWN_ALLOW };

struct simulate_options {
    enum contention contention;
    enum unknown_overlap unknown_overlap;
    bool keeps_details; /* waits, holds, pressure and induced edges, and not only spans and peaks */
    const int64_t
        *length_ns; /* by node: how long it takes, instead of what the graph says (of nodes
                                 that are off: anything); NULL: as the graph says */
    void (*progress)(void *arg, double part); /* of the nodes, now and then; NULL: to nobody */
    void *progress_arg;
};

struct simulate_options simulate_default(void);

/* Who waits, for how many bytes, who holds them, and who would have given them back. */
struct simulate_result {
    struct timeline *timeline; /* the caller frees it */
    int64_t wall_ns;           /* the simulation alone, without set-up */
    int64_t cpu_ns;            /* the same in CPU time, for benchmarks on a machine with others */
    int64_t details_cpu_ns;    /* writing waits, holds, pressure and induced edges afterwards */
    int64_t hypothetical_ns;   /* while a pair ran together of which nobody knows what that does */
    size_t memory_bytes;       /* held by the simulator at its most */
    char *explanation;         /* of a shortage or deadlock, malloc'ed; NULL when complete */
};

/** Simulates. WEIR_OK also when the run ended in a shortage or a deadlock: the timeline's status
 *  says so and the explanation says why. WEIR_INPUT when a cost is missing or unknown. */
MUST_CHECK enum weir_status simulate(const struct plan *plan,
                                     const struct simulate_options *options,
                                     struct simulate_result *out, struct weir_error *err);

/* A plan compiled once for many simulations, on several threads: nothing in it changes. */
struct simulator;

/** @param binding of the planned graph; must outlive the simulator  @return as simulate */
MUST_CHECK enum weir_status simulator_new(const struct binding *binding, struct simulator **out,
                                          struct weir_error *err);
void simulator_free(struct simulator *simulator);
/** As simulate.
 *  @param plan whose policy steers: of the same graph, planned alike. A policy that acts while time
 *              runs has a state there, so that each run needs a plan of its own; others share one */
MUST_CHECK enum weir_status simulator_run(const struct simulator *simulator,
                                          const struct plan *plan,
                                          const struct simulate_options *options,
                                          struct simulate_result *out, struct weir_error *err);
/** Does the policy act while time runs? */
bool simulator_is_steered(const struct plan *plan);

const char *contention_name(enum contention);
bool contention_from(const char *name, enum contention *out);
/** Do classes slow each other down by `kappa` lines, so that a pair without a factor is unknown? */
bool contention_is_by_factor(const struct graph *graph, enum contention family);

#endif
