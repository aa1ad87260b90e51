/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir arena is asked, what it has read and what it has planned. */
#ifndef WEIR_CMD_ARENA_INTERNAL_H
#define WEIR_CMD_ARENA_INTERNAL_H

#include "cmd/cmd.h"
#include "policies/arena_bytes.h"
#include "policies/arena_graph.h"

#define ARENA_METHODS_MOST 8

struct arena_request {
    const char *input, *method, *capacity, *domain, *queues, *machine, *output;
    struct cmd_common common;
    int64_t capacity_bytes; /* -1 when not given */
};

/* What is planned, and where it came from. */
struct arena_loaded {
    struct graph *graph; /* NULL of a CSV file */
    struct binding *binding;
    struct arena_source source;
    struct arena_problem problem;
    struct arena_left_out left_out;
};

/* Plans by method, those that were made. */
struct arena_planned {
    struct arena_plan plans[ARENA_METHODS_MOST];
    uint32_t n_plans;
    uint32_t best; /* the smallest, the first of these */
    struct arena_execution execution;
};

/** Reads the list or the graph, and makes the problem. What is wrong with a graph is printed. The caller
 *  unloads, also when it fails. */
MUST_CHECK enum weir_status arena_load(const struct cmd_context *context,
                                       const struct arena_request *request,
                                       struct arena_loaded *loaded, struct weir_error *err);
void arena_unload(struct arena_loaded *loaded);

/** Writes and prints the best plan. WEIR_INFEASIBLE says what would do when it does not fit. */
MUST_CHECK enum weir_status arena_answer(const struct arena_request *request,
                                         const struct arena_loaded *loaded,
                                         const struct arena_planned *planned,
                                         struct weir_error *err);

#endif
