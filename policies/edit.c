/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The edits of a draft, and the planned graph that they make. Nodes are put in at their place by way
 * of the canonical form, one line each; priorities and orderings follow on the graph itself. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/text.h"
#include "policies/draft_internal.h"

static uint32_t n_draft_nodes(const struct plan *plan)
{
    return graph_n_nodes(plan->given) + plan->n_nodes;
}

static const char *keep(struct plan *plan, const char *text)
{
    return text == NULL ? NULL : arena_text(&plan->arena, text, strlen(text));
}

/* Mostly a policy says the same of one edit as of the one before: that is kept once. */
static const char *keep_again(struct plan *plan, const char *text, const char *before)
{
    return text != NULL && before != NULL && strcmp(text, before) == 0 ? before : keep(plan, text);
}

/* Notes why, for explanations. */
static enum weir_status note(struct plan *plan, const char *what, const char *reason,
                             const char *instead_of, struct weir_error *err)
{
    const struct plan_edit *last = plan->n_edits == 0 ? NULL : &plan->edits[plan->n_edits - 1];
    struct plan_edit edit = {
        .what = keep(plan, what),
        .reason = keep_again(plan, reason, last == NULL ? NULL : last->reason),
        .instead_of = keep_again(plan, instead_of, last == NULL ? NULL : last->instead_of),
    };
    enum weir_status status =
        array_grow(&plan->edits, &plan->edits_room, (size_t)plan->n_edits + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    if (reason == NULL) {
        return weir_error_set(err, WEIR_INPUT, "policy %s edits without a reason: %s",
                              plan->policy->name, what);
    }
    plan->edits[plan->n_edits++] = edit;
    return WEIR_OK;
}

static enum weir_status check_node(const struct plan *plan, weir_node node, struct weir_error *err)
{
    if (node.index < n_draft_nodes(plan)) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_INPUT, "policy %s edits node %" PRIu32 " of %" PRIu32,
                          plan->policy->name, node.index, n_draft_nodes(plan));
}

static const char *draft_name(const struct plan *plan, weir_node node)
{
    uint32_t n_given = graph_n_nodes(plan->given);

    return node.index < n_given ? graph_node_name(plan->given, node)
                                : plan->nodes[node.index - n_given].statement;
}

static enum weir_status set_priority(struct weir_draft *draft, weir_node node, int64_t priority,
                                     const char *reason, const char *instead_of,
                                     struct weir_error *err)
{
    struct plan *plan = draft->impl;
    char what[256];
    enum weir_status status = check_node(plan, node, err);

