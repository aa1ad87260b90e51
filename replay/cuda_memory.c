/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What steps find in their buffers and leave there, and all memory that is no buffer's.
 *
 * A pool's addresses are known only when a step is handed over, so then the device reads what a step
 * finds and leaves from the host's memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_internal.h"

/* What weir_read and weir_mix go through, each its own: at most so much, at least so many times the L2
 * cache, if there is room. */
#define WINDOW_BYTES ((int64_t)1 << 30)
#define L2_TIMES 8
/* What weir_read_l2 reads, at most, of the L2 cache: half of one may be further away than the other, and
 * hold the same again. */
#define L2_PART 0.4

/* ---- windows ---- */

static bool has_window(enum step_action action)
{
    return action == STEP_STREAM || action == STEP_CACHE || action == STEP_MIX;
}

/* A power of two. All queues share it, so that caches hold as much of it whoever reads it. */
static int64_t window_bytes(const struct cuda_context *context, enum step_action action)
{
    int64_t bytes = KERNEL_CUDA_UNIT_BYTES;

    if (action == STEP_CACHE) {
        while (2 * (double)bytes <= L2_PART * (double)context->l2_bytes) {
            bytes *= 2;
        }
        return bytes;
    }
    while (bytes < L2_TIMES * context->l2_bytes && bytes < WINDOW_BYTES &&
           bytes < context->memory_bytes / 8) {
        bytes *= 2;
    }
    return bytes;
}

static enum weir_status place_window(struct cuda *cuda, enum step_action action,
                                     struct weir_error *err)
{
    struct cuda_window *window = &cuda->windows[action];
    int64_t bytes = window_bytes(&cuda->context, action);

    window->n_units = bytes / KERNEL_CUDA_UNIT_BYTES;
    for (uint32_t q = 0; q < cuda->setup.n_queues; q++) {
        cuda->queues[q].window_at[action] = window->n_units / (cuda->setup.n_queues + 1) * q;
    }
    return cuda_check(&cuda->context,
                      cuda->context.driver.mem_alloc(&window->address, (size_t)bytes), "cuMemAlloc",
                      err);
}

static enum weir_status place_windows(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < cuda->n_submitted && status == WEIR_OK; i++) {
        enum step_action action = cuda->steps[i].given.action;

        if (has_window(action) && cuda->windows[action].address == 0) {
            status = place_window(cuda, action, err);
        }
    }
    return status;
}

/* ---- what steps find and leave ---- */

/* A copy's reads and writes move with the bytes: nobody looks at them then. */
static uint32_t first_checked(const struct step *step)
{
    return step->action == STEP_COPY ? step->n_copied : 0;
}

static bool has_tags(const struct step *step)
{
    return step->action < STEP_WORKS || step->action == STEP_MARK || step->action == STEP_COPY;
}

static size_t count_stretches(const struct cuda *cuda)
{
    size_t n = 0;

    for (uint32_t b = 0; b < cuda->setup.n_buffers; b++) {
        n += cuda->setup.buffers[b].n_stretches;
    }
    return n;
}

static cu_deviceptr tag_address(const struct cuda *cuda, const struct kernel_tag *tag)
{
    return cuda->works_address +
           (cu_deviceptr)((const unsigned char *)tag - (const unsigned char *)cuda->works);
}

/* Fills in the tags of a list that are not 0. @return how many there are */
static uint32_t fill_tags(const struct cuda *cuda, const struct step_buffer *list, uint32_t first,
                          uint32_t n, struct kernel_tag *out)
{
    uint32_t n_out = 0;

    for (uint32_t i = first; i < n; i++) {
        const struct cuda_buffer *buffer = &cuda->buffers[list[i].buffer];

        if (list[i].tag != 0 && buffer->address != 0) {
            out[n_out++] =
                (struct kernel_tag){buffer->address + (uint64_t)list[i].offset, list[i].tag};
        }
    }
    return n_out;
}

