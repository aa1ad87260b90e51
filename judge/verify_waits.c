/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits: the stretches of each node reach from when it was ready to when it started, and what each
 * says was in the way all the while. Every question is asked of instants that have settled. */
#include <inttypes.h>
#include <stdlib.h>

#include "judge/verify_during.h"
#include "judge/verify_room.h"

struct waiting {
    struct verify *verify;
    size_t *first, *rows; /* by node: its rows, in the order in which they stand */
    struct during full;   /* by engine: it has no free slot */
    struct apart pairs;
    struct during keys, classes; /* by key of pairs, by class: some node of it runs */
    bool has_pairs;
    struct room room;
    struct verify_need *needs;
};

/* --- what the stretches are asked about -------------------------------------------------------- */

static enum weir_status index_rows(struct waiting *waiting)
{
    const struct timeline *timeline = waiting->verify->timeline;
    size_t n_nodes = timeline->n_nodes;

    waiting->first = calloc(n_nodes + 2, sizeof *waiting->first);
    waiting->rows = malloc((timeline->n_waits + 1) * sizeof *waiting->rows);
    if (waiting->first == NULL || waiting->rows == NULL) {
        return weir_error_memory(waiting->verify->err);
    }
    for (size_t i = 0; i < timeline->n_waits; i++) {
        waiting->first[timeline->waits[i].node.index + 2]++;
    }
    for (size_t i = 1; i < n_nodes + 2; i++) {
        waiting->first[i] += waiting->first[i - 1];
    }
    for (size_t i = 0; i < timeline->n_waits; i++) {
        waiting->rows[waiting->first[timeline->waits[i].node.index + 1]++] = i;
    }
    return WEIR_OK;
}

static size_t add_both(struct during_change *changes, size_t n, uint32_t id,
                       const struct timeline_span *span)
{
    changes[n++] = (struct during_change){id, 1, span->start_ns};
    if (span->finish_ns >= 0) {
        changes[n++] = (struct during_change){id, -1, span->finish_ns};
    }
    return n;
}

static enum weir_status find_full(struct waiting *waiting, struct during_change *changes)
{
    struct verify *verify = waiting->verify;
    int64_t *slots = malloc(((size_t)verify->n_engines + 1) * sizeof *slots);
    size_t n = 0;
    enum weir_status status;

    if (slots == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_engines; i++) {
        slots[i] = graph_engine(verify->graph, (weir_engine){i})->slots;
    }
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;

        if (verify->nodes[node].engine != NONE && !verify->nodes[node].is_lengthless) {
            n = add_both(changes, n, verify->nodes[node].engine, &verify->timeline->spans[node]);
        }
    }
    status = during_make(changes, n, slots, verify->n_engines, &waiting->full, verify->err);
    free(slots);
    return status;
}

static enum weir_status find_running(struct waiting *waiting, struct during_change *changes)
{
    struct verify *verify = waiting->verify;
    size_t n = 0;
    enum weir_status status;

    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index, keys[2];

        apart_keys(&waiting->pairs, node, keys);
        for (int j = 0; j < 2 && !verify->nodes[node].is_lengthless; j++) {
            if (keys[j] != NONE) {
                n = add_both(changes, n, keys[j], &verify->timeline->spans[node]);
            }
        }
    }
    status = during_make(changes, n, NULL, waiting->pairs.n_keys, &waiting->keys, verify->err);
    n = 0;
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        weir_class class_ = graph_node_class(verify->graph, (weir_node){node});

        if (weir_is(class_) && !verify->nodes[node].is_lengthless) {
            n = add_both(changes, n, class_.index, &verify->timeline->spans[node]);
        }
    }
    return status == WEIR_OK ? during_make(changes, n, NULL, graph_n_classes(verify->graph),
                                           &waiting->classes, verify->err)
                             : status;
}

static enum weir_status waiting_begin(struct waiting *waiting)
{
    struct verify *verify = waiting->verify;
    bool is_unknown = verify->unknown == UNKNOWN_IS_FORBIDDEN;
    struct during_change *changes = malloc((4 * (size_t)verify->n_started + 1) * sizeof *changes);
    enum weir_status status = index_rows(waiting);

    waiting->needs = malloc(verify_most_needs(verify) * sizeof *waiting->needs);
    if (status == WEIR_OK && (changes == NULL || waiting->needs == NULL)) {
        status = weir_error_memory(verify->err);
    }
    if (status == WEIR_OK) {
        status = find_full(waiting, changes);
    }
    if (status == WEIR_OK) {
        status =
            apart_make(verify, OVERLAP_FORBIDDEN, is_unknown ? OVERLAP_UNKNOWN : OVERLAP_FORBIDDEN,
                       is_unknown && verify->family == FAMILY_PAIRWISE, &waiting->pairs);
        waiting->has_pairs = status == WEIR_OK && !apart_is_none(&waiting->pairs);
    }
    if (status == WEIR_OK && waiting->has_pairs) {
        status = find_running(waiting, changes);
    }
    if (status == WEIR_OK) {
        status = room_begin(verify, &waiting->room);
    }
    free(changes);
    return status;
}

