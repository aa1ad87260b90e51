/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of the benchmarks: layers of nodes, even ones compute on one of 4 engines, odd ones copy
 * on one of 2; each node has 2 or 3 predecessors in the layer before. The same draws give the plain
 * arrays that the floor program runs and the graph that Weir simulates. */
#ifndef TESTS_BENCH_LAYERS_H
#define TESTS_BENCH_LAYERS_H

#include <stdint.h>

#include "graph/graph.h"

enum { LAYERS_ENGINES = 6, LAYERS_COMPUTE = 4 };

struct layers {
    uint32_t n_nodes, n_edges, width;
    uint8_t *engine;      /* by node */
    uint8_t *n_before;    /* by node */
    int64_t *length_ns;   /* by node */
    uint32_t *first_next; /* by node, n_nodes + 1 */
    uint32_t *next;
    uint32_t *before; /* 3 by node */
};

/** Draws the graph; exits when memory runs out. */
struct layers layers_make(uint32_t n_nodes, uint32_t width, uint64_t seed);
void layers_free(struct layers *layers);

struct layers_options {
    bool has_bytes;         /* each node writes an object that its successors read */
    int64_t capacity_bytes; /* of the one domain */
    int64_t slots;          /* of each engine */
    bool has_kappas;        /* a factor for each pair of classes */
};

/** The graph of those layers; exits when something fails. */
struct graph *layers_graph(const struct layers *layers, const struct layers_options *options);

/** The least work: first come first served on each engine with that many slots, nothing recorded but
 *  starts and finishes. @return the makespan */
int64_t floor_run(const struct layers *layers, int64_t slots, int64_t *start_ns,
                  int64_t *finish_ns);
/** CPU time a node of that: the median of an odd number of rounds. */
double floor_ns(const struct layers *layers, int64_t slots, int n_rounds, int64_t *makespan_ns);
/** CPU time of this process. */
int64_t cpu_clock_ns(void);

#endif
