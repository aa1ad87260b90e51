/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links between actions: launches, streams, waits, page migrations; and last, for work that was late
 * with nothing known to hold it, what the device was busy with until then. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"
#include "traces/runs.h"

static enum weir_status link(struct nsys *nsys, const struct recording_link *link,
                             struct weir_error *err)
{
    enum recording_fit fit;

    if (link->producer == NSYS_NONE || link->consumer == NSYS_NONE)
        return WEIR_OK;
    return recording_link(nsys->recording, link, &fit, err);
}

/* Launches. */

static enum weir_status link_launches(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        const struct nsys_call *call;

        if (op->call == NSYS_NONE || op->action == NSYS_NONE)
            continue;
        call = &nsys->calls[nsys->calls[op->call].outer];
        status = link(nsys,
                      &(struct recording_link){.producer = call->launch_action,
                                               .consumer = op->action,
                                               .rule = RULE_LAUNCH,
                                               .is_within = op->start_ns <= call->end_ns},
                      err);
    }
    return status;
}

/* Streams. */

static bool is_one_graph(const struct nsys_op *a, const struct nsys_op *b)
{
    return (a->flags & b->flags & OP_IS_GRAPH_CHILD) != 0 && a->correlation == b->correlation;
}

#define SIBLINGS_LOOKED_AT 64

/* Inside a graph launch work may overlap: of what had ended, the last is the likeliest cause. */
static enum weir_status link_sibling(struct nsys *nsys, const struct nsys_stream *stream,
                                     uint32_t at, struct weir_error *err)
{
    const struct nsys_op *op = &nsys->ops[nsys->work[stream->first + at]];
    const struct nsys_op *best = NULL;
    uint8_t n_done = 0;

    for (uint32_t back = 1; back <= at && back <= SIBLINGS_LOOKED_AT; back++) {
        const struct nsys_op *other = &nsys->ops[nsys->work[stream->first + at - back]];

        if (!is_one_graph(op, other))
            break;
        if (other->end_ns > op->start_ns)
            continue;
        if (n_done < UINT8_MAX)
            n_done++;
        if (best == NULL || other->end_ns > best->end_ns)
            best = other;
    }
    if (best == NULL)
        return WEIR_OK;
    return link(nsys,
                &(struct recording_link){.producer = best->action,
                                         .consumer = op->action,
                                         .rule = RULE_GRAPH_ORDER,
                                         .alternatives = n_done},
                err);
}

static void count_overlap(struct nsys *nsys, const struct nsys_op *before, const struct nsys_op *op)
{
    int64_t overlap_ns = before->end_ns - op->start_ns;

    if (overlap_ns <= 0)
        return;
    nsys->counts.overlaps++;
    if (overlap_ns > nsys->counts.overlap_most_ns)
        nsys->counts.overlap_most_ns = overlap_ns;
}

static enum weir_status link_stream(struct nsys *nsys, const struct nsys_stream *stream,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t at = 1; at < stream->n && status == WEIR_OK; at++) {
        const struct nsys_op *before = &nsys->ops[nsys->work[stream->first + at - 1]];
        const struct nsys_op *latest = &nsys->ops[nsys->latest[stream->first + at - 1]];
        const struct nsys_op *op = &nsys->ops[nsys->work[stream->first + at]];
        bool is_graph = is_one_graph(before, op);

        count_overlap(nsys, before, op);
        status = link(nsys,
                      &(struct recording_link){.producer = before->action,
                                               .consumer = op->action,
                                               .rule = is_graph ? RULE_GRAPH_ORDER : RULE_STREAM,
                                               .alternatives = is_graph ? 1 : 0},
                      err);
        if (status == WEIR_OK && is_graph && before->end_ns > op->start_ns)
            status = link_sibling(nsys, stream, at, err);
        if (status == WEIR_OK && !is_graph && latest != before && latest->end_ns <= op->start_ns)
            status =
                link(nsys,
                     &(struct recording_link){
                         .producer = latest->action, .consumer = op->action, .rule = RULE_STREAM},
                     err);
    }
    return status;
}

/* Waits. */

static enum weir_status link_waits(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < nsys->n_waits && status == WEIR_OK; i++) {
        const struct nsys_wait *wait = &nsys->waits[i];

        status = link(nsys,
                      &(struct recording_link){
                          .producer = nsys->ops[wait->op].action,
                          .consumer = wait->call != NSYS_NONE ? nsys->calls[wait->call].wait_action
                                                              : nsys->ops[wait->waiting_op].action,
                          .rule = (enum recording_rule)wait->rule,
                          .alternatives = wait->rule == RULE_FIRST_LAUNCH ? 1 : 0},
                      err);
    }
    return status;
}

