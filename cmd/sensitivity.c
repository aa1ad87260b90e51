/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir sensitivity: which milliseconds of a simulated run are worth removing. Stores nothing. */
#include <stdlib.h>

#include "base/workers.h"
#include "cmd/sensitivity_internal.h"

extern const struct cmd_verb cmd_verb_sensitivity;

static const char usage[] =
    "usage: weir sensitivity GRAPH [the options of weir simulate that say what is simulated]\n"
    "                        [--limit N] [--top K] [--fixed] [--threads T] [--json]\n\n"
    "Simulates the graph as `weir simulate` does, and tells what the makespan would be without "
    "the\n"
    "time of each node alone, of each class and origin, and with each resource changed. Stores\n"
    "nothing.\n\n" SCENARIO_USAGE "  --limit N            rows of each list (10; 0: all)\n"
    "  --top K              nodes that are simulated again without their time and with half of "
    "it,\n"
    "                       those first that save most in fixed order (10)\n"
    "  --fixed              in fixed order alone: nothing is simulated again\n"
    "  --threads T          to simulate again on; the answer is the same for any number (1)\n"
    "  --db FILE            the file that holds the runs, for a recording of the graph (weir.db)\n"
    "  --json               answer with one JSON object\n\n"
    "exit status: 0 done; 3 the graph is not legal; 4 the run ends in a shortage or a deadlock: "
    "then "
    "the\n"
    "resources alone are told of\n\n"
    "example:\n"
    "  weir sensitivity step.weir --machine h200 --top 5\n";

/* ---- what both answers ask ---- */

bool sensitive_is_complete(const struct sensitive *s)
{
    return s->result.timeline->status == RUN_COMPLETE;
}

int64_t sensitive_saves_ns(const struct sensitive *s, uint32_t variant)
{
    return s->result.timeline->makespan_ns - s->variants[variant].makespan_ns;
}

enum sensitive_verdict sensitive_verdict(const struct sensitive *s, const struct sensitive_node *n)
{
    int64_t gone_ns, half_ns;

    if (n->gone == WEIR_NONE)
        return VERDICT_NONE;
    if (s->variants[n->gone].end != VARIANT_COMPLETE ||
        s->variants[n->half].end != VARIANT_COMPLETE)
        return VERDICT_STOPS;
    gone_ns = sensitive_saves_ns(s, n->gone);
    half_ns = sensitive_saves_ns(s, n->half);
    if (gone_ns < 0 || half_ns < 0)
        return VERDICT_LATER;
    if (gone_ns < n->saves_ns || half_ns < n->half_saves_ns)
        return VERDICT_LESS;
    return gone_ns > n->saves_ns || half_ns > n->half_saves_ns ? VERDICT_MORE : VERDICT_AGREES;
}

const char *sensitive_class(const struct sensitive *s, uint32_t group)
{
    const struct graph *graph = plan_graph(s->scenario.plan);

    return graph_text(graph, graph_class_name(graph, (weir_class){group}));
}

const char *sensitive_origin(const struct sensitive *s, uint32_t group)
{
    return names_text(s->origin_names, group);
}

const char *sensitive_resource(const struct sensitive *s, const struct variant *variant)
{
    const struct graph *graph = s->scenario.graph;

    switch (variant->kind) {
    case VARIANT_NODE_GONE:
    case VARIANT_NODE_HALF:
        return graph_node_name(graph, (weir_node){variant->index});
    case VARIANT_ENGINE_FASTER:
    case VARIANT_ENGINE_SLOT:
    case VARIANT_ENGINE_WIDER:
    case VARIANT_ENGINE_PROMPT:
        return graph_text(graph, graph_engine(graph, (weir_engine){variant->index})->name);
    case VARIANT_DOMAIN_MORE:
    case VARIANT_DOMAIN_ENDLESS:
    case VARIANT_DOMAIN_LESS:
        return graph_text(graph, graph_domain(graph, (weir_domain){variant->index})->name);
    case VARIANT_RESOURCE_WIDER:
        return graph_text(graph, graph_resource(graph, (weir_resource){variant->index})->name);
    case VARIANT_NO_CONTENTION:
        return "";
    }
    return "";
}

/* ---- the steps ---- */

static enum weir_status simulate_base(struct sensitive *s, struct progress *progress,
                                      struct weir_error *err)
{
    struct simulate_options options = s->scenario.simulate;

