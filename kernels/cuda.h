/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of kernels/cuda.cu as whoever launches them sees them: their names, what each is given,
 * in that order, and the structs that lie in the device's memory. Plain C. */
#ifndef WEIR_KERNELS_CUDA_H
#define WEIR_KERNELS_CUDA_H

#include <stdint.h>

#define KERNEL_CUDA_THREADS 256 /* of a block; weir_gate, _time, _until and _clock have one */

/* Multiply-adds of one thread in one iteration of weir_fma, two operations each. */
#define KERNEL_CUDA_FMAS 64
/* Of weir_read, weir_read_l2 and weir_mix; and of what an intensity counts multiply-adds on. */
#define KERNEL_CUDA_UNIT_BYTES 64
#define KERNEL_CUDA_MIX_BYTES 16

/* Addresses are the device's. */
struct kernel_tag {
    uint64_t at;
    uint64_t tag;
};

struct kernel_work {
    uint64_t reads, writes; /* struct kernel_tag[] */
    uint32_t n_reads, n_writes;
    uint32_t step, padding;
    uint64_t n_blocks_done; /* of a 32-bit word that is 0 between launches */
    uint64_t failure; /* of a 64-bit word: 0 no failure, else the step plus one, and the number of
                         the read whose tag was wrong above bit 32 */
};

/* Every parameter is a 64-bit word but for those that are named otherwise.
 *
 * weir_fma      work, iterations, float seed, sink
 * weir_read     work, window, window_units, from_unit, units, uint32_t seed, sink
 * weir_read_l2  the same
 * weir_mix      work, window, window_units, from_unit, units, uint32_t intensity, float seed
 * weir_tags     work
 * weir_gate     word_of_host, limit_ns, timed_out
 * weir_time     slot
 * weir_until    slot, after_ns, limit_ns, timed_out
 * weir_clock    span_ns, out
 *
 * window_units is a power of two, seed not 0; sink is one word; timed_out a 32-bit word. */

#endif
