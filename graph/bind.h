/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What program order makes of a graph: which copy each access means, how long each copy lives,
 * which order the hazards imply, and whether any of it is wrong. */
#ifndef WEIR_GRAPH_BIND_H
#define WEIR_GRAPH_BIND_H

#include "graph/graph.h"
#include "graph/report.h"

/* A copy: the bytes of one object in one domain, from one beginning to one end. An object that is
 * reclaimed and filled again has two copies there, one after the other. */
typedef struct {
    uint32_t index;
} weir_copy;

struct bind_copy {
    weir_object object; /* the root: never an alias */
    weir_domain domain;
    int64_t bytes;         /* charged: the size, rounded up to the domain's granule */
    weir_node allocation;  /* none when it begins with its first filler or at 0 */
    weir_node reclamation; /* none when it ends with its last use or stays */
    uint32_t n_uses;       /* distinct nodes that use it */
    uint32_t n_holds;      /* distinct nodes that hold it and do not use it */
    bool is_initial;       /* live at 0 */
    bool stays;            /* without a reclamation, to the end of the run */
    uint32_t last_use;     /* for bind_last_use */
};

/* What a node does to a copy. */
enum bind_role {
    BIND_READS = 1,     /* reads it, maps it, or copies out of it */
    BIND_FILLS = 2,     /* writes it or copies into it */
    BIND_ALLOCATES = 4, /* begins it */
    BIND_RECLAIMS = 8,  /* ends it */
    BIND_HOLDS = 16     /* keeps it alive, by a lifetime-hold edge */
};

/* One for each pair of a node and a copy that it touches, roles or'ed. */
struct bind_touch {
    weir_copy copy;
    uint32_t roles;
};

/* A hazard that is an edge: finish to start, no lag. */
struct bind_edge {
    weir_node producer, consumer;
    weir_copy copy;
    enum edge_type type;
};

struct binding;

/** Binds. What is wrong goes to @p report, as do the races of a graph with implied=none, and
 *  cycles of given and implied edges together. WEIR_INPUT when the report holds an error.
 *  The graph must outlive the binding and not change. */
MUST_CHECK enum weir_status bind_graph(const struct graph *graph, struct report *report,
                                       struct binding **out, struct weir_error *err);
void bind_free(struct binding *binding);

/** Reports what would be wrong with contents and lifetimes if the nodes of @p is_out (by id) did not
 *  run. Order is not looked at. WEIR_OK whatever is found; WEIR_MEMORY. */
MUST_CHECK enum weir_status bind_without(const struct graph *graph, const bool *is_out,
                                         struct report *report, struct weir_error *err);

uint32_t bind_n_copies(const struct binding *);
const struct bind_copy *bind_copy(const struct binding *, weir_copy);
/** What the node touches, in the order in which it does; copies it only holds come last. */
const struct bind_touch *bind_touches(const struct binding *, weir_node, uint32_t *n_touches);
/** Walks the uses of a copy that no other use follows: when all of them have finished, so has every
 *  use. Of a copy without a reclamation also the nodes that hold it: it has ended then. Start with
 *  *cursor = 0; a node may come twice.
 *  @return false when there are no more */
bool bind_last_use(const struct binding *, weir_copy, uint32_t *cursor, weir_node *node);
/** The implied edges; none with implied=none. */
uint32_t bind_n_edges(const struct binding *);
const struct bind_edge *bind_edges(const struct binding *);
/** When the node may be ready by the `ready` of the initial copies it reads; 0 when at once. */
int64_t bind_ready_ns(const struct binding *, weir_node);
/** The node at a position of an order that respects every edge, given and implied. */
weir_node bind_order(const struct binding *, uint32_t position);
const struct graph *bind_of(const struct binding *);

/** Writes the graph with every implied edge written out and implied=none into *out, a new graph
 *  that the caller owns: it gives the same timeline. */
MUST_CHECK enum weir_status bind_expand(const struct binding *binding, struct graph **out,
                                        struct weir_error *err);

#endif
