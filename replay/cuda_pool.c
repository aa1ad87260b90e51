/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers in a pool that allocates in the order of streams: a block is used again only where the
 * order of the streams says that all that used it before is over. */
#include <inttypes.h>
#include <stdlib.h>

#include "replay/cuda_internal.h"

/* No run waits for the driver to get memory: the pool gets it now and keeps it. How much a driver can
 * give is known only by asking. */
static enum weir_status fill_pool(struct cuda *cuda, int64_t bytes, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    cu_deviceptr address = 0;
    cu_result result = GPU_OUT_OF_MEMORY;

    while (result == GPU_OUT_OF_MEMORY && bytes > 0) {
        result =
            driver->mem_alloc_from_pool_async(&address, (size_t)bytes, cuda->pool, cuda->control);
        bytes = result == GPU_OUT_OF_MEMORY ? bytes / 2 : bytes;
    }
    if (bytes == 0) {
        return WEIR_OK;
    }
    if (result == GPU_SUCCESS) {
        result = driver->mem_free_async(address, cuda->control);
    }
    if (result == GPU_SUCCESS) {
        result = driver->stream_synchronize(cuda->control);
    }
    return cuda_check(&cuda->context, result, "filling the pool", err);
}

/* What a driver does of itself, wait for another stream or give memory back, is none of the plan's:
 * it is told not to. */
enum weir_status cuda_pool_make(struct cuda *cuda, int64_t bytes, struct weir_error *err)
{
    static const struct {
        cu_pool_attribute attribute;
        int value;
    } settings[] = {{GPU_POOL_REUSE_FOLLOW_EVENTS, 1},
                    {GPU_POOL_REUSE_OPPORTUNISTIC, 0},
                    {GPU_POOL_REUSE_INTERNAL, 0}};
    const struct cuda_driver *driver = &cuda->context.driver;
    cu_mem_pool_props props = {.allocation_type = GPU_MEM_ALLOCATION_PINNED,
                               .location = {GPU_MEM_LOCATION_DEVICE, cuda->context.device}};
    uint64_t keep_bytes = UINT64_MAX;
    enum weir_status status = cuda_check(
        &cuda->context, driver->mem_pool_create(&cuda->pool, &props), "cuMemPoolCreate", err);

    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == WEIR_OK; i++) {
        int value = settings[i].value;

        status =
            cuda_check(&cuda->context,
                       driver->mem_pool_set_attribute(cuda->pool, settings[i].attribute, &value),
                       "cuMemPoolSetAttribute", err);
    }
    if (status == WEIR_OK) {
        status = cuda_check(
            &cuda->context,
            driver->mem_pool_set_attribute(cuda->pool, GPU_POOL_RELEASE_THRESHOLD, &keep_bytes),
            "cuMemPoolSetAttribute", err);
    }
    return status == WEIR_OK ? fill_pool(cuda, bytes, err) : status;
}

enum weir_status cuda_pool_seal(struct cuda *cuda, struct weir_error *err)
{
    uint32_t n_buffers = cuda->setup.n_buffers;

    if (cuda->pool == NULL) {
        return WEIR_OK;
    }
    cuda->first_user = arena_array(&cuda->arena, (size_t)n_buffers + 2, sizeof *cuda->first_user);
    if (cuda->first_user == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        for (uint32_t u = 0; u < cuda->steps[i].given.n_uses; u++) {
            cuda->first_user[cuda->steps[i].given.uses[u] + 2]++;
        }
    }
    for (uint32_t b = 1; b < n_buffers + 2; b++) {
        cuda->first_user[b] += cuda->first_user[b - 1];
    }
    cuda->users =
        arena_array(&cuda->arena, (size_t)cuda->first_user[n_buffers + 1] + 1, sizeof *cuda->users);
    if (cuda->users == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        for (uint32_t u = 0; u < cuda->steps[i].given.n_uses; u++) {
            cuda->users[cuda->first_user[cuda->steps[i].given.uses[u] + 1]++] = i;
        }
    }
    return cuda_order_mark_ends(cuda, err);
}

/* ---- beginning ---- */

/* An allocation without a queue hands nothing over: the buffer begins with who writes first. */
static bool begins_with(const struct cuda *cuda, uint32_t buffer, uint32_t step)
{
    uint32_t allocate = cuda->setup.buffers[buffer].allocate_step;

    return allocate == WEIR_NONE || allocate == step ||
           cuda->steps[allocate].given.queue == STEP_NO_QUEUE;
}

static cu_result take_block(struct cuda *cuda, uint32_t index, uint32_t b)
{
    return cuda->context.driver.mem_alloc_from_pool_async(
        &cuda->buffers[b].address, (size_t)cuda->setup.buffers[b].size_bytes, cuda->pool,
        cuda->queues[cuda->steps[index].given.queue].stream);
}

/* What was freed behind work that is not over can be had when it is, and in one piece: so a pool that
 * says no is asked once more when the device has caught up. The run tells that it had to. */
static enum weir_status begin_buffer(struct cuda *cuda, uint32_t index, uint32_t b,
                                     struct weir_error *err)
{
    char name[160], object[160];
    cu_result result = take_block(cuda, index, b);

