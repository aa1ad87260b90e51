/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a bound graph to buffers. Each buffer is a copy, or what one node needs while it runs (and, of
 * staging, while what it filled is used); the nodes that begin and end it say where its steps are. */
#include "policies/arena_graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "policies/arena_graph_internal.h"

/* Puts the text among the names. *is_new when no buffer had it before. */
static enum weir_status try_name(struct arena_drafting *drafting, const char *text, int length,
                                 uint32_t *id, bool *is_new, struct weir_error *err)
{
    uint32_t before = names_count(drafting->names);
    enum weir_status status = names_intern(drafting->names, text, (size_t)length, id, err);

    if (status != WEIR_OK) {
        return status;
    }
    *is_new = names_count(drafting->names) > before;
    return array_grow(&drafting->tried, &drafting->tried_room, (size_t)*id + 1, err);
}

/* A name that no other buffer has: with #2, #3 and so on behind when it is taken. Of each name it is
 * known up to which number they are. */
static enum weir_status name_buffer(struct arena_drafting *drafting, const char *base,
                                    const char *suffix, const char **out, struct weir_error *err)
{
    size_t room = strlen(base) + strlen(suffix) + 16;
    char *text = arena_alloc(&drafting->memory, room);
    uint32_t first, other;
    bool is_new = false;
    enum weir_status status;

    if (text == NULL) {
        return weir_error_memory(err);
    }
    status =
        try_name(drafting, text, snprintf(text, room, "%s%s", base, suffix), &first, &is_new, err);
    for (uint32_t k = 2; status == WEIR_OK && !is_new; k++) {
        int length;

        k = drafting->tried[first] >= k ? drafting->tried[first] + 1 : k;
        length = snprintf(text, room, "%s%s#%" PRIu32, base, suffix, k);
        status = try_name(drafting, text, length, &other, &is_new, err);
        drafting->tried[first] = k;
    }
    *out = text;
    return status;
}

static enum weir_status add(struct arena_drafting *drafting,
                            const struct arena_draft_buffer *buffer, struct weir_error *err)
{
    enum weir_status status =
        array_grow_raw(&drafting->items, &drafting->room, (size_t)drafting->n + 1, err);

    if (status == WEIR_OK) {
        drafting->items[drafting->n++] = *buffer;
    }
    return status;
}

/* --- copies --- */

/* Every object's alignment, carried to the object that owns the bytes. */
static enum weir_status find_alignments(struct arena_drafting *drafting, struct weir_error *err)
{
    const struct graph *graph = drafting->graph;

    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        struct graph_object value;
        int64_t offset, *of;

        graph_object(graph, (weir_object){i}, &value);
        of = &drafting->align_of[graph_object_root(graph, (weir_object){i}, &offset).index];
        if (value.align_bytes <= 1) {
            continue;
        }
        if (offset % value.align_bytes != 0) {
            return weir_error_set(err, WEIR_INPUT,
                                  "object %.100s has align=%" PRId64 " and begins %" PRId64
                                  " bytes into the object that it is an alias of; let the offset "
                                  "be a multiple of the alignment",
                                  graph_object_name(graph, (weir_object){i}), value.align_bytes,
                                  offset);
        }
        if (!arena_common_multiple(*of, value.align_bytes, of)) {
            return weir_error_set(err, WEIR_INPUT,
                                  "object %.100s: its alignment %" PRId64 " and those of the "
                                  "objects that share its bytes have no common multiple up to "
                                  "2^40; give powers of two",
                                  graph_object_name(graph, (weir_object){i}), value.align_bytes);
        }
    }
    return WEIR_OK;
}

/* Is it the home copy of a retained object, which stays where it is? */
static bool is_kept(const struct arena_drafting *drafting, const struct bind_copy *copy,
                    const struct graph_object *value)
{
    return value->is_retained && copy->stays &&
           weir_same(graph_object_home(drafting->graph, copy->object), copy->domain);
}

static enum weir_status add_copy(struct arena_drafting *drafting, weir_copy id,
                                 struct weir_error *err)
{
    const struct bind_copy *copy = bind_copy(drafting->binding, id);
    uint32_t n_nodes = graph_n_nodes(drafting->graph);
    struct arena_draft_buffer buffer = {.copy = id, .node = {WEIR_NONE}};
    struct graph_object value;
    bool is_fixed;
    enum weir_status status;

