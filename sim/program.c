/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling a bound graph. Given edges come before implied ones in each node's list. */
#include "sim/program.h"

#include <stdlib.h>

#include "graph/check.h"

/* A column that stays NULL until some node has a value other than 0. */
static enum weir_status set_sparse(int64_t **column, uint32_t n, uint32_t index, int64_t value,
                                   struct weir_error *err)
{
    if (value == 0) {
        return WEIR_OK;
    }
    if (*column == NULL) {
        *column = calloc(n, sizeof **column);
        if (*column == NULL) {
            return weir_error_memory(err);
        }
    }
    (*column)[index] = value;
    return WEIR_OK;
}

static enum weir_status missing_cost(const struct graph *graph, weir_node node,
                                     struct weir_error *err)
{
    const char *text;
    enum finding_code code = check_cost(graph, node, &text);

    return weir_error_set(err, WEIR_INPUT, "node %s: %s; %s", graph_node_name(graph, node), text,
                          finding_remedy(code));
}

static uint32_t node_flags(const struct program *program, weir_node node,
                           const struct graph_node *value, int64_t length_ns)
{
    uint32_t n_touches, flags = 0;

    (void)bind_touches(program->binding, node, &n_touches);
    if (!graph_node_is_on(program->graph, node)) {
        return PROGRAM_OFF;
    }
    if (n_touches > 0 || value->n_workspace > 0 || value->staging.bytes > 0) {
        flags |= PROGRAM_BYTES;
    }
    if (length_ns > 0) {
        flags |= PROGRAM_RUNS_LONG;
    }
    if (value->fallback == FALLBACK_NODE ||
        (value->fallback == FALLBACK_FAIL && value->deadline_ns >= 0)) {
        flags |= PROGRAM_WINDOW;
    }
    return flags;
}

static enum weir_status compile_node(struct program *program, weir_node node,
                                     struct weir_error *err)
{
    struct program_node *out = &program->nodes[node.index];
    int64_t release = bind_ready_ns(program->binding, node);
    struct graph_node value;
    enum weir_status status;

    graph_node(program->graph, node, &value);
    out->length_ns = 0;
    if (graph_node_is_on(program->graph, node) &&
        !graph_node_length_ns(program->graph, node, &out->length_ns)) {
        return missing_cost(program->graph, node, err);
    }
    out->engine = weir_is(value.engine) ? value.engine.index : program->n_engines;
    out->flags |= node_flags(program, node, &value, out->length_ns);
    if (value.fallback == FALLBACK_NODE) {
        program->nodes[value.fallback_node.index].flags |= PROGRAM_STANDIN;
    }
    release = value.release_ns > release ? value.release_ns : release;
    status = set_sparse(&program->release_ns, program->n_nodes, node.index, release, err);
    if (status == WEIR_OK) {
        status = set_sparse(&program->priority, program->n_nodes, node.index, value.priority, err);
    }
    return status;
}

/* May this touch begin its copy? */
static bool may_begin(const struct bind_copy *copy, uint32_t roles)
{
    if (copy->is_initial) {
        return false;
    }
    return weir_is(copy->allocation) ? (roles & BIND_ALLOCATES) != 0 : (roles & BIND_FILLS) != 0;
}

/* Writes what the node takes to out, unless that is NULL, and counts it. */
static uint32_t list_takes(const struct program *program, uint32_t node, struct program_take *out)
{
    uint32_t n_touches, n = 0;
    const struct bind_touch *touches =
        bind_touches(program->binding, (weir_node){node}, &n_touches);
    struct graph_node value;

    for (uint32_t i = 0; i < n_touches; i++) {
        const struct bind_copy *copy = bind_copy(program->binding, touches[i].copy);

        if (may_begin(copy, touches[i].roles) && out != NULL) {
            out[n] = (struct program_take){copy->bytes, copy->domain.index, touches[i].copy.index};
        }
        n += may_begin(copy, touches[i].roles) ? 1 : 0;
    }
    graph_node(program->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++, n++) {
        if (out != NULL) {
            out[n] = (struct program_take){
                value.workspace[i].bytes,
                graph_charge_domain(program->graph, (weir_node){node}, &value.workspace[i]).index,
                PROGRAM_WORKSPACE};
        }
    }
    if (value.staging.bytes > 0) {
        if (out != NULL) {
            out[n] = (struct program_take){
                value.staging.bytes,
                graph_charge_domain(program->graph, (weir_node){node}, &value.staging).index,
                PROGRAM_STAGING};
        }
        n++;
    }
    return n;
}

static enum weir_status compile_takes(struct program *program, struct weir_error *err)
{
    uint32_t n = 0;

