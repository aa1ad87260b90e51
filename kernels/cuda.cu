/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work on a GPU. Every kernel that stands for an action does a fixed amount of work on a grid whose
 * size does not depend on it, and takes as long as that takes, so that contention shows as time;
 * only weir_gate, weir_until and weir_clock look at a clock.
 *
 * C names, plain parameters, no globals: launched through the driver alone. What a loop computes is
 * stored when it equals a seed that only the launch knows, so that no compiler leaves it out;
 * tests/kernels/ptx-lint.sh counts what is left.
 *
 * kernels/cuda.ptx is made from this file: `make update-ptx` where nvcc is. */

typedef unsigned long long word;

/* Contents of a buffer are stood for by a tag in the first word of a stretch. */
struct weir_tag {
    word *at;
    word tag;
};

/* What an action finds and leaves, and who tells when it does not find it. kernels/cuda.h has the
 * same. */
struct weir_work {
    const weir_tag *reads, *writes;
    unsigned n_reads, n_writes;
    unsigned step, padding;
    unsigned *n_blocks_done; /* of this action: 0 between launches */
    word *failure; /* 0: none; else the step plus one, and the number of the read above bit 32 */
};

static __device__ void check_reads(const weir_work *work)
{
    if (blockIdx.x != 0)
        return;
    for (unsigned i = threadIdx.x; i < work->n_reads; i += blockDim.x) {
        word found = *(volatile word *)work->reads[i].at;

        if (found != work->reads[i].tag)
            atomicCAS(work->failure, 0, ((word)i << 32) | (work->step + 1));
    }
}

/* The last block to get here leaves the tags: all others have done their work. */
static __device__ void leave_writes(const weir_work *work)
{
    __syncthreads();
    if (threadIdx.x == 0 && work->n_writes != 0) {
        __threadfence();
        if (atomicInc(work->n_blocks_done, gridDim.x - 1) == gridDim.x - 1) {
            for (unsigned i = 0; i < work->n_writes; i++)
                *(volatile word *)work->writes[i].at = work->writes[i].tag;
            __threadfence();
        }
    }
}

/* Arithmetic: each thread, iterations times, 16 multiply-adds on each of 4 chains. */
extern "C" __global__ void __launch_bounds__(256)
    weir_fma(const weir_work *work, word iterations, float seed, float *sink)
{
    float a = seed, b = seed + 1.0f, c = seed + 2.0f, d = seed + (float)threadIdx.x;
    float m = seed * 0.5f + 0.9999f;

    check_reads(work);
#pragma unroll 1
    for (word i = 0; i < iterations; i++) {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            a = fmaf(a, m, seed);
            b = fmaf(b, m, seed);
            c = fmaf(c, m, seed);
            d = fmaf(d, m, seed);
        }
    }
    if (a + b + c + d == seed)
        *sink = a;
    leave_writes(work);
}

/* How many of n units of work the calling thread does, and from which on. */
static __device__ word share_of(word n, word *first)
{
    word threads = (word)gridDim.x * blockDim.x;
    word self = (word)blockIdx.x * blockDim.x + threadIdx.x;

    *first = self;
    return n / threads + (self < n % threads);
}

/* A unit is 4 pieces of 16 bytes. The 32 threads of a warp share 32 units that lie side by side, and go
 * through them together: what a warp asks for at once is 512 bytes in a row. */
static __device__ word piece_of(word unit, word window_units, int part)
{
    word lane = threadIdx.x % 32;

    return ((unit - lane) * 4 + (word)part * 32 + lane) & (window_units * 4 - 1);
}

/* Memory: reads `units` times 64 bytes of a window of a power of two of units, round and round, each
 * thread every (number of threads)-th unit, 4 loads of 16 bytes in flight. Streaming loads: for a
 * window of many times the L2 cache. */
extern "C" __global__ void __launch_bounds__(256)
    weir_read(const weir_work *work, const uint4 *window, word window_units, word from_unit, word units,
              unsigned seed, unsigned *sink)
{
    word first, n = share_of(units, &first), threads = (word)gridDim.x * blockDim.x;
    word unit = from_unit + first;
    unsigned sum = seed;

    check_reads(work);
#pragma unroll 1
    for (word i = 0; i < n; i++, unit += threads) {
        uint4 a = __ldcs(window + piece_of(unit, window_units, 0));
        uint4 b = __ldcs(window + piece_of(unit, window_units, 1));
        uint4 c = __ldcs(window + piece_of(unit, window_units, 2));
        uint4 d = __ldcs(window + piece_of(unit, window_units, 3));

        sum ^= a.x + b.y + c.z + d.w;
    }
    if (sum == seed + 1)
        *sink = sum;
    leave_writes(work);
}

