/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded streams of random bits, the same on every machine. Source: xoshiro256** by Blackman and
 * Vigna (2018), seeded by splitmix64. */
#ifndef WEIR_BASE_RANDOM_H
#define WEIR_BASE_RANDOM_H

#include <stdint.h>

struct random_stream {
    uint64_t state[4];
};

/** Stream number @p stream of @p seed: streams of one seed are independent of each other. */
void random_seed(struct random_stream *random, uint64_t seed, uint64_t stream);
uint64_t random_bits(struct random_stream *random);
/** A whole number in [0, bound), without bias. @param bound at least 1 */
uint64_t random_below(struct random_stream *random, uint64_t bound);
/** A double in [0, 1) with 53 random bits. */
double random_unit(struct random_stream *random);

#endif
