/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir explain: why a run took as long as it did, or why one of its nodes started when it did. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/explain_internal.h"
#include "cmd/findings.h"
#include "judge/settings.h"

extern const struct cmd_verb cmd_verb_explain;

static const char usage[] =
    "usage: weir explain RUN [NODE] [--wait-bound TIME] [--rows N] [--db FILE] [--json]\n"
    "       weir explain RUN --overlaps NODE [--db FILE] [--json]\n\n"
    "Tells what the makespan of a run is made of: its critical chain, what each engine stood "
    "still\n"
    "for, who held the bytes at the peak, what ran beside what, who waited. With a NODE: why did "
    "it\n"
    "start then, what would have had to end sooner, and who waited for it. A RUN is a number of\n"
    "`weir runs`, or latest, sim, replay or recorded: the newest of that kind.\n\n"
    "  --wait-bound TIME  no node should wait longer: names those that did, and who overtook them\n"
    "  --overlaps NODE    every node that ran beside this one, and for how long\n"
    "  --rows N           how many of the longest waits, and of the nodes beside one (10)\n"
    "  --db FILE          the file that holds the runs (weir.db)\n"
    "  --json             answer with one JSON object\n\n"
    "example:\n"
    "  weir explain latest --wait-bound 5ms\n";

struct request {
    const char *words[2];
    uint32_t n_words;
    const char *wait_bound, *overlaps, *rows;
    struct cmd_common common;
    struct explained_options options;
};

#define ROWS 10
#define MOST_ROWS 100000
#define STRETCHES_SHOWN 12    /* of the critical chain */
#define STRETCHES_LISTED 1000 /* with --json */
#define FINDINGS_SHOWN 20     /* of each kind */

static enum weir_status read_options(struct request *request, struct weir_error *err)
{
    int64_t rows = ROWS;
    enum weir_status status = WEIR_OK;

    request->options = (struct explained_options){.wait_bound_ns = -1};
    if (request->wait_bound != NULL && number_time(request->wait_bound, strlen(request->wait_bound),
                                                   &request->options.wait_bound_ns) != NUMBER_OK) {
        return weir_error_set(err, WEIR_USAGE,
                              "--wait-bound %.80s: a time was expected, such as 500us or 2ms",
                              request->wait_bound);
    }
    if (request->overlaps != NULL && request->n_words == 2) {
        return weir_error_set(err, WEIR_USAGE,
                              "--overlaps %.80s: the node stands there already; leave one out",
                              request->overlaps);
    }
    if (request->rows != NULL) {
        status = cmd_option_integer("--rows", request->rows, 0, MOST_ROWS, &rows, err);
    }
    request->options.n_rows = (uint32_t)rows;
    request->options.n_stretches = request->common.is_json ? STRETCHES_LISTED : STRETCHES_SHOWN;
    return status;
}

/* Names come as people write them: the node of that name, or the one most like it in the message. */
static enum weir_status find_node(const struct graph *graph, const char *name, weir_node *node,
                                  struct weir_error *err)
{
    *node = graph_find_node(graph, graph_find_text(graph, name));
    if (weir_is(*node)) {
        return WEIR_OK;
    }
    return weir_error_set(
        err, WEIR_INPUT,
        "the graph of this run has no node '%.200s'; weir export csv nodes lists them", name);
}

/* The graph was legal when it ran. */
static enum weir_status bind_again(const struct graph *graph, struct binding **binding,
                                   struct weir_error *err)
{
    struct report *report = report_new(1);
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    status = bind_graph(graph, report, binding, err);
    report_free(report);
    return status;
}

/* --- the whole run --------------------------------------------------------------------------- */

static double hypothetical_ns(const struct run *run)
{
    double ns;

    return settings_ratio(run->settings, "hypothetical_overlap_ns", &ns) ? ns : 0;
}

