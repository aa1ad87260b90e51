/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows: the time between the earliest start that precedence allows and the latest that a deadline
 * does. One that is closed before it opens, or may be when what is uncertain takes long, needs a
 * fallback. */
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})
#define PATH_SHOWN 5

/* "a -> b -> c": what settles the start of the node, the last few. */
static void path_text(const struct audit *audit, const uint32_t *bound_by, uint32_t node, char *out,
                      size_t room)
{
    uint32_t path[PATH_SHOWN], n = 0, at = node;
    size_t used = 0;

    for (; at != WEIR_NONE && n < PATH_SHOWN; at = bound_by[at]) {
        path[n++] = at;
    }
    out[0] = '\0';
    for (uint32_t i = n; i-- > 0 && used < room;) {
        int wrote = snprintf(out + used, room - used, "%s%.200s",
                             i + 1 < n         ? " -> "
                             : at != WEIR_NONE ? "... -> "
                                               : "",
                             audit_node(audit, path[i]));

        used += wrote < 0 ? 0 : (size_t)wrote;
    }
}

static void tell_window(struct audit *audit, enum finding_code code, uint32_t node,
                        const uint32_t *bound_by, int64_t finish_ns, const char *what)
{
    int64_t deadline =
        rare_get(&audit->graph->rares, audit->graph->nodes[node].rare, NODE_RARE_DEADLINE, -1);
    char path[1100], by[NUMBER_TEXT_BYTES], late[NUMBER_TEXT_BYTES];

    if (!audit_takes(audit, code)) {
        return;
    }
    path_text(audit, bound_by, node, path, sizeof path);
    number_time_text(deadline, by);
    number_time_text(finish_ns, late);
    report_add(audit->report, code, NOWHERE,
               "node %s must finish by %s; %s %s, by %s, and it has no fallback",
               audit_node(audit, node), by, what, late, path);
    report_name(audit->report, audit_node(audit, node));
    for (uint32_t at = bound_by[node], n = 1; at != WEIR_NONE && n < PATH_SHOWN;
         at = bound_by[at]) {
        report_name(audit->report, audit_node(audit, at));
        n++;
    }
}

/* A deadline that no fallback covers. */
static bool has_bare_deadline(const struct audit *audit, uint32_t node)
{
    const struct node_row *row = &audit->graph->nodes[node];

    return row->rare != 0 && audit_runs(audit, node) &&
           rare_get(&audit->graph->rares, row->rare, NODE_RARE_DEADLINE, -1) >= 0 &&
           rare_get(&audit->graph->rares, row->rare, NODE_RARE_FALLBACK, FALLBACK_NONE) ==
               FALLBACK_NONE;
}

static void check_window(struct audit *audit, const struct analyze_slow *slow, uint32_t node)
{
    const struct analysis *analysis = &audit->analysis;
    int64_t finish = analysis->earliest_ns[node] + analysis->length_ns[node];
    int64_t late = slow->earliest_ns[node] + slow->length_ns[node];

    switch (analyze_window(analysis, slow, (weir_node){node})) {
    case WINDOW_NONE:
    case WINDOW_OPEN:
        return;
    case WINDOW_NEGATIVE:
        tell_window(audit, FINDING_NEGATIVE_WINDOW, node, analysis->bound_by, finish,
                    "it cannot finish before");
        return;
    case WINDOW_UNCERTAIN:
        tell_window(audit, FINDING_UNCERTAIN_WINDOW, node, slow->bound_by, late,
                    analysis->is_uncertain[node]
                        ? "an unknown length is on its way, without which it finishes at"
                        : "when its path takes long it finishes at");
        return;
    }
}

/* --- overlaps --- */

static void check_overlap(struct audit *audit, uint32_t index)
{
    const struct graph_overlap *overlap = &audit->graph->overlaps[index];
    weir_node a = graph_find_node(audit->graph, overlap->a);
    weir_node b = graph_find_node(audit->graph, overlap->b);
    const char *name_a = graph_text(audit->graph, overlap->a);
    const char *name_b = graph_text(audit->graph, overlap->b);

    if (overlap->rule == OVERLAP_ALLOWED && overlap->proof.index == 0 &&
        overlap->evidence.kind == EVIDENCE_NONE && audit_takes(audit, FINDING_NO_PROOF)) {
        report_add(audit->report, FINDING_NO_PROOF, NOWHERE,
                   "%s and %s are said to run at the same time, and nothing says why they may",
                   name_a, name_b);
        report_name(audit->report, name_a);
        report_name(audit->report, name_b);
    }
    if (overlap->latest_ns >= 0 && weir_is(a) && weir_is(b)) {
        int64_t of_a = audit->analysis.earliest_ns[a.index];
        int64_t of_b = audit->analysis.earliest_ns[b.index];
        int64_t opens = of_a > of_b ? of_a : of_b;

        if (opens > overlap->latest_ns && audit_takes(audit, FINDING_OVERLAP_WINDOW)) {
            report_add(audit->report, FINDING_OVERLAP_WINDOW, NOWHERE,
                       "the overlap of %s and %s should begin by %" PRId64
                       " ns, and %s cannot start before %" PRId64 " ns",
                       name_a, name_b, overlap->latest_ns, of_a > of_b ? name_a : name_b, opens);
            report_name(audit->report, name_a);
            report_name(audit->report, name_b);
        }
    }
}

static bool has_bare_deadlines(const struct audit *audit)
{
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        if (has_bare_deadline(audit, i)) {
            return true;
        }
    }
    return false;
}

enum weir_status audit_windows(struct audit *audit)
{
    struct analyze_slow slow;
    enum weir_status status;

    for (uint32_t i = 0; i < audit->graph->n_overlaps; i++) {
        check_overlap(audit, i);
    }
    if (!has_bare_deadlines(audit)) {
        return WEIR_OK;
    }
    status = analyze_slow_make(&audit->analysis, &slow, audit->err);
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        if (has_bare_deadline(audit, i)) {
            check_window(audit, &slow, i);
        }
    }
    analyze_slow_free(&slow);
    return WEIR_OK;
}
