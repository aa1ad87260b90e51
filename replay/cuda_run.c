/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing the steps of a run over to the device, in their order, and waiting for it.
 *
 * A stream takes only so many commands; the gate is opened early before one is full, and the run says
 * so. */
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "replay/cuda_internal.h"

#define LEAD_NS 30000 /* a paced step is handed over so long before its time */
#define POLL_NS ((int64_t)20000)

static void rest(int64_t ns)
{
    struct timespec span = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};

    (void)nanosleep(&span, NULL);
}

/* ---- the beginning ---- */

/* Takes down on the device when the run begins, for those that count from then. */
static enum weir_status mark_begin(struct cuda *cuda, struct weir_error *err)
{
    uint64_t slot = cuda_slot_address(cuda, 0);
    void *values[] = {&slot};
    enum weir_status status;

    cuda->begin_op = cuda->n_ops;
    status = cuda_launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = STEP_NO_QUEUE},
                         CUDA_TIME, values, err);

    if (status == WEIR_OK) {
        if (cuda->opened_timer == NULL) {
            status = cuda_check(
                &cuda->context,
                cuda->context.driver.event_create(&cuda->opened_timer, GPU_EVENT_DEFAULT),
                "cuEventCreate", err);
        }
        if (status == WEIR_OK) {
            status = cuda_record(cuda, cuda->opened_timer, cuda->control, err);
        }
        cuda->recorded_ns = cuda_clock_ns();
    }
    return status == WEIR_OK ? cuda_record(cuda, cuda->opened, cuda->control, err) : status;
}

/* ---- waiting for the device ---- */

/* The first step of a stream that has not ended, for the message; only what has an event is known. */
static enum weir_status fail_late(struct cuda *cuda, struct weir_error *err)
{
    char name[160] = "the run";

    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        if (cuda->steps[i].ended != NULL &&
            cuda->context.driver.event_query(cuda->steps[i].ended) == GPU_NOT_READY) {
            (void)cuda_step_name(cuda, i, name, sizeof name);
            break;
        }
    }
    cuda->is_stuck = true;
    return weir_error_set(err, WEIR_DEVICE,
                          "%s had not finished after %.3f s, the most that this replay may take: "
                          "the device is far slower than the plan, or an action waits for ever",
                          name, (double)cuda->setup.deadline_ns * 1e-9);
}

static enum weir_status wait_stream(struct cuda *cuda, cu_stream stream_, int64_t until_ns,
                                    struct weir_error *err)
{
    cu_result result = cuda->context.driver.stream_query(stream_);

    while (result == GPU_NOT_READY) {
        if (cuda_clock_ns() > until_ns) {
            return fail_late(cuda, err);
        }
        rest(POLL_NS);
        result = cuda->context.driver.stream_query(stream_);
    }
    return cuda_check(&cuda->context, result, "the device", err);
}

static enum weir_status wait_device(struct cuda *cuda, struct weir_error *err)
{
    int64_t until_ns;
    enum weir_status status = WEIR_OK;

    if (__builtin_add_overflow(cuda->begin_ns, cuda->setup.deadline_ns, &until_ns)) {
        until_ns = INT64_MAX;
    }
    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        status = wait_stream(cuda, cuda->queues[q].stream, until_ns, err);
    }
    if (status == WEIR_OK) {
        status = wait_stream(cuda, cuda->control, until_ns, err);
    }
    return status == WEIR_OK ? wait_stream(cuda, cuda->reclaim, until_ns, err) : status;
}

enum weir_status cuda_catch_up(struct cuda *cuda, struct weir_error *err)
{
    cuda_gate_open_early(cuda);
    return wait_device(cuda, err);
}

/* ---- a run ---- */

static void begin_run(struct cuda *cuda)
{
    cuda_gate_reset(cuda);
    cuda->placed.n_pool_waits = 0;
    cuda->clock_off_ns = 0;
    cuda->first_id = cuda_trace_next_id();
    cuda->n_ops = 0;
    for (uint32_t q = 0; q < cuda->setup.n_queues; q++) {
        cuda->queues[q].n_pending = 0;
        cuda->queues[q].knows_begin = false;
    }
}

static void pace(struct cuda *cuda, uint32_t index)
{
    int64_t until_ns = cuda->begin_ns + cuda->steps[index].given.planned_ns - LEAD_NS;
    int64_t left_ns = until_ns - cuda_clock_ns();

    if (left_ns > 2 * POLL_NS) {
        rest(left_ns - 2 * POLL_NS);
    }
    while (cuda_clock_ns() < until_ns) {
        (void)sched_yield();
    }
}

static enum weir_status hand_over_all(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < cuda->n_submitted && status == WEIR_OK; i++) {
        uint32_t queue = cuda->steps[i].given.queue;

        if (queue != STEP_NO_QUEUE) {
            if (cuda->setup.mode == DEVICE_PACED) {
                pace(cuda, i);
            }
            status = cuda_hand_over(cuda, i, err);
            if (!cuda_gate_is_open(cuda) && cuda->queues[queue].n_pending > CUDA_COMMANDS_MOST) {
                cuda_gate_open_early(cuda);
            }
        }
        if (status == WEIR_OK) {
            status = cuda_pool_end(cuda, i, err);
        }
        if (status == WEIR_OK && cuda->setup.mode == DEVICE_SERIAL) {
            status = wait_device(cuda, err);
        }
        cuda_gate_count(cuda);
    }
    return status;
}

static enum weir_status mark_over(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        struct cuda_queue *queue = &cuda->queues[q];

        if (queue->over == NULL) {
            status = cuda_check(&cuda->context,
                                cuda->context.driver.event_create(&queue->over, GPU_EVENT_DEFAULT),
                                "cuEventCreate", err);
        }
        if (status == WEIR_OK) {
            status = cuda_record(cuda, queue->over, queue->stream, err);
        }
    }
    cuda->marked_ns = cuda_clock_ns();
    return status;
}

enum weir_status cuda_run(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    begin_run(cuda);
    if (cuda->setup.mode == DEVICE_GATED) {
        status = cuda_gate_shut(cuda, err);
    } else {
        cuda_gate_open(cuda);
    }
    if (status == WEIR_OK) {
        status = mark_begin(cuda, err);
    }
    if (status == WEIR_OK) {
        status = hand_over_all(cuda, err);
    }
    if (status == WEIR_OK) {
        status = mark_over(cuda, err);
    }
    cuda_gate_open(cuda);
    if (status == WEIR_OK) {
        status = wait_device(cuda, err);
    }
    cuda->over_ns = cuda_clock_ns();
    if (status == WEIR_OK && cuda_gate_gave_up(cuda)) {
        return weir_error_set(err, WEIR_DEVICE,
                              "the device gave up waiting for the host: this process had no "
                              "processor for %d s",
                              (int)(CUDA_LIMIT_NS / 1000000000));
    }
    return status;
}
