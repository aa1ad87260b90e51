/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host device: one thread a queue, real memory, real copies, fixed arithmetic.
 *
 * A step is ready when nothing is pending before it; whoever finishes (or starts) a step counts down
 * those that wait for it. A step of a queue is run by the queue's thread when its turn has come. A
 * step without a queue is run by the thread that made it ready, or by the thread that drains, which
 * also keeps the clock for those that must not run yet, and the deadline.
 *
 * What one thread wrote before it counted a step down is seen by the thread that runs that step:
 * every count is an acquire-release operation. */
#ifndef WEIR_REPLAY_HOST_INTERNAL_H
#define WEIR_REPLAY_HOST_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "replay/device.h"

/* What loops go through, round and round. More than any cache holds, for those that are to meet the
 * memory; and what is in any core's own second cache and in no first one, for those that are not. All
 * threads share each: a window that is only read is in the cache of every core that reads it, and of what
 * is written nobody asks what it is. */
#define HOST_WINDOW_BYTES ((int64_t)64 << 20)
#define HOST_CACHE_BYTES ((int64_t)128 << 10)

/* Where a thread's loops go on. */
struct host_places {
    int64_t stream_at, mix_at;
};

/* No time of a run is later: sums with the clock do not overflow. */
#define HOST_LATEST_NS (INT64_MAX / 4)

/* ---- memory (host_pool.c) ---- */

/* Blocks that were touched once and are used again, as a caching allocator does. Any thread. */
#define HOST_SMALL_CLASSES 11 /* 64 bytes, 128, ... 64 KiB */

struct host_pool {
    pthread_mutex_t lock;
    struct small_block *small[HOST_SMALL_CLASSES];
    struct host_block *idle; /* large ones, by size */
    size_t n_idle, idle_room;
    int64_t reserved_bytes; /* of large blocks, idle or not */
    int64_t limit_bytes;
};

MUST_CHECK enum weir_status host_pool_begin(struct host_pool *, int64_t limit_bytes,
                                            struct weir_error *);
/** @return a block of at least that size whose pages are there; NULL when there is none within the
 *  limit. *got_bytes goes back with it. */
void *host_pool_take(struct host_pool *, int64_t size_bytes, int64_t align_bytes,
                     int64_t *got_bytes);
void host_pool_give(struct host_pool *, void *block, int64_t got_bytes);
void host_pool_end(struct host_pool *);

/* ---- a run ---- */

struct host_buffer {
    _Atomic(unsigned char *) memory; /* NULL: not there */
    int64_t got_bytes;
    _Atomic uint32_t n_uses_left;
};

/* Someone that waits for a step. */
struct host_next {
    uint32_t step;
    bool is_from_start;
    int64_t lag_ns;
};

struct host_step {
    struct step given;             /* lists are the host's */
    _Atomic uint32_t n_pending;    /* waits that are not over */
    _Atomic int64_t not_before_ns; /* by release and lags, as far as known */
    int64_t start_ns, finish_ns;   /* since the run began; -1: not yet */
    int64_t submit_ns;             /* when its thread came to it: its own queue's, which had done
                                      with the step before, or the one that took it to run it */
    int64_t processor_ns;          /* -1: not measured */
    uint32_t first_next;           /* in host->next, up to the next step's first_next */
    bool has_from_start;           /* someone waits for its start */
    uint32_t after;                /* the next step of a list of ready ones */
};

struct host_queue {
    struct host *host;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint32_t asleep_for; /* the step it sleeps for; WEIR_NONE: awake */
    uint32_t pass;               /* under lock: runs that were let through its gate */
    bool is_running;             /* the thread exists */
    uint32_t *steps;
    uint32_t n_steps;
    struct host_places places;
};

/* Steps without a queue that must not run yet, the earliest first. */
struct host_timer {
    int64_t due_ns; /* since the run began */
    uint32_t step;
};

struct host {
    struct device base;
    struct device_setup setup;
    struct arena arena;
    struct host_step *steps;
    uint32_t n_submitted;
    struct host_next *next;
    struct host_queue *queues;
    struct host_buffer *buffers;
    struct host_pool pool;
    pthread_mutex_t buffer_lock; /* while a buffer begins or ends */
    void *windows[STEP_WORKS]; /* by what goes through them; NULL: no step does, or it needs none */
    uint32_t n_processors;
    bool is_sealed;    /* successors and threads are there */
    bool is_abandoned; /* a thread did not end: its memory must stay */

    int64_t begin_ns;             /* of this run, on CLOCK_MONOTONIC */
    _Atomic uint32_t n_left;      /* steps that have not finished */
    _Atomic int n_busy;           /* threads that work, spin, or were woken to work */
    _Atomic int64_t crowded_ns;   /* until then no thread spins: one lost its processor */
    _Atomic bool is_stopped;      /* no further step begins, loops end early */
    _Atomic bool is_closing;      /* threads end at the gate */
    pthread_mutex_t lock;         /* of all below */
    pthread_cond_t wake;          /* of the draining thread */
    uint32_t n_working;           /* queues that have not come back to their gate */
    struct host_timer *timers;    /* a heap */
    size_t n_timers, timers_room; /* room for every step without a queue, from the seal on */
    bool has_failed;
    struct weir_error failure;
};

/** Nanoseconds of CLOCK_MONOTONIC. */
int64_t host_clock_ns(void);
/** The same since the run began. */
int64_t host_now_ns(const struct host *);
/** Keeps the first failure and stops the run. */
PRINTF_LIKE(3, 4)
void host_fail(struct host *, enum weir_status, const char *format, ...);
/** Wakes every thread, to see that the run was stopped. */
void host_wake_all(struct host *);
/** The name of the step's node, or its number, in @p out. */
const char *host_step_name(const struct host *, uint32_t step, char *out, size_t out_bytes);

/* ---- what a step does (host_work.c) ---- */

/** Does the step's work and stamps it. @param places of the thread that runs it */
void host_work(struct host *, uint32_t index, struct host_places *places);
/** What a step that does not run does all the same: buffers that it might have used may end. */
void host_pass(struct host *, uint32_t index);
/** Buffers as they are before a run: initial ones with their tags, no others. */
MUST_CHECK enum weir_status host_buffers_reset(struct host *, struct weir_error *);

/* ---- order between steps (host_order.c) ---- */

/** Who waits for whom, after the last step was submitted. */
MUST_CHECK enum weir_status host_order_seal(struct host *, struct weir_error *);
/** Nothing has started yet. */
void host_order_reset(struct host *);
/** The step starts now, or has finished: those that wait for it are counted down; ready steps
 *  without a queue are run here, unless they are due later or the step is only starting. */
void host_order_started(struct host *, uint32_t step);
void host_order_finished(struct host *, uint32_t step, struct host_places *places);
/** Runs a step without a queue, and those it makes ready. */
void host_order_run(struct host *, uint32_t step, struct host_places *places);

/* ---- threads and waiting (host_queue.c) ---- */

MUST_CHECK enum weir_status host_queues_start(struct host *, struct weir_error *);
/** Ends the threads; false when one does not end in time. */
bool host_queues_stop(struct host *);
/** One run of all steps. The failure is in host->failure when there is one. */
void host_queues_run(struct host *);
/** Tells the queue that sleeps for this step, if one does. */
void host_queue_notify(struct host *, uint32_t step);
/** Hands a step without a queue to the draining thread, for then. */
void host_timer_add(struct host *, uint32_t step, int64_t due_ns);

#endif
