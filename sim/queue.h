/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two orders that never depend on how they came about: events by (time, node) and ready nodes by
 * (priority, ready time, node). Both are 4-ary heaps: fewer cache lines a step than binary ones. */
#ifndef WEIR_SIM_QUEUE_H
#define WEIR_SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

struct event {
    int64_t time_ns;
    uint32_t node;
};

struct event_queue {
    struct event *items;
    size_t room;
    uint32_t n;
};

MUST_CHECK enum weir_status event_push(struct event_queue *queue, struct event event,
                                       struct weir_error *err);
/** Removes the first. The queue must not be empty. */
struct event event_pop(struct event_queue *queue);

/* A node that is ready. The higher priority goes first, then the earlier ready time, then the
 * earlier in program order. */
struct candidate {
    int64_t priority;
    int64_t ready_ns;
    int64_t since_ns; /* the stretch of waiting that it is in began then; no part of the order */
    uint32_t node;
    uint32_t given; /* the object whose bytes woke it last; no part of the order */
};

struct ready_queue {
    struct candidate *items;
    size_t room;
    uint32_t n;
};

MUST_CHECK enum weir_status ready_push(struct ready_queue *queue, struct candidate candidate,
                                       struct weir_error *err);
struct candidate ready_pop(struct ready_queue *queue);
/** Puts the order right again after priorities of items were changed in place. */
void ready_reorder(struct ready_queue *queue);

static inline bool candidate_before(const struct candidate *a, const struct candidate *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->ready_ns != b->ready_ns) {
        return a->ready_ns < b->ready_ns;
    }
    return a->node < b->node;
}

#endif
