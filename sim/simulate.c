/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation from set-up to result. */
#include "sim/simulate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/barred.h"
#include "sim/lacking.h"

static enum weir_status allocate(struct simulation *sim)
{
    const struct program *program = sim->program;
    size_t n_engines = (size_t)program->n_engines + 1, n_domains = (size_t)program->n_domains + 1;

    sim->left = malloc(((size_t)program->n_nodes + 1) * sizeof *sim->left);
    sim->engines = calloc(n_engines, sizeof *sim->engines);
    sim->open = malloc(n_engines * sizeof *sim->open);
    sim->lacking = calloc(n_domains, sizeof *sim->lacking);
    if (sim->left == NULL || sim->engines == NULL || sim->open == NULL || sim->lacking == NULL) {
        return weir_error_memory(sim->err);
    }
    memcpy(sim->left, program->n_before, program->n_nodes * sizeof *sim->left);
    for (uint32_t i = 0; i < program->n_engines; i++) {
        sim->engines[i].free_slots = graph_engine(program->graph, (weir_engine){i})->slots;
        sim->engines[i].freed_by = WEIR_NONE;
    }
    sim->engines[program->n_engines].free_slots = INT64_MAX / 2;
    sim->engines[program->n_engines].freed_by = WEIR_NONE;
    return WEIR_OK;
}

static enum weir_status copy_priorities(struct simulation *sim)
{
    size_t n_nodes = sim->program->n_nodes;

    if (sim->program->priority == NULL) {
        return WEIR_OK;
    }
    sim->priority = malloc(n_nodes * sizeof *sim->priority);
    if (sim->priority == NULL) {
        return weir_error_memory(sim->err);
    }
    memcpy(sim->priority, sim->program->priority, n_nodes * sizeof *sim->priority);
    return WEIR_OK;
}

/* A node that starts and finishes needs two items, one that gives way three. */
static enum weir_status make_log(struct simulation *sim)
{
    size_t most = sim->fallbacks == NULL ? 2 : 3;

    sim->log.items = malloc((most * sim->program->n_touching + 1) * sizeof *sim->log.items);
    return sim->log.items == NULL ? weir_error_memory(sim->err) : WEIR_OK;
}

static enum weir_status set_up(struct simulation *sim)
{
    const struct simulate_options *options = sim->options;
    enum weir_status status = allocate(sim);

    if (status == WEIR_OK) {
        status = copy_priorities(sim);
    }
    if (status == WEIR_OK) {
        status = memory_new(sim->program, &sim->memory, sim->err);
    }
    if (status == WEIR_OK && options->contention != CONTENTION_NONE) {
        status = contention_new(sim->program, options->contention, &sim->contention, sim->err);
    }
    if (status == WEIR_OK) {
        status = overlap_forbidden(sim->program, options, &sim->forbidden, sim->err);
    }
    if (status == WEIR_OK && options->unknown_overlap == UNKNOWN_MARK) {
        status = overlap_unknown(sim->program, options, &sim->unknown, sim->err);
    }
    sim->has_overlaps = sim->forbidden != NULL || sim->unknown != NULL;
    if (status == WEIR_OK) {
        status = fallback_begin(sim);
    }
    if (status == WEIR_OK && sim->forbidden != NULL) {
        status = barred_new(sim);
    }
    return status == WEIR_OK && options->keeps_details ? make_log(sim) : status;
}

static void clear_away(struct simulation *sim)
{
    lacking_free(sim);
    for (uint32_t i = 0; sim->engines != NULL && i <= sim->program->n_engines; i++) {
        ready_free(&sim->engines[i].queue);
    }
    memory_free(sim->memory);
    contention_free(sim->contention);
    barred_free(sim);
    overlap_free(sim->forbidden);
    overlap_free(sim->unknown);
    free(sim->left);
    free(sim->log.items);
    free(sim->stretches.items);
    free(sim->ended);
    event_free(&sim->ends);
    free(sim->engines);
    free(sim->open);
    free(sim->for_policy.items);
    event_free(&sim->arrivals);
    event_free(&sim->windows);
    free(sim->passes);
    free(sim->fallbacks);
    free(sim->priority);
}

static size_t memory_held(const struct simulation *sim)
{
    size_t n_nodes = sim->program->n_nodes;
    size_t bytes = sim->program->memory_bytes + memory_memory_bytes(sim->memory) +
                   event_memory_bytes(&sim->ends) +
                   (sim->contention == NULL ? 0 : contention_memory_bytes(sim->contention)) +
                   n_nodes * (sizeof *sim->left + sizeof *sim->timeline->spans) +
                   sim->ended_room * sizeof *sim->ended + sim->log.n * sizeof *sim->log.items +
                   sim->stretches.room * sizeof *sim->stretches.items +
                   sim->shelves.room * sizeof *sim->shelves.items +
                   (sim->barred == NULL ? 0 : barred_memory_bytes(sim->barred)) +
                   (sim->priority == NULL ? 0 : n_nodes * sizeof *sim->priority) +
                   (sim->fallbacks == NULL ? 0 : n_nodes * sizeof *sim->fallbacks) +
                   event_memory_bytes(&sim->arrivals);

    for (uint32_t i = 0; i <= sim->program->n_engines; i++) {
        const struct ready_queue *queue = &sim->engines[i].queue;

        bytes += (queue->line_room * sizeof *queue->line + queue->heap_room * sizeof *queue->heap);
    }
    return bytes;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What is told of the run beside the spans of its nodes. */
static enum weir_status write_details(struct simulation *sim)
{
    struct timeline *timeline = sim->timeline;
    enum weir_status status;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *span = &timeline->spans[i];

        if (span->start_ns < 0) {
            span->isolated_ns = -1;
        }
        if (span->finish_ns > timeline->makespan_ns) {
            timeline->makespan_ns = span->finish_ns;
        }
    }
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        timeline->peak_bytes[i] = memory_peak_bytes(sim->memory, (weir_domain){i});
    }
    if (!sim->options->keeps_details) {
        return WEIR_OK;
    }
    status = waits_write(sim);
    return status == WEIR_OK
               ? ledger_write(sim->program, sim->memory, &sim->log, timeline, sim->err)
               : status;
}

