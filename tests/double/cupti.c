/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUPTI's functions. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/double/records.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(field, symbol, parameters) EXPORT cupti_result symbol parameters;
CUPTI_REQUIRED_FUNCTIONS(DECLARE)
CUPTI_OPTIONAL_FUNCTIONS(DECLARE)

/* Ids are pushed and popped for the calls of the same thread. */
static _Thread_local struct {
    uint64_t ids[16];
    int n;
} externals;

bool double_external(uint64_t *id)
{
    if (externals.n == 0)
        return false;
    *id = externals.ids[externals.n - 1];
    return true;
}

bool double_is_traced(void)
{
    return buffers_keep_kind(CUPTI_KIND_DRIVER);
}

/* ---- the session ---- */

cupti_result cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)double_config.version * 10 + 1;
    return CUPTI_OK;
}

cupti_result cuptiGetResultString(cupti_result result, const char **text)
{
    *text = result == CUPTI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : result == CUPTI_MULTIPLE_SUBSCRIBERS
                ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                : "CUPTI_ERROR_OF_THE_DOUBLE";
    return CUPTI_OK;
}

cupti_result cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback *callback, void *arg)
{
    (void)callback;
    (void)arg;
    *subscriber = (cupti_subscriber)&double_config;
    return (cupti_result)double_config.fault[FAULT_SUBSCRIBE];
}

cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_request *request, cupti_buffer_done *done)
{
    buffers_set_callbacks(request, done);
    return CUPTI_OK;
}

cupti_result cuptiActivityRegisterTimestampCallback(cupti_clock *now)
{
    return now == NULL ? CUPTI_UNKNOWN : CUPTI_OK;
}

cupti_result cuptiActivityEnable(cupti_kind kind)
{
    if (double_config.fault[FAULT_KIND] != 0 && kind == double_config.refused_kind)
        return (cupti_result)double_config.fault[FAULT_KIND];
    if (double_fails(FAULT_ENABLE))
        return CUPTI_UNKNOWN;
    buffers_enable(kind, true);
    return CUPTI_OK;
}

cupti_result cuptiActivityDisable(cupti_kind kind)
{
    buffers_enable(kind, false);
    return CUPTI_OK;
}

cupti_result cuptiActivityFlushAll(uint32_t flag)
{
    if (double_fails(FAULT_FLUSH))
        return CUPTI_UNKNOWN;
    while (double_config.fault[FAULT_FLUSH_HANGS] != 0 && double_fails(FAULT_FLUSH_HANGS)) {
        for (;;)
            (void)pause();
    }
    if ((flag & CUPTI_FLUSH_FORCED) != 0)
        double_elsewhere(buffers_give);
    else
        double_soon(buffers_give);
    return CUPTI_OK;
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, cupti_record *record)
{
    return buffers_next(buffer, valid_bytes, record);
}

cupti_result cuptiActivityGetNumDroppedRecords(cu_context context, uint32_t stream, size_t *n)
{
    (void)context;
    (void)stream;
    *n = buffers_lost();
    return CUPTI_OK;
}

cupti_result cuptiActivitySetAttribute(cupti_attribute attribute, size_t *bytes, void *value)
{
    (void)attribute;
    (void)bytes;
    (void)value;
    return CUPTI_OK;
}

cupti_result cuptiActivityPushExternalCorrelationId(cupti_external_kind kind, uint64_t id)
{
    (void)kind;
    if (externals.n < 16)
        externals.ids[externals.n++] = id;
    return CUPTI_OK;
}

cupti_result cuptiActivityPopExternalCorrelationId(cupti_external_kind kind, uint64_t *id)
{
    (void)kind;
    if (externals.n == 0)
        return CUPTI_UNKNOWN;
    *id = externals.ids[--externals.n];
    return CUPTI_OK;
}
