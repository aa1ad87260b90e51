/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links by ids: API calls to the calls around them, device work to the call that launched it. A
 * correlation id counts within its process; any call whose id device work has is its launcher,
 * whatever its name. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

/* Calls around calls. A driver call that a runtime call made lies within it; ends may be off by
 * little. What is failed or lies across another stands for itself. */

static void nest(struct nsys *nsys)
{
    uint32_t around = NSYS_NONE; /* the last outermost call */

    for (uint32_t i = 0; i < nsys->n_calls; i++) {
        struct nsys_call *call = &nsys->calls[i];
        struct nsys_call *outer = around == NSYS_NONE ? NULL : &nsys->calls[around];

        call->outer = i;
        if ((call->flags & CALL_IS_FAILED) != 0)
            continue;
        if (outer == NULL || outer->thread != call->thread || call->start_ns >= outer->end_ns) {
            around = i;
        } else if (call->end_ns <= outer->end_ns + RECORDING_TOLERANCE_NS) {
            call->outer = around;
            call->flags |= CALL_IS_NESTED;
            nsys->counts.nested_calls++;
        } else {
            nsys->counts.overlapping_calls++;
            around = i;
        }
        if (call->api == API_MODULE_LOAD)
            nsys->calls[call->outer].flags |= CALL_LOADS;
    }
}

/* What a thread calls while it captures a graph is put into the graph. */
static void mark_captured(struct nsys *nsys)
{
    int64_t thread = 0;
    uint32_t depth = 0;

    for (uint32_t i = 0; i < nsys->n_calls; i++) {
        struct nsys_call *call = &nsys->calls[i];

        if (call->thread != thread) {
            thread = call->thread;
            depth = 0;
        }
        if ((call->flags & (CALL_IS_FAILED | CALL_IS_NESTED)) != 0)
            continue;
        if (call->api == API_BEGIN_CAPTURE) {
            depth++;
        } else if (call->api == API_END_CAPTURE && depth > 0) {
            depth--;
        } else if (depth > 0) {
            call->flags |= CALL_IS_CAPTURED;
            nsys->counts.captured_calls++;
        }
    }
}

static void cut_calls(struct nsys *nsys)
{
    for (uint32_t i = 0; i < nsys->n_calls; i++) {
        struct nsys_call *call = &nsys->calls[i];
        int64_t start_ns = nsys->calls[call->outer].start_ns;

        if (start_ns >= nsys->from_ns && start_ns < nsys->to_ns)
            continue;
        call->flags |= CALL_IS_OUTSIDE;
        nsys->counts.outside_calls++;
    }
}

enum weir_status nsys_link_calls(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = nsys_ids_new(nsys, err);

    for (uint32_t i = 0; i < nsys->n_calls; i++) {
        if ((nsys->calls[i].flags & CALL_IS_FAILED) != 0)
            nsys->counts.failed_calls++;
    }
    nest(nsys);
    mark_captured(nsys);
    cut_calls(nsys);
    return status;
}

/* Device work. */

static bool is_inside(const struct nsys *nsys, const struct nsys_op *op)
{
    int64_t launched_ns = op->start_ns;

    if (op->call != NSYS_NONE)
        launched_ns = nsys->calls[nsys->calls[op->call].outer].start_ns;
    return launched_ns >= nsys->from_ns && launched_ns < nsys->to_ns;
}

enum weir_status nsys_link_ops(struct nsys *nsys, struct weir_error *err)
{
    for (uint32_t i = 0; i < nsys->n_ops; i++) {
        struct nsys_op *op = &nsys->ops[i];

        if (op->kind != OP_MIGRATION)
            op->call = nsys_find_call(nsys, nsys->streams[op->stream].process, op->correlation);
        if (op->call != NSYS_NONE && (nsys->calls[op->call].flags & CALL_IS_FAILED) != 0)
            op->call = NSYS_NONE;
        if (!is_inside(nsys, op)) {
            op->flags |= OP_IS_DROPPED;
            nsys->counts.outside_ops++;
        }
    }
    for (uint32_t i = 0; i < nsys->n_memories; i++) {
        struct nsys_memory *memory = &nsys->memories[i];
        uint32_t call = nsys_find_call(nsys, memory->process, memory->correlation);

        if (call == NSYS_NONE)
            continue;
        if ((nsys->calls[call].flags & CALL_IS_FAILED) != 0)
            memory->is_ignored = true;
        else
            memory->call = nsys->calls[call].outer;
    }
    return nsys_drop_second_rows(nsys, err);
}