static enum weir_status simulate_program(struct simulation *sim, struct simulate_result *out)
{
    int64_t begin_ns, begin_cpu_ns;
    enum weir_status status = set_up(sim);

    if (status != WEIR_OK) {
        return status;
    }
    begin_ns = clock_ns(CLOCK_MONOTONIC);
    begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    status = simulation_run(sim);
    if (status == WEIR_OK && sim->n_to_run > 0) {
        status = stuck_explain(sim, &out->explanation);
    }
    out->wall_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
    begin_cpu_ns += out->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
    out->hypothetical_ns = sim->hypothetical_ns;
    out->memory_bytes = memory_held(sim);
    status = status == WEIR_OK ? write_details(sim) : status;
    out->details_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
    return status;
}

struct simulate_options simulate_default(void)
{
    return (struct simulate_options){
        .contention = CONTENTION_NONE, .unknown_overlap = UNKNOWN_MARK, .keeps_details = true};
}

/* The lengths that the graph does not say. */
static void set_lengths(const struct program *program, const int64_t *length_ns,
                        struct timeline_span *spans)
{
    for (uint32_t i = 0; i < program->n_nodes && length_ns != NULL; i++) {
        if ((program->nodes[i].flags & PROGRAM_OFF) == 0) {
            spans[i].isolated_ns = length_ns[i];
        }
    }
}

/* @param timeline fresh, but for the lengths of its nodes; freed when this fails */
static enum weir_status run_program(const struct program *program, const struct plan *plan,
                                    const struct simulate_options *options,
                                    struct timeline *timeline, struct simulate_result *out,
                                    struct weir_error *err)
{
    struct simulate_result result = {0};
    struct simulation sim = {.plan = plan,
                             .policy = plan_policy(plan),
                             .program = program,
                             .options = options,
                             .timeline = timeline,
                             .err = err,
                             .failed = {WEIR_NONE}};
    enum weir_status status;

    set_lengths(program, options->length_ns, timeline->spans);
    status = simulate_program(&sim, &result);
    clear_away(&sim);
    if (status != WEIR_OK) {
        timeline_free(timeline);
        free(result.explanation);
        return status;
    }
    result.timeline = timeline;
    *out = result;
    return WEIR_OK;
}

enum weir_status simulate(const struct plan *plan, const struct simulate_options *options,
                          struct simulate_result *out, struct weir_error *err)
{
    const struct graph *graph = bind_of(plan_binding(plan));
    struct timeline *timeline = timeline_new(graph_n_nodes(graph), graph_n_domains(graph));
    struct program program;
    enum weir_status status;

    if (timeline == NULL) {
        return weir_error_memory(err);
    }
    status = program_make(plan_binding(plan), timeline->spans, &program, err);
    if (status != WEIR_OK) {
        timeline_free(timeline);
        return status;
    }
    status = run_program(&program, plan, options, timeline, out, err);
    program_free(&program);
    return status;
}

struct simulator {
    struct program program;
    struct timeline *blank; /* a timeline before it runs */
};

enum weir_status simulator_new(const struct binding *binding, struct simulator **out,
                               struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    struct simulator *simulator = calloc(1, sizeof *simulator);
    enum weir_status status = WEIR_OK;

    if (simulator != NULL) {
        simulator->blank = timeline_new(graph_n_nodes(graph), graph_n_domains(graph));
    }
    if (simulator == NULL || simulator->blank == NULL) {
        status = weir_error_memory(err);
    } else {
        status = program_make(binding, simulator->blank->spans, &simulator->program, err);
    }
    if (status != WEIR_OK) {
        simulator_free(simulator);
        return status;
    }
    *out = simulator;
    return WEIR_OK;
}

void simulator_free(struct simulator *simulator)
{
    if (simulator == NULL) {
        return;
    }
    timeline_free(simulator->blank);
    program_free(&simulator->program);
    free(simulator);
}

enum weir_status simulator_run(const struct simulator *simulator, const struct plan *plan,
                               const struct simulate_options *options, struct simulate_result *out,
                               struct weir_error *err)
{
    const struct timeline *blank = simulator->blank;
    struct timeline *timeline = timeline_new(blank->n_nodes, blank->n_domains);

    if (timeline == NULL) {
        return weir_error_memory(err);
    }
    memcpy(timeline->spans, blank->spans, blank->n_nodes * sizeof *timeline->spans);
    return run_program(&simulator->program, plan, options, timeline, out, err);
}

bool simulator_is_steered(const struct plan *plan)
{
    return plan_policy(plan)->admit != NULL || plan_policy(plan)->on_event != NULL ||
           plan_ranks(plan);
}
