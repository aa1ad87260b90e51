/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA device's face: what it is, opening, taking steps, draining, closing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_internal.h"
#include "replay/devices.h"
#include "replay/steps.h"

#define TRIES 3 /* of a run that cannot be trusted */

const char *cuda_step_name(const struct cuda *cuda, uint32_t step, char *out, size_t out_bytes)
{
    if (cuda->setup.graph != NULL) {
        (void)snprintf(out, out_bytes, "%s",
                       graph_node_name(cuda->setup.graph, cuda->steps[step].given.node));
    } else {
        (void)snprintf(out, out_bytes, "step %u", step);
    }
    return out;
}

const char *cuda_buffer_name(const struct cuda *cuda, uint32_t buffer, char *out, size_t out_bytes)
{
    weir_object object = cuda->setup.buffers[buffer].object;

    if (cuda->setup.graph != NULL && weir_is(object)) {
        return graph_object_name(cuda->setup.graph, object);
    }
    (void)snprintf(out, out_bytes, "buffer %u", buffer);
    return out;
}

static enum weir_status cuda_probe(struct device_info *out, struct weir_error *err)
{
    (void)err;
    cuda_describe(out);
    return WEIR_OK;
}

/* ---- opening and closing ---- */

static void destroy_events(struct cuda *cuda)
{
    const struct cuda_driver *driver = &cuda->context.driver;

    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        cu_event events[] = {cuda->steps[i].begun, cuda->steps[i].ended};

        for (int e = 0; e < 2; e++) {
            if (events[e] != NULL) {
                (void)driver->event_destroy(events[e]);
            }
        }
    }
    for (size_t i = 0; i < cuda->n_timers; i++) {
        (void)driver->event_destroy(cuda->timers[i]);
    }
    if (cuda->opened != NULL) {
        (void)driver->event_destroy(cuda->opened);
    }
    if (cuda->opened_timer != NULL) {
        (void)driver->event_destroy(cuda->opened_timer);
    }
}

static void destroy_streams(struct cuda *cuda)
{
    cu_stream streams[] = {cuda->control, cuda->reclaim};

    for (uint32_t q = 0; cuda->queues != NULL && q < cuda->setup.n_queues; q++) {
        if (cuda->queues[q].stream != NULL) {
            (void)cuda->context.driver.stream_destroy(cuda->queues[q].stream);
        }
        if (cuda->queues[q].over != NULL) {
            (void)cuda->context.driver.event_destroy(cuda->queues[q].over);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (streams[i] != NULL) {
            (void)cuda->context.driver.stream_destroy(streams[i]);
        }
    }
}

/* The context stays: see cuda_context_open. */
static void cuda_close(struct device *device)
{
    struct cuda *cuda = (struct cuda *)device;

    if (cuda == NULL || cuda->is_stuck) {
        return;
    }
    if (cuda->gate != NULL) {
        __atomic_store_n(cuda->gate, 1, __ATOMIC_SEQ_CST); /* nothing waits for it any more */
    }
    if (cuda->context.context != NULL) {
        (void)cuda->context.driver.ctx_synchronize();
        destroy_events(cuda);
        cuda_memory_free(cuda);
        destroy_streams(cuda);
    }
    free(cuda->ops);
    free(cuda->timers);
    arena_free(&cuda->arena);
    free(cuda);
}

static enum weir_status make_stream(struct cuda *cuda, cu_stream *stream, struct weir_error *err)
{
    return cuda_check(
        &cuda->context,
        cuda->context.driver.stream_create_with_priority(stream, GPU_STREAM_NON_BLOCKING, 0),
        "cuStreamCreateWithPriority", err);
}

static enum weir_status set_up(struct cuda *cuda, struct weir_error *err)
{
    const struct device_setup *setup = &cuda->setup;
    enum weir_status status = cuda_context_find(&cuda->context, err);

    if (status != WEIR_OK) {
        return status;
    }
    /* CUPTI takes the sizes of its buffers only before there is a context. */
    cuda->has_trace = cuda_trace_begin(cuda->context.driver.version, cuda->why_no_trace);
    status = cuda_context_open(&cuda->context, err);
    if (status != WEIR_OK) {
        return status;
    }
    cuda->steps = arena_array(&cuda->arena, (size_t)setup->n_steps + 1, sizeof *cuda->steps);
    cuda->queues = arena_array(&cuda->arena, (size_t)setup->n_queues + 1, sizeof *cuda->queues);
    cuda->buffers = arena_array(&cuda->arena, (size_t)setup->n_buffers + 1, sizeof *cuda->buffers);
    if (cuda->steps == NULL || cuda->queues == NULL || cuda->buffers == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t q = 0; q < setup->n_queues && status == WEIR_OK; q++) {
        status = make_stream(cuda, &cuda->queues[q].stream, err);
    }
    if (status == WEIR_OK) {
        status = make_stream(cuda, &cuda->control, err);
    }
    if (status == WEIR_OK) {
        status = make_stream(cuda, &cuda->reclaim, err);
    }
    return status == WEIR_OK ? cuda_check(&cuda->context,
                                          cuda->context.driver.event_create(
                                              &cuda->opened, GPU_EVENT_DISABLE_TIMING),
                                          "cuEventCreate", err)
                             : status;
}

static enum weir_status cuda_open(const struct device_setup *setup, struct device **out,
                                  struct weir_error *err)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    enum weir_status status;

    if (cuda == NULL) {
        return weir_error_memory(err);
    }
    cuda->base.ops = &device_cuda;
    cuda->setup = *setup;
    status = set_up(cuda, err);
    if (status != WEIR_OK) {
        cuda_close(&cuda->base);
        return status;
    }
    *out = &cuda->base;
    return WEIR_OK;
}

