/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable arrays, addressed by index: a pointer into one is void after any call that may add. */
#ifndef WEIR_BASE_ARRAY_H
#define WEIR_BASE_ARRAY_H

#include <stddef.h>

#include "base/attributes.h"

/** Makes room for @p need items in *items (malloc'ed, NULL at first), at least doubling when it
 *  grows; new room is zeroed. Owner frees *items with free().
 *  @return WEIR_OK or WEIR_MEMORY, and then nothing has changed. */
MUST_CHECK enum weir_status array_reserve(void **items, size_t *capacity, size_t need,
                                          size_t item_bytes, struct weir_error *err);

/* array_grow(&a.items, &a.capacity, need, err): the same with the item size taken from the type. */
#define array_grow(items, capacity, need, err) \
    array_reserve((void **)(items), (capacity), (need), sizeof **(items), (err))

/** As array_reserve, for items that are all written before they are read: new room holds anything,
 *  and costs no memory until then. */
MUST_CHECK enum weir_status array_reserve_raw(void **items, size_t *capacity, size_t need,
                                              size_t item_bytes, struct weir_error *err);

/* Mostly there is room: that costs a comparison. @p need is used twice. */
#define array_grow_raw(items, capacity, need, err) \
    ((need) <= *(capacity)                         \
         ? WEIR_OK                                 \
         : array_reserve_raw((void **)(items), (capacity), (need), sizeof **(items), (err)))

/** Gives back the room behind the first @p count items, where that is easy. */
void array_shrink(void **items, size_t *capacity, size_t count, size_t item_bytes);

#define array_trim(items, capacity, count) \
    array_shrink((void **)(items), (capacity), (count), sizeof **(items))

#endif
