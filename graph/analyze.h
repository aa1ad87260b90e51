/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What precedence alone says of a graph: earliest times and the critical path. */
#ifndef WEIR_GRAPH_ANALYZE_H
#define WEIR_GRAPH_ANALYZE_H

#include "graph/bind.h"

/** The precedence bound: the greatest sum of releases, lengths and lags along any path of given and
 *  implied edges, which no schedule can beat. A node that is off has length 0.
 *  WEIR_INPUT when a cost is missing, WEIR_MEMORY. */
MUST_CHECK enum weir_status analyze_critical_path(const struct binding *binding,
                                                  int64_t *critical_path_ns,
                                                  struct weir_error *err);

#endif
