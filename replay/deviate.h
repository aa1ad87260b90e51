/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a replay ended when it did, and not when it was planned to: each action's deviation in four
 * parts, the path that made the makespan, and what each action costs it. */
#ifndef WEIR_REPLAY_DEVIATE_H
#define WEIR_REPLAY_DEVIATE_H

#include "graph/deviation.h"
#include "replay/times.h"

/* What an action did in the replay. */
struct deviate_action {
    int64_t submit_ns; /* as struct device_ops says */
    struct deviation deviation;
    /* So much sooner the replay would have ended had this action alone been come to, begun and ended
     * as fast as planned, all others being as they were; negative: so much later. */
    int64_t cost_ns;
    uint32_t position, planned_position; /* on its queue, from 0, in the order of starts */
};

/* What the start of a link of the path waited for. */
enum deviate_cause {
    DEVIATE_BEGINS,      /* nothing: the run began */
    DEVIATE_RELEASE,     /* a time that the graph states */
    DEVIATE_PREDECESSOR, /* a given or implied edge */
    DEVIATE_CAPACITY,    /* an induced edge: bytes */
    DEVIATE_ENGINE,      /* the action before it on its queue */
    DEVIATE_INSERTED     /* what only the replay has */
};
const char *deviate_cause_name(enum deviate_cause);

/* A link of the path that made the makespan: from when the link before it ended to when this one
 * did, which is its node's finish, or its start where the next follows that. */
struct deviate_link {
    weir_node node;
    enum deviate_cause cause;
    const char *via; /* the type of the edge, or why it was inserted; NULL: neither */
    int64_t start_ns, finish_ns;
    /* What it adds to the deviation of the makespan. Its dependency part is 0 or less: the time by
     * which the plan had it wait longer, for something that is not on this path. */
    struct deviation deviation;
};

struct deviate {
    struct deviate_action *actions; /* by step, of those that ran */
    struct deviate_link *links;     /* first to last: their lengths add up to the makespan */
    uint32_t n_links;
    struct deviation makespan; /* the sum of the links': the real makespan less the planned */
};

/** @param timeline of the replay: start, finish and order of the nodes that ran
 *  @param times of all steps in the replay  @param submit_ns by step
 *  @param arena owns the result. WEIR_MEMORY */
MUST_CHECK enum weir_status deviate_find(const struct schedule *schedule,
                                         const struct step_order *order,
                                         const struct timeline *timeline,
                                         const struct step_times *times, const int64_t *submit_ns,
                                         struct arena *arena, struct deviate *out,
                                         struct weir_error *err);

#endif