/* Addresses of the step's tags, as far as its buffers have places. */
void cuda_fill_work(struct cuda *cuda, uint32_t index)
{
    const struct step *step = &cuda->steps[index].given;
    struct kernel_work *work = &cuda->works[index];
    struct kernel_tag *reads = cuda->tags + cuda->steps[index].first_tag;
    struct kernel_tag *writes = reads + step->n_reads;

    work->reads = tag_address(cuda, reads);
    work->writes = tag_address(cuda, writes);
    work->step = index;
    work->failure = cuda->words;
    work->n_blocks_done = cuda->words + CUDA_WORDS * sizeof(uint64_t) + index * sizeof(uint32_t);
    if (has_tags(step)) {
        work->n_reads = fill_tags(cuda, step->reads, first_checked(step), step->n_reads, reads);
        work->n_writes = fill_tags(cuda, step->writes, first_checked(step), step->n_writes, writes);
    }
}

/* Before a run: initial contents, and no valid tag in other buffers that have their place alone. Those
 * in the host's memory are written by the host. */
static void fill_first(struct cuda *cuda)
{
    struct kernel_work *work = &cuda->works[cuda->n_submitted];
    struct kernel_tag *writes = cuda->tags + cuda->n_step_tags;

    work->writes = tag_address(cuda, writes);
    work->failure = cuda->words;
    work->n_blocks_done =
        cuda->words + CUDA_WORD_SINK * sizeof(uint64_t); /* the sink: one block counts nothing */
    for (uint32_t b = 0; b < cuda->setup.n_buffers; b++) {
        const struct device_buffer *given = &cuda->setup.buffers[b];

        for (uint32_t s = 0; s < given->n_stretches; s++) {
            if (given->is_host_memory || cuda->buffers[b].address == 0 ||
                (cuda->placed.storage != DEVICE_APART && !given->is_initial)) {
                continue;
            }
            writes[work->n_writes++] =
                (struct kernel_tag){cuda->buffers[b].address + (uint64_t)given->stretches[s].offset,
                                    given->is_initial ? given->stretches[s].tag : 0};
        }
    }
}

static enum weir_status make_works(struct cuda *cuda, struct weir_error *err)
{
    /* Beside the steps': of what is there before a run, and one that finds and leaves nothing. */
    size_t n_works = (size_t)cuda->n_submitted + 2, n_tags = 0;
    unsigned char *pinned = NULL;
    enum weir_status status;

    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        cuda->steps[i].first_tag = n_tags;
        n_tags += (size_t)cuda->steps[i].given.n_reads + cuda->steps[i].given.n_writes;
    }
    cuda->n_step_tags = n_tags;
    n_tags += count_stretches(cuda);
    cuda->works_bytes = n_works * sizeof *cuda->works + (n_tags + 1) * sizeof *cuda->tags;
    status = cuda_pin(cuda, cuda->works_bytes, &pinned, &cuda->works_address, err);
    if (status != WEIR_OK) {
        return status;
    }
    memset(pinned, 0, cuda->works_bytes);
    cuda->works = (struct kernel_work *)(void *)pinned;
    cuda->tags = (struct kernel_tag *)(void *)(pinned + n_works * sizeof *cuda->works);
    if (cuda->pool == NULL) { /* they do not change: the device has its own */
        status = cuda_check(&cuda->context,
                            cuda->context.driver.mem_alloc(&cuda->works_address, cuda->works_bytes),
                            "cuMemAlloc", err);
        cuda->has_own_works = status == WEIR_OK;
    }
    return status;
}

static enum weir_status make_words(struct cuda *cuda, struct weir_error *err)
{
    unsigned char *pinned = NULL;
    enum weir_status status;

    cuda->slots_at = (CUDA_WORDS * sizeof(uint64_t) + cuda->n_submitted * sizeof(uint32_t) +
                      sizeof(uint64_t) - 1) /
                     sizeof(uint64_t) * sizeof(uint64_t);
    cuda->words_bytes = cuda->slots_at + cuda->n_slots * sizeof(uint64_t);
    status =
        cuda_check(&cuda->context, cuda->context.driver.mem_alloc(&cuda->words, cuda->words_bytes),
                   "cuMemAlloc", err);
    if (status == WEIR_OK) {
        status =
            cuda_pin(cuda, (1 + CUDA_WORDS) * sizeof(uint64_t), &pinned, &cuda->gate_address, err);
    }
    if (status == WEIR_OK) {
        memset(pinned, 0, (1 + CUDA_WORDS) * sizeof(uint64_t));
        cuda->gate = (uint32_t *)(void *)pinned;
        cuda->results = (volatile uint64_t *)(void *)(pinned + sizeof(uint64_t));
    }
    return status;
}

