/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir analyze: what precedence alone says of a graph, or of the plan of a run with its waits. */
#include "graph/analyze.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/analyze_internal.h"
#include "cmd/progress.h"

extern const struct cmd_verb cmd_verb_analyze;

static const char usage[] =
    "usage: weir analyze GRAPH [--machine M] [--capacity DOMAIN=SIZE]... [--node NAME]\n"
    "                    [--from NAME --to NAME] [--limit N] [--json]\n"
    "       weir analyze --run RUN [--db FILE] ...\n\n"
    "Tells what precedence says of a graph before any schedule: the critical path, what no "
    "schedule\n"
    "can beat, the windows of nodes with deadlines, how long copies live and what keeps them, and\n"
    "whether every schedule can go on to its end with the bytes that there are.\n\n"
    "  --machine M         a machine file or the name of an installed one, over the graph\n"
    "  --capacity D=SIZE   of a domain, instead of what the graph says; may be repeated\n"
    "  --node NAME         of this node: its times, its window, what it waits for and what it "
    "uses\n"
    "  --from A --to B     has A finished whenever B starts, in every schedule? With the path\n"
    "  --run RUN           of the plan of a run, with the waits for bytes it had: is there a "
    "circle?\n"
    "  --limit N           rows of each list (20; 0: all)\n"
    "  --db FILE           the file that holds the runs (weir.db)\n"
    "  --json              answer with one JSON object\n\n"
    "exit status: 0 done; 1 precedence and waits close a circle; 3 the graph is not legal\n\n"
    "example:\n"
    "  weir analyze step.weir --node backward\n";

struct request {
    const char *graph, *machine, *node, *from, *to, *run, *limit;
    const char *capacities[CMD_REPEATS];
    uint32_t n_capacities;
    int64_t limit_value;
    struct cmd_common common;
};

/* --- what it is about --- */

static enum weir_status find_node(const struct graph *graph, const char *option, const char *name,
                                  weir_node *out, struct weir_error *err)
{
    weir_text text;

    if (name == NULL) {
        out->index = WEIR_NONE;
        return WEIR_OK;
    }
    text = graph_find_text(graph, name);
    out->index = text.index == 0 ? WEIR_NONE : graph_find_node(graph, text).index;
    return weir_is(*out) ? WEIR_OK
                         : weir_error_set(err, WEIR_USAGE, "%s %.200s: the graph has no such node",
                                          option, name);
}

static enum weir_status bind(struct analyzed *analyzed, struct weir_error *err)
{
    struct report *report = report_new(50);
    enum weir_status status = report == NULL
                                  ? weir_error_memory(err)
                                  : bind_graph(analyzed->graph, report, &analyzed->binding, err);

    if (report != NULL && report_errors(report) > 0) {
        cmd_print_errors(report);
    }
    report_free(report);
    return status;
}

/* --- the steps --- */

static enum weir_status find_order(struct analyzed *analyzed, struct weir_error *err)
{
    struct analyze_order *order;
    enum weir_status status;

    if (!weir_is(analyzed->first)) {
        return WEIR_OK;
    }
    status = analyze_order_make(&analyzed->analysis, &order, err);
    if (status != WEIR_OK) {
        return status;
    }
    analyzed->is_before = analyze_before(order, analyzed->first, analyzed->second);
    if (analyzed->is_before) {
        status = analyze_before_path(order, analyzed->first, analyzed->second,
                                     &analyzed->order_path, &analyzed->n_order_path, err);
    } else if (analyze_before(order, analyzed->second, analyzed->first)) {
        analyzed->is_after = true;
        status = analyze_before_path(order, analyzed->second, analyzed->first,
                                     &analyzed->order_path, &analyzed->n_order_path, err);
    }
    analyze_order_free(order);
    return status;
}

struct size {
    int64_t bytes;
    uint32_t copy;
};

static int by_size(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->copy < y->copy ? -1 : 1;
}

static enum weir_status sort_copies(struct analyzed *analyzed, struct weir_error *err)
{
    uint32_t n = bind_n_copies(analyzed->binding);
    struct size *sizes = malloc(((size_t)n + 1) * sizeof *sizes);

