/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fitted models of contention that a machine says, by `param` lines:
 *
 *     param measured FAMILY ERROR           pairwise, share or roofline: its error on sets that the fit
 *                                           never saw
 *     param measured.rank FAMILY RANK       its place in the order of choice: the least is used; one
 *                                           without it comes after all that have it; of equal ones that
 *                                           of least error, and of these the first in the order above
 *     param share.demand.RES CLASS RATE     what a node of the class asks of the resource alone, unless
 *                                           it says `uses` itself
 *     param share.eta RES ETA               the part of its capacity that a resource gives to several (1)
 *     param roofline.demand.RES CLASS RATE  the same, as the other family found it
 *     param roofline.eta RES ETA
 *     param roofline p P                    the power
 */
#ifndef WEIR_GRAPH_MEASURED_H
#define WEIR_GRAPH_MEASURED_H

#include "graph/graph.h"

enum measured_family { MEASURED_NONE, MEASURED_PAIRWISE, MEASURED_SHARE, MEASURED_ROOFLINE };

/* The power of a roofline is a whole number of quarters, so that square roots, which every machine
 * rounds alike, are enough for it. */
#define MEASURED_QUARTERS 4
#define MEASURED_LEAST_POWER 1
#define MEASURED_MOST_POWER 16
#define MEASURED_LEAST_ETA 0.01
#define MEASURED_MOST_ETA 100

/** The family that is used, without a look at the rest; MEASURED_NONE: none is said. */
enum measured_family measured_family(const struct graph *graph);
const char *measured_family_name(enum measured_family family);

struct measured {
    enum measured_family family;
    uint32_t n_resources;
    uint32_t power_quarters; /* of a roofline: the power times MEASURED_QUARTERS */
    double *eta;             /* by resource, of the family that is used */
    int64_t *rates_per_s;    /* by class and resource: [class * n_resources + resource] */
};

/** Reads what the family that is used needs. WEIR_INPUT when none is said, or a line makes no sense.
 *  The caller frees with measured_free. */
MUST_CHECK enum weir_status measured_read(const struct graph *graph, struct measured *out,
                                          struct weir_error *err);
void measured_free(struct measured *measured);

/** What the node asks of each resource alone: of `uses`, else of its class.
 *  @param rates_per_s room for n_resources */
void measured_rates(const struct measured *measured, const struct graph *graph, weir_node node,
                    int64_t *rates_per_s);
/** Do both ask for some resource? By the lines alone, without a look whether they make sense. */
bool measured_meet(const struct graph *graph, weir_node a, weir_node b);
/** What several together get of a resource: eta times its capacity, rounded down; 1 or more. */
int64_t measured_limit(const struct measured *measured, const struct graph *graph,
                       weir_resource resource);

#endif
