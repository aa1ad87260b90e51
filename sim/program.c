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

static uint32_t node_flags(const struct graph *graph, weir_node node,
                           const struct graph_node *value)
{
    uint32_t flags = 0;

    if (!graph_node_is_on(graph, node)) {
        return PROGRAM_OFF;
    }
    if (value->n_workspace > 0 || value->staging.bytes > 0) {
        flags |= PROGRAM_BYTES | PROGRAM_TAKES | PROGRAM_CHARGES;
    }
    if (value->fallback == FALLBACK_NODE ||
        (value->fallback == FALLBACK_FAIL && value->deadline_ns >= 0)) {
        flags |= PROGRAM_WINDOW;
    }
    return flags;
}

static enum weir_status compile_node(struct program *program, weir_node node,
                                     struct timeline_span *span, struct weir_error *err)
{
    struct program_node *out = &program->nodes[node.index];
    int64_t release = bind_ready_ns(program->binding, node);
    struct graph_node value;
    enum weir_status status;

    graph_node(program->graph, node, &value);
    if (graph_node_is_on(program->graph, node) &&
        !graph_node_length_ns(program->graph, node, &span->isolated_ns)) {
        return check_cost_error(program->graph, node, err);
    }
    out->engine = (weir_is(value.engine) ? value.engine.index : program->n_engines) & 0xffffffu;
    out->flags = (out->flags | node_flags(program->graph, node, &value)) & 0xffu;
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

/* --- copies --------------------------------------------------------------------------------- */

/* May this touch begin its copy? */
static bool may_begin(const struct bind_copy *copy, uint32_t roles)
{
    if (copy->is_initial) {
        return false;
    }
    return weir_is(copy->allocation) ? (roles & BIND_ALLOCATES) != 0 : (roles & BIND_FILLS) != 0;
}

static uint32_t touch_of(const struct program *program, const struct bind_touch *touch)
{
    uint32_t out = touch->copy.index;

    if (may_begin(bind_copy(program->binding, touch->copy), touch->roles)) {
        out |= TOUCH_BEGINS;
    }
    if ((touch->roles & (BIND_READS | BIND_FILLS)) != 0) {
        out |= TOUCH_USES;
    } else if ((touch->roles & BIND_HOLDS) != 0) {
        out |= TOUCH_HOLDS;
    }
    return (touch->roles & BIND_RECLAIMS) != 0 ? out | TOUCH_RECLAIMS : out;
}

static uint32_t count_touches(const struct program *program)
{
    uint32_t n = 0, n_touches;

    for (uint32_t i = 0; i < program->n_nodes; i++) {
        (void)bind_touches(program->binding, (weir_node){i}, &n_touches);
        n += n_touches;
    }
    return n;
}

/* Notes that another node may begin the copy. @param begun by copy: whether one may */
static void note_begin(struct program *program, uint8_t *begun, uint32_t touch)
{
    if ((touch & TOUCH_BEGINS) != 0) {
        program->shares_begins = program->shares_begins || begun[touch & TOUCH_COPY] != 0;
        begun[touch & TOUCH_COPY] = 1;
    }
}

static enum weir_status compile_touches(struct program *program, struct weir_error *err)
{
    uint8_t *begun = calloc((size_t)program->n_copies + 1, sizeof *begun);
    uint32_t n = 0;

    program->touches = malloc(((size_t)count_touches(program) + 1) * sizeof *program->touches);
    if (program->touches == NULL || begun == NULL) {
        free(begun);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        struct program_node *node = &program->nodes[i];
        uint32_t n_touches, n_begun = 0;
        const struct bind_touch *touches =
            bind_touches(program->binding, (weir_node){i}, &n_touches);

        node->touches = n;
        for (uint32_t j = 0; j < n_touches; j++) {
            uint32_t touch = touch_of(program, &touches[j]);

            note_begin(program, begun, touch);
            node->flags |= PROGRAM_BYTES;
            n_begun += (touch & TOUCH_BEGINS) != 0 ? 1 : 0;
            program->touches[n++] = touch;
        }
        node->flags |= n_begun > 0 ? PROGRAM_TAKES : 0;
        if (n_begun == 1 && (node->flags & PROGRAM_CHARGES) == 0) {
            node->flags |= PROGRAM_TAKES_ONE;
        }
        program->n_touching += (node->flags & PROGRAM_BYTES) != 0 ? 1 : 0;
    }
    program->nodes[program->n_nodes].touches = n;
    free(begun);
    return WEIR_OK;
}

/* Writes what the node takes beside copies to out, unless that is NULL, and counts it. */
static uint32_t list_charges(const struct program *program, weir_node node,
                             struct program_charge *out)
{
    struct graph_node value;
    uint32_t n;

    graph_node(program->graph, node, &value);
    for (n = 0; n < value.n_workspace && out != NULL; n++) {
        out[n] = (struct program_charge){
            value.workspace[n].bytes,
            graph_charge_domain(program->graph, node, &value.workspace[n]).index, false};
    }
    n = value.n_workspace;
    if (value.staging.bytes > 0 && out != NULL) {
        out[n] = (struct program_charge){
            value.staging.bytes, graph_charge_domain(program->graph, node, &value.staging).index,
            true};
    }
    return n + (value.staging.bytes > 0 ? 1 : 0);
}

static bool has_charges(const struct program *program, uint32_t node)
{
    return (program->nodes[node].flags & PROGRAM_CHARGES) != 0;
}

static enum weir_status compile_charges(struct program *program, struct weir_error *err)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < program->n_nodes; i++) {
        n += has_charges(program, i) ? list_charges(program, (weir_node){i}, NULL) : 0;
    }
    if (n == 0) {
        return WEIR_OK;
    }
    program->first_charge = malloc(((size_t)program->n_nodes + 1) * sizeof *program->first_charge);
    program->charges = malloc((size_t)n * sizeof *program->charges);
    if (program->first_charge == NULL || program->charges == NULL) {
        return weir_error_memory(err);
    }
    n = 0;
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        program->first_charge[i] = n;
        n += has_charges(program, i) ? list_charges(program, (weir_node){i}, program->charges + n)
                                     : 0;
    }
    program->first_charge[program->n_nodes] = n;
    return WEIR_OK;
}

