/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A judge of data flow that shares nothing with the binding: it carries a version of every byte of every
 * copy along a timeline and asks whether each reader got the bytes that it gets in program order.
 *
 * Where a reader reads is settled by program order (the copy where it works, when one has begun there and
 * has not been reclaimed, else the home copy, through a mapping), whichever nodes run in the end. */
#ifndef TESTS_SIM_JUDGE_H
#define TESTS_SIM_JUDGE_H

#include <stdio.h>
#include <string.h>

#include "graph/timeline.h"

enum {
    JUDGE_OBJECTS = 16,
    JUDGE_DOMAINS = 4,
    JUDGE_NODES = 64,
    JUDGE_READS = 8, /* the last is for what a copy node copies */
    JUDGE_BYTES = 8  /* the most of an object */
};

#define JUDGE_MISSING (-2) /* no copy there */
#define JUDGE_FRESH (-1)   /* a byte of a copy that nothing has filled */
/* Versions from 0: what an initial object holds is its own id, what a node wrote 1000 + its id. */

struct judge_byte {
    int version;
    int readers, writers; /* that run */
};

/* Of one read. */
struct judge_place {
    uint32_t domain;
    bool is_mapped; /* the copy is seen from afar */
};

struct judge {
    const struct graph *graph;
    struct judge_byte bytes[JUDGE_OBJECTS][JUDGE_DOMAINS][JUDGE_BYTES]; /* of roots */
    int newest[JUDGE_OBJECTS][JUDGE_BYTES];        /* what the program wrote last */
    bool is_visible[JUDGE_OBJECTS][JUDGE_DOMAINS]; /* the home copy, from there */
    struct judge_place places[JUDGE_NODES][JUDGE_READS];
    int got[JUDGE_NODES][JUDGE_READS]
           [JUDGE_BYTES]; /* what each node read, in the order of its reads */
    bool is_program;      /* one node after another: stale bytes are a fault */
    char fault[256];      /* the first; empty */
};

/* A part of a root object. */
struct judge_extent {
    uint32_t root, from, to;
};

static inline struct judge_extent judge_extent_of(const struct graph *graph, weir_object object)
{
    struct graph_object value;
    int64_t offset;
    weir_object root = graph_object_root(graph, object, &offset);

    graph_object(graph, object, &value);
    return (struct judge_extent){root.index, (uint32_t)offset,
                                 (uint32_t)(offset + value.size_bytes)};
}

static inline bool judge_is_there(const struct judge *judge, uint32_t root, uint32_t domain)
{
    return judge->bytes[root][domain][0].version != JUDGE_MISSING;
}

static inline void judge_set_all(struct judge *judge, uint32_t root, uint32_t domain, int version)
{
    for (int b = 0; b < JUDGE_BYTES; b++) {
        judge->bytes[root][domain][b].version = version;
    }
}

/* Before anything runs. */
static inline void judge_reset(struct judge *judge)
{
    memset(judge->bytes, 0, sizeof judge->bytes);
    memset(judge->is_visible, 0, sizeof judge->is_visible);
    for (uint32_t i = 0; i < graph_n_objects(judge->graph); i++) {
        struct graph_object object;

        graph_object(judge->graph, (weir_object){i}, &object);
        for (uint32_t d = 0; d < JUDGE_DOMAINS; d++) {
            judge_set_all(judge, i, d, JUDGE_MISSING);
        }
        for (int b = 0; b < JUDGE_BYTES; b++) {
            judge->newest[i][b] = object.is_initial ? (int)i : JUDGE_FRESH;
        }
        if (object.is_initial) {
            judge_set_all(judge, i, graph_object_home(judge->graph, (weir_object){i}).index,
                          (int)i);
        }
    }
}

/* Program order decides which copies are meant. */
static inline void judge_find_places(struct judge *judge)
{
    const struct graph *graph = judge->graph;

    judge_reset(judge);
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node value;
        uint32_t works = graph_node_domain(graph, (weir_node){i}).index;

        graph_node(graph, (weir_node){i}, &value);
        if (!graph_node_is_on(graph, (weir_node){i})) {
            continue;
        }
        for (uint32_t j = 0; j < value.n_reads; j++) {
            weir_object root = graph_object_root(graph, value.reads[j].object, NULL);
            uint32_t home = graph_object_home(graph, root).index;
            bool is_said = weir_is(value.reads[j].domain);
            uint32_t domain = is_said ? value.reads[j].domain.index : works;
            bool is_mapped =
                !is_said && domain != home && !judge_is_there(judge, root.index, domain);

            judge->places[i][j] = (struct judge_place){is_mapped ? home : domain, is_mapped};
        }
        for (uint32_t j = 0; j < value.n_writes; j++) {
            judge_set_all(judge, graph_object_root(graph, value.writes[j], NULL).index, works, 0);
        }
        if (graph_kind_is_copy(value.kind) && weir_is(value.object)) {
            judge_set_all(judge, graph_object_root(graph, value.object, NULL).index,
                          graph_node_to(graph, (weir_node){i}).index, 0);
        }
        if (value.kind == NODE_ALLOCATION || value.kind == NODE_RECLAMATION) {
            judge_set_all(judge, value.object.index, works,
                          value.kind == NODE_ALLOCATION ? 0 : JUDGE_MISSING);
        }
    }
}

