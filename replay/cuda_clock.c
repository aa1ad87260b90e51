/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of the multiprocessors: how fast the device is right now. It is never set, only looked at:
 * an idle GPU runs at a fraction of its speed, and a hot one slows down. */
#include <math.h>

#include "replay/cuda_internal.h"

#define SPAN_NS 500000 /* over which cycles are counted: many ticks of the timer, of about 1 us */
#define WARM_NS 100000000 /* of work between two looks, until the clock rises no more */
#define WARM_ROUNDS 20
#define WARM_LEAST 3 /* rounds: a clock takes its time to begin to rise */
#define RISES_RATIO 1.01
#define WARM_RATIO 0.98 /* of the greatest clock that was seen: nothing to wait for */

/* Of the GPU of this process. */
static double greatest_clock;

enum weir_status cuda_clock_read(struct cuda *cuda, double *cycles_per_ns, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    uint64_t span_ns = SPAN_NS, out = cuda->words + CUDA_WORD_CLOCK * sizeof(uint64_t);
    void *values[] = {&span_ns, &out};
    void *pinned = (void *)(uintptr_t)(cuda->results + CUDA_WORD_CLOCK);
    enum weir_status status =
        cuda_check(&cuda->context,
                   driver->launch_kernel(cuda->context.kernels[CUDA_CLOCK], 1, 1, 1, 1, 1, 1, 0,
                                         cuda->control, values, NULL),
                   "cuLaunchKernel", err);

    if (status == WEIR_OK) {
        status =
            cuda_check(&cuda->context,
                       driver->memcpy_dtoh_async(pinned, out, 2 * sizeof(uint64_t), cuda->control),
                       "cuMemcpyDtoHAsync", err);
    }
    if (status == WEIR_OK) {
        status = cuda_check(&cuda->context, driver->stream_synchronize(cuda->control),
                            "cuStreamSynchronize", err);
    }
    if (status == WEIR_OK) {
        *cycles_per_ns = (double)cuda->results[CUDA_WORD_CLOCK] /
                         (double)(cuda->results[CUDA_WORD_CLOCK + 1] + 1);
    }
    return status;
}

/* Work of about WARM_NS on every multiprocessor: of one block's 256 threads it does 128 multiply-adds a
 * cycle (CUDA C++ Programming Guide, arithmetic instructions, 8.6 and 9.0). */
static enum weir_status work(struct cuda *cuda, double cycles_per_ns, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    uint64_t nothing = cuda_work_address(cuda, cuda->n_submitted + 1);
    uint64_t iterations = (uint64_t)(WARM_NS * cycles_per_ns / (2 * KERNEL_CUDA_FMAS)) + 1;
    uint64_t sink = cuda->words + CUDA_WORD_SINK * sizeof(uint64_t);
    float seed = 1e-3F;
    void *values[] = {&nothing, &iterations, &seed, &sink};

    return cuda_check(
        &cuda->context,
        driver->launch_kernel(cuda->context.kernels[CUDA_FMA], (unsigned)cuda->context.n_processors,
                              1, 1, KERNEL_CUDA_THREADS, 1, 1, 0, cuda->control, values, NULL),
        "cuLaunchKernel", err);
}

static bool is_settled(int n_rounds, double before, double now)
{
    bool is_fast = greatest_clock > 0 && now >= WARM_RATIO * greatest_clock;

    return is_fast || n_rounds == WARM_ROUNDS ||
           (n_rounds >= WARM_LEAST && now <= before * RISES_RATIO);
}

enum weir_status cuda_clock_settle(struct cuda *cuda, struct weir_error *err)
{
    double before = 0, now = 0;
    enum weir_status status = cuda_clock_read(cuda, &now, err);

    for (int i = 0; status == WEIR_OK && !is_settled(i, before, now); i++) {
        before = now;
        status = work(cuda, now, err);
        if (status == WEIR_OK) {
            status = cuda_clock_read(cuda, &now, err);
        }
    }
    greatest_clock = now > greatest_clock ? now : greatest_clock;
    return status;
}
