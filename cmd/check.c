/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir check: what is wrong with a graph before it runs, or the graph with all that it implies. */
#include "graph/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/check_explain.h"
#include "cmd/cmd.h"
#include "cmd/findings.h"
#include "cmd/graph_json.h"
#include "cmd/progress.h"

extern const struct cmd_verb cmd_verb_check;

static const char usage[] =
    "usage: weir check GRAPH [--machine M] [--expand] [--json]\n"
    "       weir check --explain [CODE] [--json]\n\n"
    "Reads a graph, binds every access to a copy, and reports what cannot be: unknown names,\n"
    "bytes used before they are there or after they are gone, stale reads, cycles, and, in a "
    "graph\n"
    "with implied=none, every two uses of the same bytes that nothing orders. Each finding has a\n"
    "stable code, the names involved, and how to mend it.\n\n"
    "  --machine M   a machine file or the name of an installed one, over the graph\n"
    "  --expand      print the graph with every implied edge written out and implied=none; with\n"
    "                --json the object holds the graph itself, each field and what follows from "
    "it\n"
    "  --explain     tell what a code means, why it matters, a graph that has it and the same "
    "graph\n"
    "                mended; without a code, list all\n"
    "  --json        answer with one JSON object\n\n"
    "exit status: 0 nothing is wrong; 1 the check says no; 3 the file cannot be read as a graph\n\n"
    "example:\n"
    "  weir check step.weir --machine h200\n";

struct request {
    const char *graph, *machine;
    bool expands, explains;
    struct cmd_common common;
};

/* @param binding of the graph, when the graph is asked for itself; else NULL */
static enum weir_status answer_json(const struct report *report, const struct graph *graph,
                                    const struct binding *binding, struct weir_error *err)
{
    struct json json = {.file = stdout};
    enum weir_status status = WEIR_OK;

    json_open_object(&json, NULL);
    json_boolean(&json, "is_legal", report_errors(report) == 0);
    json_integer(&json, "nodes", graph == NULL ? 0 : graph_n_nodes(graph));
    json_integer(&json, "edges", graph == NULL ? 0 : graph_n_edges(graph));
    json_integer(&json, "objects", graph == NULL ? 0 : graph_n_objects(graph));
    json_integer(&json, "errors", report_errors(report));
    cmd_json_findings(&json, report);
    if (binding != NULL) {
        status = graph_json(&json, "graph", binding, err);
    }
    json_close_object(&json);
    return status;
}

static enum weir_status answer(const struct request *request, const struct report *report,
                               const struct graph *graph, const struct binding *binding,
                               struct weir_error *err)
{
    if (request->common.is_json) {
        return answer_json(report, graph, binding, err);
    }
    if (request->common.is_quiet) {
        cmd_print_errors(report);
        return WEIR_OK;
    }
    cmd_print_report(report);
    if (graph != NULL && report_errors(report) == 0) {
        printf("%s: legal: %" PRIu32 " nodes, %" PRIu32 " edges, %" PRIu32 " objects\n",
               request->graph, graph_n_nodes(graph), graph_n_edges(graph), graph_n_objects(graph));
    }
    return WEIR_OK;
}

static enum weir_status expand(const struct binding *binding, struct weir_error *err)
{
    struct graph *expanded;
    enum weir_status status = bind_expand(binding, &expanded, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = graph_write(expanded, stdout, err);
    graph_free(expanded);
    return status;
}

static enum weir_status check(const struct cmd_context *context, const struct request *request,
                              const struct graph *graph, struct report *report,
                              struct weir_error *err)
{
    struct binding *binding = NULL;
    struct progress progress;
    bool expands;
    enum weir_status status;

    progress_begin(&progress, context, "checking", request->common.is_quiet);
    status = check_graph(graph, report, &binding, err);
    progress_end(&progress);
    if (status == WEIR_OK && report_is_short(report))
        status = weir_error_memory(err); /* part of the findings is no answer */
    expands = request->expands && report_errors(report) == 0;
    if (status == WEIR_OK && expands && !request->common.is_json) {
        cmd_print_report(report);
        status = expand(binding, err);
    } else if (status == WEIR_OK) {
        status = answer(request, report, graph, expands ? binding : NULL, err);
    }
    bind_free(binding);
    if (status == WEIR_OK && report_errors(report) > 0) {
        return weir_error_set(err, WEIR_NO, "%s is not legal: %" PRIu32 " error%s", request->graph,
                              report_errors(report), report_errors(report) == 1 ? "" : "s");
    }
    return status;
}

static enum weir_status read_graph(const struct cmd_context *context, const struct request *request,
                                   struct report *report, struct graph **graph,
                                   struct weir_error *err)
{
    char *machine = NULL;
    enum weir_status status = request->machine == NULL
                                  ? graph_read(request->graph, report, graph, err)
                                  : graph_read_for_machine(request->graph, report, graph, err);

    if (status != WEIR_OK || request->machine == NULL) {
        return status;
    }
    status = cmd_find_machine(context, request->machine, &machine, err);
    if (status == WEIR_OK) {
        status = graph_overlay(*graph, machine, report, err);
    }
    free(machine);
    if (status == WEIR_OK) {
        graph_check_statements(*graph, report);
        status = report_errors(report) > 0
                     ? weir_error_set(err, WEIR_INPUT, "%s does not go with machine %s",
                                      request->graph, request->machine)
                     : WEIR_OK;
    }
    if (status != WEIR_OK) {
        graph_free(*graph);
        *graph = NULL;
    }
    return status;
}

/* Then the operand is a code, and may be left out. */
static bool asks_why(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--explain") == 0) {
            return true;
        }
    }
    return false;
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {0};
    const struct cmd_option options[] = {
        {.name = "--machine", .takes_value = true, .value = &request.machine},
        {.name = "--expand", .flag = &request.expands},
        {.name = "--explain", .flag = &request.explains},
        {.name = NULL},
    };
    struct progress progress;
    struct report *report;
    struct graph *graph = NULL;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status =
        cmd_parse(&cmd_verb_check, argc, argv, options, &request.common, &request.graph,
                  asks_why(argc, argv) ? 0 : 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done) {
        return status;
    }
    if (request.explains) {
        return check_explain(request.graph, request.common.is_json, err);
    }
    report = report_new(50);
    if (report == NULL) {
        return weir_error_memory(err);
    }
    progress_begin(&progress, context, "reading", request.common.is_quiet);
    report_watch(report, progress_show, &progress);
    status = read_graph(context, &request, report, &graph, err);
    progress_end(&progress);
    if (status == WEIR_OK) {
        status = check(context, &request, graph, report, err);
    } else if (status == WEIR_INPUT) {
        (void)answer(&request, report, NULL, NULL, err); /* without a graph nothing of it fails */
    }
    graph_free(graph);
    report_free(report);
    return status;
}

const struct cmd_verb cmd_verb_check = {"check", "find what is wrong with a graph before it runs",
                                        usage, run};
