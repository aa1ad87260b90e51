/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing the steps of a run over to the device, in their order, and waiting for it.
 *
 * With the gate, every stream begins with a wait for a word of the host's memory, which is written
 * when all has been handed over: no step waits for its submission then. A stream takes only so many
 * commands; the gate is opened early before one is full, and the run says so. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "replay/cuda_internal.h"
#include "replay/steps.h"

#define COMMANDS_MOST 480 /* in a stream behind the gate; about 1000 block whoever adds more */
#define GATE_LIMIT_NS 20000000000 /* a gate or a clock that nobody ends gives up */
#define LEAD_NS 30000             /* a paced step is handed over so long before its time */
#define POLL_NS ((int64_t)20000)

int64_t cuda_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void rest(int64_t ns)
{
    struct timespec span = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};

    (void)nanosleep(&span, NULL);
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

static enum weir_status record(struct cuda *cuda, cu_event event, cu_stream stream,
                               struct weir_error *err)
{
    return cuda_check(&cuda->context, cuda->context.driver.event_record(event, stream),
                      "cuEventRecord", err);
}

static cu_stream stream_of(const struct cuda *cuda, uint32_t queue)
{
    return queue == STEP_NO_QUEUE ? cuda->control : cuda->queues[queue].stream;
}

/* Notes an operation that the next call makes. Without CUPTI its time lies between two events. */
static enum weir_status begin_op(struct cuda *cuda, struct cuda_op op, struct weir_error *err)
{
    enum weir_status status = array_grow(&cuda->ops, &cuda->ops_room, cuda->n_ops + 1, err);

    while (status == WEIR_OK && cuda->timing == CUDA_BY_EVENTS &&
           cuda->n_timers < 2 * (cuda->n_ops + 1)) {
        status = take_timer(cuda, err);
    }
    if (status == WEIR_OK && cuda->timing == CUDA_BY_EVENTS) {
        status = record(cuda, cuda->timers[2 * cuda->n_ops], stream_of(cuda, op.queue), err);
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

static enum weir_status end_op(struct cuda *cuda, cu_result result, const char *call,
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
        status = record(cuda, cuda->timers[2 * cuda->n_ops + 1], stream_of(cuda, op->queue), err);
    }
    cuda->n_ops++;
    if (op->queue != STEP_NO_QUEUE) {
        cuda->queues[op->queue].n_pending += cuda->timing == CUDA_BY_EVENTS ? 3 : 1;
    }
    return status;
}

static enum weir_status launch(struct cuda *cuda, struct cuda_op op, enum cuda_kernel kernel,
                               void **values, struct weir_error *err)
{
    bool is_wide = kernel == CUDA_FMA || kernel == CUDA_READ;
    unsigned blocks = is_wide ? (unsigned)cuda->context.n_processors : 1;
    unsigned threads = is_wide || kernel == CUDA_TAGS ? KERNEL_CUDA_THREADS : 1;
    enum weir_status status;

    op.kind = RECORD_KERNEL;
    status = begin_op(cuda, op, err);
    if (status != WEIR_OK) {
        return status;
    }
    return end_op(cuda,
                  cuda->context.driver.launch_kernel(cuda->context.kernels[kernel], blocks, 1, 1,
                                                     threads, 1, 1, 0, stream_of(cuda, op.queue),
                                                     values, NULL),
                  "cuLaunchKernel", err);
}

/* ---- the gate ---- */

static void open_gate(struct cuda *cuda)
{
    if (!cuda->is_open) {
        cuda->is_open = true;
        cuda->begin_ns = cuda_clock_ns();
        __atomic_store_n(&cuda->gate[0], 1, __ATOMIC_SEQ_CST);
    }
}

static enum weir_status shut_stream(struct cuda *cuda, uint32_t queue, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    uint64_t word = cuda->gate_address, limit_ns = GATE_LIMIT_NS;
    uint64_t timed_out = cuda->gate_address + sizeof(uint32_t);
    void *values[] = {&word, &limit_ns, &timed_out};

    if (cuda->context.has_wait_value) {
        return cuda_check(&cuda->context,
                          driver->stream_wait_value32(stream_of(cuda, queue), cuda->gate_address, 1,
                                                      GPU_WAIT_VALUE_GEQ),
                          "cuStreamWaitValue32", err);
    }
    return launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = queue}, CUDA_GATE, values,
                  err);
}

