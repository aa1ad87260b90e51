/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's functions, over the virtual device. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/cuda.h"
#include "tests/double/double.h"

#define MOVED_BYTES ((int64_t)1 << 20) /* of a copy, at most: what is measured carries nothing */
#define EXPORT __attribute__((visibility("default")))

struct CUfunc_st {
    const char *name;
};

static const struct CUfunc_st functions[] = {{"weir_fma"},  {"weir_read"}, {"weir_tags"},
                                             {"weir_gate"}, {"weir_time"}, {"weir_until"},
                                             {"weir_clock"}};

/* Every export of the lists has the type that Weir calls it by. */
#define DECLARE(field, symbol, parameters) EXPORT cu_result symbol parameters;
CUDA_REQUIRED_FUNCTIONS(DECLARE)
#ifndef DOUBLE_IS_OLD
CUDA_OPTIONAL_FUNCTIONS(DECLARE)
#endif

static struct {
    cu_result sticky; /* every call answers this from now on */
    int64_t used_bytes;
    uint32_t n_calls;
} state;

/* ---- calls ---- */

/* A call that gives the device something to do: costs, ids, records. */
struct call {
    int64_t start_ns;
    uint32_t correlation;
};

static struct call begin_call(void)
{
    struct call call = {double_now_ns(), ++state.n_calls};

    double_spend(double_config.launch_ns);
    return call;
}

static cu_result end_call(const struct call *call)
{
    double_call(1, call->start_ns, double_now_ns(), call->correlation);
    return GPU_SUCCESS;
}

static struct double_command work(const struct call *call, enum double_kind kind)
{
    struct double_command command = {.kind = kind, .correlation = call->correlation};

    command.has_external = double_external(&command.external_id);
    return command;
}

static bool is_lost(void)
{
    return state.sticky != GPU_SUCCESS;
}

