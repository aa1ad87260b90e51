/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open addressing with linear steps, at most two thirds full, nothing ever removed: values of one
 * key stand in the order of putting along its steps, and stay so when the table grows, because
 * slots are moved in the order of the cluster they stand in. */
#include "graph/keys.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    struct key key;
    uint32_t value_plus_1; /* 0: free */
};

struct keys {
    struct slot *slots;
    size_t n_slots; /* a power of two */
    size_t count;
};

#define FIRST_SLOTS ((size_t)16)

static size_t hash_of(const struct key *key)
{
    uint64_t hash = 0;

    for (unsigned i = 0; i < 4; i++) {
        hash = (hash ^ key->part[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

static bool is_same(const struct key *a, const struct key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

struct keys *keys_new(void)
{
    struct keys *keys = calloc(1, sizeof *keys);

    if (keys == NULL)
        return NULL;
    keys->n_slots = FIRST_SLOTS;
    keys->slots = calloc(keys->n_slots, sizeof *keys->slots);
    if (keys->slots == NULL) {
        free(keys);
        return NULL;
    }
    return keys;
}

void keys_free(struct keys *keys)
{
    if (keys == NULL)
        return;
    free(keys->slots);
    free(keys);
}

static void place(struct slot *slots, size_t n_slots, const struct slot *slot)
{
    size_t at = hash_of(&slot->key) & (n_slots - 1);

    while (slots[at].value_plus_1 != 0)
        at = (at + 1) & (n_slots - 1);
    slots[at] = *slot;
}

static enum weir_status grow(struct keys *keys, struct weir_error *err)
{
    size_t n_slots = keys->n_slots * 2, first = 0;
    struct slot *slots = calloc(n_slots, sizeof *slots);

    if (slots == NULL)
        return weir_error_memory(err);
    /* Begin behind a free slot, so that no cluster is cut in two by the end of the table. */
    while (keys->slots[first].value_plus_1 != 0)
        first++;
    for (size_t i = 0; i < keys->n_slots; i++) {
        const struct slot *slot = &keys->slots[(first + i) & (keys->n_slots - 1)];
        if (slot->value_plus_1 != 0)
            place(slots, n_slots, slot);
    }
    free(keys->slots);
    keys->slots = slots;
    keys->n_slots = n_slots;
    return WEIR_OK;
}

enum weir_status keys_put(struct keys *keys, const struct key *key, uint32_t value,
                          struct weir_error *err)
{
    struct slot slot = {.key = *key, .value_plus_1 = value + 1};

    if (keys->count + 1 > keys->n_slots / 3 * 2) {
        enum weir_status status = grow(keys, err);
        if (status != WEIR_OK)
            return status;
    }
    place(keys->slots, keys->n_slots, &slot);
    keys->count++;
    return WEIR_OK;
}

void keys_walk_begin(struct keys_walk *walk, const struct keys *keys, const struct key *key)
{
    walk->keys = keys;
    walk->key = key;
    walk->at = hash_of(key) & (keys->n_slots - 1);
}

uint32_t keys_walk_next(struct keys_walk *walk)
{
    const struct keys *keys = walk->keys;

    while (keys->slots[walk->at].value_plus_1 != 0) {
        const struct slot *slot = &keys->slots[walk->at];
        walk->at = (walk->at + 1) & (keys->n_slots - 1);
        if (is_same(&slot->key, walk->key))
            return slot->value_plus_1 - 1;
    }
    return KEYS_NONE;
}

uint32_t keys_find(const struct keys *keys, const struct key *key)
{
    struct keys_walk walk;

    keys_walk_begin(&walk, keys, key);
    return keys_walk_next(&walk);
}

void keys_change(struct keys *keys, const struct key *key, uint32_t value)
{
    size_t at = hash_of(key) & (keys->n_slots - 1);

    while (keys->slots[at].value_plus_1 == 0 || !is_same(&keys->slots[at].key, key)) {
        assert(keys->slots[at].value_plus_1 != 0);
        at = (at + 1) & (keys->n_slots - 1);
    }
    keys->slots[at].value_plus_1 = value + 1;
}

size_t keys_memory_bytes(const struct keys *keys)
{
    return sizeof *keys + keys->n_slots * sizeof *keys->slots;
}
