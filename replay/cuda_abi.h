/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Weir calls of the CUDA driver, in declarations of its own, so that it is built without
 * NVIDIA's headers and opens the driver at run time. Where those headers are, the build compares
 * every name, type and number of this file with them (tests/replay/cuda_abi_check.c).
 *
 * Each function is asked for under the name of one version, the oldest that does the work. */
#ifndef WEIR_REPLAY_CUDA_ABI_H
#define WEIR_REPLAY_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* The comparison puts NVIDIA's types in the place of these. */
#ifndef WEIR_CUDA_TYPES
typedef int cu_result;
typedef int cu_device;
typedef int cu_device_attribute;
typedef int cu_jit_option;
typedef int cu_pool_attribute;
typedef unsigned long long cu_deviceptr; /* an address on the device */
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_mem_pool;

typedef struct {
    int type, id;
} cu_mem_location;

/* Zeroed but for what is set: later versions took what was reserved. */
typedef struct {
    int allocation_type, handle_types;
    cu_mem_location location;
    void *security_attributes;
    size_t max_bytes;
    unsigned char reserved[56];
} cu_mem_pool_props;

#endif

/* Results that are told apart. */
enum {
    GPU_SUCCESS = 0,
    GPU_OUT_OF_MEMORY = 2,
    GPU_STUB_LIBRARY = 34,
    GPU_DEVICE_UNAVAILABLE = 46,
    GPU_NO_DEVICE = 100,
    GPU_INVALID_DEVICE = 101,
    GPU_DEVICE_NOT_LICENSED = 102,
    GPU_NO_BINARY_FOR_GPU = 209,
    GPU_ECC_UNCORRECTABLE = 214,
    GPU_UNSUPPORTED_PTX_VERSION = 222,
    GPU_OPERATING_SYSTEM = 304,
    GPU_NOT_READY = 600,
    GPU_ILLEGAL_ADDRESS = 700,
    GPU_LAUNCH_TIMEOUT = 702,
    GPU_LAUNCH_FAILED = 719,
    GPU_NOT_SUPPORTED = 801,
    GPU_SYSTEM_NOT_READY = 802,
    GPU_SYSTEM_DRIVER_MISMATCH = 803,
    GPU_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    GPU_MPS_CONNECTION_FAILED = 805,
    GPU_MPS_SERVER_NOT_READY = 807,
    GPU_MPS_MAX_CLIENTS_REACHED = 808,
    GPU_UNKNOWN = 999
};

/* Attributes of a device. */
enum {
    GPU_ATTRIBUTE_PROCESSORS = 16, /* streaming multiprocessors */
    GPU_ATTRIBUTE_COMPUTE_MODE = 20,
    GPU_ATTRIBUTE_L2_BYTES = 38,
    GPU_ATTRIBUTE_CAPABILITY_MAJOR = 75,
    GPU_ATTRIBUTE_CAPABILITY_MINOR = 76,
    GPU_ATTRIBUTE_MEMORY_POOLS = 115,
    GPU_ATTRIBUTE_MEM_OPS = 122 /* streams wait for words of memory (of 64 bits, so of 32 too) */
};

/* Compute modes: who may use a device. */
enum { GPU_FOR_ALL = 0, GPU_PROHIBITED = 2, GPU_EXCLUSIVE_PROCESS = 3 };

/* Flags and attributes of what is made. */
enum {
    GPU_STREAM_NON_BLOCKING = 1,
    GPU_WAIT_VALUE_GEQ = 0,
    GPU_EVENT_DEFAULT = 0,
    GPU_EVENT_DISABLE_TIMING = 2,
    GPU_HOST_PORTABLE = 1,
    GPU_HOST_DEVICE_MAP = 2,
    GPU_MEM_ALLOCATION_PINNED = 1,
    GPU_MEM_LOCATION_DEVICE = 1,
    GPU_POOL_REUSE_FOLLOW_EVENTS = 1,
    GPU_POOL_REUSE_OPPORTUNISTIC = 2,
    GPU_POOL_REUSE_INTERNAL = 3,
    GPU_POOL_RELEASE_THRESHOLD = 4,
    GPU_JIT_ERROR_LOG_BUFFER = 5,
    GPU_JIT_ERROR_LOG_BYTES = 6
};

