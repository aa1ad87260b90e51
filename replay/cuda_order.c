/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for whom on the device.
 *
 * A stream passes the points of its steps in order, so all that a step waits for on one stream is one
 * point: the latest. Steps without a queue are seen through: what waits for one waits for the points
 * that it waits for. Delays are kept apart, each with its own point. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/cuda_internal.h"

/* While steps without a queue are seen through. */
struct seeing {
    struct cuda *cuda;
    struct weir_error *err;
    struct cuda_delay *delays; /* of the step at work */
    size_t delays_room;
    uint32_t n_delays;
    uint32_t *points; /* of the step at work */
    uint32_t *stack;  /* of steps without a queue that are being seen through */
    uint8_t *state;   /* by step: 0 not yet, 1 on the stack, 2 done */
};

static uint32_t point_of(const struct cuda_step *step, bool is_from_start)
{
    return 2 * step->position + (is_from_start ? 1 : 2);
}

static enum weir_status add_delay(struct seeing *s, struct cuda_delay delay)
{
    enum weir_status status =
        array_grow(&s->delays, &s->delays_room, (size_t)s->n_delays + 1, s->err);

    if (status == WEIR_OK) {
        s->delays[s->n_delays++] = delay;
    }
    return status;
}

/* What a wait for a step on a queue asks for. */
static enum weir_status add_point(struct seeing *s, const struct cuda_step *producer,
                                  const struct step_wait *wait)
{
    uint32_t queue = producer->given.queue, point = point_of(producer, wait->is_from_start);

    if (wait->lag_ns > 0) {
        return add_delay(s, (struct cuda_delay){queue, point, wait->lag_ns});
    }
    if (s->points[queue] < point) {
        s->points[queue] = point;
    }
    return WEIR_OK;
}

/* What a wait for a step without a queue asks for: all that this one asks for, so much later. */
static enum weir_status add_seen(struct seeing *s, const struct cuda_requires *seen, int64_t lag_ns)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t q = 0; q < s->cuda->setup.n_queues && status == WEIR_OK; q++) {
        if (lag_ns == 0 && s->points[q] < seen->points[q]) {
            s->points[q] = seen->points[q];
        } else if (lag_ns > 0 && seen->points[q] > 0) {
            status = add_delay(s, (struct cuda_delay){q, seen->points[q], lag_ns});
        }
    }
    for (uint32_t d = 0; d < seen->n_delays && status == WEIR_OK; d++) {
        struct cuda_delay delay = seen->delays[d];

        delay.after_ns += lag_ns;
        status = add_delay(s, delay);
    }
    return status == WEIR_OK && lag_ns > 0
               ? add_delay(s, (struct cuda_delay){STEP_NO_QUEUE, 0, lag_ns})
               : status;
}

static int compare_delays(const void *a, const void *b)
{
    const struct cuda_delay *x = a;
    const struct cuda_delay *y = b;

    if (x->queue != y->queue) {
        return x->queue < y->queue ? -1 : 1;
    }
    if (x->point != y->point) {
        return x->point < y->point ? -1 : 1;
    }
    return x->after_ns < y->after_ns ? -1 : x->after_ns > y->after_ns;
}

/* Of delays since one point the longest counts. */
static void merge_delays(struct seeing *s)
{
    uint32_t n = 0;

    if (s->n_delays > 1) {
        qsort(s->delays, s->n_delays, sizeof *s->delays, compare_delays);
    }
    for (uint32_t d = 0; d < s->n_delays; d++) {
        bool is_last = d + 1 == s->n_delays || s->delays[d].queue != s->delays[d + 1].queue ||
                       s->delays[d].point != s->delays[d + 1].point;

        if (is_last) {
            s->delays[n++] = s->delays[d];
        }
    }
    s->n_delays = n;
}

/* Gathers what the step waits for, of steps that have been seen through. */
static enum weir_status gather(struct seeing *s, uint32_t index)
{
    struct cuda *cuda = s->cuda;
    struct cuda_step *step = &cuda->steps[index];
    uint32_t n_queues = cuda->setup.n_queues;
    enum weir_status status = WEIR_OK;