    analyzed->largest = malloc(((size_t)n + 1) * sizeof *analyzed->largest);
    if (sizes == NULL || analyzed->largest == NULL) {
        free(sizes);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = (struct size){bind_copy(analyzed->binding, (weir_copy){i})->bytes, i};
    }
    qsort(sizes, n, sizeof *sizes, by_size);
    for (uint32_t i = 0; i < n; i++) {
        analyzed->largest[i] = sizes[i].copy;
    }
    free(sizes);
    return WEIR_OK;
}

static enum weir_status analyze_all(struct analyzed *analyzed, struct weir_error *err)
{
    enum weir_status status = analyze(analyzed->binding, &analyzed->analysis, err);

    if (status == WEIR_OK) {
        status = analyze_slow_make(&analyzed->analysis, &analyzed->slow, err);
    }
    if (status == WEIR_OK) {
        status = analyze_path(&analyzed->analysis, &analyzed->path, &analyzed->n_path,
                              &analyzed->critical_path_ns, err);
    }
    if (status == WEIR_OK) {
        status = analyze_bounds(&analyzed->analysis, &analyzed->bounds, err);
    }
    if (status == WEIR_OK) {
        status = analyze_lives(&analyzed->analysis, &analyzed->lives, err);
    }
    if (status == WEIR_OK) {
        status = analyze_progress(&analyzed->analysis, &analyzed->progress, err);
    }
    if (status == WEIR_OK) {
        status = sort_copies(analyzed, err);
    }
    return status == WEIR_OK ? find_order(analyzed, err) : status;
}

/* --- a run --- */

/* The waits that the run had, and those that it is stuck with. */
static enum weir_status collect_waits(const struct analyzed *analyzed,
                                      const struct timeline *timeline, struct analyze_waits *waits,
                                      struct weir_error *err)
{
    bool *is_finished = calloc((size_t)timeline->n_nodes + 1, sizeof *is_finished);
    enum weir_status status = is_finished == NULL ? weir_error_memory(err) : WEIR_OK;

    for (size_t i = 0; i < timeline->n_induced && status == WEIR_OK; i++) {
        status = analyze_waits_add(waits, timeline->induced[i].producer,
                                   timeline->induced[i].consumer, err);
    }
    for (uint32_t i = 0; i < timeline->n_nodes && status == WEIR_OK; i++) {
        is_finished[i] =
            timeline->spans[i].finish_ns >= 0 || !graph_node_is_on(analyzed->graph, (weir_node){i});
    }
    if (status == WEIR_OK &&
        (timeline->status == RUN_DEADLOCK || timeline->status == RUN_SHORTAGE)) {
        status = analyze_stuck_waits(&analyzed->analysis, is_finished, waits, err);
    }
    free(is_finished);
    return status;
}

static enum weir_status find_circle(struct analyzed *analyzed, const struct stored_run *stored,
                                    struct weir_error *err)
{
    struct analyze_waits waits = {NULL, 0, 0};
    enum weir_status status = collect_waits(analyzed, stored->timeline, &waits, err);

    analyzed->run = &stored->run;
    analyzed->n_waits = waits.n;
    if (status == WEIR_OK) {
        status =
            analyze_circle(analyzed->binding, &waits, &analyzed->circle, &analyzed->n_circle, err);
    }
    analyze_waits_free(&waits);
    return status;
}

