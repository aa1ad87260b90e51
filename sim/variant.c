/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A variant works on a graph of its own, which it reads from the canonical form: so it neither sees nor
 * disturbs another. */
#include "sim/variant.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/workers.h"
#include "graph/text.h"
#include "graph/what_if.h"

struct running {
    const struct variant_base *base;
    struct variant *variants;
    uint32_t n_variants;
    char *text; /* the canonical form */
    size_t length;
    struct weir_error *errors; /* by variant: of those that failed */
    atomic_uint n_done;
    atomic_bool is_over; /* one has failed: the others need not begin */
};

/* ---- changes ---- */

static int64_t twice(int64_t value)
{
    return value > INT64_MAX / 2 ? INT64_MAX : 2 * value;
}

static void change_engine(struct graph *graph, const struct variant *variant)
{
    weir_engine id = {variant->index};
    struct graph_engine engine = *graph_engine(graph, id);

    if (variant->kind == VARIANT_ENGINE_SLOT)
        engine.slots += engine.slots < INT64_MAX;
    else if (variant->kind == VARIANT_ENGINE_WIDER)
        engine.bandwidth_bytes_per_s = twice(engine.bandwidth_bytes_per_s);
    else
        engine.latency_ns = 0;
    graph_set_engine(graph, id, &engine);
}

static void change_domain(struct graph *graph, const struct variant *variant)
{
    weir_domain id = {variant->index};
    struct graph_domain domain = *graph_domain(graph, id);
    int64_t tenth = domain.capacity_bytes / 10;

    if (variant->kind == VARIANT_DOMAIN_LESS)
        domain.capacity_bytes -= tenth;
    else if (variant->kind == VARIANT_DOMAIN_ENDLESS)
        domain.capacity_bytes = domain.capacity_bytes > VARIANT_ENDLESS_BYTES
                                    ? domain.capacity_bytes
                                    : VARIANT_ENDLESS_BYTES;
    else if (domain.capacity_bytes <= INT64_MAX - tenth)
        domain.capacity_bytes += tenth;
    graph_set_domain(graph, id, &domain);
}

static enum weir_status change(struct graph *graph, const struct variant *variant,
                               struct simulate_options *options, struct weir_error *err)
{
    const struct what_if_target node = {{variant->index}, {WEIR_NONE}};
    struct graph_resource resource;

    switch (variant->kind) {
    case VARIANT_NODE_GONE:
        return what_if_scale(graph, node, 0, err);
    case VARIANT_NODE_HALF:
        return what_if_scale(graph, node, 0.5, err);
    case VARIANT_ENGINE_FASTER:
        return what_if_scale_engine(graph, (weir_engine){variant->index}, 0.5, err);
    case VARIANT_ENGINE_SLOT:
    case VARIANT_ENGINE_WIDER:
    case VARIANT_ENGINE_PROMPT:
        change_engine(graph, variant);
        return WEIR_OK;
    case VARIANT_DOMAIN_MORE:
    case VARIANT_DOMAIN_ENDLESS:
    case VARIANT_DOMAIN_LESS:
        change_domain(graph, variant);
        return WEIR_OK;
    case VARIANT_RESOURCE_WIDER:
        resource = *graph_resource(graph, (weir_resource){variant->index});
        resource.capacity_per_s = twice(resource.capacity_per_s);
        graph_set_resource(graph, (weir_resource){variant->index}, &resource);
        return WEIR_OK;
    case VARIANT_NO_CONTENTION:
        options->contention = CONTENTION_NONE;
        return WEIR_OK;
    }
    return WEIR_OK;
}

/* ---- one of them ---- */

/* What a policy or the simulator refuses is an answer too. */
static enum weir_status answered(struct variant *variant, const struct weir_error *err)
{
    if (err->status != WEIR_INPUT && err->status != WEIR_INFEASIBLE && err->status != WEIR_NO)
        return err->status;
    variant->end = VARIANT_REFUSED;
    (void)snprintf(variant->why, sizeof variant->why, "%.*s", (int)sizeof variant->why - 1,
                   err->text);
    return WEIR_OK;
}

