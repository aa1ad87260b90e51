/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of at most BLOCK_RANGES ranges, by address, none of them empty. The holes of a block are those
 * in front of its ranges. Adding addresses never makes a hole larger; so the size that a block keeps may
 * only be too large, and a search that goes through all of the block in vain sets it right. */
#include "policies/arena_taken.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_RANGES 64
#define FIRST_ROOM 4

struct range {
    int64_t from, to; /* [from, to) */
};

struct arena_taken_block {
    int64_t end;        /* of its last range */
    int64_t hole_bytes; /* no hole in front of a range of it is larger */
    struct range *items;
    uint32_t n, room;
};

void arena_taken_free(struct arena_taken *set)
{
    for (uint32_t i = 0; i < set->n_blocks; i++) {
        free(set->blocks[i].items);
    }
    free(set->blocks);
    *set = (struct arena_taken){NULL, 0, 0, 0};
}

/* The first block that ends behind the address; n_blocks when there is none. */
static uint32_t block_behind(const struct arena_taken *set, int64_t address)
{
    const struct arena_taken_block *base = set->blocks;
    uint32_t n = set->n_blocks;

    while (n > 1) { /* halves without a branch, for which way it goes nobody can guess */
        uint32_t half = n / 2;

        base += base[half - 1].end <= address ? half : 0;
        n -= half;
    }
    return (uint32_t)(base - set->blocks) + (n == 1 && base->end <= address ? 1 : 0);
}

/* The first range of the block that ends behind the address. */
static uint32_t range_behind(const struct arena_taken_block *block, int64_t address)
{
    const struct range *base = block->items;
    uint32_t n = block->n;

    while (n > 1) { /* halves without a branch, for which way it goes nobody can guess */
        uint32_t half = n / 2;

        base += base[half - 1].to <= address ? half : 0;
        n -= half;
    }
    return (uint32_t)(base - block->items) + (n == 1 && base->to <= address ? 1 : 0);
}

/* --- search --- */

/* Goes through the holes of a block from a range on; *at is the end of what is in front of it. Sets what
 * it learns when it has seen all of them.
 * @return whether one is large enough: then *at is where it begins, else the end of the block */
static bool search_block(struct arena_taken_block *block, uint32_t first, int64_t bytes,
                         int64_t *at)
{
    int64_t largest = 0;

    for (uint32_t i = first; i < block->n; i++) {
        int64_t hole = block->items[i].from - *at;

        if (hole >= bytes) {
            return true;
        }
        largest = hole > largest ? hole : largest;
        *at = block->items[i].to;
    }
    if (first == 0) {
        block->hole_bytes = largest;
    }
    return false;
}

int64_t arena_taken_lowest(struct arena_taken *set, int64_t from, int64_t bytes)
{
    struct arena_taken_block *block;
    uint32_t index;
    int64_t at = from;

    if (set->end <= from) {
        return from;
    }
    block = &set->blocks[block_behind(set, from)];
    index = range_behind(block, from);
    if (block->items[index].from - from >= bytes) {
        return from;
    }
    at = block->items[index].to;
    if (block->hole_bytes < bytes) {
        at = block->end;
    } else if (search_block(block, index + 1, bytes, &at)) {
        return at;
    }
    for (block++; block < set->blocks + set->n_blocks; block++) {
        if (block->hole_bytes < bytes) {
            at = block->end;
        } else if (search_block(block, 0, bytes, &at)) {
            return at;
        }
    }
    return at;
}

/* --- adding --- */

static enum weir_status make_room(struct arena_taken_block *block, struct weir_error *err)
{
    uint32_t room = block->room == 0 ? FIRST_ROOM : 2 * block->room;
    struct range *items;

    if (block->n < block->room) {
        return WEIR_OK;
    }
    items = realloc(block->items, room * sizeof *items);
    if (items == NULL) {
        return weir_error_memory(err);
    }
    block->items = items;
    block->room = room;
    return WEIR_OK;
}

static enum weir_status insert_block(struct arena_taken *set, uint32_t index,
                                     struct weir_error *err)
{
    if (set->n_blocks == set->room) {
        uint32_t room = set->room == 0 ? 1 : 2 * set->room;
        struct arena_taken_block *blocks = realloc(set->blocks, room * sizeof *blocks);

        if (blocks == NULL) {
            return weir_error_memory(err);
        }
        set->blocks = blocks;
        set->room = room;
    }
    memmove(set->blocks + index + 1, set->blocks + index,
            (set->n_blocks - index) * sizeof *set->blocks);
    set->blocks[index] = (struct arena_taken_block){0, 0, NULL, 0, 0};
    set->n_blocks++;
    return WEIR_OK;
}

