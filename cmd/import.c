/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir import: from a profile to a graph, and to the recorded run of that graph. */
#include "traces/import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "graph/analyze.h"

extern const struct cmd_verb cmd_verb_import;

static const char usage[] =
    "usage: weir import FORMAT FILE -o GRAPH [--window MARKER|FROM:TO] [--unit TIME] [--db FILE]\n"
    "                   [--json]\n\n"
    "Makes a graph of a profile, and stores what the profile saw as a run of kind `recorded`:\n"
    "simulated with its own durations, the graph starts every action when it was seen to start.\n"
    "The report tells what was read, left out, resolved and assumed, and ends in a grade.\n\n"
    "formats:\n"
    "  nsys              Nsight Systems, exported to SQLite; plain, gzip or zstd\n"
    "  psplib            a scheduling problem of PSPLIB, single mode (.sm); nothing was recorded, "
    "so\n"
    "                    there is a graph and no run\n"
    "  auto              finds out by the first bytes of the file\n\n"
    "  -o GRAPH          the file to write; - for standard output\n"
    "  --window MARKER   only what was launched within the first NVTX range of that text\n"
    "  --window FROM:TO  the same, by times since the profile began: 1.2s:1500ms; with a plus\n"
    "                    before each, since the first event, as figures count: +0s:+300ms\n"
    "  --unit TIME       of a format that counts in units: how long one is (psplib: 1us)\n"
    "  --db FILE         the file that holds the runs (weir.db)\n"
    "  --json            answer with one JSON object\n\n"
    "grades, and what a graph may be used for:\n"
    "  A  objects with their reads: every policy\n"
    "  B  objects, reads unknown: timeline, pressure, reclamation, order of transfers\n"
    "  C  no objects: timeline, critical path, order of transfers\n"
    "  D  waits unresolved: replay as recorded, and its critical path\n"
    "A file without device work, or one whose times contradict its order, is refused (exit 3),\n"
    "with the command that records what is missing.\n\n"
    "example:\n"
    "  nsys export --type sqlite -o profile.sqlite profile.nsys-rep\n"
    "  weir import nsys profile.sqlite -o profile.weir\n";

struct request {
    const char *operands[2]; /* format, file */
    const char *output, *unit;
    struct import_options options;
    struct cmd_common common;
};

struct work {
    struct import_result result;
    struct report *findings;
    struct binding *binding;
    struct store *store;
    char *settings;
    struct run run;
};

/* What it takes to import it again. */
static enum weir_status write_settings(const struct request *request, struct work *work,
                                       struct weir_error *err)
{
    size_t length;
    struct json json = {.file = open_memstream(&work->settings, &length)};

    if (json.file == NULL)
        return weir_error_memory(err);
    json_open_object(&json, NULL);
    json_text(&json, "format", request->operands[0]);
    json_text(&json, "file", request->operands[1]);
    if (request->options.window != NULL)
        json_text(&json, "window", request->options.window);
    json_text(&json, "grade", import_grade_name(work->result.report.grade));
    json_integer(&json, "origin_ns", work->result.origin_ns);
    json_integer(&json, "chain_unexplained_ns", work->result.chain_unexplained_ns);
    json_integer(&json, "chain_host_ns", work->result.chain_host_ns);
    json_close_object(&json);
    return fclose(json.file) == 0 ? WEIR_OK : weir_error_memory(err);
}

/* An import makes legal graphs: what is found here, an import got wrong. */
static enum weir_status bind_it(struct work *work, struct weir_error *err)
{
    enum weir_status status;

    work->findings = report_new(10);
    if (work->findings == NULL)
        return weir_error_memory(err);
    status = bind_graph(work->result.graph, work->findings, &work->binding, err);
    if (status == WEIR_INPUT) {
        cmd_print_report(work->findings);
        (void)weir_error_within(err, "the import made a graph that is not legal; please report it");
    }
    return status;
}

/* @param hash of the graph */
static enum weir_status write_run(const struct request *request, struct work *work,
                                  const char hash[HASH_TEXT_BYTES], struct weir_error *err)
{
    struct graph *graph = work->result.graph;
    enum weir_status status = write_settings(request, work, err);

    work->run = (struct run){
        .kind = RUN_RECORDED,
        .scope = graph_scope(graph),
        .graph = graph,
        .binding = work->binding,
        .graph_name = graph_text(graph, graph_name(graph)),
        .policy = "",
        .machine = "",
        .settings = work->settings,
        .timeline = work->result.timeline,
    };
    if (status == WEIR_OK)
        status = analyze_critical_path(work->binding, &work->run.critical_path_ns, err);
    memcpy(work->run.graph_hash, hash, sizeof work->run.graph_hash);
    memcpy(work->run.ran_hash, hash, sizeof work->run.ran_hash);
    return status == WEIR_OK ? store_add_run(request->common.db, &work->run, NULL, 0, err) : status;
}

