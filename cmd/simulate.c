/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir simulate: plans with a policy, simulates the plan, stores the run. */
#include "sim/simulate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ending.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "graph/analyze.h"
#include "judge/chain.h"
#include "judge/gave_way.h"
#include "policies/registry.h"

extern const struct cmd_verb cmd_verb_simulate;

static const char usage[] =
    "usage: weir simulate GRAPH [--policy P] [--set NAME=VALUE]... [--machine M]\n"
    "                     [--contention none|pairwise|share] [--unknown-overlap "
    "mark|forbid|allow]\n"
    "                     [--capacity DOMAIN=SIZE]... [--seed S] [--db FILE] [--json]\n\n"
    "Plans the graph with a policy, simulates the plan on its machine, and stores the run: the\n"
    "timeline, and the realized plan (the order on each engine, and which returned bytes each\n"
    "taker needed), which is what `weir replay` runs.\n\n"
    "  --policy P           a name that `weir policies` lists, or ./plugin.so (retain)\n"
    "  --set NAME=VALUE     a parameter of the policy; may be repeated\n"
    "  --machine M          a machine file or the name of an installed one, over the graph\n"
    "  --contention F       how running nodes slow each other down (none)\n"
    "  --unknown-overlap U  pairs of which nobody knows what running together does: mark the time\n"
    "                       they do as hypothetical, forbid it, or allow it (mark)\n"
    "  --capacity D=SIZE    of a domain, instead of what the graph says; may be repeated\n"
    "  --seed S             of what the policy draws (0)\n"
    "  --db FILE            the file that holds the runs (weir.db)\n"
    "  --json               answer with one JSON object\n\n"
    "exit status: 0 it ran; 3 the graph is not legal; 4 it ended in a shortage or a deadlock, "
    "which\n"
    "is stored as well, with the reason on standard error\n\n"
    "example:\n"
    "  weir simulate step.weir --machine h200 --policy retain --json\n";

struct request {
    const char *graph, *machine, *policy, *contention, *unknown, *seed;
    const char *capacities[CMD_REPEATS], *sets[CMD_REPEATS];
    uint32_t n_capacities, n_sets;
    struct cmd_common common;
    struct simulate_options options;
    int64_t seed_value;
};

/* What one simulation needs and makes, in the order in which it comes about. */
struct work {
    struct graph *graph;
    char hash[HASH_TEXT_BYTES];
    struct store *store;
    struct stored_run recording;
    bool has_recording;
    const struct weir_policy *policy;
    char *blame; /* what a crash of a policy from outside says */
    struct plan *plan;
    int64_t critical_path_ns;
    struct simulate_result result;
    struct run_link *links; /* the realized critical chain */
    size_t n_links;
    struct gave_way *ways; /* fallbacks that were taken */
    size_t n_ways;
    struct run_deviation *deviations; /* the same, for the store */
    struct arena texts;
    char *settings;
    struct run run;
};

static enum weir_status read_options(struct request *request, struct weir_error *err)
{
    static const char *const rules[] = {"mark", "forbid", "allow"};

    request->options = simulate_default();
    if (request->contention != NULL &&
        !contention_from(request->contention, &request->options.contention)) {
        return weir_error_set(err, WEIR_USAGE, "--contention %s: expected none, pairwise or share",
                              request->contention);
    }
    for (int i = UNKNOWN_MARK; request->unknown != NULL; i++) {
        if (i > UNKNOWN_ALLOW) {
            return weir_error_set(err, WEIR_USAGE,
                                  "--unknown-overlap %s: expected mark, forbid or allow",
                                  request->unknown);
        }
        if (strcmp(request->unknown, rules[i]) == 0) {
            request->options.unknown_overlap = (enum unknown_overlap)i;
            break;
        }
    }
    return request->seed == NULL ? WEIR_OK
                                 : cmd_option_integer("--seed", request->seed, 0, INT64_MAX,
                                                      &request->seed_value, err);
}

/* A store that cannot be written is told of before the time is spent. It is made, or open again,
 * only when there is a run to write. */
static enum weir_status find_recording(const char *path, struct work *work, struct weir_error *err)
{
    int64_t run_id = 0;
    enum weir_status status = store_look(path, &work->store, err);

    if (status == WEIR_OK && work->store != NULL) {
        status = store_find_recording(work->store, work->hash, &run_id, err);
    }
    if (status == WEIR_OK && run_id != 0) {
        status = store_read_run(work->store, run_id, &work->recording, err);
        work->has_recording = status == WEIR_OK;
    }
    store_close(work->store);
    work->store = NULL;
    return status;
}

