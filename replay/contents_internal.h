/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a plan's bytes, which tags and buffers share. */
#ifndef WEIR_REPLAY_CONTENTS_INTERNAL_H
#define WEIR_REPLAY_CONTENTS_INTERNAL_H

#include "replay/contents.h"

/* Stretches first to first + count - 1 of a copy, with a tag each from tags on. */
struct access {
    uint32_t copy;
    uint32_t first, count;
    uint32_t is_write;
    size_t tags;
};

struct contents {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *plan;
    /* By object, for roots: its stretches begin at [first_stretch], each at at_bytes in the object. */
    size_t *first_stretch; /* n_objects + 1 */
    int64_t *at_bytes;     /* of stretch s of root r: [first_stretch[r] + r + s], and the end */
    struct step_buffer *stretches; /* laid out, with the tags of initial copies */
    size_t *first_tag;             /* by copy: its tags now, while they are worked out */
    size_t *first_access;          /* by node, n_nodes + 1; copied ones first, source then target */
    struct access *accesses;
    size_t n_accesses, accesses_room;
    uint64_t *tags;
    size_t n_tags, tags_room;
    uint32_t *first_use; /* by node, n_nodes + 1 */
    uint32_t *uses;      /* copies that may end with the node */
};

/** How many stretches a root has. */
uint32_t contents_n_stretches(const struct contents *contents, weir_object root);
/** Where they begin in the object, and where the last ends. */
int64_t *contents_positions(const struct contents *contents, weir_object root);
/** As bind_last_use, of copies that end by their last use; none of others. */
bool contents_last_use(const struct contents *contents, weir_copy copy, uint32_t *at,
                       weir_node *node);
/** The tag of a stretch before anything ran. */
uint64_t contents_initial_tag(weir_object root, uint32_t stretch);

#endif