static enum weir_status read_run(const char *db, const char *text, struct stored_run *out,
                                 struct weir_error *err)
{
    struct store *store;
    int64_t run_id = 0;
    enum weir_status status = store_open(db, true, &store, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = store_resolve_run(store, text, &run_id, err);
    if (status == WEIR_OK) {
        status = store_read_run(store, run_id, out, err);
    }
    store_close(store);
    return status;
}

/* --- all of it --- */

static void free_all(struct analyzed *analyzed)
{
    bind_free(analyzed->binding);
    analyze_free(&analyzed->analysis);
    analyze_slow_free(&analyzed->slow);
    analyze_bounds_free(&analyzed->bounds);
    free(analyzed->lives);
    free(analyzed->path);
    free(analyzed->largest);
    free(analyzed->order_path);
    free(analyzed->circle);
}

static enum weir_status analyze_graph(const struct cmd_context *context,
                                      const struct request *request, const struct graph *graph,
                                      const struct stored_run *stored, struct weir_error *err)
{
    struct analyzed analyzed = {.graph = graph};
    struct progress progress;
    enum weir_status status = find_node(graph, "--node", request->node, &analyzed.node, err);

    analyzed.limit = request->limit_value == 0 ? UINT32_MAX : (uint32_t)request->limit_value;
    if (status == WEIR_OK) {
        status = find_node(graph, "--from", request->from, &analyzed.first, err);
    }
    if (status == WEIR_OK) {
        status = find_node(graph, "--to", request->to, &analyzed.second, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    progress_begin(&progress, context, "analyzing", request->common.is_quiet);
    status = bind(&analyzed, err);
    if (status == WEIR_OK) {
        status = analyze_all(&analyzed, err);
    }
    if (status == WEIR_OK && stored != NULL) {
        status = find_circle(&analyzed, stored, err);
    }
    progress_end(&progress);
    if (status == WEIR_OK && request->common.is_json) {
        analyze_json(&analyzed);
    } else if (status == WEIR_OK) {
        analyze_print(&analyzed);
    }
    if (status == WEIR_OK && analyzed.n_circle > 0) {
        status = weir_error_set(err, WEIR_NO,
                                "run %" PRId64 ": precedence and waits for bytes close a circle of "
                                "%" PRIu32 " nodes",
                                analyzed.run->id, analyzed.n_circle);
    }
    free_all(&analyzed);
    return status;
}

static enum weir_status check_request(struct request *request, uint32_t n_operands,
                                      struct weir_error *err)
{
    if ((request->run == NULL) == (n_operands == 0)) {
        return weir_error_set(
            err, WEIR_USAGE,
            "a graph or --run RUN was expected, and not both; weir analyze --help "
            "shows the usage");
    }
    if (request->run != NULL && (request->machine != NULL || request->n_capacities > 0)) {
        return weir_error_set(err, WEIR_USAGE,
                              "a run has its machine: --machine and --capacity go with a graph");
    }
    if ((request->from == NULL) != (request->to == NULL)) {
        return weir_error_set(err, WEIR_USAGE, "--from and --to go together");
    }
    request->limit_value = 20;
    return request->limit == NULL ? WEIR_OK
                                  : cmd_option_integer("--limit", request->limit, 0, INT32_MAX,
                                                       &request->limit_value, err);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {0};
    const struct cmd_option options[] = {
        {.name = "--machine", .takes_value = true, .value = &request.machine},
        {.name = "--capacity",
         .takes_value = true,
         .values = request.capacities,
         .n_values = &request.n_capacities},
        {.name = "--node", .takes_value = true, .value = &request.node},
        {.name = "--from", .takes_value = true, .value = &request.from},
        {.name = "--to", .takes_value = true, .value = &request.to},
        {.name = "--run", .takes_value = true, .value = &request.run},
        {.name = "--limit", .takes_value = true, .value = &request.limit},
        {.name = NULL},
    };
    struct graph *graph = NULL;
    struct stored_run stored;
    char hash[HASH_TEXT_BYTES];
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_analyze, argc, argv, options, &request.common,
                                        &request.graph, 0, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = check_request(&request, n_operands, err);
    if (status != WEIR_OK) {
        return status;
    }
    if (request.run != NULL) {
        status = read_run(request.common.db, request.run, &stored, err);
        if (status == WEIR_OK) {
            status = analyze_graph(context, &request, stored.graph, &stored, err);
            stored_run_free(&stored);
        }
        return status;
    }
    status = cmd_read_graph(context, request.graph, request.machine, request.capacities,
                            request.n_capacities, request.common.is_quiet, &graph, hash, err);
    if (status == WEIR_OK) {
        status = analyze_graph(context, &request, graph, NULL, err);
    }
    graph_free(graph);
    return status;
}

const struct cmd_verb cmd_verb_analyze = {"analyze", "tell what precedence alone says of a graph",
                                          usage, run};