static enum weir_status simulate_plan(const struct plan *plan,
                                      const struct simulate_options *options,
                                      struct variant *variant, struct weir_error *err)
{
    struct simulate_result result = {0};

    if (simulate(plan, options, &result, err) != WEIR_OK)
        return answered(variant, err);
    variant->status = result.timeline->status;
    variant->end = variant->status == RUN_COMPLETE ? VARIANT_COMPLETE : VARIANT_STOPPED;
    if (variant->end == VARIANT_COMPLETE)
        variant->makespan_ns = result.timeline->makespan_ns;
    timeline_free(result.timeline);
    free(result.explanation);
    return WEIR_OK;
}

static enum weir_status plan_and_simulate(const struct running *running, struct graph *graph,
                                          struct report *report, struct variant *variant,
                                          struct weir_error *err)
{
    struct simulate_options options = *running->base->options;
    struct plan *plan = NULL;
    enum weir_status status = change(graph, variant, &options, err);

    options.keeps_details = false;
    options.progress = NULL;
    if (status != WEIR_OK)
        return status;
    if (plan_make(graph, running->base->planning, report, &plan, err) != WEIR_OK)
        return answered(variant, err);
    status = simulate_plan(plan, &options, variant, err);
    plan_free(plan);
    return status;
}

static enum weir_status run_one(const struct running *running, struct variant *variant,
                                struct weir_error *err)
{
    struct report *report = report_new(1);
    struct graph *graph = NULL;
    enum weir_status status = report == NULL ? weir_error_memory(err) : WEIR_OK;

    variant->makespan_ns = -1;
    variant->status = RUN_FAILED;
    variant->why[0] = '\0';
    if (status == WEIR_OK)
        status = graph_read_text(running->text, running->length, "the graph", report, &graph, err);
    if (status == WEIR_OK)
        status = plan_and_simulate(running, graph, report, variant, err);
    graph_free(graph);
    report_free(report);
    return status;
}

/* ---- all ---- */

static void run_item(void *arg, uint32_t item, uint32_t thread)
{
    struct running *running = arg;
    struct weir_error err;
    uint32_t n_done;

    if (atomic_load(&running->is_over))
        return;
    if (run_one(running, &running->variants[item], &err) != WEIR_OK) {
        running->errors[item] = err;
        atomic_store(&running->is_over, true);
    }
    n_done = atomic_fetch_add(&running->n_done, 1) + 1;
    if (thread == 0 && running->base->progress != NULL)
        running->base->progress(running->base->progress_arg, (double)n_done / running->n_variants);
}

/* The first that failed; its error is the caller's. */
static enum weir_status first_fault(const struct running *running, struct weir_error *err)
{
    for (uint32_t i = 0; i < running->n_variants; i++) {
        if (running->errors[i].status != WEIR_OK) {
            *err = running->errors[i];
            return err->status;
        }
    }
    return WEIR_OK;
}

enum weir_status variant_run(const struct variant_base *base, struct variant *variants,
                             uint32_t n_variants, struct weir_error *err)
{
    struct running running = {.base = base, .variants = variants, .n_variants = n_variants};
    enum weir_status status;

    if (n_variants == 0)
        return WEIR_OK;
    atomic_init(&running.n_done, 0);
    atomic_init(&running.is_over, false);
    running.errors = calloc(n_variants, sizeof *running.errors);
    if (running.errors == NULL)
        return weir_error_memory(err);
    status = graph_write_text(base->graph, &running.text, &running.length, err);
    if (status == WEIR_OK) {
        workers_run(n_variants, base->n_threads, run_item, &running);
        status = first_fault(&running, err);
    }
    free(running.text);
    free(running.errors);
    return status;
}
