/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir replay: runs the realized plan of a simulation on a device, and stores what happened. */
#include "replay/runner.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"

extern const struct cmd_verb cmd_verb_replay;

#define SHOWN_DEVIATIONS 10 /* in the answer as text */
#define FINDINGS_KEPT 50

static const char usage[] =
    "usage: weir replay RUN [--device D] [--scale-time F] [--scale-bytes F] [--repeats N]\n"
    "                       [--warm-up N] [--db FILE] [--json]\n\n"
    "Runs the plan that a simulation froze (order on each engine, edges, waits for bytes) on a\n"
    "device, with real copies and real work, and stores the measured timeline as a run of kind\n"
    "replay. RUN is a number of `weir runs`, sim or latest. Contents are checked: an action that\n"
    "finds other data than the plan says fails the replay.\n\n"
    "  --device D       host (the default); `weir devices` lists them\n"
    "  --scale-time F   planned times are multiplied by F (1)\n"
    "  --scale-bytes F  sizes are multiplied by F (chosen: buffers fit in a quarter of the free\n"
    "                   memory, and each copy can move its object in its planned time)\n"
    "  --repeats N      runs that count; the one with the median makespan is stored (7)\n"
    "  --warm-up N      runs before them that do not count (2; a graph with scope=cold: 0)\n\n"
    "example:\n"
    "  weir simulate graph.weir --machine host.weir && weir replay sim && weir compare sim "
    "replay\n";

struct request {
    const char *run, *device, *scale_time, *scale_bytes, *repeats, *warm_up;
    struct replay_options options;
    struct cmd_common common;
};

struct work {
    struct store *store;
    struct stored_run planned;
    bool has_planned;
    struct binding *binding;
    struct replay_result *result;
    char *settings;
    enum graph_scope scope;
    struct run run;
};

/* ---- options ---- */

static enum weir_status read_scale(const char *option, const char *text, double *out,
                                   struct weir_error *err)
{
    double value;

    if (text == NULL)
        return WEIR_OK;
    if (number_ratio(text, strlen(text), &value) != NUMBER_OK || !(value > 0 && value <= 1e9))
        return weir_error_set(err, WEIR_USAGE,
                              "%s %.60s: a factor above 0 and up to 1e9 was expected, such as 0.1",
                              option, text);
    *out = value;
    return WEIR_OK;
}

static enum weir_status read_count(const char *option, const char *text, int64_t least,
                                   uint32_t *out, struct weir_error *err)
{
    int64_t value = *out;
    enum weir_status status = WEIR_OK;

    if (text != NULL)
        status = cmd_option_integer(option, text, least, 10000, &value, err);
    if (status == WEIR_OK)
        *out = (uint32_t)value;
    return status;
}

static enum weir_status read_options(struct request *request, struct weir_error *err)
{
    struct replay_options *options = &request->options;
    enum weir_status status;

    *options = replay_default();
    if (request->device != NULL)
        options->device = request->device;
    status = read_scale("--scale-time", request->scale_time, &options->scale_time, err);
    if (status == WEIR_OK)
        status = read_scale("--scale-bytes", request->scale_bytes, &options->scale_bytes, err);
    if (status == WEIR_OK)
        status = read_count("--repeats", request->repeats, 1, &options->n_repeats, err);
    return status == WEIR_OK
               ? read_count("--warm-up", request->warm_up, 0, &options->n_warm_up, err)
               : status;
}

/* Does the settings object hold "key": "value"? */
static bool has_setting(const char *settings, const char *key, const char *value)
{
    char quoted[64];
    const char *at;

    (void)snprintf(quoted, sizeof quoted, "\"%s\"", key);
    at = strstr(settings, quoted);
    if (at == NULL)
        return false;
    at += strlen(quoted);
    at += strspn(at, " \t\r\n:");
    return at[0] == '"' && strncmp(at + 1, value, strlen(value)) == 0 &&
           at[1 + strlen(value)] == '"';
}

/* A cold graph is replayed cold, and any other after warm-up. */
static enum weir_status choose_scope(struct request *request, struct work *work,
                                     struct weir_error *err)
{
    work->scope = work->planned.run.scope;
    if (work->scope == SCOPE_WARM && request->options.n_warm_up == 0)
        return weir_error_set(err, WEIR_USAGE,
                              "the graph says scope=warm, and --warm-up 0 would measure a cold run "
                              "that cannot be compared with it: give --warm-up 1 or more");
    if (work->scope != SCOPE_COLD)
        return WEIR_OK;
    if (request->warm_up != NULL && request->options.n_warm_up > 0)
        return weir_error_set(err, WEIR_USAGE,
                              "the graph says scope=cold, and --warm-up %" PRIu32
                              " would measure a warm run that cannot be compared with it: leave "
                              "--warm-up out",
                              request->options.n_warm_up);
    request->options.n_warm_up = 0;
    request->options.is_cold = true;
    return WEIR_OK;
}

