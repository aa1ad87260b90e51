/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Earliest and latest starts: one pass over a topological order each. Sources of the formulas: the
 * critical path method (Kelley and Walker 1959).
 *
 * A node that may give way to another, and those that stand in, count for what they surely take. Let
 * p, which starts at r at the earliest, give way to f. Either p runs and is over at r + p, and f when
 * it would have been ready; or p is passed over, and f runs. So of p alone nothing is certain but r,
 * and once its window has closed; of f, where it comes behind p, that it is over at the earlier of
 * what p leaves behind (r + p + lag) and its own run. That p holds is said of it, and of one that
 * stands in, when it has not given way: it ran, or was not needed. Who is needed by several is not
 * needed only when all of them hold. */
#include "graph/analyze.h"
#include "graph/analyze_internal.h"

/* Times in the making, by id. */
struct forward {
    const struct analysis *analysis;
    const struct graph *graph;
    const int64_t *length_ns;
    int64_t *earliest_ns;
    int64_t *over_ns; /* before its turn: when those that it stands in for, which hold, let it go */
    uint32_t *bound_by;
    bool has_releases;
};

static enum weir_status too_late(const struct graph *graph, uint32_t node, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT, "node %s: it ends later than 2^63 ns; expected less",
                          graph_node_name(graph, (weir_node){node}));
}

/* When the node is over, whichever way it goes. @param holds when it is, unless it gives way */
static int64_t over_at(const struct forward *f, uint32_t node, int64_t finish, int64_t *holds)
{
    int64_t start = f->earliest_ns[node], closes = start;

    *holds = finish;
    if (f->analysis->is_standby[node]) {
        int64_t unneeded = f->over_ns[node] > start ? f->over_ns[node] : start;

        *holds = unneeded < finish ? unneeded : finish;
    }
    if (!f->analysis->gives_way[node]) {
        return *holds;
    }
    if (f->has_releases) {
        int64_t close = analyze_deadline_ns(f->graph, node) - f->length_ns[node];

        closes = close > start ? close : start;
    }
    return closes < *holds ? closes : *holds;
}

static void wait_until(const struct forward *f, uint32_t consumer, uint32_t producer, int64_t at)
{
    bool is_later = at > f->earliest_ns[consumer];

    if (is_later) {
        f->earliest_ns[consumer] = at;
    }
    if (f->bound_by != NULL && (is_later || (at == f->earliest_ns[consumer] && at > 0 &&
                                             f->bound_by[consumer] == WEIR_NONE))) {
        f->bound_by[consumer] = producer;
    }
}

/* The start of the node is settled: passes on what its consumers must wait for. */
static enum weir_status pass_on(const struct forward *f, uint32_t node, struct weir_error *err)
{
    const struct adjacency *next = &f->analysis->next;
    uint32_t fallback = WEIR_NONE;
    int64_t start = f->earliest_ns[node], finish, over, holds;

    if (__builtin_add_overflow(start, f->length_ns[node], &finish)) {
        return too_late(f->graph, node, err);
    }
    over = holds = finish;
    if (f->over_ns != NULL) {
        over = over_at(f, node, finish, &holds);
        f->over_ns[node] = over;
        fallback = analyze_fallback_of(f->graph, node).index;
    }
    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        struct analyze_link link = analyze_link(f->graph, next->items[i].edge);
        uint32_t consumer = next->items[i].consumer;
        int64_t at;

        if (__builtin_add_overflow(link.is_from_start ? start : over, link.lag_ns, &at)) {
            return too_late(f->graph, consumer, err);
        }
        wait_until(f, consumer, node, at);
        if (f->over_ns != NULL && consumer == fallback && !link.is_from_start) {
            if (__builtin_add_overflow(holds, link.lag_ns, &at)) {
                return too_late(f->graph, consumer, err);
            }
            f->over_ns[fallback] = at > f->over_ns[fallback] ? at : f->over_ns[fallback];
        }
    }
    return WEIR_OK;
}

static int64_t release_of(const struct forward *f, uint32_t node)
{
    int64_t release, ready;

    if (!f->has_releases) {
        return 0;
    }
    release = rare_get(&f->graph->rares, f->graph->nodes[node].rare, NODE_RARE_RELEASE, 0);
    ready = bind_ready_ns(f->analysis->binding, (weir_node){node});
    return release > ready ? release : ready;
}

