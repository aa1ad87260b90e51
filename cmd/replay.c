/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir replay: runs the realized plan of a simulation on a device, and stores what happened. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/progress.h"
#include "cmd/replay_internal.h"
#include "cmd/supervise.h"
#include "graph/measured.h"

extern const struct cmd_verb cmd_verb_replay;

#define FINDINGS_KEPT 50

static const char usage[] =
    "usage: weir replay RUN [--device D] [--mode M] [--storage S] [--deadline TIME] [--scale-time "
    "F]\n"
    "                       [--scale-bytes F] [--repeats N] [--warm-up N] [--db FILE] [--json]\n\n"
    "Runs the plan that a simulation froze (order on each engine, edges, waits for bytes) on a\n"
    "device, with real copies and real work, and stores the measured timeline as a run of kind\n"
    "replay. RUN is a number of `weir runs`, sim or latest. Contents are checked: an action that\n"
    "finds other data than the plan says fails the replay.\n\n"
    "  --device D       host (the default); `weir devices` lists them\n"
    "  --mode M         how a GPU gets its work: gated (the default), stream, paced or serial\n"
    "  --storage S      where a GPU has the buffers: apart, in a planned arena, in the driver's\n"
    "                   pool; fitting (the default): the first of these in which they fit\n"
    "  --deadline TIME  a GPU that shows no sign of life for so long is given up (300s)\n"
    "  --scale-time F   planned times are multiplied by F (1)\n"
    "  --scale-bytes F  sizes are multiplied by F (chosen: buffers fit in a quarter of the free\n"
    "                   memory, and each copy can move its object in its planned time)\n"
    "  --repeats N      runs that count; the one with the median makespan is stored (7; on a GPU\n"
    "                   auto: 30, and more until the median is known to 1 %, 60 s are over or\n"
    "                   there are 100)\n"
    "  --warm-up N      runs before them that do not count (2, on a GPU 5; a graph with\n"
    "                   scope=cold: 0)\n\n"
    "example:\n"
    "  weir simulate graph.weir --machine host.weir && weir replay sim && weir compare sim "
    "replay\n";

/* The words of the command line. */
struct request {
    const char *run, *device, *mode, *storage, *deadline, *scale_time, *scale_bytes, *repeats,
        *warm_up;
    struct cmd_common common;
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

static enum weir_status read_repeats(const char *text, struct replay_options *options,
                                     struct weir_error *err)
{
    if (text == NULL)
        return WEIR_OK;
    if (strcmp(text, "auto") == 0) {
        replay_repeat_as_needed(options);
        return WEIR_OK;
    }
    options->n_most_repeats = 0;
    return read_count("--repeats", text, 1, &options->n_repeats, err);
}

static enum weir_status read_options(const struct request *request, const struct device_ops *ops,
                                     struct replay_options *options, struct weir_error *err)
{
    enum weir_status status;

