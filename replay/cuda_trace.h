/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUPTI's activity records: when each operation of the device began and ended, on the clock of the
 * host (CLOCK_MONOTONIC).
 *
 * CUPTI is the process's and calls back without an argument: this is the one place of Weir with a
 * state that belongs to none of its callers. It is begun once and never ended; versions of CUPTI
 * crash or lose records when they are ended, or given a clock twice. */
#ifndef WEIR_REPLAY_CUDA_TRACE_H
#define WEIR_REPLAY_CUDA_TRACE_H

#include <stdbool.h>

#include "replay/cuda_load.h"

enum cuda_record_kind { RECORD_KERNEL, RECORD_MEMCPY, RECORD_MEMSET };

/* One operation of the device. */
struct cuda_record {
    enum cuda_record_kind kind;
    uint32_t correlation; /* of the call that made it */
    uint32_t stream;      /* CUPTI's number of it */
    int64_t start_ns, end_ns;
    int64_t bytes;        /* of a copy */
    uint64_t external_id; /* that was pushed around the call; 0: none */
};

/* What CUPTI itself did meanwhile. */
struct cuda_overhead {
    int kind; /* CUPTI_OVERHEAD_... */
    int64_t start_ns, end_ns;
};

/* Which call an id was pushed around. */
struct cuda_external {
    uint32_t correlation;
    uint64_t id;
};

/* Lists are malloc'ed. */
struct cuda_records {
    struct cuda_record *records;
    struct cuda_overhead *overheads;
    struct cuda_external *externals;
    size_t n_records, n_overheads, n_externals;
    size_t records_room, overheads_room, externals_room;
    uint64_t n_dropped;
    bool is_broken;   /* a buffer could not be read to its end */
    bool has_two_ids; /* one call has */
};

/** Begins, once a process: afterwards nothing. @return false with the reason: no CUPTI, no permission,
 *  another profiler is there, whatever it says */
bool cuda_trace_begin(int driver_version, char why_not[CUDA_WHY_BYTES]);

/** From now on there is no session, for that reason: records come no more. */
void cuda_trace_give_up(const char *why_not);

/** Records nothing until it is called again with false. Nothing without a session. WEIR_DEVICE */
MUST_CHECK enum weir_status cuda_trace_pause(bool is_paused, struct weir_error *err);

/** Calls between these are known by the id in their records. No id is given twice by a process: they
 *  begin at cuda_trace_next_id. */
uint64_t cuda_trace_next_id(void);
void cuda_trace_push(uint64_t id);
void cuda_trace_pop(void);

/** After the device has done everything: all records since the last time. The caller frees the lists
 *  with cuda_records_free. WEIR_DEVICE when CUPTI fails, WEIR_MEMORY */
MUST_CHECK enum weir_status cuda_trace_collect(struct cuda_records *out, struct weir_error *err);
void cuda_records_free(struct cuda_records *records);

/** Reads the records of one buffer: for cuda_trace_collect, and to be tried without a GPU.
 *  @param next walks from record to record as cuptiActivityGetNextRecord does */
MUST_CHECK enum weir_status
cuda_records_read(uint8_t *buffer, size_t valid_bytes,
                  cupti_result (*next)(uint8_t *buffer, size_t valid_bytes, cupti_record *record),
                  struct cuda_records *out, struct weir_error *err);
/** When all buffers have been read: each record gets the id of its call. */
void cuda_records_join(struct cuda_records *records);

#endif
