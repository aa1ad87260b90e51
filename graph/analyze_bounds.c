/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no schedule can beat beside precedence: an engine cannot do more at once than it has slots. */
#include <stdlib.h>

#include "base/number.h"
#include "graph/analyze.h"
#include "graph/graph_internal.h"

#define NS_PER_S 1000000000

/* Added up as far as 64 bits go: a bound may be less than the truth. */
static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t bytes_of(const struct graph *graph, uint32_t node)
{
    const struct node_row *row = &graph->nodes[node];
    int64_t bytes = (row->flags & NODE_COST_IS_BYTES) != 0
                        ? row->cost
                        : rare_get(&graph->rares, row->rare, NODE_RARE_BYTES, -1);

    if (bytes < 0 && graph_kind_is_copy((enum node_kind)row->kind) && row->object != WEIR_NONE) {
        bytes = graph->objects[row->object].size_bytes;
    }
    return bytes < 0 ? 0 : bytes;
}

struct ends {
    int64_t least_head_ns, least_tail_ns;
};

#define NO_TAIL (-1) /* nothing behind it surely runs */

/* What has to pass before the node starts, and after it has finished. Deadlines shorten no tail. */
static void add_node(const struct analysis *analysis, uint32_t node, const int64_t *tail_ns,
                     struct analyze_engine *engine, struct ends *ends)
{
    int64_t head = analysis->earliest_ns[node];
    int64_t tail = tail_ns[node] == NO_TAIL ? 0 : tail_ns[node];

    ends->least_head_ns =
        engine->n_nodes == 0 || head < ends->least_head_ns ? head : ends->least_head_ns;
    ends->least_tail_ns =
        engine->n_nodes == 0 || tail < ends->least_tail_ns ? tail : ends->least_tail_ns;
    engine->n_nodes++;
    engine->work_ns = sum_of(engine->work_ns, analysis->length_ns[node]);
    engine->bytes = sum_of(engine->bytes, bytes_of(bind_of(analysis->binding), node));
}

/* From where the edge lets its consumer go to the end of the run; NO_TAIL. */
static int64_t tail_behind(const struct analysis *analysis, uint32_t consumer, int64_t tail_ns)
{
    return !analyze_surely_runs(analysis, consumer)
               ? tail_ns
               : sum_of(analysis->length_ns[consumer], tail_ns == NO_TAIL ? 0 : tail_ns);
}

/* The longest path from a node's finish to that of a node that surely runs; of a node that need not
 * run, from when it would have started. That a node has started says little of when it finishes: what
 * follows its start is no part of a path from its finish. */
static void find_tails(const struct analysis *analysis, int64_t *tail_ns)
{
    const struct graph *graph = bind_of(analysis->binding);
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = graph_n_nodes(graph); i-- > 0;) {
        uint32_t node = bind_order(analysis->binding, i).index;
        bool runs = analyze_surely_runs(analysis, node);

        tail_ns[node] = NO_TAIL;
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            struct analyze_link link = analyze_link(graph, next->items[j].edge);
            uint32_t consumer = next->items[j].consumer;
            int64_t behind = tail_behind(analysis, consumer, tail_ns[consumer]);

            if (behind == NO_TAIL || (link.is_from_start && runs)) {
                continue;
            }
            behind = sum_of(link.lag_ns, behind);
            tail_ns[node] = behind > tail_ns[node] ? behind : tail_ns[node];
        }
    }
}

static int64_t divided_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

static void bound_engines(const struct analysis *analysis, const int64_t *tail_ns,
                          struct ends *ends, struct analyze_bounds *out)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t engine = graph->nodes[i].engine;

        if (engine != WEIR_NONE && analyze_surely_runs(analysis, i)) {
            add_node(analysis, i, tail_ns, &out->engines[engine], &ends[engine]);
        }
    }
    for (uint32_t i = 0; i < graph->n_engines; i++) {
        struct analyze_engine *engine = &out->engines[i];
        const struct graph_engine *value = &graph->engines[i];

        engine->bound_ns =
            engine->n_nodes == 0
                ? 0
                : sum_of(ends[i].least_head_ns,
                         sum_of(divided_up(engine->work_ns, value->slots), ends[i].least_tail_ns));
        engine->bytes_ns = -1;
        if (value->bandwidth_bytes_per_s > 0 &&
            number_mul_div_ceil(engine->bytes, NS_PER_S, value->bandwidth_bytes_per_s,
                                &engine->bytes_ns)) {
            engine->bytes_ns = divided_up(engine->bytes_ns, value->slots);
        }
        out->bound_ns = engine->bound_ns > out->bound_ns ? engine->bound_ns : out->bound_ns;
    }
}

/* A demand of rate u for d is u * d bytes, and a resource gives its capacity and no more. */
static void bound_resources(const struct analysis *analysis, struct analyze_bounds *out)
{
    const struct graph *graph = bind_of(analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes && graph->n_resources > 0; i++) {
        uint32_t n,
            list = (uint32_t)rare_get(&graph->rares, graph->nodes[i].rare, NODE_RARE_USES, 0);
        const struct graph_demand *uses = list_get(&graph->demands, list, &n);

        for (uint32_t j = 0; j < n && analyze_surely_runs(analysis, i); j++) {
            uint32_t resource = uses[j].resource.index;
            int64_t ns;

            if (graph->resources[resource].capacity_per_s > 0 &&
                number_mul_div_ceil(uses[j].rate_per_s, analysis->length_ns[i],
                                    graph->resources[resource].capacity_per_s, &ns)) {
                out->resource_ns[resource] =
                    sum_of(out->resource_ns[resource], ns > 0 ? ns - 1 : 0); /* rounded down */
            }
        }
    }
}

enum weir_status analyze_bounds(const struct analysis *analysis, struct analyze_bounds *out,
                                struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    size_t n_engines = (size_t)graph->n_engines + 1;
    struct analyze_bounds bounds = {
        .engines = calloc(n_engines, sizeof *bounds.engines),
        .resource_ns = calloc((size_t)graph->n_resources + 1, sizeof *bounds.resource_ns),
    };
    int64_t *tail_ns = malloc(((size_t)graph->n_nodes + 1) * sizeof *tail_ns);
    struct ends *ends = calloc(n_engines, sizeof *ends);
    bool has_room =
        bounds.engines != NULL && bounds.resource_ns != NULL && tail_ns != NULL && ends != NULL;

    if (has_room) {
        bounds.bound_ns = analysis->end_ns;
        find_tails(analysis, tail_ns);
        bound_engines(analysis, tail_ns, ends, &bounds);
        bound_resources(analysis, &bounds);
        *out = bounds;
    } else {
        analyze_bounds_free(&bounds);
    }
    free(tail_ns);
    free(ends);
    return has_room ? WEIR_OK : weir_error_memory(err);
}

void analyze_bounds_free(struct analyze_bounds *bounds)
{
    free(bounds->engines);
    free(bounds->resource_ns);
}
