/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run of time. At an instant every node that ends there finishes first; then, in dispatch order,
 * whatever can start starts, until nothing can; then speeds are set for the new set of running
 * nodes. A node that cannot start holds up no other: it is set aside until what it lacks is given
 * back. */
#include "sim/simulate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "sim/simulate_internal.h"

/* --- becoming ready ------------------------------------------------------------------------- */

static enum weir_status push_candidate(struct simulation *sim, struct candidate candidate)
{
    uint32_t index = sim->program->nodes[candidate.node].engine;
    struct engine_state *engine = &sim->engines[index];
    enum weir_status status;

    candidate.priority = sim->priority == NULL ? 0 : sim->priority[candidate.node];
    status = ready_push(&engine->queue, candidate, sim->err);
    if (status == WEIR_OK && !engine->is_open && engine->free_slots > 0) {
        engine->is_open = true;
        sim->open[sim->n_open++] = index;
    }
    return status;
}

enum weir_status simulation_push_pass(struct simulation *sim, uint32_t node, int64_t time_ns)
{
    enum weir_status status =
        array_grow(&sim->passes, &sim->passes_room, (size_t)sim->n_passes + 1, sim->err);

    if (status == WEIR_OK) {
        sim->passes[sim->n_passes++] = (struct pass){node, time_ns};
    }
    return status;
}

enum weir_status simulation_enqueue(struct simulation *sim, uint32_t node)
{
    struct candidate candidate = {0, sim->timeline->spans[node].ready_ns, node};
    bool is_taken = false;
    enum weir_status status = WEIR_OK;

    if (sim->fallbacks != NULL) {
        status = fallback_intercept(sim, node, &is_taken);
    }
    if (status != WEIR_OK || is_taken) {
        return status;
    }
    status = push_candidate(sim, candidate);
    if (status == WEIR_OK && sim->policy->on_event != NULL) {
        status =
            steer_event(sim, WEIR_EVENT_ARRIVED, (weir_node){node}, (weir_domain){WEIR_NONE}, 0);
    }
    return status;
}

/* Every producer has done its part. */
static enum weir_status become_ready(struct simulation *sim, uint32_t node)
{
    struct timeline_span *span = &sim->timeline->spans[node];

    if (sim->program->release_ns != NULL && sim->program->release_ns[node] > span->ready_ns) {
        span->ready_ns = sim->program->release_ns[node];
    }
    if ((sim->program->nodes[node].flags & PROGRAM_OFF) != 0) {
        return simulation_push_pass(sim, node, span->ready_ns);
    }
    if (span->ready_ns > sim->now_ns) {
        return event_push(&sim->arrivals, (struct event){span->ready_ns, node}, sim->err);
    }
    return simulation_enqueue(sim, node);
}

enum weir_status simulation_arrive(struct simulation *sim, uint32_t consumer, int64_t time_ns)
{
    struct timeline_span *span = &sim->timeline->spans[consumer];

    if (time_ns > span->ready_ns) {
        span->ready_ns = time_ns;
    }
    return --sim->left[consumer] == 0 ? become_ready(sim, consumer) : WEIR_OK;
}

static enum weir_status arrive_late(struct simulation *sim, uint32_t consumer, int64_t time_ns,
                                    int64_t lag_ns)
{
    int64_t at_ns;

    if (__builtin_add_overflow(time_ns, lag_ns, &at_ns)) {
        return weir_error_set(sim->err, WEIR_INPUT, "node %s is ready past 2^63 ns",
                              graph_node_name(sim->program->graph, (weir_node){consumer}));
    }
    return simulation_arrive(sim, consumer, at_ns);
}

/* Follows the node's edges of one sort: from its start, or from its finish. */
static enum weir_status feed(struct simulation *sim, uint32_t node, uint32_t from_start,
                             int64_t time_ns)
{
    const struct program *program = sim->program;
    uint32_t end = program->nodes[node + 1].next;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->nodes[node].next; i < end && status == WEIR_OK; i++) {
        uint32_t consumer = program->next[i];

        if ((consumer & PROGRAM_FROM_START) != from_start) {
            continue;
        }
        status = arrive_late(sim, consumer & ~PROGRAM_FROM_START, time_ns,
                             program->lag_ns == NULL ? 0 : program->lag_ns[i]);
    }
    return status;
}