static void waiting_free(struct waiting *waiting)
{
    free(waiting->first);
    free(waiting->rows);
    during_free(&waiting->full);
    during_free(&waiting->keys);
    during_free(&waiting->classes);
    apart_free(&waiting->pairs);
    if (waiting->room.verify != NULL) {
        room_free(&waiting->room);
    }
    free(waiting->needs);
}

/* --- for how long a cause holds ---------------------------------------------------------------- */

/* When the next of the copies begins that the node might begin, after that time: then it needs less. */
static int64_t next_begin(const struct verify *verify, uint32_t node, int64_t t_ns)
{
    int64_t next_ns = NEVER_NS;

    for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
        int64_t begin_ns = verify->copies[verify->touches[i].copy].begin.ns;

        if (verify_may_begin(verify, &verify->touches[i]) && begin_ns > t_ns &&
            begin_ns < next_ns) {
            next_ns = begin_ns;
        }
    }
    return next_ns;
}

static enum weir_status short_until(struct waiting *waiting, uint32_t node, int64_t t_ns,
                                    int64_t *until_ns)
{
    struct verify *verify = waiting->verify;
    uint32_t n = verify_needs_at(verify, node, t_ns, waiting->needs);
    int64_t next_ns = next_begin(verify, node, t_ns), most_ns = t_ns, one_ns = t_ns;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = room_short_until(&waiting->room, waiting->needs[i].domain, waiting->needs[i].bytes,
                                  t_ns, &one_ns);
        most_ns = one_ns > most_ns ? one_ns : most_ns;
    }
    *until_ns = most_ns > t_ns && next_ns < most_ns ? next_ns : most_ns;
    return status;
}

static int64_t later(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t apart_until(const struct waiting *waiting, uint32_t node, int64_t t_ns)
{
    const struct apart *pairs = &waiting->pairs;
    weir_class class_ = graph_node_class(waiting->verify->graph, (weir_node){node});
    uint32_t keys[2], known;
    int64_t until_ns = t_ns;

    apart_keys(pairs, node, keys);
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = keys[i] == NONE ? 0 : pairs->first[keys[i]];
             keys[i] != NONE && j < pairs->first[keys[i] + 1]; j++) {
            until_ns = later(until_ns, during_until(&waiting->keys, pairs->partners[j], t_ns));
        }
    }
    if (!pairs->has_unlisted || !weir_is(class_)) {
        return until_ns;
    }
    known = pairs->known_first[class_.index];
    for (uint32_t i = 0; i < graph_n_classes(waiting->verify->graph); i++) {
        if (known < pairs->known_first[class_.index + 1] && pairs->known[known] == i) {
            known++;
        } else {
            until_ns = later(until_ns, during_until(&waiting->classes, i, t_ns));
        }
    }
    return until_ns;
}

/* Until when that was in the node's way without a gap, from that time on; that time when it was not. */
static enum weir_status holds_until(struct waiting *waiting, const struct timeline_wait *wait,
                                    int64_t t_ns, int64_t *until_ns)
{
    uint32_t node = wait->node.index, engine = waiting->verify->nodes[node].engine;

    *until_ns = t_ns;
    switch (wait->cause) {
    case WAIT_ENGINE:
        *until_ns = engine == NONE ? t_ns : during_until(&waiting->full, engine, t_ns);
        return WEIR_OK;
    case WAIT_CAPACITY:
        return short_until(waiting, node, t_ns, until_ns);
    case WAIT_OVERLAP:
        if (waiting->has_pairs && !waiting->verify->nodes[node].is_lengthless) {
            *until_ns = apart_until(waiting, node, t_ns);
        }
        return WEIR_OK;
    case WAIT_ADMISSION:
        *until_ns = waiting->verify->options.is_steered ? NEVER_NS : t_ns;
        return WEIR_OK;
    case WAIT_NONE:
        return WEIR_OK;
    }
    return WEIR_OK;
}

static void tell_cause(struct verify *verify, const struct timeline_wait *wait, int64_t t_ns)
{
    verify_add(verify, verify_at(VERIFY_WAIT_CAUSE, wait->node.index, t_ns),
               "node %s is said to wait for %s from %" PRId64 " to %" PRId64 " ns, and at %" PRId64
               " ns that was not in its way",
               node_name(verify, wait->node.index), wait_cause_name(wait->cause), wait->from_ns,
               wait->to_ns, t_ns);
}

