/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir arena: where the buffers of a list, or the bytes of a graph in one domain, go in an arena. What
 * is printed has been checked by code that knows nothing of how it was planned. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "graph/read_file.h"
#include "policies/arena_bytes.h"
#include "policies/arena_csv.h"
#include "policies/arena_graph.h"

#define FINDINGS_KEPT 50
#define METHODS_MOST 8
#define ROWS_SHOWN 40
#define MOST_READ_BYTES (INT64_C(1) << 30) /* to carry a plan out: under a second */

extern const struct cmd_verb cmd_verb_arena;

static const char usage[] =
    "usage: weir arena CSV|GRAPH [--method M] [--capacity SIZE] [-o PLAN.csv] [--json]\n\n"
    "Plans storage: gives each buffer an offset in one stretch of memory, so that buffers whose\n"
    "lifetimes meet share no byte. The buffers are the lines of a CSV file, id,lower,upper,size "
    "with\n"
    "steps [lower, upper), or the copies, workspace and staging of a graph in one domain. Every "
    "plan\n"
    "is checked, and compared with what no plan can be smaller than.\n\n"
    "  --method M        best-fit: by birth, each into the smallest freed slot that holds it;\n"
    "                    greedy: by size, each at the lowest address that is free for its life;\n"
    "                    without it all are tried, and the smallest plan is kept\n"
    "  --capacity SIZE   what the arena may take: exit 4 when the plan takes more\n"
    "  -o PLAN.csv       write the buffers with their offsets; - for standard output\n"
    "graphs:\n"
    "  --domain D        the memory to plan (the first declared)\n"
    "  --queues Q        one: nodes follow each other in program order; several: bytes are used\n"
    "                    again only where edges order it; without it as the engines say\n"
    "  --machine M       a machine file or the name of an installed one, over the graph\n\n"
    "exit status: 0 planned; 3 bad input; 4 it does not fit the capacity\n\n"
    "example:\n"
    "  weir arena buffers.csv --capacity 1MiB -o plan.csv\n";

struct request {
    const char *input, *method, *capacity, *domain, *queues, *machine, *output;
    struct cmd_common common;
    int64_t capacity_bytes; /* -1 when not given */
};

/* What is planned, and where it came from. */
struct loaded {
    struct graph *graph; /* NULL of a CSV file */
    struct binding *binding;
    struct arena_source source;
    struct arena_problem problem;
    struct arena_left_out left_out;
};

/* Plans by method, those that were made. */
struct planned {
    struct arena_plan plans[METHODS_MOST];
    uint32_t n_plans;
    uint32_t best; /* the smallest, the first of these */
    struct arena_execution execution;
};

/* --- reading --- */

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

static enum weir_status find_domain(const struct request *request, struct loaded *loaded,
                                    struct weir_error *err)
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

static enum weir_status make_problem(const struct request *request, struct loaded *loaded,
                                     struct weir_error *err)
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

