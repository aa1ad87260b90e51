/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of the critical chain that ran longer than they do alone, and beside whom. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/measured.h"
#include "judge/modes_internal.h"
#include "judge/overlap.h"

#define ROUNDING_NS 1 /* that a node's end may be off, alone */
#define NAMES_SHOWN 3

/* Does the node of the second class, or with the second demands, slow the first by the facts? */
static bool slows(const struct modes *modes, uint32_t node, uint32_t beside)
{
    const char *family = modes->settings->contention;
    weir_class a = graph_node_class(modes->graph, (weir_node){node});
    weir_class b = graph_node_class(modes->graph, (weir_node){beside});
    struct graph_node of_a, of_b;

    if (family != NULL && family[0] == 'm') {
        return measured_meet(modes->graph, (weir_node){node}, (weir_node){beside});
    }
    for (uint32_t i = 0; i < graph_n_kappas(modes->graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(modes->graph, i);

        if ((family == NULL || family[0] == 'p') && weir_is(a) && weir_same(kappa->slowed, a) &&
            weir_same(kappa->beside, b) && kappa->factor > 1) {
            return true;
        }
    }
    if (family != NULL && family[0] == 'p') {
        return false;
    }
    graph_node(modes->graph, (weir_node){beside}, &of_b);
    for (uint32_t j = 0; j < of_b.n_uses; j++) {
        weir_resource resource = of_b.uses[j].resource;

        graph_node(modes->graph, (weir_node){node}, &of_a);
        for (uint32_t i = 0; i < of_a.n_uses; i++) {
            if (weir_same(of_a.uses[i].resource, resource)) {
                return true;
            }
        }
    }
    return false;
}

/* Who ran beside it and slows it, the longest first. @return how many, *who malloc'ed */
static size_t find_who(struct modes *modes, uint32_t node, struct overlap_beside **who)
{
    size_t n = 0, n_kept = 0;

    *who = NULL;
    if (modes->status == WEIR_OK) {
        modes->status = overlaps_beside(modes->timeline, (weir_node){node}, who, &n, modes->err);
    }
    for (size_t i = 0; modes->status == WEIR_OK && i < n; i++) {
        if (slows(modes, node, (*who)[i].node.index)) {
            (*who)[n_kept++] = (*who)[i];
        }
    }
    return n_kept;
}

/* "a", "a and b", "a, b and c", "a, b, c and 4 more" */
static const char *list_names(const struct modes *modes, const struct overlap_beside *who, size_t n,
                              char out[1024])
{
    size_t n_shown = n < NAMES_SHOWN ? n : NAMES_SHOWN, used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n_shown && used < 900; i++) {
        used += (size_t)snprintf(out + used, 1024 - used, "%s%.200s",
                                 i == 0                             ? ""
                                 : i + 1 == n_shown && n_shown == n ? " and "
                                                                    : ", ",
                                 modes_node(modes, who[i].node.index));
    }
    if (n > n_shown && used < 1000) {
        (void)snprintf(out + used, 1024 - used, " and %zu more", n - n_shown);
    }
    return out;
}

static void tell(struct modes *modes, const struct modes_case *one)
{
    const struct timeline_span *span = modes_span(modes, one->ids[0]);
    struct overlap_beside *who;
    size_t n = find_who(modes, one->ids[0], &who);
    const char *node = modes_node(modes, one->ids[0]);
    char took[NUMBER_TEXT_BYTES], alone[NUMBER_TEXT_BYTES], names[1024];

    number_time_text(span->finish_ns - span->start_ns, took);
    number_time_text(span->isolated_ns, alone);
    report_add(modes->report, FINDING_CONTENTION_ON_CHAIN, MODES_NOWHERE,
               "node %s is on the critical chain and took %s instead of %s%s%s%s", node, took,
               alone, n == 0 ? "" : " while ", list_names(modes, who, n, names),
               n == 0 ? "" : " ran beside it");
    report_name(modes->report, node);
    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
        report_name(modes->report, modes_node(modes, who[i].node.index));
    }
    free(who);
}

enum weir_status modes_contention(struct modes *modes)
{
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status = WEIR_OK;

    if (modes->settings->contention != NULL && modes->settings->contention[0] == 'n') {
        return WEIR_OK; /* none */
    }
    for (size_t i = 0; i < modes->settings->n_links && status == WEIR_OK; i++) {
        uint32_t node = modes->settings->links[i].node.index;
        const struct timeline_span *span = node == WEIR_NONE ? NULL : modes_span(modes, node);
        struct modes_case one = {.ids = {node}};

        if (span == NULL || span->isolated_ns < 0 || span->finish_ns < 0) {
            continue;
        }
        one.cost = span->finish_ns - span->start_ns - span->isolated_ns;
        if (one.cost > ROUNDING_NS) {
            status = modes_add(modes, &cases, &one);
        }
    }
    modes_tell(modes, &cases, FINDING_CONTENTION_ON_CHAIN, modes->least_ns, number_time_text, tell);
    return status;
}