static enum weir_status make_plan(const struct cmd_context *context, const struct request *request,
                                  struct work *work, struct weir_error *err)
{
    struct plan_options options = {
        .policy = work->policy,
        .recording = work->has_recording ? work->recording.timeline : NULL,
        .sets = request->sets,
        .n_sets = request->n_sets,
        .seed = (uint64_t)request->seed_value,
    };
    struct report *report = report_new(50);
    struct progress progress;
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    progress_begin(&progress, context, "planning", request->common.is_quiet);
    status = plan_make(work->graph, &options, report, &work->plan, err);
    progress_end(&progress);
    if (status != WEIR_OK || !request->common.is_quiet) {
        cmd_print_report(report);
    }
    report_free(report);
    return status;
}

/* What it takes to run it again, as a JSON object. */
static enum weir_status write_settings(const struct request *request, struct work *work,
                                       struct weir_error *err)
{
    static const char *const rules[] = {"mark", "forbid", "allow"};
    size_t length;
    struct json json = {.file = open_memstream(&work->settings, &length)};

    if (json.file == NULL) {
        return weir_error_memory(err);
    }
    json_open_object(&json, NULL);
    json_text(&json, "contention", contention_name(request->options.contention));
    json_text(&json, "unknown_overlap", rules[request->options.unknown_overlap]);
    json_open_array(&json, "capacity");
    for (uint32_t i = 0; i < request->n_capacities; i++) {
        json_text(&json, NULL, request->capacities[i]);
    }
    json_close_array(&json);
    json_open_array(&json, "set");
    for (uint32_t i = 0; i < request->n_sets; i++) {
        json_text(&json, NULL, request->sets[i]);
    }
    json_close_array(&json);
    json_integer(&json, "hypothetical_overlap_ns", work->result.hypothetical_ns);
    if (work->result.explanation != NULL) {
        json_text(&json, "explanation", work->result.explanation);
    }
    json_close_object(&json);
    return fclose(json.file) == 0 ? WEIR_OK : weir_error_memory(err);
}

/* Tells of each fallback that was taken. */
static enum weir_status note_fallbacks(struct work *work, struct weir_error *err)
{
    const struct graph *graph = plan_graph(work->plan);
    enum weir_status status =
        gave_way_find(graph, work->result.timeline, &work->ways, &work->n_ways, err);

    if (status != WEIR_OK) {
        return status;
    }
    work->deviations = arena_array(&work->texts, work->n_ways + 1, sizeof *work->deviations);
    for (size_t i = 0; i < work->n_ways && work->deviations != NULL; i++) {
        const char *fallback = graph_node_name(graph, work->ways[i].fallback);
        size_t room = strlen(fallback) + NUMBER_TEXT_BYTES + 64;
        char *text = arena_alloc(&work->texts, room), at[NUMBER_TEXT_BYTES];

        if (text == NULL) {
            return weir_error_memory(err);
        }
        number_time_text(work->ways[i].at_ns, at);
        (void)snprintf(text, room, "gave way to %s at %s, its window closed", fallback, at);
        work->deviations[i] = (struct run_deviation){work->ways[i].node, text, -1};
    }
    return work->deviations == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status write_run(const struct request *request, struct work *work,
                                  struct weir_error *err)
{
    uint32_t n_edits;
    const struct plan_edit *edits = plan_edits(work->plan, &n_edits);
    struct run_decision *decisions = calloc((size_t)n_edits + 1, sizeof *decisions);
    enum weir_status status;

    if (decisions == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_edits; i++) {
        decisions[i] = (struct run_decision){edits[i].what, edits[i].reason, edits[i].instead_of};
    }
    work->run = (struct run){
        .kind = RUN_SIM,
        .scope = graph_scope(work->graph),
        .graph = plan_graph(work->plan),
        .binding = plan_binding(work->plan),
        .graph_name = graph_text(work->graph, graph_name(work->graph)),
        .policy = work->policy->name,
        .machine = request->machine == NULL ? "" : request->machine,
        .settings = work->settings,
        .seed = request->seed_value,
        .critical_path_ns = work->critical_path_ns,
        .timeline = work->result.timeline,
        .decisions = decisions,
        .n_decisions = n_edits,
        .deviations = work->deviations,
        .n_deviations = work->n_ways,
        .links = work->links,
        .n_links = work->n_links,
    };
    memcpy(work->run.graph_hash, work->hash, sizeof work->hash);
    if (plan_graph(work->plan) == work->graph && request->machine == NULL &&
        request->n_capacities == 0) { /* nothing has changed it since it was read */
        memcpy(work->run.ran_hash, work->hash, sizeof work->hash);
    }
    status = store_add_run(request->common.db, &work->run, NULL, 0, err);
    free(decisions);
    return status;
}

static enum weir_status run_plan(const struct cmd_context *context, const struct request *request,
                                 struct work *work, struct weir_error *err)
{
    struct simulate_options options = request->options;
    struct progress progress;
    enum weir_status status;

