/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA driver, CUPTI and NVML, opened at run time: nothing of them is linked, and a machine without
 * them runs the same program. None is ever closed again: versions of the first two crash when they
 * are, and all three count how often they were opened. */
#ifndef WEIR_REPLAY_CUDA_LOAD_H
#define WEIR_REPLAY_CUDA_LOAD_H

#include "base/error.h"
#include "replay/cuda_cupti_abi.h"
#include "replay/cuda_nvml_abi.h"
#include "replay/device.h"

#define CUDA_SLOT(field, symbol, parameters) cu_result(*field) parameters;
#define CUPTI_SLOT(field, symbol, parameters) cupti_result(*field) parameters;
#define NVML_SLOT(field, symbol, parameters) nvml_result(*field) parameters;

/* Slots of optional functions are NULL when the driver has none. */
struct cuda_driver {
    CUDA_REQUIRED_FUNCTIONS(CUDA_SLOT)
    CUDA_OPTIONAL_FUNCTIONS(CUDA_SLOT)
    int version; /* of CUDA that it is for: 1000 * major + 10 * minor */
};

struct cupti {
    CUPTI_REQUIRED_FUNCTIONS(CUPTI_SLOT)
    CUPTI_OPTIONAL_FUNCTIONS(CUPTI_SLOT)
    uint32_t version; /* as cuptiGetVersion counts */
};

struct nvml {
    NVML_REQUIRED_FUNCTIONS(NVML_SLOT)
    NVML_OPTIONAL_FUNCTIONS(NVML_SLOT)
    NVML_RENAMED_FUNCTIONS(NVML_SLOT)
    nvml_device device; /* the one that was asked for */
};

/* Long enough for any reason why a library cannot be used, and what to do. */
#define CUDA_WHY_BYTES 400

/** Opens the libcuda.so.1 that the dynamic linker finds, and initializes it.
 *  @return false with the reason in @p why_not: no library, too old, a stub, no device, a driver that
 *  does not fit the kernel's, whatever it said */
bool cuda_load(struct cuda_driver *out, char why_not[CUDA_WHY_BYTES]);

/** How many streams the device runs without one waiting for another: as CUDA_DEVICE_MAX_CONNECTIONS
 *  says, else all that there can be. */
uint32_t cuda_connections(void);

/** Opens the CUPTI that goes with the driver: 13, then 12, never one of a CUDA newer than the
 *  driver's, which would refuse to work. After the dynamic linker's own places it looks in that of
 *  the toolkit.
 *  @return false with the reason */
bool cupti_load(int driver_version, struct cupti *out, char why_not[CUDA_WHY_BYTES]);

/** Opens NVML, which only tells more: all else works without it.
 *  @param bus where the GPU is, as the driver names its place  @return false with the reason */
bool nvml_load(const char *bus, struct nvml *out, char why_not[CUDA_WHY_BYTES]);

/* ---- results in words (cuda_results.c) ---- */

/** What the driver calls a result, and what it means: "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
 *  @param out CUDA_WHY_BYTES */
const char *cuda_result_text(const struct cuda_driver *driver, cu_result result, char *out);
const char *cupti_result_text(const struct cupti *cupti, cupti_result result, char *out);

/** What a result of the driver comes from, and what to do; NULL when the driver's own words must do. */
const char *cuda_remedy(cu_result result);
/** Who may use a GPU in that compute mode: "default", "prohibited", ... */
const char *cuda_compute_mode_name(int mode);
/** Why a GPU in that compute mode cannot be had, and what to do. */
const char *cuda_compute_mode_remedy(int mode);

/** The remedy, or @p doing, and what the driver says. */
void cuda_say_why(const struct cuda_driver *driver, cu_result result, const char *doing,
                  char why_not[CUDA_WHY_BYTES]);

#endif
