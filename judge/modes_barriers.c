/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Barriers that cost time: a node behind one started late, though all that it has bytes in common with,
 * and all its other edges, were done long before, and its engine stood idle meanwhile. Of barriers with
 * one node before them or one behind nothing is told: they are edges. */
#include <stdlib.h>

#include "judge/modes_internal.h"

/* Of each copy, over the nodes that started so far: when the last that changes it, and the last that
 * touches it, has finished. */
struct uses {
    int64_t *changed_ns, *touched_ns;
};

static void use(struct modes *modes, uint32_t node, const struct uses *uses)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);
    int64_t finish_ns = modes_span(modes, node)->finish_ns;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t copy = touches[i].copy.index;

        if (finish_ns > uses->touched_ns[copy]) {
            uses->touched_ns[copy] = finish_ns;
        }
        if ((touches[i].roles & ~(uint32_t)BIND_READS) != 0 && finish_ns > uses->changed_ns[copy]) {
            uses->changed_ns[copy] = finish_ns;
        }
    }
}

/* When all that the node has bytes in common with had finished. */
static int64_t bytes_ready_ns(const struct modes *modes, uint32_t node, const struct uses *uses)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);
    int64_t ready_ns = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t copy = touches[i].copy.index;
        int64_t at_ns = (touches[i].roles & ~(uint32_t)BIND_READS) != 0 ? uses->touched_ns[copy]
                                                                        : uses->changed_ns[copy];

        ready_ns = at_ns > ready_ns ? at_ns : ready_ns;
    }
    return ready_ns;
}

/* The barrier whose edge made the node ready, and who made the barrier wait; false when none did. */
static bool find_barrier(struct modes *modes, uint32_t node, uint32_t *barrier, uint32_t *last)
{
    uint32_t n, n_in, n_out;
    const struct adjacent *before = modes_before(modes, node, &n);
    const struct timeline_span *span = modes_span(modes, node);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t producer = before[i].consumer;
        const struct adjacent *of;

        if (!modes_ran(modes, producer) ||
            graph_node_kind(modes->graph, (weir_node){producer}) != NODE_BARRIER ||
            modes_edge_end(modes, producer, before[i].edge) != span->ready_ns ||
            modes_span(modes, producer)->start_ns != modes_span(modes, producer)->ready_ns) {
            continue;
        }
        (void)modes_after(modes, producer, &n_out);
        of = modes_before(modes, producer, &n_in);
        modes->n_steps += n_in;
        for (uint32_t j = 0; n_in > 1 && n_out > 1 && j < n_in; j++) {
            if (modes_ran(modes, of[j].consumer) &&
                modes_edge_end(modes, of[j].consumer, of[j].edge) ==
                    modes_span(modes, producer)->ready_ns) {
                *barrier = producer;
                *last = of[j].consumer;
                return true;
            }
        }
    }
    return false;
}

static enum weir_status look_at(struct modes *modes, uint32_t node, const struct uses *uses,
                                struct modes_cases *cases)
{
    const struct timeline_span *span = modes_span(modes, node);
    uint32_t barrier, last;
    struct modes_instead instead;
    int64_t needed_ns, ready_ns;
    struct modes_case one = {0};

    if (span->start_ns != span->ready_ns || span->finish_ns == span->start_ns ||
        modes->n_steps > MODES_MOST_STEPS || !find_barrier(modes, node, &barrier, &last) ||
        modes_share_bytes(modes, node, last)) {
        return WEIR_OK;
    }
    instead = (struct modes_instead){barrier, -1};
    needed_ns = bytes_ready_ns(modes, node, uses);
    ready_ns = modes_ready(modes, node, &instead, 1);
    ready_ns = needed_ns > ready_ns ? needed_ns : ready_ns;
    one.cost = span->start_ns - modes_could_start(modes, node, ready_ns, WEIR_NONE, NULL, 0);
    one.ids[0] = barrier;
    one.ids[1] = node;
    one.ids[2] = last;
    one.times[0] = ready_ns;
    return one.cost > 0 ? modes_add(modes, cases, &one) : WEIR_OK;
}

static int by_barrier(const void *left, const void *right)
{
    const struct modes_case *a = left, *b = right;

    if (a->ids[0] != b->ids[0]) {
        return a->ids[0] < b->ids[0] ? -1 : 1;
    }
    if (a->cost != b->cost) {
        return a->cost > b->cost ? -1 : 1;
    }
    return (a->ids[1] > b->ids[1]) - (a->ids[1] < b->ids[1]);
}

/* Of each barrier the node that it cost most. */
static void keep_worst(struct modes_cases *cases)
{
    size_t n = 0;

    if (cases->n == 0) {
        return;
    }
    qsort(cases->items, cases->n, sizeof *cases->items, by_barrier);
    for (size_t i = 0; i < cases->n; i++) {
        if (i == 0 || cases->items[i].ids[0] != cases->items[n - 1].ids[0]) {
            cases->items[n++] = cases->items[i];
        }
    }
    cases->n = n;
}

static void tell(struct modes *modes, const struct modes_case *one)
{
    const char *barrier = modes_node(modes, one->ids[0]), *node = modes_node(modes, one->ids[1]);
    const char *last = modes_node(modes, one->ids[2]);
    char cost[NUMBER_TEXT_BYTES], ready[NUMBER_TEXT_BYTES];

    number_time_text(one->cost, cost);
    number_time_text(one->times[0], ready);
    report_add(
        modes->report, FINDING_BARRIER_DELAYS, MODES_NOWHERE,
        "%s waits %s at barrier %s for %s, with which it has no bytes in common: all that it "
        "needs was there at %s",
        node, cost, barrier, last, ready);
    report_name(modes->report, barrier);
    report_name(modes->report, node);
    report_name(modes->report, last);
}

static enum weir_status find_all(struct modes *modes, const struct uses *uses,
                                 struct modes_cases *cases)
{
    weir_node *order = NULL;
    uint32_t n = 0;
    enum weir_status status = timeline_order(modes->timeline, &order, &n, modes->err);

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = look_at(modes, order[i].index, uses, cases);
        use(modes, order[i].index, uses);
    }
    free(order);
    return status;
}

enum weir_status modes_barriers(struct modes *modes)
{
    size_t n_copies = (size_t)bind_n_copies(modes->binding) + 1;
    struct modes_cases cases = {NULL, 0, 0};
    struct uses uses = {NULL, NULL};
    enum weir_status status;

    if (modes->n_kind[NODE_BARRIER] == 0) {
        return WEIR_OK;
    }
    uses.changed_ns = calloc(n_copies, sizeof *uses.changed_ns);
    uses.touched_ns = calloc(n_copies, sizeof *uses.touched_ns);
    status = uses.changed_ns == NULL || uses.touched_ns == NULL ? weir_error_memory(modes->err)
                                                                : find_all(modes, &uses, &cases);
    free(uses.changed_ns);
    free(uses.touched_ns);
    keep_worst(&cases);
    modes_tell(modes, &cases, FINDING_BARRIER_DELAYS, modes->least_ns, number_time_text, tell);
    return status;
}
