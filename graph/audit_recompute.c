/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recomputation must give the same bytes again: by a node that is pure, from inputs that are what they
 * were, and only where the bytes are gone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

/* Places of the program, by node, from the first to the last. */
struct stretch {
    uint32_t first, last;
};

struct recompute {
    struct audit *audit;
    uint32_t *filled_by;   /* by object: the last node so far that filled it; WEIR_NONE */
    uint32_t *filled_copy; /* by object: the copy that it filled */
    uint32_t *last_use;    /* by root object: the last node in program order that reads it */

    /* Of the node at work, which leaves its mark. */
    uint32_t *read_by;  /* by object: the last recomputation to read it; WEIR_NONE */
    uint32_t *fills_by; /* by root object: the last node to fill a copy of it; WEIR_NONE */
    uint32_t *fills;    /* by root object: the first copy of it that that node fills */
    uint32_t *asked_by; /* by node: the last recomputation to be compared with it; WEIR_NONE */
    uint32_t
        *missing; /* by node: the first object that it reads and that one does not; WEIR_NONE */

    /* Where copies are there already and still. */
    uint32_t *
        live_first; /* by root object, n_objects + 1: its stretches, by place, none meets another */
    struct stretch *live;
    struct stretch *intact; /* by node: where all that it reads is known to be as it read it */
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

/* The first object that the maker reads and the node, whose reads are marked, does not; WEIR_NONE. */
static uint32_t missing_input(struct recompute *state, uint32_t node, uint32_t maker)
{
    const struct graph *graph = state->audit->graph;
    uint32_t n;
    const struct graph_access *reads = list_get(&graph->accesses, graph->nodes[maker].reads, &n);

    if (state->asked_by[maker] != node) {
        state->asked_by[maker] = node;
        state->missing[maker] = WEIR_NONE;
        for (uint32_t i = 0; i < n && state->missing[maker] == WEIR_NONE; i++) {
            uint32_t input = reads[i].object.index;

            state->missing[maker] = state->read_by[input] == node ? WEIR_NONE : input;
        }
    }
    return state->missing[maker];
}

/* The node that makes it again should read what the one reads that is named to. */
static void check_same_inputs(struct recompute *state, uint32_t node, uint32_t maker,
                              uint32_t object)
{
    struct audit *audit = state->audit;
    const struct graph *graph = audit->graph;
    weir_object input = {WEIR_NONE};

    if (node != maker && maker != WEIR_NONE) {
        input.index = missing_input(state, node, maker);
    }
    if (!weir_is(input) || !audit_takes(audit, FINDING_DIFFERENT_RECOMPUTE)) {
        return;
    }
    report_add(audit->report, FINDING_DIFFERENT_RECOMPUTE, NOWHERE,
               "node %s makes object %s again without object %s, which %s made it from",
               audit_node(audit, node), graph_object_name(graph, (weir_object){object}),
               graph_object_name(graph, input), audit_node(audit, maker));
    report_name(audit->report, audit_node(audit, node));
    report_name(audit->report, audit_node(audit, maker));
    report_name(audit->report, graph_object_name(graph, input));
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

/* Marks what the node fills, and what it reads when it recomputes. */
static void mark_node(struct recompute *state, uint32_t node)
{
    const struct audit *audit = state->audit;
    const struct node_row *row = &audit->graph->nodes[node];
    uint32_t n, n_reads;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);
    const struct graph_access *reads = list_get(&audit->graph->accesses, row->reads, &n_reads);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = bind_copy(audit->binding, touches[i].copy)->object.index;

        if ((touches[i].roles & BIND_FILLS) != 0 && state->fills_by[root] != node) {
            state->fills_by[root] = node;
            state->fills[root] = touches[i].copy.index;
        }
    }
    for (uint32_t i = 0; i < n_reads && row->kind == NODE_REMATERIALIZATION; i++) {
        state->read_by[reads[i].object.index] = node;
    }
}

/* The copy of the object's root that the node, which is marked, fills; WEIR_NONE. */
static uint32_t copy_filled(const struct recompute *state, uint32_t node, weir_object object)
{
    uint32_t root = graph_object_root(state->audit->graph, object, NULL).index;

    return state->fills_by[root] == node ? state->fills[root] : WEIR_NONE;
}

