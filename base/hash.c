/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MurmurHash3 x64 128, seed 0, over input in pieces: blocks of 16 bytes are mixed in as they fill,
 * what is left over and the length only when the text of the hash is asked for. Words are read as
 * little-endian on every machine. */
#include "base/hash.h"

#include <string.h>

#define BLOCK 16
#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static inline uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

static inline uint64_t scramble_first(uint64_t word)
{
    return rotate(word * C1, 31) * C2;
}

static inline uint64_t scramble_second(uint64_t word)
{
    return rotate(word * C2, 33) * C1;
}

static inline void mix_block(uint64_t half[2], const unsigned char *bytes)
{
    half[0] ^= scramble_first(word_at(bytes));
    half[0] = (rotate(half[0], 27) + half[1]) * 5 + 0x52dce729;
    half[1] ^= scramble_second(word_at(bytes + 8));
    half[1] = (rotate(half[1], 31) + half[0]) * 5 + 0x38495ab5;
}

/* The halves in registers all along. */
static void mix_blocks(uint64_t half[2], const unsigned char *bytes, size_t n_blocks)
{
    uint64_t mixed[2] = {half[0], half[1]};

    for (size_t i = 0; i < n_blocks; i++)
        mix_block(mixed, bytes + i * BLOCK);
    half[0] = mixed[0];
    half[1] = mixed[1];
}

static uint64_t avalanche(uint64_t word)
{
    word ^= word >> 33;
    word *= UINT64_C(0xff51afd7ed558ccd);
    word ^= word >> 33;
    word *= UINT64_C(0xc4ceb9fe1a85ec53);
    word ^= word >> 33;
    return word;
}

void hash_begin(struct hash *hash)
{
    memset(hash, 0, sizeof *hash);
}

void hash_add(struct hash *hash, const void *bytes, size_t n_bytes)
{
    const unsigned char *from = bytes;
    size_t filled = (size_t)(hash->total_bytes % BLOCK);

    if (n_bytes == 0)
        return;
    hash->total_bytes += n_bytes;
    if (filled > 0) {
        size_t take = BLOCK - filled < n_bytes ? BLOCK - filled : n_bytes;
        memcpy(hash->pending + filled, from, take);
        if (filled + take < BLOCK)
            return;
        mix_block(hash->half, hash->pending);
        from += take;
        n_bytes -= take;
    }
    mix_blocks(hash->half, from, n_bytes / BLOCK);
    from += n_bytes / BLOCK * BLOCK;
    n_bytes %= BLOCK;
    memcpy(hash->pending, from, n_bytes);
}

void hash_text(const struct hash *hash, char out[HASH_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char tail[BLOCK] = {0};
    uint64_t half[2] = {hash->half[0], hash->half[1]};

    /* A word of zeros scrambles to zero, so a padded tail does what a switch over its length
     * would. */
    memcpy(tail, hash->pending, (size_t)(hash->total_bytes % BLOCK));
    half[0] ^= scramble_first(word_at(tail));
    half[1] ^= scramble_second(word_at(tail + 8));
    half[0] ^= hash->total_bytes;
    half[1] ^= hash->total_bytes;
    half[0] += half[1];
    half[1] += half[0];
    half[0] = avalanche(half[0]);
    half[1] = avalanche(half[1]);
    half[0] += half[1];
    half[1] += half[0];
    for (unsigned i = 0; i < 32; i++)
        out[i] = digits[half[i / 16] >> (60 - 4 * (i % 16)) & 15];
    out[32] = '\0';
}
