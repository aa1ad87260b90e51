/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor: the least that any event simulation of the graph must do. One queue an engine, one heap
 * of ends by (time, node); it knows no bytes, waits, causes, priorities, or errors. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/layers.h"
#include "tests/bench/rounds.h"

struct floor {
    const struct layers *layers;
    struct {
        int64_t time_ns;
        uint32_t node;
    } * heap;
    uint32_t n_heap;
    uint32_t *queue[LAYERS_ENGINES];
    uint32_t head[LAYERS_ENGINES], tail[LAYERS_ENGINES];
    int64_t free_slots[LAYERS_ENGINES];
    uint8_t *left;
    int64_t *start_ns;
};

static void begin(struct floor *floor, uint32_t node, int64_t now_ns)
{
    int64_t end_ns = now_ns + floor->layers->length_ns[node];
    uint32_t at = floor->n_heap++;

    floor->start_ns[node] = now_ns;
    while (at > 0 && floor->heap[(at - 1) / 4].time_ns > end_ns) {
        floor->heap[at] = floor->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    floor->heap[at].time_ns = end_ns;
    floor->heap[at].node = node;
}

static uint32_t end_first(struct floor *floor, int64_t *now_ns)
{
    uint32_t node = floor->heap[0].node, last = --floor->n_heap, at = 0;

    *now_ns = floor->heap[0].time_ns;
    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= last) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < last; i++) {
            best = floor->heap[i].time_ns < floor->heap[best].time_ns ? i : best;
        }
        if (floor->heap[best].time_ns >= floor->heap[last].time_ns) {
            break;
        }
        floor->heap[at] = floor->heap[best];
        at = best;
    }
    floor->heap[at] = floor->heap[last];
    return node;
}

static void make_ready(struct floor *floor, uint32_t node, int64_t now_ns)
{
    uint8_t engine = floor->layers->engine[node];

    if (floor->free_slots[engine] > 0) {
        floor->free_slots[engine]--;
        begin(floor, node, now_ns);
    } else {
        floor->queue[engine][floor->tail[engine]++] = node;
    }
}

int64_t floor_run(const struct layers *layers, int64_t slots, int64_t *start_ns, int64_t *finish_ns)
{
    struct floor floor = {.layers = layers, .start_ns = start_ns};
    int64_t now_ns = 0;

    floor.heap = calloc((size_t)layers->n_nodes + 1, sizeof *floor.heap);
    floor.left = malloc((size_t)layers->n_nodes + 1);
    memcpy(floor.left, layers->n_before, layers->n_nodes);
    for (int i = 0; i < LAYERS_ENGINES; i++) {
        floor.queue[i] = malloc(((size_t)layers->n_nodes + 1) * sizeof *floor.queue[i]);
        floor.free_slots[i] = slots;
    }
    for (uint32_t i = 0; i < layers->n_nodes && layers->n_before[i] == 0; i++) {
        make_ready(&floor, i, 0);
    }
    while (floor.n_heap > 0) {
        uint32_t node = end_first(&floor, &now_ns);
        uint8_t engine = layers->engine[node];

        finish_ns[node] = now_ns;
        if (floor.head[engine] < floor.tail[engine]) {
            begin(&floor, floor.queue[engine][floor.head[engine]++], now_ns);
        } else {
            floor.free_slots[engine]++;
        }
        for (uint32_t i = layers->first_next[node]; i < layers->first_next[node + 1]; i++) {
            if (--floor.left[layers->next[i]] == 0) {
                make_ready(&floor, layers->next[i], now_ns);
            }
        }
    }
    for (int i = 0; i < LAYERS_ENGINES; i++) {
        free(floor.queue[i]);
    }
    free(floor.heap);
    free(floor.left);
    return now_ns;
}

double floor_ns(const struct layers *layers, int64_t slots, int n_rounds, int64_t *makespan_ns)
{
    int64_t *start_ns = need(layers->n_nodes, sizeof *start_ns);
    int64_t *finish_ns = need(layers->n_nodes, sizeof *finish_ns);
    double *rounds = need((size_t)n_rounds, sizeof *rounds), middle;

    for (int i = 0; i < n_rounds; i++) {
        int64_t begin_ns = cpu_clock_ns();

        *makespan_ns = floor_run(layers, slots, start_ns, finish_ns);
        rounds[i] = (double)(cpu_clock_ns() - begin_ns) / layers->n_nodes;
    }
    middle = median(rounds, n_rounds);
    free(rounds);
    free(start_ns);
    free(finish_ns);
    return middle;
}