    if (!weir_same(copy->domain, drafting->source->domain)) {
        drafting->left_out.n_elsewhere++;
        return WEIR_OK;
    }
    graph_object(drafting->graph, copy->object, &value);
    is_fixed = value.planned_offset_bytes >= 0 && weir_same(value.planned_domain, copy->domain);
    if (is_kept(drafting, copy, &value) && !is_fixed) {
        drafting->left_out.n_retained++;
        if (__builtin_add_overflow(drafting->left_out.retained_bytes, copy->bytes,
                                   &drafting->left_out.retained_bytes)) {
            return weir_error_set(err, WEIR_INPUT, "the retained objects pass 2^63 bytes");
        }
        return WEIR_OK;
    }
    buffer.value = (struct arena_buffer){
        .lower = copy->is_initial ? 0 : INT64_MAX,
        .upper = copy->stays ? (n_nodes == 0 ? 1 : n_nodes) : 1,
        .size_bytes = copy->bytes,
        .align_bytes = drafting->align_of[copy->object.index],
        .fixed_bytes = is_fixed ? value.planned_offset_bytes : -1,
        .hint_bytes = -1,
        .kind = ARENA_OBJECT,
    };
    status = name_buffer(drafting, graph_object_name(drafting->graph, copy->object), "",
                         &buffer.value.name, err);
    drafting->buffer_of[id.index] = drafting->n;
    return status == WEIR_OK ? add(drafting, &buffer, err) : status;
}

/* Stretches the lifetimes of copies over the positions of what touches them. */
static void stretch_copies(struct arena_drafting *drafting)
{
    if (drafting->items == NULL) {
        return;
    }
    for (uint32_t i = 0; i < graph_n_nodes(drafting->graph); i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(drafting->binding, bind_order(drafting->binding, i), &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            uint32_t buffer = drafting->buffer_of[touches[j].copy.index];

            if (buffer != WEIR_NONE) {
                struct arena_buffer *at = &drafting->items[buffer].value;

                at->lower = i < at->lower ? i : at->lower;
                at->upper = (int64_t)i + 1 > at->upper ? (int64_t)i + 1 : at->upper;
            }
        }
    }
}

/* --- what nodes need beside --- */

/* The copy that a copy node fills. */
static weir_copy filled_copy(const struct arena_drafting *drafting, weir_node node)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(drafting->binding, node, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0) {
            return touches[i].copy;
        }
    }
    return (weir_copy){WEIR_NONE};
}

static enum weir_status add_need(struct arena_drafting *drafting, weir_node node,
                                 const struct graph_charge *charge, enum arena_kind kind,
                                 struct weir_error *err)
{
    uint32_t position = drafting->position[node.index], cursor = 0;
    struct arena_draft_buffer buffer = {.copy = {WEIR_NONE}, .node = node};
    weir_node last;
    enum weir_status status;

    if (charge->bytes <= 0 ||
        !weir_same(graph_charge_domain(drafting->graph, node, charge), drafting->source->domain)) {
        return WEIR_OK;
    }
    buffer.value = (struct arena_buffer){
        .lower = position,
        .upper = (int64_t)position + 1,
        .size_bytes = charge->bytes,
        .align_bytes = 1,
        .fixed_bytes = -1,
        .hint_bytes = -1,
        .kind = kind,
    };
    if (kind == ARENA_STAGING) {
        buffer.copy = filled_copy(drafting, node);
    }
    while (weir_is(buffer.copy) && bind_last_use(drafting->binding, buffer.copy, &cursor, &last)) {
        int64_t end = (int64_t)drafting->position[last.index] + 1;

        buffer.value.upper = end > buffer.value.upper ? end : buffer.value.upper;
    }
    status =
        name_buffer(drafting, graph_node_name(drafting->graph, node),
                    kind == ARENA_STAGING ? ".staging" : ".workspace", &buffer.value.name, err);
    return status == WEIR_OK ? add(drafting, &buffer, err) : status;
}

static enum weir_status add_needs(struct arena_drafting *drafting, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_nodes(drafting->graph) && status == WEIR_OK; i++) {
        weir_node node = {i};
        struct graph_node value;

        if (!graph_node_is_on(drafting->graph, node)) {
            continue;
        }
        graph_node(drafting->graph, node, &value);
        for (uint32_t j = 0; j < value.n_workspace && status == WEIR_OK; j++) {
            status = add_need(drafting, node, &value.workspace[j], ARENA_WORKSPACE, err);
        }
        if (status == WEIR_OK) {
            status = add_need(drafting, node, &value.staging, ARENA_STAGING, err);
        }
    }
    return status;
}

/* --- one queue or several --- */

static bool touches_domain(const struct arena_drafting *drafting, weir_node node,
                           const struct graph_node *value)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(drafting->binding, node, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        if (drafting->buffer_of[touches[i].copy.index] != WEIR_NONE) {
            return true;
        }
    }
    for (uint32_t i = 0; i < value->n_workspace; i++) {
        if (weir_same(graph_charge_domain(drafting->graph, node, &value->workspace[i]),
                      drafting->source->domain)) {
            return true;
        }
    }
    return value->staging.bytes > 0 &&
           weir_same(graph_charge_domain(drafting->graph, node, &value->staging),
                     drafting->source->domain);
}

/* Whether a node without an engine has its place in the queue: it only keeps books. */
static bool is_bookkeeping(enum node_kind kind)
{
    return kind == NODE_ALLOCATION || kind == NODE_RECLAMATION || kind == NODE_MAPPING ||
           kind == NODE_BARRIER;
}

