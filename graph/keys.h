/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From four numbers to one, by hash: which row says something of a pair, of an edge, of a kind of
 * evidence. One key may be put several times; all its values are found, in the order of putting. */
#ifndef WEIR_GRAPH_KEYS_H
#define WEIR_GRAPH_KEYS_H

#include <stdint.h>

#include "base/attributes.h"

struct keys;

struct key {
    uint32_t part[4];
};

#define KEYS_NONE UINT32_MAX

/** NULL when memory ran out. */
struct keys *keys_new(void);
void keys_free(struct keys *keys);
/** @param value not KEYS_NONE */
MUST_CHECK enum weir_status keys_put(struct keys *keys, const struct key *key, uint32_t value,
                                     struct weir_error *err);
/** @return the first value of the key, KEYS_NONE when there is none */
uint32_t keys_find(const struct keys *keys, const struct key *key);
/** Puts another value in the place of the key's first, which is there. */
void keys_change(struct keys *keys, const struct key *key, uint32_t value);

/* Goes through the values of a key; void once a key is put. */
struct keys_walk {
    const struct keys *keys;
    const struct key *key;
    size_t at;
};

void keys_walk_begin(struct keys_walk *walk, const struct keys *keys, const struct key *key);
/** @return the next value, KEYS_NONE after the last */
uint32_t keys_walk_next(struct keys_walk *walk);
size_t keys_memory_bytes(const struct keys *keys);

#endif
