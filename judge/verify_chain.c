/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical chain: its links follow each other from 0 to the makespan, and what each names is what
 * bound the start of its node. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "judge/verify_internal.h"

struct chain {
    struct verify *verify;
    uint32_t *seen; /* by node: in which search, plus one */
    uint32_t *stack;
    size_t stack_room;
    uint32_t search;
};

static void tell(struct verify *verify, enum verify_code code, size_t position,
                 const struct run_link *link, const char *what)
{
    struct verify_at at = verify_at(code, link->node.index, link->start_ns);

    verify_add(verify, at,
               "link %zu of the critical chain, node %s from %" PRId64 " to %" PRId64
               " ns, bound by %s: "
               "%s",
               position, node_name(verify, link->node.index), link->start_ns, link->finish_ns,
               link->cause, what);
}

/* --- they follow each other -------------------------------------------------------------------- */

static void check_sum(struct verify *verify)
{
    const struct run *run = verify->run;
    int64_t at_ns = 0;

    for (size_t i = 0; i < run->n_links; i++) {
        const struct run_link *link = &run->links[i];

        if (link->start_ns != at_ns || link->finish_ns < link->start_ns) {
            tell(verify, VERIFY_CHAIN_SUM, i, link,
                 "it does not begin where the one before it ends");
        }
        if (!verify->nodes[link->node.index].has_started) {
            tell(verify, VERIFY_CHAIN_SUM, i, link, "its node did not run");
        }
        at_ns = link->finish_ns;
        verify_checked(verify, VERIFY_CHECK_CHAIN, 1);
    }
    if (at_ns != verify->timeline->makespan_ns) {
        verify_add(verify, verify_at(VERIFY_CHAIN_SUM, NONE, at_ns),
                   "the critical chain ends at %" PRId64 " ns, and the makespan is %" PRId64 " ns",
                   at_ns, verify->timeline->makespan_ns);
    }
}

/* --- each is true -------------------------------------------------------------------------------- */

static bool is_edge(const struct verify *verify, uint64_t number)
{
    return number < graph_n_edges(verify->graph) || graph_is_implied(verify->graph);
}

static struct graph_edge edge_of(const struct verify *verify, uint64_t number)
{
    struct graph_edge edge = graph_edge_default;

    if (number < graph_n_edges(verify->graph)) {
        graph_edge(verify->graph, (weir_edge){(uint32_t)number}, &edge);
    } else {
        const struct verify_hazard *hazard =
            &verify->hazards[number - graph_n_edges(verify->graph)];

        edge.producer.index = hazard->first;
        edge.type = hazard->type;
    }
    return edge;
}

/* When the edge lets its consumer go, and when its producer did what it waits for. */
static int64_t lets_ns(const struct verify *verify, const struct graph_edge *edge, int64_t *from_ns)
{
    *from_ns = edge->is_from_start ? verify->start[edge->producer.index].ns
                                   : verify->done[edge->producer.index].ns;
    return *from_ns == NEVER_NS ? NEVER_NS : *from_ns + verify_scaled_ns(verify, edge->lag_ns);
}

static enum weir_status push(struct chain *chain, uint32_t *n, uint32_t node)
{
    enum weir_status status =
        array_grow(&chain->stack, &chain->stack_room, (size_t)*n + 1, chain->verify->err);

    if (status == WEIR_OK && chain->seen[node] != chain->search) {
        chain->seen[node] = chain->search;
        chain->stack[(*n)++] = node;
    }
    return status;
}

/* Is the node one that does not run, and that was settled only after it would have been ready? */
static bool was_unsettled(const struct verify *verify, uint32_t node)
{
    return !verify->nodes[node].has_started && verify->done[node].ns > verify->ready[node].ns;
}

/* Was the node ready when it was, with no edge to wait for? */
static bool is_first(const struct verify *verify, uint32_t node)
{
    int64_t ready_ns = verify->ready[node].ns;
    struct graph_node value;

    graph_node(verify->graph, (weir_node){node}, &value);
    return ready_ns == 0 || value.release_ns == ready_ns ||
           verify->object_ready_ns[node] == ready_ns;
}