    *options = replay_default(ops);
    status = read_scale("--scale-time", request->scale_time, &options->scale_time, err);
    if (status == WEIR_OK)
        status = read_scale("--scale-bytes", request->scale_bytes, &options->scale_bytes, err);
    if (status == WEIR_OK)
        status = read_repeats(request->repeats, options, err);
    return status == WEIR_OK
               ? read_count("--warm-up", request->warm_up, 0, &options->n_warm_up, err)
               : status;
}

/* Only a device that takes steps ahead of time has modes. */
static enum weir_status choose_mode(const char *mode, const struct device_ops *ops,
                                    struct replay_options *options, struct weir_error *err)
{
    if (mode == NULL)
        return WEIR_OK;
    if (!device_mode_from(mode, &options->mode))
        return weir_error_set(err, WEIR_USAGE,
                              "--mode %.60s: gated, stream, paced or serial was expected", mode);
    if (!ops->has_modes)
        return weir_error_set(err, WEIR_USAGE,
                              "--mode %s: device %s takes each action when it is due, and has no "
                              "modes; leave --mode out",
                              mode, ops->name);
    return WEIR_OK;
}

/* Only a device with memory of its own has a choice of storage. */
static enum weir_status choose_storage(const char *storage, const struct device_ops *ops,
                                       struct replay_options *options, struct weir_error *err)
{
    if (storage == NULL)
        return WEIR_OK;
    if (!device_storage_from(storage, &options->storage))
        return weir_error_set(err, WEIR_USAGE,
                              "--storage %.60s: fitting, apart, arena or pool was expected",
                              storage);
    if (ops->placed == NULL)
        return weir_error_set(err, WEIR_USAGE,
                              "--storage %s: device %s works in the host's memory, which each "
                              "action takes and gives back; leave --storage out",
                              storage, ops->name);
    return WEIR_OK;
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
static enum weir_status choose_scope(const struct request *request, struct replay_work *work,
                                     struct weir_error *err)
{
    work->scope = work->planned.run.scope;
    if (work->scope == SCOPE_WARM && work->options.n_warm_up == 0)
        return weir_error_set(err, WEIR_USAGE,
                              "the graph says scope=warm, and --warm-up 0 would measure a cold run "
                              "that cannot be compared with it: give --warm-up 1 or more");
    if (work->scope != SCOPE_COLD)
        return WEIR_OK;
    if (request->warm_up != NULL && work->options.n_warm_up > 0)
        return weir_error_set(err, WEIR_USAGE,
                              "the graph says scope=cold, and --warm-up %" PRIu32
                              " would measure a warm run that cannot be compared with it: leave "
                              "--warm-up out",
                              work->options.n_warm_up);
    work->options.n_warm_up = 0;
    work->options.is_cold = true;
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

static void close_store(struct replay_work *work)
{
    store_close(work->store);
    work->store = NULL;
}

static enum weir_status read_plan(const struct request *request, struct replay_work *work,
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

static enum weir_status bind_plan(struct replay_work *work, struct weir_error *err)
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

/* ---- the verb ---- */

#define DAY_S 86400.0

/* A plan can take years: a replay would, too, and as many times as it is repeated. */
static enum weir_status check_time(const struct replay_work *work, const struct device_ops *ops,
                                   struct weir_error *err)
{
    const struct replay_options *options = &work->options;
    uint32_t n_runs = (options->n_repeats + options->n_warm_up) * (ops->has_modes ? 2 : 1);
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
                               struct replay_work *work, struct weir_error *err)
{
    struct progress progress;
    enum weir_status status;

    work->options.forbids_unknown =
        has_setting(work->planned.run.settings, "unknown_overlap", "forbid");
    work->options.unknown_by_factor =
        has_setting(work->planned.run.settings, "contention", "pairwise") ||
        (has_setting(work->planned.run.settings, "contention", "measured") &&
         measured_family(work->planned.graph) == MEASURED_PAIRWISE);
    progress_begin_told(&progress, context, "replaying", request->common.is_quiet);
    work->options.progress = progress_show;
    work->options.progress_arg = &progress;
    status = replay_run(work->binding, work->planned.timeline, &work->options, &work->result, err);
    progress_end(&progress);
    return status;
}

static enum weir_status work_through(const struct cmd_context *context, struct request *request,
                                     struct replay_work *work, struct weir_error *err)
{
    const struct device_ops *ops;
    struct device_info info;
    enum weir_status status =
        device_find(request->device == NULL ? "host" : request->device, &ops, err);

    if (status == WEIR_OK)
        status = read_options(request, ops, &work->options, err);
    if (status == WEIR_OK)
        status = device_find_ready(work->options.device, &ops, &info, err);
    if (status == WEIR_OK)
        status = choose_mode(request->mode, ops, &work->options, err);
    if (status == WEIR_OK)
        status = choose_storage(request->storage, ops, &work->options, err);
    if (status == WEIR_OK)
        status = read_plan(request, work, err);
    if (status == WEIR_OK)
        status = choose_scope(request, work, err);
    if (status == WEIR_OK)
        status = check_time(work, ops, err);
    if (status == WEIR_OK)
        status = bind_plan(work, err);
    if (status == WEIR_OK)
        status = replay(context, request, work, err);
    if (status == WEIR_OK)
        status = replay_write_settings(work, err);
    return status == WEIR_OK ? replay_write_run(request->common.db, work, err) : status;
}

static void clear_away(struct replay_work *work)
{
    replay_lists_free(&work->lists);
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
        {.name = "--mode", .takes_value = true, .value = &request.mode},
        {.name = "--storage", .takes_value = true, .value = &request.storage},
        {.name = "--deadline", .takes_value = true, .value = &request.deadline},
        {.name = "--scale-time", .takes_value = true, .value = &request.scale_time},
        {.name = "--scale-bytes", .takes_value = true, .value = &request.scale_bytes},
        {.name = "--repeats", .takes_value = true, .value = &request.repeats},
        {.name = "--warm-up", .takes_value = true, .value = &request.warm_up},
        {.name = NULL},
    };
    struct replay_work work = {.store = NULL};
    uint32_t n_operands;
    bool is_done, is_due = false;
    enum weir_status status = cmd_parse(&cmd_verb_replay, argc, argv, options, &request.common,
                                        &request.run, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    if (request.device != NULL)
        status = supervise_is_due(context, request.device, &is_due, err);
    if (status != WEIR_OK)
        return status;
    if (is_due)
        return supervise("replay", argc, argv, request.deadline, err);
    status = work_through(context, &request, &work, err);
    if (status == WEIR_OK) {
        if (request.common.is_json)
            status = replay_answer_json(&work, err);
        else if (!request.common.is_quiet)
            replay_answer_text(&work);
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
