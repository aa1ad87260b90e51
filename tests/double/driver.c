/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's functions: what there is, contexts, modules, streams, events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/double/calls.h"

static const struct CUfunc_st functions[] = {{"weir_fma"},  {"weir_read"},  {"weir_read_l2"},
                                             {"weir_mix"},  {"weir_tags"},  {"weir_gate"},
                                             {"weir_time"}, {"weir_until"}, {"weir_clock"}};

static struct {
    cu_result sticky; /* every call answers this from now on */
    uint32_t n_calls;
} state;

/* ---- calls ---- */

struct call call_begin(void)
{
    struct call call = {double_now_ns(), ++state.n_calls};

    double_spend(double_config.launch_ns + (double_is_traced() ? double_config.trace_ns : 0));
    return call;
}

cu_result call_end(const struct call *call)
{
    double_call(1, call->start_ns, double_now_ns(), call->correlation);
    return GPU_SUCCESS;
}

struct double_command call_work(const struct call *call, enum double_kind kind)
{
    struct double_command command = {.kind = kind, .correlation = call->correlation};

    command.has_external = double_external(&command.external_id);
    return command;
}

cu_result call_lost(void)
{
    return state.sticky;
}

cu_result call_lose(cu_result result)
{
    double_kill();
    return state.sticky = result;
}

/* ---- what there is ---- */

cu_result cuInit(unsigned flags)
{
    (void)flags;
    double_configure();
    if (double_fails(FAULT_NO_DEVICE))
        return GPU_NO_DEVICE;
    if (double_fails(FAULT_STUB))
        return GPU_STUB_LIBRARY;
    if (double_fails(FAULT_MISMATCH))
        return GPU_SYSTEM_DRIVER_MISMATCH;
    return double_config.init_result;
}

cu_result cuDriverGetVersion(int *version)
{
    *version = double_config.version;
    return GPU_SUCCESS;
}

cu_result cuGetErrorName(cu_result result, const char **name)
{
    *name = result == GPU_SUCCESS         ? "CUDA_SUCCESS"
            : result == GPU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == GPU_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                          : "CUDA_ERROR_OF_THE_DOUBLE";
    return GPU_SUCCESS;
}

cu_result cuGetErrorString(cu_result result, const char **text)
{
    *text = result == GPU_OUT_OF_MEMORY ? "out of memory" : "as it was told to";
    return GPU_SUCCESS;
}

cu_result cuDeviceGetCount(int *n)
{
    *n = 1;
    return GPU_SUCCESS;
}

cu_result cuDeviceGet(cu_device *device, int ordinal)
{
    *device = ordinal;
    return GPU_SUCCESS;
}

cu_result cuDeviceGetName(char *name, int room, cu_device device)
{
    (void)device;
    (void)snprintf(name, (size_t)room, "%s%s", double_name,
                   double_config.is_part ? " MIG 1g.12gb" : "");
    return GPU_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, cu_device_attribute attribute, cu_device device)
{
    (void)device;
    switch (attribute) {
    case GPU_ATTRIBUTE_PROCESSORS:
        *value = 1;
        break;
    case GPU_ATTRIBUTE_COMPUTE_MODE:
        *value = double_config.compute_mode;
        break;
    case GPU_ATTRIBUTE_L2_BYTES:
        *value = DOUBLE_L2_BYTES;
        break;
    case GPU_ATTRIBUTE_CAPABILITY_MAJOR:
        *value = 9;
        break;
    case GPU_ATTRIBUTE_MEM_OPS:
        *value = double_config.has_wait_value;
        break;
    case GPU_ATTRIBUTE_MEMORY_POOLS:
        *value = 1;
        break;
    default:
        *value = 0;
        break;
    }
    return GPU_SUCCESS;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    (void)device;
    *bytes = (size_t)double_config.memory_bytes;
    return GPU_SUCCESS;
}

cu_result cuDeviceGetPCIBusId(char *id, int room, cu_device device)
{
    (void)device;
    (void)snprintf(id, (size_t)room, "double");
    return GPU_SUCCESS;
}

