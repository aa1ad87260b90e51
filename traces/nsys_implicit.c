/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits that nobody asked for: copies that return when they are done, calls that wait for an idle
 * device, and the null stream, which waits for the blocking streams and they for it. The times
 * decide each case: a call that returned while the device still worked did not wait for it. */
#include <stdlib.h>

#include "traces/nsys_internal.h"

/* Copies. */

#define KIND_PAGEABLE 0

static bool is_blocking_copy(const struct nsys *nsys, const struct nsys_op *op)
{
    if (op->kind != OP_COPY || op->call == NSYS_NONE)
        return false;
    return nsys->calls[op->call].api == API_COPY || op->from_kind == KIND_PAGEABLE ||
           op->to_kind == KIND_PAGEABLE;
}

static enum weir_status find_copies(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        struct nsys_wait wait = {.op = i, .waiting_op = NSYS_NONE, .rule = RULE_COPY_SYNC};

        if ((op->flags & OP_IS_DROPPED) != 0 || !is_blocking_copy(nsys, op))
            continue;
        wait.call = nsys->calls[op->call].outer;
        nsys->counts.implicit++;
        if (nsys_call_fits(&nsys->calls[wait.call], op))
            status = nsys_add_wait(nsys, &wait, err);
        else
            nsys->counts.implicit_contradicted++; /* small ones return once they are staged */
    }
    return status;
}

/* Calls that wait for the device. */

static bool all_fit(const struct nsys *nsys, const struct nsys_call *call,
                    const struct nsys_frontier *frontier)
{
    for (size_t i = 0; i < frontier->n; i++) {
        if (!nsys_call_fits(call, &nsys->ops[frontier->ops[i]]))
            return false;
    }
    return true;
}

/* The call waited for all work of these streams that was launched before it, or for none of it. */
static enum weir_status wait_for_group(struct nsys *nsys, uint32_t id, uint32_t from, uint32_t to,
                                       enum recording_rule rule, struct nsys_frontier *frontier,
                                       struct weir_error *err)
{
    struct nsys_call *call = &nsys->calls[id];
    enum weir_status status;

    frontier->n = 0;
    status = nsys_add_frontier(nsys, from, to, call->correlation, frontier, err);
    if (status != WEIR_OK || frontier->n == 0)
        return status;
    nsys->counts.implicit++;
    if (!all_fit(nsys, call, frontier)) {
        nsys->counts.implicit_contradicted++;
        return WEIR_OK;
    }
    if (rule == RULE_MODULE_LOAD || rule == RULE_FIRST_LAUNCH)
        call->flags |= CALL_WAITS_FIRST;
    for (size_t i = 0; i < frontier->n && status == WEIR_OK; i++) {
        const struct nsys_wait wait = {frontier->ops[i], id, NSYS_NONE, (uint8_t)rule};
        status = nsys_add_wait(nsys, &wait, err);
    }
    return status;
}

/* Which device a call is about is not recorded: each one of the process is asked by itself. */
static enum weir_status wait_for_devices(struct nsys *nsys, uint32_t id, enum recording_rule rule,
                                         struct nsys_frontier *frontier, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint32_t at, to;

    nsys_streams_of(nsys, nsys_process_of(nsys->calls[id].thread), &at, &to);
    while (at < to && status == WEIR_OK) {
        uint32_t end = nsys->streams[at].group_end;
        status = wait_for_group(nsys, id, at, end, rule, frontier, err);
        at = end;
    }
    return status;
}

static enum weir_status find_calls(struct nsys *nsys, struct nsys_frontier *frontier,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_calls && status == WEIR_OK; i++) {
        const struct nsys_call *call = &nsys->calls[i];

        if ((call->flags & (CALL_IS_FAILED | CALL_IS_NESTED | CALL_IS_OUTSIDE)) != 0)
            continue;
        if ((call->flags & CALL_LOADS) != 0)
            status = wait_for_devices(nsys, i, RULE_MODULE_LOAD, frontier, err);
        else if (call->api == API_FREE)
            status = wait_for_devices(nsys, i, RULE_FREE_SYNC, frontier, err);
        else if (call->api == API_PIN)
            status = wait_for_devices(nsys, i, RULE_PIN_SYNC, frontier, err);
    }
    return status;
}

/* The first launch of each kernel on each device. */

