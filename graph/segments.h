/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts each object into the byte ranges that its aliases can tell apart. */
#ifndef WEIR_GRAPH_SEGMENTS_H
#define WEIR_GRAPH_SEGMENTS_H

#include "graph/graph.h"

/* The segments of the root that an object covers: [first, first + count). */
struct segment_range {
    uint32_t first, count;
};

struct segments {
    struct segment_range
        *ranges; /* by object; NULL when the graph has no alias, as are the roots */
    uint32_t *roots;
};

MUST_CHECK enum weir_status segments_cut(const struct graph *graph, struct segments *out,
                                         struct weir_error *err);
void segments_free(struct segments *segments);
/** As graph_object_root, at once. */
weir_object segments_root(const struct segments *segments, weir_object object);
/** All of a root, part of it for an alias, nothing for an alias of no bytes. */
struct segment_range segments_of(const struct segments *segments, weir_object object);

#endif
