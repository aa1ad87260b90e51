/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects and nodes of a training step. A node's duration is the roofline bound: the larger of
 * flops / rate and bytes / bandwidth, each rounded up to a nanosecond; its evidence says both. */
#include "graph/generate_step.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"

#define NS_PER_S INT64_C(1000000000)
#define FP32_PARAM "fp32_flops_per_s"

static void fail(struct step *step, enum weir_status status, const char *message)
{
    if (step->build.status == WEIR_OK)
        step->build.status = weir_error_set(step->build.err, status, "%s", message);
}

int64_t step_times(struct step *step, int64_t a, int64_t b)
{
    int64_t product;

    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    fail(step, WEIR_USAGE,
         "a size or a count of flops of this model passes 64 bits; make the "
         "largest of its dimensions smaller");
    return 0;
}

int64_t step_plus(struct step *step, int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    fail(step, WEIR_USAGE,
         "the sizes of this model pass 64 bits together; make the largest of its "
         "dimensions, or the workspace, smaller");
    return 0;
}

/* The rate of 32-bit work, which an engine has no field for: `param roofline fp32_flops_per_s`. */
static int64_t fp32_rate(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph_n_params(graph); i++) {
        const struct graph_param *param = graph_param(graph, i);

        if (strcmp(graph_text(graph, param->family), "roofline") == 0 &&
            strcmp(graph_text(graph, param->name), FP32_PARAM) == 0 && param->value >= 1 &&
            param->value < 9e18)
            return (int64_t)param->value;
    }
    return 0;
}

static weir_engine find_compute(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph_n_engines(graph); i++) {
        const struct graph_engine *engine = graph_engine(graph, (weir_engine){i});

        if (engine->flops_per_s > 0 && engine->bandwidth_bytes_per_s > 0)
            return (weir_engine){i};
    }
    return (weir_engine){WEIR_NONE};
}

/* One that copies into the domain from another. */
static weir_engine find_input(const struct graph *graph, weir_domain domain)
{
    for (uint32_t i = 0; i < graph_n_engines(graph); i++) {
        const struct graph_engine *engine = graph_engine(graph, (weir_engine){i});

        if (weir_same(engine->to, domain) && weir_is(engine->from) &&
            !weir_same(engine->from, domain) && engine->bandwidth_bytes_per_s > 0)
            return (weir_engine){i};
    }
    return (weir_engine){WEIR_NONE};
}

void step_find_machine(struct step *step)
{
    const struct graph *graph = step->build.graph;
    const struct graph_engine *engine;

    if (graph_n_nodes(graph) != 0 || graph_n_objects(graph) != 0) {
        fail(step, WEIR_INPUT,
             "the machine file holds nodes or objects; give one with domains and "
             "engines alone");
        return;
    }
    step->engine = find_compute(graph);
    if (!weir_is(step->engine) || graph_n_domains(graph) == 0) {
        fail(step, WEIR_INPUT,
             "the machine needs a domain, and an engine with flops= and "
             "bandwidth=, such as: engine sm domain=hbm flops=312T/s "
             "bandwidth=2039GB/s");
        return;
    }
    engine = graph_engine(graph, step->engine);
    step->domain = weir_is(engine->domain) ? engine->domain : (weir_domain){0};
    step->bandwidth_bytes_per_s = engine->bandwidth_bytes_per_s;
    step->flops_per_s = step->options->dtype == DTYPE_FP32 ? fp32_rate(graph) : engine->flops_per_s;
    step->input_engine = find_input(graph, step->domain);
    step->input_domain =
        weir_is(step->input_engine) ? graph_engine(graph, step->input_engine)->from : step->domain;
    if (step->flops_per_s == 0) {
        fail(step, WEIR_INPUT,
             "flops= of the machine's engine is for 16 bits, and dtype fp32 is "
             "asked for; add a line such as: param roofline " FP32_PARAM " 19.5e12");
    }
}

