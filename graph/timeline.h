/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened: a simulation, a replay and an imported recording each are one, of this type. */
#ifndef WEIR_GRAPH_TIMELINE_H
#define WEIR_GRAPH_TIMELINE_H

#include "base/arena.h"
#include "graph/graph.h"

/* Why a node that was ready did not start at once. */
enum wait_cause {
    WAIT_NONE,
    WAIT_ENGINE,    /* no free slot; the blocker is the node that gave it back */
    WAIT_CAPACITY,  /* no room; the blocker is the node that gave the bytes back */
    WAIT_ADMISSION, /* the policy held it */
    WAIT_OVERLAP    /* an overlap that is forbidden; the blocker is the node that ended */
};

/* Who measured a span. */
enum time_source {
    TIME_SIMULATED,
    TIME_DEVICE, /* the device's own clock (CUPTI, or what the importer read of it) */
    TIME_HOST,   /* the host's monotonic clock */
    TIME_EVENT   /* device events around the action */
};

enum run_status { RUN_COMPLETE, RUN_SHORTAGE, RUN_DEADLOCK, RUN_FAILED };

struct timeline_span {
    int64_t ready_ns;
    int64_t start_ns;    /* -1: it did not run (guard off, given way, or the run ended before) */
    int64_t finish_ns;   /* -1: it did not finish */
    int64_t isolated_ns; /* how long it takes alone; -1 unknown */
    weir_node blocker;   /* what gave way last before it started; none when nothing did */
    uint32_t order;      /* the how-manieth to start, from 0: settles ties of one instant */
    uint8_t cause;       /* enum wait_cause */
    uint8_t source;      /* enum time_source */
};

/* While node waited: one row for each stretch with one cause. */
struct timeline_wait {
    weir_node node;
    enum wait_cause cause;
    weir_node blocker;
    weir_object object; /* given back, when the cause is capacity; none for workspace */
    int64_t from_ns, to_ns;
};

/* Bytes of a domain after the instant has settled; one row for each change. */
struct timeline_pressure {
    weir_domain domain;
    int64_t t_ns;
    int64_t bytes;
};

/* Bytes held from acquire to release. object none: workspace or staging of the node. */
struct timeline_hold {
    weir_domain domain;
    weir_object object;
    weir_node node; /* the one that acquired; none when initial */
    int64_t bytes;
    int64_t acquire_ns;
    int64_t release_ns; /* -1: to the end */
};

/* The consumer took bytes that the producer gave back. */
struct timeline_induced {
    weir_node producer, consumer;
    weir_domain domain;
    int64_t bytes;
};

struct timeline_level;

struct timeline {
    uint32_t n_nodes;
    uint32_t n_domains;
    enum run_status status;
    int64_t makespan_ns;                 /* the last finish */
    struct timeline_span *spans;         /* by node */
    int64_t *peak_bytes;                 /* by domain */
    struct timeline_wait *waits;         /* by start, then node */
    struct timeline_pressure *pressures; /* by time, then domain */
    struct timeline_hold *holds;         /* by acquisition */
    struct timeline_induced *induced;    /* by consumer's start */
    size_t n_waits, n_pressures, n_holds, n_induced;
    size_t waits_room, pressures_room, holds_room, induced_room;
    struct timeline_level *levels; /* by domain, what its rows say last: timeline.c's own */
};

/** All nodes "did not run", status complete, nothing else; NULL when memory ran out. */
struct timeline *timeline_new(uint32_t n_nodes, uint32_t n_domains);
void timeline_free(struct timeline *timeline);
MUST_CHECK enum weir_status timeline_add_wait(struct timeline *, const struct timeline_wait *,
                                              struct weir_error *);
/** A second row for the same domain and instant replaces the first; no change adds no row. */
MUST_CHECK enum weir_status
timeline_add_pressure(struct timeline *, const struct timeline_pressure *, struct weir_error *);
MUST_CHECK enum weir_status timeline_add_hold(struct timeline *, const struct timeline_hold *,
                                              struct weir_error *);
MUST_CHECK enum weir_status timeline_add_induced(struct timeline *, const struct timeline_induced *,
                                                 struct weir_error *);

/** Node ids in the order in which they started (n_started of them), malloc'ed. This, the spans and
 *  the induced edges are the realized plan, which is what a replay runs. */
MUST_CHECK enum weir_status timeline_order(const struct timeline *, weir_node **out,
                                           uint32_t *n_started, struct weir_error *);

/** As graph_node_soon, of the span of a node. */
static inline void timeline_soon(const struct timeline *timeline, weir_node node)
{
    const struct timeline_span *span = &timeline->spans[node.index];

    __builtin_prefetch(span);
    __builtin_prefetch((const char *)span + sizeof *span - 1);
}

const char *wait_cause_name(enum wait_cause);
const char *time_source_name(enum time_source);
const char *run_status_name(enum run_status);
/* From the names above; false when it is none of them. */
bool wait_cause_from(const char *name, enum wait_cause *out);
bool time_source_from(const char *name, enum time_source *out);
bool run_status_from(const char *name, enum run_status *out);

#endif