static enum weir_status load_text(const struct request *request, struct loaded *loaded,
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

static enum weir_status load(const struct cmd_context *context, const struct request *request,
                             struct loaded *loaded, struct weir_error *err)
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

static void unload(struct loaded *loaded)
{
    arena_problem_free(&loaded->problem);
    bind_free(loaded->binding);
    graph_free(loaded->graph);
}

/* --- planning --- */

static enum weir_status plan_all(const struct request *request, const struct loaded *loaded,
                                 struct planned *planned, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (const struct arena_method *at = arena_methods; at->name != NULL && status == WEIR_OK;
         at++) {
        if (request->method != NULL && strcmp(request->method, at->name) != 0) {
            continue;
        }
        status = arena_plan_make(&loaded->problem, at, &planned->plans[planned->n_plans], err);
        if (status != WEIR_OK) {
            break;
        }
        if (planned->plans[planned->n_plans].peak_bytes <
            planned->plans[planned->best].peak_bytes) {
            planned->best = planned->n_plans;
        }
        planned->n_plans++;
    }
    if (status == WEIR_OK) {
        status = arena_execute(&loaded->problem, &planned->plans[planned->best], MOST_READ_BYTES,
                               &planned->execution, err);
    }
    return status == WEIR_INPUT ? weir_error_within(err, "%.200s", request->input) : status;
}

static bool is_proved(const struct arena_plan *plan)
{
    return plan->peak_bytes == plan->lower_bound_bytes;
}

/* The first other method whose plan fits; NULL when none does. *peak_bytes is what it takes. */
static enum weir_status method_that_fits(const struct request *request, const struct loaded *loaded,
                                         const char **name, int64_t *peak_bytes,
                                         struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    *name = NULL;
    for (const struct arena_method *at = arena_methods;
         request->method != NULL && at->name != NULL && status == WEIR_OK && *name == NULL; at++) {
        struct arena_plan plan;

        status = arena_plan_make(&loaded->problem, at, &plan, err);
        if (status == WEIR_OK && plan.peak_bytes <= request->capacity_bytes) {
            *name = at->name;
            *peak_bytes = plan.peak_bytes;
        }
        if (status == WEIR_OK) {
            arena_plan_free(&plan);
        }
    }
    return status;
}

/* What would do. */
static void advise(const struct request *request, const struct arena_plan *plan, const char *other,
                   int64_t other_bytes, char *out, size_t out_bytes)
{
    if (other != NULL) {
        (void)snprintf(out, out_bytes, "--method %s fits, with %" PRId64 " bytes", other,
                       other_bytes);
    } else if (plan->lower_bound_bytes > request->capacity_bytes) {
        (void)snprintf(out, out_bytes,
                       "no plan takes less than %" PRId64 ", so give --capacity %" PRId64
                       " or more, or let fewer bytes live at once",
                       plan->lower_bound_bytes, plan->peak_bytes);
    } else {
        (void)snprintf(out, out_bytes,
                       "--capacity %" PRId64 " would do; whether another plan fits is open, for "
                       "none takes less than %" PRId64,
                       plan->peak_bytes, plan->lower_bound_bytes);
    }
}

static enum weir_status does_not_fit(const struct request *request, const struct loaded *loaded,
                                     const struct arena_plan *plan, struct weir_error *err)
{
    const char *other;
    char advice[200];
    int64_t other_bytes = 0;
    enum weir_status status = method_that_fits(request, loaded, &other, &other_bytes, err);

    if (status != WEIR_OK) {
        return status;
    }
    advise(request, plan, other, other_bytes, advice, sizeof advice);
    return weir_error_set(err, WEIR_INFEASIBLE,
                          "%.150s does not fit %" PRId64 " bytes: method %s takes %" PRId64
                          ", which is %" PRId64 " more; %s",
                          request->input, request->capacity_bytes, plan->method->name,
                          plan->peak_bytes, plan->peak_bytes - request->capacity_bytes, advice);
}

/* --- answers --- */

static const char *kind_name(enum arena_kind kind)
{
    switch (kind) {
    case ARENA_BUFFER:
        return "buffer";
    case ARENA_OBJECT:
        return "object";
    case ARENA_WORKSPACE:
        return "workspace";
    case ARENA_STAGING:
        return "staging";
    }
    return "";
}

static const char *executed_name(enum arena_executed how)
{
    switch (how) {
    case ARENA_NOT_EXECUTED:
        return "no";
    case ARENA_CELLS_ONCE:
        return "cells-once";
    case ARENA_CELLS:
        return "cells";
    case ARENA_WHOLE:
        return "whole";
    }
    return "";
}

static const char *queues_name(const struct loaded *loaded)
{
    return loaded->problem.lifetimes == NULL ? "one" : "several";
}

static const char *domain_name(const struct loaded *loaded)
{
    return graph_text(loaded->graph, graph_domain(loaded->graph, loaded->source.domain)->name);
}

static void json_buffers(struct json *json, const struct arena_problem *problem,
                         const struct arena_plan *plan)
{
    json_open_array(json, "buffers");
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];

        json_open_object(json, NULL);
        json_text(json, "name", at->name);
        json_text(json, "kind", kind_name(at->kind));
        json_integer(json, "offset_bytes", plan->offsets_bytes[i]);
        json_integer(json, "size_bytes", at->size_bytes);
        json_integer(json, "align_bytes", at->align_bytes);
        json_boolean(json, "is_fixed", at->fixed_bytes >= 0);
        json_integer(json, "lower", at->lower);
        json_integer(json, "upper", at->upper);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_source(struct json *json, const struct loaded *loaded)
{
    json_text(json, "domain", domain_name(loaded));
    json_text(json, "queues", queues_name(loaded));
    json_integer(json, "retained_outside", loaded->left_out.n_retained);
    json_integer(json, "retained_outside_bytes", loaded->left_out.retained_bytes);
}

static void answer_json(const struct request *request, const struct loaded *loaded,
                        const struct planned *planned)
{
    const struct arena_plan *plan = &planned->plans[planned->best];
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_text(&json, "input", request->input);
    json_text(&json, "method", plan->method->name);
    json_integer(&json, "peak_bytes", plan->peak_bytes);
    json_integer(&json, "lower_bound_bytes", plan->lower_bound_bytes);
    json_boolean(&json, "proved", is_proved(plan));
    json_integer(&json, "base_align_bytes", plan->base_align_bytes);
    if (request->capacity_bytes >= 0) {
        json_integer(&json, "capacity_bytes", request->capacity_bytes);
        json_boolean(&json, "fits", plan->peak_bytes <= request->capacity_bytes);
    }
    if (loaded->graph != NULL) {
        json_source(&json, loaded);
    }
    json_text(&json, "executed", executed_name(planned->execution.how));
    json_integer(&json, "executed_steps", planned->execution.n_steps);
    json_open_array(&json, "methods");
    for (uint32_t i = 0; i < planned->n_plans; i++) {
        json_open_object(&json, NULL);
        json_text(&json, "method", planned->plans[i].method->name);
        json_integer(&json, "peak_bytes", planned->plans[i].peak_bytes);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_buffers(&json, &loaded->problem, plan);
    json_close_object(&json);
}

struct row {
    int64_t offset_bytes, lower;
    uint32_t buffer;
};

static int row_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->offset_bytes != y->offset_bytes) {
        return x->offset_bytes < y->offset_bytes ? -1 : 1;
    }
    if (x->lower != y->lower) {
        return x->lower < y->lower ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The buffers by offset, then life; malloc'ed. NULL when memory ran out. */
static struct row *sort_rows(const struct loaded *loaded, const struct arena_plan *plan)
{
    uint32_t n = loaded->problem.n_buffers;
    struct row *rows = malloc(((size_t)n + 1) * sizeof *rows);

    assert(plan->offsets_bytes != NULL);
    if (rows == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = (struct row){plan->offsets_bytes[i], loaded->problem.buffers[i].lower, i};
    }
    qsort(rows, n, sizeof *rows, row_compare);
    return rows;
}

/* As many as a person wants to read. */
static void print_rows(const struct loaded *loaded, const struct row *rows)
{
    uint32_t n = loaded->problem.n_buffers, n_shown = n > ROWS_SHOWN ? ROWS_SHOWN : n;

    if (n > 0) {
        printf("%16s %16s  %-24s %s\n", "offset", "size", "steps", "name");
    }
    for (uint32_t i = 0; i < n_shown; i++) {
        const struct arena_buffer *at = &loaded->problem.buffers[rows[i].buffer];
        char steps[64];

        (void)snprintf(steps, sizeof steps, "%" PRId64 " to %" PRId64, at->lower, at->upper - 1);
        printf("%16" PRId64 " %16" PRId64 "  %-24s ", rows[i].offset_bytes, at->size_bytes, steps);
        cmd_show(stdout, at->name);
        printf("%s\n", at->fixed_bytes >= 0 ? " (fixed)" : "");
    }
    if (n_shown < n) {
        printf("and %" PRIu32 " more: -o FILE writes all\n", n - n_shown);
    }
}

static void print_bytes(const char *what, int64_t bytes, const char *note)
{
    char text[NUMBER_TEXT_BYTES];

    number_size_text(bytes, text);
    printf("  %-12s %16" PRId64 " bytes (%s)%s\n", what, bytes, text, note);
}

static void print_execution(const struct arena_execution *execution)
{
    switch (execution->how) {
    case ARENA_NOT_EXECUTED:
        printf("  checked, and too large to be carried out here\n");
        break;
    case ARENA_CELLS_ONCE:
        printf("  carried out over %" PRId64
               " steps, a cell for each stretch of addresses, read at "
               "the end of each life\n",
               execution->n_steps);
        break;
    case ARENA_CELLS:
        printf("  carried out over %" PRId64 " steps, a cell for each stretch of addresses\n",
               execution->n_steps);
        break;
    case ARENA_WHOLE:
        printf("  carried out over %" PRId64 " steps, every byte\n", execution->n_steps);
        break;
    }
}

static void print_head(const struct request *request, const struct loaded *loaded,
                       const struct planned *planned)
{
    const struct arena_plan *plan = &planned->plans[planned->best];

    cmd_show(stdout, request->input);
    printf(": %" PRIu32 " buffers", loaded->problem.n_buffers);
    if (loaded->graph != NULL) {
        printf(" in ");
        cmd_show(stdout, domain_name(loaded));
        printf(", %s queue%s", queues_name(loaded),
               loaded->problem.lifetimes == NULL ? "" : "s: reuse by happens-before");
    }
    putchar('\n');
    for (uint32_t i = 0; i < planned->n_plans; i++) {
        print_bytes(planned->plans[i].method->name, planned->plans[i].peak_bytes,
                    i == planned->best ? (planned->n_plans > 1 ? ", kept" : "") : "");
    }
    print_bytes("lower bound", plan->lower_bound_bytes,
                is_proved(plan) ? ", reached: no plan is smaller" : "");
    if (loaded->left_out.n_retained > 0) {
        char note[80];

        (void)snprintf(note, sizeof note, ", %" PRIu32 " retained object%s",
                       loaded->left_out.n_retained, loaded->left_out.n_retained == 1 ? "" : "s");
        print_bytes("outside", loaded->left_out.retained_bytes, note);
    }
    if (plan->base_align_bytes > 1) {
        printf("  the arena begins at a multiple of %" PRId64 "\n", plan->base_align_bytes);
    }
    print_execution(&planned->execution);
}

static enum weir_status write_plan(const struct request *request, const struct loaded *loaded,
                                   const struct arena_plan *plan, struct weir_error *err)
{
    struct output output;
    enum weir_status status = output_begin(&output, request->output, err);

    if (status != WEIR_OK) {
        return status;
    }
    arena_csv_write(&loaded->problem, plan->offsets_bytes, output.file);
    return output_end(&output, WEIR_OK, err);
}

static enum weir_status answer(const struct request *request, const struct loaded *loaded,
                               const struct planned *planned, struct weir_error *err)
{
    const struct arena_plan *plan = &planned->plans[planned->best];
    bool is_piped = request->output != NULL && strcmp(request->output, "-") == 0;
    bool fits = request->capacity_bytes < 0 || plan->peak_bytes <= request->capacity_bytes;
    struct row *rows = sort_rows(loaded, plan); /* before anything is written */
    enum weir_status status = rows == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK && request->output != NULL && fits) {
        status = write_plan(request, loaded, plan, err);
    }
    if (status == WEIR_OK && request->common.is_json && !is_piped) {
        answer_json(request, loaded, planned);
    } else if (status == WEIR_OK && !is_piped && !request->common.is_quiet) {
        print_head(request, loaded, planned);
        print_rows(loaded, rows);
    }
    free(rows);
    return status == WEIR_OK && !fits ? does_not_fit(request, loaded, plan, err) : status;
}

/* --- options --- */

static enum weir_status check_method(const char *name, struct weir_error *err)
{
    const char *names[METHODS_MOST + 1] = {NULL};
    const char *closest;
    char list[200] = "";
    size_t used = 0;

    if (name == NULL || arena_method_find(name) != NULL) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < METHODS_MOST && arena_methods[i].name != NULL; i++) {
        names[i] = arena_methods[i].name;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : " or ",
                                 names[i]);
    }
    closest = cmd_closest(name, names);
    return weir_error_set(err, WEIR_USAGE, "--method %.80s: %s was expected%s%s%s", name, list,
                          closest == NULL ? "" : "; did you mean '", closest == NULL ? "" : closest,
                          closest == NULL ? "" : "'?");
}

