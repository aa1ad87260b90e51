/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device interface: everything above it runs on any device, and none asks which it has.
 *
 * A run is opened, its steps are submitted, and drain runs them all; each further drain runs the same
 * steps again, from the same beginning. Times count from the beginning of the drain's run. */
#ifndef WEIR_REPLAY_DEVICE_H
#define WEIR_REPLAY_DEVICE_H

#include "graph/timeline.h"
#include "replay/device_state.h"

struct device_ops;

/* An open device begins with this. */
struct device {
    const struct device_ops *ops;
};

struct device_info {
    char name[128];            /* of the processor or GPU, with what tells two apart */
    char why_not[400];         /* when probe failed */
    uint32_t n_processors;     /* that can run queues at once */
    int64_t memory_bytes;      /* that a replay may use */
    int64_t host_memory_bytes; /* the host's, beside the device's own; 0: they are one memory */
    char abilities[200];   /* what it can do that not every device can, and what it cannot; "" */
    int64_t compute_flops; /* floating point operations of one iteration of STEP_COMPUTE */
    struct device_state state; /* when it was probed */
};

/* What one step does on the device. */
enum step_action {
    STEP_COMPUTE, /* fixed arithmetic work: amount = iterations */
    STEP_STREAM,  /* fixed memory work: amount = bytes read */
    STEP_CACHE,   /* the same in a cache: amount = bytes read, round and round of a few */
    STEP_MIX,     /* both: amount = bytes of memory that are read, reckoned with and written back */
    STEP_COPY,    /* amount = bytes moved from reads to writes, round and round */
    STEP_ALLOCATE, /* gets the buffers of writes; amount = iterations of arithmetic beside it */
    STEP_RECLAIM,  /* gives the buffers of writes back; amount as above */
    STEP_MARK,     /* no work: barriers, mappings, waits */
    STEP_PASS      /* does not run: who waits for it waits for what it waits for, its lags and its
                      release added; no span */
};

/* The first actions are work alone, on no buffer: a device does so much of each in a second. */
#define STEP_WORKS (STEP_MIX + 1)

/* Multiply-adds of STEP_MIX on each so many bytes: two operations to a byte that is read or written,
 * between what a processor core has to a byte of its memory (about one) and what a GPU has (ten and
 * more), so that both are busy with either for part of the time. */
#define STEP_MIX_FMAS 32
#define STEP_MIX_BYTES 16

struct step_wait {
    uint32_t step;      /* the producer's step */
    bool is_from_start; /* of the producer, else from its finish */
    int64_t lag_ns;
};

/* A stretch of a buffer. Its first 8 bytes are its tag, which stands for its contents. */
struct step_buffer {
    uint32_t buffer;            /* index of a buffer of the run */
    int64_t offset, size_bytes; /* inside it: multiples of 8, at least 8 bytes */
    uint64_t tag;               /* a read must find it, or the run fails; a write leaves it (a copy
                                   moves tags with the bytes and leaves what it found); 0: neither */
};

#define STEP_NO_QUEUE UINT32_MAX

/* One action of the plan, ready to run. Steps of one queue run one after another, in the order in
 * which they were submitted. */
struct step {
    weir_node node;
    uint32_t queue; /* STEP_NO_QUEUE: at once when its waits are over, by whatever ended the last */
    enum step_action action;
    int64_t amount;
    const struct step_wait *waits;
    uint32_t n_waits;
    int64_t release_ns; /* not before this long after the run began */
    int64_t planned_ns; /* when the plan starts it, since the run began */
    const struct step_buffer *reads, *writes;
    uint32_t n_reads, n_writes;
    /* Of a copy: the first so many of reads, which lie side by side in one buffer, are copied to the
     * first so many of writes, which do too. */
    uint32_t n_copied;
    const uint32_t *uses; /* buffers that live at least until it has finished; twice counts twice */
    uint32_t n_uses;
};

/* How the device did it. */
struct mechanism {
    const char *name; /* "memcpy on a copy thread", "FMA loop", ... */
    const char *note; /* what had to be inserted or was refused; NULL mostly */
};

struct device_buffer {
    int64_t size_bytes;
    int64_t align_bytes; /* a power of two; 0: as the device likes */
    bool is_host_memory; /* where a device has memory of its own: not in that */
    weir_object object;  /* none for a buffer that is no object's */
    bool is_initial;     /* there, with its tags, before the run */
    /* Without an allocate step and not initial it begins with the first step that writes to it. */
    uint32_t allocate_step;
    /* Without a reclaim step it ends when n_uses steps that use it have finished; 0: after the run. */
    uint32_t reclaim_step;
    uint32_t n_uses;
    /* The stretches that carry tags, and what they hold at the beginning when it is initial. */
    const struct step_buffer *stretches;
    uint32_t n_stretches;
};

