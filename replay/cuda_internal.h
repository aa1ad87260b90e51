/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA device: a stream a queue, an event for each step that another stream waits for.
 *
 * All that takes the host long (modules, memory, events) is made when the device is opened. A drain
 * hands the steps over in their order, waits for the streams, and asks CUPTI when each operation
 * began and ended. A step without a queue is no operation: who waits for it waits for what it waits
 * for, and its time is worked out from theirs afterwards. */
#ifndef WEIR_REPLAY_CUDA_INTERNAL_H
#define WEIR_REPLAY_CUDA_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "kernels/cuda.h"
#include "replay/cuda_load.h"
#include "replay/cuda_nvml.h"
#include "replay/cuda_trace.h"

/* A gate or a clock that nobody ends gives up after that long. */
#define CUDA_LIMIT_NS 20000000000

/* Kernels, in the order of their names in cuda_open.c. */
enum cuda_kernel {
    CUDA_FMA,
    CUDA_READ,
    CUDA_READ_L2,
    CUDA_MIX,
    CUDA_TAGS,
    CUDA_GATE,
    CUDA_TIME,
    CUDA_UNTIL,
    CUDA_CLOCK,
    CUDA_KERNELS
};

/* Words of 64 bits at the beginning of what the device writes down. */
enum {
    CUDA_WORD_FAILURE,
    CUDA_WORD_SINK,
    CUDA_WORD_CLOCK, /* cycles, then nanoseconds */
    CUDA_WORDS = CUDA_WORD_CLOCK + 2
};

/* ---- the context, which outlives the devices opened in it (cuda_open.c) ---- */

struct cuda_context {
    struct cuda_driver driver;
    cu_device device;
    cu_context context;
    cu_module module;
    cu_function kernels[CUDA_KERNELS];
    int n_processors, compute_mode;
    int64_t memory_bytes; /* free when it was opened */
    int64_t total_bytes;
    int64_t l2_bytes;
    bool has_wait_value, has_pools;
    char bus[32]; /* where it is: "0000:17:00.0" */
    char name[128];
    struct nvml nvml;
    bool has_nvml;
    char why_no_nvml[CUDA_WHY_BYTES];
};

/** Opens the driver and finds the first device. WEIR_DEVICE with the reason. */
MUST_CHECK enum weir_status cuda_context_find(struct cuda_context *out, struct weir_error *err);
/** Then enters the device's context and loads the kernels, once a process. WEIR_DEVICE with the reason.
 *  The context stays: it is released by none. */
MUST_CHECK enum weir_status cuda_context_open(struct cuda_context *out, struct weir_error *err);
/** Tells what there is without making a context. */
void cuda_describe(struct device_info *out);
/** WEIR_DEVICE naming the call and what the driver says, unless it went well. */
MUST_CHECK enum weir_status cuda_check(const struct cuda_context *context, cu_result result,
                                       const char *call, struct weir_error *err);

/* ---- order (cuda_order.c) ---- */

/* A point of a stream: 2 * position + 1 when the step at that position begins, 2 * position + 2 when
 * it has ended; 0: nothing. A stream passes its points in order. */
struct cuda_need {
    uint32_t queue;
    uint32_t point;
};

/* A time that must have passed since a point, or, queue STEP_NO_QUEUE, since the run began. */
struct cuda_delay {
    uint32_t queue;
    uint32_t point;
    int64_t after_ns;
};

/* All that a step waits for, once steps without a queue have been seen through. */
struct cuda_requires {
    uint32_t *points; /* by queue; owned by the order's arena */
    struct cuda_delay *delays;
    uint32_t n_delays;
};

struct cuda_step {
    struct step given; /* lists are the device's */
    uint32_t position; /* on its queue */
    size_t first_tag;  /* of its reads, in tags */
    struct cuda_requires requires;
    const struct cuda_need *needs; /* those that its stream does not know to be over */
    uint32_t n_needs;
    cu_event begun, ended;           /* NULL: nobody waits for that */
    uint32_t begun_slot, ended_slot; /* where that time is taken down; WEIR_NONE: nowhere */
    int64_t start_ns, finish_ns;     /* in the last drain, since it began; -1: it did not run */
    int64_t submit_ns;
};

/* Behind the gate about 1000 commands in a stream block whoever adds more. An operation counts as one and
 * two events, or what it takes more when it is traced. */
#define CUDA_COMMANDS_MOST 720
#define CUDA_OP_COMMANDS 3

