/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is given back whole. */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include <stddef.h>

#include "base/attributes.h"

struct arena_block;

/* A zeroed struct is an empty arena. */
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;          /* in the newest block */
    size_t total_bytes;         /* of all blocks, for reports on memory */
};

/** @return zeroed memory aligned for any type, which lives as long as the arena; NULL when there
 *  is none (0 bytes give a valid pointer). */
void *arena_alloc(struct arena *arena, size_t size_bytes);
/** As arena_alloc, for @p count items of @p item_bytes; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t item_bytes);
/** @return a NUL-terminated copy of @p length bytes of @p text; NULL when memory ran out. */
char *arena_text(struct arena *arena, const char *text, size_t length);
/** Gives everything back; the arena is empty and usable again. */
void arena_free(struct arena *arena);

#endif
