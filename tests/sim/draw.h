/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small graphs by seed, most of them legal: views that share bytes, memory seen from afar, conditions that
 * are off, nodes that give way to others, and hardly enough room. */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "tests/sim/judge.h"
#include "tests/sim/pen.h"

enum { DRAW_HBM, DRAW_HOST, DRAW_DOMAINS };

/* An object, or a view of one. */
struct draw_name {
    uint32_t root;
    unsigned mask; /* of the bytes of the root */
};

/* What the graph so far leaves behind, so that most of what is drawn is legal. */
struct drawing {
    struct pen pen;
    struct draw_name names[JUDGE_OBJECTS]; /* roots first */
    int homes[JUDGE_OBJECTS];
    bool is_live[JUDGE_OBJECTS][DRAW_DOMAINS], is_visible[JUDGE_OBJECTS][DRAW_DOMAINS];
    unsigned valid[JUDGE_OBJECTS][DRAW_DOMAINS]; /* bytes */
    uint32_t n_roots, n_names, n_nodes;
    uint32_t last_standby; /* WEIR_NONE: none so far */
    bool is_off;           /* the node at hand: its guard is */
    bool has_fallbacks;
};

/** Draws the graph of that seed; every third has fallbacks. */
void draw(struct drawing *drawing, uint64_t seed);

#endif