/* The graph takes its place when its run is stored: both are there, or neither. */
static enum weir_status write_both(const struct request *request, struct work *work,
                                   struct weir_error *err)
{
    struct output output;
    char hash[HASH_TEXT_BYTES] = "";
    enum weir_status status = output_begin(&output, request->output, err);

    if (status != WEIR_OK)
        return status;
    status = graph_write_hashed(work->result.graph, output.file, hash, err);
    if (status == WEIR_STORE)
        status = weir_error_within(err, "%.200s", output.path);
    if (status == WEIR_OK)
        status = output_settle(&output, err);
    memcpy(work->run.graph_hash, hash, sizeof work->run.graph_hash);
    if (status == WEIR_OK && work->result.timeline != NULL)
        status = write_run(request, work, hash, err);
    return output_end(&output, status, err);
}

/* Neither may fail for a place that could have been tried before. */
static enum weir_status try_places(const struct request *request, struct work *work,
                                   struct weir_error *err)
{
    enum weir_status status = output_try(request->output, err);

    if (status == WEIR_OK)
        status = store_look(request->common.db, &work->store, err);
    store_close(work->store);
    work->store = NULL;
    return status;
}

static enum weir_status work_through(const struct cmd_context *context,
                                     const struct request *request, struct work *work,
                                     struct weir_error *err)
{
    struct import_options options = request->options;
    struct progress progress;
    enum weir_status status = try_places(request, work, err);

    if (status != WEIR_OK)
        return status;
    options.progress = progress_show;
    options.progress_arg = &progress;
    progress_begin(&progress, context, "importing", request->common.is_quiet);
    status = import_read(request->operands[0], request->operands[1], &options, &work->result, err);
    progress_end(&progress);
    if (status == WEIR_OK)
        status = bind_it(work, err);
    if (status != WEIR_OK)
        return status;
    progress_begin(&progress, context, "storing",
                   request->common.is_quiet || strcmp(request->output, "-") == 0);
    status = write_both(request, work, err);
    progress_end(&progress);
    return status;
}

/* Answers. A refusal is told with its report too. */

static void json_report(struct json *json, const struct import_report *report)
{
    const char *section = "";

    json_open_object(json, "report");
    for (size_t i = 0; i < report->n_items; i++) {
        const struct import_item *item = &report->items[i];

        if (strcmp(section, item->section) != 0) {
            if (section[0] != '\0')
                json_close_object(json);
            section = item->section;
            json_open_object(json, section);
        }
        if (item->kind == IMPORT_TEXT)
            json_text(json, item->key, item->text);
        else if (item->kind == IMPORT_RATIO)
            json_ratio(json, item->key, item->ratio);
        else
            json_integer(json, item->key, item->integer);
    }
    if (section[0] != '\0')
        json_close_object(json);
    json_close_object(json);
}

static void answer_json(const struct request *request, const struct work *work)
{
    const struct import_result *result = &work->result;
    const struct import_report *report = &result->report;
    const struct graph *graph = result->graph;
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_integer(&json, "nodes", graph == NULL ? 0 : graph_n_nodes(graph));
    json_integer(&json, "edges", graph == NULL ? 0 : graph_n_edges(graph));
    json_integer(&json, "objects", graph == NULL ? 0 : graph_n_objects(graph));
    json_text(&json, "grade", import_grade_name(report->grade));
    json_text(&json, "grade_meaning", import_grade_meaning(report->grade));
    json_text(&json, "reason", report->reason == NULL ? "" : report->reason);
    json_text(&json, "remedy", report->remedy == NULL ? "" : report->remedy);
    if (graph != NULL) {
        json_text(&json, "graph", request->output);
        if (result->timeline != NULL)
            json_integer(&json, "run", work->run.id);
        json_text(&json, "graph_hash", work->run.graph_hash);
    }
    if (result->timeline != NULL) {
        json_integer(&json, "makespan_ns", result->makespan_ns);
        json_ratio(&json, "unexplained_ratio",
                   result->makespan_ns == 0
                       ? 0.0
                       : (double)result->chain_unexplained_ns / (double)result->makespan_ns);
    }
    json_report(&json, report);
    json_close_object(&json);
}

/* Beside the answer, whatever form that has. */
static void tell_warnings(const struct request *request, const struct import_report *report)
{
    for (size_t i = 0; i < report->n_items && !request->common.is_quiet; i++) {
        const struct import_item *item = &report->items[i];

        if (strcmp(item->section, "warnings") == 0)
            fprintf(stderr, "weir import: warning: %s: %s %s\n", request->operands[1], item->key,
                    item->text);
    }
}

static bool ends_in(const char *text, const char *suffix)
{
    size_t n_text = strlen(text), n_suffix = strlen(suffix);

    return n_text >= n_suffix && strcmp(text + n_text - n_suffix, suffix) == 0;
}