    if (status == WEIR_OK) {
        status = array_grow(&plan->priorities, &plan->priorities_room,
                            (size_t)plan->n_priorities + 1, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    plan->priorities[plan->n_priorities++] = (struct edit_priority){node, priority};
    (void)snprintf(what, sizeof what, "priority of %s: %" PRId64, draft_name(plan, node), priority);
    return note(plan, what, reason, instead_of, err);
}

static enum weir_status add_ordering(struct weir_draft *draft, weir_node producer,
                                     weir_node consumer, int64_t lag_ns, const char *reason,
                                     const char *instead_of, struct weir_error *err)
{
    struct plan *plan = draft->impl;
    char what[512];
    enum weir_status status = check_node(plan, producer, err);

    if (status == WEIR_OK) {
        status = check_node(plan, consumer, err);
    }
    if (status == WEIR_OK && lag_ns < 0) {
        status = weir_error_set(err, WEIR_INPUT, "policy %s: a lag of %" PRId64 " ns; 0 or more",
                                plan->policy->name, lag_ns);
    }
    if (status == WEIR_OK) {
        status =
            array_grow(&plan->orderings, &plan->orderings_room, (size_t)plan->n_orderings + 1, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    plan->orderings[plan->n_orderings++] = (struct edit_ordering){producer, consumer, lag_ns};
    (void)snprintf(what, sizeof what, "%s after %s", draft_name(plan, consumer),
                   draft_name(plan, producer));
    return note(plan, what, reason, instead_of, err);
}

static enum weir_status add_node(struct weir_draft *draft, weir_node before, const char *statement,
                                 const char *reason, const char *instead_of, weir_node *out,
                                 struct weir_error *err)
{
    struct plan *plan = draft->impl;
    uint32_t n_given = graph_n_nodes(plan->given);
    struct edit_node edit = {n_given, plan->n_nodes, keep(plan, statement)};
    char what[512];
    enum weir_status status;

    if (statement == NULL) {
        return weir_error_set(err, WEIR_INPUT, "policy %s adds a node without a statement",
                              plan->policy->name);
    }
    if (edit.statement == NULL) {
        return weir_error_memory(err);
    }
    if (strchr(statement, '\n') != NULL || (weir_is(before) && before.index >= n_given)) {
        return weir_error_set(err, WEIR_INPUT,
                              "policy %s adds a node before one of its own, or more than one line",
                              plan->policy->name);
    }
    edit.before = weir_is(before) ? before.index : n_given;
    status = array_grow(&plan->nodes, &plan->nodes_room, (size_t)plan->n_nodes + 1, err);
    if (status != WEIR_OK) {
        return status;
    }
    plan->nodes[plan->n_nodes] = edit;
    out->index = n_given + plan->n_nodes++;
    (void)snprintf(what, sizeof what, "node %s", statement);
    return note(plan, what, reason, instead_of, err);
}

void plan_draft(struct plan *plan, struct weir_draft *out)
{
    *out = (struct weir_draft){sizeof *out, plan, set_priority, add_ordering, add_node};
}

/* --- making the planned graph ----------------------------------------------------------------- */

static int edit_compare(const void *a, const void *b)
{
    const struct edit_node *x = a, *y = b;

    if (x->before != y->before) {
        return x->before < y->before ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* Copies the text line by line, with the added nodes before the nodes they belong before. */
static void weave(const struct plan *plan, const struct edit_node *sorted, const char *text,
                  FILE *out)
{
    uint32_t node = 0, next = 0, n_given = graph_n_nodes(plan->given);

    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        size_t length = end == NULL ? strlen(line) : (size_t)(end - line) + 1;
        bool is_node = strncmp(line, "node ", 5) == 0, is_edge = strncmp(line, "edge ", 5) == 0;
        uint32_t upto = is_edge ? n_given : node;

        while (next < plan->n_nodes && (is_node || is_edge) && sorted[next].before <= upto) {
            fprintf(out, "node %s\n", sorted[next++].statement);
        }
        node += is_node ? 1 : 0;
        (void)fwrite(line, 1, length, out);
        line += length;
    }
    while (next < plan->n_nodes) {
        fprintf(out, "node %s\n", sorted[next++].statement);
    }
}

/* Which node of the draft became which of the planned graph, and back. */
static enum weir_status map_nodes(struct plan *plan, const struct edit_node *sorted,
                                  struct weir_error *err)
{
    uint32_t n_given = graph_n_nodes(plan->given), n_all = n_draft_nodes(plan), next = 0, at = 0;

    plan->planned_of = arena_array(&plan->arena, n_all, sizeof *plan->planned_of);
    plan->origin_of = arena_array(&plan->arena, n_all, sizeof *plan->origin_of);
    if (plan->planned_of == NULL || plan->origin_of == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i <= n_given; i++) {
        for (; next < plan->n_nodes && sorted[next].before == i; next++) {
            plan->origin_of[at] = WEIR_NONE;
            plan->planned_of[n_given + sorted[next].number] = at++;
        }
        if (i < n_given) {
            plan->origin_of[at] = i;
            plan->planned_of[i] = at++;
        }
    }
    return WEIR_OK;
}

static enum weir_status read_woven(struct plan *plan, const struct edit_node *sorted,
                                   const char *text, struct report *report, struct weir_error *err)
{
    char *woven = NULL;
    size_t length;
    FILE *out = open_memstream(&woven, &length);
    enum weir_status status;

    if (out == NULL) {
        return weir_error_memory(err);
    }
    weave(plan, sorted, text, out);
    if (fclose(out) != 0) {
        free(woven);
        return weir_error_memory(err);
    }
    status = graph_read_text(woven, length, "the plan", report, &plan->made, err);
    free(woven);
    if (status == WEIR_INPUT) {
        return weir_error_within(err, "policy %s", plan->policy->name);
    }
    return status;
}

static enum weir_status make_graph(struct plan *plan, struct report *report, struct weir_error *err)
{
    struct edit_node *sorted = arena_array(&plan->arena, (size_t)plan->n_nodes + 1, sizeof *sorted);
    char *text = NULL;
    size_t length;
    enum weir_status status;

    if (sorted == NULL) {
        return weir_error_memory(err);
    }
    if (plan->n_nodes > 0) {
        memcpy(sorted, plan->nodes, plan->n_nodes * sizeof *sorted);
        qsort(sorted, plan->n_nodes, sizeof *sorted, edit_compare);
    }
    status = graph_write_text(plan->given, &text, &length, err);
    if (status == WEIR_OK) {
        status = read_woven(plan, sorted, text, report, err);
    }
    free(text);
    return status == WEIR_OK ? map_nodes(plan, sorted, err) : status;
}

static weir_node planned(const struct plan *plan, weir_node draft)
{
    return (weir_node){plan->planned_of[draft.index]};
}

static enum weir_status apply_priorities(struct plan *plan, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < plan->n_priorities && status == WEIR_OK; i++) {
        weir_node node = planned(plan, plan->priorities[i].node);
        struct graph_node value;

        graph_node(plan->made, node, &value);
        value.priority = plan->priorities[i].priority;
        status = graph_set_node(plan->made, node, &value, err);
    }
    return status;
}

static enum weir_status apply_orderings(struct plan *plan, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < plan->n_orderings && status == WEIR_OK; i++) {
        const struct edit_ordering *ordering = &plan->orderings[i];
        struct graph_edge edge = {
            .producer = planned(plan, ordering->producer),
            .consumer = planned(plan, ordering->consumer),
            .type = EDGE_ORDERING,
            .object = {WEIR_NONE},
            .lag_ns = ordering->lag_ns,
            .evidence = {EVIDENCE_DECLARED, {0}, -1},
        };

        status = graph_add_edge(plan->made, &edge, err);
    }
    return status;
}

enum weir_status plan_apply(struct plan *plan, struct report *report, struct weir_error *err)
{
    enum weir_status status;

    if (plan->n_edits == 0) {
        return WEIR_OK;
    }
    status = make_graph(plan, report, err);
    if (status == WEIR_OK) {
        status = apply_priorities(plan, err);
    }
    return status == WEIR_OK ? apply_orderings(plan, err) : status;
}