weir_object step_object(struct step *step, enum step_life life, const char *at, const char *name,
                        int64_t count, int64_t number_bytes, const char *formula)
{
    struct build *build = &step->build;
    int64_t size_bytes = step_times(step, count, number_bytes);
    struct graph_object object = generate_object(size_bytes, step->domain);

    object.name = build_text(build, "%s.%s", at, name);
    object.evidence =
        generate_evidence(EVIDENCE_DECLARED, build_text(build, "%s numbers of %" PRId64 " bytes",
                                                        formula, number_bytes));
    object.is_initial = object.is_retained = life == STEP_STATE;
    object.is_offloadable = life != STEP_PASSING;
    step->charged_bytes = step_plus(step, step->charged_bytes, size_bytes);
    if (life == STEP_KEPT) {
        object.recompute = (weir_node){graph_n_nodes(build->graph)};
        step->totals.activation_bytes = step_plus(step, step->totals.activation_bytes, size_bytes);
    }
    return build_object(build, &object);
}

static int64_t bytes_moved(struct step *step, const struct work *work)
{
    int64_t bytes = work->more_bytes;

    for (uint32_t i = 0; i < work->n_reads + work->n_writes; i++) {
        struct graph_object object;

        graph_object(step->build.graph,
                     i < work->n_reads ? work->reads[i] : work->writes[i - work->n_reads], &object);
        bytes = step_plus(step, bytes, object.size_bytes);
    }
    return bytes;
}

/* Rounded up; a time past 64 bits fails the step. */
static int64_t time_of(struct step *step, int64_t amount, int64_t per_s)
{
    int64_t ns;

    if (number_mul_div_ceil(amount, NS_PER_S, per_s, &ns))
        return ns;
    fail(step, WEIR_USAGE,
         "a node of this model would take longer than 64 bits of nanoseconds "
         "hold; make the largest of its dimensions smaller");
    return 0;
}

void step_node(struct step *step, const char *at, const char *name, const struct work *work)
{
    struct build *build = &step->build;
    struct graph_node node = generate_node(NODE_COMPUTE);
    struct graph_charge workspace = {work->workspace_bytes, step->domain};
    struct graph_access *reads;
    int64_t bytes, compute_ns, memory_ns, duration_ns;

    if (build->status != WEIR_OK)
        return;
    bytes = bytes_moved(step, work);
    compute_ns = time_of(step, work->flops, step->flops_per_s);
    memory_ns = time_of(step, bytes, step->bandwidth_bytes_per_s);
    duration_ns = compute_ns > memory_ns ? compute_ns : memory_ns;
    reads = calloc((size_t)work->n_reads + 1, sizeof *reads);
    if (reads == NULL) {
        build->status = weir_error_memory(build->err);
        return;
    }
    for (uint32_t i = 0; i < work->n_reads; i++)
        reads[i] = (struct graph_access){work->reads[i], {WEIR_NONE}};
    step->totals.flops = step_plus(step, step->totals.flops, work->flops);
    step->charged_bytes = step_plus(step, step->charged_bytes, work->workspace_bytes);
    node.name = build_text(build, "%s%s%s", at, name[0] == '\0' ? "" : ".", name);
    node.engine = step->engine;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.reads = reads;
    node.n_reads = work->n_reads;
    node.writes = work->writes;
    node.n_writes = work->n_writes;
    node.workspace = &workspace;
    node.n_workspace = work->workspace_bytes > 0 ? 1 : 0;
    node.class_given = work->class_;
    node.purity = work->is_impure ? PURITY_IMPURE : PURITY_PURE;
    node.evidence =
        generate_evidence(EVIDENCE_BOUND, build_text(build,
                                                     "roofline: %" PRId64 " flops in %" PRId64
                                                     " ns, %" PRId64 " bytes in %" PRId64 " ns",
                                                     work->flops, compute_ns, bytes, memory_ns));
    (void)build_node(build, &node);
    free(reads);
}
