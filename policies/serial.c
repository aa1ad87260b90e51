/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serial scheme. What is taken of a domain or an engine over time is a row of steps; a start is
 * moved to where the next step goes down until every resource that the node needs has room. */
#include "policies/serial.h"

#include <string.h>

/* Taken from time_ns on, until the next step. */
struct step {
    int64_t time_ns, taken;
};

/* A domain, in bytes, or an engine, in slots. */
struct level {
    struct step *steps; /* the first at 0, the last with nothing taken */
    uint32_t n_steps, room;
    int64_t most;
};

/* What a node needs of a level. */
struct need {
    struct level *level;
    int64_t amount;
};

struct serial {
    struct weir_setup *setup;
    const struct weir_view *view;
    const struct links *links;
    const uint32_t *rank;
    struct level *levels; /* the domains, then the engines */
    struct need *needs;   /* of the node that is placed: domains, then its engine */
    uint32_t n_needs;
    uint32_t *heap; /* nodes that may be placed, the least rank first */
    uint32_t n_heap;
    uint32_t *n_before;
    int64_t *ready_ns;
    int64_t *start_ns;
    struct weir_error *err;
};

/* --- levels ----------------------------------------------------------------------------------- */

/* The last step that is not later than the time. */
static uint32_t step_at(const struct level *level, int64_t time_ns)
{
    uint32_t low = 0, high = level->n_steps;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (level->steps[middle].time_ns <= time_ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The earliest start, not before the one given, from which on so much is free for that long. */
static int64_t earliest_fit(const struct level *level, int64_t start_ns, int64_t length_ns,
                            int64_t need)
{
    int64_t spare = level->most - need;

    if (need <= 0 || spare < 0) {
        return start_ns;
    }
    for (uint32_t i = step_at(level, start_ns); i < level->n_steps; i++) {
        if (level->steps[i].time_ns > start_ns && level->steps[i].time_ns - start_ns >= length_ns) {
            break;
        }
        if (level->steps[i].taken > spare) {
            start_ns = level->steps[i + 1].time_ns; /* the last step is not above anything */
        }
    }
    return start_ns;
}

static enum weir_status make_room(struct serial *serial, struct level *level)
{
    struct step *steps;

    if (level->n_steps + 2 <= level->room) {
        return WEIR_OK;
    }
    level->room = level->room == 0 ? 16 : 2 * level->room;
    steps = serial->setup->alloc(serial->setup, level->room * sizeof *steps);
    if (steps == NULL) {
        return weir_error_memory(serial->err);
    }
    if (level->n_steps > 0) {
        memcpy(steps, level->steps, level->n_steps * sizeof *steps);
    }
    level->steps = steps;
    level->n_steps = level->n_steps == 0 ? 1 : level->n_steps; /* zeroed: nothing, from 0 on */
    return WEIR_OK;
}

/* A step at that time, without a change. @return its place */
static uint32_t cut(struct level *level, int64_t time_ns)
{
    uint32_t at = step_at(level, time_ns);

    if (level->steps[at].time_ns == time_ns) {
        return at;
    }
    memmove(&level->steps[at + 2], &level->steps[at + 1],
            (level->n_steps - at - 1) * sizeof *level->steps);
    level->steps[at + 1] = (struct step){time_ns, level->steps[at].taken};
    level->n_steps++;
    return at + 1;
}

static enum weir_status take(struct serial *serial, struct level *level, int64_t start_ns,
                             int64_t finish_ns, int64_t need)
{
    enum weir_status status;
    uint32_t from, to;

    if (need <= 0 || need > level->most || finish_ns == start_ns) {
        return WEIR_OK;
    }
    status = make_room(serial, level);
    if (status != WEIR_OK) {
        return status;
    }
    from = cut(level, start_ns);
    to = cut(level, finish_ns);
    for (uint32_t i = from; i < to; i++) {
        level->steps[i].taken += need;
    }
    return WEIR_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static uint32_t n_levels(const struct weir_view *view)
{
    return view->n_domains + view->n_engines;
}

static void find_needs(struct serial *serial, weir_node node)
{
    const struct weir_view *view = serial->view;
    weir_engine engine = view->node_engine(view, node);

    serial->n_needs = 0;
    for (uint32_t i = 0; i < view->n_domains; i++) {
        int64_t bytes = view->node_workspace_bytes(view, node, (weir_domain){i});

        if (bytes > 0) {
            serial->needs[serial->n_needs++] = (struct need){&serial->levels[i], bytes};
        }
    }
    if (weir_is(engine)) {
        serial->needs[serial->n_needs++] =
            (struct need){&serial->levels[view->n_domains + engine.index], 1};
    }
}

static enum weir_status too_late(const struct serial *serial, weir_node node)
{
    return weir_error_set(serial->err, WEIR_INPUT,
                          "node %s: its planned finish passes 2^63 ns; expected less: give lengths "
                          "and lags in their true units",
                          serial->view->node_name(serial->view, node));
}

/* Moves the start on until every level has room, and takes it there. */
static enum weir_status place(struct serial *serial, weir_node node, int64_t *finish_ns)
{
    const struct weir_view *view = serial->view;
    int64_t length_ns =
        view->node_latest_finish_ns(view, node) - view->node_latest_start_ns(view, node);
    int64_t start_ns = serial->ready_ns[node.index], before_ns;
    enum weir_status status = WEIR_OK;

    find_needs(serial, node);
    do {
        before_ns = start_ns;
        for (uint32_t i = 0; i < serial->n_needs; i++) {
            start_ns =
                earliest_fit(serial->needs[i].level, start_ns, length_ns, serial->needs[i].amount);
        }
    } while (start_ns != before_ns);
    if (__builtin_add_overflow(start_ns, length_ns, finish_ns)) {
        return too_late(serial, node);
    }
    for (uint32_t i = 0; i < serial->n_needs && status == WEIR_OK; i++) {
        status =
            take(serial, serial->needs[i].level, start_ns, *finish_ns, serial->needs[i].amount);
    }
    serial->start_ns[node.index] = start_ns;
    return status;
}

static bool goes_before(const struct serial *serial, uint32_t a, uint32_t b)
{
    return serial->rank[serial->heap[a]] < serial->rank[serial->heap[b]];
}

static void swap(struct serial *serial, uint32_t a, uint32_t b)
{
    uint32_t node = serial->heap[a];

    serial->heap[a] = serial->heap[b];
    serial->heap[b] = node;
}

static void push(struct serial *serial, uint32_t node)
{
    uint32_t at = serial->n_heap++;

    serial->heap[at] = node;
    for (; at > 0 && goes_before(serial, at, (at - 1) / 2); at = (at - 1) / 2) {
        swap(serial, at, (at - 1) / 2);
    }
}

static uint32_t pop(struct serial *serial)
{
    uint32_t first = serial->heap[0], at = 0;

    serial->heap[0] = serial->heap[--serial->n_heap];
    for (;;) {
        uint32_t least = at;

        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < serial->n_heap; child++) {
            least = goes_before(serial, child, least) ? child : least;
        }
        if (least == at) {
            return first;
        }
        swap(serial, at, least);
        at = least;
    }
}

/* The node has its start: those that wait for it are one nearer to theirs. */
static enum weir_status pass_on(struct serial *serial, weir_node node, int64_t finish_ns)
{
    const struct links *links = serial->links;

    for (uint32_t i = links->first[node.index]; i < links->first[node.index + 1]; i++) {
        const struct weir_link *link = &links->items[i];
        int64_t *ready_ns = &serial->ready_ns[link->node.index];
        int64_t from_ns = link->is_from_start ? serial->start_ns[node.index] : finish_ns, at_ns;

        if (__builtin_add_overflow(from_ns, link->lag_ns, &at_ns)) {
            return too_late(serial, link->node);
        }
        *ready_ns = at_ns > *ready_ns ? at_ns : *ready_ns;
        if (--serial->n_before[link->node.index] == 0) {
            push(serial, link->node.index);
        }
    }
    return WEIR_OK;
}

static enum weir_status begin(struct serial *serial)
{
    const struct weir_view *view = serial->view;
    size_t n = (size_t)view->n_nodes + 1;
    enum weir_status status = WEIR_OK;

    serial->levels =
        serial->setup->alloc(serial->setup, ((size_t)n_levels(view) + 1) * sizeof *serial->levels);
    serial->needs =
        serial->setup->alloc(serial->setup, ((size_t)view->n_domains + 1) * sizeof *serial->needs);
    serial->heap = serial->setup->alloc(serial->setup, n * sizeof *serial->heap);
    serial->n_before = serial->setup->alloc(serial->setup, n * sizeof *serial->n_before);
    serial->ready_ns = serial->setup->alloc(serial->setup, n * sizeof *serial->ready_ns);
    if (serial->levels == NULL || serial->needs == NULL || serial->heap == NULL ||
        serial->n_before == NULL || serial->ready_ns == NULL) {
        return weir_error_memory(serial->err);
    }
    for (uint32_t i = 0; i < n_levels(view) && status == WEIR_OK; i++) {
        struct level *level = &serial->levels[i];

        level->most = i < view->n_domains
                          ? view->domain_room_bytes(view, (weir_domain){i})
                          : view->engine_slots(view, (weir_engine){i - view->n_domains});
        status = make_room(serial, level);
    }
    for (uint32_t i = 0; i < serial->links->first[view->n_nodes]; i++) {
        serial->n_before[serial->links->items[i].node.index]++;
    }
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        serial->ready_ns[i] = view->node_earliest_ns(view, (weir_node){i});
        if (serial->n_before[i] == 0) {
            push(serial, i);
        }
    }
    return status;
}

enum weir_status serial_schedule(struct weir_setup *setup, const struct weir_view *view,
                                 const struct links *links, const uint32_t *rank, int64_t *start_ns,
                                 struct weir_error *err)
{
    struct serial serial = {.setup = setup,
                            .view = view,
                            .links = links,
                            .rank = rank,
                            .start_ns = start_ns,
                            .err = err};
    enum weir_status status = begin(&serial);

    while (status == WEIR_OK && serial.n_heap > 0) {
        weir_node node = {pop(&serial)};
        int64_t finish_ns;

        status = place(&serial, node, &finish_ns);
        if (status == WEIR_OK) {
            status = pass_on(&serial, node, finish_ns);
        }
    }
    return status;
}