static void put_item(FILE *to, const struct import_item *item)
{
    char text[NUMBER_TEXT_BYTES];

    if (item->kind == IMPORT_TEXT) {
        fprintf(to, "    %-34s %s\n", item->key, item->text);
    } else if (item->kind == IMPORT_RATIO) {
        if (isnan(item->ratio))
            return;
        fprintf(to, "    %-34s %.1f %%\n", item->key, 100 * item->ratio);
    } else if (strcmp(item->section, "source") == 0) { /* by a clock: to the nanosecond */
        fprintf(to, "    %-34s %" PRId64 " ns\n", item->key, item->integer);
    } else if (ends_in(item->key, "_ns")) {
        number_time_text(item->integer, text);
        fprintf(to, "    %-34s %s\n", item->key, text);
    } else if (ends_in(item->key, "_bytes")) {
        number_size_text(item->integer, text);
        fprintf(to, "    %-34s %s\n", item->key, text);
    } else {
        fprintf(to, "    %-34s %" PRId64 "\n", item->key, item->integer);
    }
}

/* What did not occur is left out, but for the sections that a reader compares. */
static void text_report(FILE *to, const struct import_report *report)
{
    const char *section = "";

    for (size_t i = 0; i < report->n_items; i++) {
        const struct import_item *item = &report->items[i];

        if (item->kind == IMPORT_INTEGER && item->integer == 0)
            continue;
        if (strcmp(item->section, "warnings") == 0)
            continue; /* they are told already */
        if (strcmp(section, item->section) != 0) {
            section = item->section;
            fprintf(to, "  %s\n", section);
        }
        put_item(to, item);
    }
}

static double percent_of(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns == 0 ? 0.0 : 100 * (double)part_ns / (double)whole_ns;
}

static void text_run(FILE *to, const struct work *work)
{
    const struct import_result *result = &work->result;
    char text[NUMBER_TEXT_BYTES];

    number_time_text(result->makespan_ns, text);
    fprintf(to,
            "run %" PRId64
            ": recorded, makespan %s, of which %.2f %% is unexplained and %.1f %% the "
            "program's own time between calls\n",
            work->run.id, text, percent_of(result->chain_unexplained_ns, result->makespan_ns),
            percent_of(result->chain_host_ns, result->makespan_ns));
}

static void answer_text(const struct request *request, const struct work *work)
{
    const struct import_result *result = &work->result;
    const struct import_report *report = &result->report;
    /* A graph on standard output is all that goes there. */
    FILE *to = strcmp(request->output, "-") == 0 ? stderr : stdout;

    text_report(to, report);
    fprintf(to, "%s: %" PRIu32 " nodes, %" PRIu32 " edges, %" PRIu32 " objects\n", request->output,
            graph_n_nodes(result->graph), graph_n_edges(result->graph),
            graph_n_objects(result->graph));
    if (result->timeline != NULL)
        text_run(to, work);
    fprintf(to, "grade %s: %s\n", import_grade_name(report->grade), report->reason);
    fprintf(to, "  good for: %s\n", import_grade_meaning(report->grade));
    if (report->remedy != NULL)
        fprintf(to, "  better: %s\n", report->remedy);
}

static void clear_away(struct work *work)
{
    import_result_free(&work->result);
    bind_free(work->binding);
    report_free(work->findings);
    store_close(work->store);
    free(work->settings);
}

static enum weir_status read_unit(struct request *request, struct weir_error *err)
{
    enum number_fault fault =
        number_time(request->unit, strlen(request->unit), &request->options.unit_ns);

    if (fault == NUMBER_OK && request->options.unit_ns > 0)
        return WEIR_OK;
    return weir_error_set(err, WEIR_USAGE, "--unit %.80s: %s; expected a time above 0, such as 1us",
                          request->unit, fault == NUMBER_OK ? "no time" : number_fault_text(fault));
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {.options = import_default()};
    struct work work = {0};
    const struct cmd_option options[] = {
        {.name = "-o", .takes_value = true, .value = &request.output},
        {.name = "--window", .takes_value = true, .value = &request.options.window},
        {.name = "--unit", .takes_value = true, .value = &request.unit},
        {.name = NULL},
    };
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_import, argc, argv, options, &request.common,
                                        request.operands, 2, 2, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    if (request.output == NULL)
        return weir_error_set(err, WEIR_USAGE,
                              "-o GRAPH is missing: the file that the graph is written to");
    if (request.common.is_json && strcmp(request.output, "-") == 0)
        return weir_error_set(err, WEIR_USAGE,
                              "--json and -o - both write to standard output; name a file");
    if (request.unit != NULL) {
        status = read_unit(&request, err);
        if (status != WEIR_OK)
            return status;
    }
    status = work_through(context, &request, &work, err);
    tell_warnings(&request, &work.result.report);
    if (request.common.is_json && (status == WEIR_OK || work.result.report.reason != NULL))
        answer_json(&request, &work);
    else if (status == WEIR_OK && !request.common.is_quiet)
        answer_text(&request, &work);
    clear_away(&work);
    return status;
}

const struct cmd_verb cmd_verb_import = {
    "import", "make a graph of a profile, and store what the profile saw", usage, run};
