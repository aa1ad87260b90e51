/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recomputation must give the same bytes again: by a node that is pure, from inputs that are what they
 * were, and only where the bytes are gone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

struct recompute {
    struct audit *audit;
    uint32_t *filled_by;   /* by object: the last node so far that filled it; WEIR_NONE */
    uint32_t *filled_copy; /* by object: the copy that it filled */
    uint32_t *last_use;    /* by root object: the last node in program order that reads it */
};

static enum purity purity_of(const struct graph *graph, uint32_t node)
{
    return (enum purity)graph->nodes[node].purity;
}

static uint32_t maker_of(const struct graph *graph, uint32_t object)
{
    return rare_id(&graph->rares, graph->objects[object].rare, OBJECT_RARE_RECOMPUTE);
}

/* --- purity --- */

static void tell_impure(struct audit *audit, uint32_t node, uint32_t object)
{
    const char *name = graph_object_name(audit->graph, (weir_object){object});
    enum finding_code code = purity_of(audit->graph, node) == PURITY_IMPURE
                                 ? FINDING_IMPURE_RECOMPUTE
                                 : FINDING_UNPROVED_RECOMPUTE;

    if (purity_of(audit->graph, node) == PURITY_PURE || !audit_takes(audit, code)) {
        return;
    }
    report_add(audit->report, code, NOWHERE, "node %s makes object %s again, and %s",
               audit_node(audit, node), name,
               code == FINDING_IMPURE_RECOMPUTE ? "is impure" : "nothing says that it is pure");
    report_name(audit->report, audit_node(audit, node));
    report_name(audit->report, name);
}

/* --- the same work --- */

static bool reads_object(const struct graph_node *node, weir_object object)
{
    for (uint32_t i = 0; i < node->n_reads; i++) {
        if (weir_same(node->reads[i].object, object)) {
            return true;
        }
    }
    return false;
}

/* The node that makes it again should read what the one reads that is named to. */
static void check_same_inputs(struct audit *audit, uint32_t node, uint32_t maker, uint32_t object)
{
    const struct graph *graph = audit->graph;
    struct graph_node value, original;

    if (node == maker || maker == WEIR_NONE) {
        return;
    }
    graph_node(graph, (weir_node){node}, &value);
    graph_node(graph, (weir_node){maker}, &original);
    for (uint32_t i = 0; i < original.n_reads; i++) {
        weir_object input = original.reads[i].object;

        if (reads_object(&value, input) || !audit_takes(audit, FINDING_DIFFERENT_RECOMPUTE)) {
            continue;
        }
        report_add(audit->report, FINDING_DIFFERENT_RECOMPUTE, NOWHERE,
                   "node %s makes object %s again without object %s, which %s made it from",
                   audit_node(audit, node), graph_object_name(graph, (weir_object){object}),
                   graph_object_name(graph, input), audit_node(audit, maker));
        report_name(audit->report, audit_node(audit, node));
        report_name(audit->report, audit_node(audit, maker));
        report_name(audit->report, graph_object_name(graph, input));
        return;
    }
}

/* --- work that is not needed --- */

static void check_repeat(struct recompute *state, uint32_t node, uint32_t object, uint32_t copy)
{
    struct audit *audit = state->audit;
    uint32_t before = state->filled_by[object];

    if (before == WEIR_NONE || state->filled_copy[object] != copy ||
        !audit_takes(audit, FINDING_REPEATED_RECOMPUTE)) {
        return;
    }
    report_add(audit->report, FINDING_REPEATED_RECOMPUTE, NOWHERE,
               "node %s makes object %s again in %s, where the bytes of %s still are",
               audit_node(audit, node), graph_object_name(audit->graph, (weir_object){object}),
               audit_domain(audit, bind_copy(audit->binding, (weir_copy){copy})->domain),
               audit_node(audit, before));
    report_name(audit->report, audit_node(audit, node));
    report_name(audit->report, audit_node(audit, before));
    report_name(audit->report, graph_object_name(audit->graph, (weir_object){object}));
}

/* The copy of the object's root that the node fills; WEIR_NONE. */
static uint32_t copy_filled(const struct audit *audit, uint32_t node, weir_object root)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0 &&
            weir_same(bind_copy(audit->binding, touches[i].copy)->object, root)) {
            return touches[i].copy.index;
        }
    }
    return WEIR_NONE;
}

static void visit_write(struct recompute *state, uint32_t node, weir_object object)
{
    struct audit *audit = state->audit;
    uint32_t copy = copy_filled(audit, node, graph_object_root(audit->graph, object, NULL));

    if (audit->graph->nodes[node].kind == NODE_REMATERIALIZATION) {
        tell_impure(audit, node, object.index);
        check_same_inputs(audit, node, maker_of(audit->graph, object.index), object.index);
        check_repeat(state, node, object.index, copy);
    }
    state->filled_by[object.index] = node;
    state->filled_copy[object.index] = copy;
}

static void visit_node(struct recompute *state, uint32_t node)
{
    const struct graph *graph = state->audit->graph;
    const struct node_row *row = &graph->nodes[node];
    uint32_t n;
    const weir_object *writes = list_get(&graph->object_lists, row->writes, &n);

    for (uint32_t i = 0; i < n; i++) {
        visit_write(state, node, writes[i]);
    }
    if (row->object != WEIR_NONE && graph_kind_is_copy((enum node_kind)row->kind)) {
        state->filled_by[row->object] = node;
        state->filled_copy[row->object] = copy_filled(
            state->audit, node, graph_object_root(graph, (weir_object){row->object}, NULL));
    }
}

/* --- inputs that are gone --- */