    if (result == GPU_OUT_OF_MEMORY) {
        enum weir_status status = cuda_catch_up(cuda, err);

        if (status != WEIR_OK) {
            return status;
        }
        cuda->placed.n_pool_waits++;
        result = take_block(cuda, index, b);
    }
    if (result == GPU_OUT_OF_MEMORY) {
        return weir_error_set(
            err, WEIR_DEVICE,
            "%s cannot have the %" PRId64 " bytes of %s from the pool: use a smaller --scale-bytes",
            cuda_step_name(cuda, index, name, sizeof name), cuda->setup.buffers[b].size_bytes,
            cuda_buffer_name(cuda, b, object, sizeof object));
    }
    return cuda_check(&cuda->context, result, "cuMemAllocFromPoolAsync", err);
}

enum weir_status cuda_pool_begin(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct step *step = &cuda->steps[index].given;
    enum weir_status status = WEIR_OK;

    if (cuda->pool == NULL) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < step->n_writes && status == WEIR_OK; i++) {
        uint32_t b = step->writes[i].buffer;

        if (cuda->buffers[b].is_pooled && cuda->buffers[b].address == 0 &&
            step->action != STEP_RECLAIM && begins_with(cuda, b, index)) {
            status = begin_buffer(cuda, index, b, err);
        }
    }
    cuda_fill_work(cuda, index);
    return status;
}

/* ---- ending ---- */

static enum weir_status give_back(struct cuda *cuda, uint32_t b, cu_stream stream,
                                  struct weir_error *err)
{
    cu_deviceptr address = cuda->buffers[b].address;

    if (!cuda->buffers[b].is_pooled || address == 0) {
        return WEIR_OK;
    }
    cuda->buffers[b].address = 0;
    return cuda_check(&cuda->context, cuda->context.driver.mem_free_async(address, stream),
                      "cuMemFreeAsync", err);
}

/* The stream for giving back waits for the step, or, without a queue, for what that waits for. */
static enum weir_status wait_for_step(struct cuda *cuda, const struct cuda_step *step,
                                      struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    enum weir_status status = WEIR_OK;

    if (step->given.queue != STEP_NO_QUEUE) {
        return cuda_check(&cuda->context, driver->stream_wait_event(cuda->reclaim, step->ended, 0),
                          "cuStreamWaitEvent", err);
    }
    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        if (step->requires.points[q] > 0) {
            status = cuda_check(
                &cuda->context,
                driver->stream_wait_event(
                    cuda->reclaim, cuda_step_at(cuda, q, step->requires.points[q])->ended, 0),
                "cuStreamWaitEvent", err);
        }
    }
    return status;
}

static enum weir_status end_reclaimed(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct cuda_step *step = &cuda->steps[index];
    cu_stream stream = cuda->reclaim;
    enum weir_status status = WEIR_OK;

    if (step->given.queue != STEP_NO_QUEUE) { /* which has waited for all that used it */
        stream = cuda->queues[step->given.queue].stream;
    } else {
        status = wait_for_step(cuda, step, err);
    }
    for (uint32_t i = 0; i < step->given.n_writes && status == WEIR_OK; i++) {
        status = give_back(cuda, step->given.writes[i].buffer, stream, err);
    }
    return status;
}

/* After its last use: in the stream of its users, when that is one. */
static enum weir_status end_used(struct cuda *cuda, uint32_t index, uint32_t b,
                                 struct weir_error *err)
{
    uint32_t queue = cuda->steps[index].given.queue;
    bool is_one = queue != STEP_NO_QUEUE;
    enum weir_status status = WEIR_OK;

    for (uint32_t u = cuda->first_user[b]; u < cuda->first_user[b + 1]; u++) {
        is_one = is_one && cuda->steps[cuda->users[u]].given.queue == queue;
    }
    if (is_one) {
        return give_back(cuda, b, cuda->queues[queue].stream, err);
    }
    for (uint32_t u = cuda->first_user[b]; u < cuda->first_user[b + 1] && status == WEIR_OK; u++) {
        status = wait_for_step(cuda, &cuda->steps[cuda->users[u]], err);
    }
    return status == WEIR_OK ? give_back(cuda, b, cuda->reclaim, err) : status;
}

enum weir_status cuda_pool_end(struct cuda *cuda, uint32_t index, struct weir_error *err)
{
    const struct step *step = &cuda->steps[index].given;
    enum weir_status status = WEIR_OK;

    if (cuda->pool == NULL) {
        return WEIR_OK;
    }
    if (step->action == STEP_RECLAIM) {
        status = end_reclaimed(cuda, index, err);
    }
    for (uint32_t i = 0; i < step->n_uses && status == WEIR_OK; i++) {
        uint32_t b = step->uses[i];

        if (cuda->setup.buffers[b].n_uses != 0 &&
            cuda->setup.buffers[b].reclaim_step == WEIR_NONE &&
            --cuda->buffers[b].n_uses_left == 0) {
            status = end_used(cuda, index, b, err);
        }
    }
    return status;
}

/* Blocks that were freed in one stream can be had in another when the host has waited for all. */
enum weir_status cuda_pool_clear(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (cuda->pool == NULL) {
        return WEIR_OK;
    }
    for (uint32_t b = 0; b < cuda->setup.n_buffers && status == WEIR_OK; b++) {
        status = give_back(cuda, b, cuda->control, err);
    }
    return status == WEIR_OK ? cuda_check(&cuda->context, cuda->context.driver.ctx_synchronize(),
                                          "cuCtxSynchronize", err)
                             : status;
}