enum weir_status simulation_drain(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    while (sim->n_passes > 0 && status == WEIR_OK) {
        struct pass pass = sim->passes[--sim->n_passes];

        status = feed(sim, pass.node, PROGRAM_FROM_START, pass.time_ns);
        if (status == WEIR_OK) {
            status = feed(sim, pass.node, 0, pass.time_ns);
        }
    }
    return status;
}

/* --- waiting and waking ----------------------------------------------------------------------- */

static enum weir_status set_aside(struct simulation *sim, struct waiting *waiting,
                                  struct candidate candidate, enum wait_cause cause)
{
    enum weir_status status =
        array_grow(&waiting->items, &waiting->room, (size_t)waiting->n + 1, sim->err);

    sim->timeline->spans[candidate.node].cause = (uint8_t)cause;
    if (status == WEIR_OK) {
        waiting->items[waiting->n++] = candidate;
    }
    return status;
}

static enum weir_status wake_all(struct simulation *sim, struct waiting *waiting, uint32_t giver)
{
    uint32_t n = waiting->n;
    enum weir_status status = WEIR_OK;

    waiting->n = 0;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        sim->timeline->spans[waiting->items[i].node].blocker.index = giver;
        status = push_candidate(sim, waiting->items[i]);
    }
    return status;
}

enum weir_status simulation_wake(struct simulation *sim, uint32_t giver)
{
    enum weir_status status = WEIR_OK;
    weir_domain domain;

    while (status == WEIR_OK && memory_next_freed(sim->memory, &domain)) {
        status = wake_all(sim, &sim->for_bytes[domain.index], giver);
    }
    return status;
}

/* --- finishing ------------------------------------------------------------------------------ */

static enum weir_status give_back(struct simulation *sim, uint32_t node)
{
    const struct program_node *fixed = &sim->program->nodes[node];
    enum weir_status status = WEIR_OK;

    if ((fixed->flags & PROGRAM_BYTES) != 0) {
        status = memory_give(sim->memory, node, true, sim->now_ns, sim->err);
        if (status == WEIR_OK) {
            status = simulation_wake(sim, node);
        }
    }
    if (status != WEIR_OK || (fixed->flags & PROGRAM_RUNS_LONG) == 0) {
        return status;
    }
    if (sim->unknown != NULL) {
        overlap_end(sim->unknown, node);
        sim->unknown_pairs -= overlap_count(sim->unknown, node);
    }
    if (sim->forbidden != NULL) {
        overlap_end(sim->forbidden, node);
        status = wake_all(sim, &sim->for_overlap, node);
    }
    return status;
}

static void free_slot(struct simulation *sim, uint32_t node)
{
    uint32_t index = sim->program->nodes[node].engine;
    struct engine_state *engine = &sim->engines[index];

    engine->free_slots++;
    engine->freed_by = node;
    if (!engine->is_open && engine->queue.n > 0) {
        engine->is_open = true;
        sim->open[sim->n_open++] = index;
    }
}

/* The node ends now. Its slot, if it held one, is free already. */
static enum weir_status finish_node(struct simulation *sim, uint32_t node)
{
    enum weir_status status;

    sim->timeline->spans[node].finish_ns = sim->now_ns;
    sim->timeline->makespan_ns = sim->now_ns;
    sim->n_to_run--;
    status = give_back(sim, node);
    if (status == WEIR_OK) {
        status = feed(sim, node, 0, sim->now_ns);
    }
    if (status == WEIR_OK && sim->n_passes > 0) {
        status = simulation_drain(sim);
    }
    if (status == WEIR_OK && sim->policy->on_event != NULL) {
        status =
            steer_event(sim, WEIR_EVENT_FINISHED, (weir_node){node}, (weir_domain){WEIR_NONE}, 0);
    }
    return status;
}