/* ---- contexts and modules ---- */

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    (void)device;
    *context = (cu_context)&state;
    return double_config.open_result;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    (void)context;
    return GPU_SUCCESS;
}

cu_result cuCtxSynchronize(void)
{
    return call_lost() != GPU_SUCCESS ? call_lost()
           : double_drain(NULL)       ? GPU_SUCCESS
                                      : GPU_LAUNCH_FAILED;
}

cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned n_options,
                             cu_jit_option *options, void **values)
{
    (void)n_options;
    (void)options;
    (void)values;
    *module = (cu_module)(uintptr_t)image;
    return GPU_SUCCESS;
}

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    (void)module;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            *function = (cu_function)(uintptr_t)&functions[i];
            return GPU_SUCCESS;
        }
    }
    return GPU_NOT_SUPPORTED;
}

/* ---- streams and events ---- */

cu_result cuStreamCreateWithPriority(cu_stream *stream, unsigned flags, int priority)
{
    (void)flags;
    (void)priority;
    *stream = double_stream_make();
    return GPU_SUCCESS;
}

cu_result cuStreamDestroy_v2(cu_stream stream)
{
    double_stream_end(stream);
    return GPU_SUCCESS;
}

cu_result cuStreamSynchronize(cu_stream stream)
{
    return call_lost() != GPU_SUCCESS ? call_lost()
           : double_drain(stream)     ? GPU_SUCCESS
                                      : GPU_LAUNCH_FAILED;
}

/* Asking takes the device on, so that polling ends soon. */
cu_result cuStreamQuery(cu_stream stream)
{
    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    double_advance();
    if (double_is_idle(stream))
        return GPU_SUCCESS;
    double_skip();
    return double_is_idle(stream) ? GPU_SUCCESS : GPU_NOT_READY;
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    struct double_command command = {
        .kind = DOUBLE_WAIT_EVENT, .event = event, .generation = event->n_recorded};

    (void)flags;
    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    double_append(stream, &command);
    return GPU_SUCCESS;
}

cu_result cuEventCreate(cu_event *event, unsigned flags)
{
    double_event *made = calloc(1, sizeof *made);

    if (made == NULL)
        return GPU_OUT_OF_MEMORY;
    made->is_timed = (flags & GPU_EVENT_DISABLE_TIMING) == 0;
    *event = made;
    return GPU_SUCCESS;
}

cu_result cuEventDestroy_v2(cu_event event)
{
    free(event);
    return GPU_SUCCESS;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    struct double_command command = {
        .kind = DOUBLE_RECORD, .event = event, .generation = ++event->n_recorded};

    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    double_append(stream, &command);
    return GPU_SUCCESS;
}

cu_result cuEventQuery(cu_event event)
{
    double_advance();
    return double_is_passed(event) ? GPU_SUCCESS : GPU_NOT_READY;
}

cu_result cuEventElapsedTime(float *ms, cu_event begin, cu_event end)
{
    if (!begin->is_timed || !end->is_timed)
        return GPU_INVALID_DEVICE;
    *ms = (float)((double)(double_passed_ns(end) - double_passed_ns(begin)) * 1e-6);
    return GPU_SUCCESS;
}

#ifndef DOUBLE_IS_OLD

cu_result cuFuncLoad(cu_function function)
{
    (void)function;
    return GPU_SUCCESS;
}

cu_result cuStreamWaitValue32_v2(cu_stream stream, cu_deviceptr address, uint32_t value,
                                 unsigned flags)
{
    struct double_command command = {
        .kind = DOUBLE_WAIT_VALUE, .args = {address, value}, .word = address};

    (void)flags;
    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    double_append(stream, &command);
    return GPU_SUCCESS;
}

cu_result cuEventElapsedTime_v2(float *ms, cu_event begin, cu_event end)
{
    return cuEventElapsedTime(ms, begin, end);
}

#endif