/* ---- the plan ---- */

/* A store that is not there has no plan: only one that can be read is opened to be written, before
 * the replay, so that its time is not lost. */
static enum weir_status open_store(const char *path, struct store **store, struct weir_error *err)
{
    struct store *read_only = NULL;
    enum weir_status status = store_open(path, true, &read_only, err);

    if (status != WEIR_OK)
        return status;
    store_close(read_only);
    return store_open(path, false, store, err);
}

static void close_store(struct work *work)
{
    store_close(work->store);
    work->store = NULL;
}

static enum weir_status read_plan(const struct request *request, struct work *work,
                                  struct weir_error *err)
{
    int64_t run_id = 0;
    enum weir_status status = open_store(request->common.db, &work->store, err);

    if (status == WEIR_OK)
        status = store_resolve_run(work->store, request->run, &run_id, err);
    if (status == WEIR_OK)
        status = store_read_run(work->store, run_id, &work->planned, err);
    close_store(work); /* a signal may end the replay at once */
    if (status != WEIR_OK)
        return status;
    work->has_planned = true;
    if (work->planned.run.kind != RUN_SIM)
        return weir_error_set(err, WEIR_INPUT,
                              "run %" PRId64 " is of kind %s: a replay needs the plan of a "
                              "simulation; simulate the graph (--policy recorded gives a recording "
                              "back) and replay that run",
                              run_id, run_kind_name(work->planned.run.kind));
    return WEIR_OK;
}

static enum weir_status bind_plan(struct work *work, struct weir_error *err)
{
    struct report *report = report_new(FINDINGS_KEPT);
    enum weir_status status;

    if (report == NULL)
        return weir_error_memory(err);
    status = bind_graph(work->planned.graph, report, &work->binding, err);
    if (status != WEIR_OK)
        cmd_print_report(report);
    report_free(report);
    return status;
}

/* ---- storing ---- */

static void write_rates(struct json *json, const struct rates *rates)
{
    json_open_object(json, "rates");
    if (rates->compute.unit_ns > 0) {
        json_ratio(json, "compute_ns_per_iteration", rates->compute.unit_ns);
        json_ratio(json, "compute_fixed_ns", rates->compute.fixed_ns);
        json_ratio(json, "compute_spread_ratio", rates->compute.spread_ratio);
    }
    if (rates->stream.unit_ns > 0)
        json_ratio(json, "stream_bytes_per_s", 1e9 / rates->stream.unit_ns);
    json_open_array(json, "copies");
    for (uint32_t i = 0; i < rates->n_directions; i++) {
        const struct rates_direction *direction = &rates->directions[i];

        for (uint32_t p = 0; p < direction->n_points; p++) {
            json_open_object(json, NULL);
            json_integer(json, "direction", i);
            json_integer(json, "buffer_bytes", rates_sizes[p]);
            json_ratio(json, "bytes_per_s", 1e9 / direction->at[p].unit_ns);
            json_ratio(json, "spread_ratio", direction->at[p].spread_ratio);
            json_close_object(json);
        }
    }
    json_close_array(json);
    json_close_object(json);
}

static void write_constraints(struct json *json, const struct replay_result *result)
{
    const struct waits_counts *counts = &result->schedule->waits.counts;

    json_open_object(json, "constraints");
    json_integer(json, "given", (int64_t)counts->n_given);
    json_integer(json, "implied", (int64_t)counts->n_implied);
    json_integer(json, "induced", (int64_t)counts->n_induced);
    json_integer(json, "added", (int64_t)counts->n_added);
    json_integer(json, "kept_by_queues", (int64_t)counts->n_by_queue);
    json_integer(json, "covered", (int64_t)counts->n_covered);
    json_integer(json, "waited", (int64_t)counts->n_waited);
    json_integer(json, "paced", (int64_t)counts->n_paced);
    json_integer(json, "released", (int64_t)counts->n_released);
    json_integer(json, "inserted", (int64_t)counts->n_one_queue);
    json_close_object(json);
}

