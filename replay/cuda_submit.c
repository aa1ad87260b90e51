/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step handed over to the device: what its stream waits for, its place in memory, its work, and who
 * is told of its begin and its end. */
#include "replay/cuda_internal.h"
#include "replay/steps.h"

static enum weir_status wait_event(struct cuda *cuda, uint32_t queue, cu_event event,
                                   struct weir_error *err)
{
    cuda->queues[queue].n_pending++;
    return cuda_check(&cuda->context,
                      cuda->context.driver.stream_wait_event(cuda_stream_of(cuda, queue), event, 0),
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
    return cuda_launch(cuda,
                       (struct cuda_op){.step = WEIR_NONE, .queue = cuda->steps[index].given.queue},
                       CUDA_TIME, values, err);
}

/* Holds the stream until the delay is over. */
static enum weir_status hold(struct cuda *cuda, uint32_t queue, const struct cuda_delay *delay,
                             struct weir_error *err)
{
    uint64_t slot, after_ns = (uint64_t)delay->after_ns, limit_ns = CUDA_LIMIT_NS + after_ns;
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
    return status == WEIR_OK
               ? cuda_launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = queue}, CUDA_UNTIL,
                             values, err)
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

    return cuda_launch(cuda, work_op(cuda, index), CUDA_FMA, values, err);
}

/* Which units of its window a step goes through: as many as its amount has bytes, from where the last of
 * its queue stopped. */
struct units {
    uint64_t window, n_in_window, from, n;
};

static struct units take_units(struct cuda *cuda, uint32_t index)
{
    const struct step *step = &cuda->steps[index].given;
    const struct cuda_window *window = &cuda->windows[step->action];
    int64_t *at = &cuda->queues[step->queue].window_at[step->action];
    struct units units = {.window = window->address,
                          .n_in_window = (uint64_t)window->n_units,
                          .from = (uint64_t)*at,
                          .n = ((uint64_t)step->amount + KERNEL_CUDA_UNIT_BYTES - 1) /
                               KERNEL_CUDA_UNIT_BYTES};

    *at = (int64_t)((units.from + units.n) % units.n_in_window);
    return units;
}

static enum weir_status read_window(struct cuda *cuda, uint32_t index, enum cuda_kernel kernel,
                                    struct weir_error *err)
{
    struct units units = take_units(cuda, index);
    uint64_t work = cuda_work_address(cuda, index);
    uint64_t sink = cuda->words + CUDA_WORD_SINK * sizeof(uint64_t);
    uint32_t seed = 1;
    void *values[] = {&work, &units.window, &units.n_in_window, &units.from, &units.n,
                      &seed, &sink};

    return cuda_launch(cuda, work_op(cuda, index), kernel, values, err);
}

_Static_assert(STEP_MIX_FMAS *KERNEL_CUDA_MIX_BYTES / STEP_MIX_BYTES % 4 == 0,
               "weir_mix does multiply-adds four at a time");

static enum weir_status mix(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    struct units units = take_units(cuda, index);
    uint64_t work = cuda_work_address(cuda, index);
    uint32_t intensity = STEP_MIX_FMAS * KERNEL_CUDA_MIX_BYTES / STEP_MIX_BYTES;
    float seed = 1e-3F;
    void *values[] = {&work,      &units.window, &units.n_in_window, &units.from, &units.n,
                      &intensity, &seed};

    return cuda_launch(cuda, work_op(cuda, index), CUDA_MIX, values, err);
}

/* An action without work of its own, that still finds and leaves data. */
static enum weir_status tags(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    uint64_t work = cuda_work_address(cuda, index);
    void *values[] = {&work};

    return cuda_launch(cuda, work_op(cuda, index), CUDA_TAGS, values, err);
}

static enum weir_status move(struct cuda *cuda, uint32_t index, int64_t bytes,
                             struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    const struct step *step = &cuda->steps[index].given;
    const struct cuda_buffer *from = &cuda->buffers[step->reads[0].buffer];
    const struct cuda_buffer *to = &cuda->buffers[step->writes[0].buffer];
    int64_t read_at = step->reads[0].offset, write_at = step->writes[0].offset;
    cu_stream in = cuda->queues[step->queue].stream;
    struct cuda_op op = work_op(cuda, index);
    enum weir_status status;

    op.kind = RECORD_MEMCPY;
    op.bytes = bytes;
    status = cuda_op_begin(cuda, op, err);
    if (status != WEIR_OK) {
        return status;
    }
    if (from->host != NULL) {
        return cuda_op_end(cuda,
                           driver->memcpy_htod_async(to->address + (cu_deviceptr)write_at,
                                                     from->host + read_at, (size_t)bytes, in),
                           "cuMemcpyHtoDAsync", err);
    }
    if (to->host != NULL) {
        return cuda_op_end(cuda,
                           driver->memcpy_dtoh_async(to->host + write_at,
                                                     from->address + (cu_deviceptr)read_at,
                                                     (size_t)bytes, in),
                           "cuMemcpyDtoHAsync", err);
    }
    return cuda_op_end(cuda,
                       driver->memcpy_dtod_async(to->address + (cu_deviceptr)write_at,
                                                 from->address + (cu_deviceptr)read_at,
                                                 (size_t)bytes, in),
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

        status = move(cuda, index, piece, err);
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
        return read_window(cuda, index, CUDA_READ, err);
    case STEP_CACHE:
        return read_window(cuda, index, CUDA_READ_L2, err);
    case STEP_MIX:
        return mix(cuda, index, err);
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
    return cuda_record(cuda, event, cuda->queues[queue].stream, err);
}

enum weir_status cuda_hand_over(struct cuda *cuda, uint32_t index, struct weir_error *err)
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
