/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling a realized order, and timing it. Positions follow the order of starts, so that every edge
 * leads from a lower one to a higher one, and mostly from one near by. */
#include "sim/retime.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/retime_internal.h"

/* --- slots of engines ----------------------------------------------------------------------- */

/* Who had a slot last, until when. */
struct holder {
    int64_t finish_ns;
    uint32_t position;
};

/* Slots of an engine that have been used: a binary heap, the one that was free first at the root. */
struct slots {
    struct holder *heap;
    size_t room;
    uint32_t n;
};

static bool holder_before(const struct holder *a, const struct holder *b)
{
    return a->finish_ns != b->finish_ns ? a->finish_ns < b->finish_ns : a->position < b->position;
}

static void sift_up(struct slots *slots, uint32_t at, struct holder holder)
{
    while (at > 0 && holder_before(&holder, &slots->heap[(at - 1) / 2])) {
        slots->heap[at] = slots->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    slots->heap[at] = holder;
}

static void replace_root(struct slots *slots, struct holder holder)
{
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < slots->n && holder_before(&slots->heap[child + 1], &slots->heap[child])) {
            child++;
        }
        if (child >= slots->n || !holder_before(&slots->heap[child], &holder)) {
            break;
        }
        slots->heap[at] = slots->heap[child];
        at = child;
    }
    slots->heap[at] = holder;
}

/* The node takes the slot that has been free for longest, or one that nobody has had. A node of
 * length 0 takes one as well: so engines keep their order whatever the lengths are. */
static enum weir_status take_slot(struct retime_build *build, struct slots *slots, weir_node node)
{
    weir_engine engine = graph_node_engine(build->graph, node);
    const struct timeline_span *span = retime_span(build, node);
    uint32_t position = build->position[node.index];
    struct holder holder = {span->finish_ns, position}, before;
    enum weir_status status;

    if (!weir_is(engine)) {
        return WEIR_OK;
    }
    slots += engine.index;
    if (slots->n < graph_engine(build->graph, engine)->slots) {
        status = array_grow(&slots->heap, &slots->room, (size_t)slots->n + 1, build->err);
        if (status == WEIR_OK) {
            build->slot[position] = build->n_slots++;
            sift_up(slots, slots->n++, holder);
        }
        return status;
    }
    before = slots->heap[0];
    if (before.finish_ns > span->start_ns) {
        return weir_error_set(build->err, WEIR_INPUT,
                              "node %s starts while every slot of engine %s is taken: the timeline "
                              "is not one of this graph on its machine",
                              graph_node_name(build->graph, node),
                              graph_text(build->graph, graph_engine(build->graph, engine)->name));
    }
    build->slot[position] = build->slot[before.position];
    replace_root(slots, holder);
    return retime_add_link(build, before.position, position);
}

/* --- all of it ------------------------------------------------------------------------------ */

static enum weir_status place_node(struct retime_build *build, struct retime_overlaps *overlaps,
                                   struct slots *slots, weir_node node)
{
    enum weir_status status = overlaps == NULL ? WEIR_OK : retime_overlaps_before(overlaps, node);

    if (status == WEIR_OK) {
        status = retime_add_position(build, node, &build->position[node.index]);
    }
    if (status == WEIR_OK && overlaps != NULL) {
        status = retime_overlaps_after(overlaps, node);
    }
    return status == WEIR_OK ? take_slot(build, slots, node) : status;
}

static enum weir_status place_in_order(struct retime_build *build, struct retime_overlaps *overlaps,
                                       struct slots *slots)
{
    const weir_node none = {WEIR_NONE};
    enum weir_status status = WEIR_OK;
    uint32_t passing = 0;

    for (uint32_t i = 0; i < build->n_started && status == WEIR_OK; i++) {
        for (;
             passing < build->n_passings && build->passings[passing].key <= i && status == WEIR_OK;
             passing++) {
            uint32_t *position = &build->position[build->passings[passing].node.index];

            status = retime_add_position(build, none, position);
        }
        status = status == WEIR_OK ? place_node(build, overlaps, slots, build->order[i]) : status;
    }
    return status;
}

static enum weir_status place_all(struct retime_build *build)
{
    uint32_t n_engines = graph_n_engines(build->graph);
    struct slots *slots = calloc((size_t)n_engines + 1, sizeof *slots);
    struct retime_overlaps *overlaps = NULL;
    enum weir_status status = slots == NULL ? weir_error_memory(build->err) : WEIR_OK;

    if (status == WEIR_OK) {
        status = retime_overlaps_new(build, &overlaps);
    }
    if (status == WEIR_OK) {
        status = place_in_order(build, overlaps, slots);
    }
    for (uint32_t i = 0; slots != NULL && i < n_engines; i++) {
        free(slots[i].heap);
    }
    free(slots);
    retime_overlaps_free(overlaps);
    return status;
}

/* What a policy held starts no earlier than it let it go. */
static enum weir_status keep_admissions(struct retime_build *build)
{
    const struct timeline *timeline = build->timeline;
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < timeline->n_waits && status == WEIR_OK; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];

        if (wait->cause == WAIT_ADMISSION && retime_did_run(build, wait->node)) {
            status = retime_not_before(build, wait->node, wait->to_ns);
        }
    }
    return status;
}

