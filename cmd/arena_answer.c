/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir arena tells of a plan: as text, as JSON, as a list with offsets; and, of one that does not
 * fit, what would do. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/output.h"
#include "cmd/arena_internal.h"
#include "cmd/json.h"
#include "policies/arena_csv.h"

#define ROWS_SHOWN 40

static bool is_proved(const struct arena_plan *plan)
{
    return plan->peak_bytes == plan->lower_bound_bytes;
}

/* The first other method whose plan fits; NULL when none does. *peak_bytes is what it takes. */
static enum weir_status method_that_fits(const struct arena_request *request,
                                         const struct arena_loaded *loaded, const char **name,
                                         int64_t *peak_bytes, struct weir_error *err)
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
static void advise(const struct arena_request *request, const struct arena_plan *plan,
                   const char *other, int64_t other_bytes, char *out, size_t out_bytes)
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

static enum weir_status does_not_fit(const struct arena_request *request,
                                     const struct arena_loaded *loaded,
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

static const char *queues_name(const struct arena_loaded *loaded)
{
    return loaded->problem.lifetimes == NULL ? "one" : "several";
}

static const char *domain_name(const struct arena_loaded *loaded)
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

static void json_source(struct json *json, const struct arena_loaded *loaded)
{
    json_text(json, "domain", domain_name(loaded));
    json_text(json, "queues", queues_name(loaded));
    json_integer(json, "retained_outside", loaded->left_out.n_retained);
    json_integer(json, "retained_outside_bytes", loaded->left_out.retained_bytes);
}

static void answer_json(const struct arena_request *request, const struct arena_loaded *loaded,
                        const struct arena_planned *planned)
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
static struct row *sort_rows(const struct arena_loaded *loaded, const struct arena_plan *plan)
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
static void print_rows(const struct arena_loaded *loaded, const struct row *rows)
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

static void print_head(const struct arena_request *request, const struct arena_loaded *loaded,
                       const struct arena_planned *planned)
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

static enum weir_status write_plan(const struct arena_request *request,
                                   const struct arena_loaded *loaded, const struct arena_plan *plan,
                                   struct weir_error *err)
{
    struct output output;
    enum weir_status status = output_begin(&output, request->output, err);

    if (status != WEIR_OK) {
        return status;
    }
    arena_csv_write(&loaded->problem, plan->offsets_bytes, output.file);
    return output_end(&output, WEIR_OK, err);
}

enum weir_status arena_answer(const struct arena_request *request,
                              const struct arena_loaded *loaded,
                              const struct arena_planned *planned, struct weir_error *err)
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
