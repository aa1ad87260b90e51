/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph, the plan that a policy makes of it, and the simulation of that plan: what the tests of sim/
 * set up. What cannot be set up fails the test. */
#ifndef TESTS_SIM_SCENE_H
#define TESTS_SIM_SCENE_H

#include "policies/registry.h"
#include "sim/simulate.h"

struct scene {
    struct graph *graph; /* as it was given */
    struct report *report;
    struct plan *plan; /* NULL: refused */
    struct simulate_options options;
    struct simulate_result result; /* all 0: not simulated yet */
};

/** The caller frees the graph, or gives it to a scene. */
struct graph *scene_read(const char *text);

/** A graph by seed, of the generator; the caller frees it, or gives it to a scene. */
struct graph *scene_random(uint64_t seed, uint32_t n_nodes);

/** The policy of the registry of that name. */
const struct weir_policy *scene_policy(const char *name);

/**
 * Plans, with the default options of a simulation. The scene keeps the graph and is freed by
 * scene_free(), also when the plan is refused.
 * @param setting of the policy, such as "serial=1"; NULL: none
 * @return the status of the plan
 */
enum weir_status scene_plan(struct graph *graph, const struct weir_policy *policy,
                            const char *setting, struct scene *out, struct weir_error *err);

/** Simulates what is planned, with the options of the scene. */
void scene_simulate(struct scene *scene);

/** Both, where the plan must be accepted. @param options NULL: the default */
void scene_run(struct graph *graph, const struct weir_policy *policy, const char *setting,
               const struct simulate_options *options, struct scene *out);

/** When the node of that name, of the graph that was planned, ran. */
const struct timeline_span *scene_span(const struct scene *scene, const char *name);

/** Frees everything that the scene holds, its timeline and its graph too. */
void scene_free(struct scene *scene);

#endif
