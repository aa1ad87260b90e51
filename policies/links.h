/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for whom, as a view tells it, in arrays that can be walked again and again. */
#ifndef WEIR_POLICIES_LINKS_H
#define WEIR_POLICIES_LINKS_H

#include "base/attributes.h"
#include "policies/policy.h"

struct links {
    uint32_t n_nodes;
    uint32_t *first;         /* of node i: items[first[i]] up to items[first[i + 1]] */
    struct weir_link *items; /* as the view gives them: a node may come twice, with other lags */
    uint32_t *order;         /* the nodes, each before those that wait for it */
    uint32_t *place;         /* by node: where it stands in order */
};

/** In the setup's memory. The policy must have needs_order. */
MUST_CHECK enum weir_status links_make(struct weir_setup *setup, const struct weir_view *view,
                                       struct links *out, struct weir_error *err);
/** By node: how many others wait for it, directly or by way of others.
 *  @param n_after n_nodes of them. Takes time as the square of the nodes: a second for 2 * 10^5 */
MUST_CHECK enum weir_status links_count(struct weir_setup *setup, const struct links *links,
                                        int64_t *n_after, struct weir_error *err);
/** The same, but adds up the weights of those nodes, none below 0; INT64_MAX when they pass 64
 *  bits. */
MUST_CHECK enum weir_status links_sum(struct weir_setup *setup, const struct links *links,
                                      const int64_t *weights, int64_t *sums,
                                      struct weir_error *err);
/** The sum; INT64_MAX where it passes 64 bits. */
int64_t links_add(int64_t a, int64_t b);

#endif
