/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir export: tables of a run as CSV, timelines for Perfetto. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "cmd/replayed.h"
#include "graph/text.h"
#include "traces/chrome.h"
#include "traces/csv.h"

extern const struct cmd_verb cmd_verb_export;

static const char usage[] =
    "usage: weir export csv TABLE [RUN [RUN]] [-o FILE] [options]\n"
    "       weir export csv RUN -o FOLDER/ [options]\n"
    "       weir export chrome RUN... [-o FILE] [options]\n"
    "       weir export graph RUN [-o FILE] [options]\n\n"
    "csv     a table of a run, or with -o FOLDER/ every table of it, a file each; the first line\n"
    "        names the columns; times are nanoseconds, sizes bytes, a field is empty where there\n"
    "        is no value\n"
    "chrome  timelines in the trace format of Chrome, for ui.perfetto.dev; of several runs each "
    "is\n"
    "        a process, so that a simulation and its replay stand one below the other\n\n"
    "graph   the graph that ran, planned and with its machine over it, as weir-graph(5) writes "
    "it\n\n"
    "A RUN is a number of `weir runs`, or latest, sim, replay or recorded: the newest of that "
    "kind.\n\n"
    "  -o FILE     where to; standard output without it; a name in .gz is compressed\n"
    "  --from T    chrome: what reaches into the time from T on (2ms, 150us, ...)\n"
    "  --to T      chrome: and begins before T\n"
    "  --limit N   chrome: at most N events (1000000, which viewers still take); arrows are left\n"
    "              out first\n"
    "  --no-arrows chrome: no arrows for edges\n"
    "  --db FILE   the file that holds the runs (weir.db)\n"
    "  --json      tell what was written as one JSON object; needs -o\n\n"
    "tables and their columns:\n"
    "  nodes       id,name,kind,engine,class\n"
    "  spans       node_id,name,kind,engine,class,ready_ns,start_ns,finish_ns,isolated_ns,\n"
    "              wait_cause,blocker,time_source,start_order\n"
    "  edges       producer,consumer,type,object,lag_ns,origin,counts_from,domain,bytes\n"
    "  objects     id,name,bytes,domain\n"
    "  domains     id,name,capacity_bytes,reserve_bytes,granule_bytes\n"
    "  engines     id,name,slots\n"
    "  holds       domain,object,acquire_ns,release_ns,bytes,node_id\n"
    "  waits       node_id,cause,blocker,from_ns,to_ns,object\n"
    "  pressure    domain,t_ns,bytes\n"
    "  peaks       domain,bytes\n"
    "  chain       position,node_id,cause,via,start_ns,finish_ns,dependency_ns,submission_ns,\n"
    "              queue_ns,stretch_ns\n"
    "  overlaps    class_a,class_b,overlap_ns\n"
    "  samples     number,makespan_ns,is_warm_up,status\n"
    "  sample_peaks  number,domain,bytes\n"
    "  evidence    subject,id,name,evidence,detail,confidence\n"
    "  decisions   position,what,reason,instead_of\n"
    "  mechanisms  node_id,mechanism,note\n"
    "  deviations  position,node_id,what,cost_ns\n"
    "  deviation_parts  node_id,deviation_ns,dependency_ns,submission_ns,queue_ns,stretch_ns,\n"
    "              cost_ns,submit_ns\n"
    "  queue_order queue,position,planned_position,node_id\n"
    "  inserted    position,producer,consumer,counts_from,not_before_ns,why\n"
    "  compare     (of two runs) name,kind,engine,start_a_ns,finish_a_ns,start_b_ns,finish_b_ns,\n"
    "              start_error_ns,duration_a_ns,duration_b_ns,duration_error_ns\n"
    "  runs        (of none: all of them) id,kind,scope,graph_hash,plan_hash,graph_name,policy,\n"
    "              machine,seed,makespan_ns,critical_path_ns,status,created,settings\n\n"
    "examples:\n"
    "  weir export csv spans latest -o spans.csv\n"
    "  weir export chrome sim replay -o both.json.gz\n";

