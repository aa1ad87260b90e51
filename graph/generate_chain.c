/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chain: node k reads the object of node k - 1 and writes its own, on one engine. Two objects are
 * alive at a time, and the domain holds exactly two. */
#include <inttypes.h>

#include "base/random.h"
#include "graph/generate_internal.h"

struct generate_chain_options generate_chain_default(void)
{
    return (struct generate_chain_options){
        .n_nodes = 100, .duration_ns = 10000, .size_bytes = 1000000};
}

static enum weir_status check_options(const struct generate_chain_options *o,
                                      struct weir_error *err)
{
    if (o->n_nodes < 1 || o->n_nodes > GENERATE_NODES_MOST) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu32 " nodes: a number from 1 to %d was expected", o->n_nodes,
                              GENERATE_NODES_MOST);
    }
    /* Twice their sum must still be a time. */
    if (o->duration_ns < 1 || o->duration_ns > INT64_MAX / 2 / o->n_nodes) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu32 " nodes of %" PRId64
                              " ns: a duration from 1 ns to %" PRId64
                              " ns was expected, so that their sum stays a time",
                              o->n_nodes, o->duration_ns, INT64_MAX / 2 / o->n_nodes);
    }
    if (o->size_bytes < 1 || o->size_bytes > INT64_MAX / 2 / o->n_nodes) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu32 " objects of %" PRId64 " bytes: a size from 1 to %" PRId64
                              " was expected, so that their sum stays a size",
                              o->n_nodes, o->size_bytes, INT64_MAX / 2 / o->n_nodes);
    }
    return WEIR_OK;
}

static void add_link(struct build *build, uint32_t k, weir_engine engine, weir_domain domain,
                     int64_t duration_ns, int64_t size_bytes, weir_object *last)
{
    struct graph_object object = generate_object(size_bytes, domain);
    struct graph_node node = generate_node(NODE_COMPUTE);
    struct graph_access read = {*last, {WEIR_NONE}};
    weir_object written;
    weir_node id;

    object.name = build_text(build, "o%" PRIu32, k);
    object.evidence = generate_evidence(EVIDENCE_ASSUMED, (weir_text){0});
    written = build_object(build, &object);
    node.name = build_text(build, "n%" PRIu32, k);
    node.engine = engine;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.evidence = object.evidence;
    node.writes = &written;
    node.n_writes = 1;
    node.reads = &read;
    node.n_reads = k > 0 ? 1 : 0;
    id = build_node(build, &node);
    if (k > 0) {
        struct graph_edge edge =
            generate_edge((weir_node){id.index - 1}, id, EDGE_DATA_READY,
                          generate_evidence(EVIDENCE_DECLARED, (weir_text){0}));

        edge.object = *last;
        build_edge(build, &edge);
    }
    *last = written;
}

enum weir_status generate_chain(const struct generate_chain_options *options, struct graph **out,
                                struct weir_error *err)
{
    struct build build = {.status = check_options(options, err), .err = err};
    struct graph_engine engine = graph_engine_default;
    weir_object last = {WEIR_NONE};
    struct random_stream random;
    weir_engine sm;

    if (build.status != WEIR_OK)
        return build.status;
    build.graph = graph_new();
    if (build.graph == NULL)
        return weir_error_memory(err);
    random_seed(&random, options->seed, 0);
    graph_set_head(build.graph, build_text(&build, "chain"), SCOPE_NONE, true,
                   generate_evidence(EVIDENCE_NONE, (weir_text){0}));
    engine.domain = build_domain(&build, "hbm", 2 * options->size_bytes);
    sm = build_engine(&build, "sm", &engine);
    for (uint32_t k = 0; k < options->n_nodes && build.status == WEIR_OK; k++) {
        int64_t duration_ns = options->duration_ns;

        if (options->is_seeded)
            duration_ns = 1 + (int64_t)random_below(&random, 2 * (uint64_t)duration_ns - 1);
        generate_show(&options->progress, k, options->n_nodes);
        add_link(&build, k, sm, engine.domain, duration_ns, options->size_bytes, &last);
    }
    if (build.status != WEIR_OK) {
        graph_free(build.graph);
        return build.status;
    }
    *out = build.graph;
    return WEIR_OK;
}
