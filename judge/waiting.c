/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over the rows of waits, for the causes; one over the spans, for groups and the longest waits,
 * which a heap of the wanted number keeps; one more over the spans, for who overtook those. */
#include "judge/waiting.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/keys.h"
#include "judge/pairs.h"

/* A wait, for the heap: the shortest first, of equal ones the last of the program. */
struct waited {
    int64_t for_ns;
    uint32_t node;
};

struct work {
    const struct graph *graph;
    const struct timeline *timeline;
    const struct waiting_options *options;
    struct waiting *out;
    struct keys *numbers; /* of groups, by text */
    size_t groups_room;
    weir_text last_group; /* and its number, since neighbours mostly share theirs */
    uint32_t last_number;
    struct waited *heap;
    uint32_t n_heap;
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

static enum weir_status add_group(struct work *work, weir_text group, uint32_t *number)
{
    struct waiting *out = work->out;
    const struct key key = {{group.index, 0, 0, 0}};
    enum weir_status status =
        array_grow(&out->groups, &work->groups_room, (size_t)out->n_groups + 1, work->err);

    if (status == WEIR_OK) {
        status = keys_put(work->numbers, &key, out->n_groups, work->err);
    }
    if (status == WEIR_OK) {
        *number = out->n_groups++;
        out->groups[*number] = (struct waiting_group){.group = group, .longest = {WEIR_NONE}};
    }
    return status;
}

static enum weir_status number_of(struct work *work, weir_text group, uint32_t *number)
{
    const struct key key = {{group.index, 0, 0, 0}};
    enum weir_status status = WEIR_OK;

    if (work->out->n_groups > 0 && weir_same(group, work->last_group)) {
        *number = work->last_number;
        return WEIR_OK;
    }
    *number = keys_find(work->numbers, &key);
    if (*number == KEYS_NONE) {
        status = add_group(work, group, number);
    }
    work->last_group = group;
    work->last_number = *number;
    return status;
}

/* Nodes without a group come last, whoever was first. */
static void put_last(struct waiting *out)
{
    for (uint32_t i = 0; i + 1 < out->n_groups; i++) {
        if (out->groups[i].group.index == 0) {
            struct waiting_group moved = out->groups[i];

            out->groups[i] = out->groups[i + 1];
            out->groups[i + 1] = moved;
        }
    }
}

/* --- the longest ---------------------------------------------------------------------------- */

static bool is_before(const struct waited *a, const struct waited *b)
{
    return a->for_ns != b->for_ns ? a->for_ns < b->for_ns : a->node > b->node;
}

static void sift_down(struct work *work, struct waited item)
{
    uint32_t at = 0;

    for (uint32_t child = 1; child < work->n_heap; child = 2 * at + 1) {
        if (child + 1 < work->n_heap && is_before(&work->heap[child + 1], &work->heap[child])) {
            child++;
        }
        if (!is_before(&work->heap[child], &item)) {
            break;
        }
        work->heap[at] = work->heap[child];
        at = child;
    }
    work->heap[at] = item;
}

static void keep_longest(struct work *work, struct waited item)
{
    uint32_t at = work->n_heap;

    if (at == work->options->n_most) {
        if (at > 0 && is_before(&work->heap[0], &item)) {
            sift_down(work, item);
        }
        return;
    }
    for (; at > 0 && is_before(&item, &work->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        work->heap[at] = work->heap[(at - 1) / 2];
    }
    work->heap[at] = item;
    work->n_heap++;
}

static enum weir_status add_wait(struct work *work, uint32_t node, int64_t for_ns)
{
    struct waiting *out = work->out;
    bool is_over = work->options->bound_ns >= 0 && for_ns > work->options->bound_ns;
    struct waiting_group *group;
    uint32_t number = 0;
    enum weir_status status =
        number_of(work, graph_node_group(work->graph, (weir_node){node}), &number);

    if (status != WEIR_OK) {
        return status;
    }
    group = &out->groups[number];
    group->n_nodes++;
    if (for_ns <= 0) {
        return WEIR_OK;
    }
    group->n_waited++;
    group->n_over += is_over ? 1 : 0;
    group->total_ns = pairs_clamped_add(group->total_ns, for_ns);
    if (for_ns > group->longest_ns) {
        group->longest_ns = for_ns;
        group->longest.index = node;
    }
    out->n_waited++;
    out->n_over += is_over ? 1 : 0;
    out->longest_ns = for_ns > out->longest_ns ? for_ns : out->longest_ns;
    keep_longest(work, (struct waited){for_ns, node});
    return WEIR_OK;
}

/* Was the node ready, and did it not start, when the run could not go on? */
static bool waits_still(const struct timeline *timeline, const struct timeline_span *span)
{
    return span->start_ns < 0 && span->cause != WAIT_NONE && timeline->status != RUN_COMPLETE;
}

static enum weir_status add_nodes(struct work *work)
{
    const struct timeline *timeline = work->timeline;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < timeline->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_span *span = &timeline->spans[i];

        if (span->start_ns >= 0) {
            status = add_wait(work, i, span->start_ns - span->ready_ns);
        } else if (waits_still(timeline, span)) {
            status = add_wait(work, i, timeline->makespan_ns - span->ready_ns);
        }
    }
    put_last(work->out);
    return status;
}

/* --- who overtook ---------------------------------------------------------------------------- */

static int by_length(const void *left, const void *right)
{
    return is_before(left, right) ? 1 : is_before(right, left) ? -1 : 0;
}

static enum weir_status list_longest(struct work *work)
{
    const struct timeline *timeline = work->timeline;
    struct waiting *out = work->out;

