/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a simulation while time runs. */
#ifndef WEIR_SIM_SIMULATE_INTERNAL_H
#define WEIR_SIM_SIMULATE_INTERNAL_H

#include "sim/contention.h"
#include "sim/memory.h"
#include "sim/overlap.h"
#include "sim/program.h"
#include "sim/queue.h"
#include "sim/shelf.h"
#include "sim/simulate.h"

/* Nodes of an engine that lack bytes of a domain. */
struct engine_shelf {
    uint32_t domain;
    uint32_t root; /* of a tree in simulation.shelves */
};

struct engine_state {
    struct ready_queue queue;
    struct engine_shelf *shelves;
    size_t shelves_room;
    uint32_t n_shelves;
    uint32_t n_shelved;    /* nodes on them */
    struct candidate head; /* while it is open and n_shelved is above 0: no later than its first
                              candidate that would fit */
    int64_t free_slots;
    uint32_t freed_by; /* the node that gave back a slot last; WEIR_NONE */
    uint32_t open_at;  /* where it stands among the open engines, plus one; 0: it is not open */
    uint32_t awake; /* a shelf of nodes that forbidden overlaps held back until this instant, plus
                          one; 0: none */
    bool is_stale;  /* priorities of its nodes have changed, or what those that lack bytes need */
};

/* Nodes that are ready and cannot start, until something happens. */
struct waiting {
    struct candidate *items;
    size_t room;
    uint32_t n;
};

/* What was free in a domain from one instant on, and who changed that. */
struct free_level {
    int64_t free_bytes;
    int64_t end_ns;       /* when the next level began; -1 while this is the latest */
    uint32_t end_instant; /* which instant that was */
    weir_node giver;
    uint32_t given_copy; /* WEIR_NONE when it was workspace or staging */
};

/* A domain of which nodes lack bytes. */
struct lacking_domain {
    uint32_t *engines; /* with a shelf for it */
    size_t engines_room;
    uint32_t n_engines;
    uint32_t n_lacking;
    struct free_level *levels; /* since the first of them came: each lower than all after it */
    size_t levels_room;
    uint32_t n_levels;
};

/* Waits in more than one stretch, or for something else than a slot, in the order of their ends. */
struct stretches {
    struct timeline_wait *items;
    size_t room, n;
};

/* Whether a node runs is settled while time runs, for those that have a fallback or are one. */
enum fate {
    FATE_RUNS,    /* every other node */
    FATE_OPEN,    /* a fallback of which nobody knows yet whether it is needed */
    FATE_SKIPPED, /* gave way, or is a fallback that was not needed */
};

struct fallback_state {
    uint8_t fate;
    bool is_closed;          /* its window is */
    bool is_queued;          /* its turn has come: it is ready, or parked until its fate is known */
    uint32_t primaries_left; /* of a fallback: those that have neither started nor given way */
};

/* Passes its edges on at that time without running. */
struct pass {
    uint32_t node;
    int64_t time_ns;
};

struct simulation {
    const struct plan *plan;
    const struct weir_policy *policy;
    const struct program *program;
    const struct simulate_options *options;
    struct timeline *timeline;
    struct weir_error *err;

    struct memory *memory;
    struct contention_state *contention; /* NULL without contention: nodes end by `ends` */
    struct event_queue ends;
    uint32_t n_running;
    struct overlap_set *forbidden, *unknown;
    bool has_overlaps;     /* one of the two is there */
    struct barred *barred; /* nodes that forbidden overlaps hold back; NULL when there are none */

    int64_t now_ns;
    uint32_t instant; /* the how-manieth, for those that lack bytes */
    uint32_t *left;   /* by node: edges whose producers have not started or finished yet */
    struct stretches stretches; /* kept when details are */
    struct event_log log;       /* of nodes that touch bytes; kept when details are */
    uint32_t n_to_run;          /* nodes that have not finished, and will unless the run is stuck */
    uint32_t n_started;
    struct engine_state *engines; /* the last: of nodes that need none */
    uint32_t *open;
    uint32_t n_open;
    struct event_queue arrivals; /* nodes that become ready later, or that the policy holds */
    uint32_t n_held;             /* of them, those that the policy holds */
    uint32_t n_idle;             /* instants in a row in which it held all that could start */
    uint32_t n_started_before;   /* the first of them */
    struct event_queue windows;  /* when the windows of nodes with a fallback close */
    struct shelf_pool shelves;
    struct lacking_domain *lacking; /* by domain */
    uint32_t n_lacking;             /* nodes that lack bytes */
    struct waiting for_policy;
    uint32_t *ended; /* scratch: room for every running node */
    size_t ended_room;
    struct pass *passes; /* a stack */
    size_t passes_room;
    uint32_t n_passes;
    struct fallback_state *fallbacks; /* by node; NULL when there are none */
    int64_t *priority;                /* by node, as the policy may change it; NULL: all 0 */
    bool has_stale;                   /* some engine is stale, or the order of the open ones is */
    uint64_t unknown_pairs;
    int64_t hypothetical_ns;
    weir_node failed; /* whose window closed with fallback=fail */
};