/* ---- taking steps ---- */

static const struct mechanism mechanisms[] = {
    [STEP_COMPUTE] = {"multiply-add kernel in a stream", NULL},
    [STEP_STREAM] = {"streaming read kernel in a stream", NULL},
    [STEP_CACHE] = {"read kernel in the second cache in a stream", NULL},
    [STEP_MIX] = {"kernel of reads, multiply-adds and writes in a stream", NULL},
    [STEP_COPY] = {"asynchronous copy in a stream", NULL},
    [STEP_ALLOCATE] = {"place in memory", NULL},
    [STEP_RECLAIM] = {"place given back", NULL},
    [STEP_MARK] = {"no operation: its time is that of what it waits for", NULL},
    [STEP_PASS] = {"does not run; its edges pass on", NULL},
};

static enum weir_status cuda_submit(struct device *device, const struct step *given,
                                    struct mechanism *how, struct weir_error *err)
{
    struct cuda *cuda = (struct cuda *)device;
    enum weir_status status = steps_take(&cuda->setup, cuda->n_submitted, given, &cuda->arena,
                                         &cuda->steps[cuda->n_submitted].given, err);

    if (status != WEIR_OK) {
        return status;
    }
    *how = mechanisms[given->action];
    cuda->n_submitted++;
    return WEIR_OK;
}

/* ---- draining ---- */

static enum weir_status write_spans(const struct cuda *cuda, struct timeline *out,
                                    struct weir_error *err)
{
    struct steps_span *spans = malloc((cuda->n_submitted + (size_t)1) * sizeof *spans);
    uint32_t n = 0;

    if (spans == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        const struct cuda_step *step = &cuda->steps[i];

        if (step->given.action != STEP_PASS) {
            spans[n++] = (struct steps_span){step->start_ns, step->finish_ns, i, step->given.node};
        }
    }
    steps_write_spans(spans, n, cuda->timing == CUDA_BY_TRACE ? TIME_DEVICE : TIME_EVENT, out);
    free(spans);
    return WEIR_OK;
}

/* What the driver and CUPTI set up for the first kernel of a stream, and its first copies, they set up
 * now: in a run that could wait for a device that waits for the gate. */
