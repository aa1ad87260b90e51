/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order: every edge and every hazard into a node is held against its start; the latest of them, its
 * release and the objects it reads is when it was ready. A node that did not run passes on what it
 * waited for, when it would have been ready and it was known that it would not run. */
#include <inttypes.h>
#include <stdlib.h>

#include "judge/verify_internal.h"

/* An edge, given or implied, in one form. */
struct constraint {
    uint32_t producer;
    int64_t lag_ns;
    bool is_from_start, is_given;
    enum edge_type type;
    weir_object object;
};

static uint32_t n_given(const struct verify *verify)
{
    return graph_n_edges(verify->graph);
}

static uint32_t consumer_of(const struct verify *verify, uint64_t number)
{
    struct graph_edge edge;

    if (number >= n_given(verify)) {
        return verify->hazards[number - n_given(verify)].second;
    }
    graph_edge(verify->graph, (weir_edge){(uint32_t)number}, &edge);
    return edge.consumer.index;
}

static struct constraint constraint_at(const struct verify *verify, uint64_t number)
{
    struct graph_edge edge;

    if (number >= n_given(verify)) {
        const struct verify_hazard *hazard = &verify->hazards[number - n_given(verify)];

        return (struct constraint){hazard->first, 0, false, false, hazard->type, hazard->object};
    }
    graph_edge(verify->graph, (weir_edge){(uint32_t)number}, &edge);
    return (struct constraint){edge.producer.index, verify_scaled_ns(verify, edge.lag_ns),
                               edge.is_from_start,  true,
                               edge.type,           edge.object};
}

static enum weir_status index_constraints(struct verify *verify)
{
    size_t n_nodes = verify->n_nodes;
    uint64_t n = (uint64_t)n_given(verify) + verify->n_hazards;

    verify->into_first = calloc(n_nodes + 2, sizeof *verify->into_first);
    verify->into = malloc(((size_t)n + 1) * sizeof *verify->into);
    if (verify->into_first == NULL || verify->into == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint64_t i = 0; i < n; i++) {
        verify->into_first[consumer_of(verify, i) + 2]++;
    }
    for (size_t i = 1; i < n_nodes + 2; i++) {
        verify->into_first[i] += verify->into_first[i - 1];
    }
    for (uint64_t i = 0; i < n; i++) {
        verify->into[verify->into_first[consumer_of(verify, i) + 1]++] = i;
    }
    return WEIR_OK;
}

/* When the constraint lets its consumer go; NEVER_NS: not in this run. */
static struct moment moment_of(const struct verify *verify, const struct constraint *constraint)
{
    struct moment moment = constraint->is_from_start ? verify->start[constraint->producer]
                                                     : verify->done[constraint->producer];

    if (moment.ns != NEVER_NS && constraint->lag_ns > 0) {
        moment.turn = TURN_ENDS;
        if (__builtin_add_overflow(moment.ns, constraint->lag_ns, &moment.ns)) {
            moment.ns = NEVER_NS;
        }
    }
    return moment;
}

static int64_t release_of(const struct verify *verify, uint32_t node)
{
    struct graph_node value;
    int64_t object_ns = verify->object_ready_ns[node];

    graph_node(verify->graph, (weir_node){node}, &value);
    return verify_scaled_ns(verify, value.release_ns > object_ns ? value.release_ns : object_ns);
}

static bool is_edge(const struct verify *verify, const struct constraint *constraint)
{
    return constraint->is_given || graph_is_implied(verify->graph);
}

static struct moment ready_of(const struct verify *verify, uint32_t node)
{
    struct moment ready = {release_of(verify, node), TURN_ENDS};

    for (size_t i = verify->into_first[node]; i < verify->into_first[node + 1]; i++) {
        struct constraint constraint = constraint_at(verify, verify->into[i]);

        if (is_edge(verify, &constraint)) {
            ready = moment_later(ready, moment_of(verify, &constraint));
        }
    }
    if (ready.ns != NEVER_NS && verify->nodes[node].has_started &&
        verify->armed[node].ns != NEVER_NS) {
        ready = moment_later(ready, verify->armed[node]);
    }
    return ready;
}