/* Of one that made a node ready: what a link says of it. */
struct maker {
    weir_node producer; /* none: a release, the beginning or a window */
    const char *via;    /* the type of its edge */
    int64_t from_ns;
    bool is_window; /* what settled that a node does not run */
};

/* Was the node ready when it was, perhaps through nodes that did not run, by that? */
static enum weir_status made_ready(struct chain *chain, uint32_t node, const struct maker *maker,
                                   bool *is_so)
{
    struct verify *verify = chain->verify;
    uint32_t n = 0;
    enum weir_status status;

    *is_so = maker->is_window && verify->armed[node].ns == verify->ready[node].ns;
    chain->search++;
    status = push(chain, &n, node);
    while (n > 0 && status == WEIR_OK && !*is_so) {
        uint32_t at = chain->stack[--n];
        int64_t left_ns;

        if (was_unsettled(verify, at)) {
            *is_so = maker->is_window;
            continue;
        }
        *is_so = !maker->is_window && !weir_is(maker->producer) && is_first(verify, at);
        for (size_t i = verify->into_first[at]; i < verify->into_first[at + 1] && status == WEIR_OK;
             i++) {
            struct graph_edge edge = edge_of(verify, verify->into[i]);

            if (!is_edge(verify, verify->into[i]) ||
                lets_ns(verify, &edge, &left_ns) != verify->ready[at].ns) {
                continue;
            }
            if (weir_same(edge.producer, maker->producer)) {
                *is_so = *is_so || (left_ns == maker->from_ns && maker->via != NULL &&
                                    strcmp(maker->via, edge_type_name(edge.type)) == 0);
            } else if (!verify->nodes[edge.producer.index].has_started) {
                status = push(chain, &n, edge.producer.index);
            }
        }
    }
    return status;
}

static const char *fault_of_blocked(const struct verify *verify, const struct run_link *link,
                                    weir_node before, enum wait_cause cause)
{
    const struct timeline_span *span = &verify->timeline->spans[link->node.index];

    if (span->cause != (uint8_t)cause) {
        return "its node is said to have waited for something else last";
    }
    if (!weir_is(before) || !weir_same(span->blocker, before)) {
        return "the node of the link before it is not the one that gave way";
    }
    return link->start_ns == verify->done[before.index].ns
               ? NULL
               : "it does not begin when that one was done";
}

static enum weir_status fault_of_ready(struct chain *chain, const struct run_link *link,
                                       weir_node before, const char **fault)
{
    const struct verify *verify = chain->verify;
    uint32_t node = link->node.index;
    bool is_window = strcmp(link->cause, "window") == 0;
    bool has_time = strcmp(link->cause, "begin") == 0 || strcmp(link->cause, "release") == 0;
    bool is_admission = strcmp(link->cause, "admission") == 0, is_so = true;
    struct maker maker = {before, link->via, link->start_ns, is_window};
    enum weir_status status;

    if (!is_admission && verify->timeline->spans[node].cause != WAIT_NONE) {
        *fault = "its node started later than it was ready";
        return WEIR_OK;
    }
    if (is_admission && verify->timeline->spans[node].cause != WAIT_ADMISSION) {
        *fault = "no policy held its node";
        return WEIR_OK;
    }
    if ((has_time || is_window) && weir_is(before)) {
        *fault = "it is not the first";
        return WEIR_OK;
    }
    status = made_ready(chain, node, &maker, &is_so);
    if (status == WEIR_OK && !is_so && is_admission && !weir_is(before)) {
        maker.is_window = true; /* it does not say which of the times it was */
        status = made_ready(chain, node, &maker, &is_so);
    }
    *fault = is_so ? NULL : "that is not what made its node ready";
    return status;
}

