/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects, nodes and edges straight from their rows, without the rare fields: a large graph is little
 * else. What stands here is what the tables of fields.c say, in their order. */
#include "graph/fields.h"
#include "graph/write_internal.h"

/* A constant text. */
#define PUT(out, text) sink_put((out)->sink, text, sizeof text - 1)

static void put_name(const struct output *out, uint32_t text, const char *stops)
{
    sink_name(out->sink, names_text(out->graph->texts, text), stops);
}

static void put_domain(const struct output *out, uint32_t domain)
{
    put_name(out, out->graph->domains[domain].name.index, "");
}

/* Keeps what it writes, unless that may be too long: a byte of the detail becomes at most 4, and the
 * rest is some words and numbers. */
static void put_other_evidence(struct output *out, uint32_t evidence)
{
    const struct graph_evidence *value = &out->graph->evidences[evidence];
    bool is_kept = strlen(graph_text(out->graph, value->detail)) < EVIDENCE_KEPT_BYTES / 8;
    struct sink *sink = out->sink;
    size_t from;

    if (sizeof sink->bytes - sink->used < EVIDENCE_KEPT_BYTES)
        sink_flush(sink);
    from = sink->used;
    write_evidence_of(out, value);
    if (!is_kept)
        return;
    out->evidence = evidence;
    out->evidence_length = sink->used - from;
    memcpy(out->evidence_text, sink->bytes + from, out->evidence_length);
}

static void put_evidence(struct output *out, uint32_t evidence)
{
    if (evidence == out->evidence)
        sink_put(out->sink, out->evidence_text, out->evidence_length);
    else
        put_other_evidence(out, evidence);
}

bool quick_object(struct output *out, const struct object_row *row)
{
    if (row->rare != 0 || row->size_bytes < 0)
        return false;
    PUT(out, "object ");
    put_name(out, row->name, "");
    PUT(out, " size=");
    sink_integer(out->sink, row->size_bytes);
    if (row->domain != WEIR_NONE) {
        PUT(out, " domain=");
        put_domain(out, row->domain);
    }
    if (row->alias_of != WEIR_NONE) {
        PUT(out, " alias=");
        put_name(out, out->graph->objects[row->alias_of].name, "+");
    }
    if ((row->flags & OBJECT_IS_INITIAL) != 0)
        PUT(out, " initial");
    if ((row->flags & OBJECT_IS_RETAINED) != 0)
        PUT(out, " retained");
    if ((row->flags & OBJECT_IS_OFFLOADABLE) != 0)
        PUT(out, " offloadable");
    put_evidence(out, row->evidence);
    sink_char(out->sink, '\n');
    return true;
}

static void put_accesses(const struct output *out, const struct node_row *row)
{
    const struct graph *graph = out->graph;
    uint32_t n_reads, n_writes;
    const struct graph_access *reads = list_get(&graph->accesses, row->reads, &n_reads);
    const weir_object *writes = list_get(&graph->object_lists, row->writes, &n_writes);

    for (uint32_t i = 0; i < n_reads; i++) {
        if (i == 0)
            PUT(out, " reads=");
        else
            sink_char(out->sink, ',');
        put_name(out, graph->objects[reads[i].object.index].name, "@");
        if (!weir_is(reads[i].domain))
            continue;
        sink_char(out->sink, '@');
        put_domain(out, reads[i].domain.index);
    }
    for (uint32_t i = 0; i < n_writes; i++) {
        if (i == 0)
            PUT(out, " writes=");
        else
            sink_char(out->sink, ',');
        put_name(out, graph->objects[writes[i].index].name, "");
    }
}

/* A duration that is one time, bytes, or neither. */
static void put_cost(const struct output *out, const struct node_row *row)
{
    if ((row->flags & NODE_COST_IS_DURATION) != 0)
        PUT(out, " duration=");
    else if ((row->flags & NODE_COST_IS_BYTES) != 0)
        PUT(out, " bytes=");
    else
        return;
    sink_integer(out->sink, row->cost);
}

bool quick_node(struct output *out, const struct node_row *row)
{
    const struct graph *graph = out->graph;

    if (row->rare != 0 || row->distribution > DISTRIBUTION_FIXED + 1)
        return false;
    PUT(out, "node ");
    put_name(out, row->name, "");
    sink_char(out->sink, ' ');
    sink_word(out->sink, node_kind_words[row->kind]);
    if (row->engine != WEIR_NONE) {
        PUT(out, " engine=");
        put_name(out, graph->engines[row->engine].name.index, "");
    }
    put_cost(out, row);
    put_accesses(out, row);
    if (row->object != WEIR_NONE) {
        PUT(out, " object=");
        put_name(out, graph->objects[row->object].name, "");
    }
    if (row->domain != WEIR_NONE) {
        PUT(out, " domain=");
        put_domain(out, row->domain);
    }
    if (row->class_given != WEIR_NONE) {
        PUT(out, " class=");
        put_name(out, graph->classes[row->class_given].index, "");
    }
    if (row->purity != PURITY_UNSAID)
        sink_word(out->sink, row->purity == PURITY_PURE ? " pure" : " impure");
    if ((row->flags & NODE_IS_SPECULATIVE) != 0)
        PUT(out, " speculative");
    put_evidence(out, row->evidence);
    sink_char(out->sink, '\n');
    return true;
}

void quick_edge(struct output *out, const struct edge_row *row)
{
    const struct graph *graph = out->graph;

    PUT(out, "edge ");
    put_name(out, graph->nodes[row->producer].name, "");
    sink_char(out->sink, ' ');
    put_name(out, graph->nodes[row->consumer].name, "");
    sink_char(out->sink, ' ');
    sink_word(out->sink, edge_type_words[row->type]);
    if (row->is_from_start)
        PUT(out, " from=start");
    if (row->object != WEIR_NONE) {
        PUT(out, " object=");
        put_name(out, graph->objects[row->object].name, "");
    }
    if (row->lag_ns != 0) {
        PUT(out, " lag=");
        sink_integer(out->sink, row->lag_ns);
    }
    put_evidence(out, row->evidence);
    sink_char(out->sink, '\n');
}