/* --- nodes that did not run ------------------------------------------------------------------ */

enum { UNSEEN, OPEN, CLOSED };

/* One of the producers of which it is not known yet when it passes on; NONE. */
static uint32_t unknown_producer(struct verify *verify, uint32_t node, const uint8_t *state)
{
    for (size_t i = verify->into_first[node]; i < verify->into_first[node + 1]; i++) {
        struct constraint constraint = constraint_at(verify, verify->into[i]);
        uint32_t producer = constraint.producer;

        if (!is_edge(verify, &constraint) || verify->nodes[producer].has_started) {
            continue;
        }
        if (state[producer] == OPEN) {
            struct verify_at at = verify_at(VERIFY_CIRCLE, node, -1);

            at.other.index = producer;
            verify_add(verify, at, "nodes %s and %s wait for each other", node_name(verify, node),
                       node_name(verify, producer));
        } else if (state[producer] == UNSEEN) {
            return producer;
        }
    }
    return NONE;
}

static void pass_on(struct verify *verify, uint32_t node)
{
    struct moment at = ready_of(verify, node);

    verify->ready[node] = at;
    if (verify->nodes[node].is_on && !verify->is_lenient) {
        at = moment_later(at, verify->settled[node]);
    }
    verify->start[node] = verify->done[node] = at;
}

static enum weir_status pass_all(struct verify *verify)
{
    uint8_t *state = calloc((size_t)verify->n_nodes + 1, sizeof *state);
    uint32_t *stack = malloc(((size_t)verify->n_nodes + 1) * sizeof *stack);

    if (state == NULL || stack == NULL) {
        free(state);
        free(stack);
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        uint32_t n = 0;

        if (verify->nodes[i].has_started || state[i] == CLOSED) {
            continue;
        }
        stack[n++] = i;
        state[i] = OPEN;
        while (n > 0) {
            uint32_t node = stack[n - 1], producer = unknown_producer(verify, node, state);

            if (producer != NONE) {
                state[producer] = OPEN;
                stack[n++] = producer;
                continue;
            }
            pass_on(verify, node);
            state[node] = CLOSED;
            n--;
        }
    }
    free(state);
    free(stack);
    return WEIR_OK;
}

/* --- nodes that ran -------------------------------------------------------------------------- */

/* Is it within what is tolerated? */
static bool is_early(const struct verify *verify, uint32_t node, struct moment lets)
{
    struct moment start = verify->start[node];

    if (lets.ns == NEVER_NS) {
        return true;
    }
    if (verify->is_lenient) {
        return start.ns < lets.ns - verify->tolerance_ns;
    }
    /* A start has the turn of its own number plus one, and what comes at that turn comes after it.
     * Who gives way does so when all that could start has, and then others may. */
    return start.ns < lets.ns ||
           (start.ns == lets.ns && lets.turn != TURN_LAST && start.turn <= lets.turn);
}

static void tell_early(struct verify *verify, uint32_t node, const struct constraint *constraint,
                       struct moment lets)
{
    struct verify_at at =
        verify_at(constraint->is_given ? VERIFY_EDGE : VERIFY_HAZARD, node, verify->start[node].ns);
    const char *from = constraint->is_from_start ? "start" : "finish";
    const char *object =
        weir_is(constraint->object) ? graph_object_name(verify->graph, constraint->object) : "";