/* One that lacks bytes may have had room for a while when its engine had no slot for it, and lacked them
 * again after that: it is told as one stretch. */
static int64_t full_until(const struct waiting *waiting, const struct timeline_wait *wait,
                          int64_t t_ns)
{
    uint32_t engine = waiting->verify->nodes[wait->node.index].engine;

    return wait->cause == WAIT_CAPACITY && t_ns > wait->from_ns && engine != NONE
               ? during_until(&waiting->full, engine, t_ns)
               : t_ns;
}

static enum weir_status check_cause(struct waiting *waiting, const struct timeline_wait *wait)
{
    int64_t t_ns = wait->from_ns, until_ns;
    enum weir_status status = WEIR_OK;

    while (t_ns < wait->to_ns && status == WEIR_OK) {
        status = holds_until(waiting, wait, t_ns, &until_ns);
        if (until_ns == t_ns) {
            until_ns = full_until(waiting, wait, t_ns);
            if (until_ns >= wait->to_ns) { /* then it must have lacked them at last */
                t_ns = wait->to_ns - 1;
                status = status == WEIR_OK ? holds_until(waiting, wait, t_ns, &until_ns) : status;
            }
        }
        if (status == WEIR_OK && until_ns == t_ns) {
            tell_cause(waiting->verify, wait, t_ns);
            return WEIR_OK;
        }
        t_ns = until_ns;
    }
    return status;
}

/* --- who gave way ------------------------------------------------------------------------------ */

/* Does the node need bytes in that domain, or did it when its wait began? */
static bool needs_in(struct waiting *waiting, const struct timeline_wait *wait, uint32_t domain)
{
    uint32_t n = verify_needs_at(waiting->verify, wait->node.index, wait->from_ns, waiting->needs);

    for (uint32_t i = 0; i < n; i++) {
        if (waiting->needs[i].domain == domain) {
            return true;
        }
    }
    return false;
}

/* Does it need bytes in a domain where something is staged? */
static bool needs_staged(struct waiting *waiting, const struct timeline_wait *wait)
{
    uint32_t n = verify_needs_at(waiting->verify, wait->node.index, wait->from_ns, waiting->needs);

    for (uint32_t i = 0; i < n; i++) {
        if (waiting->verify->is_staged[waiting->needs[i].domain]) {
            return true;
        }
    }
    return false;
}

/* Did bytes of the object come back then, by that node? Without an object they were staged: those go
 * with the last use of a copy, which may be in another domain. */
static bool gave_bytes(struct waiting *waiting, const struct timeline_wait *wait)
{
    const struct verify *verify = waiting->verify;
    uint32_t giver = wait->blocker.index;

    for (uint32_t i = verify->touch_first[giver]; i < verify->touch_first[giver + 1]; i++) {
        const struct verify_copy *copy = &verify->copies[verify->touches[i].copy];

        if (copy->end.ns == wait->to_ns && weir_same(copy->object, wait->object) &&
            needs_in(waiting, wait, copy->domain.index)) {
            return true;
        }
        if (copy->last_use.ns == wait->to_ns && !weir_is(wait->object) &&
            needs_staged(waiting, wait)) {
            return true;
        }
    }
    return false;
}

static bool gave_charges(struct waiting *waiting, const struct timeline_wait *wait)
{
    const struct verify *verify = waiting->verify;
    weir_node giver = wait->blocker;
    struct graph_node value;

    graph_node(verify->graph, giver, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        if (needs_in(waiting, wait,
                     graph_charge_domain(verify->graph, giver, &value.workspace[i]).index)) {
            return !weir_is(wait->object);
        }
    }
    return value.staging.bytes > 0 && !weir_is(wait->object) &&
           needs_in(waiting, wait, graph_charge_domain(verify->graph, giver, &value.staging).index);
}

static const char *fault_of_blocker(struct waiting *waiting, const struct timeline_wait *wait)
{
    const struct verify *verify = waiting->verify;
    uint32_t node = wait->node.index, blocker = wait->blocker.index;

    if (wait->cause == WAIT_ADMISSION || wait->cause == WAIT_NONE) {
        return NULL;
    }
    if (blocker == NONE) {
        return "nobody";
    }
    if (verify->done[blocker].ns != wait->to_ns) {
        return "who was not done then";
    }
    if (blocker == node) {
        return "who is the node itself";
    }
    if (wait->cause == WAIT_ENGINE) {
        return verify->nodes[blocker].engine != verify->nodes[node].engine ? "who runs elsewhere"
               : verify->nodes[blocker].is_lengthless                      ? "who took no slot"
                                                                           : NULL;
    }
    if (wait->cause == WAIT_OVERLAP) {
        return apart_has(&waiting->pairs, node, blocker) ? NULL : "whom it may overlap";
    }
    return gave_bytes(waiting, wait) || gave_charges(waiting, wait)
               ? NULL
               : "who gave back nothing that it lacked, or not that object";
}