/* By program order, so that nothing rests on how the ends were found. */
static void sort_nodes(uint32_t *nodes, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t moved = nodes[i], at = i;

        while (at > 0 && nodes[at - 1] > moved) {
            nodes[at] = nodes[at - 1];
            at--;
        }
        nodes[at] = moved;
    }
}

static enum weir_status finish_all(struct simulation *sim)
{
    uint32_t n_ended = 0;
    enum weir_status status = WEIR_OK;

    contention_end(sim->contention, sim->now_ns, sim->ended, &n_ended);
    sort_nodes(sim->ended, n_ended);
    for (uint32_t i = 0; i < n_ended; i++) {
        free_slot(sim, sim->ended[i]);
    }
    for (uint32_t i = 0; i < n_ended && status == WEIR_OK; i++) {
        status = finish_node(sim, sim->ended[i]);
    }
    while (status == WEIR_OK && sim->arrivals.n > 0 &&
           sim->arrivals.items[0].time_ns <= sim->now_ns) {
        status = simulation_enqueue(sim, event_pop(&sim->arrivals).node);
    }
    return status;
}

/* --- starting ------------------------------------------------------------------------------- */

/* Why the node did not start when it was ready, and what gave way last. */
static enum weir_status note_wait(struct simulation *sim, uint32_t node)
{
    struct timeline_span *span = &sim->timeline->spans[node];
    struct timeline_wait wait = {.node = {node}, .object = {WEIR_NONE}};
    weir_node woken_by = span->blocker;
    bool is_woken_now =
        weir_is(woken_by) && sim->timeline->spans[woken_by.index].finish_ns == sim->now_ns;

    if (span->ready_ns == sim->now_ns) {
        span->cause = WAIT_NONE;
        span->blocker.index = WEIR_NONE;
        return WEIR_OK;
    }
    if (span->cause == WAIT_NONE || (span->cause != WAIT_ADMISSION && !is_woken_now)) {
        span->cause = WAIT_ENGINE;
        span->blocker.index = sim->engines[sim->program->nodes[node].engine].freed_by;
    }
    if (!sim->options->keeps_details) {
        return WEIR_OK;
    }
    wait.cause = (enum wait_cause)span->cause;
    wait.blocker = span->blocker;
    wait.from_ns = span->ready_ns;
    wait.to_ns = sim->now_ns;
    return timeline_add_wait(sim->timeline, &wait, sim->err);
}

static enum weir_status mark_start(struct simulation *sim, uint32_t node)
{
    struct timeline_span *span = &sim->timeline->spans[node];
    const struct program_node *fixed = &sim->program->nodes[node];
    enum weir_status status = note_wait(sim, node);

    span->start_ns = sim->now_ns;
    span->isolated_ns = fixed->length_ns;
    span->order = sim->n_started++;
    if (status == WEIR_OK && (fixed->flags & PROGRAM_FEEDS_START) != 0) {
        status = feed(sim, node, PROGRAM_FROM_START, sim->now_ns);
    }
    if (status == WEIR_OK && sim->fallbacks != NULL) {
        status = fallback_started(sim, node);
    }
    if (status == WEIR_OK && sim->n_passes > 0) {
        status = simulation_drain(sim);
    }
    return status;
}

/* A node of length above 0 joins the running set. */
static enum weir_status begin_running(struct simulation *sim, uint32_t node)
{
    sim->engines[sim->program->nodes[node].engine].free_slots--;
    if (sim->forbidden != NULL) {
        overlap_start(sim->forbidden, node);
    }
    if (sim->unknown != NULL) {
        sim->unknown_pairs += overlap_count(sim->unknown, node);
        overlap_start(sim->unknown, node);
    }
    return contention_start(sim->contention, node, sim->now_ns, sim->err);
}

static enum weir_status start_node(struct simulation *sim, uint32_t node)
{
    const struct program_node *fixed = &sim->program->nodes[node];
    bool is_long = (fixed->flags & PROGRAM_RUNS_LONG) != 0;
    enum weir_status status = WEIR_OK;