static cu_result lose(cu_result result)
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
    return GPU_SUCCESS;
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
    (void)snprintf(name, (size_t)room, "%s", DOUBLE_NAME);
    return GPU_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, cu_device_attribute attribute, cu_device device)
{
    (void)device;
    switch (attribute) {
    case GPU_ATTRIBUTE_PROCESSORS:
        *value = 1;
        break;
    case GPU_ATTRIBUTE_L2_BYTES:
        *value = 1 << 16;
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
    return GPU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    (void)device;
    return GPU_SUCCESS;
}

cu_result cuDevicePrimaryCtxSetFlags_v2(cu_device device, unsigned flags)
{
    (void)device;
    (void)flags;
    return GPU_SUCCESS;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    (void)context;
    return GPU_SUCCESS;
}

cu_result cuCtxSynchronize(void)
{
    return is_lost() ? state.sticky : double_drain(NULL) ? GPU_SUCCESS : GPU_LAUNCH_FAILED;
}

cu_result cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = 0;
    return GPU_SUCCESS;
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

cu_result cuModuleUnload(cu_module module)
{
    (void)module;
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

cu_result cuFuncGetAttribute(int *value, cu_function_attribute attribute, cu_function function)
{
    (void)attribute;
    (void)function;
    *value = 0;
    return GPU_SUCCESS;
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, cu_function function,
                                                      int block_threads, size_t shared_bytes)
{
    (void)function;
    (void)block_threads;
    (void)shared_bytes;
    *n_blocks = 8;
    return GPU_SUCCESS;
}

/* ---- kernels ---- */

static void check_reads(struct double_command *command)
{
    const struct kernel_work *given = (const void *)(uintptr_t)command->args[0];
    const struct kernel_tag *reads = (const void *)(uintptr_t)given->reads;
    uint64_t *failure = (void *)(uintptr_t)given->failure;

    for (uint32_t i = 0; i < given->n_reads; i++) {
        if (*(const uint64_t *)(uintptr_t)reads[i].at != reads[i].tag && *failure == 0)
            *failure = (uint64_t)i << 32 | (given->step + 1);
    }
}

static void leave_writes(struct double_command *command)
{
    const struct kernel_work *given = (const void *)(uintptr_t)command->args[0];
    const struct kernel_tag *writes = (const void *)(uintptr_t)given->writes;

    for (uint32_t i = 0; i < given->n_writes; i++)
        *(uint64_t *)(uintptr_t)writes[i].at = writes[i].tag;
}

static bool is_gated(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    (void)now_ns;
    *until_ns = command->start_ns + (int64_t)command->args[1];
    if (now_ns >= *until_ns) {
        *(volatile uint32_t *)(uintptr_t)command->args[2] = 1;
        return false;
    }
    return *(volatile uint32_t *)(uintptr_t)command->args[0] == 0;
}

static void take_time(struct double_command *command)
{
    *(uint64_t *)(uintptr_t)command->args[0] = (uint64_t)command->start_ns;
}

static bool is_early(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    *until_ns = (int64_t)(*(const uint64_t *)(uintptr_t)command->args[0] + command->args[1]);
    return now_ns < *until_ns;
}

static void count_cycles(struct double_command *command)
{
    uint64_t *out = (void *)(uintptr_t)command->args[1];

    bool fails = double_fails(FAULT_CLOCK);

    /* From then on every other one, so that no run begins and ends alike. */
    fails =
        fails && (double_config.fault[FAULT_CLOCK] > 0 || double_config.n_seen[FAULT_CLOCK] % 2);
    out[0] = command->args[0] * (fails ? 1 : 2);
    out[1] = command->args[0];
}

static int64_t length_of(enum double_class class_, uint64_t amount)
{
    double ns = (double)amount * double_config.unit_ns[class_];

    return double_config.fixed_ns[class_] + (int64_t)(ns + 0.5);
}

/* Parameters of 64 bits come into args; the places of narrower ones stay empty. */
static void take_args(struct double_command *command, void **values, const char *widths)
{
    for (size_t i = 0; widths[i] != '\0'; i++)
        memcpy(&command->args[i], values[i], widths[i] == '8' ? 8 : 4);
}

static void describe(struct double_command *command, const char *name, void **values)
{
    command->name = name;
    command->is_classless = true;
    if (strcmp(name, "weir_fma") == 0) {
        take_args(command, values, "8848");
        command->class_ = DOUBLE_FMA;
        command->is_classless = false;
        command->work_ns = length_of(DOUBLE_FMA, command->args[1]);
        command->begin = check_reads;
        command->end = leave_writes;
    } else if (strcmp(name, "weir_read") == 0) {
        take_args(command, values, "8888848");
        command->class_ = DOUBLE_READ;
        command->is_classless = false;
        command->work_ns = length_of(DOUBLE_READ, command->args[4] * KERNEL_CUDA_READ_UNIT_BYTES);
        command->begin = check_reads;
        command->end = leave_writes;
    } else if (strcmp(name, "weir_tags") == 0) {
        take_args(command, values, "8");
        command->begin = check_reads;
        command->end = leave_writes;
    } else if (strcmp(name, "weir_gate") == 0) {
        take_args(command, values, "888");
        command->is_held = is_gated;
    } else if (strcmp(name, "weir_time") == 0) {
        take_args(command, values, "8");
        command->begin = take_time;
    } else if (strcmp(name, "weir_clock") == 0) {
        take_args(command, values, "88");
        command->end = count_cycles;
    } else {
        take_args(command, values, "8888");
        command->is_held = is_early;
    }
}

static bool is_never_over(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    (void)command;
    (void)now_ns;
    *until_ns = INT64_MAX;
    return true;
}

cu_result cuLaunchKernel(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cu_stream stream, void **values, void **extra)
{
    struct call call;
    struct double_command command;

    (void)grid_x;
    (void)grid_y;
    (void)grid_z;
    (void)block_x;
    (void)block_y;
    (void)block_z;
    (void)shared_bytes;
    (void)extra;
    if (is_lost())
        return state.sticky;
    if (double_fails(FAULT_LAUNCH))
        return lose(GPU_LAUNCH_FAILED);
    call = begin_call();
    command = work(&call, DOUBLE_KERNEL);
    describe(&command, ((const struct CUfunc_st *)function)->name, values);
    if (command.work_ns > 0 && double_fails(FAULT_HANG))
        command.is_held = is_never_over;
    double_append(stream, &command);
    return end_call(&call);
}

/* ---- copies ---- */

static void move_bytes(struct double_command *command)
{
    size_t bytes = (size_t)(command->bytes < MOVED_BYTES ? command->bytes : MOVED_BYTES);

    memcpy((void *)(uintptr_t)command->args[0], (const void *)(uintptr_t)command->args[1], bytes);
}

static cu_result copy(enum double_class class_, int copy_kind, uint64_t to, uint64_t from,
                      size_t bytes, cu_stream stream)
{
    struct call call;
    struct double_command command;

    if (!is_lost() && double_fails(FAULT_LOST))
        (void)lose(GPU_ILLEGAL_ADDRESS);
    if (is_lost())
        return state.sticky;
    call = begin_call();
    command = work(&call, DOUBLE_COPY);
    command.class_ = class_;
    command.copy_kind = copy_kind;
    command.bytes = (int64_t)bytes;
    command.work_ns = length_of(class_, bytes);
    command.args[0] = to;
    command.args[1] = from;
    command.end = move_bytes;
    double_append(stream, &command);
    return end_call(&call);
}

cu_result cuMemcpyHtoDAsync_v2(cu_deviceptr to, const void *from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_H2D, 1, to, (uintptr_t)from, bytes, stream);
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_deviceptr from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_D2H, 2, (uintptr_t)to, from, bytes, stream);
}

