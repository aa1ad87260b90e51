/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's functions that give memory: the device's, the host's, and pools. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/double/calls.h"

static int64_t used_bytes; /* of the device's memory */

/* The size stands in a page before it: negative when it is the host's, of which there is enough. */
static void *take_memory(size_t bytes, bool is_host)
{
    void *memory;

    if (double_fails(FAULT_MEMORY) ||
        (!is_host && used_bytes + (int64_t)bytes > double_config.memory_bytes))
        return NULL;
    memory = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, bytes + 4096, MADV_HUGEPAGE); /* fewer page faults, where there are any */
    *(int64_t *)memory = is_host ? -(int64_t)bytes : (int64_t)bytes;
    used_bytes += is_host ? 0 : (int64_t)bytes;
    return (unsigned char *)memory + 4096;
}

static void give_memory(void *memory)
{
    unsigned char *page = (unsigned char *)memory - 4096;
    int64_t bytes = *(int64_t *)(void *)page;

    used_bytes -= bytes > 0 ? bytes : 0;
    (void)munmap(page, (size_t)(bytes > 0 ? bytes : -bytes) + 4096);
}

cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = (size_t)double_config.memory_bytes;
    *free_bytes = (size_t)(double_config.memory_bytes - used_bytes);
    return GPU_SUCCESS;
}

cu_result cuMemAlloc_v2(cu_deviceptr *address, size_t bytes)
{
    void *memory = call_lost() != GPU_SUCCESS ? NULL : take_memory(bytes, false);

    if (memory == NULL)
        return call_lost() != GPU_SUCCESS ? call_lost() : GPU_OUT_OF_MEMORY;
    *address = (uintptr_t)memory;
    return GPU_SUCCESS;
}

cu_result cuMemFree_v2(cu_deviceptr address)
{
    give_memory((void *)(uintptr_t)address);
    return GPU_SUCCESS;
}

cu_result cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = call_lost() != GPU_SUCCESS ? NULL : take_memory(bytes, true);
    return *address != NULL             ? GPU_SUCCESS
           : call_lost() != GPU_SUCCESS ? call_lost()
                                        : GPU_OUT_OF_MEMORY;
}

cu_result cuMemFreeHost(void *address)
{
    give_memory(address);
    return GPU_SUCCESS;
}

cu_result cuMemHostGetDevicePointer_v2(cu_deviceptr *address, void *host, unsigned flags)
{
    (void)flags;
    *address = (uintptr_t)host;
    return GPU_SUCCESS;
}

#ifndef DOUBLE_IS_OLD

/* A pool is as large as the memory; blocks that were freed can be had again when the call to free
 * them was made. */
struct CUmemPoolHandle_st {
    int n_live;
};

cu_result cuMemPoolCreate(cu_mem_pool *pool, const cu_mem_pool_props *props)
{
    (void)props;
    *pool = calloc(1, sizeof **pool);
    return *pool == NULL ? GPU_OUT_OF_MEMORY : GPU_SUCCESS;
}

cu_result cuMemPoolDestroy(cu_mem_pool pool)
{
    free(pool);
    return GPU_SUCCESS;
}

cu_result cuMemPoolSetAttribute(cu_mem_pool pool, cu_pool_attribute attribute, void *value)
{
    (void)pool;
    (void)attribute;
    (void)value;
    return GPU_SUCCESS;
}

cu_result cuMemAllocFromPoolAsync(cu_deviceptr *address, size_t bytes, cu_mem_pool pool,
                                  cu_stream stream)
{
    void *memory;

    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    if (double_fails(FAULT_POOL) || (!double_is_idle(NULL) && double_fails(FAULT_POOL_BUSY)) ||
        used_bytes + (int64_t)bytes > double_config.memory_bytes)
        return GPU_OUT_OF_MEMORY;
    memory = calloc(1, bytes + sizeof(size_t));
    if (memory == NULL)
        return GPU_OUT_OF_MEMORY;
    if (double_fails(FAULT_POOL_WAITS))
        double_wait_for_others(stream);
    *(size_t *)memory = bytes;
    used_bytes += (int64_t)bytes;
    pool->n_live++;
    *address = (uintptr_t)memory + sizeof(size_t);
    return GPU_SUCCESS;
}

cu_result cuMemFreeAsync(cu_deviceptr address, cu_stream stream)
{
    struct double_command command = {.kind = DOUBLE_FREE, .args = {address - sizeof(size_t)}};

    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    used_bytes -= (int64_t) * (const size_t *)(uintptr_t)command.args[0];
    double_append(stream, &command);
    return GPU_SUCCESS;
}

#endif
