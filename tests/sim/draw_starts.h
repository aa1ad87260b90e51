/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs by seed, most of them legal, with everything that may bind a start: edges with lags and from
 * starts, releases, slots, bytes, halves of objects, forbidden overlaps, guards, fallbacks. */
#ifndef TESTS_SIM_DRAW_STARTS_H
#define TESTS_SIM_DRAW_STARTS_H

#include "tests/sim/pen.h"

enum { STARTS_NODES = 64, STARTS_OBJECTS = 12 };

struct starts_drawing {
    struct pen pen;
    uint32_t n_nodes, n_objects;
    bool is_valid[STARTS_OBJECTS];
    uint32_t user[STARTS_OBJECTS]; /* that wrote it last; WEIR_NONE */
};

/** Draws the graph of that seed. */
void draw_starts(struct starts_drawing *drawing, uint64_t seed);

#endif
