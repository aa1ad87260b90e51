/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each step asserts that it succeeds, with the reason and, of a text, the text. */
#include "tests/sim/scene.h"

#include <string.h>

#include "graph/generate.h"
#include "graph/text.h"
#include "tests/suite.h"

struct graph *scene_read(const char *text)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct weir_error err;

    ck_assert_msg(graph_read_text(text, strlen(text), "test", report, &graph, &err) == WEIR_OK,
                  "%s\n%s", err.text, text);
    report_free(report);
    return graph;
}

struct graph *scene_random(uint64_t seed, uint32_t n_nodes)
{
    struct generate_random_options options = generate_random_default();
    struct graph *graph;
    struct weir_error err;

    options.n_nodes = n_nodes;
    options.seed = seed;
    ck_assert_msg(generate_random(&options, &graph, &err) == WEIR_OK, "%s", err.text);
    return graph;
}

const struct weir_policy *scene_policy(const char *name)
{
    const struct weir_policy *policy = NULL;
    struct weir_error err;

    ck_assert_msg(policy_find(name, &policy, &err) == WEIR_OK, "%s", err.text);
    return policy;
}

enum weir_status scene_plan(struct graph *graph, const struct weir_policy *policy,
                            const char *setting, struct scene *out, struct weir_error *err)
{
    struct plan_options options = {
        .policy = policy, .sets = &setting, .n_sets = setting == NULL ? 0 : 1};

    *out = (struct scene){.graph = graph, .report = report_new(0), .options = simulate_default()};
    return plan_make(graph, &options, out->report, &out->plan, err);
}

void scene_simulate(struct scene *scene)
{
    struct weir_error err;

    ck_assert_msg(simulate(scene->plan, &scene->options, &scene->result, &err) == WEIR_OK, "%s",
                  err.text);
}

void scene_run(struct graph *graph, const struct weir_policy *policy, const char *setting,
               const struct simulate_options *options, struct scene *out)
{
    struct weir_error err;

    ck_assert_msg(scene_plan(graph, policy, setting, out, &err) == WEIR_OK, "%s", err.text);
    if (options != NULL) {
        out->options = *options;
    }
    scene_simulate(out);
}

const struct timeline_span *scene_span(const struct scene *scene, const char *name)
{
    const struct graph *graph = plan_graph(scene->plan);
    weir_node node = graph_find_node(graph, graph_find_text(graph, name));

    ck_assert_msg(weir_is(node), "no node %s", name);
    return &scene->result.timeline->spans[node.index];
}

void scene_free(struct scene *scene)
{
    timeline_free(scene->result.timeline);
    free(scene->result.explanation);
    plan_free(scene->plan);
    report_free(scene->report);
    graph_free(scene->graph);
}