/* ready.c */
/** Every producer has done its part: the node is ready, or will be. */
MUST_CHECK enum weir_status simulation_become_ready(struct simulation *, uint32_t node);
/** Follows the node's edges of one sort (from_start 0: from its finish; PROGRAM_FROM_START). */
MUST_CHECK enum weir_status simulation_feed(struct simulation *, uint32_t node, uint32_t from_start,
                                            int64_t time_ns);
/** Passes the node's edges on at that time, when the stack of passes is worked off. */
MUST_CHECK enum weir_status simulation_push_pass(struct simulation *, uint32_t node,
                                                 int64_t time_ns);
/** Works off the stack of passes. */
MUST_CHECK enum weir_status simulation_drain(struct simulation *);
/** The node's turn has come: puts it where the start phase finds it. */
MUST_CHECK enum weir_status simulation_enqueue(struct simulation *, uint32_t node);
/** The time has come until which the policy held the node: it may try again. */
MUST_CHECK enum weir_status simulation_resume(struct simulation *, uint32_t node);
/** One that has waited for something else before stands in the queue of its engine again. */
MUST_CHECK enum weir_status simulation_push_again(struct simulation *, struct candidate candidate);
/** The policy holds the candidate until something happens. */
MUST_CHECK enum weir_status simulation_hold(struct simulation *, struct candidate candidate);
/** Something has happened: those that the policy held may try again. */
MUST_CHECK enum weir_status simulation_wake_held(struct simulation *);

/* waits.c */
/** The candidate starts: its wait is over, and its span gets the cause of the last stretch. */
MUST_CHECK enum weir_status waits_start(struct simulation *, struct candidate candidate);
/** The candidate's turn has come and it lacks something: a stretch with that cause begins, or goes
 *  on. */
MUST_CHECK enum weir_status waits_set_aside(struct simulation *, struct candidate *candidate,
                                            enum wait_cause cause);
/** The policy holds the candidate until a time that is to come. */
MUST_CHECK enum weir_status waits_put_off(struct simulation *, struct candidate *candidate,
                                          int64_t until_ns);
/** The time until which it was put off has come. */
void waits_resume(struct simulation *, uint32_t node);

/** Time has run: writes the waits of the timeline. */
MUST_CHECK enum weir_status waits_write(struct simulation *);

/* dispatch.c */
/** By program order, so that nothing rests on how they were found. */
void simulation_sort_nodes(uint32_t *nodes, uint32_t n);
/** Every node that ends now finishes; every node that becomes ready now arrives. */
MUST_CHECK enum weir_status simulation_finish_all(struct simulation *);
/** In dispatch order, starts whatever can start. */
MUST_CHECK enum weir_status simulation_start_what_fits(struct simulation *);

/* run.c */
/** Runs until all is done or nothing can run any more (n_to_run is above 0 then). */
MUST_CHECK enum weir_status simulation_run(struct simulation *);

/* fallback.c */
MUST_CHECK enum weir_status fallback_begin(struct simulation *);
/** Is the node one that will not run, or not yet? Parks it, or passes it on, and says so. */
MUST_CHECK enum weir_status fallback_intercept(struct simulation *, uint32_t node, bool *is_taken);
/** The node has started: its fallback has one reason less to run. */
MUST_CHECK enum weir_status fallback_started(struct simulation *, uint32_t node);
/** Lets the nodes whose windows close now give way. *has_changed: the start phase must run again. */
MUST_CHECK enum weir_status fallback_close(struct simulation *, bool *has_changed);

/* steer.c: what a policy says while time runs */
MUST_CHECK enum weir_status steer_admit(struct simulation *, uint32_t node, bool *is_admitted,
                                        int64_t *until_ns);
MUST_CHECK enum weir_status steer_event(struct simulation *, enum weir_event_kind kind,
                                        weir_node node, weir_domain domain, int64_t needed_bytes);
/** Lets the policy rank before a choice. */
MUST_CHECK enum weir_status steer_rank(struct simulation *);

/* stuck.c */
/** Nothing can run any more: sets the status and writes the explanation (malloc'ed). */
MUST_CHECK enum weir_status stuck_explain(struct simulation *, char **explanation);

#endif
