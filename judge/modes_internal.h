/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the finders of modes share: cases with what they cost, edges by consumer, when engines were
 * full, and how many bytes a domain held. Each index is made when it is first asked for; when there
 * is no memory for one, the error is kept and what asks gets the answer that finds nothing. */
#ifndef WEIR_JUDGE_MODES_INTERNAL_H
#define WEIR_JUDGE_MODES_INTERNAL_H

#include "base/number.h"
#include "graph/analyze.h"
#include "judge/modes.h"

#define MODES_NOWHERE ((struct report_at){NULL, 0, 0})
#define MODES_MOST_STEPS 20000000u /* that a finder may take where its work is not linear */

/* One case of a mode. */
struct modes_case {
    int64_t cost;     /* what it costs: nanoseconds, or bytes */
    uint32_t ids[5];  /* nodes, objects, domains: as the mode says */
    int64_t times[4]; /* likewise */
};

struct modes_cases {
    struct modes_case *items;
    size_t n, room;
};

struct modes_room;    /* modes_room.c */
struct modes_engines; /* modes_engines.c */

struct modes {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *timeline;
    const struct modes_settings *settings;
    struct report *report;
    int64_t least_ns; /* what a kind must cost at least */

    enum weir_status status; /* of the indexes */
    struct weir_error *err;
    struct adjacency next;   /* by producer */
    struct adjacency before; /* by consumer: what `consumer` calls is the producer */
    struct modes_room *room;
    struct modes_engines *engines;
    uint32_t n_kind[NODE_KINDS]; /* nodes that ran, by kind */
    uint32_t n_speculative;
    uint32_t n_steps;     /* of the finder at work */
    bool waits_for_bytes; /* some node waited for bytes long enough to matter */
};

/* --- cases --- */

MUST_CHECK enum weir_status modes_add(struct modes *modes, struct modes_cases *cases,
                                      const struct modes_case *one);
/** Tells the worst first, ties by ids, when together they cost @p least; frees the list.
 *  @param unit says the sum of those not shown */
void modes_tell(struct modes *modes, struct modes_cases *cases, enum finding_code code,
                int64_t least, void unit(int64_t, char *),
                void tell(struct modes *, const struct modes_case *));

/* --- nodes and edges --- */

static inline const struct timeline_span *modes_span(const struct modes *modes, uint32_t node)
{
    return &modes->timeline->spans[node];
}

static inline bool modes_ran(const struct modes *modes, uint32_t node)
{
    return modes->timeline->spans[node].finish_ns >= 0;
}

static inline const char *modes_node(const struct modes *modes, uint32_t node)
{
    return graph_node_name(modes->graph, (weir_node){node});
}

static inline const char *modes_object(const struct modes *modes, uint32_t object)
{
    return graph_object_name(modes->graph, (weir_object){object});
}

const char *modes_domain(const struct modes *modes, uint32_t domain);
int64_t modes_usable(const struct modes *modes, uint32_t domain);
/** Edges that leave the node; that enter it. 0 when memory ran out. */
const struct adjacent *modes_after(struct modes *modes, uint32_t node, uint32_t *n);
const struct adjacent *modes_before(struct modes *modes, uint32_t node, uint32_t *n);
/** When the edge from that producer lets its consumer go. */
int64_t modes_edge_end(const struct modes *modes, uint32_t producer, uint32_t edge);

/* A node whose start and finish are taken to be otherwise; at_ns -1: that it did not run. */
struct modes_instead {
    uint32_t node;
    int64_t at_ns;
};

/** When the node would have been ready, were these otherwise and all else as it was. */
int64_t modes_ready(struct modes *modes, uint32_t node, const struct modes_instead *instead,
                    uint32_t n_instead);
/** Roles of the node on the copy; 0 when it does not touch it. */
uint32_t modes_roles(const struct modes *modes, uint32_t node, uint32_t copy);

/** Do the two nodes touch a copy in common? */
bool modes_share_bytes(const struct modes *modes, uint32_t a, uint32_t b);

/* --- engines --- */

void modes_engines_free(struct modes_engines *engines);
/** The last instant before @p before_ns up to which all slots of the node's engine were taken, not
 *  counting what the node @p except took (WEIR_NONE: none); 0 when they never were. */