static enum weir_status compile(struct retime_build *build)
{
    size_t n_nodes = build->timeline->n_nodes;
    enum weir_status status =
        timeline_order(build->timeline, &build->order, &build->n_started, build->err);

    if (status != WEIR_OK) {
        return status;
    }
    build->position = malloc((n_nodes + 1) * sizeof *build->position);
    if (build->position == NULL) {
        return weir_error_memory(build->err);
    }
    memset(build->position, 0xff, n_nodes * sizeof *build->position); /* WEIR_NONE */
    status = keep_admissions(build);
    if (status == WEIR_OK) {
        status = retime_order_bytes(build);
    }
    if (status == WEIR_OK && build->n_started < n_nodes) {
        status = retime_find_passings(build);
    }
    if (status == WEIR_OK) {
        status = place_all(build);
    }
    if (status == WEIR_OK) {
        status = retime_write_edges(build);
    }
    return status == WEIR_OK ? retime_trim(build) : status;
}

static void clear_away(struct retime_build *build)
{
    free(build->order);
    free(build->position);
    free(build->not_before_ns);
    free(build->pairs);
    free(build->links);
    free(build->slot);
    free(build->passings);
}

enum weir_status retime_make(const struct binding *binding, const struct timeline *timeline,
                             const struct simulate_options *options, struct retime *out,
                             struct weir_error *err)
{
    struct retime made = {0};
    struct retime_build build = {.binding = binding,
                                 .graph = bind_of(binding),
                                 .timeline = timeline,
                                 .options = options,
                                 .out = &made,
                                 .err = err};
    enum weir_status status;

    if (timeline->status != RUN_COMPLETE) {
        return weir_error_set(err, WEIR_INPUT,
                              "the run ended in a %s: only a complete one has an order to keep",
                              run_status_name(timeline->status));
    }
    status = compile(&build);
    clear_away(&build);
    if (status != WEIR_OK) {
        retime_free(&made);
        return status;
    }
    *out = made;
    return WEIR_OK;
}

void retime_free(struct retime *retime)
{
    free(retime->nodes);
    free(retime->first);
    free(retime->from);
    free(retime->lag_ns);
    free(retime->release_ns);
    *retime = (struct retime){0};
}

void retime_lengths(const struct retime *retime, const struct timeline *timeline,
                    int64_t *length_ns)
{
    for (uint32_t i = 0; i < retime->n_nodes; i++) {
        weir_node node = retime->nodes[i];

        length_ns[i] = weir_is(node) ? timeline->spans[node.index].finish_ns -
                                           timeline->spans[node.index].start_ns
                                     : 0;
    }
}

/* --- timing --------------------------------------------------------------------------------- */

/* Sums of two times that are not negative: one that passes 2^63 shows as a negative number, which
 * `passed` keeps. Unsigned, since that is what happens when they do. */
struct clock {
    const struct retime *retime;
    const int64_t *length_ns;
    int64_t *start_ns;
    uint64_t passed;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t sum(struct clock *clock, int64_t a, int64_t b)
{
    uint64_t total = (uint64_t)a + (uint64_t)b;

    clock->passed |= total;
    return (int64_t)total;
}

/* When the producer lets the edge go: it was timed before, so that the sum is known. */
static int64_t let_go_ns(const struct clock *clock, uint32_t from)
{
    uint32_t q = from & ~RETIME_FROM_START;
    int64_t length_ns = from == q ? clock->length_ns[q] : 0;

    return (int64_t)((uint64_t)clock->start_ns[q] + (uint64_t)length_ns);
}

/* No edge has a lag: what mostly is so. */
static int64_t pass_plain(struct clock *clock)
{
    const struct retime *retime = clock->retime;
    int64_t last_ns = 0;
    const uint32_t *from = retime->from;

    for (uint32_t p = 0; p < retime->n_nodes; p++) {
        const uint32_t *end = retime->from + retime->first[p + 1];
        int64_t start_ns = retime->release_ns == NULL ? 0 : retime->release_ns[p];

        for (; from < end; from++) {
            start_ns = later(start_ns, let_go_ns(clock, *from));
        }
        clock->start_ns[p] = start_ns;
        last_ns = later(last_ns, sum(clock, start_ns, clock->length_ns[p]));
    }
    return last_ns;
}

static int64_t pass_lags(struct clock *clock)
{
    const struct retime *retime = clock->retime;
    int64_t last_ns = 0;

    for (uint32_t p = 0; p < retime->n_nodes; p++) {
        int64_t start_ns = retime->release_ns == NULL ? 0 : retime->release_ns[p];

        for (uint32_t i = retime->first[p]; i < retime->first[p + 1]; i++) {
            start_ns =
                later(start_ns, sum(clock, let_go_ns(clock, retime->from[i]), retime->lag_ns[i]));
        }
        clock->start_ns[p] = start_ns;
        last_ns = later(last_ns, sum(clock, start_ns, clock->length_ns[p]));
    }
    return last_ns;
}

int64_t retime_pass(const struct retime *retime, const int64_t *length_ns, int64_t *start_ns)
{
    struct clock clock = {retime, length_ns, start_ns, 0};
    int64_t last_ns = retime->lag_ns == NULL ? pass_plain(&clock) : pass_lags(&clock);

    return clock.passed > INT64_MAX ? INT64_MAX : last_ns;
}