/* The begin of the window, and what waits for it because what it really waited for lies before. */
static enum weir_status link_cut_waits(struct nsys *nsys, struct weir_error *err)
{
    struct recording *recording = nsys->recording;
    struct recording_action begin = {
        .start_ns = INT64_MAX,
        .bytes = -1,
        .origin_row = -1,
        .lead = RECORDING_NONE,
        .engine = RECORDING_NONE,
        .object = RECORDING_NONE,
        .domain = RECORDING_NONE,
        .from = RECORDING_NONE,
        .to = RECORDING_NONE,
        .kind = NODE_BARRIER,
        .rank = RANK_WINDOW,
        .source = TIME_HOST,
    };
    uint32_t id;
    enum weir_status status;

    if (nsys->n_cut_waits == 0 || recording_n_actions(recording) == 0)
        return WEIR_OK;
    for (uint32_t i = 0; i < recording_n_actions(recording); i++) {
        if (recording_start_ns(recording, i) < begin.start_ns)
            begin.start_ns = recording_start_ns(recording, i);
    }
    begin.finish_ns = begin.start_ns;
    status = recording_word(recording, "window-begin", &begin.name, err);
    if (status == WEIR_OK)
        status = recording_add_action(recording, &begin, &id, err);
    for (size_t i = 0; i < nsys->n_cut_waits && status == WEIR_OK; i++) {
        const struct nsys_wait *wait = &nsys->cut_waits[i];

        status = link(nsys,
                      &(struct recording_link){.producer = id,
                                               .consumer = wait->call != NSYS_NONE
                                                               ? nsys->calls[wait->call].wait_action
                                                               : nsys->ops[wait->waiting_op].action,
                                               .rule = RULE_BEFORE_WINDOW},
                      err);
    }
    return status;
}

/* Page migrations: within the kernel that runs, else after the last call that had returned. */

struct ended_call {
    int64_t process, end_ns;
    uint32_t action;
};

static int by_end(const void *left, const void *right)
{
    const struct ended_call *a = left, *b = right;
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->end_ns, b->end_ns);
    return order != 0 ? order : nsys_compare(a->action, b->action);
}

static struct ended_call *list_ended(const struct nsys *nsys, size_t *n)
{
    struct ended_call *ended = malloc(((size_t)nsys->n_calls + 1) * sizeof *ended);

    *n = 0;
    for (uint32_t i = 0; i < nsys->n_calls && ended != NULL; i++) {
        const struct nsys_call *call = &nsys->calls[i];
        if (call->last_action != NSYS_NONE)
            ended[(*n)++] =
                (struct ended_call){nsys_process_of(call->thread), call->end_ns, call->last_action};
    }
    if (ended != NULL)
        qsort(ended, *n, sizeof *ended, by_end);
    return ended;
}

static uint32_t last_ended(const struct ended_call *ended, size_t n, int64_t process, int64_t at_ns)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ended[middle].process < process ||
            (ended[middle].process == process && ended[middle].end_ns <= at_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ended[low - 1].process == process ? ended[low - 1].action : NSYS_NONE;
}

/* Kernels that run while the ops pass by in the order of their starts. */
struct running {
    uint32_t *ops;
    size_t n, room;
};

static enum weir_status pass(const struct nsys *nsys, struct running *running, uint32_t id,
                             struct weir_error *err)
{
    size_t kept = 0;
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < running->n; i++) {
        if (nsys->ops[running->ops[i]].end_ns > nsys->ops[id].start_ns)
            running->ops[kept++] = running->ops[i];
    }
    running->n = kept;
    if (nsys->ops[id].kind == OP_KERNEL || nsys->ops[id].kind == OP_GRAPH) {
        status = array_grow(&running->ops, &running->room, running->n + 1, err);
        if (status == WEIR_OK)
            running->ops[running->n++] = id;
    }
    return status;
}

static enum weir_status link_migration(struct nsys *nsys, const struct nsys_op *op,
                                       const struct running *running,
                                       const struct ended_call *ended, size_t n_ended,
                                       struct weir_error *err)
{
    const struct nsys_stream *stream = &nsys->streams[op->stream];
    struct recording_link to_it = {
        .producer = NSYS_NONE, .consumer = op->action, .rule = RULE_MIGRATION_KERNEL};

    for (size_t i = running->n; i > 0 && to_it.producer == NSYS_NONE; i--) {
        const struct nsys_op *kernel = &nsys->ops[running->ops[i - 1]];
        const struct nsys_stream *its = &nsys->streams[kernel->stream];

        if (its->process == stream->process && its->device == stream->device)
            to_it.producer = kernel->action;
    }
    if (to_it.producer != NSYS_NONE) {
        nsys->counts.migrations_in_kernels++;
        recording_add_stall(nsys->recording, to_it.producer);
        return link(nsys, &to_it, err);
    }
    to_it.rule = RULE_MIGRATION_HOST;
    to_it.alternatives = 1;
    to_it.producer = last_ended(ended, n_ended, stream->process, op->start_ns);
    if (to_it.producer != NSYS_NONE)
        nsys->counts.migrations_after_calls++;
    return link(nsys, &to_it, err);
}

static enum weir_status link_migrations(struct nsys *nsys, struct weir_error *err)
{
    struct running running = {.ops = NULL};
    size_t n_ended = 0;
    struct ended_call *ended;
    enum weir_status status;

