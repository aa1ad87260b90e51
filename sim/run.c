/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run of time. At an instant every node that ends there finishes first; then, in dispatch order,
 * whatever can start starts, until nothing can; then speeds are set for the new set of running
 * nodes. */
#include <stdlib.h>

#include "sim/lacking.h"

/* As far as is known before time runs. */
static bool will_run(const struct simulation *sim, uint32_t node)
{
    return (sim->program->nodes[node].flags & PROGRAM_OFF) == 0 &&
           (sim->fallbacks == NULL || sim->fallbacks[node].fate != FATE_SKIPPED);
}

static enum weir_status arrive_roots(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sim->program->n_nodes; i++) {
        sim->n_to_run += will_run(sim, i) ? 1 : 0;
    }
    for (uint32_t i = 0; i < sim->program->n_nodes && status == WEIR_OK; i++) {
        if (sim->program->n_before[i] == 0) {
            status = simulation_become_ready(sim, i);
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
        status = simulation_start_what_fits(sim);
        if (status == WEIR_OK && sim->fallbacks != NULL) {
            status = fallback_close(sim, &has_changed);
        }
    }
    return status == WEIR_OK && sim->contention != NULL
               ? contention_settle(sim->contention, sim->now_ns, sim->err)
               : status;
}

#define MOST_IDLE 1000000

/* A policy may put all off from one instant to the next and never let anything start: then time
 * would run on for ever. */
static bool is_put_off(struct simulation *sim)
{
    if (sim->n_running > 0 || event_n(&sim->arrivals) > sim->n_held || event_n(&sim->windows) > 0 ||
        sim->n_started != sim->n_started_before) {
        sim->n_started_before = sim->n_started;
        sim->n_idle = 0;
        return false;
    }
    return ++sim->n_idle > MOST_IDLE;
}

static int64_t next_end_ns(const struct simulation *sim)
{
    if (sim->contention != NULL) {
        return contention_next_ns(sim->contention);
    }
    return event_n(&sim->ends) == 0 ? INT64_MAX : event_first(&sim->ends).time_ns;
}

/* Moves time to the next instant; false when there is none. Bytes are recorded once an instant has
 * passed, that is, when the next is a later one. */
static bool next_instant(struct simulation *sim, enum weir_status *status)
{
    int64_t next_ns = next_end_ns(sim);

    if (event_n(&sim->arrivals) > 0 && event_first(&sim->arrivals).time_ns < next_ns) {
        next_ns = event_first(&sim->arrivals).time_ns;
    }
    if (event_n(&sim->windows) > 0 && event_first(&sim->windows).time_ns < next_ns) {
        next_ns = event_first(&sim->windows).time_ns;
    }
    if (next_ns > sim->now_ns) {
        memory_settle(sim->memory);
        if (sim->n_lacking > 0) {
            *status = lacking_settle(sim);
        }
    }
    if (next_ns == INT64_MAX || sim->n_to_run == 0 || weir_is(sim->failed) ||
        (sim->policy->admit != NULL && is_put_off(sim))) {
        return false;
    }
    if (sim->unknown_pairs > 0) {
        sim->hypothetical_ns += next_ns - sim->now_ns;
    }
    sim->now_ns = next_ns;
    sim->instant++;
    return *status == WEIR_OK;
}

#define INSTANTS_BETWEEN 65536 /* two looks at how far it is: of no cost */

static void tell_progress(const struct simulation *sim)
{
    const struct simulate_options *options = sim->options;

    if (options->progress != NULL && sim->program->n_nodes > 0) {
        options->progress(options->progress_arg,
                          1 - (double)sim->n_to_run / (double)sim->program->n_nodes);
    }
}

static enum weir_status run_on(struct simulation *sim)
{
    uint32_t n_instants = 0;
    enum weir_status status = settle(sim);

    while (status == WEIR_OK && next_instant(sim, &status)) {
        if (++n_instants % INSTANTS_BETWEEN == 0) {
            tell_progress(sim);
        }
        status = simulation_finish_all(sim);
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

        uint32_t *nodes = NULL, n = 0;

        status = lacking_list(sim, domain, &nodes, &n, sim->err);
        if (status == WEIR_OK && n > 0) {
            status = steer_event(sim, WEIR_EVENT_STARVED, (weir_node){nodes[0]}, domain,
                                 memory_need_bytes(sim->memory, nodes[0], domain));
        }
        free(nodes);
    }
    return status;
}

enum weir_status simulation_run(struct simulation *sim)
{
    enum weir_status status;

    if (weir_is(memory_overfull(sim->memory))) {
        sim->n_to_run = 1;
        memory_settle(sim->memory);
        return WEIR_OK;
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
