/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers as decimal digits, by the million: eight digits at a time in one word, and no format
 * to read. */
#ifndef WEIR_BASE_DIGITS_H
#define WEIR_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#define DIGITS_MOST 20 /* of 64 bits */
#define DIGITS_ROOM 24 /* that digits_put needs */

extern const uint64_t digits_powers[DIGITS_MOST]; /* of ten */

/** How many digits the number has; 1 for 0. */
static inline unsigned digits_count(uint64_t value)
{
    unsigned n_bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned n = n_bits * 1233 >> 12; /* 1233 / 4096 is about log10 of 2: n or n + 1 digits */

    return n + (n == 0 || value >= digits_powers[n]);
}

/** The last eight digits of a number below 10^8, the first in the lowest byte. The halves, then the
 *  pairs, then the digits are parted in all lanes of the word at once; the factors are 1 / 100 and
 *  1 / 10, exact for what is in a lane. */
static inline uint64_t digits_word(uint64_t value)
{
    uint64_t halves = value / 10000 | (value % 10000) << 32;
    uint64_t hundreds = (halves * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);

    return (tens | (pairs - 10 * tens) << 8) | UINT64_C(0x3030303030303030);
}

/** Stores the word so that its lowest byte comes first. */
static inline void digits_store(char *to, uint64_t word)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        word = __builtin_bswap64(word);
    memcpy(to, &word, sizeof word);
}

/** Writes the last @p n digits of the number, 1 to 20, with zeros in front; no NUL. What is behind
 *  them up to DIGITS_ROOM is overwritten. */
static inline void digits_put(char *to, uint64_t value, unsigned n)
{
    const uint64_t part = 100000000;
    unsigned n_first = (n - 1) % 8 + 1; /* digits of the first word */

    if (n > 16) {
        digits_store(to, digits_word(value / part / part) >> 8 * (8 - n_first));
        to += n_first;
        n_first = 8;
    }
    if (n > 8) {
        digits_store(to, digits_word(value / part % part) >> 8 * (8 - n_first));
        to += n_first;
        n_first = 8;
    }
    digits_store(to, digits_word(value % part) >> 8 * (8 - n_first));
}

#endif
