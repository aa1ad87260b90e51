/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growth of arrays: at least double, so that adding one by one costs a constant each. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMS 16

enum weir_status array_reserve_raw(void **items, size_t *capacity, size_t need, size_t item_bytes,
                                   struct weir_error *err)
{
    size_t room = *capacity;
    size_t bytes;
    void *grown;

    if (need <= room)
        return WEIR_OK;
    room = room > SIZE_MAX / 2 ? need : room * 2;
    if (room < FIRST_ITEMS)
        room = FIRST_ITEMS;
    if (room < need)
        room = need;
    if (__builtin_mul_overflow(room, item_bytes, &bytes))
        return weir_error_memory(err);
    grown = realloc(*items, bytes);
    if (grown == NULL)
        return weir_error_memory(err);
    *items = grown;
    *capacity = room;
    return WEIR_OK;
}

enum weir_status array_reserve(void **items, size_t *capacity, size_t need, size_t item_bytes,
                               struct weir_error *err)
{
    size_t before = *capacity;
    enum weir_status status;

    if (need <= before)
        return WEIR_OK;
    status = array_reserve_raw(items, capacity, need, item_bytes, err);
    if (status == WEIR_OK)
        memset((char *)*items + before * item_bytes, 0, (*capacity - before) * item_bytes);
    return status;
}

void array_shrink(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    void *smaller;

    if (count == 0 || count >= *capacity)
        return;
    smaller = realloc(*items, count * item_bytes);
    if (smaller == NULL)
        return; /* then it stays as it is */
    *items = smaller;
    *capacity = count;
}
