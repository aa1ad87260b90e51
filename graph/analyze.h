/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What precedence alone says of a graph: its critical path. */
#ifndef WEIR_GRAPH_ANALYZE_H
#define WEIR_GRAPH_ANALYZE_H

#include "graph/bind.h"

/** The precedence critical path: the greatest sum of lengths and lags along any path of given and
 *  implied edges, which no schedule can beat. Releases are not part of it. A node that is off has
 *  length 0; an edge from a start leaves its producer's length out. WEIR_INPUT when a cost is missing,
 *  WEIR_MEMORY. */
MUST_CHECK enum weir_status analyze_critical_path(const struct binding *binding,
                                                  int64_t *critical_path_ns,
                                                  struct weir_error *err);

#endif