enum weir_status analyze_earliest(const struct analysis *analysis, const int64_t *length_ns,
                                  bool has_releases, int64_t *earliest_ns, int64_t *over_ns,
                                  uint32_t *bound_by, struct weir_error *err)
{
    const struct forward f = {.analysis = analysis,
                              .graph = bind_of(analysis->binding),
                              .length_ns = length_ns,
                              .earliest_ns = earliest_ns,
                              .over_ns = over_ns,
                              .bound_by = bound_by,
                              .has_releases = has_releases};
    uint32_t n_nodes = graph_n_nodes(f.graph);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_nodes; i++) {
        earliest_ns[i] = release_of(&f, i);
        if (over_ns != NULL) {
            over_ns[i] = 0;
        }
        if (bound_by != NULL) {
            bound_by[i] = WEIR_NONE;
        }
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        status = pass_on(&f, bind_order(analysis->binding, i).index, err);
    }
    return status;
}

int64_t analyze_over_ns(const struct analysis *analysis, uint32_t node)
{
    return analysis->over_ns != NULL ? analysis->over_ns[node]
                                     : analysis->earliest_ns[node] + analysis->length_ns[node];
}

/* --- the end --- */

#define MOST_STANDINS 64 /* that are followed, one after another; past them nothing is known */

/* One of the nodes that stand in for each other surely runs: the one of them that may be over first.
 * None when the last of them is off, and so none of them need run. */
static uint32_t first_over(const struct analysis *analysis, const int64_t *earliest_ns,
                           uint32_t node)
{
    const struct graph *graph = bind_of(analysis->binding);
    uint32_t first = node, at = node;

    for (int i = 0; analysis->gives_way[at]; i++) {
        at = analyze_fallback_of(graph, at).index;
        if (i == MOST_STANDINS || !graph_node_is_on(graph, (weir_node){at})) {
            return WEIR_NONE;
        }
        if (earliest_ns[at] + analysis->length_ns[at] <
            earliest_ns[first] + analysis->length_ns[first]) {
            first = at;
        }
    }
    return first;
}

int64_t analyze_end(const struct analysis *analysis, const int64_t *earliest_ns, uint32_t *last)
{
    const struct graph *graph = bind_of(analysis->binding);
    uint32_t found = WEIR_NONE;
    int64_t end_ns = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        uint32_t node;

        if (analysis->is_standby[i] || !graph_node_is_on(graph, (weir_node){i})) {
            continue; /* one that stands in is found by those it stands in for */
        }
        node = analysis->gives_way[i] ? first_over(analysis, earliest_ns, i) : i;
        if (node != WEIR_NONE &&
            (found == WEIR_NONE || earliest_ns[node] + analysis->length_ns[node] > end_ns)) {
            found = node;
            end_ns = earliest_ns[node] + analysis->length_ns[node];
        }
    }
    if (last != NULL) {
        *last = found;
    }
    return end_ns;
}

/* --- latest starts --- */

/* What must be over by `finish` had to begin by this: nothing asks for what never needs to be. */
static int64_t before(int64_t finish_ns, int64_t length_ns)
{
    return finish_ns == ANALYZE_NEVER ? ANALYZE_NEVER : finish_ns - length_ns;
}

void analyze_latest(const struct analysis *analysis, int64_t end_ns, int64_t *latest_ns)
{
    const struct graph *graph = bind_of(analysis->binding);
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = graph_n_nodes(graph); i-- > 0;) {
        uint32_t node = bind_order(analysis->binding, i).index;
        int64_t deadline = analyze_deadline_ns(graph, node);
        int64_t takes =
            analyze_surely_runs(analysis, node) ? analysis->length_ns[node] : 0; /* at least */
        int64_t start = before(end_ns, takes);

        if (deadline >= 0 && !analysis->is_standby[node] &&
            deadline - analysis->length_ns[node] < start) {
            start = deadline - analysis->length_ns[node];
        }
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            struct analyze_link link = analyze_link(graph, next->items[j].edge);
            int64_t by = before(latest_ns[next->items[j].consumer], link.lag_ns);

            by = link.is_from_start ? by : before(by, takes);
            start = by < start ? by : start;
        }
        latest_ns[node] = start;
    }
}