/* Bytes came back for it was settled that a node would not run: nobody that ran gave them. */
static bool is_given_by_nobody(const struct verify *verify, weir_node node)
{
    const struct timeline_span *span = &verify->timeline->spans[node.index];

    return span->cause == WAIT_CAPACITY && weir_is(span->blocker) &&
           !verify->nodes[span->blocker.index].has_started;
}

static enum weir_status check_link(struct chain *chain, size_t position)
{
    struct verify *verify = chain->verify;
    const struct run_link *link = &verify->run->links[position];
    weir_node before = {position == 0 ? NONE : link[-1].node.index};
    const char *fault = NULL;
    enum wait_cause cause;
    enum weir_status status = WEIR_OK;

    if (strcmp(link->cause, "unknown") == 0) {
        fault = is_given_by_nobody(verify, link->node) ? NULL : "of a simulation it is known";
    } else if (wait_cause_from(link->cause, &cause) && cause != WAIT_ADMISSION &&
               cause != WAIT_NONE) {
        fault = fault_of_blocked(verify, link, before, cause);
    } else {
        status = fault_of_ready(chain, link, before, &fault);
    }
    if (fault != NULL) {
        tell(verify, VERIFY_CHAIN_CAUSE, position, link, fault);
    }
    verify_checked(verify, VERIFY_CHECK_CHAIN, 1);
    return status;
}

static enum weir_status check_links(struct verify *verify)
{
    struct chain chain = {.verify = verify,
                          .seen = calloc((size_t)verify->n_nodes + 1, sizeof *chain.seen)};
    enum weir_status status = chain.seen == NULL ? weir_error_memory(verify->err) : WEIR_OK;

    for (size_t i = 0; i < verify->run->n_links && status == WEIR_OK; i++) {
        status = check_link(&chain, i);
    }
    free(chain.seen);
    free(chain.stack);
    return status;
}

/* --- bounds -------------------------------------------------------------------------------------- */

static bool may_hasten(const struct verify *verify)
{
    for (uint32_t i = 0; i < graph_n_kappas(verify->graph); i++) {
        if (graph_kappa(verify->graph, i)->factor < 1) {
            return verify->family == FAMILY_PAIRWISE || verify->family == FAMILY_OTHER;
        }
    }
    return false;
}

static void check_bounds(struct verify *verify)
{
    int64_t path_ns = verify->run->critical_path_ns;

    if (path_ns < 0 || !verify->is_whole) {
        verify_skip(verify, VERIFY_CHECK_BOUNDS,
                    "the run is not complete, or has no critical path");
    } else if (verify->is_lenient) {
        verify_skip(verify, VERIFY_CHECK_BOUNDS, "a device may be faster than its plan");
    } else if (verify->has_ways || may_hasten(verify)) {
        verify_skip(verify, VERIFY_CHECK_BOUNDS,
                    "some node gave way to its fallback, or runs faster beside others");
    } else {
        verify_checked(verify, VERIFY_CHECK_BOUNDS, 1);
        if (path_ns > verify->timeline->makespan_ns) {
            verify_add(verify, verify_at(VERIFY_CRITICAL_PATH, NONE, -1),
                       "the critical path is said to be %" PRId64
                       " ns, and the makespan is %" PRId64 " ns",
                       path_ns, verify->timeline->makespan_ns);
        }
    }
}

enum weir_status verify_chain(struct verify *verify)
{
    enum weir_status status = WEIR_OK;

    check_bounds(verify);
    if (verify->run->n_links == 0) {
        if (verify->run->kind == RUN_SIM && verify->timeline->makespan_ns > 0) {
            check_sum(verify); /* there is none */
        } else {
            verify_skip(verify, VERIFY_CHECK_CHAIN, "the run has no critical chain");
        }
        return WEIR_OK;
    }
    check_sum(verify);
    if (verify->run->kind == RUN_SIM) {
        status = check_links(verify);
    } else {
        verify_skip(verify, VERIFY_CHECK_CHAIN,
                    "causes: they are those of a replay, which knows more than its times say");
    }
    return status;
}
