/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What costs rest on. Who measured once, or under other conditions, knows less than it seems. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/audit_internal.h"
#include "graph/evidence.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})
#define LEAST_CONFIDENCE 0.5

struct tally {
    uint32_t n, first; /* how many, and which is the first */
};

static void count(struct tally *tally, bool is_one, uint32_t node)
{
    if (is_one && tally->n++ == 0) {
        tally->first = node;
    }
}

static void tell(struct audit *audit, enum finding_code code, const struct tally *tally,
                 const char *what)
{
    const char *name;

    if (tally->n == 0) {
        return;
    }
    name = audit_node(audit, tally->first);
    report_add(audit->report, code, NOWHERE, "%" PRIu32 " node%s, such as %s, %s", tally->n,
               tally->n == 1 ? "" : "s", name, what);
    report_name(audit->report, name);
}

/* Facts of the machine that nothing backs. */
static void check_machine(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    uint32_t n_bare = 0;
    const char *first = NULL;

    for (uint32_t i = 0; i < graph->n_kappas; i++) {
        if (graph->kappas[i].evidence.kind == EVIDENCE_NONE) {
            first = n_bare++ == 0
                        ? graph_text(graph, graph_class_name(graph, graph->kappas[i].slowed))
                        : first;
        }
    }
    if (n_bare > 0) {
        report_add(audit->report, FINDING_BARE_CONTENTION, NOWHERE,
                   "%" PRIu32 " of %" PRIu32 " kappa lines have no evidence, such as that of class "
                   "%s",
                   n_bare, graph->n_kappas, first);
        report_name(audit->report, first);
    }
}

/* What an evidence that many nodes share is found to be, once. */
enum doubt {
    DOUBT_SINGLE = 1,
    DOUBT_LOW = 2,
    DOUBT_SCOPE = 4,
    DOUBT_IS_OF_ORDER = 8, /* says how an order was found, and so nothing of a cost */
    DOUBT_IS_OF_COST = 16
};

static uint8_t doubts_of(const struct graph *graph, const struct graph_evidence *evidence)
{
    const struct evidence_words words = evidence_words_of(graph_text(graph, evidence->detail));
    bool is_taken = evidence->kind == EVIDENCE_MEASURED || evidence->kind == EVIDENCE_FITTED;
    unsigned doubts = 0;

    doubts |= is_taken && words.n_samples == 1 ? DOUBT_SINGLE : 0u;
    doubts |= evidence->confidence >= 0 && evidence->confidence < LEAST_CONFIDENCE ? DOUBT_LOW : 0u;
    /* Cold times in a graph of warm ones, or the other way round. */
    doubts |= (graph->scope == SCOPE_WARM && words.says_cold) ||
                      (graph->scope == SCOPE_COLD && words.says_warm)
                  ? DOUBT_SCOPE
                  : 0u;
    doubts |= evidence->kind >= EVIDENCE_OBSERVED ? DOUBT_IS_OF_ORDER : 0u;
    doubts |= evidence->kind >= EVIDENCE_MEASURED && evidence->kind <= EVIDENCE_UNKNOWN
                  ? DOUBT_IS_OF_COST
                  : 0u;
    return (uint8_t)doubts;
}

static void tell_scale(struct audit *audit, const struct tally *tally, const char *sort,
                       const char *name, const char *consumer)
{
    bool is_one = tally->n == 1, is_edge = consumer != NULL;

    report_add(audit->report, FINDING_EVIDENCE_SCALE, NOWHERE,
               "%" PRIu32 " %s%s, such as %s%s%s, %s on evidence of %s", tally->n, sort,
               is_one ? "" : "s", name, is_edge ? " -> " : "", is_edge ? consumer : "",
               is_one ? "rests" : "rest", is_edge ? "a cost" : "an order");
    report_name(audit->report, name);
    if (is_edge) {
        report_name(audit->report, consumer);
    }
}

/* Nodes that rest on evidence of an order, edges on that of a cost. An object may have either: its size
 * is known as a cost is, its life as an order. */
static void check_scales(struct audit *audit, const uint8_t *doubts)
{
    const struct graph *graph = audit->graph;
    struct tally nodes = {0, 0}, edges = {0, 0};

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        count(&nodes, (doubts[graph->nodes[i].evidence] & DOUBT_IS_OF_ORDER) != 0, i);
    }
    for (uint32_t i = 0; i < graph->n_edges && graph->edges.evidences != NULL; i++) {
        count(&edges, (doubts[graph->edges.evidences[i]] & DOUBT_IS_OF_COST) != 0, i);
    }
    if (nodes.n > 0) {
        tell_scale(audit, &nodes, "node", audit_node(audit, nodes.first), NULL);
    }
    if (edges.n > 0) {
        struct edge_ends ends = graph->edges.ends[edges.first];

        tell_scale(audit, &edges, "edge", audit_node(audit, ends.producer),
                   audit_node(audit, ends.consumer));
    }
}

enum weir_status audit_evidence(struct audit *audit)
{
    const struct graph *graph = audit->graph;
    struct tally single = {0, 0}, doubtful = {0, 0}, other = {0, 0};
    uint8_t *doubts = calloc((size_t)graph->n_evidences + 1, sizeof *doubts);

    if (doubts == NULL) {
        return weir_error_memory(audit->err);
    }
    for (uint32_t i = 1; i < graph->n_evidences; i++) {
        doubts[i] = doubts_of(graph, &graph->evidences[i]);
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint8_t of_node = doubts[graph->nodes[i].evidence];

        if (of_node != 0 && audit_runs(audit, i)) {
            count(&single, (of_node & DOUBT_SINGLE) != 0, i);
            count(&doubtful, (of_node & DOUBT_LOW) != 0, i);
            count(&other, (of_node & DOUBT_SCOPE) != 0, i);
        }
    }
    check_scales(audit, doubts);
    free(doubts);
    tell(audit, FINDING_THIN_EVIDENCE, &single, "rest on one measurement (n=1)");
    tell(audit, FINDING_LOW_CONFIDENCE, &doubtful, "rest on evidence of a confidence below 0.5");
    tell(audit, FINDING_OTHER_SCOPE, &other,
         graph->scope == SCOPE_WARM ? "rest on cold times in a graph of warm ones"
                                    : "rest on warm times in a graph of cold ones");
    check_machine(audit);
    return WEIR_OK;
}
