/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a run that ended in a deadlock: a circle of nodes each of which waits for the one before it, for
 * its bytes or for its end, in words. */
#include <stdio.h>
#include <stdlib.h>

#include "judge/gave_way.h"
#include "judge/modes_internal.h"

#define MOST_ON_WAY 6 /* nodes between a giver of bytes and who waits for others, that are named */

struct circle {
    struct modes *modes;
    weir_node *nodes; /* each before the next, the last before the first */
    uint32_t n;
    bool *waits; /* by node: it waits for bytes */
};

/* Nodes that have finished, or that will not run: off, given way, or not needed to stand in. */
static enum weir_status find_finished(const struct modes *modes, const struct analysis *analysis,
                                      bool *is_finished)
{
    struct gave_way *ways = NULL;
    size_t n_ways = 0;
    enum weir_status status =
        gave_way_find(modes->graph, modes->timeline, &ways, &n_ways, modes->err);

    for (uint32_t i = 0; i < modes->timeline->n_nodes; i++) {
        is_finished[i] = modes_ran(modes, i) || !graph_node_is_on(modes->graph, (weir_node){i}) ||
                         analysis->is_standby[i];
    }
    for (size_t i = 0; i < n_ways; i++) {
        is_finished[ways[i].fallback.index] = modes_ran(modes, ways[i].fallback.index) ||
                                              !graph_node_is_on(modes->graph, ways[i].fallback);
    }
    for (size_t i = 0; i < n_ways; i++) {
        is_finished[ways[i].node.index] = true;
    }
    free(ways);
    return status;
}

static enum weir_status find(struct circle *circle)
{
    struct modes *modes = circle->modes;
    struct analysis analysis;
    struct analyze_waits waits = {NULL, 0, 0};
    bool *is_finished = calloc((size_t)modes->timeline->n_nodes + 1, sizeof *is_finished);
    bool *has_run = calloc((size_t)modes->timeline->n_nodes + 1, sizeof *has_run);
    enum weir_status status = analyze(modes->binding, &analysis, modes->err);

    if (status != WEIR_OK) {
        free(is_finished);
        free(has_run);
        return status;
    }
    circle->waits = calloc((size_t)modes->timeline->n_nodes + 1, sizeof *circle->waits);
    status = is_finished == NULL || has_run == NULL || circle->waits == NULL
                 ? weir_error_memory(modes->err)
                 : find_finished(modes, &analysis, is_finished);
    for (uint32_t i = 0; i < modes->timeline->n_nodes && status == WEIR_OK; i++) {
        has_run[i] = modes_ran(modes, i);
    }
    if (status == WEIR_OK) {
        status = analyze_stuck_for_one(&analysis, is_finished, has_run, &waits, modes->err);
    }
    for (uint32_t i = 0; i < waits.n; i++) {
        circle->waits[waits.items[i].consumer.index] = true;
    }
    if (status == WEIR_OK) {
        status = analyze_circle(modes->binding, &waits, &circle->nodes, &circle->n, modes->err);
    }
    analyze_waits_free(&waits);
    analyze_free(&analysis);
    free(is_finished);
    free(has_run);
    return status;
}

/* Turns it so that the first in program order of those that wait for bytes comes first. */
static enum weir_status turn(struct circle *circle)
{
    uint32_t first = 0;
    bool is_found = false;
    weir_node *turned = malloc(((size_t)circle->n + 1) * sizeof *turned);

    if (turned == NULL) {
        return weir_error_memory(circle->modes->err);
    }
    for (uint32_t i = 0; i < circle->n; i++) {
        if (circle->waits[circle->nodes[i].index] &&
            (!is_found || circle->nodes[i].index < circle->nodes[first].index)) {
            first = i;
            is_found = true;
        }
    }
    for (uint32_t i = 0; i < circle->n; i++) {
        turned[i] = circle->nodes[(first + i) % circle->n];
    }
    free(circle->nodes);
    circle->nodes = turned;
    return WEIR_OK;
}

static const char *name_at(const struct circle *circle, uint32_t i)
{
    return modes_node(circle->modes, circle->nodes[i % circle->n].index);
}

/* Of the one at i, which waits for bytes: from whom, and for whom that one waits. @return where the
 * next that waits for bytes stands, on the way back */
static uint32_t print_wait(const struct circle *circle, uint32_t i, FILE *text)
{
    uint32_t giver = (i + circle->n - 1) % circle->n, at = giver, n = 0;

    while (!circle->waits[circle->nodes[at].index]) {
        at = (at + circle->n - 1) % circle->n;
        n++;
    }
    fprintf(text, "%s waits for bytes that %s %s", name_at(circle, i), name_at(circle, giver),
            n == 0 ? "holds" : "gives back");
    if (n > 0) {
        fprintf(text, ", and %s for ", name_at(circle, giver));
    }
    for (uint32_t j = 1; j < n && j <= MOST_ON_WAY; j++) {
        fprintf(text, "%s%s", j == 1 ? "" : ", ", name_at(circle, giver + circle->n - j));
    }
    if (n > MOST_ON_WAY + 1) {
        fprintf(text, ", %u more", n - 1 - MOST_ON_WAY);
    }
    if (n > 0) {
        fprintf(text, "%s%s", n > 1 ? " and " : "", name_at(circle, at));
    }
    return at;
}

#define MOST_WAITS 8 /* that are told of a circle */

static void print_circle(const struct circle *circle, FILE *text)
{
    uint32_t i = 0, n_told = 0;

    if (circle->n == 2 && circle->waits[circle->nodes[1].index]) {
        fprintf(text, "%s and %s wait for bytes that each other holds", name_at(circle, 0),
                name_at(circle, 1));
        return;
    }
    do {
        if (n_told == MOST_WAITS) {
            fprintf(text, "; and so on round a circle of %u nodes", circle->n);
            return;
        }
        fputs(n_told++ > 0 ? "; " : "", text);
        i = print_wait(circle, i, text);
    } while (i != 0);
}

static enum weir_status tell(struct circle *circle)
{
    struct modes *modes = circle->modes;
    char *message = NULL;
    size_t length;
    FILE *text = open_memstream(&message, &length);

    if (text == NULL) {
        return weir_error_memory(modes->err);
    }
    print_circle(circle, text);
    if (fclose(text) != 0 || message == NULL) {
        free(message);
        return weir_error_memory(modes->err);
    }
    report_add(modes->report, FINDING_WAIT_CIRCLE, MODES_NOWHERE, "%s", message);
    for (uint32_t i = 0; i < circle->n && i < FINDING_NAMES; i++) {
        report_name(modes->report, name_at(circle, i));
    }
    free(message);
    return WEIR_OK;
}

enum weir_status modes_circle(struct modes *modes)
{
    struct circle circle = {.modes = modes};
    enum weir_status status = find(&circle);

    if (status == WEIR_OK && circle.n > 0) {
        status = turn(&circle);
    }
    if (status == WEIR_OK && circle.n > 0) {
        status = tell(&circle);
    }
    free(circle.nodes);
    free(circle.waits);
    return status;
}
