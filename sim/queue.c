/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heaps: the children of item i are 4 i + 1 ... 4 i + 4. */
#include "sim/queue.h"

#include "base/array.h"

static bool event_before(const struct event *a, const struct event *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->node < b->node;
}

enum weir_status event_push(struct event_queue *queue, struct event event, struct weir_error *err)
{
    uint32_t at = queue->n;

    if (queue->n == queue->room) {
        enum weir_status status =
            array_grow(&queue->items, &queue->room, (size_t)queue->n + 1, err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    queue->n++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;

        if (!event_before(&event, &queue->items[parent])) {
            break;
        }
        queue->items[at] = queue->items[parent];
        at = parent;
    }
    queue->items[at] = event;
    return WEIR_OK;
}

struct event event_pop(struct event_queue *queue)
{
    struct event first = queue->items[0];
    struct event moved = queue->items[--queue->n];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= queue->n) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < queue->n; i++) {
            best = event_before(&queue->items[i], &queue->items[best]) ? i : best;
        }
        if (!event_before(&queue->items[best], &moved)) {
            break;
        }
        queue->items[at] = queue->items[best];
        at = best;
    }
    queue->items[at] = moved;
    return first;
}

enum weir_status ready_push(struct ready_queue *queue, struct candidate candidate,
                            struct weir_error *err)
{
    uint32_t at = queue->n;

    if (queue->n == queue->room) {
        enum weir_status status =
            array_grow(&queue->items, &queue->room, (size_t)queue->n + 1, err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    queue->n++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;

        if (!candidate_before(&candidate, &queue->items[parent])) {
            break;
        }
        queue->items[at] = queue->items[parent];
        at = parent;
    }
    queue->items[at] = candidate;
    return WEIR_OK;
}

static void ready_sink(struct ready_queue *queue, uint32_t at, struct candidate moved)
{
    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= queue->n) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < queue->n; i++) {
            best = candidate_before(&queue->items[i], &queue->items[best]) ? i : best;
        }
        if (!candidate_before(&queue->items[best], &moved)) {
            break;
        }
        queue->items[at] = queue->items[best];
        at = best;
    }
    queue->items[at] = moved;
}

struct candidate ready_pop(struct ready_queue *queue)
{
    struct candidate first = queue->items[0];

    queue->n--;
    ready_sink(queue, 0, queue->items[queue->n]);
    return first;
}

void ready_reorder(struct ready_queue *queue)
{
    for (uint32_t i = queue->n; i > 0; i--) {
        ready_sink(queue, i - 1, queue->items[i - 1]);
    }
}