    if (nsys->sums[OP_MIGRATION].n == 0)
        return WEIR_OK;
    ended = list_ended(nsys, &n_ended);
    status = ended == NULL ? weir_error_memory(err) : WEIR_OK;
    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];

        if (op->action == NSYS_NONE)
            continue;
        status = pass(nsys, &running, i, err);
        if (status == WEIR_OK && op->kind == OP_MIGRATION)
            status = link_migration(nsys, op, &running, ended, n_ended, err);
    }
    free(running.ops);
    free(ended);
    return status;
}

/* What the device was busy with. Copies of one direction share an engine, kernels the processors: of
 * work on other streams that ended just before late work began, the last is taken to have held it. */

struct ended_op {
    uint32_t gpu, op;
    int64_t end_ns;
};

static int by_gpu_and_end(const void *left, const void *right)
{
    const struct ended_op *a = left, *b = right;
    int order = nsys_compare(a->gpu, b->gpu);

    if (order == 0)
        order = nsys_compare(a->end_ns, b->end_ns);
    return order != 0 ? order : nsys_compare(a->op, b->op);
}

static bool shares_engine(const struct nsys *nsys, const struct nsys_op *a, const struct nsys_op *b)
{
    const struct nsys_gpu *gpu = &nsys->gpus[nsys->streams[a->stream].gpu];

    if (a->stream == b->stream || a->kind != b->kind)
        return false;
    if (a->kind == OP_KERNEL)
        return true;
    return a->kind == OP_COPY && (a->copy_kind == b->copy_kind || gpu->n_copy_engines == 1);
}

/* Is there a wait that nothing known so far explains? */
static bool is_late(const struct nsys *nsys, const struct nsys_op *op)
{
    int64_t held_ns;

    if (op->action == NSYS_NONE || (op->kind != OP_KERNEL && op->kind != OP_COPY))
        return false;
    held_ns = recording_held_until(nsys->recording, op->action);
    if (held_ns == INT64_MIN || op->start_ns - held_ns <= RECORDING_GAP_NS)
        return false;
    return op->call == NSYS_NONE ||
           op->start_ns > nsys->calls[nsys->calls[op->call].outer].end_ns + RECORDING_GAP_NS;
}

static enum weir_status link_late(struct nsys *nsys, const struct nsys_op *op,
                                  const struct ended_op *ended, size_t n, struct weir_error *err)
{
    uint32_t gpu = nsys->streams[op->stream].gpu;
    size_t low = 0, high = n;
    uint32_t best = NSYS_NONE;
    uint8_t n_fitting = 0;

    while (low < high) { /* to the first that ended after the start */
        size_t middle = low + (high - low) / 2;

        if (ended[middle].gpu < gpu ||
            (ended[middle].gpu == gpu && ended[middle].end_ns <= op->start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && ended[low - 1].gpu == gpu &&
           ended[low - 1].end_ns >= op->start_ns - RECORDING_GAP_NS;
         low--) {
        if (!shares_engine(nsys, op, &nsys->ops[ended[low - 1].op]))
            continue;
        if (best == NSYS_NONE)
            best = ended[low - 1].op;
        if (n_fitting < UINT8_MAX)
            n_fitting++;
    }
    if (best == NSYS_NONE)
        return WEIR_OK;
    return link(
        nsys,
        &(struct recording_link){.producer = nsys->ops[best].action,
                                 .consumer = op->action,
                                 .rule = op->kind == OP_COPY ? RULE_COPY_ENGINE : RULE_DEVICE_BUSY,
                                 .alternatives = n_fitting},
        err);
}

static enum weir_status link_late_work(struct nsys *nsys, struct weir_error *err)
{
    struct ended_op *ended = malloc(((size_t)nsys->n_ops + 1) * sizeof *ended);
    size_t n = 0;
    enum weir_status status =
        ended == NULL ? weir_error_memory(err) : recording_settle(nsys->recording, err);

    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        if (op->action != NSYS_NONE)
            ended[n++] = (struct ended_op){nsys->streams[op->stream].gpu, i, op->end_ns};
    }
    if (status == WEIR_OK)
        runs_sort(ended, n, sizeof *ended, by_gpu_and_end);
    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        if (is_late(nsys, &nsys->ops[i]))
            status = link_late(nsys, &nsys->ops[i], ended, n, err);
    }
    free(ended);
    return status;
}

enum weir_status nsys_add_edges(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = link_launches(nsys, err);

    for (uint32_t i = 0; i < nsys->n_streams && status == WEIR_OK; i++) {
        if (nsys->streams[i].kind != STREAM_MIGRATIONS)
            status = link_stream(nsys, &nsys->streams[i], err);
    }
    if (status == WEIR_OK)
        status = link_waits(nsys, err);
    if (status == WEIR_OK)
        status = link_migrations(nsys, err);
    if (status == WEIR_OK)
        status = link_late_work(nsys, err);
    return status == WEIR_OK ? link_cut_waits(nsys, err) : status;
}
