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

/* Why the replay keeps an order, or waits for a time, that no edge and no release says. */
enum inserted_why {
    INSERTED_OVERLAP,  /* the two must not run at once */
    INSERTED_BEGINS,   /* the first begins bytes that both may begin */
    INSERTED_FALLBACK, /* the second stands in for the first: it was settled then that it need not */
    INSERTED_QUEUE,    /* one queue runs both */
    INSERTED_ADMISSION, /* a time: the policy held it until then */
    INSERTED_WINDOW     /* a time: what it stands in for gave way then */
};
const char *inserted_why_text(enum inserted_why);

struct waits_inserted {
    weir_node producer; /* none: a time */
    weir_node consumer;
    bool is_from_start;    /* of the producer, else from its finish */
    int64_t not_before_ns; /* scaled; 0 with a producer */
    enum inserted_why why;
};

struct waits_counts {
    uint64_t n_given, n_implied, n_induced; /* edges of each origin between the steps */
    uint64_t n_added; /* edges that only the replay has: overlaps kept apart, who begins a copy */
    uint64_t n_by_queue;  /* of these: kept by the order on a queue */
    uint64_t n_covered;   /* kept because a later wait on the same queue covers them */
    uint64_t n_waited;    /* waited for */
    uint64_t n_paced;     /* of those waited for: with a lag, or from a start */
    uint64_t n_released;  /* nodes that wait for a time */
    uint64_t n_one_queue; /* pairs one after the other on a queue that no edge puts in order */
};

struct waits {
    struct step_wait *waits; /* of step s: from first[s] up to first[s + 1] */
    size_t *first;
    int64_t *release_ns; /* by step, scaled */
    int64_t *settled_ns; /* by node, as planned: see waits_settled_ns; NULL: 0 for all */
    struct waits_inserted *inserted; /* by consumer's place among the steps, then producer's */
    size_t n_inserted;
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

/** The time in the plan before which a node that did not run does not pass its edges on: when it gave
 *  way, its window closed, its fallback's no earlier. 0 for all others. */
int64_t waits_settled_ns(const struct waits *waits, weir_node node);

#endif