#define RUNS_MOST 16 /* timelines of one file */

struct request {
    const char *words[RUNS_MOST + 2]; /* format, perhaps a table, runs */
    uint32_t n_words;
    const char *output; /* "-" when not given */
    const char *from, *to, *limit;
    bool has_no_arrows;
    struct cmd_common common;
    struct progress progress; /* ends before something is told */
    int64_t runs[RUNS_MOST];
    uint32_t n_runs;
};

static enum weir_status resolve_runs(struct store *store, struct request *r, uint32_t first,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = first; i < r->n_words && status == WEIR_OK; i++)
        status = store_resolve_run(store, r->words[i], &r->runs[r->n_runs++], err);
    return status;
}

/* ---- csv ---- */

/* A file of rows in the making. */
struct csv_file {
    struct writer writer;
    uint64_t n_rows; /* with the names of the columns */
};

static enum weir_status take_row(void *arg, uint32_t n_values, const char *const *values,
                                 struct weir_error *err)
{
    struct csv_file *file = arg;

    csv_row(&file->writer, n_values, values);
    file->n_rows++;
    if (file->writer.status != WEIR_OK)
        *err = *file->writer.err;
    return file->writer.status;
}

static enum weir_status write_table(struct store *store, const struct request *r, const char *table,
                                    uint32_t n_runs, const char *path, uint64_t *n_rows,
                                    struct weir_error *err)
{
    struct csv_file *file = malloc(sizeof *file);
    struct weir_error failed = {.status = WEIR_OK};
    enum weir_status status;

    if (file == NULL)
        return weir_error_memory(err);
    file->n_rows = 0;
    status = writer_begin(&file->writer, path, &failed);
    if (status == WEIR_OK) {
        status = store_read_table(store, table, r->runs, n_runs, take_row, file, err);
        if (status != WEIR_OK)
            failed = *err;
        status = writer_end(&file->writer, status);
    }
    if (status != WEIR_OK)
        *err = failed;
    else
        *n_rows = file->n_rows - 1;
    free(file);
    return status;
}

/* Says what a file holds: with --json on standard output, else on standard error when the rows are
 * not there themselves. */
static void tell_table(struct json *json, struct request *r, const char *table, const char *path,
                       uint64_t n_rows)
{
    progress_end(&r->progress);
    if (r->common.is_json) {
        json_open_object(json, NULL);
        json_text(json, "table", table);
        json_text(json, "file", path);
        json_integer(json, "rows", (int64_t)n_rows);
        json_close_object(json);
    } else if (!r->common.is_quiet && strcmp(path, "-") != 0) {
        printf("%s: %" PRIu64 " rows\n", path, n_rows);
    }
}

/* Every table that is about one run, TABLE.csv each. */
static enum weir_status export_folder(struct store *store, struct request *r, struct json *json,
                                      struct weir_error *err)
{
    enum weir_status status = resolve_runs(store, r, 1, err);
    const struct store_table *table;

    if (status == WEIR_OK && mkdir(r->output, 0777) != 0 && errno != EEXIST) {
        return weir_error_set(
            err, WEIR_STORE,
            "%.300s: the folder cannot be made: %s; give a path where you may write", r->output,
            strerror(errno));
    }
    for (uint32_t i = 0; status == WEIR_OK && (table = store_table(i)) != NULL; i++) {
        char path[4096];
        uint64_t n_rows = 0;

        if (table->n_runs != 1)
            continue;
        (void)snprintf(path, sizeof path, "%.3900s%s.csv", r->output, table->name);
        status = write_table(store, r, table->name, 1, path, &n_rows, err);
        if (status == WEIR_OK)
            tell_table(json, r, table->name, path, n_rows);
    }
    return status;
}

static enum weir_status export_one(struct store *store, struct request *r, struct json *json,
                                   struct weir_error *err)
{
    enum weir_status status = resolve_runs(store, r, 2, err);
    uint64_t n_rows = 0;