static inline void judge_begin(struct judge *judge, const struct graph *graph, bool is_program)
{
    memset(judge, 0, sizeof *judge);
    judge->graph = graph;
    judge->is_program = is_program;
    judge_find_places(judge);
    judge_reset(judge);
}

static inline void judge_fault(struct judge *judge, uint32_t node, const char *what,
                               uint32_t object)
{
    if (judge->fault[0] == '\0') {
        (void)snprintf(judge->fault, sizeof judge->fault, "node %s: %s object %s",
                       graph_node_name(judge->graph, (weir_node){node}), what,
                       graph_object_name(judge->graph, (weir_object){object}));
    }
}

/* @param got NULL: the bytes need not be valid, as for a mapping */
static inline void judge_read(struct judge *judge, uint32_t node, weir_object object,
                              uint32_t domain, int *got)
{
    struct judge_extent extent = judge_extent_of(judge->graph, object);

    for (uint32_t b = extent.from; b < extent.to; b++) {
        struct judge_byte *byte = &judge->bytes[extent.root][domain][b];

        if (byte->version == JUDGE_MISSING || (byte->version < 0 && got != NULL)) {
            judge_fault(judge, node, "uses missing or unwritten bytes of", object.index);
        }
        if (byte->writers > 0) {
            judge_fault(judge, node, "reads, while another writes,", object.index);
        }
        if (got != NULL && judge->is_program && byte->version != judge->newest[extent.root][b]) {
            judge_fault(judge, node, "reads stale bytes of", object.index);
        }
        if (got != NULL) {
            got[b] = byte->version;
        }
        byte->readers++;
    }
}

static inline void judge_read_end(struct judge *judge, weir_object object, uint32_t domain)
{
    struct judge_extent extent = judge_extent_of(judge->graph, object);

    for (uint32_t b = extent.from; b < extent.to; b++) {
        judge->bytes[extent.root][domain][b].readers--;
    }
}

/* How often the node itself reads the byte. */
static inline int judge_own_reads(const struct judge *judge, uint32_t node,
                                  const struct graph_node *value, uint32_t root, uint32_t domain,
                                  uint32_t byte)
{
    int n = 0;

    for (uint32_t i = 0; i < value->n_reads; i++) {
        struct judge_extent extent = judge_extent_of(judge->graph, value->reads[i].object);

        n += extent.root == root && judge->places[node][i].domain == domain &&
                     extent.from <= byte && byte < extent.to
                 ? 1
                 : 0;
    }
    return n;
}

/* Bytes that change, or are taken or given back. */
static inline void judge_write(struct judge *judge, uint32_t node, const struct graph_node *value,
                               weir_object object, uint32_t domain)
{
    struct judge_extent extent = judge_extent_of(judge->graph, object);

    if (!judge_is_there(judge, extent.root, domain)) {
        judge_set_all(judge, extent.root, domain, JUDGE_FRESH);
    }
    for (uint32_t b = extent.from; b < extent.to; b++) {
        struct judge_byte *byte = &judge->bytes[extent.root][domain][b];

        if (byte->writers > 0 ||
            byte->readers > judge_own_reads(judge, node, value, extent.root, domain, b)) {
            judge_fault(judge, node, "changes, while another uses,", object.index);
        }
        byte->writers++;
    }
}

/* @param version of all, or NULL: of each byte */
static inline void judge_write_end(struct judge *judge, weir_object object, uint32_t domain,
                                   const int *version, const int *versions)
{
    struct judge_extent extent = judge_extent_of(judge->graph, object);

    for (uint32_t b = extent.from; b < extent.to; b++) {
        struct judge_byte *byte = &judge->bytes[extent.root][domain][b];

        byte->writers--;
        byte->version = version != NULL ? *version : versions[b];
        if (version != NULL && *version >= 1000) {
            judge->newest[extent.root][b] = *version;
        }
    }
}