static bool is_one_queue(const struct arena_drafting *drafting)
{
    weir_engine queue = {WEIR_NONE};

    if (drafting->source->queues != ARENA_QUEUES_FOUND) {
        return drafting->source->queues == ARENA_QUEUES_ONE;
    }
    for (uint32_t i = 0; i < graph_n_nodes(drafting->graph); i++) {
        weir_node node = {i};
        struct graph_node value;

        graph_node(drafting->graph, node, &value);
        if (!graph_node_is_on(drafting->graph, node) || !touches_domain(drafting, node, &value) ||
            (!weir_is(value.engine) && is_bookkeeping(value.kind))) {
            continue;
        }
        if (!weir_is(value.engine) || graph_engine(drafting->graph, value.engine)->slots != 1 ||
            (weir_is(queue) && !weir_same(queue, value.engine))) {
            return false;
        }
        queue = value.engine;
    }
    return true;
}

/* --- the problem --- */

static int draft_compare(const void *a, const void *b)
{
    const struct arena_draft_buffer *x = a, *y = b;

    if (x->value.lower != y->value.lower) {
        return x->value.lower < y->value.lower ? -1 : 1;
    }
    /* Copies as they began, then needs by node; names are unique. */
    if (x->value.kind != y->value.kind) {
        return x->value.kind < y->value.kind ? -1 : 1;
    }
    if (x->node.index != y->node.index) {
        return x->node.index < y->node.index ? -1 : 1;
    }
    if (x->value.kind == ARENA_OBJECT) {
        return (x->copy.index > y->copy.index) - (x->copy.index < y->copy.index);
    }
    return strcmp(x->value.name, y->value.name);
}

static enum weir_status make_problem(struct arena_drafting *drafting, struct arena_problem *problem,
                                     struct weir_error *err)
{
    bool is_one = is_one_queue(drafting);

    if (drafting->n > 0) {
        qsort(drafting->items, drafting->n, sizeof *drafting->items, draft_compare);
    }
    problem->buffers = malloc(((size_t)drafting->n + 1) * sizeof *problem->buffers);
    if (problem->buffers == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < drafting->n; i++) {
        problem->buffers[i] = drafting->items[i].value;
        if (problem->buffers[i].kind == ARENA_OBJECT) {
            drafting->buffer_of[drafting->items[i].copy.index] = i;
        }
    }
    problem->n_buffers = drafting->n;
    return is_one ? WEIR_OK : arena_lifetimes_make(drafting, problem, err);
}

static enum weir_status draft_all(struct arena_drafting *drafting, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(drafting->graph), n_copies = bind_n_copies(drafting->binding);
    uint32_t n_objects = graph_n_objects(drafting->graph);
    enum weir_status status;

    drafting->position = malloc(((size_t)n_nodes + 1) * sizeof *drafting->position);
    drafting->buffer_of = malloc(((size_t)n_copies + 1) * sizeof *drafting->buffer_of);
    drafting->align_of = malloc(((size_t)n_objects + 1) * sizeof *drafting->align_of);
    drafting->names = names_new();
    if (drafting->position == NULL || drafting->buffer_of == NULL || drafting->align_of == NULL ||
        drafting->names == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        drafting->position[bind_order(drafting->binding, i).index] = i;
    }
    for (uint32_t i = 0; i < n_objects; i++) {
        drafting->align_of[i] = 1;
    }
    memset(drafting->buffer_of, 0xff, ((size_t)n_copies + 1) * sizeof *drafting->buffer_of);
    status = find_alignments(drafting, err);
    for (uint32_t i = 0; i < n_copies && status == WEIR_OK; i++) {
        status = add_copy(drafting, (weir_copy){i}, err);
    }
    if (status == WEIR_OK) {
        stretch_copies(drafting);
        status = add_needs(drafting, err);
    }
    return status;
}

enum weir_status arena_from_graph(const struct binding *binding, const struct arena_source *source,
                                  struct arena_problem *out, struct arena_left_out *left_out,
                                  struct weir_error *err)
{
    struct arena_drafting drafting = {
        .binding = binding, .graph = bind_of(binding), .source = source};
    struct arena_problem problem = {.buffers = NULL};
    enum weir_status status = draft_all(&drafting, err);

    if (status == WEIR_OK) {
        status = make_problem(&drafting, &problem, err);
    }
    if (status == WEIR_OK) {
        status = arena_problem_check(&problem, err);
    }
    problem.memory = drafting.memory;
    free(drafting.position);
    free(drafting.buffer_of);
    free(drafting.align_of);
    free(drafting.items);
    names_free(drafting.names);
    free(drafting.tried);
    if (status != WEIR_OK) {
        arena_problem_free(&problem);
        return status;
    }
    *out = problem;
    *left_out = drafting.left_out;
    return WEIR_OK;
}