    if (status == WEIR_OK)
        status = write_table(store, r, r->words[1], r->n_runs, r->output, &n_rows, err);
    if (status == WEIR_OK)
        tell_table(json, r, r->words[1], r->output, n_rows);
    return status;
}

static enum weir_status export_csv(struct store *store, struct request *r, struct weir_error *err)
{
    size_t length = strlen(r->output);
    bool is_folder = r->output[length - 1] == '/';
    struct json json = {.file = stdout};
    enum weir_status status;

    if (r->n_words < 2 || (is_folder && r->n_words != 2)) {
        return weir_error_set(err, WEIR_USAGE,
                              is_folder ? "csv -o FOLDER/: one run was expected, whose "
                                          "tables are written there"
                                        : "csv: a table was expected, and its runs; "
                                          "weir export --help lists the tables");
    }
    if (r->common.is_json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "files");
    }
    status = is_folder ? export_folder(store, r, &json, err) : export_one(store, r, &json, err);
    if (r->common.is_json) {
        json_close_array(&json);
        json_close_object(&json);
    }
    return status;
}

/* ---- chrome ---- */

/* One run with what its timeline needs to be drawn. */
struct drawn_run {
    struct stored_run stored;
    struct binding *binding; /* NULL when the graph cannot be bound: no implied edges then */
    weir_node *chain;
    size_t n_chain, chain_room;
    char label[560];
};

static enum weir_status take_chain(void *arg, uint32_t n_values, const char *const *values,
                                   struct weir_error *err)
{
    struct drawn_run *run = arg;
    int64_t node;
    enum weir_status status;

    (void)n_values;
    /* The names of the columns, and links that are no node, have no number. */
    if (values[1] == NULL || number_integer(values[1], strlen(values[1]), &node) != NUMBER_OK ||
        node < 0 || node >= graph_n_nodes(run->stored.graph))
        return WEIR_OK;
    status = array_grow(&run->chain, &run->chain_room, run->n_chain + 1, err);
    if (status == WEIR_OK)
        run->chain[run->n_chain++] = (weir_node){(uint32_t)node};
    return status;
}

static enum weir_status bind_run(struct drawn_run *run, struct weir_error *err)
{
    struct report *report = report_new(1);
    enum weir_status status;

    if (report == NULL)
        return weir_error_memory(err);
    status = bind_graph(run->stored.graph, report, &run->binding, err);
    report_free(report);
    return status == WEIR_INPUT ? WEIR_OK : status;
}

static enum weir_status read_run(struct store *store, int64_t run_id, bool has_arrows,
                                 struct drawn_run *run, struct weir_error *err)
{
    enum weir_status status = store_read_run(store, run_id, &run->stored, err);
    const struct run *stored = &run->stored.run;
    char device[REPLAYED_DEVICE_BYTES];

    if (status != WEIR_OK)
        return status;
    (void)snprintf(run->label, sizeof run->label, "run %" PRId64 ": %s%s%s%.80s, %.200s",
                   stored->id, run_kind_name(stored->kind), replayed_device(stored, device),
                   stored->policy[0] == '\0' ? "" : ", ", stored->policy, stored->graph_name);
    if (has_arrows)
        status = bind_run(run, err);
    if (status == WEIR_OK)
        status = store_read_table(store, "chain", &run_id, 1, take_chain, run, err);
    return status;
}

static enum weir_status read_time(const char *option, const char *text, int64_t *out,
                                  struct weir_error *err)
{
    enum number_fault fault = text == NULL ? NUMBER_OK : NUMBER_SYNTAX;

    if (text != NULL)
        fault = number_time(text, strlen(text), out);
    if (fault == NUMBER_OK)
        return WEIR_OK;
    return weir_error_set(err, WEIR_USAGE, "%s %.80s: %s; a time such as 150us was expected",
                          option, text, number_fault_text(fault));
}

static enum weir_status read_window(const struct request *r, struct chrome_options *options,
                                    struct weir_error *err)
{
    int64_t limit = (int64_t)options->limit_events;
    enum weir_status status = read_time("--from", r->from, &options->from_ns, err);