    memset(s->points, 0, (n_queues + (size_t)1) * sizeof *s->points);
    s->n_delays = 0;
    if (step->given.release_ns > 0) {
        status = add_delay(s, (struct cuda_delay){STEP_NO_QUEUE, 0, step->given.release_ns});
    }
    for (uint32_t w = 0; w < step->given.n_waits && status == WEIR_OK; w++) {
        const struct step_wait *wait = &step->given.waits[w];
        const struct cuda_step *producer = &cuda->steps[wait->step];

        status = producer->given.queue == STEP_NO_QUEUE
                     ? add_seen(s, &producer->requires, wait->lag_ns)
                     : add_point(s, producer, wait);
    }
    if (status != WEIR_OK) {
        return status;
    }
    merge_delays(s);
    step->requires.points = arena_array(&cuda->arena, n_queues, sizeof *s->points);
    step->requires.delays = arena_array(&cuda->arena, s->n_delays, sizeof *s->delays);
    step->requires.n_delays = s->n_delays;
    if (step->requires.points == NULL || step->requires.delays == NULL) {
        return weir_error_memory(s->err);
    }
    memcpy(step->requires.points, s->points, n_queues * sizeof *s->points);
    if (s->n_delays > 0) {
        memcpy(step->requires.delays, s->delays, s->n_delays * sizeof *s->delays);
    }
    return WEIR_OK;
}

/* The first producer without a queue that has not been seen through; WEIR_NONE. */
static uint32_t unseen(const struct seeing *s, uint32_t index)
{
    const struct step *step = &s->cuda->steps[index].given;

    for (uint32_t w = 0; w < step->n_waits; w++) {
        uint32_t producer = step->waits[w].step;

        if (s->cuda->steps[producer].given.queue == STEP_NO_QUEUE && s->state[producer] != 2) {
            return producer;
        }
    }
    return WEIR_NONE;
}

/* Gathers the step after all that it must see through. */
static enum weir_status see_through(struct seeing *s, uint32_t index)
{
    uint32_t n = 0;

    s->stack[n++] = index;
    s->state[index] = 1;
    while (n > 0) {
        uint32_t top = s->stack[n - 1], producer = unseen(s, top);

        if (producer == WEIR_NONE) {
            enum weir_status status = gather(s, top);

            if (status != WEIR_OK) {
                return status;
            }
            s->state[top] = 2;
            n--;
        } else if (s->state[producer] == 1) {
            return weir_error_set(s->err, WEIR_INPUT, "steps %u and %u wait for each other", top,
                                  producer);
        } else {
            s->state[producer] = 1;
            s->stack[n++] = producer;
        }
    }
    return WEIR_OK;
}

static enum weir_status see_all(struct cuda *cuda, struct weir_error *err)
{
    size_t n_steps = (size_t)cuda->n_submitted + 1;
    struct seeing s = {.cuda = cuda,
                       .err = err,
                       .points = malloc((cuda->setup.n_queues + (size_t)1) * sizeof *s.points),
                       .stack = malloc(n_steps * sizeof *s.stack),
                       .state = calloc(n_steps, 1)};
    enum weir_status status =
        s.points == NULL || s.stack == NULL || s.state == NULL ? weir_error_memory(err) : WEIR_OK;

    for (uint32_t i = 0; i < cuda->n_submitted && status == WEIR_OK; i++) {
        if (s.state[i] == 0) {
            status = see_through(&s, i);
        }
    }
    free(s.points);
    free(s.stack);
    free(s.state);
    free(s.delays);
    return status;
}

/* ---- what a stream must be told, and what must be marked for it ---- */

struct cuda_step *cuda_step_at(struct cuda *cuda, uint32_t queue, uint32_t point)
{
    return &cuda->steps[cuda->queues[queue].steps[(point - 1) / 2]];
}

static enum weir_status make_event(struct cuda *cuda, cu_event *event, struct weir_error *err)
{
    if (*event != NULL) {
        return WEIR_OK;
    }
    return cuda_check(&cuda->context,
                      cuda->context.driver.event_create(event, GPU_EVENT_DISABLE_TIMING),
                      "cuEventCreate", err);
}

/* The event at a point of another stream, which must lie before the step in the order of steps. */
static enum weir_status mark_point(struct cuda *cuda, uint32_t index, uint32_t queue,
                                   uint32_t point, struct weir_error *err)
{
    struct cuda_step *producer = cuda_step_at(cuda, queue, point);

    if (producer >= &cuda->steps[index]) {
        char name[160], other[160];

        return weir_error_set(
            err, WEIR_INPUT, "%s waits for %s, which the plan starts later",
            cuda_step_name(cuda, index, name, sizeof name),
            cuda_step_name(cuda, (uint32_t)(producer - cuda->steps), other, sizeof other));
    }
    return make_event(cuda, point % 2 == 1 ? &producer->begun : &producer->ended, err);
}

