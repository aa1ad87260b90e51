/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why nodes wait. A wait is a row of stretches, each with one cause: a node that is ready waits for a
 * slot of its engine until its turn comes; then, perhaps, for what it lacks, until that is given back;
 * then for a slot again. A node's cause, while it is set aside, is what it lacks, and its blocker what
 * woke it last; when it starts they become those of its last stretch. Most nodes wait in one stretch,
 * for a slot, and their spans say all of it: rows are written only for those that ever lacked
 * something else, and the others' when time has run. */
#include <stdlib.h>

#include "base/array.h"
#include "sim/simulate_internal.h"

/* Ends the stretch that began at candidate->since_ns. */
static enum weir_status end_stretch(struct simulation *sim, struct candidate *candidate,
                                    enum wait_cause cause, weir_node blocker, int64_t to_ns)
{
    struct stretches *stretches = &sim->stretches;
    enum weir_status status;
    struct timeline_span *span = &sim->timeline->spans[candidate->node];
    struct timeline_wait wait = {{candidate->node},   cause, blocker, {WEIR_NONE},
                                 candidate->since_ns, to_ns};

    if (to_ns <= candidate->since_ns) {
        return WEIR_OK;
    }
    candidate->since_ns = to_ns;
    span->cause = (uint8_t)cause;
    span->blocker = blocker;
    if (!sim->options->keeps_details) {
        return WEIR_OK;
    }
    if (cause == WAIT_CAPACITY) {
        wait.object.index = candidate->given;
    }
    status = array_grow(&stretches->items, &stretches->room, stretches->n + 1, sim->err);
    if (status == WEIR_OK) {
        stretches->items[stretches->n++] = wait;
    }
    return status;
}

/* When what the node lacked was given back. */
static int64_t woken_at(const struct simulation *sim, const struct candidate *candidate)
{
    weir_node blocker = sim->timeline->spans[candidate->node].blocker;
    int64_t at_ns = weir_is(blocker) ? sim->timeline->spans[blocker.index].finish_ns : sim->now_ns;

    return at_ns < candidate->since_ns ? sim->now_ns : at_ns;
}

/* Accounts for the wait up to now: what the node lacked, then a slot of its engine. */
static enum weir_status end_stretches(struct simulation *sim, struct candidate *candidate)
{
    const struct timeline_span *span = &sim->timeline->spans[candidate->node];
    weir_node freed_by = {sim->engines[sim->program->nodes[candidate->node].engine].freed_by};
    enum weir_status status = WEIR_OK;

    if (span->cause != WAIT_NONE) {
        status = end_stretch(sim, candidate, (enum wait_cause)span->cause, span->blocker,
                             woken_at(sim, candidate));
    }
    return status == WEIR_OK ? end_stretch(sim, candidate, WAIT_ENGINE, freed_by, sim->now_ns)
                             : status;
}

enum weir_status waits_set_aside(struct simulation *sim, struct candidate *candidate,
                                 enum wait_cause cause)
{
    struct timeline_span *span = &sim->timeline->spans[candidate->node];
    enum weir_status status;

    if (span->cause == (uint8_t)cause && woken_at(sim, candidate) == sim->now_ns) {
        return WEIR_OK; /* it goes on waiting for the same */
    }
    status = end_stretches(sim, candidate);
    span->cause = (uint8_t)cause;
    span->blocker.index = WEIR_NONE;
    return status;
}

enum weir_status waits_put_off(struct simulation *sim, struct candidate *candidate,
                               int64_t until_ns)
{
    const weir_node nobody = {WEIR_NONE};
    enum weir_status status = end_stretches(sim, candidate);

    return status == WEIR_OK ? end_stretch(sim, candidate, WAIT_ADMISSION, nobody, until_ns)
                             : status;
}

void waits_resume(struct simulation *sim, uint32_t node)
{
    sim->timeline->spans[node].cause =
        WAIT_NONE; /* its stretch has ended: from here on, the engine */
}

enum weir_status waits_start(struct simulation *sim, struct candidate candidate)
{
    struct timeline_span *span = &sim->timeline->spans[candidate.node];
    enum weir_status status = end_stretches(sim, &candidate);

    if (span->ready_ns == sim->now_ns) {
        span->cause = WAIT_NONE;
        span->blocker.index = WEIR_NONE;
    } else if (span->cause == WAIT_NONE) {
        span->cause = WAIT_ADMISSION; /* put off until now, and nothing since */
    }
    return status;
}

/* --- when time has run ---------------------------------------------------------------------- */

/* Stable, since the number of a row settles ties. */
struct place {
    uint32_t order; /* of its node */
    uint32_t row;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* The stretches by the start of their node; those of nodes that never started come last. */
static enum weir_status sort_stretches(const struct simulation *sim, struct place **out)
{
    const struct stretches *stretches = &sim->stretches;
    struct place *places = malloc((stretches->n + 1) * sizeof *places);

    if (places == NULL) {
        return weir_error_memory(sim->err);
    }
    for (size_t i = 0; i < stretches->n; i++) {
        weir_node node = stretches->items[i].node;

        places[i] = (struct place){sim->timeline->spans[node.index].order, (uint32_t)i};
    }
    qsort(places, stretches->n, sizeof *places, by_place);
    *out = places;
    return WEIR_OK;
}

/* Writes the rows of the node: those kept, or the one that its span tells. What it lacked and got
 * within the instant of its start has no row, and is not what it waited for last. */
static enum weir_status write_node(struct simulation *sim, uint32_t node,
                                   const struct place *places, size_t *at)
{
    struct timeline_span *span = &sim->timeline->spans[node];
    const struct timeline_wait whole = {{node},         (enum wait_cause)span->cause,
                                        span->blocker,  {WEIR_NONE},
                                        span->ready_ns, span->start_ns};
    enum weir_status status = WEIR_OK;

    if (*at == sim->stretches.n || places[*at].order != span->order) {
        return span->start_ns > span->ready_ns ? timeline_add_wait(sim->timeline, &whole, sim->err)
                                               : WEIR_OK;
    }
    while (status == WEIR_OK && *at < sim->stretches.n && places[*at].order == span->order) {
        const struct timeline_wait *wait = &sim->stretches.items[places[(*at)++].row];

        span->cause = (uint8_t)wait->cause;
        span->blocker = wait->blocker;
        status = timeline_add_wait(sim->timeline, wait, sim->err);
    }
    return status;
}

static enum weir_status write_in_order(struct simulation *sim, const uint32_t *started,
                                       const struct place *places)
{
    enum weir_status status = WEIR_OK;
    size_t at = 0;

    for (uint32_t i = 0; i < sim->n_started && status == WEIR_OK; i++) {
        status = write_node(sim, started[i], places, &at);
    }
    for (; at < sim->stretches.n && status == WEIR_OK; at++) {
        status = timeline_add_wait(sim->timeline, &sim->stretches.items[places[at].row], sim->err);
    }
    return status;
}

enum weir_status waits_write(struct simulation *sim)
{
    uint32_t *started = malloc(((size_t)sim->n_started + 1) * sizeof *started);
    struct place *places = NULL;
    enum weir_status status = sort_stretches(sim, &places);

    if (status == WEIR_OK && started == NULL) {
        status = weir_error_memory(sim->err);
    }
    for (uint32_t i = 0; i < sim->program->n_nodes && status == WEIR_OK; i++) {
        if (sim->timeline->spans[i].start_ns >= 0) {
            started[sim->timeline->spans[i].order] = i;
        }
    }
    if (status == WEIR_OK) {
        status = write_in_order(sim, started, places);
    }
    free(started);
    free(places);
    return status;
}