static enum weir_status prime(struct cuda *cuda, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    uint64_t nothing = cuda_work_address(cuda, cuda->n_submitted + 1);
    cu_deviceptr one = cuda->words + CUDA_WORD_SINK * sizeof(uint64_t), other = one + sizeof one;
    void *values[] = {&nothing}, *pinned = (void *)(uintptr_t)(cuda->results + CUDA_WORD_SINK);
    cu_result result = GPU_SUCCESS;

    for (uint32_t q = 0; q < cuda->setup.n_queues && result == GPU_SUCCESS; q++) {
        cu_stream stream = cuda->queues[q].stream;

        result = driver->launch_kernel(cuda->context.kernels[CUDA_TAGS], 1, 1, 1,
                                       KERNEL_CUDA_THREADS, 1, 1, 0, stream, values, NULL);
        if (result == GPU_SUCCESS) {
            result = driver->memcpy_htod_async(one, pinned, sizeof one, stream);
        }
        if (result == GPU_SUCCESS) {
            result = driver->memcpy_dtod_async(other, one, sizeof one, stream);
        }
        if (result == GPU_SUCCESS) {
            result = driver->memcpy_dtoh_async(pinned, one, sizeof one, stream);
        }
        if (result == GPU_SUCCESS) { /* they all copy the same word */
            result = driver->stream_synchronize(stream);
        }
    }
    return cuda_check(&cuda->context, result, "a first kernel or copy", err);
}

static enum weir_status seal(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = cuda_order_seal(cuda, err);

    if (status == WEIR_OK) {
        status = cuda_memory_seal(cuda, err);
    }
    if (status == WEIR_OK) {
        status = prime(cuda, err);
    }
    if (status == WEIR_OK) {
        status = cuda_clock_settle(cuda, err);
    }
    cuda->is_sealed = status == WEIR_OK;
    return status;
}

static enum weir_status run_once(struct cuda *cuda, char why[CUDA_WHY_BYTES],
                                 struct weir_error *err)
{
    /* Before the contents are set, which takes what CUPTI does when it is switched on. */
    enum weir_status status = cuda_trace_pause(cuda->timing == CUDA_BARE, err);

    why[0] = '\0';
    cuda->is_unsteady = false;
    if (status == WEIR_OK) {
        status = cuda_memory_reset(cuda, err);
    }
    cuda_held_begin(cuda);
    if (status == WEIR_OK) {
        status = cuda_clock_read(cuda, &cuda->begin_clock, err);
    }
    if (status == WEIR_OK) {
        status = cuda_run(cuda, err);
    }
    if (status == WEIR_OK) {
        status = cuda_clock_read(cuda, &cuda->end_clock, err);
    }
    cuda_held_end(cuda);
    if (status == WEIR_OK) {
        status = cuda_memory_verify(cuda, err);
    }
    if (status == WEIR_OK) {
        status = cuda_match(cuda, why, err);
    }
    cuda_doubt_slowed(cuda, why);
    return status;
}

/* Runs until one can be trusted. @param why "" when one could */
static enum weir_status run_trusted(struct cuda *cuda, char why[CUDA_WHY_BYTES],
                                    struct weir_error *err)
{
    enum weir_status status = run_once(cuda, why, err);

    for (int i = 1; i < TRIES && status == WEIR_OK && why[0] != '\0'; i++) {
        if (cuda->is_unsteady) {
            status = cuda_clock_settle(cuda, err);
        }
        if (status == WEIR_OK) {
            status = run_once(cuda, why, err);
        }
    }
    return status;
}

/* A CUPTI that cannot be believed is done without, by this process from now on: events tell the times. */
static enum weir_status run_without_trace(struct cuda *cuda, char why[CUDA_WHY_BYTES],
                                          struct weir_error *err)
{
    char text[CUDA_WHY_BYTES];

    (void)snprintf(text, sizeof text,
                   "its records of %d runs in a row could not be trusted; of the last: %.300s",
                   TRIES, why);
    cuda_trace_give_up(text);
    cuda->has_trace = false;
    memcpy(cuda->why_no_trace, text, sizeof text);
    cuda->timing = CUDA_BY_EVENTS;
    return run_trusted(cuda, why, err);
}