static enum weir_status check_request(struct request *request, struct loaded *loaded,
                                      struct weir_error *err)
{
    const char *queues = request->queues;

    request->capacity_bytes = -1;
    if (request->capacity != NULL) {
        enum number_fault fault =
            number_size(request->capacity, strlen(request->capacity), &request->capacity_bytes);

        if (fault != NUMBER_OK) {
            return weir_error_set(
                err, WEIR_USAGE,
                "--capacity %.80s: %s; a size such as 1048576 or 1MiB was expected",
                request->capacity, number_fault_text(fault));
        }
    }
    if (queues != NULL && strcmp(queues, "one") != 0 && strcmp(queues, "several") != 0) {
        return weir_error_set(err, WEIR_USAGE, "--queues %.80s: one or several was expected",
                              queues);
    }
    loaded->source.queues = queues == NULL               ? ARENA_QUEUES_FOUND
                            : strcmp(queues, "one") == 0 ? ARENA_QUEUES_ONE
                                                         : ARENA_QUEUES_SEVERAL;
    if (request->common.is_json && request->output != NULL && strcmp(request->output, "-") == 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "--json and -o - both want standard output; give -o a file");
    }
    return check_method(request->method, err);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {0};
    const struct cmd_option options[] = {
        {.name = "--method", .takes_value = true, .value = &request.method},
        {.name = "--capacity", .takes_value = true, .value = &request.capacity},
        {.name = "--domain", .takes_value = true, .value = &request.domain},
        {.name = "--queues", .takes_value = true, .value = &request.queues},
        {.name = "--machine", .takes_value = true, .value = &request.machine},
        {.name = "-o", .takes_value = true, .value = &request.output},
        {.name = NULL},
    };
    struct loaded loaded = {0};
    struct planned planned = {0};
    struct progress progress;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_arena, argc, argv, options, &request.common,
                                        &request.input, 1, 1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = check_request(&request, &loaded, err);
    if (status == WEIR_OK && request.output != NULL) {
        status = output_try(request.output, err);
    }
    if (status == WEIR_OK) {
        status = load(context, &request, &loaded, err);
    }
    if (status == WEIR_OK) {
        progress_begin(&progress, context, "planning", request.common.is_quiet);
        status = plan_all(&request, &loaded, &planned, err);
        progress_end(&progress);
    }
    if (status == WEIR_OK) {
        status = answer(&request, &loaded, &planned, err);
    }
    for (uint32_t i = 0; i < planned.n_plans; i++) {
        arena_plan_free(&planned.plans[i]);
    }
    unload(&loaded);
    return status;
}

const struct cmd_verb cmd_verb_arena = {"arena", "plan where buffers go in one stretch of memory",
                                        usage, run};
