/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two writers of statements share: the one that goes by the tables of fields and can write
 * all of them, and the one for what nearly every statement of a large graph is. */
#ifndef WEIR_GRAPH_WRITE_INTERNAL_H
#define WEIR_GRAPH_WRITE_INTERNAL_H

#include "graph/graph_internal.h"
#include "graph/sink.h"

#define EVIDENCE_KEPT_BYTES ((size_t)512)

/* A graph on its way out. */
struct output {
    struct sink *sink;
    const struct graph *graph;
    /* How the evidence was written last: mostly the next has the same. Of the first, which is none,
     * that is nothing. */
    uint32_t evidence;
    size_t evidence_length;
    char evidence_text[EVIDENCE_KEPT_BYTES];
};

/** The fields of evidence, which end every statement. */
void write_evidence_of(const struct output *out, const struct graph_evidence *evidence);

/* Each writes the statement of the row as the tables would, or gives back false and has written
 * nothing: it has more than the common fields. */
bool quick_object(struct output *out, const struct object_row *row);
bool quick_node(struct output *out, const struct node_row *row);
void quick_edge(struct output *out, const struct edge_row *row);

#endif