static enum weir_status shut_gate(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = shut_stream(cuda, STEP_NO_QUEUE, err);

    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        if (cuda->queues[q].n_steps > 0) {
            status = shut_stream(cuda, q, err);
        }
    }
    return status;
}

/* Takes down on the device when the run begins, for those that count from then. */
static enum weir_status mark_begin(struct cuda *cuda, struct weir_error *err)
{
    uint64_t slot = cuda_slot_address(cuda, 0);
    void *values[] = {&slot};
    enum weir_status status;

    cuda->begin_op = cuda->n_ops;
    status = launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = STEP_NO_QUEUE}, CUDA_TIME,
                    values, err);

    if (status == WEIR_OK) {
        if (cuda->opened_timer == NULL) {
            status = cuda_check(
                &cuda->context,
                cuda->context.driver.event_create(&cuda->opened_timer, GPU_EVENT_DEFAULT),
                "cuEventCreate", err);
        }
        if (status == WEIR_OK) {
            status = record(cuda, cuda->opened_timer, cuda->control, err);
        }
    }
    return status == WEIR_OK ? record(cuda, cuda->opened, cuda->control, err) : status;
}

/* ---- a step ---- */

static enum weir_status wait_event(struct cuda *cuda, uint32_t queue, cu_event event,
                                   struct weir_error *err)
{
    cuda->queues[queue].n_pending++;
    return cuda_check(&cuda->context,
                      cuda->context.driver.stream_wait_event(stream_of(cuda, queue), event, 0),
                      "cuStreamWaitEvent", err);
}

static enum weir_status take_time(struct cuda *cuda, uint32_t index, uint32_t slot,
                                  struct weir_error *err)
{
    uint64_t address;
    void *values[] = {&address};

    if (slot == WEIR_NONE) {
        return WEIR_OK;
    }
    address = cuda_slot_address(cuda, slot);
    return launch(cuda,
                  (struct cuda_op){.step = WEIR_NONE, .queue = cuda->steps[index].given.queue},
                  CUDA_TIME, values, err);
}

/* Holds the stream until the delay is over. */
static enum weir_status hold(struct cuda *cuda, uint32_t queue, const struct cuda_delay *delay,
                             struct weir_error *err)
{
    uint64_t slot, after_ns = (uint64_t)delay->after_ns, limit_ns = GATE_LIMIT_NS + after_ns;
    uint64_t timed_out = cuda->gate_address + sizeof(uint32_t);
    void *values[] = {&slot, &after_ns, &limit_ns, &timed_out};
    enum weir_status status = WEIR_OK;

    if (delay->queue == STEP_NO_QUEUE) {
        slot = cuda_slot_address(cuda, 0);
        if (!cuda->queues[queue].knows_begin) {
            cuda->queues[queue].knows_begin = true;
            status = wait_event(cuda, queue, cuda->opened, err);
        }
    } else {
        const struct cuda_step *producer = cuda_step_at(cuda, delay->queue, delay->point);

        slot = cuda_slot_address(cuda, delay->point % 2 == 1 ? producer->begun_slot
                                                             : producer->ended_slot);
    }
    return status == WEIR_OK ? launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = queue},
                                      CUDA_UNTIL, values, err)
                             : status;
}

static enum weir_status wait_needs(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    struct cuda_step *step = &cuda->steps[index];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < step->n_needs && status == WEIR_OK; i++) {
        const struct cuda_need *need = &step->needs[i];
        const struct cuda_step *producer = cuda_step_at(cuda, need->queue, need->point);

        status = wait_event(cuda, step->given.queue,
                            need->point % 2 == 1 ? producer->begun : producer->ended, err);
    }
    for (uint32_t i = 0; i < step->requires.n_delays && status == WEIR_OK; i++) {
        status = hold(cuda, step->given.queue, &step->requires.delays[i], err);
    }
    return status;
}

