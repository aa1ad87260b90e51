/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device interface: everything above it runs on any device, and none asks which it has. */
#ifndef WEIR_REPLAY_DEVICE_H
#define WEIR_REPLAY_DEVICE_H

#include "graph/timeline.h"

struct device;

struct device_info {
    char name[128];        /* of the processor or GPU, with what tells two apart */
    char why_not[256];     /* when probe failed */
    uint32_t n_processors; /* that can run queues at once */
    int64_t memory_bytes;  /* that a replay may use */
};

/* What one step does on the device. */
enum step_action {
    STEP_COMPUTE, /* fixed arithmetic work: amount = iterations */
    STEP_STREAM,  /* fixed memory work: amount = bytes read */
    STEP_COPY,    /* amount = bytes moved from source buffer to target, round and round */
    STEP_ALLOCATE,
    STEP_RECLAIM,
    STEP_MARK /* no work: barriers, mappings, waits */
};

struct step_wait {
    uint32_t step;      /* the producer's step */
    bool is_from_start; /* of the producer, else from its finish */
    int64_t lag_ns;
};

struct step_buffer {
    uint32_t buffer;            /* index of a buffer of the run */
    int64_t offset, size_bytes; /* inside it */
};

/* One action of the plan, ready to run. Steps of one queue run one after another, in the order in
 * which they were submitted. */
struct step {
    weir_node node;
    uint32_t queue;
    enum step_action action;
    int64_t amount;
    const struct step_wait *waits;
    uint32_t n_waits;
    int64_t release_ns; /* not before this long after the run began */
    const struct step_buffer *reads, *writes;
    uint32_t n_reads, n_writes;
};

/* How the device did it. */
struct mechanism {
    const char *name; /* "memcpy on a copy thread", "FMA loop", ... */
    const char *note; /* what had to be inserted or was refused; NULL mostly */
};

struct device_buffer {
    int64_t size_bytes;
    weir_domain domain;
    uint32_t allocate_step, reclaim_step; /* WEIR_NONE: before the run, after it */
};

struct device_setup {
    uint32_t n_queues, n_steps, n_buffers;
    const struct device_buffer *buffers;
    int64_t deadline_ns; /* the whole run is stopped after this long */
};

struct device_ops {
    const char *name, *clock; /* "host", "cuda"; the clock is stored with what it measured */
    enum weir_status (*probe)(struct device_info *out, struct weir_error *err);
    enum weir_status (*open)(const struct device_setup *, struct device **out,
                             struct weir_error *err);
    enum weir_status (*submit)(struct device *, const struct step *, struct mechanism *how,
                               struct weir_error *err);
    enum weir_status (*drain)(struct device *, struct timeline *out, struct weir_error *err);
    void (*close)(struct device *);
};

/** Every device this binary knows, NULL after the last. */
const struct device_ops *const *device_registry(void);
/** WEIR_USAGE when the name is unknown: the message lists the names. */
MUST_CHECK enum weir_status device_find(const char *name, const struct device_ops **out,
                                        struct weir_error *err);

#endif
