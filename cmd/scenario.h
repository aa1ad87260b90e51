/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is simulated, as a command line says it: a graph, a machine over it, a policy, and what the
 * simulator makes of nodes that run together. Every verb that simulates takes the same options. */
#ifndef WEIR_CMD_SCENARIO_H
#define WEIR_CMD_SCENARIO_H

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "policies/draft.h"
#include "sim/simulate.h"

struct scenario_request {
    const char *graph, *machine, *policy, *contention, *unknown, *seed;
    const char *capacities[CMD_REPEATS], *sets[CMD_REPEATS];
    const char *scales[CMD_REPEATS], *delays[CMD_REPEATS];
    uint32_t n_capacities, n_sets, n_scales, n_delays;
};

/* Entries for the list of options that cmd_parse takes. @p request is a struct, no pointer. */
#define SCENARIO_OPTIONS(request)                                                        \
    {.name = "--policy", .takes_value = true, .value = &(request).policy},               \
        {.name = "--machine", .takes_value = true, .value = &(request).machine},         \
        {.name = "--contention", .takes_value = true, .value = &(request).contention},   \
        {.name = "--unknown-overlap", .takes_value = true, .value = &(request).unknown}, \
        {.name = "--seed", .takes_value = true, .value = &(request).seed},               \
        {.name = "--capacity",                                                           \
         .takes_value = true,                                                            \
         .values = (request).capacities,                                                 \
         .n_values = &(request).n_capacities},                                           \
        {.name = "--scale",                                                              \
         .takes_value = true,                                                            \
         .values = (request).scales,                                                     \
         .n_values = &(request).n_scales},                                               \
        {.name = "--delay",                                                              \
         .takes_value = true,                                                            \
         .values = (request).delays,                                                     \
         .n_values = &(request).n_delays},                                               \
    {                                                                                    \
        .name = "--set", .takes_value = true, .values = (request).sets,                  \
        .n_values = &(request).n_sets                                                    \
    }

/* The same in --help. */
#define SCENARIO_USAGE                                                                         \
    "  --policy P           a name that `weir policies` lists, or ./plugin.so (retain)\n"      \
    "  --set NAME=VALUE     a parameter of the policy; may be repeated\n"                      \
    "  --machine M          a machine file or the name of an installed one, over the graph\n"  \
    "  --contention F       how running nodes slow each other down (none)\n"                   \
    "  --unknown-overlap U  pairs of which nobody knows what running together does: mark the " \
    "time\n"                                                                                   \
    "                       they do as hypothetical, forbid it, or allow it (mark)\n"          \
    "  --capacity D=SIZE    of a domain, instead of what the graph says; may be repeated\n"    \
    "  --scale NAME=FACTOR  a node, or each of a class, takes FACTOR times as long; may be\n"  \
    "                       repeated; node:NAME and class:NAME tell the two apart\n"           \
    "  --delay NODE=TIME    a node is ready so much later; may be repeated\n"                  \
    "  --seed S             of what the policy draws (0)\n"

struct scenario {
    struct simulate_options simulate;
    int64_t seed;
    const struct weir_policy *policy;
    struct graph *graph;        /* with the machine and the capacities over it */
    char hash[HASH_TEXT_BYTES]; /* of the graph as read */
    bool is_as_read;            /* nothing has changed the graph since */
    struct stored_run recording;
    bool has_recording;
    struct plan_options planning; /* what made the plan: makes another one like it */
    struct plan *plan;
    char *blame; /* what a crash of a policy from outside says */
};

/** What the options say, before anything is read. WEIR_USAGE */
MUST_CHECK enum weir_status scenario_options(const struct scenario_request *request,
                                             struct scenario *scenario, struct weir_error *err);
/** Finds the policy, reads the graph, looks up its recording in the store (if there is one; a store
 *  that cannot be written is told of now, before time is spent), and plans. Findings go to standard
 *  error. The request must outlive the scenario; the caller frees with scenario_free, also after a
 *  failure. */
MUST_CHECK enum weir_status scenario_make(const struct cmd_context *context, const char *verb,
                                          const struct scenario_request *request,
                                          const struct cmd_common *common,
                                          struct scenario *scenario, struct weir_error *err);
/** Scales and delays: makes another graph of it. WEIR_USAGE, WEIR_INPUT with findings printed,
 *  WEIR_MEMORY; the graph is of no use then. (scenario_what_if.c) */
MUST_CHECK enum weir_status scenario_what_if(const struct scenario_request *request,
                                             struct graph *graph, struct weir_error *err);
/** What it takes to simulate it again, as keys of the object that is open. */
void scenario_settings(struct json *json, const struct scenario_request *request,
                       const struct scenario *scenario);
void scenario_free(struct scenario *scenario);

#endif