static void visit_write(struct recompute *state, uint32_t node, weir_object object)
{
    struct audit *audit = state->audit;
    uint32_t copy = copy_filled(state, node, object);

    if (audit->graph->nodes[node].kind == NODE_REMATERIALIZATION) {
        tell_impure(audit, node, object.index);
        check_same_inputs(state, node, maker_of(audit->graph, object.index), object.index);
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

    mark_node(state, node);
    for (uint32_t i = 0; i < n; i++) {
        visit_write(state, node, writes[i]);
    }
    if (row->object != WEIR_NONE && graph_kind_is_copy((enum node_kind)row->kind)) {
        state->filled_by[row->object] = node;
        state->filled_copy[row->object] = copy_filled(state, node, (weir_object){row->object});
    }
}

/* --- inputs that are gone --- */

/* Where the copy is there: behind what begins it and before what ends it. */
static struct stretch stretch_of(const struct audit *audit, uint32_t copy)
{
    weir_node begins = audit->lives[copy].begins;
    weir_node reclamation = bind_copy(audit->binding, (weir_copy){copy})->reclamation;

    return (struct stretch){weir_is(begins) ? begins.index + 1 : 0,
                            !weir_is(reclamation)    ? UINT32_MAX
                            : reclamation.index == 0 ? 0
                                                     : reclamation.index - 1};
}

static int stretch_compare(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->last > y->last) - (x->last < y->last);
}

/* Sorts stretches and joins those that meet; what is joined is left empty, at the end.
 * @return how many are left */
static uint32_t join(struct stretch *items, uint32_t n)
{
    uint32_t kept = 0;

    qsort(items, n, sizeof *items, stretch_compare);
    for (uint32_t i = 0; i < n; i++) {
        if (items[i].first > items[i].last) {
            continue; /* it ends where it begins */
        }
        if (kept > 0 && items[i].first <= items[kept - 1].last) {
            items[kept - 1].last =
                items[i].last > items[kept - 1].last ? items[i].last : items[kept - 1].last;
        } else {
            items[kept++] = items[i];
        }
    }
    return kept;
}

/* Lists the stretches of all copies by object. */
static void list_live(struct recompute *state)
{
    const struct audit *audit = state->audit;
    uint32_t n_objects = audit->graph->n_objects, n_copies = bind_n_copies(audit->binding), to = 0;
    uint32_t *first = state->live_first;

    memset(first, 0, ((size_t)n_objects + 2) * sizeof *first);
    for (uint32_t i = 0; i < n_copies; i++) {
        first[bind_copy(audit->binding, (weir_copy){i})->object.index + 2]++;
    }
    for (uint32_t i = 2; i <= n_objects + 1; i++) {
        first[i] += first[i - 1];
    }
    for (uint32_t i = 0; i < n_copies; i++) {
        uint32_t object = bind_copy(audit->binding, (weir_copy){i})->object.index;

        state->live[first[object + 1]++] = stretch_of(audit, i);
    }
    for (uint32_t i = 0, from = 0; i < n_objects; i++) {
        uint32_t end = first[i + 1], n = join(state->live + from, end - from);

        memmove(state->live + to, state->live + from, n * sizeof *state->live);
        first[i] = to;
        to += n;
        from = end;
    }
    first[n_objects] = to;
}

/* The stretch in which a copy of the object is there around the place; empty when there is none. */
static struct stretch live_around(const struct recompute *state, uint32_t root, uint32_t place)
{
    uint32_t low = state->live_first[root], high = state->live_first[root + 1];

