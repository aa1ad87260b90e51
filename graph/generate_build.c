/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adding to a graph, with the first failure kept. */
#include <stdarg.h>
#include <stdio.h>

#include "graph/generate_internal.h"

void generate_show(const struct generate_progress *progress, uint32_t n_done, uint32_t n_nodes)
{
    if (progress->show != NULL && n_done % 4096 == 0)
        progress->show(progress->arg, (double)n_done / n_nodes);
}

struct graph_evidence generate_evidence(enum evidence_kind kind, weir_text detail)
{
    return (struct graph_evidence){.kind = kind, .detail = detail, .confidence = -1};
}

struct graph_node generate_node(enum node_kind kind)
{
    struct graph_node node = graph_node_default;

    node.kind = kind;
    return node;
}

struct graph_object generate_object(int64_t size_bytes, weir_domain domain)
{
    struct graph_object object = graph_object_default;

    object.size_bytes = size_bytes;
    object.domain = domain;
    return object;
}

struct graph_edge generate_edge(weir_node producer, weir_node consumer, enum edge_type type,
                                struct graph_evidence evidence)
{
    struct graph_edge edge = graph_edge_default;

    edge.producer = producer;
    edge.consumer = consumer;
    edge.type = type;
    edge.evidence = evidence;
    return edge;
}

weir_text build_text(struct build *build, const char *format, ...)
{
    weir_text text = {0};
    char buffer[256];
    va_list args;

    if (build->status != WEIR_OK)
        return text;
    va_start(args, format);
    (void)vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    build->status = graph_intern_text(build->graph, buffer, &text, build->err);
    return text;
}

weir_node build_node(struct build *build, const struct graph_node *node)
{
    weir_node id = {WEIR_NONE};

    if (build->status == WEIR_OK)
        build->status = graph_add_node(build->graph, node, &id, build->err);
    return id;
}

weir_object build_object(struct build *build, const struct graph_object *object)
{
    weir_object id = {WEIR_NONE};

    if (build->status == WEIR_OK)
        build->status = graph_add_object(build->graph, object, &id, build->err);
    return id;
}

void build_edge(struct build *build, const struct graph_edge *edge)
{
    if (build->status == WEIR_OK)
        build->status = graph_add_edge(build->graph, edge, build->err);
}

weir_domain build_domain(struct build *build, const char *name, int64_t capacity_bytes)
{
    struct graph_domain domain = graph_domain_default;
    weir_domain id = {WEIR_NONE};

    domain.name = build_text(build, "%s", name);
    domain.capacity_bytes = capacity_bytes;
    domain.evidence = generate_evidence(EVIDENCE_ASSUMED, (weir_text){0});
    if (build->status == WEIR_OK)
        build->status = graph_add_domain(build->graph, &domain, &id, build->err);
    return id;
}

weir_engine build_engine(struct build *build, const char *name, const struct graph_engine *engine)
{
    struct graph_engine value = *engine;
    weir_engine id = {WEIR_NONE};

    value.name = build_text(build, "%s", name);
    value.evidence = generate_evidence(EVIDENCE_ASSUMED, (weir_text){0});
    if (build->status == WEIR_OK)
        build->status = graph_add_engine(build->graph, &value, &id, build->err);
    return id;
}
