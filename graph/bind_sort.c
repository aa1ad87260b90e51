/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An order that respects every edge. Program order is one in most graphs, and then nothing is
 * stored; else Kahn's algorithm, first come first served from the nodes in program order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/adjacency.h"
#include "graph/bind_internal.h"
#include "graph/graph_internal.h"

/* With implied=none the hazards in binding->edges are not edges yet. */
static uint32_t n_implied(const struct binding *binding)
{
    return graph_is_implied(binding->graph) ? binding->n_edges : 0;
}

static bool goes_backward(const struct binding *binding)
{
    const struct edge_ends *ends = binding->graph->edges.ends;

    for (uint32_t i = 0; i < binding->graph->n_edges; i++) {
        if (ends[i].producer >= ends[i].consumer) {
            return true;
        }
    }
    for (uint32_t i = 0; i < n_implied(binding); i++) {
        if (binding->edges[i].producer.index >= binding->edges[i].consumer.index) {
            return true;
        }
    }
    return false;
}

/* Fills order; *n_ordered is less than all when there is a cycle, and then left[] is above 0 for
 * each node on one or behind one. */
static void kahn(uint32_t n_nodes, const struct adjacency *next, uint32_t *left, uint32_t *order,
                 uint32_t *n_ordered)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t i = 0; i < n_nodes; i++) {
        for (uint32_t j = next->first[i]; j < next->first[i + 1]; j++) {
            left[next->items[j].consumer]++;
        }
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        if (left[i] == 0) {
            order[tail++] = i;
        }
    }
    while (head < tail) {
        uint32_t node = order[head++];

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            if (--left[next->items[j].consumer] == 0) {
                order[tail++] = next->items[j].consumer;
            }
        }
    }
    *n_ordered = tail;
}

/* Every node that is left has a producer that is left: walking back from any of them must come
 * round. */
static void find_circle(uint32_t n_nodes, const struct adjacency *next, const uint32_t *left,
                        uint32_t *producer_of, uint32_t *length, uint32_t *circle)
{
    uint32_t at = 0, start, n = 0;

    memset(producer_of, 0xff, n_nodes * sizeof *producer_of);
    for (uint32_t i = 0; i < n_nodes; i++) {
        for (uint32_t j = next->first[i]; left[i] > 0 && j < next->first[i + 1]; j++) {
            producer_of[next->items[j].consumer] = i;
        }
    }
    while (left[at] == 0) {
        at++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) { /* by now surely on the circle */
        at = producer_of[at];
    }
    start = at;
    do {
        circle[n++] = at;
        at = producer_of[at];
    } while (at != start);
    *length = n;
}

/* The type of the edge between two neighbours of the circle. */
static const char *edge_name(const struct binding *binding, const struct adjacency *next,
                             uint32_t producer, uint32_t consumer)
{
    uint32_t n_given = graph_n_edges(binding->graph);

    for (uint32_t j = next->first[producer]; j < next->first[producer + 1]; j++) {
        uint32_t edge = next->items[j].edge;

        if (next->items[j].consumer == consumer && edge < n_given) {
            struct graph_edge value;

            graph_edge(binding->graph, (weir_edge){edge}, &value);
            return edge_type_name(value.type);
        }
        if (next->items[j].consumer == consumer) {
            return "implied by program order";
        }
    }
    return "";
}

#define CIRCLE_SHOWN 12

static void report_circle(const struct binding *binding, const struct adjacency *next,
                          const uint32_t *circle, uint32_t length, struct report *report)
{
    char text[2048];
    size_t used = 0;
    uint32_t shown = length < CIRCLE_SHOWN ? length : CIRCLE_SHOWN;

    text[0] = '\0';
    for (uint32_t i = 0; i < shown && used < sizeof text - 1; i++) { /* found against the edges */
        uint32_t from = circle[length - 1 - i];
        uint32_t to = circle[(2 * length - 2 - i) % length];
        int n = snprintf(text + used, sizeof text - used, "%s -> (%s) ",
                         graph_node_name(binding->graph, (weir_node){from}),
                         edge_name(binding, next, from, to));

        used += n < 0 ? 0 : (size_t)n;
    }
    report_add(report, FINDING_CYCLE, (struct report_at){NULL, 0, 0},
               "%u node%s wait%s in a circle: %s%s%s", length, length == 1 ? "" : "s",
               length == 1 ? "s" : "", text, shown < length ? "... " : "",
               graph_node_name(binding->graph, (weir_node){circle[length - 1]}));
    for (uint32_t i = 0; i < shown; i++) {
        report_name(report, graph_node_name(binding->graph, (weir_node){circle[length - 1 - i]}));
    }
}

static enum weir_status sort_or_report(struct binding *binding, const struct adjacency *next,
                                       struct report *report, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(binding->graph), n_ordered, length;
    uint32_t *left = calloc(n_nodes, sizeof *left);
    uint32_t *order = malloc(n_nodes * sizeof *order);
    uint32_t *back = NULL;
    enum weir_status status = WEIR_OK;

    if (left == NULL || order == NULL) {
        status = weir_error_memory(err);
        goto done;
    }
    kahn(n_nodes, next, left, order, &n_ordered);
    if (n_ordered == n_nodes) {
        binding->order = order;
        order = NULL;
        goto done;
    }
    back = malloc(n_nodes * sizeof *back);
    if (back == NULL) {
        status = weir_error_memory(err);
        goto done;
    }
    find_circle(n_nodes, next, left, back, &length, order);
    report_circle(binding, next, order, length, report);
done:
    free(left);
    free(order);
    free(back);
    return status;
}

enum weir_status bind_sort(struct binding *binding, struct report *report, struct weir_error *err)
{
    struct adjacency next;
    enum weir_status status;

    if (!goes_backward(binding)) {
        return WEIR_OK;
    }
    status = adjacency_make(binding->graph, binding->edges, n_implied(binding), &next, err);
    if (status != WEIR_OK) {
        return status;
    }
    status = sort_or_report(binding, &next, report, err);
    adjacency_free(&next);
    return status;
}
