/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the generators share: adding to a graph without a test after every step. The first failure
 * is kept; from then on nothing is added and ids are none, so that one test at the end is enough. */
#ifndef WEIR_GRAPH_GENERATE_INTERNAL_H
#define WEIR_GRAPH_GENERATE_INTERNAL_H

#include "graph/generate.h"

struct build {
    struct graph *graph;
    enum weir_status status;
    struct weir_error *err;
};

/** Shows how far it is, when n_done is a multiple of 2^12. */
void generate_show(const struct generate_progress *progress, uint32_t n_done, uint32_t n_nodes);

struct graph_node generate_node(enum node_kind kind);
struct graph_object generate_object(int64_t size_bytes, weir_domain domain);
/** @param detail may be no text */
struct graph_evidence generate_evidence(enum evidence_kind kind, weir_text detail);

PRINTF_LIKE(2, 3)
weir_text build_text(struct build *build, const char *format, ...);
weir_node build_node(struct build *build, const struct graph_node *node);
weir_object build_object(struct build *build, const struct graph_object *object);
/** From finish to start, without lag or object. */
struct graph_edge generate_edge(weir_node producer, weir_node consumer, enum edge_type type,
                                struct graph_evidence evidence);
void build_edge(struct build *build, const struct graph_edge *edge);
/** The capacity can be set later, with graph_set_domain. */
weir_domain build_domain(struct build *build, const char *name, int64_t capacity_bytes);
weir_engine build_engine(struct build *build, const char *name, const struct graph_engine *engine);

#endif