/* How the steps are handed to a device that takes them ahead of time; the host takes them as they
 * come, and has one mode. */
enum device_mode {
    DEVICE_GATED,  /* all at once, before the first may begin: no step waits for its submission */
    DEVICE_STREAM, /* one after another in the order of the plan, as a framework does */
    DEVICE_PACED,  /* each shortly before the plan starts it */
    DEVICE_SERIAL  /* each when all before it have finished: every step runs alone */
};
const char *device_mode_name(enum device_mode);
bool device_mode_from(const char *name, enum device_mode *out);

/* Where a device with memory of its own has buffers that do not all live at once. */
enum device_storage {
    DEVICE_FITTING, /* the first of the others in which they fit */
    DEVICE_APART,   /* each has its place alone */
    DEVICE_ARENA, /* places are shared, as planned before the run, where the steps' order allows */
    DEVICE_POOL   /* the driver gives places while it runs */
};
const char *device_storage_name(enum device_storage);
bool device_storage_from(const char *name, enum device_storage *out);

/* How that was done. */
struct device_placed {
    enum device_storage storage;
    int64_t block_bytes; /* that buffers have together, without those of a pool */
    int64_t apart_bytes; /* that they would have if none shared its place */
    uint32_t
        n_pool_waits; /* blocks that the pool gave only when all handed over before had ended */
};

struct device_setup {
    enum device_mode mode;
    enum device_storage storage;
    uint32_t n_queues, n_steps, n_buffers;
    const struct device_buffer *buffers; /* with their lists they outlive the device */
    const struct graph *graph;           /* for names in messages; NULL: numbers */
    int64_t deadline_ns;                 /* each run is stopped after this long */
    int64_t memory_bytes;                /* for all buffers that live at once */
    int64_t host_memory_bytes;           /* the same in the host's, where the device has its own */
};

struct device_ops {
    const char *name, *clock; /* "host", "cuda"; the clock is stored with what it measured */
    bool has_modes;           /* takes steps ahead of time, and has memory of its own */
    int64_t
        most_passes; /* through its window, of a copy that is measured: each is a call; 0: any */
    /* WEIR_OK also when the device is not there: out->why_not then says why, else it is "". */
    enum weir_status (*probe)(struct device_info *out, struct weir_error *err);
    enum weir_status (*open)(const struct device_setup *, struct device **out,
                             struct weir_error *err);
    /* Takes the next step, from 0; its lists are copied. */
    enum weir_status (*submit)(struct device *, const struct step *, struct mechanism *how,
                               struct weir_error *err);
    /* Runs all steps; writes start, finish, order and source of the spans of their nodes. With NULL
     * for them nothing is done to time the steps: how long the whole run took is all that is known
     * then. WEIR_DEVICE names the action that found wrong data, did not end or could not have its
     * memory; the device can then only be closed. */
    enum weir_status (*drain)(struct device *, struct timeline *out, struct weir_error *err);
    /* How long the last drain's run took, by one measure whether its steps were timed or not: what
     * timing costs is the difference. */
    int64_t (*whole_ns)(const struct device *);
    /* The rest is of a drain whose steps were timed. Processor time of a step; -1 where it was not
     * measured. */
    int64_t (*processor_ns)(const struct device *, uint32_t step);
    /* When the step was the next to be run by whoever ran it, since the last drain's run began: from
     * then on only what it waits for, and the device, keep it from starting. -1: it did not run. */
    int64_t (*submitted_ns)(const struct device *, uint32_t step);
    /* How the device is right after the last drain. */
    void (*state)(const struct device *, struct device_state *out);
    /* What must be known of the last drain's times: who took them, when not who should; that the run
     * was not as asked for. One a line; "" when there is nothing. */
    void (*remark)(const struct device *, char *out, size_t out_bytes);
    /* Where buffers were in the last drain; NULL: the device has no memory of its own. */
    void (*placed)(const struct device *, struct device_placed *out);
    void (*close)(struct device *);
};

/** Every device this binary knows, NULL after the last. */
const struct device_ops *const *device_registry(void);
/** WEIR_USAGE when the name is unknown: the message lists the names. */
MUST_CHECK enum weir_status device_find(const char *name, const struct device_ops **out,
                                        struct weir_error *err);
/** As device_find, and WEIR_DEVICE when the device is not there. */
MUST_CHECK enum weir_status device_find_ready(const char *name, const struct device_ops **out,
                                              struct device_info *info, struct weir_error *err);

#endif