    if ((fixed->flags & PROGRAM_BYTES) != 0) {
        status = memory_take(sim->memory, node, sim->now_ns, sim->err);
    }
    if (status == WEIR_OK && is_long) {
        status = begin_running(sim, node);
    }
    if (status == WEIR_OK) {
        status = mark_start(sim, node);
    }
    return status == WEIR_OK && !is_long ? finish_node(sim, node) : status;
}

/* Asks the policy. One that is held is tried again at the time it names, or, when it names none
 * that is to come, whenever something else has happened. */
static enum weir_status ask_policy(struct simulation *sim, struct candidate candidate,
                                   bool *is_admitted)
{
    int64_t until_ns = sim->now_ns;
    enum weir_status status = steer_admit(sim, candidate.node, is_admitted, &until_ns);

    if (status != WEIR_OK || *is_admitted) {
        return status;
    }
    if (until_ns <= sim->now_ns) {
        return set_aside(sim, &sim->for_policy, candidate, WAIT_ADMISSION);
    }
    sim->timeline->spans[candidate.node].cause = WAIT_ADMISSION;
    return event_push(&sim->arrivals, (struct event){until_ns, candidate.node}, sim->err);
}

/* Starts the node, or sets it aside with what it lacks. */
static enum weir_status try_start(struct simulation *sim, struct candidate candidate)
{
    const struct program_node *fixed = &sim->program->nodes[candidate.node];
    weir_domain short_of;
    bool is_admitted = true;
    enum weir_status status;

    if (sim->fallbacks != NULL && sim->fallbacks[candidate.node].fate == FATE_SKIPPED) {
        return WEIR_OK;
    }
    if ((fixed->flags & PROGRAM_BYTES) != 0 &&
        !memory_fits(sim->memory, candidate.node, &short_of)) {
        return set_aside(sim, &sim->for_bytes[short_of.index], candidate, WAIT_CAPACITY);
    }
    if (sim->forbidden != NULL && (fixed->flags & PROGRAM_RUNS_LONG) != 0 &&
        overlap_count(sim->forbidden, candidate.node) > 0) {
        return set_aside(sim, &sim->for_overlap, candidate, WAIT_OVERLAP);
    }
    status = sim->policy->admit == NULL ? WEIR_OK : ask_policy(sim, candidate, &is_admitted);
    return status == WEIR_OK && is_admitted ? start_node(sim, candidate.node) : status;
}

/* The open engine whose first candidate comes first. */
static uint32_t first_open(const struct simulation *sim)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < sim->n_open; i++) {
        if (candidate_before(&sim->engines[sim->open[i]].queue.items[0],
                             &sim->engines[sim->open[best]].queue.items[0])) {
            best = i;
        }
    }
    return best;
}

static enum weir_status start_what_fits(struct simulation *sim)
{
    enum weir_status status = wake_all(sim, &sim->for_policy, WEIR_NONE);

    while (sim->n_open > 0 && status == WEIR_OK) {
        uint32_t at = first_open(sim), index = sim->open[at];
        struct engine_state *engine = &sim->engines[index];
        struct candidate candidate = ready_pop(&engine->queue);

        /* Closed while at work: what it frees or makes ready may open it again. */
        engine->is_open = false;
        sim->open[at] = sim->open[--sim->n_open];
        status = try_start(sim, candidate);
        if (!engine->is_open && engine->free_slots > 0 && engine->queue.n > 0) {
            engine->is_open = true;
            sim->open[sim->n_open++] = index;
        }
    }
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

static enum weir_status arrive_roots(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sim->program->n_nodes; i++) {
        sim->left[i] = sim->program->nodes[i].n_before;
        sim->n_to_run += (sim->program->nodes[i].flags & PROGRAM_OFF) != 0 ? 0 : 1;
    }
    for (uint32_t i = 0; i < sim->program->n_nodes && status == WEIR_OK; i++) {
        if (sim->program->nodes[i].n_before == 0) {
            status = become_ready(sim, i);
        }
    }
    return status == WEIR_OK ? simulation_drain(sim) : status;
}

