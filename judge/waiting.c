/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over the spans, for groups and the longest waits, which a heap of the wanted number keeps, and
 * one over the rows of waits, for the causes. */
#include "judge/waiting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/keys.h"
#include "judge/pairs.h"
#include "judge/passers.h"

/* A wait, for the heap: the shortest first, of equal ones the last of the program. */
struct waited {
    int64_t for_ns;
    uint32_t node;
};

struct waiting_sweep {
    const struct graph *graph;
    const struct timeline *timeline;
    struct waiting_options options;
    struct waiting out;
    struct keys *numbers; /* of groups, by text */
    size_t groups_room;
    weir_text last_group; /* and its number, since neighbours mostly share theirs */
    uint32_t last_number;
    struct waited *heap;
    uint32_t n_heap;
    uint32_t next_order; /* after that of the last node */
    bool
        is_irregular; /* some orders do not rise with starts, or a node was ready after it started */
    struct weir_error *err;
};

static void add_causes(struct waiting *out, const struct timeline *timeline)
{
    for (int i = 0; i < WAITING_CAUSES; i++) {
        out->causes[i].longest.index = WEIR_NONE;
    }
    for (size_t i = 0; i < timeline->n_waits; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];
        struct waiting_cause *cause = &out->causes[wait->cause];
        int64_t for_ns = wait->to_ns - wait->from_ns;

        cause->n_waits++;
        cause->total_ns = pairs_clamped_add(cause->total_ns, for_ns);
        if (!weir_is(cause->longest) || for_ns > cause->longest_ns) {
            cause->longest_ns = for_ns;
            cause->longest = wait->node;
        }
    }
}

/* --- groups --------------------------------------------------------------------------------- */

static enum weir_status add_group(struct waiting_sweep *sweep, weir_text group, uint32_t *number)
{
    struct waiting *out = &sweep->out;
    const struct key key = {{group.index, 0, 0, 0}};
    enum weir_status status =
        array_grow(&out->groups, &sweep->groups_room, (size_t)out->n_groups + 1, sweep->err);

    if (status == WEIR_OK) {
        status = keys_put(sweep->numbers, &key, out->n_groups, sweep->err);
    }
    if (status == WEIR_OK) {
        *number = out->n_groups++;
        out->groups[*number] =
            (struct waiting_group){.group = group, .first = {WEIR_NONE}, .longest = {WEIR_NONE}};
    }
    return status;
}

static enum weir_status number_of(struct waiting_sweep *sweep, weir_text group, uint32_t *number)
{
    const struct key key = {{group.index, 0, 0, 0}};
    enum weir_status status = WEIR_OK;

    if (sweep->out.n_groups > 0 && weir_same(group, sweep->last_group)) {
        *number = sweep->last_number;
        return WEIR_OK;
    }
    *number = keys_find(sweep->numbers, &key);
    if (*number == KEYS_NONE) {
        status = add_group(sweep, group, number);
    }
    sweep->last_group = group;
    sweep->last_number = *number;
    return status;
}

/* As their first nodes stand; those without one last. */
static int by_first(const void *left, const void *right)
{
    const struct waiting_group *a = left, *b = right;

    if ((a->group.index == 0) != (b->group.index == 0)) {
        return a->group.index == 0 ? 1 : -1;
    }
    return (a->first.index > b->first.index) - (a->first.index < b->first.index);
}

/* --- the longest ---------------------------------------------------------------------------- */

static bool is_before(const struct waited *a, const struct waited *b)
{
    return a->for_ns != b->for_ns ? a->for_ns < b->for_ns : a->node > b->node;
}

static void sift_down(struct waiting_sweep *sweep, struct waited item)
{
    uint32_t at = 0;

    for (uint32_t child = 1; child < sweep->n_heap; child = 2 * at + 1) {
        if (child + 1 < sweep->n_heap && is_before(&sweep->heap[child + 1], &sweep->heap[child])) {
            child++;
        }
        if (!is_before(&sweep->heap[child], &item)) {
            break;
        }
        sweep->heap[at] = sweep->heap[child];
        at = child;
    }
    sweep->heap[at] = item;
}

static void keep_longest(struct waiting_sweep *sweep, struct waited item)
{
    uint32_t at = sweep->n_heap;

    if (at == sweep->options.n_most) {
        if (at > 0 && is_before(&sweep->heap[0], &item)) {
            sift_down(sweep, item);
        }
        return;
    }
    for (; at > 0 && is_before(&item, &sweep->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        sweep->heap[at] = sweep->heap[(at - 1) / 2];
    }
    sweep->heap[at] = item;
    sweep->n_heap++;
}

static enum weir_status add_wait(struct waiting_sweep *sweep, uint32_t node, weir_text of_group,
                                 int64_t for_ns)
{
    struct waiting *out = &sweep->out;
    bool is_over = sweep->options.bound_ns >= 0 && for_ns > sweep->options.bound_ns;
    struct waiting_group *group;
    uint32_t number = 0;
    enum weir_status status = number_of(sweep, of_group, &number);

    if (status != WEIR_OK) {
        return status;
    }
    assert(out->groups != NULL && number < out->n_groups);
    group = &out->groups[number];
    group->n_nodes++;
    if (!weir_is(group->first) || node < group->first.index) {
        group->first.index = node;
    }
    if (for_ns <= 0) {
        return WEIR_OK;
    }
    group->n_waited++;
    group->n_over += is_over ? 1 : 0;
    group->total_ns = pairs_clamped_add(group->total_ns, for_ns);
    if (for_ns > group->longest_ns ||
        (for_ns == group->longest_ns && node < group->longest.index)) {
        group->longest_ns = for_ns;
        group->longest.index = node;
    }
    out->n_waited++;
    out->n_over += is_over ? 1 : 0;
    out->longest_ns = for_ns > out->longest_ns ? for_ns : out->longest_ns;
    keep_longest(sweep, (struct waited){for_ns, node});
    return WEIR_OK;
}

/* Was the node ready, and did it not start, when the run could not go on? */
static bool waits_still(const struct timeline *timeline, const struct timeline_span *span)
{
    return span->start_ns < 0 && span->cause != WAIT_NONE && timeline->status != RUN_COMPLETE;
}

static enum weir_status add_waiting_still(struct waiting_sweep *sweep)
{
    const struct timeline *timeline = sweep->timeline;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < timeline->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_span *span = &timeline->spans[i];

        if (waits_still(timeline, span)) {
            status = add_wait(sweep, i, graph_node_group(sweep->graph, (weir_node){i}),
                              timeline->makespan_ns - span->ready_ns);
        }
    }
    return status;
}