static inline void judge_start(struct judge *judge, uint32_t node)
{
    const struct graph *graph = judge->graph;
    struct graph_node value;
    uint32_t works = graph_node_domain(graph, (weir_node){node}).index;

    graph_node(graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_reads; i++) {
        const struct judge_place *place = &judge->places[node][i];
        uint32_t root = graph_object_root(graph, value.reads[i].object, NULL).index;

        if (place->is_mapped && !judge->is_visible[root][works]) {
            judge_fault(judge, node, "reads through no mapping", value.reads[i].object.index);
        }
        judge_read(judge, node, value.reads[i].object, place->domain, judge->got[node][i]);
    }
    if (graph_kind_is_copy(value.kind)) {
        judge_read(judge, node, value.object, graph_node_from(graph, (weir_node){node}).index,
                   judge->got[node][JUDGE_READS - 1]);
        judge_write(judge, node, &value, value.object,
                    graph_node_to(graph, (weir_node){node}).index);
    }
    if (value.kind == NODE_MAPPING) {
        judge_read(judge, node, value.object, graph_object_home(graph, value.object).index, NULL);
    }
    if (value.kind == NODE_ALLOCATION || value.kind == NODE_RECLAMATION) {
        judge_write(judge, node, &value, value.object, works);
    }
    for (uint32_t i = 0; i < value.n_writes; i++) {
        judge_write(judge, node, &value, value.writes[i], works);
    }
}

/* The copy is gone, and who saw it from afar sees nothing. */
static inline void judge_reclaim(struct judge *judge, weir_object object, uint32_t domain)
{
    judge_set_all(judge, object.index, domain, JUDGE_MISSING);
    if (graph_object_home(judge->graph, object).index == domain) {
        memset(judge->is_visible[object.index], 0, sizeof judge->is_visible[object.index]);
    }
}

static inline void judge_finish(struct judge *judge, uint32_t node)
{
    static const int fresh = JUDGE_FRESH;
    const struct graph *graph = judge->graph;
    const int version = 1000 + (int)node;
    struct graph_node value;
    uint32_t works = graph_node_domain(graph, (weir_node){node}).index;

    graph_node(graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_reads; i++) {
        judge_read_end(judge, value.reads[i].object, judge->places[node][i].domain);
    }
    if (graph_kind_is_copy(value.kind)) {
        judge_read_end(judge, value.object, graph_node_from(graph, (weir_node){node}).index);
        judge_write_end(judge, value.object, graph_node_to(graph, (weir_node){node}).index, NULL,
                        judge->got[node][JUDGE_READS - 1]);
    }
    if (value.kind == NODE_MAPPING) {
        weir_object root = graph_object_root(graph, value.object, NULL);

        judge_read_end(judge, value.object, graph_object_home(graph, value.object).index);
        judge->is_visible[root.index][works] = true;
    }
    if (value.kind == NODE_ALLOCATION || value.kind == NODE_RECLAMATION) {
        judge_write_end(judge, value.object, works, &fresh, NULL);
    }
    if (value.kind == NODE_RECLAMATION) {
        judge_reclaim(judge, value.object, works);
    }
    for (uint32_t i = 0; i < value.n_writes; i++) {
        judge_write_end(judge, value.writes[i], works, &version, NULL);
    }
}

/** The flow in program order: one node after another. @param runs by node: does it? NULL: all that
 *  are on */
static inline void judge_program(struct judge *judge, const struct graph *graph, const bool *runs)
{
    judge_begin(judge, graph, true);
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        if (runs == NULL ? graph_node_is_on(graph, (weir_node){i}) : runs[i]) {
            judge_start(judge, i);
            judge_finish(judge, i);
        }
    }
}

/** The flow of a timeline. */
static inline void judge_timeline(struct judge *judge, const struct graph *graph,
                                  const struct timeline *timeline)
{
    uint32_t order[JUDGE_NODES], n = graph_n_nodes(graph), n_started = 0;
    bool runs[JUDGE_NODES] = {false};

    judge_begin(judge, graph, false);
    for (uint32_t i = 0; i < n; i++) {
        if (timeline->spans[i].start_ns >= 0) {
            order[timeline->spans[i].order] = i;
            n_started++;
        }
    }
    for (uint32_t i = 0; i < n_started; i++) {
        for (uint32_t j = 0; j < n; j++) {
            if (runs[j] && timeline->spans[j].finish_ns <= timeline->spans[order[i]].start_ns) {
                judge_finish(judge, j);
                runs[j] = false;
            }
        }
        judge_start(judge, order[i]);
        runs[order[i]] = true;
    }
}

/** Did every node get the same bytes? */
static inline bool judge_is_same(const struct judge *a, const struct judge *b)
{
    return memcmp(a->got, b->got, sizeof a->got) == 0;
}

#endif