/* Starts what can start, lets go what had its time, and sets the speeds. */
static enum weir_status settle(struct simulation *sim)
{
    bool has_changed = true;
    enum weir_status status = WEIR_OK;

    while (has_changed && status == WEIR_OK) {
        has_changed = false;
        status = start_what_fits(sim);
        if (status == WEIR_OK && sim->fallbacks != NULL) {
            status = fallback_close(sim, &has_changed);
        }
    }
    return status == WEIR_OK ? contention_settle(sim->contention, sim->now_ns, sim->err) : status;
}

/* Moves time to the next instant; false when there is none. Bytes are recorded once an instant has
 * passed, that is, when the next is a later one. */
static bool next_instant(struct simulation *sim, enum weir_status *status)
{
    int64_t next_ns = contention_next_ns(sim->contention);

    if (sim->arrivals.n > 0 && sim->arrivals.items[0].time_ns < next_ns) {
        next_ns = sim->arrivals.items[0].time_ns;
    }
    if (sim->windows.n > 0 && sim->windows.items[0].time_ns < next_ns) {
        next_ns = sim->windows.items[0].time_ns;
    }
    if (next_ns > sim->now_ns) {
        *status = memory_settle(sim->memory, sim->now_ns, sim->err);
    }
    if (next_ns == INT64_MAX || sim->n_to_run == 0 || weir_is(sim->failed)) {
        return false;
    }
    if (sim->unknown_pairs > 0) {
        sim->hypothetical_ns += next_ns - sim->now_ns;
    }
    sim->now_ns = next_ns;
    return *status == WEIR_OK;
}

static enum weir_status run_on(struct simulation *sim)
{
    enum weir_status status = settle(sim);

    while (status == WEIR_OK && next_instant(sim, &status)) {
        status = finish_all(sim);
        if (status == WEIR_OK) {
            status = settle(sim);
        }
    }
    return status;
}

/* Tells the policy what the run starves of: it may let another node go first. */
static enum weir_status tell_starved(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sim->program->n_domains && status == WEIR_OK; i++) {
        weir_domain domain = {i};

        if (sim->for_bytes[i].n > 0) {
            uint32_t node = sim->for_bytes[i].items[0].node;

            status = steer_event(sim, WEIR_EVENT_STARVED, (weir_node){node}, domain,
                                 memory_need_bytes(sim->memory, node, domain));
        }
    }
    return status;
}

static enum weir_status run(struct simulation *sim)
{
    enum weir_status status;

    if (weir_is(memory_overfull(sim->memory))) {
        sim->n_to_run = 1;
        return memory_settle(sim->memory, 0, sim->err);
    }
    status = arrive_roots(sim);
    if (status == WEIR_OK) {
        status = run_on(sim);
    }
    if (status == WEIR_OK && sim->n_to_run > 0 && !weir_is(sim->failed) &&
        sim->policy->on_event != NULL) {
        status = tell_starved(sim);
        status = status == WEIR_OK ? run_on(sim) : status;
    }
    return status;
}

/* --- setting up and clearing away -------------------------------------------------------------- */

static enum weir_status allocate(struct simulation *sim)
{
    const struct program *program = sim->program;
    size_t n_engines = (size_t)program->n_engines + 1, n_domains = (size_t)program->n_domains + 1;

    sim->left = malloc(((size_t)program->n_nodes + 1) * sizeof *sim->left);
    sim->ended = malloc(((size_t)program->n_nodes + 1) * sizeof *sim->ended);
    sim->engines = calloc(n_engines, sizeof *sim->engines);
    sim->open = malloc(n_engines * sizeof *sim->open);
    sim->for_bytes = calloc(n_domains, sizeof *sim->for_bytes);
    if (sim->left == NULL || sim->ended == NULL || sim->engines == NULL || sim->open == NULL ||
        sim->for_bytes == NULL) {
        return weir_error_memory(sim->err);
    }
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

static enum weir_status set_up(struct simulation *sim)
{
    const struct simulate_options *options = sim->options;
    enum weir_status status = allocate(sim);