static void check_blocker(struct waiting *waiting, const struct timeline_wait *wait)
{
    struct verify *verify = waiting->verify;
    const char *fault = fault_of_blocker(waiting, wait);
    struct verify_at at = verify_at(VERIFY_WAIT_BLOCKER, wait->node.index, wait->to_ns);

    if (fault == NULL) {
        return;
    }
    at.other = wait->blocker;
    at.object = wait->object;
    verify_add(verify, at,
               "the wait of node %s for %s, from %" PRId64 " to %" PRId64
               " ns, is said to have ended "
               "by %s%s%s",
               node_name(verify, wait->node.index), wait_cause_name(wait->cause), wait->from_ns,
               wait->to_ns, weir_is(wait->blocker) ? node_name(verify, wait->blocker.index) : "",
               weir_is(wait->blocker) ? ", " : "", fault);
}

/* --- each node --------------------------------------------------------------------------------- */

static void tell_gap(struct verify *verify, uint32_t node, int64_t found_ns, int64_t expected_ns)
{
    verify_add(verify, verify_at(VERIFY_WAIT_GAP, node, expected_ns),
               "the stretches of the wait of node %s, ready at %" PRId64 " and started at %" PRId64
               " ns, leave out or repeat what is between %" PRId64 " and %" PRId64 " ns",
               node_name(verify, node), verify->timeline->spans[node].ready_ns,
               verify->timeline->spans[node].start_ns, expected_ns, found_ns);
}

/* Does each begin where the one before ended? @return where the last ends */
static int64_t check_row(struct verify *verify, const struct timeline_wait *wait, int64_t at_ns)
{
    if (wait->from_ns != at_ns || wait->to_ns <= wait->from_ns) {
        tell_gap(verify, wait->node.index, wait->from_ns, at_ns);
    }
    return wait->to_ns;
}

static void check_span(struct verify *verify, uint32_t node, const struct timeline_wait *last)
{
    const struct timeline_span *span = &verify->timeline->spans[node];
    enum wait_cause cause = last == NULL ? WAIT_NONE : last->cause;
    weir_node blocker = {last == NULL ? NONE : last->blocker.index};

    if (span->cause != (uint8_t)cause || span->blocker.index != blocker.index) {
        verify_add(
            verify, verify_at(VERIFY_SPAN_CAUSE, node, span->start_ns),
            "node %s is said to have waited for %s%s%s last, and the last stretch of its wait is "
            "for %s%s%s",
            node_name(verify, node), wait_cause_name((enum wait_cause)span->cause),
            weir_is(span->blocker) ? ", until " : "",
            weir_is(span->blocker) ? node_name(verify, span->blocker.index) : "",
            wait_cause_name(cause), blocker.index == NONE ? "" : ", until ",
            blocker.index == NONE ? "" : node_name(verify, blocker.index));
    }
}

static enum weir_status check_node(struct waiting *waiting, uint32_t node)
{
    struct verify *verify = waiting->verify;
    const struct timeline_span *span = &verify->timeline->spans[node];
    const struct timeline_wait *last = NULL;
    int64_t at_ns = span->ready_ns;
    enum weir_status status = WEIR_OK;

    for (size_t i = waiting->first[node]; i < waiting->first[node + 1] && status == WEIR_OK; i++) {
        last = &verify->timeline->waits[waiting->rows[i]];
        at_ns = check_row(verify, last, at_ns);
        status = check_cause(waiting, last);
        check_blocker(waiting, last);
        verify_checked(verify, VERIFY_CHECK_WAITS, 1);
    }
    if (verify->nodes[node].has_started) {
        if (at_ns != span->start_ns) {
            tell_gap(verify, node, span->start_ns, at_ns);
        }
        check_span(verify, node, last);
        verify_checked(verify, VERIFY_CHECK_WAITS, 1);
    }
    return status;
}

enum weir_status verify_waits(struct verify *verify)
{
    struct waiting waiting = {.verify = verify};
    enum weir_status status;

    if (verify->is_lenient) {
        verify_skip(verify, VERIFY_CHECK_WAITS,
                    "a device says when its actions started, not what was in their way");
        return WEIR_OK;
    }
    status = waiting_begin(&waiting);
    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        status = check_node(&waiting, i);
    }
    waiting_free(&waiting);
    return status;
}
