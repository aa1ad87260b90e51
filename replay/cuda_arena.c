/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A planned arena: buffers share places where the order of the streams keeps those that used a place
 * before apart from those that use it then. That order is what the steps wait for, and nothing else:
 * sharing places makes nobody wait. */
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_internal.h"
#include "replay/reuse.h"

/* When a buffer is touched, by the order of steps. */
struct life {
    uint32_t first, last; /* steps; WEIR_NONE: none */
};

struct planning {
    const struct cuda *cuda;
    struct reuse reuse;
    struct life *lives;     /* by buffer */
    uint32_t *known;        /* by step and queue: points passed before it begins */
    uint32_t *born, *after; /* by buffer and queue: known to all who touch it; behind all of them */
    uint32_t *births, *deaths; /* buffers in the order of their first and last steps */
    uint32_t n_births, n_deaths;
};

static uint32_t *row(const struct planning *p, uint32_t *table, uint32_t index)
{
    return table + (size_t)index * p->cuda->setup.n_queues;
}

static void raise(uint32_t *at, uint32_t point)
{
    *at = *at < point ? point : *at;
}

/* ---- what a step knows to be over ---- */

/* A point that has been passed, and all that its step knew. */
static void learn(const struct planning *p, uint32_t *known, uint32_t queue, uint32_t point)
{
    const uint32_t *told;

    if (queue == STEP_NO_QUEUE || point == 0)
        return;
    told = row(p, p->known, p->cuda->queues[queue].steps[(point - 1) / 2]);
    for (uint32_t q = 0; q < p->cuda->setup.n_queues; q++)
        raise(&known[q], told[q]);
    raise(&known[queue], point);
}

static void learn_all(const struct planning *p)
{
    const struct cuda *cuda = p->cuda;

    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        const struct cuda_step *step = &cuda->steps[i];
        uint32_t *known = row(p, p->known, i);

        if (step->given.queue == STEP_NO_QUEUE)
            continue;
        learn(p, known, step->given.queue, 2 * step->position);
        for (uint32_t q = 0; q < cuda->setup.n_queues; q++)
            learn(p, known, q, step->requires.points[q]);
        for (uint32_t d = 0; d < step->requires.n_delays; d++)
            learn(p, known, step->requires.delays[d].queue, step->requires.delays[d].point);
    }
}

/* ---- lives ---- */

/* The buffer is touched by a step of a stream: whoever had its place before must be over by then. */
static void begin_by(const struct planning *p, uint32_t b, uint32_t index)
{
    const uint32_t *known = row(p, p->known, index);
    uint32_t *born = row(p, p->born, b);

    if (p->lives[b].first == WEIR_NONE)
        p->lives[b].first = index;
    for (uint32_t q = 0; q < p->cuda->setup.n_queues; q++)
        born[q] = born[q] < known[q] ? born[q] : known[q];
}

/* It lives until the step, or without a stream what that waits for, is over. */
static void end_by(const struct planning *p, uint32_t b, uint32_t index)
{
    const struct cuda_step *step = &p->cuda->steps[index];
    uint32_t *after = row(p, p->after, b);

    p->lives[b].last = index;
    if (step->given.queue != STEP_NO_QUEUE) {
        raise(&after[step->given.queue], 2 * step->position + 2);
        return;
    }
    for (uint32_t q = 0; q < p->cuda->setup.n_queues; q++)
        raise(&after[q], step->requires.points[q]);
    for (uint32_t d = 0; d < step->requires.n_delays; d++) {
        const struct cuda_delay *delay = &step->requires.delays[d];

        if (delay->queue != STEP_NO_QUEUE)
            raise(&after[delay->queue], delay->point);
    }
}

static void touch(const struct planning *p, const struct step_buffer *list, uint32_t n,
                  uint32_t index)
{
    const struct step *step = &p->cuda->steps[index].given;

    for (uint32_t i = 0; i < n; i++) {
        if (step->queue != STEP_NO_QUEUE && step->action != STEP_RECLAIM)
            begin_by(p, list[i].buffer, index);
        end_by(p, list[i].buffer, index);
    }
}

