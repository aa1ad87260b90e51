/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Weir calls of CUPTI, and what it reads of its activity records, in declarations of its own.
 * The build compares them with NVIDIA's headers where those are (tests/replay/cuda_abi_check.c).
 *
 * A record is read field by field at offsets that have not moved since CUDA 11.2, whatever version
 * of the record the loaded library writes; the library itself walks from record to record. Nothing
 * here knows how long a record is. Sources: NVIDIA's cupti_activity.h of CUDA 13.0, and the layouts
 * of 18 versions from 11.2 to 13.4 in the history of a public binding generator. */
#ifndef WEIR_REPLAY_CUDA_CUPTI_ABI_H
#define WEIR_REPLAY_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "replay/cuda_abi.h"

#ifndef WEIR_CUDA_TYPES
typedef int cupti_result;
typedef int cupti_kind;
typedef int cupti_attribute;
typedef int cupti_external_kind;
typedef struct CUpti_Subscriber_st *cupti_subscriber;
typedef void cupti_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void cupti_buffer_done(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes);
typedef void cupti_callback(void *arg, int domain, uint32_t call, const void *data);
typedef uint64_t cupti_clock(void);
typedef void *cupti_record;
#endif

enum {
    CUPTI_OK = 0,
    CUPTI_MAX_LIMIT_REACHED = 12, /* no more records in this buffer */
    CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_VIRTUALIZED_DEVICE = 40,
    CUPTI_UNKNOWN = 999
};

/* Kinds of records. */
enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_DRIVER = 4, /* calls of the driver */
    CUPTI_KIND_KERNEL = 10,
    CUPTI_KIND_OVERHEAD = 17,
    CUPTI_KIND_EXTERNAL_CORRELATION = 39
};

enum {
    CUPTI_ATTR_DEVICE_BUFFER_BYTES = 0,
    CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT = 2,
    CUPTI_FLUSH_FORCED = 1,
    CUPTI_EXTERNAL_CUSTOM0 = 3, /* a kind of external correlation that is the user's own */
    CUPTI_OVERHEAD_COMPILER = 1,
    CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16,
    CUPTI_OVERHEAD_LAZY_LOADING = 5 << 16
};

/* Where the fields stand, in bytes from the beginning of a record; the kind is the first. */
enum {
    KERNEL_START = 16,
    KERNEL_END = 24,
    KERNEL_STREAM = 48,
    KERNEL_CORRELATION = 92,

    MEMCPY_COPY_KIND = 4,
    MEMCPY_BYTES = 8,
    MEMCPY_START = 16,
    MEMCPY_END = 24,
    MEMCPY_STREAM = 40,
    MEMCPY_CORRELATION = 44,

    MEMSET_BYTES = 8,
    MEMSET_START = 16,
    MEMSET_END = 24,
    MEMSET_STREAM = 40,
    MEMSET_CORRELATION = 44,

    DRIVER_CALL = 4,
    DRIVER_START = 8,
    DRIVER_END = 16,
    DRIVER_CORRELATION = 32,

    EXTERNAL_KIND = 4,
    EXTERNAL_ID = 8,
    EXTERNAL_CORRELATION = 16,

    OVERHEAD_KIND = 4,
    OVERHEAD_START = 24,
    OVERHEAD_END = 32
};

/* X(field, symbol, parameters): without one of these CUPTI is too old. */
/* clang-format off */
#define CUPTI_REQUIRED_FUNCTIONS(X) \
    X(get_version, cuptiGetVersion, (uint32_t *version)) \
    X(get_result_string, cuptiGetResultString, (cupti_result result, const char **text)) \
    X(subscribe, cuptiSubscribe, (cupti_subscriber *subscriber, cupti_callback *callback, \
      void *arg)) \
    X(register_callbacks, cuptiActivityRegisterCallbacks, (cupti_buffer_request *request, \
      cupti_buffer_done *done)) \
    X(enable, cuptiActivityEnable, (cupti_kind kind)) \
    X(disable, cuptiActivityDisable, (cupti_kind kind)) \
    X(flush_all, cuptiActivityFlushAll, (uint32_t flag)) \
    X(next_record, cuptiActivityGetNextRecord, (uint8_t *buffer, size_t valid_bytes, \
      cupti_record *record)) \
    X(n_dropped, cuptiActivityGetNumDroppedRecords, (cu_context context, uint32_t stream, \
      size_t *n)) \
    X(set_attribute, cuptiActivitySetAttribute, (cupti_attribute attribute, size_t *bytes, \
      void *value)) \
    X(push_external, cuptiActivityPushExternalCorrelationId, (cupti_external_kind kind, \
      uint64_t id)) \
    X(pop_external, cuptiActivityPopExternalCorrelationId, (cupti_external_kind kind, \
      uint64_t *id))
/* clang-format on */

/* clang-format off */
#define CUPTI_OPTIONAL_FUNCTIONS(X) \
    X(register_timestamp, cuptiActivityRegisterTimestampCallback, (cupti_clock *now))
/* clang-format on */

#endif