/* The time of a point is taken down when somebody counts from it. */
static void mark_time(struct cuda *cuda, const struct cuda_delay *delay)
{
    struct cuda_step *producer;
    uint32_t *slot;

    if (delay->queue == STEP_NO_QUEUE) {
        return;
    }
    producer = cuda_step_at(cuda, delay->queue, delay->point);
    slot = delay->point % 2 == 1 ? &producer->begun_slot : &producer->ended_slot;
    if (*slot == WEIR_NONE) {
        *slot = cuda->n_slots++;
    }
}

/* @param known by queue: the latest point of it that the step's stream has waited for */
static enum weir_status tell_stream(struct cuda *cuda, uint32_t index, uint32_t *known,
                                    struct cuda_need *needs, struct weir_error *err)
{
    struct cuda_step *step = &cuda->steps[index];
    struct cuda_need *kept;
    enum weir_status status = WEIR_OK;
    uint32_t n = 0;

    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        uint32_t point = step->requires.points[q];

        for (uint32_t d = 0; d < step->requires.n_delays; d++) {
            if (step->requires.delays[d].queue == q && step->requires.delays[d].point > point) {
                point = step->requires.delays[d].point;
            }
        }
        if (q == step->given.queue || point <= known[q]) {
            continue;
        }
        known[q] = point;
        needs[n++] = (struct cuda_need){q, point};
        status = mark_point(cuda, index, q, point, err);
    }
    for (uint32_t d = 0; d < step->requires.n_delays; d++) {
        mark_time(cuda, &step->requires.delays[d]);
    }
    kept = arena_array(&cuda->arena, n, sizeof *kept);
    if (kept == NULL) {
        return status == WEIR_OK ? weir_error_memory(err) : status;
    }
    if (n > 0) {
        memcpy(kept, needs, n * sizeof *kept);
    }
    step->needs = kept;
    step->n_needs = n;
    return status;
}

static enum weir_status tell_streams(struct cuda *cuda, struct weir_error *err)
{
    size_t n_queues = (size_t)cuda->setup.n_queues + 1;
    uint32_t *known = calloc(n_queues * n_queues, sizeof *known);
    struct cuda_need *needs = calloc(n_queues, sizeof *needs);
    enum weir_status status = known == NULL || needs == NULL ? weir_error_memory(err) : WEIR_OK;

    cuda->n_slots = 1; /* the first is the begin of the run */
    for (uint32_t i = 0; i < cuda->n_submitted && status == WEIR_OK; i++) {
        uint32_t queue = cuda->steps[i].given.queue;

        if (queue != STEP_NO_QUEUE) {
            status = tell_stream(cuda, i, known + queue * n_queues, needs, err);
        }
    }
    free(known);
    free(needs);
    return status;
}

static enum weir_status list_queues(struct cuda *cuda, struct weir_error *err)
{
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        if (cuda->steps[i].given.queue != STEP_NO_QUEUE) {
            cuda->queues[cuda->steps[i].given.queue].n_steps++;
        }
    }
    for (uint32_t q = 0; q < cuda->setup.n_queues; q++) {
        struct cuda_queue *queue = &cuda->queues[q];

        queue->steps = arena_array(&cuda->arena, queue->n_steps, sizeof *queue->steps);
        queue->n_steps = 0;
        if (queue->steps == NULL) {
            return weir_error_memory(err);
        }
    }
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        struct cuda_step *step = &cuda->steps[i];

        step->begun_slot = WEIR_NONE;
        step->ended_slot = WEIR_NONE;
        if (step->given.queue != STEP_NO_QUEUE) {
            struct cuda_queue *queue = &cuda->queues[step->given.queue];

            step->position = queue->n_steps;
            queue->steps[queue->n_steps++] = i;
        }
    }
    return WEIR_OK;
}

enum weir_status cuda_order_seal(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = list_queues(cuda, err);

    if (status == WEIR_OK) {
        status = see_all(cuda, err);
    }
    return status == WEIR_OK ? tell_streams(cuda, err) : status;
}

enum weir_status cuda_order_mark_ends(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < cuda->n_submitted && status == WEIR_OK; i++) {
        if (cuda->steps[i].given.queue != STEP_NO_QUEUE) {
            status = make_event(cuda, &cuda->steps[i].ended, err);
        }
    }
    return status;
}