    options.keeps_details = true;
    options.progress = progress_show;
    options.progress_arg = progress;
    return simulate(s->scenario.plan, &options, &s->result, err);
}

static enum weir_status work(const struct cmd_context *context, const struct cmd_common *common,
                             struct sensitive *s, struct weir_error *err)
{
    struct progress progress;
    enum weir_status status;

    progress_begin(&progress, context, "simulating", common->is_quiet);
    status = simulate_base(s, &progress, err);
    if (status == WEIR_OK && sensitive_is_complete(s)) {
        progress_phase(&progress, "timing");
        status = sensitive_order(s, &progress, err);
    }
    if (status == WEIR_OK && !s->is_fixed) {
        progress_phase(&progress, "simulating again");
        status = sensitive_again(s, &progress, err);
    }
    progress_end(&progress);
    return status;
}

static enum weir_status answer(const struct cmd_common *common, const struct sensitive *s,
                               struct weir_error *err)
{
    if (common->is_json)
        sensitive_json(s);
    else if (!common->is_quiet)
        sensitive_show(s);
    if (sensitive_is_complete(s))
        return WEIR_OK;
    fprintf(stderr, "weir sensitivity: %s: ", run_status_name(s->result.timeline->status));
    cmd_show_lines(stderr, s->result.explanation);
    putc('\n', stderr);
    err->text[0] = '\0';
    return err->status = WEIR_INFEASIBLE;
}

static void clear_away(struct sensitive *s)
{
    timeline_free(s->result.timeline);
    free(s->result.explanation);
    retime_free(&s->retime);
    free(s->length_ns);
    worth_free(&s->worth);
    free(s->nodes);
    free(s->classes.rows);
    free(s->origins.rows);
    names_free(s->origin_names);
    free(s->variants);
    free(s->ranked);
    scenario_free(&s->scenario);
}

/* ---- the command line ---- */

struct sensitive_request {
    struct scenario_request scenario;
    const char *limit, *top, *threads;
    struct cmd_common common;
};

static enum weir_status read_options(const struct sensitive_request *request, struct sensitive *s,
                                     struct weir_error *err)
{
    int64_t limit = 10, top = 10, n_threads = 1;
    enum weir_status status = scenario_options(&request->scenario, &s->scenario, err);

    if (status == WEIR_OK && request->limit != NULL)
        status = cmd_option_integer("--limit", request->limit, 0, UINT32_MAX, &limit, err);
    if (status == WEIR_OK && request->top != NULL)
        status = cmd_option_integer("--top", request->top, 0, UINT32_MAX, &top, err);
    if (status == WEIR_OK && request->threads != NULL)
        status =
            cmd_option_integer("--threads", request->threads, 1, WORKERS_MOST, &n_threads, err);
    if (status != WEIR_OK)
        return status;
    s->top = (uint32_t)top;
    if (request->limit == NULL && top > limit)
        limit = top;
    s->limit = limit == 0 ? UINT32_MAX : (uint32_t)limit;
    s->n_threads = (uint32_t)n_threads;
    /* Nobody knows what a policy from outside does on several. */
    if (request->scenario.policy != NULL && strchr(request->scenario.policy, '/') != NULL)
        s->n_threads = 1;
    return WEIR_OK;
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct sensitive_request request = {.limit = NULL};
    struct sensitive s = {.limit = 0};
    const struct cmd_option options[] = {
        SCENARIO_OPTIONS(request.scenario),
        {.name = "--limit", .takes_value = true, .value = &request.limit},
        {.name = "--top", .takes_value = true, .value = &request.top},
        {.name = "--threads", .takes_value = true, .value = &request.threads},
        {.name = "--fixed", .flag = &s.is_fixed},
        {.name = NULL},
    };
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_sensitivity, argc, argv, options, &request.common,
                                        &request.scenario.graph, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    status = read_options(&request, &s, err);
    if (status == WEIR_OK)
        status = scenario_make(context, "sensitivity", &request.scenario, &request.common,
                               &s.scenario, err);
    if (status == WEIR_OK)
        status = work(context, &request.common, &s, err);
    if (status == WEIR_OK)
        status = answer(&request.common, &s, err);
    clear_away(&s);
    return status;
}

const struct cmd_verb cmd_verb_sensitivity = {
    "sensitivity", "tell which milliseconds of a run are worth removing", usage, run};
