/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each action of a realized plan waits for: given, implied and induced edges, overlaps that
 * must not arise, releases and admissions, without what the order on its queue says already. */
#ifndef WEIR_REPLAY_WAITS_H
#define WEIR_REPLAY_WAITS_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "replay/device.h"
#include "replay/lanes.h"

struct waits_options {
    double scale_time;      /* lags and releases are multiplied by it */
    bool forbids_unknown;   /* pairs marked unknown were forbidden when the plan was made */
    bool unknown_by_factor; /* and so were, then, pairs of classes without a factor */
};

struct waits_counts {
    uint64_t n_given, n_implied, n_induced; /* edges of each origin between the steps */
    uint64_t n_added; /* edges that only the replay has: overlaps kept apart, who begins a copy */
    uint64_t n_by_queue; /* of these: kept by the order on a queue */
    uint64_t n_covered;  /* kept because a later wait on the same queue covers them */
    uint64_t n_waited;   /* waited for */
    uint64_t n_paced;    /* of those waited for: with a lag, or from a start */
    uint64_t n_released; /* nodes that wait for a time */
};

struct waits {
    struct step_wait *waits; /* of step s: from first[s] up to first[s + 1] */
    size_t *first;
    int64_t *release_ns; /* by step, scaled */
    struct waits_counts counts;
};

/* The steps of a plan: nodes that started in the order in which they did, then all others. */
struct waits_steps {
    const uint32_t *node_of; /* by step */
    const uint32_t *step_of; /* by node */
    uint32_t n_steps, n_started;
};

/** @param arena owns the result. WEIR_MEMORY; WEIR_INPUT when a scaled time passes 64 bits. */
MUST_CHECK enum weir_status waits_make(const struct binding *binding, const struct timeline *plan,
                                       const struct waits_steps *steps, const struct lanes *lanes,
                                       const struct waits_options *options, struct arena *arena,
                                       struct waits *out, struct weir_error *err);

/** A time of the plan in the replay: multiplied and rounded; INT64_MAX / 4 at most. */
int64_t waits_scaled_ns(int64_t ns, double scale_time);

/** Settles when nodes that do not run pass their edges on: one that gave way not before its window
 *  closed, its fallback not before that either. 0 for all others. */
int64_t waits_settled_ns(const struct graph *graph, const struct timeline *plan, weir_node node);

#endif
