/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir analyze has found, and the two ways to tell it. */
#ifndef WEIR_CMD_ANALYZE_INTERNAL_H
#define WEIR_CMD_ANALYZE_INTERNAL_H

#include "cmd/cmd.h"
#include "graph/analyze.h"

struct analyzed {
    const struct graph *graph;
    struct binding *binding;
    struct analysis analysis;
    struct analyze_slow slow;
    struct analyze_bounds bounds;
    struct analyze_progress progress;
    struct analyze_life *lives; /* by copy */
    weir_node *path;            /* the critical path */
    uint32_t n_path;
    int64_t critical_path_ns;
    uint32_t *largest; /* copies, most bytes first */
    uint32_t limit;    /* of rows in lists */

    weir_node node; /* --node; none */

    weir_node first, second;  /* --from, --to; none */
    bool is_before, is_after; /* the first before the second, after it */
    weir_node *order_path;    /* that shows it; NULL when there is none */
    uint32_t n_order_path;

    const struct run *run; /* --run; NULL */
    uint32_t n_waits;      /* of the run */
    weir_node *circle;     /* NULL: none */
    uint32_t n_circle;
};

/** What is before and behind a node that is asked for goes into the answer too. */
void analyze_print(const struct analyzed *analyzed);
void analyze_json(const struct analyzed *analyzed);

/** "wait", "fail", the node that stands in, or "none". */
const char *analyze_fallback(const struct graph *graph, weir_node node);
/** "forward" of a node, "-" of none. */
const char *analyze_name(const struct analyzed *analyzed, weir_node node);
const char *analyze_domain_name(const struct analyzed *analyzed, weir_domain domain);
const char *analyze_verdict_name(enum analyze_verdict verdict);

#endif