struct cuda_queue {
    cu_stream stream;
    cu_event over;   /* when all of it is */
    uint32_t *steps; /* by position */
    uint32_t n_steps;
    uint32_t n_pending;            /* commands handed over while the gate is shut */
    bool knows_begin;              /* has waited for the run's begin to be taken down */
    int64_t window_at[STEP_WORKS]; /* the unit of a window from which its kernel goes on */
};

/* A buffer's place, fixed when the steps are known; or, in a pool, while it lives. */
struct cuda_buffer {
    cu_deviceptr address; /* 0: it has none now */
    unsigned char *host;  /* of host memory: the same for the host; else NULL */
    bool is_pooled;
    uint32_t n_uses_left; /* of those that have not been handed over */
};

/* ---- operations and their records (cuda_match.c) ---- */

/* One call that makes the device do something with a record of its own. */
struct cuda_op {
    uint32_t step; /* WEIR_NONE: of the gate or of a clock */
    uint32_t queue;
    uint8_t kind;                   /* enum cuda_record_kind */
    int64_t bytes;                  /* of a copy */
    bool is_work;                   /* else it holds the stream back, or takes down a time */
    int64_t called_ns, returned_ns; /* CLOCK_MONOTONIC */
};

/* Who tells the times. */
enum cuda_timing {
    CUDA_BY_TRACE,  /* CUPTI */
    CUDA_BY_EVENTS, /* events on either side of each operation, where CUPTI does not */
    CUDA_BARE       /* nobody: only how long the whole run takes is asked for */
};

/* That steps go on being handed over while the gate is shut. */
struct cuda_watch {
    pthread_t thread;
    int ends[2]; /* of a pipe: the thread ends when the second is closed */
    bool is_on;
    int patience_ms;
    uint32_t n_handed; /* steps; atomic */
};

struct cuda {
    struct device base;
    struct device_setup setup;
    struct arena arena;
    struct cuda_context context;
    bool has_trace;          /* CUPTI can be used */
    enum cuda_timing timing; /* of the last drain */
    int64_t whole_ns;        /* that its run took */
    char why_no_trace[CUDA_WHY_BYTES];

    struct cuda_step *steps;
    uint32_t n_submitted;
    struct cuda_queue *queues;
    cu_stream control; /* takes down when the gate opened; resets and verifies contents */
    cu_stream reclaim; /* gives back what several streams used */
    bool is_sealed;

    /* Memory. */
    struct cuda_buffer *buffers;
    struct device_placed placed; /* its storage is never DEVICE_FITTING */
    cu_deviceptr place;          /* of all buffers of the device that are in no pool */
    unsigned char *host_place;   /* of those in the host's memory, pinned */
    cu_mem_pool pool;            /* NULL: none is used */
    uint32_t *first_user; /* with a pool, by buffer: steps that use it are users[first_user[b]] */
    uint32_t *users;
    struct kernel_work *works;  /* by step, and of what is there before a run: pinned */
    struct kernel_tag *tags;    /* behind them: reads, then writes, of each */
    size_t works_bytes;         /* of both */
    size_t n_step_tags;         /* those of the steps, before those of what is there first */
    cu_deviceptr works_address; /* where the device reads them */
    bool has_own_works;         /* in its own memory */
    cu_deviceptr words;         /* CUDA_WORDS, counters by step, then 64-bit slots for times */
    size_t words_bytes, slots_at;
    uint32_t n_slots; /* the first is when the run began */
    /* What kernels go through, by the step's action; 0: no step does. Weir_mix writes its own, in which
     * nothing else lies. */
    struct cuda_window {
        cu_deviceptr address;
        int64_t n_units; /* a power of two */
    } windows[STEP_WORKS];

    /* A run. */
    uint32_t *gate; /* pinned, atomic: [0] the gate, [1] 1 when it or a clock gave up */
    cu_deviceptr gate_address;
    volatile uint64_t *results; /* pinned: what the first words said when they were read */
    bool is_unsteady;           /* in the last run the device changed its speed */
    int64_t clock_off_ns;       /* by so much CUPTI's times and the host's contradict each other */
    double begin_clock, end_clock; /* cycles a nanosecond before and after the last run */
    struct cuda_held begin_held;   /* before it */
    uint32_t held;                 /* at any time of it: bits of enum device_held */
    cu_event opened;               /* the run's begin has been taken down */
    struct cuda_watch watch;
    bool is_open; /* the gate; atomic while it is watched */
    bool was_opened_early;
    /* CLOCK_MONOTONIC: when the gate opened, and when the device was found to be done */
    int64_t begin_ns, over_ns;
    /* and when the events that tell so had been recorded: that of the begin, the last of the end */
    int64_t recorded_ns, marked_ns;
    bool is_stuck; /* the device did not end: nothing of it can be given back */

