/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why nodes wait. A wait is a row of stretches, each with one cause: a node that is ready waits for a
 * slot of its engine until its turn comes; then, perhaps, for what it lacks, until that is given back;
 * then for a slot again. A node's cause, while it is set aside, is what it lacks, and its blocker what
 * woke it last; when it starts they become those of its last stretch. */
#include "sim/simulate_internal.h"

/* Ends the stretch that began at candidate->since_ns. */
static enum weir_status end_stretch(struct simulation *sim, struct candidate *candidate,
                                    enum wait_cause cause, weir_node blocker, int64_t to_ns)
{
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
    return timeline_add_wait(sim->timeline, &wait, sim->err);
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

enum weir_status waits_start(struct simulation *sim, struct candidate *candidate)
{
    struct timeline_span *span = &sim->timeline->spans[candidate->node];
    enum weir_status status = end_stretches(sim, candidate);

    if (span->ready_ns == sim->now_ns) {
        span->cause = WAIT_NONE;
        span->blocker.index = WEIR_NONE;
    } else if (span->cause == WAIT_NONE) {
        span->cause = WAIT_ADMISSION; /* put off until now, and nothing since */
    }
    return status;
}