cu_result cuMemcpyDtoDAsync_v2(cu_deviceptr to, cu_deviceptr from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_D2D, 8, to, from, bytes, stream);
}

static void set_words(struct double_command *command)
{
    uint32_t *words = (void *)(uintptr_t)command->args[0];

    for (int64_t i = 0; i < command->bytes / 4; i++)
        words[i] = (uint32_t)command->args[1];
}

cu_result cuMemsetD32Async(cu_deviceptr to, unsigned value, size_t n_words, cu_stream stream)
{
    struct call call;
    struct double_command command;

    if (is_lost())
        return state.sticky;
    call = begin_call();
    command = work(&call, DOUBLE_SET);
    command.is_classless = true;
    command.bytes = (int64_t)n_words * 4;
    command.args[0] = to;
    command.args[1] = value;
    command.end = set_words;
    double_append(stream, &command);
    return end_call(&call);
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
    return is_lost() ? state.sticky : double_drain(stream) ? GPU_SUCCESS : GPU_LAUNCH_FAILED;
}

/* Asking takes the device on, so that polling ends soon. */
cu_result cuStreamQuery(cu_stream stream)
{
    if (is_lost())
        return state.sticky;
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
    if (is_lost())
        return state.sticky;
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

    if (is_lost())
        return state.sticky;
    double_append(stream, &command);
    return GPU_SUCCESS;
}

cu_result cuEventQuery(cu_event event)
{
    double_advance();
    return event->n_passed == event->n_recorded ? GPU_SUCCESS : GPU_NOT_READY;
}

cu_result cuEventSynchronize(cu_event event)
{
    while (event->n_passed < event->n_recorded)
        double_skip();
    return GPU_SUCCESS;
}

cu_result cuEventElapsedTime(float *ms, cu_event begin, cu_event end)
{
    if (!begin->is_timed || !end->is_timed)
        return GPU_INVALID_DEVICE;
    *ms = (float)((double)(end->passed_ns - begin->passed_ns) * 1e-6);
    return GPU_SUCCESS;
}

/* ---- memory ---- */

/* The size stands in a page before it: negative when it is the host's, of which there is enough. */
static void *take_memory(size_t bytes, bool is_host)
{
    void *memory;

    if (double_fails(FAULT_MEMORY) ||
        (!is_host && state.used_bytes + (int64_t)bytes > double_config.memory_bytes))
        return NULL;
    memory = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    *(int64_t *)memory = is_host ? -(int64_t)bytes : (int64_t)bytes;
    state.used_bytes += is_host ? 0 : (int64_t)bytes;
    return (unsigned char *)memory + 4096;
}

static void give_memory(void *memory)
{
    unsigned char *page = (unsigned char *)memory - 4096;
    int64_t bytes = *(int64_t *)(void *)page;

    state.used_bytes -= bytes > 0 ? bytes : 0;
    (void)munmap(page, (size_t)(bytes > 0 ? bytes : -bytes) + 4096);
}

cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = (size_t)double_config.memory_bytes;
    *free_bytes = (size_t)(double_config.memory_bytes - state.used_bytes);
    return GPU_SUCCESS;
}

cu_result cuMemAlloc_v2(cu_deviceptr *address, size_t bytes)
{
    void *memory = is_lost() ? NULL : take_memory(bytes, false);

    if (memory == NULL)
        return is_lost() ? state.sticky : GPU_OUT_OF_MEMORY;
    *address = (uintptr_t)memory;
    return GPU_SUCCESS;
}

cu_result cuMemFree_v2(cu_deviceptr address)
{
    give_memory((void *)(uintptr_t)address);
    return GPU_SUCCESS;
}

cu_result cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = is_lost() ? NULL : take_memory(bytes, true);
    return *address != NULL ? GPU_SUCCESS : is_lost() ? state.sticky : GPU_OUT_OF_MEMORY;
}

cu_result cuMemFreeHost(void *address)
{
    give_memory(address);
    return GPU_SUCCESS;
}

cu_result cuMemHostGetDevicePointer_v2(cu_deviceptr *address, void *host, unsigned flags)
{
    (void)flags;
    *address = (uintptr_t)host;
    return GPU_SUCCESS;
}

#ifndef DOUBLE_IS_OLD

cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
    (void)device;
    memset(uuid, 0xdb, sizeof *uuid);
    return GPU_SUCCESS;
}

cu_result cuFuncLoad(cu_function function)
{
    (void)function;
    return GPU_SUCCESS;
}

