/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a policy's plan over a graph: gives the planned graph and the list of its edits. */
#ifndef WEIR_POLICIES_DRAFT_H
#define WEIR_POLICIES_DRAFT_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "policies/policy.h"

/* One edit, for explanations and the decision record. Texts are owned by the plan. */
struct plan_edit {
    const char *what; /* "priority of k1: 5" */
    const char *reason;
    const char *instead_of; /* NULL when not said */
};

/* A policy at work on one graph: its state, and what it planned. */
struct plan;

struct plan_options {
    const struct weir_policy *policy;
    const struct timeline *recording; /* of the same graph; NULL: none */
    const char *const *sets;          /* "NAME=VALUE" for the policy's parameters */
    uint32_t n_sets;
    uint64_t seed;
};

/** Begins the policy and lets it plan. The planned graph is checked and bound like any other:
 *  faults go to @p report with WEIR_INPUT. Graph and recording must outlive the plan. */
MUST_CHECK enum weir_status plan_make(const struct graph *graph, const struct plan_options *options,
                                      struct report *report, struct plan **out,
                                      struct weir_error *err);
void plan_free(struct plan *plan);

/** The planned graph and its binding: owned by the plan (the graph given, when nothing changed). */
const struct graph *plan_graph(const struct plan *plan);
const struct binding *plan_binding(const struct plan *plan);
const struct plan_edit *plan_edits(const struct plan *plan, uint32_t *n_edits);

/* For the simulator: what the policy says while time runs. */
const struct weir_policy *plan_policy(const struct plan *plan);
void *plan_state(const struct plan *plan);
/** What a callback gave back, as a status with a message: a policy from outside may give back what
 *  is no status, or fail and not say why. */
MUST_CHECK enum weir_status plan_answer(const struct plan *plan, const char *callback,
                                        enum weir_status status, struct weir_error *err);
/** Does the policy want to rank before each choice? */
bool plan_ranks(const struct plan *plan);
/** A view of the planned graph at that time. @param used_bytes by domain, may be NULL
 *  @param timeline what has run so far; NULL before the run */
void plan_view(const struct plan *plan, int64_t now_ns, const int64_t *used_bytes,
               const struct timeline *timeline, struct weir_view *out);
/** The node of the graph given that a node of the planned graph is; none when it was added. */
weir_node plan_origin(const struct plan *plan, weir_node planned);

#endif