static enum weir_status cuda_drain(struct device *device, struct timeline *out,
                                   struct weir_error *err)
{
    struct cuda *cuda = (struct cuda *)device;
    char why[CUDA_WHY_BYTES] = "";
    enum weir_status status = cuda->is_sealed ? WEIR_OK : seal(cuda, err);

    cuda->timing = out == NULL ? CUDA_BARE : cuda->has_trace ? CUDA_BY_TRACE : CUDA_BY_EVENTS;
    if (status == WEIR_OK) {
        status = run_trusted(cuda, why, err);
    }
    if (status == WEIR_OK && why[0] != '\0' && cuda->timing == CUDA_BY_TRACE &&
        !cuda->is_unsteady) {
        status = run_without_trace(cuda, why, err);
    }
    if (status == WEIR_OK && why[0] != '\0') {
        return weir_error_set(err, WEIR_DEVICE,
                              "the device's times of %d runs in a row could not be trusted; of "
                              "the last: %.300s",
                              TRIES, why);
    }
    if (status == WEIR_OK) {
        status = cuda_run_length(cuda, &cuda->whole_ns, err);
    }
    return status == WEIR_OK && out != NULL ? write_spans(cuda, out, err) : status;
}

static int64_t cuda_whole_ns(const struct device *device)
{
    return ((const struct cuda *)device)->whole_ns;
}

/* A GPU shares no time with other programs that it would tell of. */
static int64_t cuda_processor_ns(const struct device *device, uint32_t step)
{
    (void)device;
    (void)step;
    return -1;
}

static int64_t cuda_submitted_ns(const struct device *device, uint32_t step)
{
    const struct cuda_step *asked = &((const struct cuda *)device)->steps[step];

    return asked->start_ns < 0 ? -1 : asked->submit_ns;
}

static void cuda_state(const struct device *device, struct device_state *out)
{
    cuda_state_after((const struct cuda *)device, out);
}

#define CLOCK_OFF_NS 20000 /* is worth telling */

static void cuda_remark(const struct device *device, char *out, size_t out_bytes)
{
    const struct cuda *cuda = (const struct cuda *)device;

    out[0] = '\0';
    cuda_state_remark(cuda, out, out_bytes);
    if (cuda->timing == CUDA_BY_EVENTS) {
        cuda_add_line(out, out_bytes, "times are of events around each operation, not of CUPTI: %s",
                      cuda->why_no_trace);
    }
    if (cuda->placed.n_pool_waits > 0) {
        cuda_add_line(
            out, out_bytes,
            "the pool gave %u blocks only when all that was handed over before had ended: "
            "steps waited for their submission; give --storage arena, or a smaller "
            "--scale-bytes",
            cuda->placed.n_pool_waits);
    }
    if (cuda->was_opened_early) {
        cuda_add_line(out, out_bytes,
                      "the gate was opened before all was handed over, since a stream was full: "
                      "steps may have waited for their submission");
    }
    if (cuda->timing == CUDA_BY_TRACE && cuda->clock_off_ns > CLOCK_OFF_NS) {
        cuda_add_line(
            out, out_bytes,
            "CUPTI's times are off the host's clock by %" PRId64
            " ns or more: how long actions waited for their submission is known no better",
            cuda->clock_off_ns);
    }
}

static void cuda_placed(const struct device *device, struct device_placed *out)
{
    *out = ((const struct cuda *)device)->placed;
}

const struct device_ops device_cuda = {
    .name = "cuda",
    .clock = "CUPTI on CLOCK_MONOTONIC",
    .has_modes = true,
    .most_passes = 8,
    .probe = cuda_probe,
    .open = cuda_open,
    .submit = cuda_submit,
    .drain = cuda_drain,
    .whole_ns = cuda_whole_ns,
    .processor_ns = cuda_processor_ns,
    .submitted_ns = cuda_submitted_ns,
    .state = cuda_state,
    .remark = cuda_remark,
    .placed = cuda_placed,
    .close = cuda_close,
};
