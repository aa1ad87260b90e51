/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is legal and yet wrong for those who rely on it: recomputation that does not give the same,
 * copies that nobody asked for, windows that cannot be kept, order that costs more than it needs,
 * evidence that does not carry. None of it is an error: a graph with such findings still runs. */
#ifndef WEIR_GRAPH_AUDIT_H
#define WEIR_GRAPH_AUDIT_H

#include "graph/bind.h"

/** Of each code the first AUDIT_SHOWN findings are reported, and then how many more there are. */
#define AUDIT_SHOWN 20

/** Adds what it finds of a legal graph to the report. WEIR_MEMORY. */
MUST_CHECK enum weir_status audit_graph(const struct binding *binding, struct report *report,
                                        struct weir_error *err);

#endif
