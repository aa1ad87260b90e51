/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xoshiro256**; a stream's state is four outputs of splitmix64 from a start that both the seed and
 * the number of the stream went into. The state is never all zero. */
#include "base/random.h"

#include <assert.h>

__extension__ typedef unsigned __int128 wide;

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

/* The output function of splitmix64: a bijection of 64 bits. */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

void random_seed(struct random_stream *random, uint64_t seed, uint64_t stream)
{
    /* Mixed twice, so that near streams do not start at near points of one splitmix64 cycle. */
    uint64_t at = mix(mix(seed + GOLDEN) ^ mix(stream * GOLDEN + 1));

    for (unsigned i = 0; i < 4; i++)
        random->state[i] = mix(at += GOLDEN);
    if ((random->state[0] | random->state[1] | random->state[2] | random->state[3]) == 0)
        random->state[0] = GOLDEN;
}

uint64_t random_bits(struct random_stream *random)
{
    uint64_t *state = random->state;
    uint64_t result = rotate(state[1] * 5, 7) * 9;
    uint64_t carried = state[1] << 17;

    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= carried;
    state[3] = rotate(state[3], 45);
    return result;
}

uint64_t random_below(struct random_stream *random, uint64_t bound)
{
    /* Source: Lemire, Fast Random Integer Generation in an Interval (2019). */
    wide product = (wide)random_bits(random) * bound;

    assert(bound > 0);
    if ((uint64_t)product < bound) {
        uint64_t least = (UINT64_MAX - bound + 1) % bound;
        while ((uint64_t)product < least)
            product = (wide)random_bits(random) * bound;
    }
    return (uint64_t)(product >> 64);
}

double random_unit(struct random_stream *random)
{
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}
