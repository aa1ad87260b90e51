/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations of the device: each is one call, known by its number, whose time CUPTI or two events tell. */
#include <time.h>

#include "base/array.h"
#include "replay/cuda_internal.h"

int64_t cuda_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- operations ---- */

static enum weir_status take_timer(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status =
        array_grow(&cuda->timers, &cuda->timers_room, cuda->n_timers + 1, err);

    if (status == WEIR_OK) {
        status = cuda_check(
            &cuda->context,
            cuda->context.driver.event_create(&cuda->timers[cuda->n_timers], GPU_EVENT_DEFAULT),
            "cuEventCreate", err);
    }
    cuda->n_timers += status == WEIR_OK;
    return status;
}

enum weir_status cuda_record(struct cuda *cuda, cu_event event, cu_stream stream,
                             struct weir_error *err)
{
    return cuda_check(&cuda->context, cuda->context.driver.event_record(event, stream),
                      "cuEventRecord", err);
}

cu_stream cuda_stream_of(const struct cuda *cuda, uint32_t queue)
{
    return queue == STEP_NO_QUEUE ? cuda->control : cuda->queues[queue].stream;
}

/* Notes an operation that the next call makes. Without CUPTI its time lies between two events. */
enum weir_status cuda_op_begin(struct cuda *cuda, struct cuda_op op, struct weir_error *err)
{
    enum weir_status status = array_grow(&cuda->ops, &cuda->ops_room, cuda->n_ops + 1, err);

    while (status == WEIR_OK && cuda->timing == CUDA_BY_EVENTS &&
           cuda->n_timers < 2 * (cuda->n_ops + 1)) {
        status = take_timer(cuda, err);
    }
    if (status == WEIR_OK && cuda->timing == CUDA_BY_EVENTS) {
        status =
            cuda_record(cuda, cuda->timers[2 * cuda->n_ops], cuda_stream_of(cuda, op.queue), err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (cuda->timing == CUDA_BY_TRACE) {
        cuda_trace_push(cuda->first_id + cuda->n_ops);
    }
    op.called_ns = cuda_clock_ns();
    cuda->ops[cuda->n_ops] = op;
    return WEIR_OK;
}

enum weir_status cuda_op_end(struct cuda *cuda, cu_result result, const char *call,
                             struct weir_error *err)
{
    struct cuda_op *op = &cuda->ops[cuda->n_ops];
    enum weir_status status;

    op->returned_ns = cuda_clock_ns();
    if (cuda->timing == CUDA_BY_TRACE) {
        cuda_trace_pop();
    }
    status = cuda_check(&cuda->context, result, call, err);
    if (status == WEIR_OK && cuda->timing == CUDA_BY_EVENTS) {
        status = cuda_record(cuda, cuda->timers[2 * cuda->n_ops + 1],
                             cuda_stream_of(cuda, op->queue), err);
    }
    cuda->n_ops++;
    if (op->queue != STEP_NO_QUEUE) {
        cuda->queues[op->queue].n_pending += CUDA_OP_COMMANDS;
    }
    return status;
}

enum weir_status cuda_launch(struct cuda *cuda, struct cuda_op op, enum cuda_kernel kernel,
                             void **values, struct weir_error *err)
{
    bool is_wide = kernel <= CUDA_MIX;
    unsigned blocks = is_wide ? (unsigned)cuda->context.n_processors : 1;
    unsigned threads = is_wide || kernel == CUDA_TAGS ? KERNEL_CUDA_THREADS : 1;
    enum weir_status status;

    op.kind = RECORD_KERNEL;
    status = cuda_op_begin(cuda, op, err);
    if (status != WEIR_OK) {
        return status;
    }
    return cuda_op_end(
        cuda,
        cuda->context.driver.launch_kernel(cuda->context.kernels[kernel], blocks, 1, 1, threads, 1,
                                           1, 0, cuda_stream_of(cuda, op.queue), values, NULL),
        "cuLaunchKernel", err);
}

/* ---- times of events ---- */

enum weir_status cuda_since_open(struct cuda *cuda, cu_event event, int64_t *out,
                                 struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    float ms = 0;
    enum weir_status status =
        cuda_check(&cuda->context,
                   driver->event_elapsed_time_v2 != NULL
                       ? driver->event_elapsed_time_v2(&ms, cuda->opened_timer, event)
                       : driver->event_elapsed_time(&ms, cuda->opened_timer, event),
                   "cuEventElapsedTime", err);

    *out = (int64_t)((double)ms * 1e6 + 0.5);
    return status;
}

enum weir_status cuda_run_length(struct cuda *cuda, int64_t *out, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    *out = 0;
    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        int64_t over_ns = 0;

        status = cuda_since_open(cuda, cuda->queues[q].over, &over_ns, err);
        *out = over_ns > *out ? over_ns : *out;
    }
    return status;
}