static struct cuda_op work_op(const struct cuda *cuda, uint32_t index)
{
    return (struct cuda_op){
        .step = index, .queue = cuda->steps[index].given.queue, .is_work = true};
}

static enum weir_status compute(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    uint64_t work = cuda_work_address(cuda, index);
    uint64_t iterations = (uint64_t)cuda->steps[index].given.amount;
    uint64_t sink = cuda->words + CUDA_WORD_SINK * sizeof(uint64_t);
    float seed = 1e-3F;
    void *values[] = {&work, &iterations, &seed, &sink};

    return launch(cuda, work_op(cuda, index), CUDA_FMA, values, err);
}

static enum weir_status stream(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct step *step = &cuda->steps[index].given;
    struct cuda_queue *queue = &cuda->queues[step->queue];
    uint64_t work = cuda_work_address(cuda, index);
    uint64_t window = cuda->window, window_units = (uint64_t)cuda->window_units;
    uint64_t from = (uint64_t)queue->stream_at;
    uint64_t units =
        ((uint64_t)step->amount + KERNEL_CUDA_READ_UNIT_BYTES - 1) / KERNEL_CUDA_READ_UNIT_BYTES;
    uint64_t sink = cuda->words + CUDA_WORD_SINK * sizeof(uint64_t);
    uint32_t seed = 1;
    void *values[] = {&work, &window, &window_units, &from, &units, &seed, &sink};

    queue->stream_at = (int64_t)((from + units) % window_units);
    return launch(cuda, work_op(cuda, index), CUDA_READ, values, err);
}

/* An action without work of its own, that still finds and leaves data. */
static enum weir_status tags(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    uint64_t work = cuda_work_address(cuda, index);
    void *values[] = {&work};

    return launch(cuda, work_op(cuda, index), CUDA_TAGS, values, err);
}

static enum weir_status move(struct cuda *cuda, uint32_t index, int64_t at, int64_t bytes,
                             struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    const struct step *step = &cuda->steps[index].given;
    const struct cuda_buffer *from = &cuda->buffers[step->reads[0].buffer];
    const struct cuda_buffer *to = &cuda->buffers[step->writes[0].buffer];
    int64_t read_at = step->reads[0].offset + at, write_at = step->writes[0].offset + at;
    cu_stream in = cuda->queues[step->queue].stream;
    struct cuda_op op = work_op(cuda, index);
    enum weir_status status;

    op.kind = RECORD_MEMCPY;
    op.bytes = bytes;
    status = begin_op(cuda, op, err);
    if (status != WEIR_OK) {
        return status;
    }
    if (from->host != NULL) {
        return end_op(cuda,
                      driver->memcpy_htod_async(to->address + (cu_deviceptr)write_at,
                                                from->host + read_at, (size_t)bytes, in),
                      "cuMemcpyHtoDAsync", err);
    }
    if (to->host != NULL) {
        return end_op(cuda,
                      driver->memcpy_dtoh_async(to->host + write_at,
                                                from->address + (cu_deviceptr)read_at,
                                                (size_t)bytes, in),
                      "cuMemcpyDtoHAsync", err);
    }
    return end_op(cuda,
                  driver->memcpy_dtod_async(to->address + (cu_deviceptr)write_at,
                                            from->address + (cu_deviceptr)read_at, (size_t)bytes,
                                            in),
                  "cuMemcpyDtoDAsync", err);
}

/* Through the window round and round: one call a round. */
static enum weir_status copy(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct step *step = &cuda->steps[index].given;
    int64_t source_bytes = steps_stretch_bytes(step->reads, step->n_copied);
    int64_t target_bytes = steps_stretch_bytes(step->writes, step->n_copied);
    int64_t window_bytes = source_bytes < target_bytes ? source_bytes : target_bytes;
    enum weir_status status = WEIR_OK;

    if (window_bytes == 0 || step->reads[0].buffer == step->writes[0].buffer) {
        return WEIR_OK;
    }
    for (int64_t left = step->amount; left > 0 && status == WEIR_OK;) {
        int64_t piece = left < window_bytes ? left : window_bytes;

        status = move(cuda, index, 0, piece, err);
        left -= piece;
    }
    return status;
}

