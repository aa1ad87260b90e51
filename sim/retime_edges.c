/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The edges of a realized order, whatever they come from, by the position of their consumer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "sim/retime_internal.h"

size_t retime_n_edges(const struct retime_build *build)
{
    return (size_t)graph_n_edges(build->graph) + bind_n_edges(build->binding) +
           build->timeline->n_induced + build->n_pairs;
}

struct retime_edge retime_edge_at(const struct retime_build *build, size_t index)
{
    size_t n_given = graph_n_edges(build->graph), n_implied = bind_n_edges(build->binding);

    if (index < n_given) {
        struct graph_edge given;

        graph_edge(build->graph, (weir_edge){(uint32_t)index}, &given);
        return (struct retime_edge){given.producer, given.consumer, given.lag_ns,
                                    given.is_from_start};
    }
    index -= n_given;
    if (index < n_implied) {
        const struct bind_edge *implied = &bind_edges(build->binding)[index];

        return (struct retime_edge){implied->producer, implied->consumer, 0, false};
    }
    index -= n_implied;
    if (index < build->timeline->n_induced) {
        const struct timeline_induced *induced = &build->timeline->induced[index];

        return (struct retime_edge){induced->producer, induced->consumer, 0, false};
    }
    index -= build->timeline->n_induced;
    return (struct retime_edge){build->pairs[index].producer, build->pairs[index].consumer, 0,
                                build->pairs[index].is_from_start};
}

enum weir_status retime_add_pair(struct retime_build *build, weir_node producer, weir_node consumer,
                                 bool is_from_start)
{
    enum weir_status status =
        array_grow_raw(&build->pairs, &build->pairs_room, build->n_pairs + 1, build->err);

    if (status == WEIR_OK) {
        build->pairs[build->n_pairs++] = (struct retime_pair){producer, consumer, is_from_start};
    }
    return status;
}

enum weir_status retime_add_link(struct retime_build *build, uint32_t from, uint32_t to)
{
    enum weir_status status =
        array_grow_raw(&build->links, &build->links_room, build->n_links + 1, build->err);

    if (status == WEIR_OK) {
        build->links[build->n_links++] = (struct retime_link){from, to};
    }
    return status;
}

enum weir_status retime_not_before(struct retime_build *build, weir_node node, int64_t time_ns)
{
    if (time_ns <= 0) {
        return WEIR_OK;
    }
    if (build->not_before_ns == NULL) {
        build->not_before_ns =
            calloc((size_t)build->timeline->n_nodes + 1, sizeof *build->not_before_ns);
        if (build->not_before_ns == NULL) {
            return weir_error_memory(build->err);
        }
    }
    if (time_ns > build->not_before_ns[node.index]) {
        build->not_before_ns[node.index] = time_ns;
    }
    return WEIR_OK;
}

enum weir_status retime_add_position(struct retime_build *build, weir_node node, uint32_t *position)
{
    struct retime *out = build->out;
    enum weir_status status =
        array_grow_raw(&out->nodes, &build->nodes_room, (size_t)out->n_nodes + 1, build->err);

    if (status == WEIR_OK) {
        status =
            array_grow_raw(&build->slot, &build->slot_room, (size_t)out->n_nodes + 1, build->err);
    }
    if (status == WEIR_OK && out->n_nodes == RETIME_FROM_START - 1) {
        status = weir_error_set(build->err, WEIR_INPUT,
                                "the realized order has more than 2^31 - 1 nodes and points");
    }
    if (status == WEIR_OK) {
        *position = out->n_nodes;
        build->slot[out->n_nodes] = WEIR_NONE;
        out->nodes[out->n_nodes++] = node;
    }
    return status;
}

static const char *name_at(const struct retime_build *build, uint32_t position)
{
    weir_node node = build->out->nodes[position];

    return weir_is(node) ? graph_node_name(build->graph, node) : "a node that did not run";
}

