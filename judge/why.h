/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node: why it started when it did, what would have had to end sooner, and who waited for it. */
#ifndef WEIR_JUDGE_WHY_H
#define WEIR_JUDGE_WHY_H

#include "judge/bound.h"

/* Until when something would have kept the node. */
struct why_limit {
    enum bound_cause cause; /* begin: nothing would have, from 0 on */
    weir_node node;         /* that gave way then; none: a time did */
    const char *via;        /* the type of the edge; else NULL */
    int64_t until_ns;
};

/* A node that this one let go. */
struct why_follower {
    weir_node node;
    enum bound_cause cause;
    const char *via;
    int64_t start_ns;
};

#define WHY_FOLLOWERS 10

struct why {
    struct bound bound; /* what gave way last */
    /* What would have kept it next, with every other node where it is and all that bound.node caused
     * gone: edges, releases, what it waited for before, and the slots of its engine. */
    struct why_limit next;
    int64_t sooner_ns;    /* start less next.until_ns: 0 or more */
    bool needs_bytes;     /* it takes bytes when it starts: whether they fit sooner is not known */
    bool engine_is_known; /* next takes the slots of the engine into account */
    /* Those whose starts it bound, the first to start. */
    struct why_follower followers[WHY_FOLLOWERS];
    uint32_t n_listed;
    uint64_t n_followers;
};

/** Finds it by a pass over edges and nodes. @param node one that started
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status why_find(const struct bound_index *index, weir_node node,
                                     struct why *out, struct weir_error *err);

#endif
