/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The waits that a program asked for: a stream or the host for an event, the host for a stream or a
 * context.
 *
 * A wait for an event is for the newest record of that event, in that process and context, that was
 * made before the wait: event ids are used again and again, so an id alone says nothing. What it
 * waits for is the last work that was launched on the record's stream before the record. Afterwards
 * the times are asked: work that began before what it should have waited for had ended did not wait
 * for it, and the wait is counted as contradicted and left out. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

enum weir_status nsys_add_wait(struct nsys *nsys, const struct nsys_wait *wait,
                               struct weir_error *err)
{
    enum weir_status status = array_grow(&nsys->waits, &nsys->waits_room, nsys->n_waits + 1, err);

    if (status == WEIR_OK)
        nsys->waits[nsys->n_waits++] = *wait;
    return status;
}

/* Which record. */

static int compare_record(const struct nsys_record *record, const struct nsys_sync *sync)
{
    int order = nsys_compare(record->process, sync->process);

    if (order == 0)
        order = nsys_compare(record->context, sync->context);
    if (order == 0)
        order = nsys_compare(record->event, sync->event);
    return order != 0 ? order : nsys_compare(record->correlation, sync->correlation);
}

static struct key sync_id_key(int64_t process, int64_t event_sync)
{
    return (struct key){{(uint32_t)process, (uint32_t)((uint64_t)process >> 32),
                         (uint32_t)event_sync, (uint32_t)((uint64_t)event_sync >> 32)}};
}

static enum weir_status index_records(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    nsys->record_keys = keys_new();
    if (nsys->record_keys == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < nsys->n_records && status == WEIR_OK; i++) {
        const struct nsys_record *record = &nsys->records[i];
        const struct key key = sync_id_key(record->process, record->event_sync);

        if (record->event_sync > 0 && record->event_sync != NSYS_NO_ID)
            status = keys_put(nsys->record_keys, &key, i, err);
    }
    return status;
}

/* The newest record of the event before the wait. In another context, an event is known only by the
 * number that newer files give each single record. */
static uint32_t find_record(struct nsys *nsys, const struct nsys_sync *sync)
{
    const struct key key = sync_id_key(sync->process, sync->event_sync);
    uint32_t low = 0, high = nsys->n_records, found;
    struct keys_walk walk;

    while (low < high) { /* to the first that is not before it */
        uint32_t middle = low + (high - low) / 2;

        if (compare_record(&nsys->records[middle], sync) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && nsys->records[low - 1].process == sync->process &&
        nsys->records[low - 1].context == sync->context &&
        nsys->records[low - 1].event == sync->event)
        return low - 1;
    if (sync->event_sync <= 0 || sync->event_sync == NSYS_NO_ID)
        return NSYS_NONE;
    keys_walk_begin(&walk, nsys->record_keys, &key);
    found = keys_walk_next(&walk);
    if (found == KEYS_NONE || keys_walk_next(&walk) != KEYS_NONE ||
        nsys->records[found].correlation >= sync->correlation)
        return NSYS_NONE;
    nsys->counts.resolved_by_sync_id++;
    return found;
}

static bool is_outside(const struct nsys *nsys, const struct nsys_record *record)
{
    uint32_t call = nsys_find_call(nsys, record->process, record->correlation);

    return call != NSYS_NONE && (nsys->calls[call].flags & CALL_IS_OUTSIDE) != 0;
}

/* Waits. `wait` says who waits; it is added for each op of the frontier that the times allow. */

struct finder {
    struct nsys *nsys;
    struct nsys_frontier frontier;
};

static bool fits(const struct nsys *nsys, const struct nsys_wait *wait)
{
    const struct nsys_op *op = &nsys->ops[wait->op];

    if (wait->call != NSYS_NONE)
        return nsys_call_fits(&nsys->calls[wait->call], op);
    return op->end_ns - nsys->ops[wait->waiting_op].start_ns <= RECORDING_TOLERANCE_NS;
}

static enum weir_status add_waits(struct finder *finder, struct nsys_wait wait, int64_t *n_refused,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < finder->frontier.n && status == WEIR_OK; i++) {
        wait.op = finder->frontier.ops[i];
        if (wait.op == wait.waiting_op)
            continue;
        if (fits(finder->nsys, &wait))
            status = nsys_add_wait(finder->nsys, &wait, err);
        else
            (*n_refused)++;
    }
    return status;
}

/* All streams of the process that had work before the id: for what nothing narrower is known. */
static enum weir_status wait_for_process(struct finder *finder, int64_t process,
                                         int64_t correlation, const struct nsys_wait *wait,
                                         struct weir_error *err)
{
    uint32_t from, to;
    enum weir_status status;