    if (status == WEIR_OK) {
        status = copy_priorities(sim);
    }
    if (status == WEIR_OK) {
        status =
            memory_new(sim->program, sim->timeline, options->keeps_details, &sim->memory, sim->err);
    }
    if (status == WEIR_OK) {
        status = contention_new(sim->program, options->contention, &sim->contention, sim->err);
    }
    if (status == WEIR_OK) {
        status = overlap_forbidden(sim->program, options, &sim->forbidden, sim->err);
    }
    if (status == WEIR_OK && options->unknown_overlap == UNKNOWN_MARK) {
        status = overlap_unknown(sim->program, options, &sim->unknown, sim->err);
    }
    return status == WEIR_OK ? fallback_begin(sim) : status;
}

static void clear_away(struct simulation *sim)
{
    for (uint32_t i = 0; sim->engines != NULL && i <= sim->program->n_engines; i++) {
        free(sim->engines[i].queue.items);
    }
    for (uint32_t i = 0; sim->for_bytes != NULL && i < sim->program->n_domains; i++) {
        free(sim->for_bytes[i].items);
    }
    memory_free(sim->memory);
    contention_free(sim->contention);
    overlap_free(sim->forbidden);
    overlap_free(sim->unknown);
    free(sim->left);
    free(sim->ended);
    free(sim->engines);
    free(sim->open);
    free(sim->for_bytes);
    free(sim->for_overlap.items);
    free(sim->for_policy.items);
    free(sim->arrivals.items);
    free(sim->windows.items);
    free(sim->passes);
    free(sim->fallbacks);
    free(sim->priority);
}

static size_t memory_held(const struct simulation *sim)
{
    size_t n_nodes = sim->program->n_nodes;
    size_t bytes =
        sim->program->memory_bytes + memory_memory_bytes(sim->memory) +
        contention_memory_bytes(sim->contention) +
        n_nodes * (sizeof *sim->left + sizeof *sim->ended + sizeof *sim->timeline->spans) +
        (sim->priority == NULL ? 0 : n_nodes * sizeof *sim->priority) +
        (sim->fallbacks == NULL ? 0 : n_nodes * sizeof *sim->fallbacks) +
        sim->arrivals.room * sizeof *sim->arrivals.items +
        sim->timeline->waits_room * sizeof *sim->timeline->waits +
        sim->timeline->holds_room * sizeof *sim->timeline->holds +
        sim->timeline->induced_room * sizeof *sim->timeline->induced +
        sim->timeline->pressures_room * sizeof *sim->timeline->pressures;

    for (uint32_t i = 0; i <= sim->program->n_engines; i++) {
        bytes += sim->engines[i].queue.room * sizeof *sim->engines[i].queue.items;
    }
    return bytes;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
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
    status = run(sim);
    if (status == WEIR_OK && sim->n_to_run > 0) {
        status = stuck_explain(sim, &out->explanation);
    }
    out->wall_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
    out->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
    out->hypothetical_ns = sim->hypothetical_ns;
    out->memory_bytes = memory_held(sim);
    return status;
}

struct simulate_options simulate_default(void)
{
    return (struct simulate_options){CONTENTION_NONE, UNKNOWN_MARK, true};
}

enum weir_status simulate(const struct plan *plan, const struct simulate_options *options,
                          struct simulate_result *out, struct weir_error *err)
{
    struct simulate_result result = {0};
    struct simulation sim = {.plan = plan,
                             .policy = plan_policy(plan),
                             .options = options,
                             .err = err,
                             .failed = {WEIR_NONE}};
    struct program program;
    enum weir_status status = program_make(plan_binding(plan), &program, err);

    if (status != WEIR_OK) {
        return status;
    }
    sim.program = &program;
    sim.timeline = timeline_new(program.n_nodes, program.n_domains);
    status = sim.timeline == NULL ? weir_error_memory(err) : simulate_program(&sim, &result);
    clear_away(&sim);
    program_free(&program);
    if (status != WEIR_OK) {
        timeline_free(sim.timeline);
        free(result.explanation);
        return status;
    }
    result.timeline = sim.timeline;
    *out = result;
    return WEIR_OK;
}
