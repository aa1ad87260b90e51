/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir arena: where the buffers of a list, or the bytes of a graph in one domain, go in an arena. What
 * is printed has been checked by code that knows nothing of how it was planned. */
#include <stdlib.h>

#include "base/number.h"
#include "base/output.h"
#include "cmd/arena_internal.h"
#include "cmd/progress.h"

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

/* --- planning --- */

static enum weir_status plan_all(const struct arena_request *request,
                                 const struct arena_loaded *loaded, struct arena_planned *planned,
                                 struct weir_error *err)
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

/* --- options --- */

static enum weir_status check_method(const char *name, struct weir_error *err)
{
    const char *names[ARENA_METHODS_MOST + 1] = {NULL};
    const char *closest;
    char list[200] = "";
    size_t used = 0;

    if (name == NULL || arena_method_find(name) != NULL) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < ARENA_METHODS_MOST && arena_methods[i].name != NULL; i++) {
        names[i] = arena_methods[i].name;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : " or ",
                                 names[i]);
    }
    closest = cmd_closest(name, names);
    return weir_error_set(err, WEIR_USAGE, "--method %.80s: %s was expected%s%s%s", name, list,
                          closest == NULL ? "" : "; did you mean '", closest == NULL ? "" : closest,
                          closest == NULL ? "" : "'?");
}

static enum weir_status check_request(struct arena_request *request, struct arena_loaded *loaded,
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
    struct arena_request request = {0};
    const struct cmd_option options[] = {
        {.name = "--method", .takes_value = true, .value = &request.method},
        {.name = "--capacity", .takes_value = true, .value = &request.capacity},
        {.name = "--domain", .takes_value = true, .value = &request.domain},
        {.name = "--queues", .takes_value = true, .value = &request.queues},
        {.name = "--machine", .takes_value = true, .value = &request.machine},
        {.name = "-o", .takes_value = true, .value = &request.output},
        {.name = NULL},
    };
    struct arena_loaded loaded = {0};
    struct arena_planned planned = {0};
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
        status = arena_load(context, &request, &loaded, err);
    }
    if (status == WEIR_OK) {
        progress_begin(&progress, context, "planning", request.common.is_quiet);
        status = plan_all(&request, &loaded, &planned, err);
        progress_end(&progress);
    }
    if (status == WEIR_OK) {
        status = arena_answer(&request, &loaded, &planned, err);
    }
    for (uint32_t i = 0; i < planned.n_plans; i++) {
        arena_plan_free(&planned.plans[i]);
    }
    arena_unload(&loaded);
    return status;
}

const struct cmd_verb cmd_verb_arena = {"arena", "plan where buffers go in one stretch of memory",
                                        usage, run};