/* Gives the upper half of a full block, or none of it when it grows at its end, a block of its own. */
static enum weir_status split(struct arena_taken *set, uint32_t index, bool is_at_end,
                              struct weir_error *err)
{
    struct range *items = malloc(BLOCK_RANGES * sizeof *items);
    struct arena_taken_block *lower, *upper;
    uint32_t kept = is_at_end ? BLOCK_RANGES : BLOCK_RANGES / 2;
    enum weir_status status;

    if (items == NULL) {
        return weir_error_memory(err);
    }
    status = insert_block(set, index + 1, err);
    if (status != WEIR_OK) {
        free(items);
        return status;
    }
    lower = &set->blocks[index];
    upper = &set->blocks[index + 1];
    upper->items = items;
    upper->room = BLOCK_RANGES;
    upper->n = lower->n - kept;
    upper->end = lower->end;
    upper->hole_bytes = is_at_end ? 0 : lower->hole_bytes;
    memcpy(items, lower->items + kept, upper->n * sizeof *items);
    lower->n = kept;
    lower->end = lower->items[kept - 1].to;
    return WEIR_OK;
}

/* A range that touches none: in front of the index-th of the block, which may be one past its last. */
static enum weir_status insert(struct arena_taken *set, uint32_t block_index, uint32_t index,
                               struct range range, struct weir_error *err)
{
    struct arena_taken_block *block;
    enum weir_status status = WEIR_OK;

    if (set->blocks[block_index].n == BLOCK_RANGES) {
        bool is_at_end = index == BLOCK_RANGES && block_index + 1 == set->n_blocks;

        status = split(set, block_index, is_at_end, err);
        if (status != WEIR_OK) {
            return status;
        }
        if (index > set->blocks[block_index].n || is_at_end) {
            index -= set->blocks[block_index].n;
            block_index++;
        }
    }
    block = &set->blocks[block_index];
    status = make_room(block, err);
    if (status != WEIR_OK) {
        return status;
    }
    memmove(block->items + index + 1, block->items + index, (block->n - index) * sizeof range);
    block->items[index] = range;
    block->n++;
    block->end = block->items[block->n - 1].to;
    if (range.from - set->end > block->hole_bytes) { /* behind what was the last */
        block->hole_bytes = range.from - set->end;
    }
    return WEIR_OK;
}

/* Takes out whole blocks [first, last). */
static void remove_blocks(struct arena_taken *set, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        free(set->blocks[i].items);
    }
    memmove(set->blocks + first, set->blocks + last, (set->n_blocks - last) * sizeof *set->blocks);
    set->n_blocks -= last - first;
}

/* Joins the index-th range of the block with the range, and with all behind it that this touches. */
static void join(struct arena_taken *set, uint32_t block_index, uint32_t index, struct range range,
                 int64_t least_bytes)
{
    struct arena_taken_block *block = &set->blocks[block_index], *last = block;
    struct range *at = &block->items[index];
    uint32_t end = index;

    range.from = at->from < range.from ? at->from : range.from;
    for (;;) { /* to the first range behind that stays */
        if (end == last->n && last + 1 < set->blocks + set->n_blocks) {
            last++;
            end = 0;
        }
        if (end == last->n || last->items[end].from - range.to >= least_bytes) {
            break;
        }
        range.to = last->items[end].to > range.to ? last->items[end].to : range.to;
        end++;
    }
    *at = range;
    if (last == block) {
        memmove(at + 1, block->items + end, (block->n - end) * sizeof range);
        block->n -= end - index - 1;
    } else {
        block->n = index + 1;
        last->n -= end;
        memmove(last->items, last->items + end, last->n * sizeof range);
        remove_blocks(set, block_index + 1,
                      (uint32_t)(last - set->blocks) + (last->n == 0 ? 1 : 0));
        block = &set->blocks[block_index];
    }
    block->end = block->items[block->n - 1].to;
}

enum weir_status arena_taken_add(struct arena_taken *set, int64_t from, int64_t to,
                                 int64_t least_bytes, struct weir_error *err)
{
    uint32_t block, index;
    enum weir_status status = WEIR_OK;

    if (set->n_blocks == 0) {
        status = insert_block(set, 0, err);
        block = index = 0;
    } else if (from - set->end >= least_bytes) {
        block = set->n_blocks - 1;
        index = set->blocks[block].n;
    } else {
        block = block_behind(set, from - least_bytes);
        index = range_behind(&set->blocks[block], from - least_bytes);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (index < set->blocks[block].n && set->blocks[block].items[index].from - to < least_bytes) {
        join(set, block, index, (struct range){from, to}, least_bytes);
    } else {
        status = insert(set, block, index, (struct range){from, to}, err);
    }
    if (status == WEIR_OK) {
        set->end = set->blocks[set->n_blocks - 1].end;
    }
    return status;
}
