/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that stand in for others. In the program both stand, and in a run one of them runs: whichever it
 * is, the others must find their bytes. And a fallback waits to know whether it is needed, which no edge
 * shows. */
#include <stdlib.h>
#include <string.h>

#include "graph/analyze_internal.h"
#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

/* --- who waits --- */

/* Who waits to know whether the node gives way; none. */
static weir_node waits_for_fate(const struct audit *audit, uint32_t node)
{
    weir_node fallback = analyze_fallback_of(audit->graph, node);
    bool is_asked = weir_is(fallback) && graph_node_is_on(audit->graph, (weir_node){node}) &&
                    graph_node_is_on(audit->graph, fallback);

    return is_asked ? fallback : (weir_node){WEIR_NONE};
}

static void tell_first(struct audit *audit, const weir_node *circle, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = circle[i].index, fallback = circle[(i + 1) % n].index;

        if (waits_for_fate(audit, node).index != fallback ||
            !audit_takes(audit, FINDING_FALLBACK_FIRST)) {
            continue;
        }
        report_add(audit->report, FINDING_FALLBACK_FIRST, NOWHERE,
                   "node %s falls back on %s, which has to come before it%s",
                   audit_node(audit, node), audit_node(audit, fallback),
                   audit->analysis.gives_way[node] ? "" : ": both would wait for ever");
        report_name(audit->report, audit_node(audit, node));
        report_name(audit->report, audit_node(audit, fallback));
        for (uint32_t j = 2; j < n && j < FINDING_NAMES; j++) {
            report_name(audit->report, audit_node(audit, circle[(i + j) % n].index));
        }
    }
}

static enum weir_status check_circle(struct audit *audit)
{
    struct analyze_waits waits = {NULL, 0, 0};
    weir_node *circle = NULL;
    uint32_t n = 0;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < audit->graph->n_nodes && status == WEIR_OK; i++) {
        weir_node fallback = waits_for_fate(audit, i);

        if (weir_is(fallback)) {
            status = analyze_waits_add(&waits, (weir_node){i}, fallback, audit->err);
        }
    }
    if (status == WEIR_OK && waits.n > 0) {
        status = analyze_circle(audit->binding, &waits, &circle, &n, audit->err);
    }
    if (status == WEIR_OK) {
        tell_first(audit, circle, n);
    }
    free(circle);
    analyze_waits_free(&waits);
    return status;
}

/* --- who finds its bytes --- */

#define MOST_LEVELS 4 /* of nodes that stand in for each other, one after another */
#define NOT_ASKED UINT8_MAX

/* How many have given way before it, by node: 0 for one that stands in for none. Those that nobody
 * who may give way names, not at once and not by way of others, are left as NOT_ASKED.
 * @return the greatest */
static uint8_t find_levels(const struct audit *audit, uint8_t *levels)
{
    const struct analysis *analysis = &audit->analysis;
    uint8_t most = 0;

    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        levels[i] = analysis->is_standby[i] ? NOT_ASKED : 0;
    }
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        uint8_t level = 0;

        for (uint32_t at = i;
             levels[i] == 0 && analysis->gives_way[at] && level + 1 < MOST_LEVELS;) {
            at = analyze_fallback_of(audit->graph, at).index;
            level++;
            levels[at] = levels[at] == NOT_ASKED ? level : levels[at];
            most = level > most ? level : most;
        }
    }
    return most;
}

/* Who does not run when all give way that can, so many times one after another. */
static void leave_out(const struct audit *audit, const uint8_t *levels, uint8_t level, bool *is_out)
{
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        bool has_given_way = levels[i] < level && audit->analysis.gives_way[i];

        is_out[i] = levels[i] > level || has_given_way;
    }
}

static void tell_gap(struct audit *audit, const struct finding *finding, uint8_t level)
{
    static const char *const when[MOST_LEVELS] = {
        "when no fallback is needed",
        "when nodes give way to their fallbacks",
        "when fallbacks give way to theirs",
        "when fallbacks of fallbacks give way to theirs",
    };

    if (!audit_takes(audit, FINDING_FALLBACK_GAP)) {
        return;
    }
    report_add(audit->report, FINDING_FALLBACK_GAP, NOWHERE, "%s: %s", when[level],
               finding->message);
    for (int i = 0; i < FINDING_NAMES && finding->names[i] != NULL; i++) {
        report_name(audit->report, finding->names[i]);
    }
}

/* What is wrong when the nodes that are out do not run. */
static enum weir_status check_level(struct audit *audit, const bool *is_out, uint8_t level)
{
    struct report *report = report_new(AUDIT_SHOWN);
    enum weir_status status = report == NULL
                                  ? weir_error_memory(audit->err)
                                  : bind_without(audit->graph, is_out, report, audit->err);

    for (uint32_t i = 0; status == WEIR_OK && i < report_count(report); i++) {
        const struct finding *finding = report_finding(report, i);

        if (finding->severity == SEVERITY_ERROR) {
            tell_gap(audit, finding, level);
        }
    }
    report_free(report);
    return status;
}

static enum weir_status check_bytes(struct audit *audit)
{
    size_t n = (size_t)audit->graph->n_nodes + 1;
    uint8_t *levels = malloc(n * sizeof *levels), most;
    bool *is_out = malloc(n * sizeof *is_out);
    enum weir_status status = WEIR_OK;

    if (levels == NULL || is_out == NULL) {
        status = weir_error_memory(audit->err);
    } else {
        most = find_levels(audit, levels);
        for (uint8_t level = 0; level <= most && status == WEIR_OK; level++) {
            leave_out(audit, levels, level, is_out);
            status = check_level(audit, is_out, level);
        }
    }
    free(levels);
    free(is_out);
    return status;
}

enum weir_status audit_fallbacks(struct audit *audit)
{
    enum weir_status status;

    if (!audit->facts.has_fallback_node) {
        return WEIR_OK;
    }
    status = check_circle(audit);
    return status == WEIR_OK ? check_bytes(audit) : status;
}
