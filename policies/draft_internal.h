/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan in the making: the policy's state and parameters, and the edits it asks for. */
#ifndef WEIR_POLICIES_DRAFT_INTERNAL_H
#define WEIR_POLICIES_DRAFT_INTERNAL_H

#include "base/arena.h"
#include "base/random.h"
#include "policies/draft.h"

struct edit_priority {
    weir_node node;
    int64_t priority;
};

struct edit_ordering {
    weir_node producer, consumer;
    int64_t lag_ns;
};

/* A node put before another in program order (none: at the end). */
struct edit_node {
    uint32_t before; /* a node of the graph given, or its number of nodes: at the end */
    uint32_t number; /* the how-manieth insertion */
    const char *statement;
};

struct plan {
    const struct graph *given;
    struct graph *made; /* NULL: the plan is the graph given */
    struct binding *binding;
    struct plan_order *order; /* of the graph given; NULL when the policy needs none */
    const struct timeline *recording;
    const struct weir_policy *policy;
    void *state;
    bool has_begun;
    double *values; /* of the policy's parameters, in their order */
    struct random_stream random;
    struct arena arena;
    struct weir_setup setup;

    struct plan_edit *edits;
    size_t edits_room;
    uint32_t n_edits;
    struct edit_priority *priorities;
    size_t priorities_room;
    uint32_t n_priorities;
    struct edit_ordering *orderings;
    size_t orderings_room;
    uint32_t n_orderings;
    struct edit_node *nodes;
    size_t nodes_room;
    uint32_t n_nodes;
    uint32_t *planned_of; /* by node of the draft: its id in the planned graph; NULL: the same */
    uint32_t *origin_of;  /* by node of the planned graph: its id in the graph given; NULL: same */
};

/** The node of the planned graph that a node of the graph given is. */
weir_node plan_planned(const struct plan *plan, weir_node given);

/* view.c: what the graph given asks for, before a policy has a say. */
struct plan_order;
MUST_CHECK enum weir_status plan_order_make(const struct graph *graph, struct report *report,
                                            struct plan_order **out, struct weir_error *err);
void plan_order_free(struct plan_order *order);

/** Makes the planned graph from the edits: plan->made stays NULL when there are none. */
MUST_CHECK enum weir_status plan_apply(struct plan *plan, struct report *report,
                                       struct weir_error *err);
/** The draft through which a policy edits the plan. */
void plan_draft(struct plan *plan, struct weir_draft *out);
/** The setup's callbacks; values must be set. */
void plan_setup(struct plan *plan);
/** Reads "NAME=VALUE" settings over the defaults. */
MUST_CHECK enum weir_status plan_parameters(struct plan *plan, const struct plan_options *options,
                                            struct weir_error *err);

#endif
