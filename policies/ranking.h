/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From one number a node to a rank a node. */
#ifndef WEIR_POLICIES_RANKING_H
#define WEIR_POLICIES_RANKING_H

#include "base/attributes.h"
#include "policies/policy.h"

/** Ranks from 0: the least key first, of equal ones the earlier in program order; so no two nodes
 *  have the same. @param rank by node, to be filled */
MUST_CHECK enum weir_status ranking_make(struct weir_setup *setup, uint32_t n_nodes,
                                         const int64_t *keys, uint32_t *rank,
                                         struct weir_error *err);
/** Gives every node the priority that its rank makes: n_nodes for the first, 1 for the last. */
MUST_CHECK enum weir_status ranking_set(const struct weir_view *view, struct weir_draft *draft,
                                        const uint32_t *rank, const char *reason,
                                        struct weir_error *err);

#endif
