/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir simulate: plans with a policy, simulates the plan, stores the run. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/findings.h"
#include "cmd/progress.h"
#include "cmd/simulate_internal.h"
#include "graph/analyze.h"

extern const struct cmd_verb cmd_verb_simulate;

static const char usage[] =
    "usage: weir simulate GRAPH [--policy P] [--set NAME=VALUE]... [--machine M]\n"
    "                     [--contention none|pairwise|share|measured] [--unknown-overlap "
    "mark|forbid|allow]\n"
    "                     [--capacity DOMAIN=SIZE]... [--scale NODE|CLASS=FACTOR]...\n"
    "                     [--delay NODE=TIME]... [--seed S] [--wait-bound TIME]\n"
    "                     [--samples N [--fixed-order] [--quantile Q] | --sample K]\n"
    "                     [--perturb TIME [--tries K]] [--threads T] [--db FILE] [--json]\n\n"
    "Plans the graph with a policy, simulates the plan on its machine, and stores the run: the\n"
    "timeline, and the realized plan (the order on each engine, and which returned bytes each\n"
    "taker needed), which is what `weir replay` runs.\n\n" SCENARIO_USAGE
    "  --wait-bound TIME    no node should wait longer: tells how many did\n" TAILS_USAGE
    "  --db FILE            the file that holds the runs (weir.db)\n"
    "  --json               answer with one JSON object\n\n"
    "exit status: 0 it ran; 3 the graph is not legal; 4 it ended in a shortage or a deadlock, "
    "which\n"
    "is stored as well, with the reason on standard error\n\n"
    "example:\n"
    "  weir simulate step.weir --machine h200 --policy retain --json\n";

#define SHOWN_IN_TEXT 3 /* findings of each kind */
#define SHOWN_IN_JSON 20

static enum weir_status run_plan(const struct cmd_context *context,
                                 const struct scenario_request *request,
                                 const struct explained_options *explain,
                                 const struct cmd_common *common, struct simulated *simulated,
                                 struct weir_error *err)
{
    struct simulate_options options = simulated->scenario.simulate;
    struct progress progress;
    enum weir_status status;

    progress_begin(&progress, context, "simulating", common->is_quiet);
    status = tailed_draw(&simulated->tailed, &simulated->scenario, &options, err);
    if (status == WEIR_OK) {
        status = analyze_critical_path_with(plan_binding(simulated->scenario.plan),
                                            options.length_ns, &simulated->critical_path_ns, err);
    }
    if (status == WEIR_OK) {
        options.progress = progress_show;
        options.progress_arg = &progress;
        status = simulate(simulated->scenario.plan, &options, &simulated->result, err);
    }
    if (status == WEIR_OK) {
        status = simulate_describe(request, simulated, err);
    }
    if (status == WEIR_OK) {
        status = explained_find(&simulated->run, plan_binding(simulated->scenario.plan), explain,
                                &simulated->explained, err);
    }
    if (status == WEIR_OK) {
        status = cmd_find_modes(&simulated->run, plan_binding(simulated->scenario.plan),
                                simulated->explained.links, simulated->explained.n_links,
                                common->is_json ? SHOWN_IN_JSON : SHOWN_IN_TEXT,
                                &simulated->findings, err);
    }
    if (status == WEIR_OK) {
        status = tailed_run(&simulated->tailed, &simulated->scenario, simulated->result.timeline,
                            &progress, err);
    }
    if (status == WEIR_OK) {
        progress_phase(&progress, "storing");
        status = simulate_store(common, simulated, err);
    }
    progress_end(&progress);
    return status;
}

static enum weir_status answer(const struct cmd_common *common, const struct simulated *simulated,
                               struct weir_error *err)
{
    const struct timeline *timeline = simulated->result.timeline;

    if (common->is_json) {
        simulate_answer_json(simulated);
    } else if (!common->is_quiet) {
        simulate_answer_text(simulated);
        cmd_print_report(simulated->findings);
    }
    if (timeline->status == RUN_COMPLETE) {
        return WEIR_OK;
    }
    fprintf(stderr, "weir simulate: %s: ", run_status_name(timeline->status));
    cmd_show_lines(stderr, simulated->result.explanation);
    putc('\n', stderr);
    err->text[0] = '\0';
    return err->status = WEIR_INFEASIBLE;
}

static void clear_away(struct simulated *simulated)
{
    timeline_free(simulated->result.timeline);
    free(simulated->result.explanation);
    report_free(simulated->findings);
    free(simulated->overlaps);
    explained_free(&simulated->explained);
    tailed_free(&simulated->tailed);
    arena_free(&simulated->texts);
    free(simulated->settings);
    scenario_free(&simulated->scenario);
}

static enum weir_status read_wait_bound(const char *text, struct explained_options *explain,
                                        struct weir_error *err)
{
    if (text == NULL || number_time(text, strlen(text), &explain->wait_bound_ns) == NUMBER_OK) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_USAGE,
                          "--wait-bound %.80s: a time was expected, such as 500us or 2ms", text);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct explained_options explain = {
        .wait_bound_ns = -1, .n_rows = 10, .n_stretches = 12, .is_brief = true};
    const char *wait_bound = NULL;
    struct scenario_request request = {0};
    struct tails_request tails = {0};
    struct cmd_common common = {0};
    struct simulated simulated = {0};
    const struct cmd_option options[] = {
        SCENARIO_OPTIONS(request),
        TAILS_OPTIONS(tails),
        {.name = "--wait-bound", .takes_value = true, .value = &wait_bound},
        {.name = NULL},
    };
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_simulate, argc, argv, options, &common,
                                        &request.graph, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = scenario_options(&request, &simulated.scenario, err);
    if (status == WEIR_OK) {
        status = tailed_options(&tails, &request, &simulated.tailed, err);
    }
    if (status == WEIR_OK) {
        status = read_wait_bound(wait_bound, &explain, err);
    }
    if (status == WEIR_OK) {
        status = scenario_make(context, "simulate", &request, &common, &simulated.scenario, err);
    }
    if (status == WEIR_OK) {
        status = run_plan(context, &request, &explain, &common, &simulated, err);
    }
    if (status == WEIR_OK) {
        status = answer(&common, &simulated, err);
    }
    clear_away(&simulated);
    return status;
}

const struct cmd_verb cmd_verb_simulate = {
    "simulate", "plan with a policy, simulate, store the run", usage, run};