    finder->frontier.n = 0;
    nsys_streams_of(finder->nsys, process, &from, &to);
    status = nsys_add_frontier(finder->nsys, from, to, correlation, &finder->frontier, err);
    if (status != WEIR_OK)
        return status;
    return add_waits(finder, *wait, &finder->nsys->counts.barriers_contradicted, err);
}

/* What was recorded before the window counts as done when it begins. */
static enum weir_status add_cut_wait(struct nsys *nsys, const struct nsys_wait *wait,
                                     struct weir_error *err)
{
    enum weir_status status =
        array_grow(&nsys->cut_waits, &nsys->cut_waits_room, nsys->n_cut_waits + 1, err);

    if (status == WEIR_OK)
        nsys->cut_waits[nsys->n_cut_waits++] =
            (struct nsys_wait){NSYS_NONE, wait->call, wait->waiting_op, RULE_BEFORE_WINDOW};
    return status;
}

/* The event's own stream decides whether the wait is true; what that stream waits for as the null
 * stream or a blocking one comes with it. */
static enum weir_status wait_for_record(struct finder *finder, const struct nsys_record *record,
                                        const struct nsys_wait *wait, struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    struct nsys_wait first = *wait;
    int64_t n_refused = 0;
    enum weir_status status;

    if (is_outside(nsys, record)) {
        nsys->counts.record_outside++;
        return add_cut_wait(nsys, wait, err);
    }
    if (record->at == NSYS_NONE) {
        nsys->counts.without_source++;
        return WEIR_OK;
    }
    status = nsys_stream_frontier(nsys, record->at, record->correlation, &finder->frontier, err);
    if (status != WEIR_OK)
        return status;
    if (finder->frontier.n == 0) {
        nsys->counts.without_source++;
        return WEIR_OK;
    }
    first.op = finder->frontier.ops[0];
    if (finder->frontier.n_own > 0 && !fits(nsys, &first)) {
        nsys->counts.contradicted++;
        return WEIR_OK;
    }
    status = add_waits(finder, first, &n_refused, err);
    nsys->counts.barriers_contradicted += n_refused;
    return status;
}

static enum weir_status stream_waits(struct finder *finder, const struct nsys_sync *sync,
                                     struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    uint32_t record = find_record(nsys, sync);
    uint32_t place = NSYS_NONE;
    struct nsys_wait wait = {.call = NSYS_NONE, .rule = RULE_EVENT_WAIT};

    nsys->counts.event_waits++;
    if (sync->at != NSYS_NONE)
        place = nsys_first_after(nsys, &nsys->streams[sync->at], sync->correlation);
    if (record == NSYS_NONE)
        nsys->counts.unresolved++;
    else
        nsys->counts.resolved++;
    if (place == NSYS_NONE) {
        nsys->counts.without_consumer++;
        return WEIR_OK;
    }
    wait.waiting_op = nsys->work[nsys->streams[sync->at].first + place];
    if (record != NSYS_NONE)
        return wait_for_record(finder, &nsys->records[record], &wait, err);
    wait.rule = RULE_UNRESOLVED_WAIT;
    return wait_for_process(finder, sync->process, sync->correlation, &wait, err);
}

static enum weir_status host_waits_for_event(struct finder *finder, const struct nsys_sync *sync,
                                             uint32_t call, struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    uint32_t record = find_record(nsys, sync);
    struct nsys_wait wait = {.call = call, .waiting_op = NSYS_NONE, .rule = RULE_EVENT_SYNC};

    nsys->counts.event_syncs++;
    if (record != NSYS_NONE) {
        nsys->counts.resolved++;
        return wait_for_record(finder, &nsys->records[record], &wait, err);
    }
    nsys->counts.unresolved++;
    wait.rule = RULE_UNRESOLVED_SYNC;
    return wait_for_process(finder, sync->process, sync->correlation, &wait, err);
}

static enum weir_status host_waits_for_stream(struct finder *finder, const struct nsys_sync *sync,
                                              uint32_t call, struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    const struct nsys_wait wait = {.call = call, .waiting_op = NSYS_NONE, .rule = RULE_STREAM_SYNC};
    enum weir_status status;

    nsys->counts.stream_syncs++;
    if (sync->at == NSYS_NONE)
        return WEIR_OK;
    status = nsys_stream_frontier(nsys, sync->at, sync->correlation, &finder->frontier, err);
    return status == WEIR_OK ? add_waits(finder, wait, &nsys->counts.sync_edges_contradicted, err)
                             : status;
}