enum weir_status cuda_memory_seal(struct cuda *cuda, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    enum weir_status status = cuda_places_seal(cuda, err);

    if (status == WEIR_OK) {
        status = place_windows(cuda, err);
    }
    if (status == WEIR_OK) {
        status = make_words(cuda, err);
    }
    if (status == WEIR_OK) {
        status = make_works(cuda, err);
    }
    if (status == WEIR_OK) {
        status = cuda_pool_seal(cuda, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        cuda_fill_work(cuda, i);
    }
    fill_first(cuda);
    if (cuda->has_own_works) {
        status = cuda_check(&cuda->context,
                            driver->memcpy_htod_async(cuda->works_address, cuda->works,
                                                      cuda->works_bytes, cuda->control),
                            "cuMemcpyHtoDAsync", err);
    }
    return status == WEIR_OK ? cuda_check(&cuda->context, driver->stream_synchronize(cuda->control),
                                          "cuStreamSynchronize", err)
                             : status;
}

/* ---- a run ---- */

cu_deviceptr cuda_work_address(const struct cuda *cuda, uint32_t step)
{
    return cuda->works_address + step * sizeof *cuda->works;
}

enum weir_status cuda_memory_reset(struct cuda *cuda, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    cu_deviceptr work = cuda_work_address(cuda, cuda->n_submitted);
    void *values[] = {&work};
    enum weir_status status;

    for (uint32_t b = 0; b < cuda->setup.n_buffers; b++) {
        const struct device_buffer *given = &cuda->setup.buffers[b];
        struct cuda_buffer *buffer = &cuda->buffers[b];

        buffer->n_uses_left = given->n_uses;
        for (uint32_t s = 0; s < given->n_stretches && buffer->host != NULL; s++) {
            uint64_t tag = given->is_initial ? given->stretches[s].tag : 0;

            memcpy(buffer->host + given->stretches[s].offset, &tag, sizeof tag);
        }
    }
    status = cuda_check(&cuda->context,
                        driver->memset_d32_async(
                            cuda->words, 0, cuda->words_bytes / sizeof(uint32_t), cuda->control),
                        "cuMemsetD32Async", err);
    if (status == WEIR_OK) {
        status = cuda_check(&cuda->context,
                            driver->launch_kernel(cuda->context.kernels[CUDA_TAGS], 1, 1, 1,
                                                  KERNEL_CUDA_THREADS, 1, 1, 0, cuda->control,
                                                  values, NULL),
                            "cuLaunchKernel", err);
    }
    return status == WEIR_OK ? cuda_check(&cuda->context, driver->stream_synchronize(cuda->control),
                                          "cuStreamSynchronize", err)
                             : status;
}

enum weir_status cuda_memory_verify(struct cuda *cuda, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    enum weir_status status =
        cuda_check(&cuda->context,
                   driver->memcpy_dtoh_async((void *)(uintptr_t)cuda->results, cuda->words,
                                             sizeof(uint64_t), cuda->control),
                   "cuMemcpyDtoHAsync", err);
    uint64_t failure;
    char name[160];

    if (status == WEIR_OK) {
        status = cuda_pool_clear(cuda, err);
    }
    if (status == WEIR_OK) {
        status = cuda_check(&cuda->context, driver->stream_synchronize(cuda->control),
                            "cuStreamSynchronize", err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    failure = cuda->results[CUDA_WORD_FAILURE];
    if (failure == 0) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_DEVICE,
                          "%s finds other data than it must: an action that it must follow had "
                          "not run; an order that the plan needs was not kept",
                          cuda_step_name(cuda, (uint32_t)failure - 1, name, sizeof name));
}

void cuda_memory_free(struct cuda *cuda)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    const cu_deviceptr places[] = {cuda->place,
                                   cuda->words,
                                   cuda->windows[STEP_STREAM].address,
                                   cuda->windows[STEP_CACHE].address,
                                   cuda->windows[STEP_MIX].address,
                                   cuda->has_own_works ? cuda->works_address : 0};
    void *pinned[] = {cuda->host_place, cuda->works, cuda->gate};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] != 0) {
            (void)driver->mem_free(places[i]);
        }
    }
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        if (pinned[i] != NULL) {
            (void)driver->mem_free_host(pinned[i]);
        }
    }
    if (cuda->pool != NULL) {
        (void)driver->mem_pool_destroy(cuda->pool);
    }
}