    while (low < high) { /* the first that ends there or behind */
        uint32_t middle = low + (high - low) / 2;

        if (state->live[middle].last < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < state->live_first[root + 1] && state->live[low].first <= place
               ? state->live[low]
               : (struct stretch){1, 0};
}

/* The node that changes an input of the maker behind it, other than by moving or making it again;
 * WEIR_NONE. */
static uint32_t changer_of(const struct recompute *state, uint32_t input, uint32_t maker)
{
    const struct graph *graph = state->audit->graph;
    uint32_t filled = state->filled_by[input];

    return filled != WEIR_NONE && filled > maker &&
                   !graph_kind_is_copy((enum node_kind)graph->nodes[filled].kind) &&
                   graph->nodes[filled].kind != NODE_REMATERIALIZATION
               ? filled
               : WEIR_NONE;
}

static void tell_dead(struct audit *audit, uint32_t object, uint32_t maker, weir_object input,
                      uint32_t changer, uint32_t last_use)
{
    const struct graph *graph = audit->graph;

    if (!audit_takes(audit, FINDING_DEAD_RECOMPUTE)) {
        return;
    }
    report_add(audit->report, FINDING_DEAD_RECOMPUTE, NOWHERE,
               "object %s may be recomputed by node %s, but its input %s %s%s before %s reads "
               "the object last",
               graph_object_name(graph, (weir_object){object}), audit_node(audit, maker),
               graph_object_name(graph, input),
               changer == WEIR_NONE ? "is given back" : "is changed by ",
               changer == WEIR_NONE ? "" : audit_node(audit, changer), audit_node(audit, last_use));
    report_name(audit->report, graph_object_name(graph, (weir_object){object}));
    report_name(audit->report, audit_node(audit, maker));
    report_name(audit->report, graph_object_name(graph, input));
}

/* Are the inputs of the maker as they were when the object is read last? Where they are, they are so in
 * a stretch of the program, which is kept: most nodes that make many objects are asked only once. */
static void check_inputs(struct recompute *state, uint32_t object, uint32_t maker)
{
    const struct graph *graph = state->audit->graph;
    uint32_t last_use =
        state->last_use[graph_object_root(graph, (weir_object){object}, NULL).index];
    struct stretch intact = {0, UINT32_MAX};
    uint32_t n;
    const struct graph_access *reads = list_get(&graph->accesses, graph->nodes[maker].reads, &n);

    if (last_use == WEIR_NONE || last_use <= maker ||
        (state->intact[maker].first <= last_use && last_use <= state->intact[maker].last)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        weir_object input = reads[i].object;
        struct stretch live =
            live_around(state, graph_object_root(graph, input, NULL).index, last_use);
        uint32_t changer = changer_of(state, input.index, maker);

        if (changer != WEIR_NONE) {
            live.last = changer < live.last ? changer : live.last;
        }
        if (live.first > last_use || live.last < last_use) {
            bool is_gone = live.first == 1 && live.last == 0;
            tell_dead(state->audit, object, maker, input, is_gone ? WEIR_NONE : changer, last_use);
        }
        intact.first = live.first > intact.first ? live.first : intact.first;
        intact.last = live.last < intact.last ? live.last : intact.last;
    }
    if (intact.first <= last_use && last_use <= intact.last) {
        state->intact[maker] = intact;
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

static void check_makers(struct recompute *state)
{
    const struct graph *graph = state->audit->graph;

    list_live(state);
    for (uint32_t i = 0; i < graph->n_objects; i++) {
        uint32_t maker = graph->objects[i].rare == 0 ? WEIR_NONE : maker_of(graph, i);

        if (maker != WEIR_NONE && graph_node_is_on(graph, (weir_node){maker})) {
            tell_impure(state->audit, maker, i);
            check_inputs(state, i, maker);
        }
    }
}

static uint32_t *ids(size_t n)
{
    uint32_t *made = malloc((n + 1) * sizeof *made);

    if (made != NULL) {
        memset(made, 0xff, n * sizeof *made); /* WEIR_NONE */
    }
    return made;
}

static bool make_room(struct recompute *state)
{
    size_t n_objects = state->audit->graph->n_objects, n_nodes = state->audit->graph->n_nodes;
    size_t n_copies = bind_n_copies(state->audit->binding);

    state->filled_by = ids(n_objects);
    state->filled_copy = ids(n_objects);
    state->last_use = ids(n_objects);
    state->read_by = ids(n_objects);
    state->fills_by = ids(n_objects);
    state->fills = ids(n_objects);
    state->asked_by = ids(n_nodes);
    state->missing = ids(n_nodes);
    state->live_first = malloc((n_objects + 2) * sizeof *state->live_first);
    state->live = malloc((n_copies + 1) * sizeof *state->live);
    state->intact = malloc((n_nodes + 1) * sizeof *state->intact);
    for (size_t i = 0; i < n_nodes && state->intact != NULL; i++) {
        state->intact[i] = (struct stretch){1, 0};
    }
    return state->filled_by != NULL && state->filled_copy != NULL && state->last_use != NULL &&
           state->read_by != NULL && state->fills_by != NULL && state->fills != NULL &&
           state->asked_by != NULL && state->missing != NULL && state->live_first != NULL &&
           state->live != NULL && state->intact != NULL;
}

static void give_room(struct recompute *state)
{
    free(state->filled_by);
    free(state->filled_copy);
    free(state->last_use);
    free(state->read_by);
    free(state->fills_by);
    free(state->fills);
    free(state->asked_by);
    free(state->missing);
    free(state->live_first);
    free(state->live);
    free(state->intact);
}

enum weir_status audit_recompute(struct audit *audit)
{
    struct recompute state = {.audit = audit};

    if (!audit->facts.has_recomputation) {
        return WEIR_OK;
    }
    if (!make_room(&state)) {
        give_room(&state);
        return weir_error_memory(audit->err);
    }
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        if (audit_runs(audit, i)) {
            visit_node(&state, i);
        }
    }
    find_last_uses(&state);
    check_makers(&state);
    give_room(&state);
    return WEIR_OK;
}
