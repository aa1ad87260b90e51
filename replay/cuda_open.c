/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver, the GPU, its context, and the kernels in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda_image.h"
#include "replay/cuda_internal.h"
#include "replay/devices.h"

static const char *const kernel_names[CUDA_KERNELS] = {"weir_fma",  "weir_read",  "weir_read_l2",
                                                       "weir_mix",  "weir_tags",  "weir_gate",
                                                       "weir_time", "weir_until", "weir_clock"};

enum weir_status cuda_check(const struct cuda_context *context, cu_result result, const char *call,
                            struct weir_error *err)
{
    char text[CUDA_WHY_BYTES];

    if (result == GPU_SUCCESS) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_DEVICE, "cuda: %s failed: %.150s%s%s", call,
                          cuda_result_text(&context->driver, result, text),
                          cuda_remedy(result) == NULL ? "" : "; ",
                          cuda_remedy(result) == NULL ? "" : cuda_remedy(result));
}

static int attribute(const struct cuda_driver *driver, cu_device device, int which)
{
    int value = 0;

    return driver->device_get_attribute(&value, which, device) == GPU_SUCCESS ? value : 0;
}

/* The GPU that is used: the first that the user shows (CUDA_VISIBLE_DEVICES says which that is). */
static bool find_device(struct cuda_context *out, char *why_not)
{
    const struct cuda_driver *driver = &out->driver;
    char name[80] = "a GPU";
    size_t bytes = 0;
    int n = 0, major, minor;
    cu_result result = driver->device_get_count(&n);

    if (result == GPU_SUCCESS && n == 0) {
        result = GPU_NO_DEVICE;
    }
    if (result == GPU_SUCCESS) {
        result = driver->device_get(&out->device, 0);
    }
    if (result != GPU_SUCCESS) {
        cuda_say_why(driver, result, "the driver shows no GPU", why_not);
        return false;
    }
    major = attribute(driver, out->device, GPU_ATTRIBUTE_CAPABILITY_MAJOR);
    minor = attribute(driver, out->device, GPU_ATTRIBUTE_CAPABILITY_MINOR);
    (void)driver->device_get_name(name, sizeof name, out->device);
    (void)driver->device_get_pci_bus_id(out->bus, sizeof out->bus, out->device);
    (void)driver->device_total_mem(&bytes, out->device);
    out->total_bytes = (int64_t)bytes;
    out->compute_mode = attribute(driver, out->device, GPU_ATTRIBUTE_COMPUTE_MODE);
    out->n_processors = attribute(driver, out->device, GPU_ATTRIBUTE_PROCESSORS);
    out->l2_bytes = attribute(driver, out->device, GPU_ATTRIBUTE_L2_BYTES);
    out->has_pools = attribute(driver, out->device, GPU_ATTRIBUTE_MEMORY_POOLS) != 0 &&
                     driver->mem_pool_create != NULL && driver->mem_pool_destroy != NULL &&
                     driver->mem_pool_set_attribute != NULL &&
                     driver->mem_alloc_from_pool_async != NULL && driver->mem_free_async != NULL;
    out->has_wait_value = attribute(driver, out->device, GPU_ATTRIBUTE_MEM_OPS) != 0 &&
                          driver->stream_wait_value32 != NULL;
    (void)snprintf(out->name, sizeof out->name, "%.60s at %.20s, driver for CUDA %d.%d", name,
                   out->bus, driver->version / 1000, driver->version % 1000 / 10);
    if (major < 7 || out->n_processors < 1) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "%.80s has compute capability %d.%d: 7.0 (Volta) or later is needed", name,
                       major, minor);
        return false;
    }
    if (out->compute_mode == GPU_PROHIBITED) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "%s", cuda_compute_mode_remedy(GPU_PROHIBITED));
        return false;
    }
    cuda_state_open(out);
    return true;
}

static void describe_abilities(const struct cuda_context *context, struct device_info *out)
{
    char why_not[CUDA_WHY_BYTES];
    struct cupti cupti;
    bool has_cupti = cupti_load(context->driver.version, &cupti, why_not);

    (void)snprintf(out->abilities, sizeof out->abilities,
                   "%d multiprocessors; times of %s%s; memory pools: %s; a gate of %s",
                   context->n_processors, has_cupti ? "CUPTI" : "events, since ",
                   has_cupti ? "" : "CUPTI is not there", context->has_pools ? "yes" : "no",
                   context->has_wait_value ? "memory" : "a kernel");
}