    program->first_take = malloc(((size_t)program->n_nodes + 1) * sizeof *program->first_take);
    if (program->first_take == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        program->first_take[i] = n;
        if ((program->nodes[i].flags & PROGRAM_BYTES) != 0) {
            n += list_takes(program, i, NULL);
        }
    }
    program->first_take[program->n_nodes] = n;
    program->takes = malloc(((size_t)n + 1) * sizeof *program->takes);
    if (program->takes == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        if (program->first_take[i] < program->first_take[i + 1]) {
            (void)list_takes(program, i, program->takes + program->first_take[i]);
        }
    }
    return WEIR_OK;
}

/* Counts edges by producer into nodes[].next and by consumer into nodes[].n_before. */
static void count_edges(struct program *program)
{
    const struct bind_edge *implied = bind_edges(program->binding);

    for (uint32_t i = 0; i < graph_n_edges(program->graph); i++) {
        struct graph_edge edge;

        graph_edge(program->graph, (weir_edge){i}, &edge);
        program->nodes[edge.producer.index].next++;
        program->nodes[edge.consumer.index].n_before++;
    }
    for (uint32_t i = 0; i < bind_n_edges(program->binding); i++) {
        program->nodes[implied[i].producer.index].next++;
        program->nodes[implied[i].consumer.index].n_before++;
    }
}

/* From counts to where each node's edges end; placing them backwards brings that to the begin. */
static void sum_edges(struct program *program)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i <= program->n_nodes; i++) {
        sum += program->nodes[i].next;
        program->nodes[i].next = sum;
    }
}

static enum weir_status place_edges(struct program *program, size_t n_edges, struct weir_error *err)
{
    const struct bind_edge *implied = bind_edges(program->binding);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = bind_n_edges(program->binding); i > 0; i--) {
        program->next[--program->nodes[implied[i - 1].producer.index].next] =
            implied[i - 1].consumer.index;
    }
    for (uint32_t i = graph_n_edges(program->graph); i > 0 && status == WEIR_OK; i--) {
        struct graph_edge edge;
        uint32_t at;

        graph_edge(program->graph, (weir_edge){i - 1}, &edge);
        at = --program->nodes[edge.producer.index].next;
        program->next[at] = edge.consumer.index;
        if (edge.is_from_start) {
            program->next[at] |= PROGRAM_FROM_START;
            program->nodes[edge.producer.index].flags |= PROGRAM_FEEDS_START;
        }
        status = set_sparse(&program->lag_ns, (uint32_t)n_edges, at, edge.lag_ns, err);
    }
    return status;
}

static void count_memory(struct program *program, size_t n_edges)
{
    size_t n_nodes = program->n_nodes;

    program->memory_bytes =
        (n_nodes + 1) * sizeof *program->nodes + (n_nodes + 1) * sizeof *program->first_take +
        program->first_take[n_nodes] * sizeof *program->takes + n_edges * sizeof *program->next +
        (program->lag_ns == NULL ? 0 : n_edges * sizeof *program->lag_ns) +
        (program->release_ns == NULL ? 0 : n_nodes * sizeof(int64_t)) +
        (program->priority == NULL ? 0 : n_nodes * sizeof(int64_t));
}

static enum weir_status compile(struct program *program, struct weir_error *err)
{
    size_t n_edges = (size_t)graph_n_edges(program->graph) + bind_n_edges(program->binding);
    enum weir_status status = WEIR_OK;

    if (program->n_nodes > PROGRAM_NODES_MAX || n_edges > UINT32_MAX - 1) {
        return weir_error_set(err, WEIR_INPUT,
                              "%u nodes and %zu edges are more than one simulation takes",
                              program->n_nodes, n_edges);
    }
    program->nodes = calloc((size_t)program->n_nodes + 1, sizeof *program->nodes);
    program->next = malloc((n_edges + 1) * sizeof *program->next);
    if (program->nodes == NULL || program->next == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes && status == WEIR_OK; i++) {
        status = compile_node(program, (weir_node){i}, err);
    }
    if (status == WEIR_OK) {
        status = compile_takes(program, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    count_edges(program);
    sum_edges(program);
    status = place_edges(program, n_edges, err);
    count_memory(program, n_edges);
    return status;
}

enum weir_status program_make(const struct binding *binding, struct program *out,
                              struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    enum weir_status status;

    *out = (struct program){
        .binding = binding,
        .graph = graph,
        .n_nodes = graph_n_nodes(graph),
        .n_engines = graph_n_engines(graph),
        .n_domains = graph_n_domains(graph),
        .n_copies = bind_n_copies(binding),
    };
    status = compile(out, err);
    if (status != WEIR_OK) {
        program_free(out);
    }
    return status;
}

void program_free(struct program *program)
{
    free(program->nodes);
    free(program->next);
    free(program->first_take);
    free(program->takes);
    free(program->lag_ns);
    free(program->release_ns);
    free(program->priority);
    *program = (struct program){0};
}