    out->longest = calloc((size_t)work->n_heap + 1, sizeof *out->longest);
    if (out->longest == NULL) {
        return weir_error_memory(work->err);
    }
    if (work->n_heap > 0) {
        qsort(work->heap, work->n_heap, sizeof *work->heap, by_length);
    }
    for (uint32_t i = 0; i < work->n_heap; i++) {
        const struct timeline_span *span = &timeline->spans[work->heap[i].node];
        bool has_started = span->start_ns >= 0;

        out->longest[i] = (struct waiting_event){
            .node = {work->heap[i].node},
            .from_ns = span->ready_ns,
            .to_ns = has_started ? span->start_ns : timeline->makespan_ns,
            .has_started = has_started,
            .cause = (enum wait_cause)span->cause,
            .blocker = span->blocker,
        };
    }
    out->n_longest = work->n_heap;
    return WEIR_OK;
}

/* Keeps the first to start. */
static void add_passer(struct waiting_event *event, const struct timeline *timeline, uint32_t node)
{
    uint32_t at = event->n_named, order = timeline->spans[node].order;

    event->n_passers++;
    if (at == WAITING_PASSERS) {
        if (order > timeline->spans[event->passers[at - 1].index].order) {
            return;
        }
        at--;
    } else {
        event->n_named++;
    }
    for (; at > 0 && timeline->spans[event->passers[at - 1].index].order > order; at--) {
        event->passers[at] = event->passers[at - 1];
    }
    event->passers[at].index = node;
}

/* The events by the engine of their nodes: those of engine e are next_event[first_event[e] - 1] and so
 * on, each plus one. */
struct by_engine {
    uint32_t *first, *next;
};

static void find_passers(struct work *work, const struct by_engine *events)
{
    const struct timeline *timeline = work->timeline;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        weir_engine engine = graph_node_engine(work->graph, (weir_node){i});

        if (span->start_ns < 0 || !weir_is(engine)) {
            continue;
        }
        for (uint32_t e = events->first[engine.index]; e != 0; e = events->next[e - 1]) {
            struct waiting_event *event = &work->out->longest[e - 1];

            if (span->ready_ns > event->from_ns && span->ready_ns < event->to_ns &&
                span->order < timeline->spans[event->node.index].order) {
                add_passer(event, timeline, i);
            }
        }
    }
}

static enum weir_status add_passers(struct work *work)
{
    struct waiting *out = work->out;
    struct by_engine events = {
        calloc((size_t)graph_n_engines(work->graph) + 1, sizeof *events.first),
        calloc((size_t)out->n_longest + 1, sizeof *events.next)};

    if (events.first == NULL || events.next == NULL) {
        free(events.first);
        free(events.next);
        return weir_error_memory(work->err);
    }
    for (uint32_t i = 0; i < out->n_longest; i++) {
        weir_engine engine = graph_node_engine(work->graph, out->longest[i].node);

        if (weir_is(engine)) {
            events.next[i] = events.first[engine.index];
            events.first[engine.index] = i + 1;
        }
    }
    if (out->n_longest > 0) {
        find_passers(work, &events);
    }
    free(events.first);
    free(events.next);
    return WEIR_OK;
}

enum weir_status waiting_find(const struct graph *graph, const struct timeline *timeline,
                              const struct waiting_options *options, struct waiting *out,
                              struct weir_error *err)
{
    struct waiting waiting = {.has_bound = options->bound_ns >= 0};
    struct work work = {.graph = graph,
                        .timeline = timeline,
                        .options = options,
                        .out = &waiting,
                        .numbers = keys_new(),
                        .heap = malloc(((size_t)options->n_most + 1) * sizeof *work.heap),
                        .err = err};
    enum weir_status status = WEIR_OK;

    if (work.numbers == NULL || work.heap == NULL) {
        status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        add_causes(&waiting, timeline);
        status = add_nodes(&work);
    }
    if (status == WEIR_OK) {
        status = list_longest(&work);
    }
    if (status == WEIR_OK) {
        status = add_passers(&work);
    }
    keys_free(work.numbers);
    free(work.heap);
    if (status != WEIR_OK) {
        waiting_free(&waiting);
        return status;
    }
    *out = waiting;
    return WEIR_OK;
}

void waiting_free(struct waiting *waiting)
{
    free(waiting->groups);
    free(waiting->longest);
    *waiting = (struct waiting){.n_groups = 0};
}