    if (status == WEIR_OK)
        status = read_time("--to", r->to, &options->to_ns, err);
    if (status == WEIR_OK && r->limit != NULL)
        status = cmd_option_integer("--limit", r->limit, 1, INT64_MAX, &limit, err);
    options->limit_events = (uint64_t)limit;
    options->has_arrows = !r->has_no_arrows;
    if (status == WEIR_OK && options->to_ns <= options->from_ns)
        return weir_error_set(err, WEIR_USAGE, "--to has to be after --from");
    return status;
}

static void tell_trace(struct request *r, const struct chrome_result *result)
{
    struct json json = {.file = stdout};

    progress_end(&r->progress);
    if (result->n_arrows_left_out > 0 && !r->has_no_arrows && !r->common.is_quiet) {
        fprintf(stderr,
                "weir export: %" PRIu64 " of %" PRIu64
                " arrows are left out: beyond --limit, or an "
                "end of theirs is not drawn\n",
                result->n_arrows_left_out, result->n_arrows_left_out + result->n_arrows);
    }
    if (r->common.is_json) {
        json_open_object(&json, NULL);
        json_text(&json, "file", r->output);
        json_integer(&json, "events", (int64_t)result->n_events);
        json_integer(&json, "slices", (int64_t)result->n_slices);
        json_integer(&json, "counters", (int64_t)result->n_counters);
        json_integer(&json, "arrows", (int64_t)result->n_arrows);
        json_integer(&json, "arrows_left_out", (int64_t)result->n_arrows_left_out);
        json_close_object(&json);
    } else if (!r->common.is_quiet && strcmp(r->output, "-") != 0) {
        printf("%s: %" PRIu64 " events; open it in ui.perfetto.dev\n", r->output, result->n_events);
    }
}

static enum weir_status write_trace(struct request *r, const struct drawn_run *runs,
                                    const struct chrome_options *options, struct weir_error *err)
{
    struct chrome_timeline timelines[RUNS_MOST];
    struct writer *writer = malloc(sizeof *writer);
    struct weir_error failed = {.status = WEIR_OK};
    struct chrome_result result = {.n_events = 0};
    enum weir_status status;

    if (writer == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < r->n_runs; i++) {
        timelines[i] = (struct chrome_timeline){
            .label = runs[i].label,
            .graph = runs[i].stored.graph,
            .timeline = runs[i].stored.timeline,
            .binding = runs[i].binding,
            .chain = runs[i].chain,
            .n_chain = (uint32_t)runs[i].n_chain,
        };
    }
    status = writer_begin(writer, r->output, &failed);
    if (status == WEIR_OK) {
        status = chrome_write(writer, timelines, r->n_runs, options, &result, err);
        if (status != WEIR_OK)
            failed = *err;
        status = writer_end(writer, status);
    }
    free(writer);
    if (status != WEIR_OK) {
        *err = failed;
        return status;
    }
    tell_trace(r, &result);
    return WEIR_OK;
}

static enum weir_status export_chrome(struct store *store, struct request *r,
                                      struct weir_error *err)
{
    struct chrome_options options = chrome_default();
    struct drawn_run *runs = calloc(RUNS_MOST, sizeof *runs);
    enum weir_status status = read_window(r, &options, err);

    if (runs == NULL)
        return weir_error_memory(err);
    if (status == WEIR_OK && r->n_words < 2)
        status = weir_error_set(err, WEIR_USAGE, "chrome: at least one run was expected");
    if (status == WEIR_OK)
        status = resolve_runs(store, r, 1, err);
    for (uint32_t i = 0; i < r->n_runs && status == WEIR_OK; i++)
        status = read_run(store, r->runs[i], options.has_arrows, &runs[i], err);
    if (status == WEIR_OK)
        status = write_trace(r, runs, &options, err);
    for (uint32_t i = 0; i < r->n_runs; i++) {
        bind_free(runs[i].binding);
        free(runs[i].chain);
        stored_run_free(&runs[i].stored);
    }
    free(runs);
    return status;
}