/* --- edges ---------------------------------------------------------------------------------- */

/* Counts edges by producer into nodes[].next and by consumer into n_before[]. */
static void count_edges(struct program *program)
{
    const struct bind_edge *implied = bind_edges(program->binding);

    for (uint32_t i = 0; i < graph_n_edges(program->graph); i++) {
        struct graph_edge edge;

        graph_edge(program->graph, (weir_edge){i}, &edge);
        program->nodes[edge.producer.index].next++;
        program->n_before[edge.consumer.index]++;
    }
    for (uint32_t i = 0; i < bind_n_edges(program->binding); i++) {
        program->nodes[implied[i].producer.index].next++;
        program->n_before[implied[i].consumer.index]++;
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

    program->memory_bytes = (n_nodes + 1) * (sizeof *program->nodes + sizeof *program->n_before) +
                            program->nodes[n_nodes].touches * sizeof *program->touches +
                            n_edges * sizeof *program->next +
                            (program->lag_ns == NULL ? 0 : n_edges * sizeof *program->lag_ns) +
                            (program->release_ns == NULL ? 0 : n_nodes * sizeof(int64_t)) +
                            (program->priority == NULL ? 0 : n_nodes * sizeof(int64_t));
    if (program->charges != NULL) {
        program->memory_bytes += (n_nodes + 1) * sizeof *program->first_charge +
                                 program->first_charge[n_nodes] * sizeof *program->charges;
    }
}

static enum weir_status compile_edges(struct program *program, struct weir_error *err)
{
    size_t n_edges = (size_t)graph_n_edges(program->graph) + bind_n_edges(program->binding);
    enum weir_status status;

    program->next = malloc((n_edges + 1) * sizeof *program->next);
    program->n_before = calloc((size_t)program->n_nodes + 1, sizeof *program->n_before);
    if (program->next == NULL || program->n_before == NULL) {
        return weir_error_memory(err);
    }
    count_edges(program);
    sum_edges(program);
    status = place_edges(program, n_edges, err);
    count_memory(program, n_edges);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------ */

static enum weir_status check_sizes(const struct program *program, struct weir_error *err)
{
    size_t n_edges = (size_t)graph_n_edges(program->graph) + bind_n_edges(program->binding);

    if (program->n_nodes > PROGRAM_NODES_MAX || n_edges > UINT32_MAX - 1 ||
        program->n_engines >= 0xffffffu || program->n_domains > UINT16_MAX ||
        program->n_copies > TOUCH_COPY) {
        return weir_error_set(
            err, WEIR_INPUT,
            "%u nodes, %zu edges, %u engines, %u domains and %u copies are more than one "
            "simulation takes: %u, %u, %u, %u, %u",
            program->n_nodes, n_edges, program->n_engines, program->n_domains, program->n_copies,
            PROGRAM_NODES_MAX, UINT32_MAX - 1, 0xfffffeu, UINT16_MAX, TOUCH_COPY);
    }
    return WEIR_OK;
}

static bool is_plain(const struct program *program)
{
    const uint32_t passes = PROGRAM_OFF | PROGRAM_STANDIN | PROGRAM_WINDOW | PROGRAM_FEEDS_START;

    if (program->lag_ns != NULL || program->release_ns != NULL) {
        return false;
    }
    for (uint32_t i = 0; i < program->n_nodes; i++) {
        if ((program->nodes[i].flags & passes) != 0) {
            return false;
        }
    }
    return true;
}

static enum weir_status compile(struct program *program, struct timeline_span *spans,
                                struct weir_error *err)
{
    enum weir_status status = check_sizes(program, err);

    if (status != WEIR_OK) {
        return status;
    }
    program->nodes = calloc((size_t)program->n_nodes + 1, sizeof *program->nodes);
    if (program->nodes == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_nodes && status == WEIR_OK; i++) {
        status = compile_node(program, (weir_node){i}, &spans[i], err);
    }
    if (status == WEIR_OK) {
        status = compile_touches(program, err);
    }
    if (status == WEIR_OK) {
        status = compile_charges(program, err);
    }
    if (status == WEIR_OK) {
        status = compile_edges(program, err);
    }
    program->is_plain = status == WEIR_OK && is_plain(program);
    return status;
}

enum weir_status program_make(const struct binding *binding, struct timeline_span *spans,
                              struct program *out, struct weir_error *err)
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
    status = compile(out, spans, err);
    if (status != WEIR_OK) {
        program_free(out);
    }
    return status;
}

void program_free(struct program *program)
{
    free(program->nodes);
    free(program->n_before);
    free(program->next);
    free(program->touches);
    free(program->first_charge);
    free(program->charges);
    free(program->lag_ns);
    free(program->release_ns);
    free(program->priority);
    *program = (struct program){0};
}