static void find_lives(const struct planning *p)
{
    const struct device_setup *setup = &p->cuda->setup;

    memset(p->born, 0xff, (size_t)setup->n_buffers * setup->n_queues * sizeof *p->born);
    for (uint32_t b = 0; b < setup->n_buffers; b++)
        p->lives[b] = (struct life){WEIR_NONE, WEIR_NONE};
    for (uint32_t i = 0; i < p->cuda->n_submitted; i++) {
        const struct step *step = &p->cuda->steps[i].given;

        touch(p, step->reads, step->n_reads, i);
        touch(p, step->writes, step->n_writes, i);
        for (uint32_t u = 0; u < step->n_uses; u++)
            end_by(p, step->uses[u], i);
    }
    for (uint32_t b = 0; b < setup->n_buffers; b++) {
        if (setup->buffers[b].is_initial) {
            p->lives[b].first = 0;
            memset(row(p, p->born, b), 0, setup->n_queues * sizeof *p->born);
        }
    }
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts a list of buffers by a step of theirs, which is in the upper half of its key. */
static void sort_keys(uint64_t *keys, uint32_t n, uint32_t *out)
{
    if (n > 1)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint32_t)keys[i];
}

static bool ends(const struct device_buffer *buffer)
{
    return buffer->n_uses > 0 || buffer->reclaim_step != WEIR_NONE;
}

/* Those of one memory that anybody touches. */
static void sort_lives(struct planning *p, bool is_host_memory, uint64_t *keys)
{
    const struct device_setup *setup = &p->cuda->setup;
    uint32_t n = 0;

    for (uint32_t b = 0; b < setup->n_buffers; b++) {
        if (setup->buffers[b].is_host_memory == is_host_memory && p->lives[b].first != WEIR_NONE)
            keys[n++] = (uint64_t)p->lives[b].first << 32 | b;
    }
    p->n_births = n;
    sort_keys(keys, n, p->births);
    n = 0;
    for (uint32_t i = 0; i < p->n_births; i++) {
        uint32_t b = p->births[i];

        if (ends(&setup->buffers[b]) && p->lives[b].last != WEIR_NONE)
            keys[n++] = (uint64_t)p->lives[b].last << 32 | b;
    }
    p->n_deaths = n;
    sort_keys(keys, n, p->deaths);
}

/* ---- places ---- */

static enum weir_status place(struct planning *p, int64_t *offsets, struct weir_error *err)
{
    const struct device_buffer *buffers = p->cuda->setup.buffers;
    enum weir_status status = WEIR_OK;
    uint32_t dead = 0;

    for (uint32_t i = 0; i < p->n_births && status == WEIR_OK; i++) {
        uint32_t b = p->births[i];

        for (; dead < p->n_deaths && p->lives[p->deaths[dead]].last < p->lives[b].first &&
               status == WEIR_OK;
             dead++) {
            uint32_t d = p->deaths[dead];

            status = reuse_give(&p->reuse, offsets[d], cuda_place_bytes(&buffers[d]),
                                row(p, p->after, d), err);
        }
        if (status == WEIR_OK)
            status =
                reuse_take(&p->reuse, cuda_place_bytes(&buffers[b]), cuda_place_align(&buffers[b]),
                           row(p, p->born, b), &offsets[b], err);
    }
    return status;
}

static enum weir_status make_tables(struct planning *p, struct weir_error *err)
{
    const struct device_setup *setup = &p->cuda->setup;
    size_t n_buffers = (size_t)setup->n_buffers + 1, n_queues = (size_t)setup->n_queues + 1;

    p->lives = malloc(n_buffers * sizeof *p->lives);
    p->known = calloc(((size_t)p->cuda->n_submitted + 1) * n_queues, sizeof *p->known);
    p->born = malloc(n_buffers * n_queues * sizeof *p->born);
    p->after = calloc(n_buffers * n_queues, sizeof *p->after);
    p->births = malloc(n_buffers * sizeof *p->births);
    p->deaths = malloc(n_buffers * sizeof *p->deaths);
    return p->lives == NULL || p->known == NULL || p->born == NULL || p->after == NULL ||
                   p->births == NULL || p->deaths == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

enum weir_status cuda_arena_plan(const struct cuda *cuda, bool is_host_memory, int64_t *offsets,
                                 int64_t *extent_bytes, struct weir_error *err)
{
    struct planning p = {.cuda = cuda};
    uint64_t *keys = malloc(((size_t)cuda->setup.n_buffers + 1) * sizeof *keys);
    enum weir_status status = make_tables(&p, err);

    if (keys == NULL)
        status = weir_error_memory(err);
    reuse_begin(&p.reuse, cuda->setup.n_queues);
    if (status == WEIR_OK) {
        for (uint32_t b = 0; b < cuda->setup.n_buffers; b++)
            offsets[b] = -1;
        learn_all(&p);
        find_lives(&p);
        sort_lives(&p, is_host_memory, keys);
        status = place(&p, offsets, err);
    }
    *extent_bytes = p.reuse.extent_bytes;
    reuse_end(&p.reuse);
    free(keys);
    free(p.lives);
    free(p.known);
    free(p.born);
    free(p.after);
    free(p.births);
    free(p.deaths);
    return status;
}
