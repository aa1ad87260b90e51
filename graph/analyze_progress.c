/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can every schedule go on to its end with the bytes that there are? What is certain either way: too
 * many bytes in every schedule, or room for all of them at once. What lies between is for the proof. */
#include <stdlib.h>
#include <string.h>

#include "graph/analyze_internal.h"

/* Workspace and staging of a node that runs, that many times. */
static void add_charges(const struct graph *graph, weir_node node, int64_t times, int64_t *bytes)
{
    struct graph_node value;

    if (graph->nodes[node.index].rare == 0 || !graph_node_is_on(graph, node)) {
        return;
    }
    graph_node(graph, node, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        bytes[graph_charge_domain(graph, node, &value.workspace[i]).index] +=
            times * value.workspace[i].bytes;
    }
    if (value.staging.bytes > 0) {
        bytes[graph_charge_domain(graph, node, &value.staging).index] +=
            times * value.staging.bytes;
    }
}

void analyze_charges(const struct graph *graph, weir_node node, int64_t *bytes)
{
    add_charges(graph, node, 1, bytes);
}

void analyze_always(const struct binding *binding, int64_t *always_bytes, int64_t *initial_bytes)
{
    uint32_t n_domains = graph_n_domains(bind_of(binding));

    memset(always_bytes, 0, n_domains * sizeof *always_bytes);
    memset(initial_bytes, 0, n_domains * sizeof *initial_bytes);
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});

        if (copy->is_initial) {
            initial_bytes[copy->domain.index] += copy->bytes;
            always_bytes[copy->domain.index] += copy->stays ? copy->bytes : 0;
        }
    }
}

static void add_touches(const struct binding *binding, weir_node node, int64_t times,
                        int64_t *bytes)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(binding, touches[i].copy);

        if (!(copy->is_initial && copy->stays)) {
            bytes[copy->domain.index] += times * copy->bytes;
        }
    }
}

static void note_excess(const struct graph *graph, weir_domain domain, const int64_t *bytes,
                        weir_domain *over)
{
    if (bytes[domain.index] > analyze_room(graph, domain.index) &&
        (!weir_is(*over) || domain.index < over->index)) {
        *over = domain;
    }
}

bool analyze_never_fits(const struct binding *binding, weir_node node, int64_t *always_bytes,
                        weir_domain *domain, int64_t *live_bytes)
{
    const struct graph *graph = bind_of(binding);
    struct graph_node value;
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, node, &n);

    domain->index = WEIR_NONE;
    add_touches(binding, node, 1, always_bytes);
    add_charges(graph, node, 1, always_bytes);
    for (uint32_t i = 0; i < n; i++) {
        note_excess(graph, bind_copy(binding, touches[i].copy)->domain, always_bytes, domain);
    }
    if (graph->nodes[node.index].rare != 0) {
        graph_node(graph, node, &value);
        for (uint32_t i = 0; i < value.n_workspace; i++) {
            note_excess(graph, graph_charge_domain(graph, node, &value.workspace[i]), always_bytes,
                        domain);
        }
        if (value.staging.bytes > 0) {
            note_excess(graph, graph_charge_domain(graph, node, &value.staging), always_bytes,
                        domain);
        }
    }
    *live_bytes = weir_is(*domain) ? always_bytes[domain->index] : 0;
    add_touches(binding, node, -1, always_bytes);
    add_charges(graph, node, -1, always_bytes);
    return weir_is(*domain);
}

/* Does the node touch a copy that a node which need not run may begin? Then the copy may not be there. */
static bool touches_unsure(const struct analysis *analysis, const bool *is_unsure, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(analysis->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (is_unsure[touches[i].copy.index]) {
            return true;
        }
    }
    return false;
}

/* By copy, malloc'ed; NULL when memory ran out. */
static bool *find_unsure(const struct analysis *analysis)
{
    const struct binding *binding = analysis->binding;
    bool *is_unsure = calloc((size_t)bind_n_copies(binding) + 1, sizeof *is_unsure);

    for (uint32_t i = 0; is_unsure != NULL && i < graph_n_nodes(bind_of(binding)); i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n && !analyze_surely_runs(analysis, i); j++) {
            is_unsure[touches[j].copy.index] |=
                (touches[j].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
                !bind_copy(binding, touches[j].copy)->is_initial;
        }
    }
    return is_unsure;
}

/* A node that can never have its bytes, or the initial copies. @param always, initial by domain */
static bool is_short(const struct analysis *analysis, const bool *is_unsure, int64_t *always,
                     int64_t *initial, struct analyze_progress *out)
{
    const struct binding *binding = analysis->binding;
    const struct graph *graph = bind_of(binding);
    weir_domain domain;
    int64_t live;

    analyze_always(binding, always, initial);
    for (uint32_t d = 0; d < graph->n_domains; d++) {
        if (initial[d] > analyze_room(graph, d)) {
            *out = (struct analyze_progress){
                PROGRESS_SHORT, false, {WEIR_NONE}, {d}, 0, initial[d], analyze_room(graph, d)};
            return true;
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (analyze_surely_runs(analysis, i) && !touches_unsure(analysis, is_unsure, i) &&
            analyze_never_fits(binding, (weir_node){i}, always, &domain, &live)) {
            *out = (struct analyze_progress){PROGRESS_SHORT,
                                             false,
                                             {i},
                                             domain,
                                             always[domain.index],
                                             live - always[domain.index],
                                             analyze_room(graph, domain.index)};
            return true;
        }
    }
    return false;
}

bool analyze_all_fits(const struct binding *binding, int64_t *copies_bytes, int64_t *charges_bytes)
{
    const struct graph *graph = bind_of(binding);

    memset(copies_bytes, 0, graph->n_domains * sizeof *copies_bytes);
    memset(charges_bytes, 0, graph->n_domains * sizeof *charges_bytes);
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});
        int64_t *sum = &copies_bytes[copy->domain.index];

        if (__builtin_add_overflow(*sum, copy->bytes, sum)) {
            return false; /* an object may have very many copies one after another */
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        analyze_charges(graph, (weir_node){i}, charges_bytes);
    }
    for (uint32_t d = 0; d < graph->n_domains; d++) {
        if (copies_bytes[d] > analyze_room(graph, d) - charges_bytes[d]) {
            return false;
        }
    }
    return true;
}

enum weir_status analyze_progress(const struct analysis *analysis, struct analyze_progress *out,
                                  struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    size_t n_domains = (size_t)graph->n_domains + 1;
    int64_t *always = calloc(n_domains, sizeof *always);
    int64_t *other = calloc(n_domains, sizeof *other);
    bool *is_unsure = find_unsure(analysis);
    struct analyze_progress found = {PROGRESS_FREE, true, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
    enum weir_status status = WEIR_OK;

    if (always == NULL || other == NULL || is_unsure == NULL) {
        status = weir_error_memory(err);
    } else if (!is_short(analysis, is_unsure, always, other, &found) && graph->n_nodes > 0) {
        status = analyze_prove(analysis, analyze_all_fits(analysis->binding, always, other), &found,
                               err);
    }
    free(always);
    free(other);
    free(is_unsure);
    if (status == WEIR_OK) {
        *out = found;
    }
    return status;
}
