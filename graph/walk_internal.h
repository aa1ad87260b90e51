/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the walk in program order, and what its parts do for each other.
 *
 * A place is an object in a domain: at most one copy lives there at a time. Each place has a state
 * for each segment of its object. */
#ifndef WEIR_GRAPH_WALK_INTERNAL_H
#define WEIR_GRAPH_WALK_INTERNAL_H

#include "graph/bind_internal.h"
#include "graph/graph_internal.h"
#include "graph/segments.h"

#define NONE WEIR_NONE

/* Nodes that read a segment since its last change: a list in a pool. */
struct reader {
    uint32_t node, next;
};

struct segment {
    uint32_t last_change; /* the node; NONE since the copy began */
    uint32_t readers;     /* first of the list; NONE */
    uint32_t mapping;     /* the last node that mapped a home copy into this domain; NONE */
    uint32_t version;     /* of the bytes here: stale unless it is that of the object; 0: none */
};

struct place {
    uint32_t domain;
    uint32_t next;         /* place of the same root; NONE */
    uint32_t copy;         /* the live one; NONE */
    uint32_t last_reclaim; /* the node that ended the copy before; NONE */
    uint32_t segments;     /* index of its first segment */
};

struct walk {
    struct binding *binding;
    const struct graph *graph;
    struct report *report;
    struct weir_error *err;
    bool keeps_all; /* every hazard, not only those that no others imply */

    struct segments cut;
    uint32_t *place_of;      /* first place by root object; NONE */
    uint32_t *first_segment; /* by root, n_objects + 1; NULL when each has one, as many as itself */
    uint32_t *versions;      /* by segment of an object: how many writes there were, plus one */
    struct keys *far_places; /* by (root, domain), of objects with places in many; NULL at first */

    struct place *places;
    size_t places_room;
    uint32_t n_places;
    struct segment *segments;
    size_t segments_room;
    uint32_t n_segments_used;
    struct reader *readers;
    size_t readers_room;
    uint32_t n_readers, free_reader;

    uint32_t *touch_of_copy; /* the copy's newest touch */
    size_t touch_of_copy_room;
    uint32_t *linked; /* by producer: the consumer of its newest edge, plus one */

    weir_node node; /* at work */
    const struct node_row *row;
    weir_domain domain; /* where it works */
    uint32_t first_touch;
};

/* What an access covers: segments of its root. */
struct span {
    weir_object object, root;
    struct segment_range range;
};

static inline struct segment *walk_segment(const struct walk *walk, const struct place *place,
                                           uint32_t index)
{
    return &walk->segments[place->segments + index];
}

static inline struct span walk_span_of(const struct walk *walk, weir_object object)
{
    if (walk->cut.ranges == NULL) {
        return (struct span){object, object, {0, 1}};
    }
    return (struct span){object, segments_root(&walk->cut, object),
                         segments_of(&walk->cut, object)};
}

static inline weir_domain walk_home(const struct walk *walk, weir_object root)
{
    uint32_t domain = walk->graph->objects[root.index].domain;

    return (weir_domain){domain == NONE && walk->graph->n_domains > 0 ? 0 : domain};
}

static inline uint32_t walk_segments_in(const struct walk *walk, weir_object root)
{
    const uint32_t *first = walk->first_segment;

    return first == NULL ? 1 : first[root.index + 1] - first[root.index];
}

/** The version that valid bytes of that segment of the root have. */
static inline uint32_t *walk_version(const struct walk *walk, weir_object root, uint32_t index)
{
    const uint32_t *first = walk->first_segment;

    return &walk->versions[first == NULL ? root.index : first[root.index] + index];
}

/* --- places and what they hold: walk_places.c --- */
const char *walk_domain_text(const struct walk *walk, weir_domain domain);
/** Reports a misuse of an object by the node at work. */
void walk_complain(struct walk *walk, enum finding_code code, weir_object object,
                   weir_domain domain, const char *what);
/** NULL when nothing has touched it. */
struct place *walk_find_place(const struct walk *walk, weir_object root, weir_domain domain);
/** NULL when no copy lives there. */
struct place *walk_live_place(const struct walk *walk, weir_object root, weir_domain domain);
/** Finds or makes the place; *index is its number, since a later call may move it. */
MUST_CHECK enum weir_status walk_make_place(struct walk *walk, weir_object root, weir_domain domain,
                                            uint32_t *index);
void walk_drop_readers(struct walk *walk, struct segment *at);
MUST_CHECK enum weir_status walk_add_reader(struct walk *walk, const struct place *place,
                                            uint32_t index);
MUST_CHECK enum weir_status walk_begin_copy(struct walk *walk, weir_object root,
                                            uint32_t place_index, weir_node allocation,
                                            bool is_initial);
/** Records that the node at work touches the copy. */
MUST_CHECK enum weir_status walk_touch(struct walk *walk, uint32_t copy, uint32_t role);
/** The node at work must follow the producer (NONE: nothing to follow). */
MUST_CHECK enum weir_status walk_follow(struct walk *walk, uint32_t producer, uint32_t copy,
                                        enum edge_type type);
MUST_CHECK enum weir_status walk_follow_readers(struct walk *walk, const struct segment *at,
                                                uint32_t copy, enum edge_type type);
/** Has any node but the one at work read the segment since its last change? */
bool walk_has_other_reader(const struct walk *walk, const struct segment *at);

/** Notes the uses of the copy that lives there which no other use follows so far. */
MUST_CHECK enum weir_status walk_add_lasts(struct walk *walk, const struct place *place);

/* --- reading and filling: walk_access.c --- */
bool walk_is_valid(const struct walk *walk, const struct place *place, const struct span *span);
/** Some bytes are not valid: were they valid once, or did nothing ever write them? */
enum finding_code walk_why_invalid(const struct walk *walk, const struct place *place,
                                   const struct span *span);
/** The node at work reads the segments of the live copy at that place. */
MUST_CHECK enum weir_status walk_use_as_reader(struct walk *walk, const struct place *place,
                                               struct segment_range range);
MUST_CHECK enum weir_status walk_read_object(struct walk *walk, const struct graph_access *access);
/** The node at work changes the object's bytes in the domain, whose copy begins when there is none.
 *  @param is_write the new bytes differ from those of the other copies */
MUST_CHECK enum weir_status walk_fill_object(struct walk *walk, weir_object object,
                                             weir_domain domain, bool is_write);

/* --- what each kind of node does: walk_visit.c --- */
MUST_CHECK enum weir_status walk_visit(struct walk *walk);

#endif
