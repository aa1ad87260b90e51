/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What costs rest on. Who measured once, or under other conditions, knows less than it seems. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/audit_internal.h"
#include "graph/evidence.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})
#define LEAST_CONFIDENCE 0.5

struct tally {
    uint32_t n, first; /* how many nodes, and which is the first */
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
enum doubt { DOUBT_SINGLE = 1, DOUBT_LOW = 2, DOUBT_SCOPE = 4 };

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
    return (uint8_t)doubts;
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
    free(doubts);
    tell(audit, FINDING_THIN_EVIDENCE, &single, "rest on one measurement (n=1)");
    tell(audit, FINDING_LOW_CONFIDENCE, &doubtful, "rest on evidence of a confidence below 0.5");
    tell(audit, FINDING_OTHER_SCOPE, &other,
         graph->scope == SCOPE_WARM ? "rest on cold times in a graph of warm ones"
                                    : "rest on warm times in a graph of cold ones");
    check_machine(audit);
    return WEIR_OK;
}
