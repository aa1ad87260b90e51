/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work loops of the host device. Each does a fixed amount of work and takes as long as that takes:
 * none looks at a clock, so that contention shows as time. What a loop computes depends on all of
 * its work and goes to the caller, who must use it: a compiler can leave none of it out.
 *
 * Plain C, callable from any thread; no state. */
#ifndef WEIR_KERNELS_HOST_H
#define WEIR_KERNELS_HOST_H

#include <stdint.h>

/* Floating point operations of one iteration of kernel_fma: a multiplication and an addition on each
 * of its independent chains. */
#define KERNEL_FMA_FLOPS 32

/** Runs @p iterations (0 or more) steps of independent multiply-add chains that begin at @p seed.
 *  @return the sum of the chains: for one seed it differs from one number of iterations to the next */
double kernel_fma(int64_t iterations, double seed);

/** Reads @p bytes (rounded up to 64) from @p window, round and round, beginning at byte @p from.
 *  @param window_bytes 64 or more; only whole 64 bytes of it are read  @param from a multiple of 64
 *  @return the sum of the 64-bit words read, modulo 2^64 */
uint64_t kernel_read(const void *window, int64_t window_bytes, int64_t from, int64_t bytes);

/** Goes through @p bytes (rounded up to 64) of @p window, round and round, beginning at byte @p from:
 *  reads numbers of 64 bits, does @p n_steps (0 or more) multiply-adds on each and writes it back. Several
 *  threads may go through one window at once; what its numbers are then is of no meaning.
 *  @param window_bytes 64 or more; only whole 64 bytes of it are used  @param from a multiple of 64
 *  @return where it stopped: the @p from of the next call */
int64_t kernel_mix(_Atomic double *window, int64_t window_bytes, int64_t from, int64_t bytes,
                   int n_steps, double seed);

/** Copies @p bytes from @p source to the same place of @p target, round and round through
 *  @p window_bytes (1 or more) of each, beginning at byte @p from (within the window). The two do
 *  not overlap.
 *  @return where it stopped: the @p from of the next call */
int64_t kernel_copy(void *target, const void *source, int64_t window_bytes, int64_t from,
                    int64_t bytes);

/** Writes one byte of each @p page_bytes of the block, so that it is really there. */
void kernel_touch(void *block, int64_t size_bytes, int64_t page_bytes);

#endif