static void json_fallbacks(struct json *json, const struct explained *explained)
{
    json_open_array(json, "fallbacks");
    for (size_t i = 0; i < explained->n_ways; i++) {
        json_open_object(json, NULL);
        json_text(json, "node", graph_node_name(explained->graph, explained->ways[i].node));
        json_text(json, "fallback", graph_node_name(explained->graph, explained->ways[i].fallback));
        json_integer(json, "at_ns", explained->ways[i].at_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

/* @param findings NULL: nobody looked for any */
static void json_findings(struct json *json, const struct report *findings)
{
    if (findings == NULL) {
        json_null(json, "findings");
    } else {
        cmd_json_findings(json, findings);
    }
}

static void answer_json(const struct explained *explained, const struct report *findings)
{
    const struct run *run = explained->run;
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_integer(&json, "run", run->id);
    json_text(&json, "kind", run_kind_name(run->kind));
    json_text(&json, "status", run_status_name(explained->timeline->status));
    json_integer(&json, "makespan_ns", explained->timeline->makespan_ns);
    if (run->critical_path_ns < 0) {
        json_null(&json, "critical_path_ns");
    } else {
        json_integer(&json, "critical_path_ns", run->critical_path_ns);
    }
    explained_json_bounds(&json, explained);
    explained_json_makeup(&json, explained);
    explained_json_stalls(&json, explained);
    explained_json_pressure(&json, explained);
    explained_json_overlaps(&json, explained);
    json_integer(&json, "hypothetical_overlap_ns", (int64_t)hypothetical_ns(run));
    explained_json_waits(&json, explained);
    json_fallbacks(&json, explained);
    json_findings(&json, findings);
    if (explained_missing(run) == NULL) {
        json_null(&json, "missing");
    } else {
        json_text(&json, "missing", explained_missing(run));
    }
    json_close_object(&json);
}

static void print_head(const struct explained *explained)
{
    const struct run *run = explained->run;
    char text[NUMBER_TEXT_BYTES];

    number_time_text(explained->timeline->makespan_ns, text);
    printf("run %" PRId64 ", %s of ", run->id, run_kind_name(run->kind));
    cmd_show(stdout, run->graph_name[0] == '\0' ? "a graph without a name" : run->graph_name);
    printf("%s%s: %s", run->policy[0] == '\0' ? "" : ", policy ", run->policy, text);
    if (explained->timeline->status != RUN_COMPLETE) {
        printf(", where it stopped: %s", run_status_name(explained->timeline->status));
    }
    putchar('\n');
}

static void print_fallbacks(const struct explained *explained)
{
    size_t n = explained->n_ways < ROWS ? explained->n_ways : ROWS;
    char text[NUMBER_TEXT_BYTES];

    if (explained->n_ways > 0) {
        printf("\nfallbacks: %zu taken\n", explained->n_ways);
    }
    for (size_t i = 0; i < n; i++) {
        number_time_text(explained->ways[i].at_ns, text);
        fputs("  ", stdout);
        cmd_show(stdout, graph_node_name(explained->graph, explained->ways[i].node));
        printf(" gave way at %s to ", text);
        cmd_show(stdout, graph_node_name(explained->graph, explained->ways[i].fallback));
        putchar('\n');
    }
}

static void print_findings(const struct report *findings)
{
    if (findings == NULL || report_count(findings) == 0) {
        return;
    }
    puts("\nwhat is wrong with it:");
    for (uint32_t i = 0; i < report_count(findings); i++) {
        char line[2048];

        report_line(report_finding(findings, i), line, sizeof line);
        fputs("  ", stdout);
        cmd_show(stdout, line);
        putchar('\n');
    }
}

static void answer_text(const struct explained *explained, const struct report *findings)
{
    double unknown_ns = hypothetical_ns(explained->run);
    char text[NUMBER_TEXT_BYTES];

    print_head(explained);
    explained_print_bounds(explained);
    if (unknown_ns > 0) {
        number_time_text((int64_t)unknown_ns, text);
        printf("for %s of it nodes ran together of which nobody knows what that does\n", text);
    }
    if (explained_missing(explained->run) != NULL) {
        printf("%s\n", explained_missing(explained->run));
    }
    explained_print_makeup(explained);
    explained_print_stalls(explained);
    explained_print_pressure(explained);
    explained_print_overlaps(explained);
    explained_print_waits(explained);
    print_fallbacks(explained);
    print_findings(findings);
}

static enum weir_status explain_run(const struct request *request, const struct run *run,
                                    const struct binding *binding, struct weir_error *err)
{
    struct explained explained = {.n_links = 0};
    struct report *findings = NULL;
    enum weir_status status = explained_find(run, binding, &request->options, &explained, err);

    if (status == WEIR_OK && run->kind == RUN_SIM) {
        status = cmd_find_modes(run, binding, explained.links, explained.n_links, FINDINGS_SHOWN,
                                &findings, err);
    }
    if (status == WEIR_OK && request->common.is_json) {
        answer_json(&explained, findings);
    } else if (status == WEIR_OK) {
        answer_text(&explained, findings);
    }
    report_free(findings);
    explained_free(&explained);
    return status;
}

/* --- one node --------------------------------------------------------------------------------- */

static enum weir_status explain_node(const struct request *request, const struct run *run,
                                     const struct binding *binding, struct weir_error *err)
{
    struct explained explained = {.n_links = 0};
    struct explain_node of = {.n_rows = 0};
    weir_node node;
    enum weir_status status = find_node(run->graph, request->words[1], &node, err);

    if (status == WEIR_OK) {
        status = explained_index(run, binding, &explained, err);
    }
    if (status == WEIR_OK) {
        status = explain_node_find(&explained, node, request->options.n_rows, &of, err);
    }
    if (status == WEIR_OK && request->common.is_json) {
        explain_node_json(&of);
    } else if (status == WEIR_OK) {
        explain_node_text(&of);
    }
    explain_node_free(&of);
    explained_free(&explained);
    return status;
}

static void list_overlaps(const struct request *request, const struct run *run,
                          const struct overlap_beside *beside, size_t n)
{
    struct json json = {.file = stdout};
    char text[NUMBER_TEXT_BYTES];

    if (request->common.is_json) {
        json_open_object(&json, NULL);
        json_integer(&json, "run", run->id);
        json_text(&json, "node", request->overlaps);
        json_open_array(&json, "overlap");
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = graph_node_name(run->graph, beside[i].node);

        if (request->common.is_json) {
            json_open_object(&json, NULL);
            json_text(&json, "node", name);
            json_integer(&json, "overlap_ns", beside[i].overlap_ns);
            json_close_object(&json);
        } else {
            number_time_text(beside[i].overlap_ns, text);
            printf("%12s  ", text);
            cmd_show(stdout, name);
            putchar('\n');
        }
    }
    if (request->common.is_json) {
        json_close_array(&json);
        json_close_object(&json);
    } else if (n == 0) {
        puts("nothing ran beside it");
    }
}

static enum weir_status explain_overlaps(const struct request *request, const struct run *run,
                                         struct weir_error *err)
{
    struct overlap_beside *beside = NULL;
    size_t n = 0;
    weir_node node;
    enum weir_status status = find_node(run->graph, request->overlaps, &node, err);

    if (status == WEIR_OK) {
        status = overlaps_beside(run->timeline, node, &beside, &n, err);
    }
    if (status == WEIR_OK) {
        list_overlaps(request, run, beside, n);
    }
    free(beside);
    return status;
}

/* --- the verb --------------------------------------------------------------------------------- */

static enum weir_status read_run(const struct request *request, struct stored_run *stored,
                                 struct weir_error *err)
{
    struct store *store;
    int64_t run_id = 0;
    enum weir_status status = store_open(request->common.db, true, &store, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = store_resolve_run(store, request->words[0], &run_id, err);
    if (status == WEIR_OK) {
        status = store_read_run(store, run_id, stored, err);
    }
    store_close(store);
    return status;
}

static enum weir_status explain(const struct request *request, struct weir_error *err)
{
    struct stored_run stored;
    struct binding *binding = NULL;
    enum weir_status status = read_run(request, &stored, err);

    if (status != WEIR_OK) {
        return status;
    }
    if (request->overlaps != NULL) {
        status = explain_overlaps(request, &stored.run, err);
    } else {
        status = bind_again(stored.graph, &binding, err);
        if (status == WEIR_OK) {
            status = request->n_words == 2 ? explain_node(request, &stored.run, binding, err)
                                           : explain_run(request, &stored.run, binding, err);
        }
    }
    bind_free(binding);
    stored_run_free(&stored);
    return status;
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {.n_words = 0};
    const struct cmd_option options[] = {
        {.name = "--wait-bound", .takes_value = true, .value = &request.wait_bound},
        {.name = "--overlaps", .takes_value = true, .value = &request.overlaps},
        {.name = "--rows", .takes_value = true, .value = &request.rows},
        {.name = NULL},
    };
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_explain, argc, argv, options, &request.common,
                                        request.words, 1, 2, &request.n_words, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = read_options(&request, err);
    return status == WEIR_OK ? explain(&request, err) : status;
}

const struct cmd_verb cmd_verb_explain = {
    "explain", "why a run took so long, or why a node started then", usage, run};
