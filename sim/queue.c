/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heaps: far events, and candidates. */
#include "sim/queue.h"

#include <stdlib.h>
#include <string.h>

enum weir_status event_push_far(struct event_queue *queue, struct event event,
                                struct weir_error *err)
{
    uint32_t at = queue->n_far;
    enum weir_status status = array_grow(&queue->far, &queue->far_room, (size_t)at + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    queue->n_far++;
    while (at > 0 && event_before(&event, &queue->far[(at - 1) / 4])) {
        queue->far[at] = queue->far[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    queue->far[at] = event;
    return WEIR_OK;
}

static struct event pop_far(struct event_queue *queue)
{
    struct event first = queue->far[0];
    struct event moved = queue->far[--queue->n_far];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= queue->n_far) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < queue->n_far; i++) {
            best = event_before(&queue->far[i], &queue->far[best]) ? i : best;
        }
        if (!event_before(&queue->far[best], &moved)) {
            break;
        }
        queue->far[at] = queue->far[best];
        at = best;
    }
    queue->far[at] = moved;
    return first;
}

void event_bring_near(struct event_queue *queue)
{
    uint32_t n = queue->n_far < EVENTS_NEAR / 2 ? queue->n_far : EVENTS_NEAR / 2;

    queue->n_near = n;
    while (n > 0) {
        queue->near[--n] = pop_far(queue);
    }
}

enum weir_status event_send_far(struct event_queue *queue, struct weir_error *err)
{
    const uint32_t n = EVENTS_NEAR / 2;
    enum weir_status status =
        array_grow(&queue->far, &queue->far_room, (size_t)queue->n_far + n, err);

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = event_push_far(queue, queue->near[i], err);
    }
    if (status == WEIR_OK) {
        queue->n_near -= n;
        memmove(queue->near, queue->near + n, queue->n_near * sizeof *queue->near);
    }
    return status;
}

enum weir_status ready_push(struct ready_queue *queue, struct candidate candidate,
                            struct weir_error *err)
{
    uint32_t at = queue->n_heap;
    enum weir_status status = array_grow(&queue->heap, &queue->heap_room, (size_t)at + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    queue->n_heap++;
    while (at > 0 && candidate_before(&candidate, &queue->heap[(at - 1) / 4])) {
        queue->heap[at] = queue->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    queue->heap[at] = candidate;
    return WEIR_OK;
}

static void sink(struct ready_queue *queue, uint32_t at, struct candidate moved)
{
    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= queue->n_heap) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < queue->n_heap; i++) {
            best = candidate_before(&queue->heap[i], &queue->heap[best]) ? i : best;
        }
        if (!candidate_before(&queue->heap[best], &moved)) {
            break;
        }
        queue->heap[at] = queue->heap[best];
        at = best;
    }
    queue->heap[at] = moved;
}

struct candidate ready_pop_heap(struct ready_queue *queue)
{
    struct candidate first = queue->heap[0];

    queue->n_heap--;
    sink(queue, 0, queue->heap[queue->n_heap]);
    return first;
}

/* The room that those gone have left is used again when it is half of the line or more. */
enum weir_status ready_lengthen(struct ready_queue *queue, struct weir_error *err)
{
    if (queue->head > queue->tail / 2) {
        memmove(queue->line, queue->line + queue->head,
                (size_t)(queue->tail - queue->head) * sizeof *queue->line);
        queue->tail -= queue->head;
        queue->head = 0;
        return WEIR_OK;
    }
    return array_grow(&queue->line, &queue->line_room, (size_t)queue->tail + 1, err);
}

enum weir_status ready_reorder(struct ready_queue *queue, const int64_t *priority,
                               struct weir_error *err)
{
    uint32_t n = ready_n(queue);
    enum weir_status status = array_grow(&queue->heap, &queue->heap_room, (size_t)n, err);

    if (status != WEIR_OK) {
        return status;
    }
    while (queue->head < queue->tail) {
        queue->heap[queue->n_heap++] = candidate_of(queue->line[queue->head++]);
    }
    for (uint32_t i = n; i > 0; i--) {
        queue->heap[i - 1].priority = priority[queue->heap[i - 1].node];
    }
    for (uint32_t i = n; i > 0; i--) {
        sink(queue, i - 1, queue->heap[i - 1]);
    }
    return WEIR_OK;
}

void ready_free(struct ready_queue *queue)
{
    free(queue->line);
    free(queue->heap);
}