static int by_length(const void *left, const void *right)
{
    return is_before(left, right) ? 1 : is_before(right, left) ? -1 : 0;
}

static enum weir_status list_longest(struct waiting_sweep *sweep)
{
    const struct timeline *timeline = sweep->timeline;
    struct waiting *out = &sweep->out;

    out->longest = calloc((size_t)sweep->n_heap + 1, sizeof *out->longest);
    if (out->longest == NULL) {
        return weir_error_memory(sweep->err);
    }
    if (sweep->n_heap > 0) {
        qsort(sweep->heap, sweep->n_heap, sizeof *sweep->heap, by_length);
    }
    for (uint32_t i = 0; i < sweep->n_heap; i++) {
        const struct timeline_span *span = &timeline->spans[sweep->heap[i].node];
        bool has_started = span->start_ns >= 0;

        out->longest[i] = (struct waiting_event){
            .node = {sweep->heap[i].node},
            .from_ns = span->ready_ns,
            .to_ns = has_started ? span->start_ns : timeline->makespan_ns,
            .has_started = has_started,
            .cause = (enum wait_cause)span->cause,
            .blocker = span->blocker,
        };
    }
    out->n_longest = sweep->n_heap;
    return WEIR_OK;
}

enum weir_status waiting_sweep_begin(const struct graph *graph, const struct timeline *timeline,
                                     const struct waiting_options *options,
                                     struct waiting_sweep **out, struct weir_error *err)
{
    struct waiting_sweep *sweep = calloc(1, sizeof *sweep);

    if (sweep == NULL) {
        return weir_error_memory(err);
    }
    sweep->graph = graph;
    sweep->timeline = timeline;
    sweep->options = *options;
    sweep->out.has_bound = options->bound_ns >= 0;
    sweep->numbers = keys_new();
    sweep->heap = malloc(((size_t)options->n_most + 1) * sizeof *sweep->heap);
    if (sweep->numbers == NULL || sweep->heap == NULL) {
        waiting_sweep_free(sweep);
        return weir_error_memory(err);
    }
    *out = sweep;
    return WEIR_OK;
}

enum weir_status waiting_sweep_add(struct waiting_sweep *sweep, const struct started *nodes,
                                   uint32_t n, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    sweep->err = err;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct timeline_span *span = nodes[i].span;

        status =
            add_wait(sweep, nodes[i].node.index, nodes[i].group, span->start_ns - span->ready_ns);
    }
    return status;
}

enum weir_status waiting_sweep_end(struct waiting_sweep *sweep, const weir_node *order,
                                   uint32_t n_started, struct waiting *out, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    sweep->err = err;
    if (sweep->timeline->status != RUN_COMPLETE) {
        status = add_waiting_still(sweep);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (sweep->out.n_groups > 0) {
        qsort(sweep->out.groups, sweep->out.n_groups, sizeof *sweep->out.groups, by_first);
    }
    add_causes(&sweep->out, sweep->timeline);
    status = list_longest(sweep);
    if (status == WEIR_OK) {
        status = passers_find(sweep->graph, sweep->timeline, order,
                              sweep->is_irregular ? 0 : n_started, &sweep->out, err);
    }
    if (status == WEIR_OK) {
        *out = sweep->out;
        sweep->out = (struct waiting){.n_groups = 0};
    }
    return status;
}

void waiting_sweep_free(struct waiting_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    keys_free(sweep->numbers);
    free(sweep->heap);
    waiting_free(&sweep->out);
    free(sweep);
}

static enum weir_status take_some(void *arg, const struct started *nodes, uint32_t n,
                                  struct weir_error *err)
{
    return waiting_sweep_add(arg, nodes, n, err);
}

enum weir_status waiting_find(const struct graph *graph, const struct timeline *timeline,
                              const struct waiting_options *options, struct waiting *out,
                              struct weir_error *err)
{
    struct waiting_sweep *sweep = NULL;
    weir_node *order = NULL;
    uint32_t n_started = 0;
    enum weir_status status = waiting_sweep_begin(graph, timeline, options, &sweep, err);

    if (status == WEIR_OK) {
        status = timeline_order(timeline, &order, &n_started, err);
    }
    if (status == WEIR_OK) {
        status = started_each(graph, timeline, order, n_started, take_some, sweep, err);
    }
    if (status == WEIR_OK) {
        status = waiting_sweep_end(sweep, order, n_started, out, err);
    }
    free(order);
    waiting_sweep_free(sweep);
    return status;
}

void waiting_free(struct waiting *waiting)
{
    free(waiting->groups);
    free(waiting->longest);
    *waiting = (struct waiting){.n_groups = 0};
}