static void write_overhead(struct json *json, const struct replay_result *result)
{
    json_open_object(json, "overhead");
    json_integer(json, "median_ns", result->overhead.median_ns);
    json_integer(json, "p95_ns", result->overhead.p95_ns);
    json_integer(json, "total_ns", result->overhead.total_ns);
    json_close_object(json);
}

static void write_common(struct json *json, const struct request *request, const struct work *work)
{
    const struct replay_result *result = work->result;

    json_integer(json, "replay_of", work->planned.run.id);
    json_text(json, "device", result->ops->name);
    json_text(json, "device_name", result->info.name);
    json_text(json, "clock", result->ops->clock);
    json_text(json, "scope", graph_scope_name(work->scope));
    json_ratio(json, "scale_time", result->schedule->scale_time);
    json_ratio(json, "scale_bytes", result->schedule->scale_bytes);
    json_text(json, "scale_bytes_why",
              request->options.scale_bytes > 0 ? "--scale-bytes"
                                               : result->schedule->scale_bytes_why);
    json_integer(json, "warm_up", request->options.n_warm_up);
    json_integer(json, "repeats", request->options.n_repeats);
    json_integer(json, "queues", result->schedule->lanes.n_lanes);
    json_integer(json, "processors", result->info.n_processors);
    json_integer(json, "preempted", result->deviations.n_preempted);
    write_overhead(json, result);
    write_constraints(json, result);
}

static enum weir_status write_settings(const struct request *request, struct work *work,
                                       struct weir_error *err)
{
    size_t length;
    struct json json = {.file = open_memstream(&work->settings, &length)};

    if (json.file == NULL)
        return weir_error_memory(err);
    json_open_object(&json, NULL);
    write_common(&json, request, work);
    json_text(&json, "memory",
              request->options.is_cold ? "blocks are touched by the action that allocates them"
                                       : "blocks are touched when they are new, and used again");
    json_integer(&json, "memory_limit_bytes", work->result->memory_bytes);
    json_text(&json, "timeline", "of the repeat with the median makespan");
    write_rates(&json, &work->result->rates);
    json_close_object(&json);
    return fclose(json.file) == 0 ? WEIR_OK : weir_error_memory(err);
}

/* The lists of a run, in the store's words. */
struct lists {
    struct run_mechanism *mechanisms;
    struct run_deviation *deviations;
    struct run_sample *samples;
};

static void lists_free(struct lists *lists)
{
    free(lists->mechanisms);
    free(lists->deviations);
    free(lists->samples);
}

static enum weir_status make_lists(const struct replay_result *result, struct lists *lists,
                                   struct weir_error *err)
{
    lists->mechanisms = malloc((result->n_mechanisms + (size_t)1) * sizeof *lists->mechanisms);
    lists->deviations = malloc((result->n_deviations_kept + (size_t)1) * sizeof *lists->deviations);
    lists->samples = malloc((result->n_samples + (size_t)1) * sizeof *lists->samples);
    if (lists->mechanisms == NULL || lists->deviations == NULL || lists->samples == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < result->n_mechanisms; i++)
        lists->mechanisms[i] = (struct run_mechanism){.node = result->mechanisms[i].node,
                                                      .mechanism = result->mechanisms[i].name,
                                                      .note = result->mechanisms[i].note};
    for (uint32_t i = 0; i < result->n_deviations_kept; i++)
        lists->deviations[i] =
            (struct run_deviation){.node = result->deviations.list[i].node,
                                   .what = result->deviations.list[i].what,
                                   .cost_ns = result->deviations.list[i].cost_ns};
    for (uint32_t i = 0; i < result->n_samples; i++)
        lists->samples[i] = (struct run_sample){.number = i,
                                                .makespan_ns = result->samples[i].makespan_ns,
                                                .is_warm_up = result->samples[i].is_warm_up};
    return WEIR_OK;
}

static enum weir_status write_run(const char *db, struct work *work, struct weir_error *err)
{
    const struct replay_result *result = work->result;
    struct lists lists = {NULL, NULL, NULL};
    enum weir_status status = make_lists(result, &lists, err);