/* One edge on its way into the lists: counted first, then placed. */
static enum weir_status take_edge(struct retime_build *build, bool is_counting, uint32_t from,
                                  uint32_t to, int64_t lag_ns)
{
    struct retime *out = build->out;
    uint32_t at;

    if ((from & ~RETIME_FROM_START) >= to) {
        return weir_error_set(build->err, WEIR_INPUT,
                              "node %s waits for %s, which starts later: the timeline is not one "
                              "of this graph on its machine",
                              name_at(build, to), name_at(build, from & ~RETIME_FROM_START));
    }
    if (is_counting) {
        out->first[to]++;
        if (lag_ns != 0 && out->lag_ns == NULL) {
            out->lag_ns = calloc(1, sizeof *out->lag_ns); /* grows when all are counted */
            return out->lag_ns == NULL ? weir_error_memory(build->err) : WEIR_OK;
        }
        return WEIR_OK;
    }
    at = --out->first[to];
    out->from[at] = from;
    if (out->lag_ns != NULL) {
        out->lag_ns[at] = lag_ns;
    }
    return WEIR_OK;
}

static enum weir_status take_edges(struct retime_build *build, bool is_counting)
{
    size_t n = retime_n_edges(build);
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        struct retime_edge edge = retime_edge_at(build, i);
        uint32_t from = build->position[edge.producer.index];
        uint32_t to = build->position[edge.consumer.index];

        if (from != WEIR_NONE && to != WEIR_NONE) {
            status =
                take_edge(build, is_counting, from | (edge.is_from_start ? RETIME_FROM_START : 0),
                          to, edge.lag_ns);
        }
    }
    for (size_t i = 0; i < build->n_links && status == WEIR_OK; i++) {
        status = take_edge(build, is_counting, build->links[i].from, build->links[i].to, 0);
    }
    return status;
}

/* From counts to where each list ends; placing its edges brings that to where it begins. */
static enum weir_status make_lists(struct retime_build *build)
{
    struct retime *out = build->out;
    size_t sum = 0;

    for (uint32_t i = 0; i < out->n_nodes; i++) {
        sum += out->first[i];
        if (sum > UINT32_MAX - 1) {
            return weir_error_set(build->err, WEIR_INPUT,
                                  "the realized order has more than %" PRIu32 " edges",
                                  UINT32_MAX - 1);
        }
        out->first[i] = (uint32_t)sum;
    }
    out->first[out->n_nodes] = (uint32_t)sum;
    out->from = malloc((sum + 1) * sizeof *out->from);
    if (out->from == NULL) {
        return weir_error_memory(build->err);
    }
    if (out->lag_ns != NULL) {
        free(out->lag_ns);
        out->lag_ns = calloc(sum + 1, sizeof *out->lag_ns);
        if (out->lag_ns == NULL) {
            return weir_error_memory(build->err);
        }
    }
    return WEIR_OK;
}

static enum weir_status write_release(struct retime_build *build, weir_node node)
{
    struct retime *out = build->out;
    uint32_t position = build->position[node.index];
    int64_t ready_ns = bind_ready_ns(build->binding, node);
    struct graph_node value;

    if (position == WEIR_NONE) {
        return WEIR_OK;
    }
    graph_node(build->graph, node, &value);
    ready_ns = value.release_ns > ready_ns ? value.release_ns : ready_ns;
    if (build->not_before_ns != NULL && build->not_before_ns[node.index] > ready_ns) {
        ready_ns = build->not_before_ns[node.index];
    }
    if (ready_ns > 0 && out->release_ns == NULL) {
        out->release_ns = calloc((size_t)out->n_nodes + 1, sizeof *out->release_ns);
        if (out->release_ns == NULL) {
            return weir_error_memory(build->err);
        }
    }
    if (ready_ns > 0) {
        out->release_ns[position] = ready_ns;
    }
    return WEIR_OK;
}

enum weir_status retime_write_edges(struct retime_build *build)
{
    struct retime *out = build->out;
    enum weir_status status;

    out->first = calloc((size_t)out->n_nodes + 1, sizeof *out->first);
    if (out->first == NULL) {
        return weir_error_memory(build->err);
    }
    status = take_edges(build, true);
    if (status == WEIR_OK) {
        status = make_lists(build);
    }
    if (status == WEIR_OK) {
        status = take_edges(build, false);
    }
    for (uint32_t i = 0; i < build->timeline->n_nodes && status == WEIR_OK; i++) {
        status = write_release(build, (weir_node){i});
    }
    return status;
}
