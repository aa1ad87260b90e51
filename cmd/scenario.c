/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the options of a verb to a plan that can be simulated. */
#include "cmd/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "cmd/progress.h"
#include "policies/registry.h"

static const char *const unknown_rules[] = {"mark", "forbid", "allow"};

enum weir_status scenario_options(const struct scenario_request *request, struct scenario *scenario,
                                  struct weir_error *err)
{
    scenario->simulate = simulate_default();
    if (request->contention != NULL &&
        !contention_from(request->contention, &scenario->simulate.contention)) {
        return weir_error_set(err, WEIR_USAGE,
                              "--contention %s: expected none, pairwise, share or measured",
                              request->contention);
    }
    for (int i = UNKNOWN_MARK; request->unknown != NULL; i++) {
        if (i > UNKNOWN_ALLOW) {
            return weir_error_set(err, WEIR_USAGE,
                                  "--unknown-overlap %s: expected mark, forbid or allow",
                                  request->unknown);
        }
        if (strcmp(request->unknown, unknown_rules[i]) == 0) {
            scenario->simulate.unknown_overlap = (enum unknown_overlap)i;
            break;
        }
    }
    return request->seed == NULL
               ? WEIR_OK
               : cmd_option_integer("--seed", request->seed, 0, INT64_MAX, &scenario->seed, err);
}

/* A policy from outside may take the program down: then it is named. */
static enum weir_status find_policy(const char *verb, const char *name, struct scenario *scenario,
                                    struct weir_error *err)
{
    size_t length;
    FILE *text;

    if (strchr(name, '/') == NULL) {
        return policy_find(name, &scenario->policy, err);
    }
    text = open_memstream(&scenario->blame, &length);
    if (text == NULL) {
        return weir_error_memory(err);
    }
    fprintf(text, "weir %s: the program crashed while it worked with policy ", verb);
    cmd_show(text, name);
    fputs(", which is none of its own: look for the fault there first; the store holds whole runs, "
          "as before\n",
          text);
    if (fclose(text) != 0) {
        return weir_error_memory(err);
    }
    ending_blame(scenario->blame);
    return policy_find(name, &scenario->policy, err);
}

static enum weir_status find_recording(const char *path, struct scenario *scenario,
                                       struct weir_error *err)
{
    struct store *store = NULL;
    int64_t run_id = 0;
    enum weir_status status = store_look(path, &store, err);

    if (status == WEIR_OK && store != NULL) {
        status = store_find_recording(store, scenario->hash, &run_id, err);
    }
    if (status == WEIR_OK && run_id != 0) {
        status = store_read_run(store, run_id, &scenario->recording, err);
        scenario->has_recording = status == WEIR_OK;
    }
    store_close(store);
    return status;
}

static enum weir_status make_plan(const struct cmd_context *context, bool is_quiet,
                                  struct scenario *scenario, struct weir_error *err)
{
    struct report *report = report_new(50);
    struct progress progress;
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    progress_begin(&progress, context, "planning", is_quiet);
    status = plan_make(scenario->graph, &scenario->planning, report, &scenario->plan, err);
    progress_end(&progress);
    if (status != WEIR_OK || !is_quiet) {
        cmd_print_report(report);
    }
    report_free(report);
    return status;
}

enum weir_status scenario_make(const struct cmd_context *context, const char *verb,
                               const struct scenario_request *request,
                               const struct cmd_common *common, struct scenario *scenario,
                               struct weir_error *err)
{
    enum weir_status status =
        find_policy(verb, request->policy == NULL ? "retain" : request->policy, scenario, err);

    if (status == WEIR_OK) {
        status = cmd_read_graph(context, request->graph, request->machine, request->capacities,
                                request->n_capacities, common->is_quiet, &scenario->graph,
                                scenario->hash, err);
    }
    if (status == WEIR_OK && request->n_scales + request->n_delays > 0) {
        status = scenario_what_if(request, scenario->graph, err);
    }
    if (status == WEIR_OK) {
        scenario->is_as_read = request->machine == NULL && request->n_capacities == 0 &&
                               request->n_scales == 0 && request->n_delays == 0;
        status = find_recording(common->db, scenario, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    scenario->planning = (struct plan_options){
        .policy = scenario->policy,
        .recording = scenario->has_recording ? scenario->recording.timeline : NULL,
        .sets = request->sets,
        .n_sets = request->n_sets,
        .seed = (uint64_t)scenario->seed,
    };
    return make_plan(context, common->is_quiet, scenario, err);
}

static void json_texts(struct json *json, const char *key, const char *const *texts, uint32_t n)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < n; i++) {
        json_text(json, NULL, texts[i]);
    }
    json_close_array(json);
}

void scenario_settings(struct json *json, const struct scenario_request *request,
                       const struct scenario *scenario)
{
    json_text(json, "contention", contention_name(scenario->simulate.contention));
    json_text(json, "unknown_overlap", unknown_rules[scenario->simulate.unknown_overlap]);
    json_texts(json, "capacity", request->capacities, request->n_capacities);
    json_texts(json, "set", request->sets, request->n_sets);
    if (request->n_scales > 0) {
        json_texts(json, "scale", request->scales, request->n_scales);
    }
    if (request->n_delays > 0) {
        json_texts(json, "delay", request->delays, request->n_delays);
    }
}

void scenario_free(struct scenario *scenario)
{
    plan_free(scenario->plan);
    ending_blame(NULL);
    free(scenario->blame);
    if (scenario->has_recording) {
        stored_run_free(&scenario->recording);
    }
    graph_free(scenario->graph);
}
