/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A judge of data flow that shares nothing with the binding: it carries a version of every copy along a
 * timeline and asks whether each reader got the bytes that it gets in program order. Objects without
 * aliases and readers without mappings. */
#ifndef TESTS_SIM_JUDGE_H
#define TESTS_SIM_JUDGE_H

#include <stdio.h>
#include <string.h>

#include "graph/timeline.h"

enum { JUDGE_OBJECTS = 16, JUDGE_DOMAINS = 4, JUDGE_NODES = 64, JUDGE_READS = 8 };

#define JUDGE_MISSING (-2) /* no copy there */
#define JUDGE_FRESH (-1)   /* a copy that nothing has filled */
/* Versions from 0: what an initial object holds is its own id, what a node wrote 1000 + its id. */

struct judge_copy {
    int version;
    int readers, writers; /* that run */
};

struct judge {
    const struct graph *graph;
    struct judge_copy copies[JUDGE_OBJECTS][JUDGE_DOMAINS];
    int got[JUDGE_NODES]
           [JUDGE_READS]; /* what each node read, in the order of its reads, then object= */
    char fault[256];      /* the first; empty */
};

static inline void judge_begin(struct judge *judge, const struct graph *graph)
{
    memset(judge, 0, sizeof *judge);
    judge->graph = graph;
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        struct graph_object object;

        graph_object(graph, (weir_object){i}, &object);
        for (int d = 0; d < JUDGE_DOMAINS; d++) {
            judge->copies[i][d].version = JUDGE_MISSING;
        }
        if (object.is_initial) {
            judge->copies[i][graph_object_home(graph, (weir_object){i}).index].version = (int)i;
        }
    }
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

static inline void judge_read(struct judge *judge, uint32_t node, int at, uint32_t object,
                              uint32_t domain)
{
    struct judge_copy *copy = &judge->copies[object][domain];

    if (copy->version < 0) {
        judge_fault(judge, node, "reads missing or unwritten", object);
    }
    if (copy->writers > 0) {
        judge_fault(judge, node, "reads while another writes", object);
    }
    judge->got[node][at] = copy->version;
    copy->readers++;
}

static inline void judge_write(struct judge *judge, uint32_t node, uint32_t object, uint32_t domain,
                               bool is_own_source)
{
    struct judge_copy *copy = &judge->copies[object][domain];

    if (copy->writers > 0 || copy->readers > (is_own_source ? 1 : 0)) {
        judge_fault(judge, node, "writes while another uses", object);
    }
    copy->writers++;
    if (copy->version == JUDGE_MISSING) {
        copy->version = JUDGE_FRESH;
    }
}

static inline bool judge_reads(const struct graph_node *value, uint32_t object, uint32_t domain,
                               uint32_t works)
{
    for (uint32_t i = 0; i < value->n_reads; i++) {
        uint32_t at = weir_is(value->reads[i].domain) ? value->reads[i].domain.index : works;

        if (value->reads[i].object.index == object && at == domain) {
            return true;
        }
    }
    return false;
}

static inline void judge_start(struct judge *judge, uint32_t node)
{
    struct graph_node value;
    uint32_t works = graph_node_domain(judge->graph, (weir_node){node}).index;

    graph_node(judge->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_reads; i++) {
        judge_read(judge, node, (int)i, value.reads[i].object.index,
                   weir_is(value.reads[i].domain) ? value.reads[i].domain.index : works);
    }
    if (graph_kind_is_copy(value.kind)) {
        judge_read(judge, node, JUDGE_READS - 1, value.object.index,
                   graph_node_from(judge->graph, (weir_node){node}).index);
        judge_write(judge, node, value.object.index,
                    graph_node_to(judge->graph, (weir_node){node}).index, false);
    }
    if (value.kind == NODE_ALLOCATION || value.kind == NODE_RECLAMATION) {
        judge_write(judge, node, value.object.index, works, false);
    }
    for (uint32_t i = 0; i < value.n_writes; i++) {
        judge_write(judge, node, value.writes[i].index, works,
                    judge_reads(&value, value.writes[i].index, works, works));
    }
}

static inline void judge_finish(struct judge *judge, uint32_t node)
{
    struct graph_node value;
    uint32_t works = graph_node_domain(judge->graph, (weir_node){node}).index;

    graph_node(judge->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_reads; i++) {
        uint32_t at = weir_is(value.reads[i].domain) ? value.reads[i].domain.index : works;

        judge->copies[value.reads[i].object.index][at].readers--;
    }
    if (graph_kind_is_copy(value.kind)) {
        uint32_t from = graph_node_from(judge->graph, (weir_node){node}).index;
        uint32_t to = graph_node_to(judge->graph, (weir_node){node}).index;

        judge->copies[value.object.index][from].readers--;
        judge->copies[value.object.index][to].writers--;
        judge->copies[value.object.index][to].version = judge->got[node][JUDGE_READS - 1];
    }
    if (value.kind == NODE_ALLOCATION || value.kind == NODE_RECLAMATION) {
        struct judge_copy *copy = &judge->copies[value.object.index][works];

        copy->writers--;
        if (value.kind == NODE_RECLAMATION) {
            copy->version = JUDGE_MISSING;
        }
    }
    for (uint32_t i = 0; i < value.n_writes; i++) {
        struct judge_copy *copy = &judge->copies[value.writes[i].index][works];

        copy->writers--;
        copy->version = 1000 + (int)node;
    }
}

/** The flow in program order: one node after another. */
static inline void judge_program(struct judge *judge, const struct graph *graph)
{
    judge_begin(judge, graph);
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        judge_start(judge, i);
        judge_finish(judge, i);
    }
}

/** The flow of a timeline in which every node ran. */
static inline void judge_timeline(struct judge *judge, const struct graph *graph,
                                  const struct timeline *timeline)
{
    uint32_t order[JUDGE_NODES], n = graph_n_nodes(graph);
    bool runs[JUDGE_NODES] = {false};

    judge_begin(judge, graph);
    for (uint32_t i = 0; i < n; i++) {
        order[timeline->spans[i].order] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
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
