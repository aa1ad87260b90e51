/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the driver and CUPTI answer, in words, and what can be done about it. The manual lists each of
 * the remedies in weir-replay(1), WHEN IT GOES WRONG. */
#include <stdio.h>

#include "replay/cuda_load.h"

const char *cuda_result_text(const struct cuda_driver *driver, cu_result result, char *out)
{
    const char *name = NULL, *text = NULL;

    if (driver->get_error_name(result, &name) != GPU_SUCCESS || name == NULL) {
        (void)snprintf(out, CUDA_WHY_BYTES, "error %d of the driver", result);
    } else if (driver->get_error_string(result, &text) != GPU_SUCCESS || text == NULL) {
        (void)snprintf(out, CUDA_WHY_BYTES, "%s (%d)", name, result);
    } else {
        (void)snprintf(out, CUDA_WHY_BYTES, "%s (%d): %s", name, result, text);
    }
    return out;
}

const char *cupti_result_text(const struct cupti *cupti, cupti_result result, char *out)
{
    const char *text = NULL;

    if (cupti->get_result_string(result, &text) != CUPTI_OK || text == NULL) {
        text = "an unknown result";
    }
    (void)snprintf(out, CUDA_WHY_BYTES, "%s (%d)", text, result);
    return out;
}

const char *cuda_remedy(cu_result result)
{
    static const struct {
        cu_result result;
        const char *text;
    } remedies[] = {
        {GPU_OUT_OF_MEMORY, "the memory ran out: nvidia-smi lists who else holds some on the GPU; "
                            "else use a smaller --scale-bytes"},
        {GPU_STUB_LIBRARY,
         "the libcuda.so.1 that was found is the toolkit's stub, which only serves to link "
         "programs: take its folder out of LD_LIBRARY_PATH, or install the driver"},
        {GPU_NO_DEVICE, "the driver sees no GPU: is one in the machine, given to this container, "
                        "and not hidden by CUDA_VISIBLE_DEVICES?"},
        {GPU_INVALID_DEVICE, "the GPU that was asked for is not there: is what "
                             "CUDA_VISIBLE_DEVICES names in `nvidia-smi -L`?"},
        {GPU_DEVICE_NOT_LICENSED,
         "this virtual GPU has no licence: see to its licence server (nvidia-smi -q)"},
        {GPU_ECC_UNCORRECTABLE,
         "the GPU's memory has an error that cannot be corrected: try again; if it stays, the GPU "
         "must be reset by an administrator, or replaced (nvidia-smi -q -d ECC)"},
        {GPU_UNSUPPORTED_PTX_VERSION,
         "the driver is too old for the kernels of this program: update it"},
        {GPU_OPERATING_SYSTEM, "the system refuses the driver: may this user open /dev/nvidia*, "
                               "and did the container get them?"},
        {GPU_ILLEGAL_ADDRESS, "a kernel failed on the device; a line with Xid in the kernel's log "
                              "(dmesg) says what the driver saw"},
        {GPU_LAUNCH_TIMEOUT, "a kernel took longer than the driver lets a GPU with a display: take "
                             "another GPU, or a smaller --scale-time"},
        {GPU_LAUNCH_FAILED, "a kernel failed on the device; a line with Xid in the kernel's log "
                            "(dmesg) says what the driver saw"},
        {GPU_SYSTEM_NOT_READY,
         "the machine is not ready: where NVSwitch connects the GPUs, nvidia-fabricmanager must "
         "run (systemctl status nvidia-fabricmanager)"},
        {GPU_SYSTEM_DRIVER_MISMATCH,
         "libcuda and the driver in the kernel are not of one version: load the new driver (a "
         "restart does), or start the container anew"},
        {GPU_COMPAT_NOT_SUPPORTED_ON_DEVICE,
         "the CUDA compatibility package does not work with this GPU: take its folder (compat) out "
         "of LD_LIBRARY_PATH, or update the driver"},
        {GPU_MPS_CONNECTION_FAILED,
         "MPS shares this GPU, and its daemon does not answer: start nvidia-cuda-mps-control as "
         "this user, or unset CUDA_MPS_PIPE_DIRECTORY"},
        {GPU_MPS_SERVER_NOT_READY, "MPS shares this GPU, and its server is not ready: try again"},
        {GPU_MPS_MAX_CLIENTS_REACHED,
         "MPS shares this GPU, and has no room for one more: end another of its programs"},
        {GPU_UNKNOWN, "the driver in the kernel does not answer: is /dev/nvidia-uvm there "
                      "(nvidia-modprobe -u makes it), and given to the container?"}};

    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (remedies[i].result == result) {
            return remedies[i].text;
        }
    }
    return NULL;
}

const char *cuda_compute_mode_name(int mode)
{
    return mode == GPU_FOR_ALL             ? "default"
           : mode == GPU_PROHIBITED        ? "prohibited"
           : mode == GPU_EXCLUSIVE_PROCESS ? "exclusive process"
                                           : "exclusive";
}

const char *cuda_compute_mode_remedy(int mode)
{
    switch (mode) {
    case GPU_PROHIBITED:
        return "the GPU's compute mode is prohibited: no program may use it until an administrator "
               "says so (nvidia-smi -c DEFAULT)";
    case GPU_FOR_ALL:
        return "the GPU is not available: a program may have it for itself, or an administrator is "
               "taking it away (nvidia-smi)";
    default:
        return "the GPU's compute mode lets one process use it, and another does: wait for that "
               "(nvidia-smi lists it), or have the mode changed (nvidia-smi -c DEFAULT)";
    }
}

void cuda_say_why(const struct cuda_driver *driver, cu_result result, const char *doing,
                  char why_not[CUDA_WHY_BYTES])
{
    const char *remedy = cuda_remedy(result);
    char text[CUDA_WHY_BYTES];

    (void)cuda_result_text(driver, result, text);
    if (remedy == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "%s: %.300s", doing, text);
    } else {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "%s; the driver says %.150s", remedy, text);
    }
}