    at.other.index = constraint->producer;
    at.object = constraint->object;
    if (lets.ns == NEVER_NS) {
        verify_add(verify, at,
                   "node %s started at %" PRId64
                   " ns, and node %s, whose %s it must follow (%s%s%s), "
                   "has none in this run",
                   node_name(verify, node), at.t_ns, node_name(verify, constraint->producer), from,
                   edge_type_name(constraint->type), object[0] == '\0' ? "" : ", object ", object);
        return;
    }
    verify_add(verify, at,
               "node %s started at %" PRId64 " ns, and the %s of node %s lets it at %" PRId64
               " ns%s (%s%s%s, lag %" PRId64 " ns)",
               node_name(verify, node), at.t_ns, from, node_name(verify, constraint->producer),
               lets.ns, lets.ns == at.t_ns ? ", which comes after it in that instant" : "",
               edge_type_name(constraint->type), object[0] == '\0' ? "" : ", object ", object,
               constraint->lag_ns);
}

static void check_starts(struct verify *verify, uint32_t node)
{
    int64_t start_ns = verify->start[node].ns, release_ns = release_of(verify, node);

    for (size_t i = verify->into_first[node]; i < verify->into_first[node + 1]; i++) {
        struct constraint constraint = constraint_at(verify, verify->into[i]);
        struct moment lets = moment_of(verify, &constraint);

        if (is_early(verify, node, lets)) {
            tell_early(verify, node, &constraint, lets);
        }
    }
    if (start_ns < release_ns - (verify->is_lenient ? verify->tolerance_ns : 0)) {
        verify_add(verify, verify_at(VERIFY_RELEASE, node, start_ns),
                   "node %s started at %" PRId64 " ns, and its release, or that of an object it "
                   "reads, is %" PRId64 " ns",
                   node_name(verify, node), start_ns, release_ns);
    }
    verify_checked(verify, VERIFY_CHECK_ORDER,
                   (int64_t)(verify->into_first[node + 1] - verify->into_first[node]) + 1);
}

static void check_ready(struct verify *verify, uint32_t node)
{
    int64_t ready_ns = verify->timeline->spans[node].ready_ns;
    struct moment expected = ready_of(verify, node);

    verify->ready[node] = expected;
    if (verify->run->kind == RUN_SIM && expected.ns != NEVER_NS && ready_ns != expected.ns) {
        verify_add(verify, verify_at(VERIFY_READY, node, verify->start[node].ns),
                   "node %s is said to be ready at %" PRId64 " ns, and its edges and its release "
                   "make it ready at %" PRId64 " ns",
                   node_name(verify, node), ready_ns, expected.ns);
    }
    verify_checked(verify, VERIFY_CHECK_ORDER, verify->run->kind == RUN_SIM ? 1 : 0);
}

static void set_moments(struct verify *verify)
{
    const struct moment never = {NEVER_NS, 0};

    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        const struct timeline_span *span = &verify->timeline->spans[i];

        verify->start[i] = verify->done[i] = verify->ready[i] = never;
        if (!verify->nodes[i].has_started) {
            continue;
        }
        verify->start[i] = (struct moment){span->start_ns, span->order + 1};
        if (span->finish_ns >= 0) {
            verify->done[i] = (struct moment){
                span->finish_ns, span->finish_ns == span->start_ns ? span->order + 1 : TURN_ENDS};
        }
    }
}

enum weir_status verify_order(struct verify *verify)
{
    size_t n = (size_t)verify->n_nodes + 1;
    enum weir_status status = index_constraints(verify);

    verify->start = malloc(n * sizeof *verify->start);
    verify->done = malloc(n * sizeof *verify->done);
    verify->ready = malloc(n * sizeof *verify->ready);
    if (status == WEIR_OK &&
        (verify->start == NULL || verify->done == NULL || verify->ready == NULL)) {
        status = weir_error_memory(verify->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    set_moments(verify);
    status = pass_all(verify);
    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        if (verify->nodes[i].has_started) {
            check_starts(verify, i);
            check_ready(verify, i);
        }
    }
    if (verify->run->kind != RUN_SIM) {
        verify_skip(verify, VERIFY_CHECK_ORDER,
                    "ready times: a device starts its actions by what it waits for, not by them");
    }
    return status;
}