static enum weir_status host_waits_for_context(struct finder *finder, const struct nsys_sync *sync,
                                               uint32_t call, struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    const struct nsys_wait wait = {
        .call = call, .waiting_op = NSYS_NONE, .rule = RULE_CONTEXT_SYNC};
    enum weir_status status = WEIR_OK;
    uint32_t from, to;

    nsys->counts.context_syncs++;
    nsys_streams_of(nsys, sync->process, &from, &to);
    finder->frontier.n = 0;
    for (uint32_t i = from; i < to && status == WEIR_OK; i++) {
        if (sync->context == NSYS_NO_ID || nsys->streams[i].context == sync->context)
            status = nsys_add_frontier(nsys, i, i + 1, sync->correlation, &finder->frontier, err);
    }
    return status == WEIR_OK ? add_waits(finder, wait, &nsys->counts.sync_edges_contradicted, err)
                             : status;
}

/* A failed call waited for nothing; neither did a query that was answered with no. */
static enum weir_status take_sync(struct finder *finder, struct nsys_sync *sync,
                                  struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    enum nsys_wait_kind kind;
    uint32_t call = NSYS_NONE;

    sync->call = nsys_find_call(nsys, sync->process, sync->correlation);
    if (sync->call != NSYS_NONE) {
        struct nsys_call *row = &nsys->calls[sync->call];
        struct nsys_call *outer = &nsys->calls[row->outer];

        row->flags |= CALL_HAS_SYNC;
        if ((row->flags & (CALL_IS_FAILED | CALL_IS_OUTSIDE)) != 0)
            return WEIR_OK;
        call = row->outer;
        if (sync->start_ns < outer->wait_begin_ns)
            outer->wait_begin_ns = sync->start_ns;
    }
    kind = nsys_kind_of(nsys, sync);
    nsys->tables[NSYS_SYNC].n_kept++;
    if (kind == WAIT_STREAM_FOR_EVENT)
        return stream_waits(finder, sync, err);
    if (call == NSYS_NONE) { /* who waited is not in the file */
        nsys->tables[NSYS_SYNC].n_kept--;
        return WEIR_OK;
    }
    if (kind == WAIT_FOR_EVENT)
        return host_waits_for_event(finder, sync, call, err);
    if (kind == WAIT_FOR_STREAM)
        return host_waits_for_stream(finder, sync, call, err);
    return host_waits_for_context(finder, sync, call, err);
}

/* Calls that wait, by their names, and have no row that says for what. */
static enum weir_status take_bare_call(struct finder *finder, uint32_t id, struct weir_error *err)
{
    struct nsys *nsys = finder->nsys;
    const struct nsys_call *call = &nsys->calls[id];
    struct nsys_wait wait = {
        .call = call->outer, .waiting_op = NSYS_NONE, .rule = RULE_UNRESOLVED_SYNC};

    if (call->api == API_STREAM_WAIT || call->api == API_EVENT_SYNC) {
        nsys->counts.without_row++;
        nsys->counts.unresolved++;
        if (call->api == API_STREAM_WAIT) {
            nsys->counts.event_waits++;
            return WEIR_OK;
        }
        nsys->counts.event_syncs++;
    } else {
        nsys->counts.syncs_without_row++;
        if (call->api == API_CONTEXT_SYNC)
            wait.rule = RULE_CONTEXT_SYNC;
    }
    return wait_for_process(finder, nsys_process_of(call->thread), call->correlation, &wait, err);
}

static bool is_bare(const struct nsys_call *call)
{
    return (call->api == API_STREAM_WAIT || call->api == API_EVENT_SYNC ||
            call->api == API_STREAM_SYNC || call->api == API_CONTEXT_SYNC) &&
           (call->flags & (CALL_HAS_SYNC | CALL_IS_FAILED | CALL_IS_OUTSIDE | CALL_IS_REPEAT |
                           CALL_IS_CAPTURED)) == 0;
}

enum weir_status nsys_find_waits(struct nsys *nsys, struct weir_error *err)
{
    struct finder finder = {.nsys = nsys};
    enum weir_status status = index_records(nsys, err);

    for (uint32_t i = 0; i < nsys->n_syncs && status == WEIR_OK; i++)
        status = take_sync(&finder, &nsys->syncs[i], err);
    for (uint32_t i = 0; i < nsys->n_calls && status == WEIR_OK; i++) {
        if (is_bare(&nsys->calls[i]))
            status = take_bare_call(&finder, i, err);
    }
    free(finder.frontier.ops);
    return status;
}