cu_result cuStreamWaitValue32_v2(cu_stream stream, cu_deviceptr address, uint32_t value,
                                 unsigned flags)
{
    struct double_command command = {.kind = DOUBLE_WAIT_VALUE, .args = {address, value}};

    (void)flags;
    if (is_lost())
        return state.sticky;
    double_append(stream, &command);
    return GPU_SUCCESS;
}

cu_result cuEventElapsedTime_v2(float *ms, cu_event begin, cu_event end)
{
    return cuEventElapsedTime(ms, begin, end);
}

/* A pool is as large as the memory; blocks that were freed can be had again when the call to free
 * them was made. */
struct CUmemPoolHandle_st {
    int n_live;
};

cu_result cuMemPoolCreate(cu_mem_pool *pool, const cu_mem_pool_props *props)
{
    (void)props;
    *pool = calloc(1, sizeof **pool);
    return *pool == NULL ? GPU_OUT_OF_MEMORY : GPU_SUCCESS;
}

cu_result cuMemPoolDestroy(cu_mem_pool pool)
{
    free(pool);
    return GPU_SUCCESS;
}

cu_result cuMemPoolTrimTo(cu_mem_pool pool, size_t keep_bytes)
{
    (void)pool;
    (void)keep_bytes;
    return GPU_SUCCESS;
}

cu_result cuMemPoolGetAttribute(cu_mem_pool pool, cu_pool_attribute attribute, void *value)
{
    (void)attribute;
    *(uint64_t *)value = (uint64_t)pool->n_live;
    return GPU_SUCCESS;
}

cu_result cuMemPoolSetAttribute(cu_mem_pool pool, cu_pool_attribute attribute, void *value)
{
    (void)pool;
    (void)attribute;
    (void)value;
    return GPU_SUCCESS;
}

cu_result cuMemAllocFromPoolAsync(cu_deviceptr *address, size_t bytes, cu_mem_pool pool,
                                  cu_stream stream)
{
    void *memory;

    if (is_lost())
        return state.sticky;
    if (double_fails(FAULT_POOL) || state.used_bytes + (int64_t)bytes > double_config.memory_bytes)
        return GPU_OUT_OF_MEMORY;
    memory = calloc(1, bytes + sizeof(size_t));
    if (memory == NULL)
        return GPU_OUT_OF_MEMORY;
    if (double_fails(FAULT_POOL_WAITS))
        double_wait_for_others(stream);
    *(size_t *)memory = bytes;
    state.used_bytes += (int64_t)bytes;
    pool->n_live++;
    *address = (uintptr_t)memory + sizeof(size_t);
    return GPU_SUCCESS;
}

cu_result cuMemFreeAsync(cu_deviceptr address, cu_stream stream)
{
    struct double_command command = {.kind = DOUBLE_FREE, .args = {address - sizeof(size_t)}};

    if (is_lost())
        return state.sticky;
    state.used_bytes -= (int64_t) * (const size_t *)(uintptr_t)command.args[0];
    double_append(stream, &command);
    return GPU_SUCCESS;
}

/* ---- mapping: not asked for by a replay ---- */

cu_result cuMemGetAllocationGranularity(size_t *bytes, const cu_mem_allocation_prop *prop,
                                        cu_granularity option)
{
    (void)prop;
    (void)option;
    *bytes = 2 << 20;
    return GPU_SUCCESS;
}

cu_result cuMemAddressReserve(cu_deviceptr *address, size_t bytes, size_t align,
                              cu_deviceptr wanted, unsigned long long flags)
{
    (void)address;
    (void)bytes;
    (void)align;
    (void)wanted;
    (void)flags;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemAddressFree(cu_deviceptr address, size_t bytes)
{
    (void)address;
    (void)bytes;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemCreate(cu_mem_handle *handle, size_t bytes, const cu_mem_allocation_prop *prop,
                      unsigned long long flags)
{
    (void)handle;
    (void)bytes;
    (void)prop;
    (void)flags;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemRelease(cu_mem_handle handle)
{
    (void)handle;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemMap(cu_deviceptr address, size_t bytes, size_t offset, cu_mem_handle handle,
                   unsigned long long flags)
{
    (void)address;
    (void)bytes;
    (void)offset;
    (void)handle;
    (void)flags;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemUnmap(cu_deviceptr address, size_t bytes)
{
    (void)address;
    (void)bytes;
    return GPU_NOT_SUPPORTED;
}

cu_result cuMemSetAccess(cu_deviceptr address, size_t bytes, const cu_mem_access *access, size_t n)
{
    (void)address;
    (void)bytes;
    (void)access;
    (void)n;
    return GPU_NOT_SUPPORTED;
}

#endif