    struct cuda_op *ops; /* of the last drain: malloc'ed */
    size_t begin_op;     /* that takes down when the run begins */
    size_t n_ops, ops_room;
    cu_event *timers; /* without CUPTI, two an operation, made as needed: malloc'ed */
    size_t n_timers, timers_room;
    cu_event opened_timer; /* when the gate opened */
    uint64_t first_id;     /* external ids of this drain: first_id + number of the operation */
};

/* Where the words that the device takes times down in lie. */
static inline cu_deviceptr cuda_slot_address(const struct cuda *cuda, uint32_t slot)
{
    return cuda->words + cuda->slots_at + slot * sizeof(uint64_t);
}

/** Resolves who waits for whom, and which events that takes. WEIR_INPUT when a step waits for one
 *  that comes later. */
MUST_CHECK enum weir_status cuda_order_seal(struct cuda *cuda, struct weir_error *err);

/** Every step of a queue gets an event at its end. */
MUST_CHECK enum weir_status cuda_order_mark_ends(struct cuda *cuda, struct weir_error *err);
/** The step at a point of a queue. */
struct cuda_step *cuda_step_at(struct cuda *cuda, uint32_t queue, uint32_t point);

/* cuda_places.c */
/** Gives every buffer its place, or makes the pool that will. WEIR_DEVICE when there is no room. */
MUST_CHECK enum weir_status cuda_places_seal(struct cuda *cuda, struct weir_error *err);
/** Pinned memory of the host, all zeros, and where the device sees it. */
MUST_CHECK enum weir_status cuda_pin(struct cuda *cuda, size_t bytes, unsigned char **host,
                                     cu_deviceptr *address, struct weir_error *err);
/** What a buffer's place must be. */
int64_t cuda_place_align(const struct device_buffer *buffer);
int64_t cuda_place_bytes(const struct device_buffer *buffer);

/* cuda_arena.c */
/** Places in one block for the buffers of the device's memory, or of the host's, that any stream
 *  touches; no two that may live at once share bytes, whatever the streams do.
 *  @param offsets by buffer: -1 for all others  @param extent_bytes of the block
 *  @return WEIR_OK; WEIR_MEMORY; WEIR_INPUT when it is too large for 64 bits */
MUST_CHECK enum weir_status cuda_arena_plan(const struct cuda *cuda, bool is_host_memory,
                                            int64_t *offsets, int64_t *extent_bytes,
                                            struct weir_error *err);

/* cuda_memory.c */
MUST_CHECK enum weir_status cuda_memory_seal(struct cuda *cuda, struct weir_error *err);
/** Contents as they are before a run. */
MUST_CHECK enum weir_status cuda_memory_reset(struct cuda *cuda, struct weir_error *err);
/** After a run: WEIR_DEVICE names the action that found other data than it must. */
MUST_CHECK enum weir_status cuda_memory_verify(struct cuda *cuda, struct weir_error *err);
void cuda_memory_free(struct cuda *cuda);
/** Where the device reads what the step finds and leaves. */
cu_deviceptr cuda_work_address(const struct cuda *cuda, uint32_t step);
/** Writes that down, as far as the step's buffers have places. */
void cuda_fill_work(struct cuda *cuda, uint32_t index);

/* cuda_pool.c: nothing to do without a pool */
/** @param bytes that it gets now, as far as the driver has them */
MUST_CHECK enum weir_status cuda_pool_make(struct cuda *cuda, int64_t bytes,
                                           struct weir_error *err);
/** Who uses what. */
MUST_CHECK enum weir_status cuda_pool_seal(struct cuda *cuda, struct weir_error *err);
/** Buffers that begin with this step get their place, in its stream's order. */
MUST_CHECK enum weir_status cuda_pool_begin(struct cuda *cuda, uint32_t step,
                                            struct weir_error *err);
/** Buffers that end with this step give theirs back when all that used them is over. */
MUST_CHECK enum weir_status cuda_pool_end(struct cuda *cuda, uint32_t step, struct weir_error *err);
/** What is left after a run goes back. */
MUST_CHECK enum weir_status cuda_pool_clear(struct cuda *cuda, struct weir_error *err);

/* cuda_clock.c */
/** How many cycles a nanosecond has now, in an idle moment of the device. */
MUST_CHECK enum weir_status cuda_clock_read(struct cuda *cuda, double *cycles_per_ns,
                                            struct weir_error *err);
/** Works until the clock is as high as it was seen before, or rises no more: some 300 ms on an idle
 *  device, nothing on a busy one. */
