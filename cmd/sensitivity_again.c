/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dispatch makes of it: the first nodes without their time, and each resource changed. */
#include <stdlib.h>

#include "base/array.h"
#include "cmd/sensitivity_internal.h"

struct listing {
    struct sensitive *s;
    size_t room;
    enum weir_status status; /* of the first addition that failed */
    struct weir_error *err;
};

/* @return its number */
static uint32_t add(struct listing *l, enum variant_kind kind, uint32_t index)
{
    struct sensitive *s = l->s;

    if (l->status == WEIR_OK)
        l->status = array_grow(&s->variants, &l->room, (size_t)s->n_variants + 1, l->err);
    if (l->status != WEIR_OK)
        return WEIR_NONE;
    s->variants[s->n_variants] = (struct variant){.kind = kind, .index = index, .makespan_ns = -1};
    return s->n_variants++;
}

/* ---- what is changed ---- */

/* A node that the policy has added is in no graph that it could plan again. */
static void add_nodes(struct listing *l)
{
    struct sensitive *s = l->s;

    for (uint32_t i = 0; i < s->n_nodes && i < s->top; i++) {
        weir_node given = plan_origin(s->scenario.plan, s->nodes[i].node);

        if (!weir_is(given))
            continue;
        s->nodes[i].gone = add(l, VARIANT_NODE_GONE, given.index);
        s->nodes[i].half = add(l, VARIANT_NODE_HALF, given.index);
    }
    s->n_of_nodes = s->n_variants;
}

/* What runs on an engine, in the graph as it is planned. */
struct engine_use {
    bool has_nodes, has_bytes;
};

static void find_uses(const struct graph *graph, struct engine_use *uses)
{
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        weir_engine engine = graph_node_engine(graph, (weir_node){i});
        struct graph_node node;
        int64_t length_ns = 0;

        if (!weir_is(engine) || !graph_node_is_on(graph, (weir_node){i}) ||
            !graph_node_length_ns(graph, (weir_node){i}, &length_ns) || length_ns == 0)
            continue;
        uses[engine.index].has_nodes = true;
        if (uses[engine.index].has_bytes)
            continue;
        graph_node(graph, (weir_node){i}, &node);
        uses[engine.index].has_bytes = !node.has_duration;
    }
}

static void add_engines(struct listing *l)
{
    const struct graph *graph = l->s->scenario.graph;
    uint32_t n = graph_n_engines(graph);
    struct engine_use *uses = calloc(n + (size_t)1, sizeof *uses);

    if (uses == NULL) {
        l->status = weir_error_memory(l->err);
        return;
    }
    find_uses(graph, uses);
    for (uint32_t i = 0; i < n; i++) {
        const struct graph_engine *engine = graph_engine(graph, (weir_engine){i});

        if (!uses[i].has_nodes)
            continue;
        (void)add(l, VARIANT_ENGINE_FASTER, i);
        (void)add(l, VARIANT_ENGINE_SLOT, i);
        if (uses[i].has_bytes && engine->bandwidth_bytes_per_s > 0)
            (void)add(l, VARIANT_ENGINE_WIDER, i);
        if (uses[i].has_bytes && engine->latency_ns > 0)
            (void)add(l, VARIANT_ENGINE_PROMPT, i);
    }
    free(uses);
}

/* A domain that was never used is left out, if the run had the time to use it. */
static void add_domains(struct listing *l)
{
    struct sensitive *s = l->s;
    const struct timeline *timeline = s->result.timeline;

    for (uint32_t i = 0; i < graph_n_domains(s->scenario.graph); i++) {
        if (sensitive_is_complete(s) && timeline->peak_bytes[i] == 0)
            continue;
        (void)add(l, VARIANT_DOMAIN_MORE, i);
        (void)add(l, VARIANT_DOMAIN_ENDLESS, i);
        (void)add(l, VARIANT_DOMAIN_LESS, i);
    }
}

static void add_contention(struct listing *l)
{
    const struct scenario *scenario = &l->s->scenario;

    if (scenario->simulate.contention == CONTENTION_NONE)
        return;
    for (uint32_t i = 0; scenario->simulate.contention == CONTENTION_SHARE &&
                         i < graph_n_resources(scenario->graph);
         i++)
        (void)add(l, VARIANT_RESOURCE_WIDER, i);
    (void)add(l, VARIANT_NO_CONTENTION, WEIR_NONE);
}

/* ---- what it gives ---- */

struct rank {
    bool is_complete;
    int64_t makespan_ns;
    uint32_t variant;
};

static int by_makespan(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->is_complete != y->is_complete)
        return x->is_complete ? -1 : 1;
    if (x->makespan_ns != y->makespan_ns)
        return x->makespan_ns < y->makespan_ns ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

static enum weir_status rank_resources(struct sensitive *s, struct weir_error *err)
{
    uint32_t n = s->n_variants - s->n_of_nodes;
    struct rank *ranks = malloc((n + (size_t)1) * sizeof *ranks);

    s->ranked = malloc((n + (size_t)1) * sizeof *s->ranked);
    if (ranks == NULL || s->ranked == NULL) {
        free(ranks);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct variant *variant = &s->variants[s->n_of_nodes + i];

        ranks[i] = (struct rank){variant->end == VARIANT_COMPLETE, variant->makespan_ns,
                                 s->n_of_nodes + i};
    }
    qsort(ranks, n, sizeof *ranks, by_makespan);
    for (uint32_t i = 0; i < n; i++)
        s->ranked[i] = ranks[i].variant;
    free(ranks);
    return WEIR_OK;
}

enum weir_status sensitive_again(struct sensitive *s, struct progress *progress,
                                 struct weir_error *err)
{
    struct listing listing = {.s = s, .err = err};
    const struct variant_base base = {.graph = s->scenario.graph,
                                      .planning = &s->scenario.planning,
                                      .options = &s->scenario.simulate,
                                      .n_threads = s->n_threads,
                                      .progress = progress_show,
                                      .progress_arg = progress};
    enum weir_status status;

    add_nodes(&listing);
    add_engines(&listing);
    add_domains(&listing);
    add_contention(&listing);
    if (listing.status != WEIR_OK)
        return listing.status;
    status = variant_run(&base, s->variants, s->n_variants, err);
    return status == WEIR_OK ? rank_resources(s, err) : status;
}