    progress_begin(&progress, context, "simulating", request->common.is_quiet);
    status = analyze_critical_path(plan_binding(work->plan), &work->critical_path_ns, err);
    if (status == WEIR_OK) {
        options.progress = progress_show;
        options.progress_arg = &progress;
        status = simulate(work->plan, &options, &work->result, err);
    }
    if (status == WEIR_OK) {
        status = chain_find(plan_binding(work->plan), work->result.timeline, &work->links,
                            &work->n_links, err);
    }
    if (status == WEIR_OK) {
        status = note_fallbacks(work, err);
    }
    if (status == WEIR_OK) {
        status = write_settings(request, work, err);
    }
    progress_phase(&progress, "storing");
    if (status == WEIR_OK) {
        status = write_run(request, work, err);
    }
    progress_end(&progress);
    return status;
}

/* A policy from outside may take the program down: then it is named. */
static enum weir_status find_policy(const char *name, struct work *work, struct weir_error *err)
{
    size_t length;
    FILE *text;

    if (strchr(name, '/') == NULL) {
        return policy_find(name, &work->policy, err);
    }
    text = open_memstream(&work->blame, &length);
    if (text == NULL) {
        return weir_error_memory(err);
    }
    fputs("weir simulate: the program crashed while it worked with policy ", text);
    cmd_show(text, name);
    fputs(", which is none of its own: look for the fault there first; the store holds whole runs, "
          "as before\n",
          text);
    if (fclose(text) != 0) {
        return weir_error_memory(err);
    }
    ending_blame(work->blame);
    return policy_find(name, &work->policy, err);
}

static enum weir_status work_through(const struct cmd_context *context,
                                     const struct request *request, struct work *work,
                                     struct weir_error *err)
{
    enum weir_status status =
        find_policy(request->policy == NULL ? "retain" : request->policy, work, err);

    if (status == WEIR_OK) {
        status = cmd_read_graph(context, request->graph, request->machine, request->capacities,
                                request->n_capacities, request->common.is_quiet, &work->graph,
                                work->hash, err);
    }
    if (status == WEIR_OK) {
        status = find_recording(request->common.db, work, err);
    }
    if (status == WEIR_OK) {
        status = make_plan(context, request, work, err);
    }
    return status == WEIR_OK ? run_plan(context, request, work, err) : status;
}

static void sum_waits(const struct timeline *timeline, int64_t waited_ns[WAIT_OVERLAP + 1])
{
    for (size_t i = 0; i < timeline->n_waits; i++) {
        waited_ns[timeline->waits[i].cause] +=
            timeline->waits[i].to_ns - timeline->waits[i].from_ns;
    }
}

static const char *domain_name(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_domain(graph, (weir_domain){index})->name);
}

