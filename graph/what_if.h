/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What if a node took less, or came later? Changes of a graph that make such a question of it: what it
 * says is changed, and what a cost rests on says so. */
#ifndef WEIR_GRAPH_WHAT_IF_H
#define WEIR_GRAPH_WHAT_IF_H

#include "graph/graph.h"
#include "graph/report.h"

/* Whom a change is for: the one or the other. */
struct what_if_target {
    weir_node node;
    weir_class class_; /* every node of it; see graph_node_class */
};

/** Whom the text names: a node, else a class; after "node:" or "class:" only what that says.
 *  WEIR_USAGE when there is none of that name, with those that are near, and when there are both.
 *  @param nodes_only classes are none of what is asked for */
MUST_CHECK enum weir_status what_if_find(const struct graph *graph, const char *text, size_t length,
                                         bool nodes_only, struct what_if_target *out,
                                         struct weir_error *err);

/** The time so many times longer, to the nearest nanosecond, halves away from zero: of the IEEE
 *  product. @param factor finite, 0 or more  @return false when it passes 64 bits */
bool what_if_scaled_ns(int64_t ns, double factor, int64_t *out);

/** Each node of the target takes that many times as long as the graph says: of a distribution mean and
 *  deviation, or each of its times; of a node that counts bytes the time that its engine takes for
 *  them. With 0 it takes no time, also where nothing says how long it takes; else a length that
 *  nothing says stays unsaid. WEIR_USAGE when a length passes 64 bits, WEIR_MEMORY; the graph is of no
 *  use then. */
MUST_CHECK enum weir_status what_if_scale(struct graph *graph, struct what_if_target target,
                                          double factor, struct weir_error *err);
/** The same for every node of an engine. */
MUST_CHECK enum weir_status what_if_scale_engine(struct graph *graph, weir_engine engine,
                                                 double factor, struct weir_error *err);

struct what_if_delay {
    weir_node node;
    int64_t delay_ns; /* 0 or more; those of one node add up */
};

/** Each of the nodes is ready that much later than what it follows and its release allow: every edge
 *  into it, given or implied (which is written out for that), gets that lag more, and its release, and
 *  that of initial copies it reads, is moved as far. What is put before it later, by a policy, it
 *  follows at once. WEIR_USAGE when a time passes 64 bits, WEIR_INPUT with findings in the report when
 *  the graph does not bind, WEIR_MEMORY; the graph is of no use then. */
MUST_CHECK enum weir_status what_if_delay(struct graph *graph, const struct what_if_delay *delays,
                                          uint32_t n_delays, struct report *report,
                                          struct weir_error *err);

#endif
