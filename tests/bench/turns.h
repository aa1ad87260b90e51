/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph of nodes that are all ready, that all have a slot, and of which no two may overlap. */
#ifndef TESTS_BENCH_TURNS_H
#define TESTS_BENCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct turns_options {
    uint32_t n_engines; /* each is a class; all pairs of them are forbidden */
    bool has_bytes;     /* each node writes an object; there is room for all */
};

/** The graph; exits when something fails. */
struct graph *turns_graph(uint32_t n_nodes, const struct turns_options *options);

#endif
