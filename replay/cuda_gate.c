/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate: every stream begins with a wait for a word of the host's memory, which is written when all
 * has been handed over: no step waits for its submission then.
 *
 * A stream takes only so many commands, and streams share what room there is: a call for one that is
 * full does not come back before the gate opens. So while the gate is shut a thread watches that
 * steps go on being handed over, and opens it when they do not. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "replay/cuda_internal.h"

/* Handing one step over takes microseconds, unless this process gets no processor. Where a device once
 * took no more, it may do so in each run. */
#define PATIENCE_MS 1000
#define LESS_PATIENCE_MS 50

static int patience_ms = PATIENCE_MS; /* with the GPU of this process */

static void open_gate(struct cuda *cuda)
{
    cuda->begin_ns = cuda_clock_ns();
    __atomic_store_n(&cuda->is_open, true, __ATOMIC_RELEASE);
    __atomic_store_n(&cuda->gate[0], 1, __ATOMIC_SEQ_CST);
}

/* ---- the watch ---- */

static void *watch(void *arg)
{
    struct cuda *cuda = arg;
    struct pollfd over = {.fd = cuda->watch.ends[0], .events = POLLIN};
    uint32_t n_before = 0;

    while (poll(&over, 1, cuda->watch.patience_ms) == 0) {
        uint32_t n_handed = __atomic_load_n(&cuda->watch.n_handed, __ATOMIC_RELAXED);

        if (n_handed == n_before) {
            cuda->was_opened_early = true;
            open_gate(cuda);
            break;
        }
        n_before = n_handed;
    }
    return NULL;
}

/* Signals are the other threads'. */
static enum weir_status begin_watch(struct cuda *cuda, struct weir_error *err)
{
    struct cuda_watch *w = &cuda->watch;
    sigset_t all, before;
    int failed;

    w->n_handed = 0;
    w->patience_ms = patience_ms;
    if (pipe(w->ends) != 0) {
        return weir_error_set(err, WEIR_DEVICE, "watching the gate: %s", strerror(errno));
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&w->thread, NULL, watch, cuda);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        (void)close(w->ends[0]);
        (void)close(w->ends[1]);
        return weir_error_set(err, WEIR_DEVICE, "watching the gate: %s", strerror(failed));
    }
    w->is_on = true;
    return WEIR_OK;
}

static void end_watch(struct cuda *cuda)
{
    struct cuda_watch *w = &cuda->watch;

    if (w->is_on) {
        w->is_on = false;
        (void)close(w->ends[1]);
        (void)pthread_join(w->thread, NULL);
        (void)close(w->ends[0]);
        patience_ms = cuda->was_opened_early ? LESS_PATIENCE_MS : patience_ms;
    }
}

/* ---- shutting and opening ---- */

static enum weir_status shut_stream(struct cuda *cuda, uint32_t queue, struct weir_error *err)
{
    const struct cuda_driver *driver = &cuda->context.driver;
    uint64_t word = cuda->gate_address, limit_ns = CUDA_LIMIT_NS;
    uint64_t timed_out = cuda->gate_address + sizeof(uint32_t);
    void *values[] = {&word, &limit_ns, &timed_out};

    if (cuda->context.has_wait_value) {
        return cuda_check(&cuda->context,
                          driver->stream_wait_value32(cuda_stream_of(cuda, queue),
                                                      cuda->gate_address, 1, GPU_WAIT_VALUE_GEQ),
                          "cuStreamWaitValue32", err);
    }
    return cuda_launch(cuda, (struct cuda_op){.step = WEIR_NONE, .queue = queue}, CUDA_GATE, values,
                       err);
}

void cuda_gate_reset(struct cuda *cuda)
{
    __atomic_store_n(&cuda->gate[0], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cuda->gate[1], 0, __ATOMIC_SEQ_CST);
    cuda->is_open = false;
    cuda->was_opened_early = false;
}

enum weir_status cuda_gate_shut(struct cuda *cuda, struct weir_error *err)
{
    enum weir_status status = begin_watch(cuda, err);

    if (status == WEIR_OK) {
        status = shut_stream(cuda, STEP_NO_QUEUE, err);
    }
    for (uint32_t q = 0; q < cuda->setup.n_queues && status == WEIR_OK; q++) {
        if (cuda->queues[q].n_steps > 0) {
            status = shut_stream(cuda, q, err);
        }
    }
    return status;
}

void cuda_gate_open(struct cuda *cuda)
{
    end_watch(cuda);
    if (!cuda->is_open) {
        open_gate(cuda);
    }
}

void cuda_gate_open_early(struct cuda *cuda)
{
    end_watch(cuda);
    if (!cuda->is_open) {
        cuda->was_opened_early = true;
        open_gate(cuda);
    }
}

void cuda_gate_count(struct cuda *cuda)
{
    (void)__atomic_add_fetch(&cuda->watch.n_handed, 1, __ATOMIC_RELAXED);
}

bool cuda_gate_is_open(const struct cuda *cuda)
{
    return __atomic_load_n(&cuda->is_open, __ATOMIC_ACQUIRE);
}

bool cuda_gate_gave_up(const struct cuda *cuda)
{
    return __atomic_load_n(&cuda->gate[1], __ATOMIC_SEQ_CST) != 0;
}