/* ---- the verb ---- */

static enum weir_status check_request(const struct request *r, struct weir_error *err)
{
    static const char *const formats[] = {"csv", "chrome", "graph", NULL};
    const char *closest;

    if (strcmp(r->words[0], "csv") != 0 && strcmp(r->words[0], "chrome") != 0 &&
        strcmp(r->words[0], "graph") != 0) {
        closest = cmd_closest(r->words[0], formats);
        return weir_error_set(err, WEIR_USAGE,
                              "'%.80s' is not a format%s%s%s csv, chrome or graph was expected",
                              r->words[0], closest == NULL ? ";" : "; did you mean '",
                              closest == NULL ? "" : closest, closest == NULL ? "" : "'?");
    }
    if (r->output[0] == '\0')
        return weir_error_set(err, WEIR_USAGE, "-o: a file name was expected, and is empty");
    if (r->common.is_json && strcmp(r->output, "-") == 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "--json and the export cannot both go to standard output; name a "
                              "file with -o");
    }
    return WEIR_OK;
}

/* ---- graph ---- */

static enum weir_status export_graph(struct store *store, struct request *r, struct weir_error *err)
{
    struct json json = {.file = stdout};
    struct stored_run stored;
    enum weir_status status = resolve_runs(store, r, 1, err);

    if (status == WEIR_OK && r->n_runs != 1)
        return weir_error_set(err, WEIR_USAGE, "graph: one run was expected");
    if (status == WEIR_OK)
        status = store_read_run(store, r->runs[0], &stored, err);
    if (status != WEIR_OK)
        return status;
    status = graph_write_file(stored.graph, r->output, err);
    progress_end(&r->progress);
    if (status == WEIR_OK && r->common.is_json) {
        json_open_object(&json, NULL);
        json_text(&json, "file", r->output);
        json_integer(&json, "nodes", graph_n_nodes(stored.graph));
        json_integer(&json, "edges", graph_n_edges(stored.graph));
        json_integer(&json, "objects", graph_n_objects(stored.graph));
        json_close_object(&json);
    } else if (status == WEIR_OK && !r->common.is_quiet && strcmp(r->output, "-") != 0) {
        printf("%s: %" PRIu32 " nodes\n", r->output, graph_n_nodes(stored.graph));
    }
    stored_run_free(&stored);
    return status;
}

static enum weir_status export_as(struct store *store, struct request *r, struct weir_error *err)
{
    if (strcmp(r->words[0], "csv") == 0)
        return export_csv(store, r, err);
    return strcmp(r->words[0], "graph") == 0 ? export_graph(store, r, err)
                                             : export_chrome(store, r, err);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request r = {.output = "-"};
    const struct cmd_option options[] = {
        {.name = "-o", .takes_value = true, .value = &r.output},
        {.name = "--from", .takes_value = true, .value = &r.from},
        {.name = "--to", .takes_value = true, .value = &r.to},
        {.name = "--limit", .takes_value = true, .value = &r.limit},
        {.name = "--no-arrows", .flag = &r.has_no_arrows},
        {.name = NULL},
    };
    struct store *store = NULL;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_export, argc, argv, options, &r.common, r.words,
                                        1, RUNS_MOST + 1, &r.n_words, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    status = check_request(&r, err);
    if (status == WEIR_OK)
        status = store_open(r.common.db, true, &store, err);
    if (status != WEIR_OK)
        return status;
    /* Rows on the same terminal are progress enough. */
    progress_begin(&r.progress, context, "exporting",
                   r.common.is_quiet || strcmp(r.output, "-") == 0);
    status = export_as(store, &r, err);
    progress_end(&r.progress);
    store_close(store);
    return status;
}

const struct cmd_verb cmd_verb_export = {
    .name = "export",
    .summary = "tables as CSV, timelines for Perfetto",
    .usage = usage,
    .run = run,
};
