/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed stalls: the time in which an engine ran nothing, charged to what it waited for.
 *
 * An engine is idle while none of its slots runs anything, between 0 and the makespan. Idle time that
 * a node of the engine ends is a stall, and is charged, instant by instant, to what that node was
 * waiting for then: its bounds are walked back from its start to the beginning of the stretch. Idle
 * time after the last node is no stall: the engine was drained. */
#ifndef WEIR_JUDGE_STALLS_H
#define WEIR_JUDGE_STALLS_H

#include "judge/bound.h"
#include "judge/started.h"

enum stall_cause {
    STALL_TRANSFER,          /* a transfer, prefetch or offload ran whose end was awaited */
    STALL_REMATERIALIZATION, /* likewise a rematerialization */
    STALL_ALLOCATION,        /* an allocation, mapping or reclamation */
    STALL_COMPUTE,           /* a compute node or barrier */
    STALL_ENGINE,            /* a slot of another engine */
    STALL_CAPACITY,  /* bytes that a running node held, or kept a reclamation from giving back */
    STALL_OVERLAP,   /* a running node beside which the next one must not run */
    STALL_ADMISSION, /* the policy */
    STALL_RELEASE,   /* a release time, or the readiness of an initial copy */
    STALL_LAG,       /* the lag of an edge */
    STALL_WINDOW,    /* that a window closes, and a fallback is needed */
    STALL_UNKNOWN    /* the timeline does not tell; in a replay, its own overhead */
};
#define STALL_CAUSES 12

const char *stall_cause_name(enum stall_cause cause);

/* A part of an idle stretch with one cause. */
struct stall_part {
    weir_engine engine;    /* the idle one */
    weir_node ends;        /* ends the stretch */
    weir_node waiting;     /* on the way to it: what could not start yet */
    weir_node on;          /* what ran then and was waited for; none: a time, or nobody knows */
    weir_engine on_engine; /* STALL_ENGINE: where `waiting` lacked a slot; else none */
    enum stall_cause cause;
    int64_t from_ns, to_ns;   /* from_ns < to_ns */
    int64_t begin_ns, end_ns; /* the whole stretch */
};

/** Takes a part; those of one stretch come one after the other, latest first, and stretches by the
 *  start of the node that ends them. */
typedef enum weir_status stall_visit(void *arg, const struct stall_part *part,
                                     struct weir_error *err);

/* An idle stretch that a node ended. */
struct stall {
    weir_engine engine;
    weir_node ends;
    int64_t begin_ns, end_ns;
    enum stall_cause cause; /* of most of it */
    weir_node on;           /* of the longest part with that cause; may be none */
};

struct stall_engine {
    uint32_t n_nodes; /* of it that started; 0: it has no times below */
    uint64_t n_stalls;
    int64_t busy_ns;    /* some slot ran something */
    int64_t work_ns;    /* summed over nodes: over slots and makespan it is the utilization;
                               INT64_MAX when it passes that */
    int64_t exposed_ns; /* summed over stalls, which is the sum of by_cause_ns */
    int64_t drained_ns; /* busy + exposed + drained is the makespan */
    int64_t by_cause_ns[STALL_CAUSES];
};

/* How long an engine stood while a node that it waited for lacked a slot of another. */
struct stall_between {
    weir_engine engine, on_engine;
    int64_t exposed_ns;
};

#define STALLS_LONGEST 10

struct stalls {
    uint32_t n_engines;
    struct stall_engine *engines; /* by id */
    int64_t exposed_ns;           /* of all engines; INT64_MAX when it passes that, and so below */
    int64_t by_cause_ns[STALL_CAUSES];
    struct stall_between *between; /* by engine, then on_engine */
    size_t n_between;
    struct stall longest[STALLS_LONGEST]; /* longest first; ties by engine, then begin */
    uint32_t n_longest;
};

/* Finding them costs the length of the chains that lead to stalls, each part of which an engine goes
 * through once. */
struct stall_sweep;

/** @param visit gets every part; NULL: nobody asks */
MUST_CHECK enum weir_status stall_sweep_begin(const struct bound_index *index, stall_visit *visit,
                                              void *arg, struct stall_sweep **out,
                                              struct weir_error *err);
/** @param nodes the next n that started, in the order of their starts */
MUST_CHECK enum weir_status stall_sweep_add(struct stall_sweep *sweep, const struct started *nodes,
                                            uint32_t n, struct weir_error *err);
/** After all of them. The caller frees *out with stalls_free. */
MUST_CHECK enum weir_status stall_sweep_end(struct stall_sweep *sweep, struct stalls *out,
                                            struct weir_error *err);
void stall_sweep_free(struct stall_sweep *sweep);

/** All at once.
 *  @param visit gets every part; NULL: nobody asks  @return WEIR_OK; WEIR_MEMORY; what visit gave.
 *  The caller frees with stalls_free. */
MUST_CHECK enum weir_status stalls_find(const struct bound_index *index, stall_visit *visit,
                                        void *arg, struct stalls *out, struct weir_error *err);
void stalls_free(struct stalls *stalls);

#endif
