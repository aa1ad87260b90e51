/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where buffers lie: those of the host in one block of pinned memory, those of the device in one block
 * of its memory, each apart from all others when they fit; else in an arena, planned so that they
 * share places in the order of the streams; else those that are not there from the beginning come
 * from a pool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/cuda_internal.h"

#define ALIGN_BYTES 256 /* as the driver's own allocations at least */

int64_t cuda_place_align(const struct device_buffer *buffer)
{
    return buffer->align_bytes > ALIGN_BYTES ? buffer->align_bytes : ALIGN_BYTES;
}

int64_t cuda_place_bytes(const struct device_buffer *buffer)
{
    return (buffer->size_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

static enum weir_status fail_room(const char *whose, int64_t bytes, int64_t most_bytes,
                                  struct weir_error *err)
{
    return weir_error_set(err, WEIR_DEVICE,
                          "the buffers of this replay need %" PRId64
                          " bytes of %s memory at once, and %" PRId64
                          " may be used: use a smaller --scale-bytes",
                          bytes, whose, most_bytes);
}

enum weir_status cuda_pin(struct cuda *cuda, size_t bytes, unsigned char **host,
                          cu_deviceptr *address, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    void *pinned = NULL;
    enum weir_status status =
        cuda_check(&cuda->context,
                   driver->mem_host_alloc(&pinned, bytes, GPU_HOST_PORTABLE | GPU_HOST_DEVICE_MAP),
                   "cuMemHostAlloc", err);

    if (status == WEIR_OK) {
        *host = pinned;
        status = cuda_check(&cuda->context, driver->mem_host_get_device_pointer(address, pinned, 0),
                            "cuMemHostGetDevicePointer", err);
    }
    return status;
}

/* ---- apart ---- */

/* Each of one memory behind the one before. @param is_initial_only the others come from elsewhere
 * @param offsets by buffer; -1: it has no place  @return how many bytes that takes; INT64_MAX: more */
static int64_t place_apart(const struct cuda *cuda, bool is_host_memory, bool is_initial_only,
                           int64_t *offsets)
{
    int64_t end = 0;

    for (uint32_t b = 0; b < cuda->setup.n_buffers; b++) {
        const struct device_buffer *buffer = &cuda->setup.buffers[b];
        int64_t align = cuda_place_align(buffer);

        offsets[b] = -1;
        if (buffer->is_host_memory != is_host_memory || (is_initial_only && !buffer->is_initial))
            continue;
        if (__builtin_add_overflow(end, align - 1, &end))
            return INT64_MAX;
        end &= -align;
        offsets[b] = end;
        if (__builtin_add_overflow(end, cuda_place_bytes(buffer), &end))
            return INT64_MAX;
    }
    return end;
}

/* ---- the host's memory ---- */

/* @param offsets room for one a buffer */
static enum weir_status place_on_host(struct cuda *cuda, int64_t *offsets, struct weir_error *err)
{
    int64_t bytes = place_apart(cuda, true, false, offsets);
    cu_deviceptr address = 0;
    enum weir_status status = WEIR_OK;

    if (bytes > cuda->setup.host_memory_bytes)
        status = cuda_arena_plan(cuda, true, offsets, &bytes, err);
    if (status != WEIR_OK || bytes == 0)
        return status;
    if (bytes > cuda->setup.host_memory_bytes)
        return fail_room("pinned host", bytes, cuda->setup.host_memory_bytes, err);
    status = cuda_pin(cuda, (size_t)bytes, &cuda->host_place, &address, err);
    for (uint32_t b = 0; b < cuda->setup.n_buffers && status == WEIR_OK; b++) {
        if (offsets[b] >= 0) {
            cuda->buffers[b].host = cuda->host_place + offsets[b];
            cuda->buffers[b].address = address + (cu_deviceptr)offsets[b];
        }
    }
    return status;
}

/* ---- the device's memory ---- */

static bool may_be(const struct cuda *cuda, enum device_storage storage)
{
    return cuda->setup.storage == DEVICE_FITTING || cuda->setup.storage == storage;
}

/* What is not there from the beginning comes from a pool. @param bytes what is takes */
static enum weir_status take_pool(struct cuda *cuda, int64_t *offsets, int64_t *bytes,
                                  struct weir_error *err)
{
    int64_t most_bytes = cuda->setup.memory_bytes;

    *bytes = place_apart(cuda, false, true, offsets);
    if (!cuda->context.has_pools)
        return weir_error_set(err, WEIR_DEVICE, "this driver has no memory pools, which %s",
                              cuda->setup.storage == DEVICE_POOL
                                  ? "--storage pool asks for"
                                  : "buffers need that fit no arena: use a smaller --scale-bytes");
    if (*bytes > most_bytes)
        return fail_room("the device's", *bytes, most_bytes, err);
    cuda->placed.storage = DEVICE_POOL;
    most_bytes -= *bytes;
    return cuda_pool_make(
        cuda, cuda->placed.apart_bytes < most_bytes ? cuda->placed.apart_bytes : most_bytes, err);
}

/* @param offsets set for those that have a place in the block */
static enum weir_status choose_storage(struct cuda *cuda, int64_t *offsets, int64_t *bytes,
                                       struct weir_error *err)
{
    int64_t most_bytes = cuda->setup.memory_bytes;
    enum weir_status status;

    *bytes = place_apart(cuda, false, false, offsets);
    cuda->placed.apart_bytes = *bytes;
    cuda->placed.storage = DEVICE_APART;
    if (may_be(cuda, DEVICE_APART) && *bytes <= most_bytes)
        return WEIR_OK;
    if (may_be(cuda, DEVICE_ARENA)) {
        status = cuda_arena_plan(cuda, false, offsets, bytes, err);
        cuda->placed.storage = DEVICE_ARENA;
        if (status != WEIR_OK || *bytes <= most_bytes)
            return status;
    }
    return may_be(cuda, DEVICE_POOL) ? take_pool(cuda, offsets, bytes, err)
                                     : fail_room("the device's", *bytes, most_bytes, err);
}

static enum weir_status place_on_device(struct cuda *cuda, int64_t *offsets, struct weir_error *err)
{
    int64_t bytes = 0;
    enum weir_status status = choose_storage(cuda, offsets, &bytes, err);

    if (status == WEIR_OK && bytes > 0)
        status =
            cuda_check(&cuda->context, cuda->context.driver.mem_alloc(&cuda->place, (size_t)bytes),
                       "cuMemAlloc", err);
    cuda->placed.block_bytes = bytes;
    for (uint32_t b = 0; b < cuda->setup.n_buffers && status == WEIR_OK; b++) {
        const struct device_buffer *given = &cuda->setup.buffers[b];

        cuda->buffers[b].is_pooled =
            cuda->placed.storage == DEVICE_POOL && !given->is_host_memory && !given->is_initial;
        if (offsets[b] >= 0)
            cuda->buffers[b].address = cuda->place + (cu_deviceptr)offsets[b];
    }
    return status;
}

enum weir_status cuda_places_seal(struct cuda *cuda, struct weir_error *err)
{
    int64_t *offsets = malloc(((size_t)cuda->setup.n_buffers + 1) * sizeof *offsets);
    enum weir_status status =
        offsets == NULL ? weir_error_memory(err) : place_on_host(cuda, offsets, err);

    if (status == WEIR_OK)
        status = place_on_device(cuda, offsets, err);
    free(offsets);
    return status;
}
