/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks from calloc, each at least as large as what is asked of it; a block is filled from its
 * start and never moved. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    size_t size_bytes; /* of bytes[] */
    _Alignas(max_align_t) unsigned char bytes[];
};

#define BLOCK_BYTES ((size_t)64 << 10)

static bool add_block(struct arena *arena, size_t need_bytes)
{
    size_t size = need_bytes > BLOCK_BYTES ? need_bytes : BLOCK_BYTES;
    struct arena_block *block;

    if (size > SIZE_MAX - sizeof *block)
        return false;
    block = calloc(1, sizeof *block + size);
    if (block == NULL)
        return false;
    block->older = arena->blocks;
    block->size_bytes = size;
    arena->blocks = block;
    arena->used_bytes = 0;
    arena->total_bytes += sizeof *block + size;
    return true;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    const size_t align = _Alignof(max_align_t);
    size_t rounded;
    void *found;

    if (size_bytes > SIZE_MAX - align)
        return NULL;
    rounded = (size_bytes + align - 1) / align * align;
    if (rounded == 0)
        rounded = align;
    if (arena->blocks == NULL || arena->blocks->size_bytes - arena->used_bytes < rounded) {
        if (!add_block(arena, rounded))
            return NULL;
    }
    found = arena->blocks->bytes + arena->used_bytes;
    arena->used_bytes += rounded;
    return found;
}

void *arena_array(struct arena *arena, size_t count, size_t item_bytes)
{
    size_t size;

    if (__builtin_mul_overflow(count, item_bytes, &size))
        return NULL;
    return arena_alloc(arena, size);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy;

    if (length == SIZE_MAX)
        return NULL;
    copy = arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->blocks;

    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    memset(arena, 0, sizeof *arena);
}