static enum weir_status find_first_launches(struct nsys *nsys, uint32_t *first, struct keys *keys,
                                            uint32_t *n, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        const struct key key = {{nsys->streams[op->stream].group, op->name, 0, 0}};
        uint32_t at;

        if (op->kind != OP_KERNEL || op->call == NSYS_NONE || (op->flags & OP_IS_DROPPED) != 0)
            continue;
        at = keys_find(keys, &key);
        if (at == KEYS_NONE) {
            first[*n] = i;
            status = keys_put(keys, &key, (*n)++, err);
        } else if (op->correlation < nsys->ops[first[at]].correlation) {
            first[at] = i;
        }
    }
    return status;
}

static enum weir_status wait_at_first_launches(struct nsys *nsys, struct nsys_frontier *frontier,
                                               struct weir_error *err)
{
    uint32_t *first = malloc(((size_t)nsys->n_ops + 1) * sizeof *first);
    struct keys *keys = keys_new();
    uint32_t n = 0;
    enum weir_status status = first == NULL || keys == NULL
                                  ? weir_error_memory(err)
                                  : find_first_launches(nsys, first, keys, &n, err);

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[first[i]];
        const struct nsys_stream *stream = &nsys->streams[op->stream];
        uint32_t call = nsys->calls[op->call].outer;

        if ((nsys->calls[call].flags & CALL_LOADS) == 0)
            status = wait_for_group(nsys, call, stream->group, stream->group_end, RULE_FIRST_LAUNCH,
                                    frontier, err);
    }
    free(first);
    keys_free(keys);
    return status;
}

enum weir_status nsys_find_implicit(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_frontier frontier = {.ops = NULL};
    enum weir_status status = find_copies(nsys, err);

    if (status == WEIR_OK)
        status = find_calls(nsys, &frontier, err);
    if (status == WEIR_OK)
        status = wait_at_first_launches(nsys, &frontier, err);
    free(frontier.ops);
    return status;
}

/* The null stream. */

static enum weir_status add_barrier(struct nsys *nsys, uint32_t op, uint32_t waiting_op,
                                    bool is_assumed, struct weir_error *err)
{
    const struct nsys_wait wait = {
        op, NSYS_NONE, waiting_op,
        (uint8_t)(is_assumed ? RULE_NULL_STREAM_ASSUMED : RULE_NULL_STREAM)};

    nsys->counts.barriers++;
    if (nsys->ops[op].end_ns - nsys->ops[waiting_op].start_ns <= RECORDING_TOLERANCE_NS)
        return nsys_add_wait(nsys, &wait, err);
    nsys->counts.barriers_contradicted++;
    return WEIR_OK;
}

/* Each work of `waiting` waits for the last of `other` that was launched before it, unless the one
 * before it on its stream has waited for that already. */
static enum weir_status wait_for_other(struct nsys *nsys, const struct nsys_stream *waiting,
                                       const struct nsys_stream *other, bool is_assumed,
                                       struct weir_error *err)
{
    uint32_t covered = NSYS_NONE;
    enum weir_status status = WEIR_OK;

    for (uint32_t at = 0; at < waiting->n && status == WEIR_OK; at++) {
        uint32_t op = nsys->work[waiting->first + at];
        uint32_t place = nsys->ops[op].correlation == 0
                             ? NSYS_NONE
                             : nsys_last_before(nsys, other, nsys->ops[op].correlation);

        if (place == NSYS_NONE || (covered != NSYS_NONE && place <= covered))
            continue;
        covered = place;
        status = add_barrier(nsys, nsys->work[other->first + place], op, is_assumed, err);
    }
    return status;
}

static enum weir_status find_group_barriers(struct nsys *nsys, const struct nsys_stream *null,
                                            struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = null->group; i < null->group_end && status == WEIR_OK; i++) {
        const struct nsys_stream *other = &nsys->streams[i];
        bool is_assumed = other->kind == STREAM_UNKNOWN;

        if (other->kind != STREAM_BLOCKING && !is_assumed)
            continue;
        status = wait_for_other(nsys, null, other, is_assumed, err);
        if (status == WEIR_OK)
            status = wait_for_other(nsys, other, null, is_assumed, err);
    }
    return status;
}

enum weir_status nsys_find_barriers(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_streams && status == WEIR_OK; i++) {
        if (nsys->streams[i].kind == STREAM_NULL)
            status = find_group_barriers(nsys, &nsys->streams[i], err);
    }
    return status;
}