int64_t modes_full_until(struct modes *modes, uint32_t engine, int64_t before_ns, uint32_t except);
/** Was it full at any time of [from_ns, to_ns)? */
bool modes_was_full(struct modes *modes, uint32_t engine, int64_t from_ns, int64_t to_ns);
/** The earliest instant, @p from_ns or later, from which a slot is free for that long. */
int64_t modes_first_gap(struct modes *modes, uint32_t engine, int64_t from_ns, int64_t length_ns);
/** Nodes of the engine that ran, in the order of their starts. */
const uint32_t *modes_on_engine(struct modes *modes, uint32_t engine, uint32_t *n);
/** Where the node stands among them. */
uint32_t modes_position(struct modes *modes, uint32_t node);

/* --- bytes --- */

void modes_room_free(struct modes_room *room);
/** The most bytes held in the domain in [from_ns, to_ns); 0 when that is empty. */
int64_t modes_most_held(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns);
/** The earliest instant of [from_ns, to_ns] from which on, up to to_ns, at most @p limit_bytes were
 *  held. */
int64_t modes_held_below(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns,
                         int64_t limit_bytes);
/** The first instant at which the domain held its peak, and the one up to which it last did. */
void modes_peak(struct modes *modes, uint32_t domain, int64_t *first_ns, int64_t *last_ns);
/** Did any node wait for bytes of the domain at any time of [from_ns, to_ns)? */
bool modes_is_awaited(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns);
/** What the node acquired: numbers of holds. */
const uint32_t *modes_acquired(struct modes *modes, uint32_t node, uint32_t *n);
/** What it acquired in a domain, in all. */
int64_t modes_need(struct modes *modes, uint32_t node, uint32_t domain);
/** The hold of the object in the domain at that instant; NULL when it held none. */
const struct timeline_hold *modes_hold_at(struct modes *modes, uint32_t object, uint32_t domain,
                                          int64_t at_ns);
/** The last hold of the object in the domain that was acquired by then; NULL when none was. */
const struct timeline_hold *modes_hold_before(struct modes *modes, uint32_t object, uint32_t domain,
                                              int64_t at_ns);
/** Holds that are staging of nodes in that domain, by acquisition. */
const uint32_t *modes_stagings(struct modes *modes, uint32_t domain, uint32_t *n);

/** Of a wait of a node that ran, the part that is for want of bytes: up to when they would have fitted
 *  for good. A row of the timeline may go on to the start, when a slot was missing by then.
 *  @return false when there is none */
bool modes_bytes_wait(struct modes *modes, size_t row, struct timeline_wait *out);
/** The earliest instant of the wait, @p from_ns or later, from which on, up to its end, the node would
 *  have had room in every domain, were these bytes of one domain not held. */
int64_t modes_room_from(struct modes *modes, const struct timeline_wait *wait, int64_t from_ns,
                        uint32_t domain, int64_t bytes);

/* --- both --- */

/** May the node run beside any other? Else nothing is said of when it could have started. */
bool modes_may_move(const struct modes *modes, uint32_t node);
/* Bytes of a domain that would be held, or (below 0) not, in [from_ns, to_ns) beside those that were. */
struct modes_change {
    uint32_t domain;
    int64_t from_ns, to_ns, bytes;
};
#define MODES_MOST_CHANGES 8

/** The earliest instant, @p from_ns or later, at which the node could have started: a slot of its
 *  engine is free and its bytes fit from then on until it did start, with all else as it was, but
 *  without the node @p except, and with these changes (MODES_MOST_CHANGES at most), which have to fit
 *  as well. Its start when there is none, or a forbidden overlap may say no. */
int64_t modes_could_start(struct modes *modes, uint32_t node, int64_t from_ns, uint32_t except,
                          const struct modes_change *changes, uint32_t n_changes);

/* --- the finders --- */

MUST_CHECK enum weir_status modes_prefetch(struct modes *modes);
MUST_CHECK enum weir_status modes_contention(struct modes *modes);
MUST_CHECK enum weir_status modes_trips(struct modes *modes);
MUST_CHECK enum weir_status modes_recompute(struct modes *modes);
MUST_CHECK enum weir_status modes_staging(struct modes *modes);
MUST_CHECK enum weir_status modes_held(struct modes *modes);
MUST_CHECK enum weir_status modes_speculative(struct modes *modes);
MUST_CHECK enum weir_status modes_barriers(struct modes *modes);
MUST_CHECK enum weir_status modes_circle(struct modes *modes);

#endif
