/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation on its way into the store, with all that is needed to make it again. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/simulate_internal.h"

/* What it takes to run it again, as a JSON object. */
static enum weir_status write_settings(const struct scenario_request *request,
                                       struct simulated *simulated, struct weir_error *err)
{
    size_t length;
    struct json json = {.file = open_memstream(&simulated->settings, &length)};

    if (json.file == NULL) {
        return weir_error_memory(err);
    }
    json_open_object(&json, NULL);
    scenario_settings(&json, request, &simulated->scenario);
    tailed_settings(&json, &simulated->tailed);
    json_integer(&json, "hypothetical_overlap_ns", simulated->result.hypothetical_ns);
    if (simulated->result.explanation != NULL) {
        json_text(&json, "explanation", simulated->result.explanation);
    }
    json_close_object(&json);
    return fclose(json.file) == 0 && simulated->settings != NULL ? WEIR_OK : weir_error_memory(err);
}

/* Tells of each fallback that was taken. */
static enum weir_status note_fallbacks(struct simulated *simulated, struct weir_error *err)
{
    const struct graph *graph = plan_graph(simulated->scenario.plan);
    const struct gave_way *ways = simulated->explained.ways;
    size_t n_ways = simulated->explained.n_ways;

    simulated->deviations =
        arena_array(&simulated->texts, n_ways + 1, sizeof *simulated->deviations);
    for (size_t i = 0; i < n_ways && simulated->deviations != NULL; i++) {
        const char *fallback = graph_node_name(graph, ways[i].fallback);
        size_t room = strlen(fallback) + NUMBER_TEXT_BYTES + 64;
        char *text = arena_alloc(&simulated->texts, room), at[NUMBER_TEXT_BYTES];

        if (text == NULL) {
            return weir_error_memory(err);
        }
        number_time_text(ways[i].at_ns, at);
        (void)snprintf(text, room, "gave way to %s at %s, its window closed", fallback, at);
        simulated->deviations[i] = (struct run_deviation){ways[i].node, text, -1};
    }
    return simulated->deviations == NULL ? weir_error_memory(err) : WEIR_OK;
}

enum weir_status simulate_describe(const struct scenario_request *request,
                                   struct simulated *simulated, struct weir_error *err)
{
    enum weir_status status = write_settings(request, simulated, err);

    if (status != WEIR_OK) {
        return status;
    }
    simulated->run = (struct run){
        .kind = RUN_SIM,
        .scope = graph_scope(simulated->scenario.graph),
        .graph = plan_graph(simulated->scenario.plan),
        .binding = plan_binding(simulated->scenario.plan),
        .graph_name = graph_text(simulated->scenario.graph, graph_name(simulated->scenario.graph)),
        .policy = simulated->scenario.policy->name,
        .machine = request->machine == NULL ? "" : request->machine,
        .settings = simulated->settings,
        .seed = simulated->scenario.seed,
        .critical_path_ns = simulated->critical_path_ns,
        .timeline = simulated->result.timeline,
    };
    memcpy(simulated->run.graph_hash, simulated->scenario.hash, sizeof simulated->scenario.hash);
    if (plan_graph(simulated->scenario.plan) == simulated->scenario.graph &&
        simulated->scenario.is_as_read) {
        memcpy(simulated->run.ran_hash, simulated->scenario.hash, sizeof simulated->scenario.hash);
    }
    return WEIR_OK;
}

static enum weir_status write_run(const struct cmd_common *common, struct simulated *simulated,
                                  struct weir_error *err)
{
    uint32_t n_edits;
    const struct plan_edit *edits = plan_edits(simulated->scenario.plan, &n_edits);
    struct run_decision *decisions = calloc((size_t)n_edits + 1, sizeof *decisions);
    struct run *run = &simulated->run;
    enum weir_status status;

    if (decisions == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_edits; i++) {
        decisions[i] = (struct run_decision){edits[i].what, edits[i].reason, edits[i].instead_of};
    }
    run->decisions = decisions;
    run->n_decisions = n_edits;
    run->deviations = simulated->deviations;
    run->n_deviations = simulated->explained.n_ways;
    run->links = simulated->explained.links;
    run->n_links = simulated->explained.n_links;
    run->overlaps = simulated->overlaps;
    run->n_overlaps = simulated->explained.overlaps.n_pairs;
    status = store_add_run(common->db, run, simulated->tailed.rows,
                           simulated->tailed.rows == NULL ? 0 : simulated->tailed.n_samples, err);
    run->decisions = NULL;
    run->n_decisions = 0;
    free(decisions);
    return status;
}

enum weir_status simulate_store(const struct cmd_common *common, struct simulated *simulated,
                                struct weir_error *err)
{
    enum weir_status status = note_fallbacks(simulated, err);

    if (status == WEIR_OK) {
        status = overlaps_list(plan_graph(simulated->scenario.plan), &simulated->explained.overlaps,
                               &simulated->overlaps, err);
    }
    return status == WEIR_OK ? write_run(common, simulated, err) : status;
}