/* Has the object, at that point of the program, a copy that is there from before on and stays past it? */
static bool has_live_copy(const struct audit *audit, const uint32_t *first_copy,
                          const uint32_t *next_copy, uint32_t root, uint32_t at)
{
    for (uint32_t i = first_copy[root]; i != WEIR_NONE; i = next_copy[i]) {
        const struct bind_copy *copy = bind_copy(audit->binding, (weir_copy){i});
        weir_node begins = audit->lives[i].begins;

        if ((!weir_is(begins) || begins.index < at) &&
            (!weir_is(copy->reclamation) || copy->reclamation.index > at)) {
            return true;
        }
    }
    return false;
}

static void check_inputs(struct recompute *state, const uint32_t *first_copy,
                         const uint32_t *next_copy, uint32_t object, uint32_t maker)
{
    struct audit *audit = state->audit;
    const struct graph *graph = audit->graph;
    uint32_t root = graph_object_root(graph, (weir_object){object}, NULL).index;
    uint32_t last_use = state->last_use[root];
    struct graph_node value;

    if (last_use == WEIR_NONE || last_use <= maker) {
        return;
    }
    graph_node(graph, (weir_node){maker}, &value);
    for (uint32_t i = 0; i < value.n_reads; i++) {
        weir_object input = value.reads[i].object;
        uint32_t of = graph_object_root(graph, input, NULL).index;
        uint32_t filled = state->filled_by[input.index];
        bool is_gone = !has_live_copy(audit, first_copy, next_copy, of, last_use);
        bool is_changed = filled != WEIR_NONE && filled > maker && filled < last_use &&
                          !graph_kind_is_copy((enum node_kind)graph->nodes[filled].kind) &&
                          graph->nodes[filled].kind != NODE_REMATERIALIZATION;

        if ((!is_gone && !is_changed) || !audit_takes(audit, FINDING_DEAD_RECOMPUTE)) {
            continue;
        }
        report_add(audit->report, FINDING_DEAD_RECOMPUTE, NOWHERE,
                   "object %s may be recomputed by node %s, but its input %s %s%s before %s reads "
                   "the object last",
                   graph_object_name(graph, (weir_object){object}), audit_node(audit, maker),
                   graph_object_name(graph, input), is_gone ? "is given back" : "is changed by ",
                   is_gone ? "" : audit_node(audit, filled), audit_node(audit, last_use));
        report_name(audit->report, graph_object_name(graph, (weir_object){object}));
        report_name(audit->report, audit_node(audit, maker));
        report_name(audit->report, graph_object_name(graph, input));
    }
}

static void find_last_uses(struct recompute *state)
{
    const struct audit *audit = state->audit;

    for (uint32_t i = 0; i < bind_n_copies(audit->binding); i++) {
        uint32_t reader = audit->last_reader[i];
        uint32_t *last = &state->last_use[bind_copy(audit->binding, (weir_copy){i})->object.index];

        if (reader != WEIR_NONE && (*last == WEIR_NONE || reader > *last)) {
            *last = reader;
        }
    }
}

static enum weir_status check_makers(struct recompute *state)
{
    struct audit *audit = state->audit;
    const struct graph *graph = audit->graph;
    uint32_t n_copies = bind_n_copies(audit->binding);
    uint32_t *first = malloc(((size_t)graph->n_objects + 1) * sizeof *first);
    uint32_t *next = malloc(((size_t)n_copies + 1) * sizeof *next);
    bool has_room = first != NULL && next != NULL;

    if (has_room) {
        memset(first, 0xff, graph->n_objects * sizeof *first);
        for (uint32_t i = 0; i < n_copies; i++) {
            uint32_t object = bind_copy(audit->binding, (weir_copy){i})->object.index;

            next[i] = first[object];
            first[object] = i;
        }
    }
    for (uint32_t i = 0; has_room && i < graph->n_objects; i++) {
        uint32_t maker = graph->objects[i].rare == 0 ? WEIR_NONE : maker_of(graph, i);

        if (maker != WEIR_NONE && graph_node_is_on(graph, (weir_node){maker})) {
            tell_impure(audit, maker, i);
            check_inputs(state, first, next, i, maker);
        }
    }
    free(first);
    free(next);
    return has_room ? WEIR_OK : weir_error_memory(audit->err);
}

/* Is there anything that recomputes, or may? */
static bool has_recomputation(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].kind == NODE_REMATERIALIZATION) {
            return true;
        }
    }
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        if (graph->objects[i].rare != 0 && maker_of(graph, i) != WEIR_NONE) {
            return true;
        }
    }
    return false;
}

enum weir_status audit_recompute(struct audit *audit)
{
    size_t n_objects = (size_t)audit->graph->n_objects + 1;
    struct recompute state = {audit, NULL, NULL, NULL};
    enum weir_status status = WEIR_OK;

    if (!has_recomputation(audit->graph)) {
        return WEIR_OK;
    }
    state.filled_by = malloc(n_objects * sizeof *state.filled_by);
    state.filled_copy = malloc(n_objects * sizeof *state.filled_copy);
    state.last_use = malloc(n_objects * sizeof *state.last_use);
    if (state.filled_by == NULL || state.filled_copy == NULL || state.last_use == NULL) {
        status = weir_error_memory(audit->err);
        goto done;
    }
    memset(state.filled_by, 0xff, n_objects * sizeof *state.filled_by);
    memset(state.last_use, 0xff, n_objects * sizeof *state.last_use);
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        if (audit_runs(audit, i)) {
            visit_node(&state, i);
        }
    }
    find_last_uses(&state);
    status = check_makers(&state);
done:
    free(state.filled_by);
    free(state.filled_copy);
    free(state.last_use);
    return status;
}
