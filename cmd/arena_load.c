/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading for weir arena: a list of buffers, or a graph, told apart by the first word. */
#include <stdlib.h>

#include "cmd/arena_internal.h"
#include "graph/read_file.h"
#include "policies/arena_csv.h"

#define FINDINGS_KEPT 50

/* A graph begins with the word weir, perhaps behind comments. */
static bool is_graph(const char *text, size_t length)
{
    const char *at = text, *end = text + length;

    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        at += 3;
    }
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
            at++;
        }
        if (at == end || *at != '#') {
            break;
        }
        while (at < end && *at != '\n') {
            at++;
        }
    }
    return end - at > 5 && memcmp(at, "weir", 4) == 0 && (at[4] == ' ' || at[4] == '\t');
}

static enum weir_status read_graph_text(const char *text, size_t length, const char *name,
                                        struct graph **out, struct weir_error *err)
{
    struct report *report = report_new(FINDINGS_KEPT);
    enum weir_status status;

    if (report == NULL) {
        return weir_error_memory(err);
    }
    status = graph_read_text(text, length, name, report, out, err);
    cmd_print_report(report);
    report_free(report);
    return status;
}

static enum weir_status find_domain(const struct arena_request *request,
                                    struct arena_loaded *loaded, struct weir_error *err)
{
    const struct graph *graph = loaded->graph;

    loaded->source.domain.index = 0;
    if (request->domain != NULL) {
        weir_text text = graph_find_text(graph, request->domain);

        loaded->source.domain.index = WEIR_NONE;
        if (text.index != 0) {
            loaded->source.domain = graph_find_domain(graph, text);
        }
    }
    if (graph_n_domains(graph) > 0 && weir_is(loaded->source.domain)) {
        return WEIR_OK;
    }
    if (request->domain == NULL) {
        return weir_error_set(err, WEIR_INPUT,
                              "no memory domain is declared; expected one that the arena is in: "
                              "domain NAME capacity=SIZE");
    }
    return weir_error_set(err, WEIR_USAGE,
                          "--domain %.80s: %.200s declares no such domain; name one that it does",
                          request->domain, request->input);
}

static enum weir_status make_problem(const struct arena_request *request,
                                     struct arena_loaded *loaded, struct weir_error *err)
{
    struct report *report = report_new(FINDINGS_KEPT);
    enum weir_status status = find_domain(request, loaded, err);

    if (report == NULL) {
        return weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = bind_graph(loaded->graph, report, &loaded->binding, err);
        cmd_print_report(report);
    }
    report_free(report);
    if (status == WEIR_OK) {
        status = arena_from_graph(loaded->binding, &loaded->source, &loaded->problem,
                                  &loaded->left_out, err);
    }
    return status == WEIR_INPUT ? weir_error_within(err, "%.200s", request->input) : status;
}

static enum weir_status load_text(const struct arena_request *request, struct arena_loaded *loaded,
                                  struct weir_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum weir_status status = read_file(request->input, &text, &length, err);

    if (status != WEIR_OK) {
        return status;
    }
    if (is_graph(text, length)) {
        status = read_graph_text(text, length, request->input, &loaded->graph, err);
    } else if (request->domain != NULL || request->queues != NULL) {
        status = weir_error_set(err, WEIR_USAGE,
                                "%s is for graphs, and %.200s is none: its first word is not weir",
                                request->domain != NULL ? "--domain" : "--queues", request->input);
    } else {
        status = arena_csv_read(text, length, request->input, &loaded->problem, err);
    }
    free(text);
    return status;
}

enum weir_status arena_load(const struct cmd_context *context, const struct arena_request *request,
                            struct arena_loaded *loaded, struct weir_error *err)
{
    char hash[HASH_TEXT_BYTES];
    enum weir_status status =
        request->machine != NULL
            ? cmd_read_graph(context, request->input, request->machine, NULL, 0,
                             request->common.is_quiet, &loaded->graph, hash, err)
            : load_text(request, loaded, err);

    if (status == WEIR_OK && loaded->graph != NULL) {
        status = make_problem(request, loaded, err);
    }
    return status;
}

void arena_unload(struct arena_loaded *loaded)
{
    arena_problem_free(&loaded->problem);
    bind_free(loaded->binding);
    graph_free(loaded->graph);
}