void cuda_describe(struct device_info *out)
{
    struct cuda_context context = {.device = 0};
    char why_not[CUDA_WHY_BYTES] = "";
    struct device_info host;
    struct weir_error err;

    memset(out, 0, sizeof *out);
    out->state = device_state_unknown();
    (void)snprintf(out->name, sizeof out->name, "CUDA GPU");
    if (!cuda_load(&context.driver, why_not) || !find_device(&context, why_not)) {
        (void)snprintf(out->why_not, sizeof out->why_not, "%.*s", (int)sizeof out->why_not - 1,
                       why_not);
        return;
    }
    (void)snprintf(out->name, sizeof out->name, "%s", context.name);
    out->n_processors = cuda_connections();
    describe_abilities(&context, out);
    out->memory_bytes = context.total_bytes;
    cuda_state_of(&context, &out->state);
    if (device_host.probe(&host, &err) == WEIR_OK) {
        out->host_memory_bytes = host.memory_bytes;
    }
    out->compute_flops = (int64_t)2 * KERNEL_CUDA_FMAS * KERNEL_CUDA_THREADS * context.n_processors;
}

/* ---- the context ---- */

#define LOG_BYTES 200

/* @param log gets what the driver's compiler complains of */
static cu_result load_image(struct cuda_context *out, const unsigned char *image,
                            char log[LOG_BYTES])
{
    cu_jit_option options[] = {GPU_JIT_ERROR_LOG_BUFFER, GPU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};

    log[0] = '\0';
    return out->driver.module_load_data_ex(&out->module, image, 2, options, values);
}

/* Code made for this GPU, when there is any; else PTX, which the driver compiles. */
static enum weir_status load_kernels(struct cuda_context *out, struct weir_error *err)
{
    char log[LOG_BYTES], text[CUDA_WHY_BYTES];
    cu_result result = GPU_NO_BINARY_FOR_GPU;
    enum weir_status status = WEIR_OK;

    if (kernels_cuda_fatbin_bytes != 0) {
        result = load_image(out, kernels_cuda_fatbin, log);
    }
    if (result != GPU_SUCCESS) {
        result = load_image(out, kernels_cuda_ptx, log);
    }
    if (result != GPU_SUCCESS) {
        return weir_error_set(err, WEIR_DEVICE, "cuda: the kernels cannot be loaded: %.200s%s%s",
                              cuda_result_text(&out->driver, result, text),
                              log[0] == '\0' ? "" : "; the driver's compiler says: ", log);
    }
    for (int k = 0; k < CUDA_KERNELS && status == WEIR_OK; k++) {
        status = cuda_check(
            out, out->driver.module_get_function(&out->kernels[k], out->module, kernel_names[k]),
            "cuModuleGetFunction", err);
        if (status == WEIR_OK && out->driver.func_load != NULL) {
            status = cuda_check(out, out->driver.func_load(out->kernels[k]), "cuFuncLoad", err);
        }
    }
    return status;
}

/* Others may keep the GPU for themselves. */
static enum weir_status retain(struct cuda_context *out, struct weir_error *err)
{
    cu_result result = out->driver.primary_ctx_retain(&out->context, out->device);
    char text[CUDA_WHY_BYTES];

    if (result != GPU_DEVICE_UNAVAILABLE &&
        (result != GPU_INVALID_DEVICE || out->compute_mode == GPU_FOR_ALL)) {
        return cuda_check(out, result, "cuDevicePrimaryCtxRetain", err);
    }
    return weir_error_set(err, WEIR_DEVICE, "device cuda: %s; the driver says %.150s",
                          cuda_compute_mode_remedy(out->compute_mode),
                          cuda_result_text(&out->driver, result, text));
}

static enum weir_status enter(struct cuda_context *out, struct weir_error *err)
{
    size_t free_bytes = 0, total_bytes = 0;
    enum weir_status status = retain(out, err);

    if (status == WEIR_OK) {
        status = cuda_check(out, out->driver.ctx_set_current(out->context), "cuCtxSetCurrent", err);
    }
    if (status == WEIR_OK) {
        status = cuda_check(out, out->driver.mem_get_info(&free_bytes, &total_bytes),
                            "cuMemGetInfo", err);
    }
    out->memory_bytes = (int64_t)free_bytes;
    return status;
}

/* Of this process: what takes a driver tens of milliseconds is not done again for each of the many
 * small plans of a calibration. */
static struct cuda_context kept;
static bool is_kept;

enum weir_status cuda_context_find(struct cuda_context *out, struct weir_error *err)
{
    char why_not[CUDA_WHY_BYTES];

    memset(out, 0, sizeof *out);
    if (is_kept) {
        *out = kept;
        return WEIR_OK;
    }
    if (!cuda_load(&out->driver, why_not) || !find_device(out, why_not)) {
        return weir_error_set(err, WEIR_DEVICE, "device cuda: %.300s", why_not);
    }
    return WEIR_OK;
}

enum weir_status cuda_context_open(struct cuda_context *out, struct weir_error *err)
{
    enum weir_status status = is_kept ? WEIR_OK : enter(out, err);

    if (status == WEIR_OK && !is_kept) {
        status = load_kernels(out, err);
    }
    if (status == WEIR_OK) {
        kept = *out;
        is_kept = true;
    }
    return status;
}
