/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work loops of the host device. Their constants come from the arguments: a chain that a
 * compiler could prove to stand still would be folded away. */
#include "kernels/host.h"

#include <stdatomic.h>
#include <string.h>

#define CHAINS (KERNEL_FMA_FLOPS / 2)

double kernel_fma(int64_t iterations, double seed)
{
    /* Each chain runs towards its own limit, shift / (1 - scale), slowly enough that it is still
     * moving after any number of iterations that a run has time for, and never leaves the normal
     * numbers. */
    double scale = 1.0 - 1e-9 / (1.0 + seed * seed);
    double chain[CHAINS];
    double shift[CHAINS];
    double sum = 0.0;

    for (int c = 0; c < CHAINS; c++) {
        chain[c] = seed + c;
        shift[c] = 1e-3 * (c + 1);
    }
    for (int64_t i = 0; i < iterations; i++) {
        for (int c = 0; c < CHAINS; c++)
            chain[c] = chain[c] * scale + shift[c];
    }
    for (int c = 0; c < CHAINS; c++)
        sum += chain[c];
    return sum;
}

static uint64_t word(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Sums that have a name stay in registers; an array would go through the first cache with each line, and
 * be slower than a second one is. */
static uint64_t read_stretch(const unsigned char *at, int64_t bytes)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;

    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
        a += word(at + i) + word(at + i + 32);
        b += word(at + i + 8) + word(at + i + 40);
        c += word(at + i + 16) + word(at + i + 48);
        d += word(at + i + 24) + word(at + i + 56);
    }
    return a + b + c + d;
}

uint64_t kernel_read(const void *window, int64_t window_bytes, int64_t from, int64_t bytes)
{
    const unsigned char *base = window;
    int64_t end = window_bytes - window_bytes % 64;
    int64_t left = bytes + (64 - bytes % 64) % 64;
    uint64_t sum = 0;

    if (from >= end)
        from = 0;
    while (left > 0) {
        int64_t stretch = end - from < left ? end - from : left;

        sum += read_stretch(base + from, stretch);
        left -= stretch;
        from = from + stretch == end ? 0 : from + stretch;
    }
    return sum;
}

#define LINE_NUMBERS 8 /* of 64 bits in 64 bytes */

static double load(_Atomic double *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void store(_Atomic double *at, double value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

/* As the chains of kernel_fma, each number runs towards shift / (1 - scale). Each has a name, as the
 * sums of read_stretch. */
static void mix_line(_Atomic double *at, int n_steps, double scale, double shift)
{
    double a = load(at), b = load(at + 1), c = load(at + 2), d = load(at + 3);
    double e = load(at + 4), f = load(at + 5), g = load(at + 6), h = load(at + 7);

    for (int step = 0; step < n_steps; step++) {
        a = a * scale + shift;
        b = b * scale + shift;
        c = c * scale + shift;
        d = d * scale + shift;
        e = e * scale + shift;
        f = f * scale + shift;
        g = g * scale + shift;
        h = h * scale + shift;
    }
    store(at, a);
    store(at + 1, b);
    store(at + 2, c);
    store(at + 3, d);
    store(at + 4, e);
    store(at + 5, f);
    store(at + 6, g);
    store(at + 7, h);
}

int64_t kernel_mix(_Atomic double *window, int64_t window_bytes, int64_t from, int64_t bytes,
                   int n_steps, double seed)
{
    int64_t end = window_bytes / 64;
    int64_t line = from / 64;
    double scale = 1.0 - 1e-9 / (1.0 + seed * seed);

    for (int64_t left = (bytes + 63) / 64; left > 0; left--) {
        if (line >= end)
            line = 0;
        mix_line(window + line * LINE_NUMBERS, n_steps, scale, 1e-3);
        line++;
    }
    return line >= end ? 0 : line * 64;
}

int64_t kernel_copy(void *target, const void *source, int64_t window_bytes, int64_t from,
                    int64_t bytes)
{
    unsigned char *to = target;
    const unsigned char *of = source;

    while (bytes > 0) {
        int64_t stretch = window_bytes - from < bytes ? window_bytes - from : bytes;

        memcpy(to + from, of + from, (size_t)stretch);
        bytes -= stretch;
        from = from + stretch == window_bytes ? 0 : from + stretch;
    }
    return from;
}

void kernel_touch(void *block, int64_t size_bytes, int64_t page_bytes)
{
    volatile unsigned char *at = block;

    for (int64_t i = 0; i < size_bytes; i += page_bytes)
        at[i] = 0;
}
