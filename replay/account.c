/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readiness is by given and implied edges, as in a simulation; what else an action waited for is a
 * cause; what is left is the overhead of the replay itself. */
#include "replay/account.h"

#include <stdlib.h>
#include <string.h>

#include "replay/fit.h"

/* Edges by consumer: numbers of given edges, and n_given + numbers of implied ones. */
struct edges_into {
    size_t *first; /* by node, n_nodes + 1 */
    uint64_t *edges;
};

/* What was in the way of a node beside readiness, the latest of each kind. */
struct obstacle {
    int64_t until_ns;
    enum wait_cause cause;
    weir_node blocker;
};

struct accounting {
    const struct schedule *schedule;
    struct timeline *timeline;
    struct edges_into into;
    int64_t *ended_ns;         /* by node: one that did not run ended when it passed its edges on */
    struct obstacle *capacity; /* by node: the last giver of bytes */
    double *overheads_ns;      /* of started nodes */
    uint32_t n_overheads;
};

static void edges_free(struct edges_into *into)
{
    free(into->first);
    free(into->edges);
}

static enum weir_status edges_sort(const struct schedule *schedule, struct edges_into *into,
                                   struct weir_error *err)
{
    const struct bind_edge *implied = bind_edges(schedule->binding);
    uint32_t n_nodes = graph_n_nodes(schedule->graph);
    size_t n_given = graph_n_edges(schedule->graph);
    size_t n_edges = n_given + bind_n_edges(schedule->binding);

    into->first = calloc((size_t)n_nodes + 2, sizeof *into->first);
    into->edges = malloc((n_edges + 1) * sizeof *into->edges);
    if (into->first == NULL || into->edges == NULL)
        return weir_error_memory(err);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < n_edges; i++) {
            struct graph_edge given;
            uint32_t consumer;

            if (i < n_given) {
                graph_edge(schedule->graph, (weir_edge){(uint32_t)i}, &given);
                consumer = given.consumer.index;
            } else {
                consumer = implied[i - n_given].consumer.index;
            }
            if (round == 0)
                into->first[consumer + 2]++;
            else
                into->edges[into->first[consumer + 1]++] = i;
        }
        for (uint32_t n = 1; round == 0 && n < n_nodes + 2; n++)
            into->first[n] += into->first[n - 1];
    }
    return WEIR_OK;
}

/* ---- ready ---- */

/* When the producer did what the edge waits for, and the lag. */
static int64_t edge_ns(const struct accounting *a, uint64_t number)
{
    size_t n_given = graph_n_edges(a->schedule->graph);
    struct graph_edge edge;

    if (number >= n_given)
        return a->ended_ns[bind_edges(a->schedule->binding)[number - n_given].producer.index];
    graph_edge(a->schedule->graph, (weir_edge){(uint32_t)number}, &edge);
    return waits_scaled_ns(edge.lag_ns, a->schedule->scale_time) +
           (edge.is_from_start && a->timeline->spans[edge.producer.index].start_ns >= 0
                ? a->timeline->spans[edge.producer.index].start_ns
                : a->ended_ns[edge.producer.index]);
}

static int64_t release_ns(const struct schedule *schedule, weir_node node)
{
    struct graph_node value;
    int64_t ready_ns = bind_ready_ns(schedule->binding, node);

    graph_node(schedule->graph, node, &value);
    return waits_scaled_ns(value.release_ns > ready_ns ? value.release_ns : ready_ns,
                           schedule->scale_time);
}

static void find_ready(struct accounting *a, const struct step_times *times)
{
    uint32_t n_nodes = graph_n_nodes(a->schedule->graph);

    for (uint32_t i = 0; i < n_nodes; i++)
        a->ended_ns[i] = times[a->schedule->steps.step_of[i]].finish_ns;
    for (uint32_t i = 0; i < n_nodes; i++) {
        struct timeline_span *span = &a->timeline->spans[i];

        span->ready_ns = release_ns(a->schedule, (weir_node){i});
        for (size_t e = a->into.first[i]; e < a->into.first[i + 1]; e++) {
            int64_t ns = edge_ns(a, a->into.edges[e]);

            if (ns > span->ready_ns)
                span->ready_ns = ns;
        }
    }
}

/* ---- causes ---- */

static void find_capacity(struct accounting *a)
{
    for (uint32_t i = 0; i < a->timeline->n_nodes; i++)
        a->capacity[i] = (struct obstacle){-1, WAIT_CAPACITY, {WEIR_NONE}};
    for (size_t i = 0; i < a->schedule->plan->n_induced; i++) {
        const struct timeline_induced *induced = &a->schedule->plan->induced[i];
        struct obstacle *capacity = &a->capacity[induced->consumer.index];

        if (a->ended_ns[induced->producer.index] > capacity->until_ns) {
            capacity->until_ns = a->ended_ns[induced->producer.index];
            capacity->blocker = induced->producer;
        }
    }
}

/* The last of the waits of the step, whatever it was for. */
static struct obstacle last_wait(const struct accounting *a, const struct step *step)
{
    struct obstacle last = {-1, WAIT_OVERLAP, {WEIR_NONE}};