static void json_fallbacks(struct json *json, const struct work *work)
{
    const struct graph *graph = plan_graph(work->plan);

    json_open_array(json, "fallbacks");
    for (size_t i = 0; i < work->n_ways; i++) {
        json_open_object(json, NULL);
        json_text(json, "node", graph_node_name(graph, work->ways[i].node));
        json_text(json, "fallback", graph_node_name(graph, work->ways[i].fallback));
        json_integer(json, "at_ns", work->ways[i].at_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void answer_json(const struct work *work)
{
    const struct timeline *timeline = work->result.timeline;
    const struct graph *graph = plan_graph(work->plan);
    int64_t waited_ns[WAIT_OVERLAP + 1] = {0};
    struct json json = {.file = stdout};

    sum_waits(timeline, waited_ns);
    json_open_object(&json, NULL);
    json_integer(&json, "run", work->run.id);
    json_text(&json, "status", run_status_name(timeline->status));
    json_text(&json, "policy", work->policy->name);
    json_integer(&json, "nodes", graph_n_nodes(graph));
    json_integer(&json, "makespan_ns", timeline->makespan_ns);
    json_integer(&json, "critical_path_ns", work->critical_path_ns);
    json_open_object(&json, "peak_bytes");
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        json_integer(&json, domain_name(graph, i), timeline->peak_bytes[i]);
    }
    json_close_object(&json);
    json_open_object(&json, "waited_ns");
    for (int i = WAIT_ENGINE; i <= WAIT_OVERLAP; i++) {
        json_integer(&json, wait_cause_name((enum wait_cause)i), waited_ns[i]);
    }
    json_close_object(&json);
    json_integer(&json, "hypothetical_overlap_ns", work->result.hypothetical_ns);
    json_fallbacks(&json, work);
    json_integer(&json, "simulate_wall_ns", work->result.wall_ns);
    json_integer(&json, "simulate_memory_bytes", (int64_t)work->result.memory_bytes);
    json_text(&json, "graph_hash", work->run.graph_hash);
    json_text(&json, "plan_hash", work->run.plan_hash);
    if (work->result.explanation != NULL) {
        json_text(&json, "explanation", work->result.explanation);
    }
    json_close_object(&json);
}

static void answer_text(const struct work *work)
{
    const struct timeline *timeline = work->result.timeline;
    const struct graph *graph = plan_graph(work->plan);
    int64_t waited_ns[WAIT_OVERLAP + 1] = {0};
    char a[NUMBER_TEXT_BYTES], b[NUMBER_TEXT_BYTES];

    sum_waits(timeline, waited_ns);
    number_time_text(timeline->makespan_ns, a);
    number_time_text(work->critical_path_ns, b);
    printf("run %" PRId64 ": %s, policy %s, %" PRIu32 " nodes\n", work->run.id,
           run_status_name(timeline->status), work->policy->name, graph_n_nodes(graph));
    printf("  %-15s %s (precedence alone: %s)\n",
           timeline->status == RUN_COMPLETE ? "makespan" : "stopped at", a, b);
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(graph, (weir_domain){i});

        number_size_text(timeline->peak_bytes[i], a);
        number_size_text(domain->capacity_bytes - domain->reserve_bytes, b);
        printf("  peak %-10s %s of %s\n", domain_name(graph, i), a, b);
    }
    for (int i = WAIT_ENGINE; i <= WAIT_OVERLAP; i++) {
        if (waited_ns[i] > 0) {
            number_time_text(waited_ns[i], a);
            printf("  waits: %-8s %s, summed over nodes\n", wait_cause_name((enum wait_cause)i), a);
        }
    }
    if (work->n_ways > 0) {
        printf("  fallbacks       %zu taken, the first by ", work->n_ways);
        cmd_show(stdout, graph_node_name(graph, work->ways[0].node));
        putchar('\n');
    }
    if (work->result.hypothetical_ns > 0) {
        number_time_text(work->result.hypothetical_ns, a);
        printf("  hypothetical    %s of overlap of which nobody measured what it does\n", a);
    }
}

static enum weir_status answer(const struct request *request, const struct work *work,
                               struct weir_error *err)
{
    if (request->common.is_json) {
        answer_json(work);
    } else if (!request->common.is_quiet) {
        answer_text(work);
    }
    if (work->result.timeline->status == RUN_COMPLETE) {
        return WEIR_OK;
    }
    fprintf(stderr, "weir simulate: %s: ", run_status_name(work->result.timeline->status));
    cmd_show_lines(stderr, work->result.explanation);
    putc('\n', stderr);
    err->text[0] = '\0';
    return err->status = WEIR_INFEASIBLE;
}

static void clear_away(struct work *work)
{
    timeline_free(work->result.timeline);
    free(work->result.explanation);
    free(work->links);
    free(work->ways);
    arena_free(&work->texts);
    free(work->settings);
    plan_free(work->plan);
    ending_blame(NULL);
    free(work->blame);
    if (work->has_recording) {
        stored_run_free(&work->recording);
    }
    store_close(work->store);
    graph_free(work->graph);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {0};
    struct work work = {0};
    const struct cmd_option options[] = {
        {.name = "--policy", .takes_value = true, .value = &request.policy},
        {.name = "--machine", .takes_value = true, .value = &request.machine},
        {.name = "--contention", .takes_value = true, .value = &request.contention},
        {.name = "--unknown-overlap", .takes_value = true, .value = &request.unknown},
        {.name = "--seed", .takes_value = true, .value = &request.seed},
        {.name = "--capacity",
         .takes_value = true,
         .values = request.capacities,
         .n_values = &request.n_capacities},
        {.name = "--set", .takes_value = true, .values = request.sets, .n_values = &request.n_sets},
        {.name = NULL},
    };
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_simulate, argc, argv, options, &request.common,
                                        &request.graph, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = read_options(&request, err);
    if (status == WEIR_OK) {
        status = work_through(context, &request, &work, err);
    }
    if (status == WEIR_OK) {
        status = answer(&request, &work, err);
    }
    clear_away(&work);
    return status;
}

const struct cmd_verb cmd_verb_simulate = {
    "simulate", "plan with a policy, simulate, store the run", usage, run};
