/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A 128-bit hash of bytes, for identity and not against an adversary. Source of the algorithm:
 * MurmurHash3 x64 128 by Austin Appleby, in a form that takes its input in pieces. */
#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t half[2];
    uint64_t total_bytes;
    unsigned char pending[16]; /* the part of a block that has not been mixed in yet */
};

#define HASH_TEXT_BYTES 33 /* 32 hexadecimal digits and a NUL */

void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, size_t n_bytes);
/** Writes the hash of all that was added; the struct may go on taking bytes. */
void hash_text(const struct hash *hash, char out[HASH_TEXT_BYTES]);

#endif