MUST_CHECK enum weir_status cuda_clock_settle(struct cuda *cuda, struct weir_error *err);

/* cuda_state.c */
/** Opens NVML for the GPU, if it is there. */
void cuda_state_open(struct cuda_context *context);
/** How the GPU is now. */
void cuda_state_of(const struct cuda_context *context, struct device_state *out);
/** The same after a run, with the clocks that were counted on the device. */
void cuda_state_after(const struct cuda *cuda, struct device_state *out);
/** Before and after a run: what keeps its clocks down. */
void cuda_held_begin(struct cuda *cuda);
void cuda_held_end(struct cuda *cuda);
/** A run in which the GPU slowed itself down counts for nothing: @param why says so then, whatever
 *  else it said; else it stays */
void cuda_doubt_slowed(struct cuda *cuda, char why[CUDA_WHY_BYTES]);
/** Adds a line to a text. */
PRINTF_LIKE(3, 4)
void cuda_add_line(char *out, size_t out_bytes, const char *format, ...);
/** Adds what else must be known of the last run. */
void cuda_state_remark(const struct cuda *cuda, char *out, size_t out_bytes);

/* cuda_ops.c */
/** The control stream's is STEP_NO_QUEUE. */
cu_stream cuda_stream_of(const struct cuda *cuda, uint32_t queue);
/** Notes an operation that the next call makes; cuda_op_end takes what that call answered. */
MUST_CHECK enum weir_status cuda_op_begin(struct cuda *cuda, struct cuda_op op,
                                          struct weir_error *err);
MUST_CHECK enum weir_status cuda_op_end(struct cuda *cuda, cu_result result, const char *call,
                                        struct weir_error *err);
/** Both, of a launch. @param values as cuLaunchKernel takes them */
MUST_CHECK enum weir_status cuda_launch(struct cuda *cuda, struct cuda_op op,
                                        enum cuda_kernel kernel, void **values,
                                        struct weir_error *err);
MUST_CHECK enum weir_status cuda_record(struct cuda *cuda, cu_event event, cu_stream stream,
                                        struct weir_error *err);

/* cuda_submit.c */
MUST_CHECK enum weir_status cuda_hand_over(struct cuda *cuda, uint32_t index,
                                           struct weir_error *err);

/* cuda_gate.c */
/** Before a run: the word says shut, and no stream has been told to wait for it. */
void cuda_gate_reset(struct cuda *cuda);
/** Every stream waits. It opens by itself, early, when nothing is handed over for seconds. */
MUST_CHECK enum weir_status cuda_gate_shut(struct cuda *cuda, struct weir_error *err);
/** All has been handed over. Nothing when it is open. */
void cuda_gate_open(struct cuda *cuda);
void cuda_gate_open_early(struct cuda *cuda);
/** One step more has been handed over. */
void cuda_gate_count(struct cuda *cuda);
bool cuda_gate_is_open(const struct cuda *cuda);
/** The device waited for its limit. */
bool cuda_gate_gave_up(const struct cuda *cuda);

/* cuda_run.c */
/** Opens the gate, whether all has been handed over or not, and waits for what has been. */
MUST_CHECK enum weir_status cuda_catch_up(struct cuda *cuda, struct weir_error *err);
/** Hands all steps over and waits for the device. */
MUST_CHECK enum weir_status cuda_run(struct cuda *cuda, struct weir_error *err);
/** From the run's begin to when the last stream was through, by events. */
MUST_CHECK enum weir_status cuda_run_length(struct cuda *cuda, int64_t *out,
                                            struct weir_error *err);
/** From the run's begin to a timed event. */
MUST_CHECK enum weir_status cuda_since_open(struct cuda *cuda, cu_event event, int64_t *out,
                                            struct weir_error *err);

/* cuda_match.c */
/** Gives each step its times, from the records or the events of the last run; of a bare one none.
 *  @param why "" when it did; else the run counts for nothing, and may be tried again: a record is
 *  lost or doubtful. @return WEIR_OK in both cases; WEIR_DEVICE when CUPTI fails, WEIR_MEMORY */
MUST_CHECK enum weir_status cuda_match(struct cuda *cuda, char why[CUDA_WHY_BYTES],
                                       struct weir_error *err);

/** Nanoseconds of CLOCK_MONOTONIC. */
int64_t cuda_clock_ns(void);
/** The step's node, or its number, in @p out. */
const char *cuda_step_name(const struct cuda *cuda, uint32_t step, char *out, size_t out_bytes);
/** The object of a buffer, or its number. */
const char *cuda_buffer_name(const struct cuda *cuda, uint32_t buffer, char *out, size_t out_bytes);

#endif
