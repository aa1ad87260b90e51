/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two orders that never depend on how they came about: events by (time, node) and ready nodes by
 * (priority, ready time, node). The heaps are 4-ary, fewer cache lines a step than binary ones: the
 * children of item i are 4 i + 1 ... 4 i + 4. What runs for every node is inline. */
#ifndef WEIR_SIM_QUEUE_H
#define WEIR_SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/id.h"

struct event {
    int64_t time_ns;
    uint32_t node;
};

#define EVENTS_NEAR 16

/* The next few events in order, so that taking the first costs nothing; the others, all of them
 * later, in a heap. */
struct event_queue {
    struct event near[EVENTS_NEAR]; /* the first is the last of them */
    uint32_t n_near;
    uint32_t n_far;
    struct event *far; /* the heap */
    size_t far_room;
};

/* A node that is ready. The higher priority goes first, then the earlier ready time, then the
 * earlier in program order. */
struct candidate {
    int64_t priority;
    int64_t ready_ns;
    int64_t since_ns; /* the stretch of waiting that it is in began then; no part of the order */
    uint32_t node;
    /* The object whose bytes woke it last; of one that lacks bytes, in which instant it was found to. No
     * part of the order. */
    uint32_t given;
};

/* Mostly nodes become ready in the order in which they go: those stand in line. In the heap are the
 * ones that came out of order, have a priority, or have waited for something else before. */
struct ready_queue {
    struct event *line; /* [head, tail), in order: when ready, who */
    size_t line_room;
    uint32_t head, tail;
    struct candidate *heap;
    size_t heap_room;
    uint32_t n_heap;
};

/* Without a branch: which of two ends comes first is anyone's guess. */
static inline bool event_before(const struct event *a, const struct event *b)
{
    return (a->time_ns < b->time_ns) | ((a->time_ns == b->time_ns) & (a->node < b->node));
}

static inline uint32_t event_n(const struct event_queue *queue)
{
    return queue->n_near + queue->n_far;
}

/* What the two below leave to queue.c: the first of the far ones become the near ones; the later
 * half of the near ones become far ones; one joins the far ones. */
void event_bring_near(struct event_queue *queue);
MUST_CHECK enum weir_status event_send_far(struct event_queue *queue, struct weir_error *err);
MUST_CHECK enum weir_status event_push_far(struct event_queue *queue, struct event event,
                                           struct weir_error *err);

/** The first. The queue must not be empty. */
static inline struct event event_first(const struct event_queue *queue)
{
    return queue->n_near > 0 ? queue->near[queue->n_near - 1] : queue->far[0];
}

MUST_CHECK static inline enum weir_status event_push(struct event_queue *queue, struct event event,
                                                     struct weir_error *err)
{
    uint32_t at;

    if (queue->n_far > 0 && !event_before(&event, &queue->far[0])) {
        return event_push_far(queue, event, err);
    }
    if (queue->n_near == EVENTS_NEAR) {
        enum weir_status status = event_send_far(queue, err);

        return status == WEIR_OK ? event_push(queue, event, err) : status;
    }
    for (at = queue->n_near++; at > 0 && event_before(&queue->near[at - 1], &event); at--) {
        queue->near[at] = queue->near[at - 1];
    }
    queue->near[at] = event;
    return WEIR_OK;
}

/** Removes the first. The queue must not be empty. */
static inline struct event event_pop(struct event_queue *queue)
{
    if (queue->n_near == 0) {
        event_bring_near(queue);
    }
    return queue->near[--queue->n_near];
}

/** Each of them once, the near ones in order, then the far ones. @param i below event_n */
static inline struct event event_at(const struct event_queue *queue, uint32_t i)
{
    return i < queue->n_near ? queue->near[queue->n_near - 1 - i] : queue->far[i - queue->n_near];
}

/** The memory that it holds beside itself. */
static inline size_t event_memory_bytes(const struct event_queue *queue)
{
    return queue->far_room * sizeof *queue->far;
}

static inline void event_free(struct event_queue *queue)
{
    free(queue->far);
}

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

static inline uint32_t ready_n(const struct ready_queue *queue)
{
    return queue->tail - queue->head + queue->n_heap;
}

static inline struct candidate candidate_of(struct event ready)
{
    return (struct candidate){0, ready.time_ns, ready.time_ns, ready.node, WEIR_NONE};
}

/* Is the first in order the one at the head of the line? */
static inline bool ready_is_in_line(const struct ready_queue *queue)
{
    struct candidate in_line;

    if (queue->n_heap == 0 || queue->head == queue->tail) {
        return queue->n_heap == 0;
    }
    in_line = candidate_of(queue->line[queue->head]);
    return candidate_before(&in_line, &queue->heap[0]);
}

/** The first in order. The queue must not be empty. */
static inline struct candidate ready_first(const struct ready_queue *queue)
{
    return ready_is_in_line(queue) ? candidate_of(queue->line[queue->head]) : queue->heap[0];
}

MUST_CHECK enum weir_status ready_push(struct ready_queue *queue, struct candidate candidate,
                                       struct weir_error *err);
/** Makes room at the end of the line. */
MUST_CHECK enum weir_status ready_lengthen(struct ready_queue *queue, struct weir_error *err);
/** The first of the heap. */
struct candidate ready_pop_heap(struct ready_queue *queue);

/** Adds a node without a priority that has just become ready. */
MUST_CHECK static inline enum weir_status
ready_push_fresh(struct ready_queue *queue, struct event ready, struct weir_error *err)
{
    if (queue->head == queue->tail) {
        queue->head = queue->tail = 0;
    } else if (event_before(&ready, &queue->line[queue->tail - 1])) {
        return ready_push(queue, candidate_of(ready), err);
    }
    if (queue->tail == queue->line_room) {
        enum weir_status status = ready_lengthen(queue, err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    queue->line[queue->tail++] = ready;
    return WEIR_OK;
}

/** Removes the first. The queue must not be empty. */
static inline struct candidate ready_pop(struct ready_queue *queue)
{
    return ready_is_in_line(queue) ? candidate_of(queue->line[queue->head++])
                                   : ready_pop_heap(queue);
}

/** Gives every candidate the priority that stands for its node in @p priority and puts the order
 *  right again. */
MUST_CHECK enum weir_status ready_reorder(struct ready_queue *queue, const int64_t *priority,
                                          struct weir_error *err);
void ready_free(struct ready_queue *queue);

#endif