static enum weir_status act(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct step *step = &cuda->steps[index].given;

    switch (step->action) {
    case STEP_COMPUTE:
        return compute(cuda, index, err);
    case STEP_STREAM:
        return stream(cuda, index, err);
    case STEP_COPY:
        return copy(cuda, index, err);
    case STEP_ALLOCATE:
    case STEP_RECLAIM:
        return step->amount > 0 ? compute(cuda, index, err) : WEIR_OK;
    case STEP_MARK:
        return step->n_reads + step->n_writes > 0 ? tags(cuda, index, err) : WEIR_OK;
    case STEP_PASS:
        break;
    }
    return WEIR_OK;
}

static enum weir_status mark(struct cuda *cuda, uint32_t queue, cu_event event,
                             struct weir_error *err)
{
    if (event == NULL) {
        return WEIR_OK;
    }
    cuda->queues[queue].n_pending++;
    return record(cuda, event, cuda->queues[queue].stream, err);
}

static enum weir_status hand_over(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    struct cuda_step *step = &cuda->steps[index];
    uint32_t queue = step->given.queue;
    enum weir_status status = wait_needs(cuda, index, err);

    if (status == WEIR_OK) {
        status = cuda_pool_begin(cuda, index, err);
    }
    if (status == WEIR_OK) {
        status = take_time(cuda, index, step->begun_slot, err);
    }
    if (status == WEIR_OK) {
        status = mark(cuda, queue, step->begun, err);
    }
    if (status == WEIR_OK) {
        status = act(cuda, index, err);
    }
    if (status == WEIR_OK) {
        status = take_time(cuda, index, step->ended_slot, err);
    }
    step->submit_ns = cuda_clock_ns();
    return status == WEIR_OK ? mark(cuda, queue, step->ended, err) : status;
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

/* ---- a run ---- */

static void begin_run(struct cuda *cuda)
{
    cuda->gate[0] = 0;
    cuda->gate[1] = 0;
    cuda->is_open = false;
    cuda->was_opened_early = false;
    cuda->first_id += cuda->n_ops + 1; /* ids of one device are never given twice */
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
            status = hand_over(cuda, i, err);
            if (!cuda->is_open && cuda->queues[queue].n_pending > COMMANDS_MOST) {
                cuda->was_opened_early = true;
                open_gate(cuda);
            }
        }
        if (status == WEIR_OK) {
            status = cuda_pool_end(cuda, i, err);
        }
        if (status == WEIR_OK && cuda->setup.mode == DEVICE_SERIAL) {
            status = wait_device(cuda, err);
        }
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
            status = record(cuda, queue->over, queue->stream, err);
        }
    }
    return status;
}

enum weir_status cuda_run(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    begin_run(cuda);
    if (cuda->setup.mode == DEVICE_GATED) {
        status = shut_gate(cuda, err);
    } else {
        open_gate(cuda);
    }
    if (status == WEIR_OK) {
        status = mark_begin(cuda, err);
    }
    if (status == WEIR_OK) {
        status = hand_over_all(cuda, err);
    }
    if (status == WEIR_OK && cuda->timing != CUDA_BY_EVENTS) {
        status = mark_over(cuda, err);
    }
    open_gate(cuda);
    if (status == WEIR_OK) {
        status = wait_device(cuda, err);
    }
    if (status == WEIR_OK && cuda->gate[1] != 0) {
        return weir_error_set(err, WEIR_DEVICE,
                              "the device gave up waiting for the host: this process had no "
                              "processor for %d s",
                              (int)(GATE_LIMIT_NS / 1000000000));
    }
    return status;
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

enum weir_status cuda_bare_ns(struct cuda *cuda, int64_t *out, struct weir_error *err)
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