    work->run = work->planned.run; /* hashes, names, policy, machine, seed: those of the plan */
    work->run.id = 0;
    work->run.kind = RUN_REPLAY;
    work->run.scope = work->scope;
    work->run.settings = work->settings;
    work->run.created = NULL;
    work->run.decisions = NULL; /* a replay decides nothing */
    work->run.n_decisions = 0;
    work->run.timeline = result->timeline;
    work->run.binding = work->binding;
    work->run.mechanisms = lists.mechanisms;
    work->run.n_mechanisms = result->n_mechanisms;
    work->run.deviations = lists.deviations;
    work->run.n_deviations = result->n_deviations_kept;
    if (work->run.critical_path_ns >= 0)
        work->run.critical_path_ns =
            waits_scaled_ns(work->run.critical_path_ns, result->schedule->scale_time);
    if (status == WEIR_OK)
        status = store_open(db, false, &work->store, err);
    if (status == WEIR_OK)
        status = store_write_run(work->store, &work->run, lists.samples, result->n_samples, err);
    lists_free(&lists);
    return status;
}

/* ---- answers ---- */

static const char *node_name(const struct work *work, weir_node node)
{
    return weir_is(node) ? graph_node_name(work->planned.graph, node) : NULL;
}

static void answer_json(const struct request *request, const struct work *work)
{
    const struct replay_result *result = work->result;
    struct replay_spread spread = replay_spread_of(result);
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_integer(&json, "run", work->run.id);
    json_integer(&json, "makespan_ns", spread.median_ns);
    json_integer(&json, "planned_makespan_ns", result->schedule->makespan_ns);
    json_integer(&json, "least_makespan_ns", spread.least_ns);
    json_integer(&json, "greatest_makespan_ns", spread.greatest_ns);
    json_ratio(&json, "quartiles_ratio", spread.quartiles_ratio);
    json_open_array(&json, "makespans_ns");
    for (uint32_t i = 0; i < result->n_samples; i++) {
        if (!result->samples[i].is_warm_up)
            json_integer(&json, NULL, result->samples[i].makespan_ns);
    }
    json_close_array(&json);
    write_common(&json, request, work);
    json_integer(&json, "n_deviations", result->deviations.n_list);
    json_open_array(&json, "deviations");
    for (uint32_t i = 0; i < result->n_deviations_kept; i++) {
        json_open_object(&json, NULL);
        if (weir_is(result->deviations.list[i].node))
            json_text(&json, "node", node_name(work, result->deviations.list[i].node));
        else
            json_null(&json, "node");
        json_text(&json, "what", result->deviations.list[i].what);
        json_integer(&json, "cost_ns", result->deviations.list[i].cost_ns);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
}

static void print_deviations(const struct work *work)
{
    const struct replay_result *result = work->result;
    uint32_t n_shown =
        result->n_deviations_kept < SHOWN_DEVIATIONS ? result->n_deviations_kept : SHOWN_DEVIATIONS;

    printf("  deviations      %" PRIu32 "%s\n", result->deviations.n_list,
           n_shown < result->deviations.n_list ? ", those that cost most:" : "");
    for (uint32_t i = 0; i < n_shown; i++) {
        const char *name = node_name(work, result->deviations.list[i].node);

        printf("    %s%s%s\n", name == NULL ? "" : name, name == NULL ? "" : ": ",
               result->deviations.list[i].what);
    }
}

static void answer_text(const struct request *request, const struct work *work)
{
    const struct replay_result *result = work->result;
    const struct waits_counts *counts = &result->schedule->waits.counts;
    struct replay_spread spread = replay_spread_of(result);
    char a[NUMBER_TEXT_BYTES];
    char b[NUMBER_TEXT_BYTES];

    number_time_text(spread.median_ns, a);
    number_time_text(result->schedule->makespan_ns, b);
    printf("run %" PRId64 ": replay of run %" PRId64 " on %s (%s), scope %s\n", work->run.id,
           work->planned.run.id, result->ops->name, result->info.name,
           graph_scope_name(work->scope));
    printf("  makespan        %s, planned %s", a, b);
    if (result->schedule->makespan_ns > 0)
        printf(" (%+.2f %%)",
               100 * ((double)spread.median_ns / (double)result->schedule->makespan_ns - 1));
    number_time_text(spread.least_ns, a);
    number_time_text(spread.greatest_ns, b);
    printf("\n  repeats         %" PRIu32 " after %" PRIu32
           " to warm up: %s to %s, middle half %.2f %% wide\n",
           request->options.n_repeats, request->options.n_warm_up, a, b,
           100 * spread.quartiles_ratio);
    printf("  scale           time %g, bytes %g (%s)\n", result->schedule->scale_time,
           result->schedule->scale_bytes,
           request->options.scale_bytes > 0 ? "as given" : result->schedule->scale_bytes_why);
    printf(
        "  queues          %" PRIu32 " on %" PRIu32 " processors; %" PRIu32 " actions pre-empted\n",
        result->schedule->lanes.n_lanes, result->info.n_processors, result->deviations.n_preempted);
    printf("  constraints     %" PRIu64 " given, %" PRIu64 " implied, %" PRIu64 " induced, %" PRIu64
           " added: %" PRIu64 " kept by queues, %" PRIu64 " waited for; %" PRIu64 " inserted\n",
           counts->n_given, counts->n_implied, counts->n_induced, counts->n_added,
           counts->n_by_queue, counts->n_waited, counts->n_one_queue);
    number_time_text(result->overhead.median_ns, a);
    number_time_text(result->overhead.p95_ns, b);
    printf("  overhead        median %s an action, p95 %s\n", a, b);
    print_deviations(work);
}

/* ---- the verb ---- */

#define DAY_S 86400.0

/* A plan can take years: a replay would, too, and as many times as it is repeated. */
static enum weir_status check_time(const struct request *request, const struct work *work,
                                   struct weir_error *err)
{
    const struct replay_options *options = &request->options;
    uint32_t n_runs = options->n_repeats + options->n_warm_up;
    double all_s = (double)work->planned.timeline->makespan_ns / 1e9 * options->scale_time * n_runs;
    char planned[NUMBER_TEXT_BYTES];

    if (all_s <= DAY_S)
        return WEIR_OK;
    number_time_text(work->planned.timeline->makespan_ns, planned);
    return weir_error_set(err, WEIR_USAGE,
                          "the plan takes %s, and %" PRIu32
                          " runs of it more than a day: give --scale-time %.0e or less, or fewer "
                          "--repeats",
                          planned, n_runs, options->scale_time * DAY_S / all_s / 2);
}

static enum weir_status replay(const struct cmd_context *context, struct request *request,
                               struct work *work, struct weir_error *err)
{
    struct progress progress;
    enum weir_status status;

    request->options.forbids_unknown =
        has_setting(work->planned.run.settings, "unknown_overlap", "forbid");
    request->options.unknown_by_factor =
        has_setting(work->planned.run.settings, "contention", "pairwise");
    progress_begin(&progress, context, "replaying", request->common.is_quiet);
    request->options.progress = progress_show;
    request->options.progress_arg = &progress;
    status =
        replay_run(work->binding, work->planned.timeline, &request->options, &work->result, err);
    progress_end(&progress);
    return status;
}

static enum weir_status work_through(const struct cmd_context *context, struct request *request,
                                     struct work *work, struct weir_error *err)
{
    const struct device_ops *ops;
    struct device_info info;
    enum weir_status status = read_options(request, err);

    if (status == WEIR_OK)
        status = device_find_ready(request->options.device, &ops, &info, err);
    if (status == WEIR_OK)
        status = read_plan(request, work, err);
    if (status == WEIR_OK)
        status = choose_scope(request, work, err);
    if (status == WEIR_OK)
        status = check_time(request, work, err);
    if (status == WEIR_OK)
        status = bind_plan(work, err);
    if (status == WEIR_OK)
        status = replay(context, request, work, err);
    if (status == WEIR_OK)
        status = write_settings(request, work, err);
    return status == WEIR_OK ? write_run(request->common.db, work, err) : status;
}

static void clear_away(struct work *work)
{
    replay_free(work->result);
    bind_free(work->binding);
    free(work->settings);
    if (work->has_planned)
        stored_run_free(&work->planned);
    close_store(work);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {.run = NULL};
    const struct cmd_option options[] = {
        {.name = "--device", .takes_value = true, .value = &request.device},
        {.name = "--scale-time", .takes_value = true, .value = &request.scale_time},
        {.name = "--scale-bytes", .takes_value = true, .value = &request.scale_bytes},
        {.name = "--repeats", .takes_value = true, .value = &request.repeats},
        {.name = "--warm-up", .takes_value = true, .value = &request.warm_up},
        {.name = NULL},
    };
    struct work work = {.store = NULL};
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_replay, argc, argv, options, &request.common,
                                        &request.run, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    status = work_through(context, &request, &work, err);
    if (status == WEIR_OK) {
        if (request.common.is_json)
            answer_json(&request, &work);
        else if (!request.common.is_quiet)
            answer_text(&request, &work);
    }
    clear_away(&work);
    return status;
}

const struct cmd_verb cmd_verb_replay = {
    .name = "replay",
    .summary = "run the plan of a simulation on a device",
    .usage = usage,
    .run = run,
};
