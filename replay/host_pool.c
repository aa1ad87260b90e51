/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the host device. Blocks are touched page by page when they are new, by the thread that
 * asks, and kept for the next that fits when they are given back: so a warm run meets no page fault,
 * and a cold one meets them where it allocates. Small blocks are as large as a power of two, and idle
 * in a list for each; large ones are a whole number of pages, and idle in one list by size. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernels/host.h"
#include "replay/host_internal.h"

#define PAGE_BYTES 4096
#define HUGE_BYTES (2 << 20)   /* blocks from here on begin where a huge page can */
#define SMALL_BYTES (64 << 10) /* the largest small block */
#define LINE_BYTES 64          /* the smallest */

struct host_block {
    void *memory;
    int64_t bytes;
};

/* An idle small block begins with this. */
struct small_block {
    struct small_block *next;
};

enum weir_status host_pool_begin(struct host_pool *pool, int64_t limit_bytes,
                                 struct weir_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->limit_bytes = limit_bytes;
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return weir_error_memory(err);
    return WEIR_OK;
}

void host_pool_end(struct host_pool *pool)
{
    for (size_t i = 0; i < pool->n_idle; i++)
        free(pool->idle[i].memory);
    for (int c = 0; c < HOST_SMALL_CLASSES; c++) {
        for (struct small_block *block = pool->small[c], *next; block != NULL; block = next) {
            next = block->next;
            free(block);
        }
    }
    free(pool->idle);
    (void)pthread_mutex_destroy(&pool->lock);
}

/* The first idle block that is not smaller. */
static size_t find_idle(const struct host_pool *pool, int64_t bytes)
{
    size_t low = 0;
    size_t high = pool->n_idle;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (pool->idle[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes an idle block that wastes less than a quarter of what a new one would have. */
static void *take_idle(struct host_pool *pool, int64_t bytes, int64_t align, int64_t *got_bytes)
{
    for (size_t i = find_idle(pool, bytes); i < pool->n_idle; i++) {
        struct host_block block = pool->idle[i];

        if (block.bytes > bytes + bytes / 4 + PAGE_BYTES)
            return NULL;
        if ((uintptr_t)block.memory % (uintptr_t)align != 0)
            continue;
        memmove(pool->idle + i, pool->idle + i + 1, (pool->n_idle - i - 1) * sizeof *pool->idle);
        pool->n_idle--;
        *got_bytes = block.bytes;
        return block.memory;
    }
    return NULL;
}

/* Frees idle blocks, the largest first, until bytes more are within the limit. */
static void trim(struct host_pool *pool, int64_t bytes)
{
    while (pool->n_idle > 0 && pool->reserved_bytes > pool->limit_bytes - bytes) {
        struct host_block *block = &pool->idle[--pool->n_idle];

        pool->reserved_bytes -= block->bytes;
        free(block->memory);
    }
}

/* @param bytes a multiple of align */
static void *take_new(struct host_pool *pool, int64_t bytes, int64_t align, int64_t *got_bytes)
{
    void *memory;

    trim(pool, bytes);
    if (pool->reserved_bytes > pool->limit_bytes - bytes)
        return NULL;
    memory = aligned_alloc((size_t)align, (size_t)bytes);
    if (memory == NULL)
        return NULL;
    kernel_touch(memory, bytes, PAGE_BYTES);
    pool->reserved_bytes += bytes;
    *got_bytes = bytes;
    return memory;
}

/* ---- small blocks ---- */

/* Which list, and how large its blocks are: they are aligned to their size, up to a page. */
static int small_class(int64_t bytes, int64_t *class_bytes)
{
    int c = 0;

    for (*class_bytes = LINE_BYTES; *class_bytes < bytes; *class_bytes *= 2)
        c++;
    return c;
}

static void *take_small(struct host_pool *pool, int64_t bytes, int64_t *got_bytes)
{
    struct small_block **idle = &pool->small[small_class(bytes, got_bytes)];
    struct small_block *block;
    int64_t align = *got_bytes < PAGE_BYTES ? *got_bytes : PAGE_BYTES;

    (void)pthread_mutex_lock(&pool->lock);
    block = *idle;
    if (block != NULL)
        *idle = block->next;
    (void)pthread_mutex_unlock(&pool->lock);
    if (block != NULL)
        return block;
    block = aligned_alloc((size_t)align, (size_t)*got_bytes);
    if (block != NULL)
        kernel_touch(block, *got_bytes, PAGE_BYTES);
    return block;
}

static void give_small(struct host_pool *pool, void *memory, int64_t got_bytes)
{
    struct small_block **idle = &pool->small[small_class(got_bytes, &got_bytes)];
    struct small_block *block = memory;

    (void)pthread_mutex_lock(&pool->lock);
    block->next = *idle;
    *idle = block;
    (void)pthread_mutex_unlock(&pool->lock);
}

/* ---- all ---- */

void *host_pool_take(struct host_pool *pool, int64_t size_bytes, int64_t align_bytes,
                     int64_t *got_bytes)
{
    int64_t align = align_bytes > LINE_BYTES ? align_bytes : LINE_BYTES;
    int64_t bytes;
    void *memory;

    if (size_bytes <= SMALL_BYTES && align <= PAGE_BYTES)
        return take_small(pool, size_bytes > align ? size_bytes : align, got_bytes);
    if (align < PAGE_BYTES)
        align = PAGE_BYTES;
    if (size_bytes >= HUGE_BYTES && align < HUGE_BYTES)
        align = HUGE_BYTES;
    if (__builtin_add_overflow(size_bytes, align - 1, &bytes))
        return NULL;
    bytes -= bytes % align;
    (void)pthread_mutex_lock(&pool->lock);
    memory = take_idle(pool, bytes, align, got_bytes);
    if (memory == NULL)
        memory = take_new(pool, bytes, align, got_bytes);
    (void)pthread_mutex_unlock(&pool->lock);
    return memory;
}

void host_pool_give(struct host_pool *pool, void *block, int64_t got_bytes)
{
    struct weir_error ignored;
    size_t at;

    if (got_bytes <= SMALL_BYTES) {
        give_small(pool, block, got_bytes);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    if (array_grow(&pool->idle, &pool->idle_room, pool->n_idle + 1, &ignored) != WEIR_OK) {
        pool->reserved_bytes -= got_bytes;
        free(block);
    } else {
        at = find_idle(pool, got_bytes);
        memmove(pool->idle + at + 1, pool->idle + at, (pool->n_idle - at) * sizeof *pool->idle);
        pool->idle[at] = (struct host_block){.memory = block, .bytes = got_bytes};
        pool->n_idle++;
    }
    (void)pthread_mutex_unlock(&pool->lock);
}