/* The same from the L2 cache: for a window well inside it. */
extern "C" __global__ void __launch_bounds__(256)
    weir_read_l2(const weir_work *work, const uint4 *window, word window_units, word from_unit,
                 word units, unsigned seed, unsigned *sink)
{
    word first, n = share_of(units, &first), threads = (word)gridDim.x * blockDim.x;
    word unit = from_unit + first;
    unsigned sum = seed;

    check_reads(work);
#pragma unroll 1
    for (word i = 0; i < n; i++, unit += threads) {
        uint4 a = __ldcg(window + piece_of(unit, window_units, 0));
        uint4 b = __ldcg(window + piece_of(unit, window_units, 1));
        uint4 c = __ldcg(window + piece_of(unit, window_units, 2));
        uint4 d = __ldcg(window + piece_of(unit, window_units, 3));

        sum ^= a.x + b.y + c.z + d.w;
    }
    if (sum == seed + 1)
        *sink = sum;
    leave_writes(work);
}

/* Both: of each unit of 64 bytes 4 reads of 16, `intensity` multiply-adds (a multiple of 4) on each 16
 * bytes, and 4 writes. With one block a multiprocessor in mind the compiler spills no register. */
extern "C" __global__ void __launch_bounds__(256, 1)
    weir_mix(const weir_work *work, float4 *window, word window_units, word from_unit, word units,
             unsigned intensity, float seed)
{
    word first, n = share_of(units, &first), threads = (word)gridDim.x * blockDim.x;
    word unit = from_unit + first;
    float m = seed * 0.5f + 0.9999f;

    check_reads(work);
#pragma unroll 1
    for (word i = 0; i < n; i++, unit += threads) {
        float4 value[4];

#pragma unroll
        for (int v = 0; v < 4; v++)
            value[v] = __ldcs(window + piece_of(unit, window_units, v));

#pragma unroll 1
        for (unsigned k = 0; k < intensity; k += 4) {
#pragma unroll
            for (int v = 0; v < 4; v++) {
                value[v].x = fmaf(value[v].x, m, seed);
                value[v].y = fmaf(value[v].y, m, seed);
                value[v].z = fmaf(value[v].z, m, seed);
                value[v].w = fmaf(value[v].w, m, seed);
            }
        }
#pragma unroll
        for (int v = 0; v < 4; v++)
            __stcs(window + piece_of(unit, window_units, v), value[v]);
    }
    leave_writes(work);
}

/* No work but to find tags and leave others, by one block: of an action without any, and of what is
 * there before a run. */
extern "C" __global__ void __launch_bounds__(256) weir_tags(const weir_work *work)
{
    check_reads(work);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < work->n_writes; i += blockDim.x)
        *(volatile word *)work->writes[i].at = work->writes[i].tag;
}

static __device__ word now_ns()
{
    word ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* Holds its stream until the host writes the word, or so long has passed: *timed_out is 1 then. */
extern "C" __global__ void weir_gate(const volatile unsigned *word_of_host, word limit_ns,
                                     volatile unsigned *timed_out)
{
    word begin = now_ns();

    while (*word_of_host == 0) {
        if (now_ns() - begin > limit_ns) {
            *timed_out = 1;
            return;
        }
    }
}

/* Takes down the time, on the device's own clock. */
extern "C" __global__ void weir_time(volatile word *slot)
{
    *slot = now_ns();
}

/* Holds its stream until so long after a time taken down; limit_ns bounds the wait. */
extern "C" __global__ void weir_until(const volatile word *slot, word after_ns, word limit_ns,
                                      volatile unsigned *timed_out)
{
    word begin = now_ns(), until = *slot + after_ns;

    while ((long long)(until - now_ns()) > 0) {
        if (now_ns() - begin > limit_ns) {
            *timed_out = 1;
            return;
        }
    }
}

/* Cycles and nanoseconds of about that long: out[0] and out[1]. */
extern "C" __global__ void weir_clock(word span_ns, volatile word *out)
{
    word begin = now_ns(), end;
    long long from = clock64(), to;

    do {
        end = now_ns();
        to = clock64();
    } while (end - begin < span_ns);
    out[0] = (word)(to - from);
    out[1] = end - begin;
}