    for (uint32_t w = 0; w < step->n_waits; w++) {
        uint32_t producer = a->schedule->steps.node_of[step->waits[w].step];
        int64_t start_ns = a->timeline->spans[producer].start_ns;
        int64_t ns =
            step->waits[w].lag_ns +
            (step->waits[w].is_from_start && start_ns >= 0 ? start_ns : a->ended_ns[producer]);

        if (ns > last.until_ns)
            last = (struct obstacle){ns, WAIT_OVERLAP, {producer}};
    }
    return last;
}

static void take_later(struct obstacle *latest, struct obstacle other)
{
    if (other.until_ns > latest->until_ns)
        *latest = other;
}

/* @param before the node before it on its queue; none */
static enum weir_status find_cause(struct accounting *a, uint32_t index, weir_node before,
                                   struct weir_error *err)
{
    const struct step *step = &a->schedule->step[index];
    struct timeline_span *span = &a->timeline->spans[step->node.index];
    struct obstacle latest = {span->ready_ns, WAIT_NONE, {WEIR_NONE}};
    struct timeline_wait wait = {.node = step->node, .object = {WEIR_NONE}};

    if (weir_is(before))
        take_later(&latest, (struct obstacle){a->ended_ns[before.index], WAIT_ENGINE, before});
    take_later(&latest, a->capacity[step->node.index]);
    take_later(&latest, (struct obstacle){step->release_ns, WAIT_ADMISSION, {WEIR_NONE}});
    take_later(&latest, last_wait(a, step));
    if (latest.until_ns > span->start_ns) /* a clock read early: the start is what counts */
        latest.until_ns = span->start_ns;
    a->overheads_ns[a->n_overheads++] = (double)(span->start_ns - latest.until_ns);
    span->cause = (uint8_t)latest.cause;
    span->blocker = latest.blocker;
    if (latest.cause == WAIT_NONE)
        return WEIR_OK;
    wait.cause = latest.cause;
    wait.blocker = latest.blocker;
    wait.from_ns = span->ready_ns;
    wait.to_ns = span->start_ns;
    return timeline_add_wait(a->timeline, &wait, err);
}

/* In the order of the replay's starts, as waits are kept. */
static enum weir_status find_causes(struct accounting *a, struct weir_error *err)
{
    uint32_t n_lanes = a->schedule->lanes.n_lanes;
    weir_node *last = calloc(n_lanes + (size_t)1, sizeof *last);
    weir_node *order = NULL;
    uint32_t n_started = 0;
    enum weir_status status = last == NULL ? weir_error_memory(err)
                                           : timeline_order(a->timeline, &order, &n_started, err);

    for (uint32_t l = 0; status == WEIR_OK && l < n_lanes; l++)
        last[l].index = WEIR_NONE;
    for (uint32_t i = 0; i < n_started && status == WEIR_OK; i++) {
        uint32_t lane = a->schedule->lanes.of_node[order[i].index];
        weir_node before = {lane == WEIR_NONE ? WEIR_NONE : last[lane].index};

        status = find_cause(a, a->schedule->steps.step_of[order[i].index], before, err);
        if (lane != WEIR_NONE)
            last[lane] = order[i];
    }
    free(order);
    free(last);
    return status;
}

static enum weir_status copy_induced(struct accounting *a, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < a->schedule->plan->n_induced && status == WEIR_OK; i++)
        status = timeline_add_induced(a->timeline, &a->schedule->plan->induced[i], err);
    return status;
}

static void sum_overheads(struct accounting *a, struct account_overhead *out)
{
    double total = 0;

    for (uint32_t i = 0; i < a->n_overheads; i++)
        total += a->overheads_ns[i];
    out->total_ns = (int64_t)total;
    out->median_ns = (int64_t)fit_quantile(a->overheads_ns, a->n_overheads, 0.5);
    out->p95_ns = (int64_t)fit_quantile(a->overheads_ns, a->n_overheads, 0.95);
}

static enum weir_status complete(struct accounting *a, const struct step_times *times,
                                 struct account_overhead *overhead, struct weir_error *err)
{
    enum weir_status status = edges_sort(a->schedule, &a->into, err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t s = 0; s < a->schedule->steps.n_started; s++)
        a->timeline->spans[a->schedule->steps.node_of[s]].isolated_ns = a->schedule->planned_ns[s];
    find_ready(a, times);
    find_capacity(a);
    status = find_causes(a, err);
    if (status == WEIR_OK)
        status = copy_induced(a, err);
    if (status == WEIR_OK)
        status = account_bytes(a->schedule, a->ended_ns, a->timeline, err);
    sum_overheads(a, overhead);
    return status;
}

enum weir_status account_complete(const struct schedule *schedule, const struct step_times *times,
                                  struct timeline *timeline, struct account_overhead *overhead,
                                  struct weir_error *err)
{
    size_t n = timeline->n_nodes + (size_t)1;
    struct accounting a = {.schedule = schedule,
                           .timeline = timeline,
                           .ended_ns = calloc(n, sizeof *a.ended_ns),
                           .capacity = calloc(n, sizeof *a.capacity),
                           .overheads_ns = malloc(n * sizeof *a.overheads_ns)};
    enum weir_status status = a.ended_ns == NULL || a.capacity == NULL || a.overheads_ns == NULL
                                  ? weir_error_memory(err)
                                  : complete(&a, times, overhead, err);

    edges_free(&a.into);
    free(a.ended_ns);
    free(a.capacity);
    free(a.overheads_ns);
    return status;
}