/* X(field, symbol, parameters): without one of these the driver is too old. */
/* clang-format off */
#define CUDA_REQUIRED_FUNCTIONS(X) \
    X(init, cuInit, (unsigned flags)) \
    X(driver_get_version, cuDriverGetVersion, (int *version)) \
    X(get_error_name, cuGetErrorName, (cu_result result, const char **name)) \
    X(get_error_string, cuGetErrorString, (cu_result result, const char **text)) \
    X(device_get_count, cuDeviceGetCount, (int *n)) \
    X(device_get, cuDeviceGet, (cu_device *device, int ordinal)) \
    X(device_get_name, cuDeviceGetName, (char *name, int room, cu_device device)) \
    X(device_get_attribute, cuDeviceGetAttribute, (int *value, cu_device_attribute attribute, \
      cu_device device)) \
    X(device_total_mem, cuDeviceTotalMem_v2, (size_t *bytes, cu_device device)) \
    X(device_get_pci_bus_id, cuDeviceGetPCIBusId, (char *id, int room, cu_device device)) \
    X(primary_ctx_retain, cuDevicePrimaryCtxRetain, (cu_context *context, cu_device device)) \
    X(ctx_set_current, cuCtxSetCurrent, (cu_context context)) \
    X(ctx_synchronize, cuCtxSynchronize, (void)) \
    X(module_load_data_ex, cuModuleLoadDataEx, (cu_module *module, const void *image, \
      unsigned n_options, cu_jit_option *options, void **values)) \
    X(module_get_function, cuModuleGetFunction, (cu_function *function, cu_module module, \
      const char *name)) \
    X(launch_kernel, cuLaunchKernel, (cu_function function, unsigned grid_x, unsigned grid_y, \
      unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, \
      unsigned shared_bytes, cu_stream stream, void **values, void **extra)) \
    X(stream_create_with_priority, cuStreamCreateWithPriority, (cu_stream *stream, \
      unsigned flags, int priority)) \
    X(stream_destroy, cuStreamDestroy_v2, (cu_stream stream)) \
    X(stream_synchronize, cuStreamSynchronize, (cu_stream stream)) \
    X(stream_query, cuStreamQuery, (cu_stream stream)) \
    X(stream_wait_event, cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags)) \
    X(event_create, cuEventCreate, (cu_event *event, unsigned flags)) \
    X(event_destroy, cuEventDestroy_v2, (cu_event event)) \
    X(event_record, cuEventRecord, (cu_event event, cu_stream stream)) \
    X(event_query, cuEventQuery, (cu_event event)) \
    X(event_elapsed_time, cuEventElapsedTime, (float *ms, cu_event begin, cu_event end)) \
    X(mem_get_info, cuMemGetInfo_v2, (size_t *free_bytes, size_t *total_bytes)) \
    X(mem_alloc, cuMemAlloc_v2, (cu_deviceptr *address, size_t bytes)) \
    X(mem_free, cuMemFree_v2, (cu_deviceptr address)) \
    X(mem_host_alloc, cuMemHostAlloc, (void **address, size_t bytes, unsigned flags)) \
    X(mem_free_host, cuMemFreeHost, (void *address)) \
    X(mem_host_get_device_pointer, cuMemHostGetDevicePointer_v2, (cu_deviceptr *address, \
      void *host, unsigned flags)) \
    X(memcpy_htod_async, cuMemcpyHtoDAsync_v2, (cu_deviceptr to, const void *from, \
      size_t bytes, cu_stream stream)) \
    X(memcpy_dtoh_async, cuMemcpyDtoHAsync_v2, (void *to, cu_deviceptr from, size_t bytes, \
      cu_stream stream)) \
    X(memcpy_dtod_async, cuMemcpyDtoDAsync_v2, (cu_deviceptr to, cu_deviceptr from, \
      size_t bytes, cu_stream stream)) \
    X(memset_d32_async, cuMemsetD32Async, (cu_deviceptr to, unsigned value, size_t n_words, \
      cu_stream stream))
/* clang-format on */

/* Without one of these something else is done, or not done and said so: the slot is NULL. */
/* clang-format off */
#define CUDA_OPTIONAL_FUNCTIONS(X) \
    X(func_load, cuFuncLoad, (cu_function function)) \
    X(stream_wait_value32, cuStreamWaitValue32_v2, (cu_stream stream, cu_deviceptr address, \
      uint32_t value, unsigned flags)) \
    X(event_elapsed_time_v2, cuEventElapsedTime_v2, (float *ms, cu_event begin, cu_event end)) \
    X(mem_pool_create, cuMemPoolCreate, (cu_mem_pool *pool, const cu_mem_pool_props *props)) \
    X(mem_pool_destroy, cuMemPoolDestroy, (cu_mem_pool pool)) \
    X(mem_pool_set_attribute, cuMemPoolSetAttribute, (cu_mem_pool pool, \
      cu_pool_attribute attribute, void *value)) \
    X(mem_alloc_from_pool_async, cuMemAllocFromPoolAsync, (cu_deviceptr *address, size_t bytes, \
      cu_mem_pool pool, cu_stream stream)) \
    X(mem_free_async, cuMemFreeAsync, (cu_deviceptr address, cu_stream stream))
/* clang-format on */

#endif
