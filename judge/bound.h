/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a node started no earlier: of any node of a timeline, what gave way last. */
#ifndef WEIR_JUDGE_BOUND_H
#define WEIR_JUDGE_BOUND_H

#include "graph/bind.h"
#include "graph/timeline.h"

enum bound_cause {
    BOUND_BEGIN,       /* nothing: it was ready when the run began */
    BOUND_RELEASE,     /* a time that the graph states */
    BOUND_PREDECESSOR, /* an edge, given or implied */
    BOUND_ENGINE,      /* a slot of its engine */
    BOUND_CAPACITY,    /* bytes */
    BOUND_OVERLAP,     /* the end of a forbidden overlap */
    BOUND_ADMISSION,   /* the policy held it */
    BOUND_WINDOW, /* a window closed, or its node started before: that settled whether this node,
                          or one that it waits for, runs */
    BOUND_UNKNOWN /* the timeline does not tell */
};
#define BOUND_CAUSES 9

/* "begin", "release", "predecessor", "engine", ... */
const char *bound_cause_name(enum bound_cause cause);

/* The time from end_ns to the node's start falls in two: up to ready_ns it is the lag of the edge
 * (when there is a node), the release, or the window; from there on the policy held the node (when the
 * cause is admission), or the timeline does not tell what it did. With a simulation there is no such
 * rest; with a replay it is the replay's own overhead. */
struct bound {
    weir_node node;         /* the one that gave way last; none: a time did, or the run began */
    enum bound_cause cause; /* with admission, the node is the one that made it ready */
    const char *via;        /* the type of the edge that made it ready; NULL: none did */
    int64_t end_ns; /* when the node let this one go: its finish, or its start when the edge leaves
                         that; never after the start of this one. 0 without a node */
    int64_t ready_ns; /* end_ns <= ready_ns <= start */
};

/* An index over a timeline, made once: afterwards a bound costs the same for every node. Nodes and
 * edges are read once; it keeps eight bytes a node. */
struct bound_index;

/** @param is_recorded the timeline was recorded, and tells no causes: then a node is taken to have
 *    followed the latest of its producers and of the node before it on an engine of one slot
 *  @param binding of the graph that ran; it and the timeline must outlive the index
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status bound_index_make(const struct binding *binding,
                                             const struct timeline *timeline, bool is_recorded,
                                             struct bound_index **out, struct weir_error *err);
void bound_index_free(struct bound_index *index);

/** Of a node that started. The node it names started before it (has a lower order), so that a walk
 *  from bound to bound ends. */
struct bound bound_of_start(const struct bound_index *index, weir_node node);

/** What made the node ready, whatever it waited for then: begin, release, predecessor, window or
 *  unknown. */
struct bound bound_of_ready(const struct bound_index *index, weir_node node);

/** The last to finish (of several, the last to start): where a walk through the run begins; none when
 *  nothing finished. */
weir_node bound_last_finished(const struct bound_index *index);

const struct binding *bound_binding(const struct bound_index *index);
const struct timeline *bound_timeline(const struct bound_index *index);
/** Those that started, in the order of their starts: as timeline_order gives it. The index owns it. */
const weir_node *bound_order(const struct bound_index *index, uint32_t *n_started);

#endif
