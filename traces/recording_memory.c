/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran and what was held at once: the slots that each engine needs, and the bytes of each
 * domain over time, so that nothing recorded has to wait for a slot or for room. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/recording_internal.h"

/* Slots. The actions of an engine, by start; a heap of the finishes of those that still run. */

struct running {
    int64_t *finishes; /* a heap, the least first */
    size_t n, room;
};

static void sift_down(int64_t *heap, size_t n)
{
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;
        int64_t held;

        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (child >= n || heap[at] <= heap[child])
            return;
        held = heap[at];
        heap[at] = heap[child];
        heap[child] = held;
        at = child;
    }
}

static void end_until(struct running *running, int64_t now_ns)
{
    while (running->n > 0 && running->finishes[0] <= now_ns) {
        running->finishes[0] = running->finishes[--running->n];
        sift_down(running->finishes, running->n);
    }
}

static enum weir_status begin(struct running *running, int64_t finish_ns, struct weir_error *err)
{
    enum weir_status status = array_grow(&running->finishes, &running->room, running->n + 1, err);
    size_t at = running->n;

    if (status != WEIR_OK)
        return status;
    running->n++;
    while (at > 0 && running->finishes[(at - 1) / 2] > finish_ns) {
        running->finishes[at] = running->finishes[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    running->finishes[at] = finish_ns;
    return WEIR_OK;
}

/* One action of an engine starts. One of length zero needs a slot at its instant beside all that
 * run then, also those that start then; so what was counted for it stays until the next instant. */
struct engine_load {
    struct running running;
    int64_t instant_ns;
    bool has_instant, has_zero;
};

static enum weir_status start_one(struct engine_load *load, const struct action_row *action,
                                  int64_t *slots, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    int64_t n;

    if (!load->has_instant || load->instant_ns != action->start_ns) {
        load->instant_ns = action->start_ns;
        load->has_instant = true;
        load->has_zero = false;
        end_until(&load->running, action->start_ns);
    }
    if (action->finish_ns == action->start_ns)
        load->has_zero = true;
    else
        status = begin(&load->running, action->finish_ns, err);
    n = (int64_t)load->running.n + (load->has_zero ? 1 : 0);
    if (n > *slots)
        *slots = n;
    return status;
}

enum weir_status recording_slots(const struct recording *recording,
                                 const struct recording_order *order, int64_t *slots,
                                 struct weir_error *err)
{
    struct engine_load *loads = calloc((size_t)recording->n_engines + 1, sizeof *loads);
    enum weir_status status = WEIR_OK;

    if (loads == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < recording->n_engines; i++)
        slots[i] = 1;
    for (uint32_t at = 0; at < order->n && status == WEIR_OK; at++) {
        const struct action_row *action = &recording->actions[order->actions[at]];

        if (action->engine != RECORDING_NONE)
            status = start_one(&loads[action->engine], action, &slots[action->engine], err);
    }
    for (uint32_t i = 0; i < recording->n_engines; i++)
        free(loads[i].running.finishes);
    free(loads);
    return status;
}

/* Bytes: an object begins with the start of its allocation, and ends with the finish of its
 * reclamation. */

struct change {
    int64_t t_ns;
    int64_t bytes; /* more or less */
    uint32_t domain, object;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    if (a->t_ns != b->t_ns)
        return a->t_ns < b->t_ns ? -1 : 1;
    if ((a->bytes < 0) != (b->bytes < 0))
        return a->bytes < 0 ? 1 : -1;
    return a->object < b->object ? -1 : a->object > b->object;
}

static int64_t acquired_ns(const struct recording *recording, const struct recording_object *object,
                           int64_t origin_ns)
{
    if (object->allocation == RECORDING_NONE)
        return 0;
    return recording->actions[object->allocation].start_ns - origin_ns;
}

static size_t list_changes(const struct recording *recording, int64_t origin_ns,
                           struct change *changes)
{
    size_t n = 0;

    for (uint32_t i = 0; i < recording->n_objects; i++) {
        const struct recording_object *object = &recording->objects[i];

        changes[n++] = (struct change){acquired_ns(recording, object, origin_ns), object->bytes,
                                       object->domain, i};
        if (object->reclamation != RECORDING_NONE) {
            changes[n++] =
                (struct change){recording->actions[object->reclamation].finish_ns - origin_ns,
                                -object->bytes, object->domain, i};
        }
    }
    qsort(changes, n, sizeof *changes, by_time);
    return n;
}

static enum weir_status add_pressures(struct timeline *timeline, const struct change *changes,
                                      size_t n, int64_t *worst_bytes, struct weir_error *err)
{
    int64_t *now_bytes = calloc((size_t)timeline->n_domains + 1, sizeof *now_bytes);
    enum weir_status status = WEIR_OK;

    if (now_bytes == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct change *change = &changes[i];
        int64_t *now = &now_bytes[change->domain];

        if (__builtin_add_overflow(*now, change->bytes, now)) {
            status = weir_error_set(err, WEIR_INPUT, "the bytes held at once pass 64 bits");
            break;
        }
        if (*now > worst_bytes[change->domain])
            worst_bytes[change->domain] = *now;
        status = timeline_add_pressure(
            timeline, &(struct timeline_pressure){{change->domain}, change->t_ns, *now}, err);
    }
    free(now_bytes);
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];
        if (row->bytes > timeline->peak_bytes[row->domain.index])
            timeline->peak_bytes[row->domain.index] = row->bytes;
    }
    return status;
}

static enum weir_status add_holds(struct timeline *timeline, const struct change *changes, size_t n,
                                  const struct recording *recording, int64_t origin_ns,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct recording_object *object = &recording->objects[changes[i].object];
        struct timeline_hold hold = {
            .domain = {object->domain},
            .object = {changes[i].object},
            .node = {object->allocation}, /* an action still: recording_build makes it a node */
            .bytes = object->bytes,
            .acquire_ns = changes[i].t_ns,
            .release_ns = -1,
        };

        if (changes[i].bytes < 0)
            continue;
        if (object->reclamation != RECORDING_NONE)
            hold.release_ns = recording->actions[object->reclamation].finish_ns - origin_ns;
        status = timeline_add_hold(timeline, &hold, err);
    }
    return status;
}

enum weir_status recording_memory(const struct recording *recording, int64_t origin_ns,
                                  struct timeline *timeline, int64_t *worst_bytes,
                                  struct weir_error *err)
{
    struct change *changes = malloc((2 * (size_t)recording->n_objects + 1) * sizeof *changes);
    enum weir_status status;
    size_t n;

    if (changes == NULL)
        return weir_error_memory(err);
    n = list_changes(recording, origin_ns, changes);
    status = add_pressures(timeline, changes, n, worst_bytes, err);
    if (status == WEIR_OK)
        status = add_holds(timeline, changes, n, recording, origin_ns, err);
    free(changes);
    return status;
}
