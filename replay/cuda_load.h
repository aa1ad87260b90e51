/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA driver and CUPTI, opened at run time: nothing of them is linked, and a machine without
 * them runs the same program. Neither is ever closed again: versions of both crash when they are. */
#ifndef WEIR_REPLAY_CUDA_LOAD_H
#define WEIR_REPLAY_CUDA_LOAD_H

#include "base/error.h"
#include "replay/cuda_cupti_abi.h"
#include "replay/device.h"

#define CUDA_SLOT(field, symbol, parameters) cu_result(*field) parameters;
#define CUPTI_SLOT(field, symbol, parameters) cupti_result(*field) parameters;

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

/* Long enough for any reason why a library cannot be used, and what to do. */
#define CUDA_WHY_BYTES 400

/** Opens the libcuda.so.1 that the dynamic linker finds, and initializes it.
 *  @return false with the reason in @p why_not: no library, too old, a stub, no device, a driver that
 *  does not fit the kernel's, whatever it said */
bool cuda_load(struct cuda_driver *out, char why_not[CUDA_WHY_BYTES]);

/** Opens the CUPTI that goes with the driver: 13, then 12, never one of a CUDA newer than the
 *  driver's, which would refuse to work. After the dynamic linker's own places it looks in that of
 *  the toolkit.
 *  @return false with the reason */
bool cupti_load(int driver_version, struct cupti *out, char why_not[CUDA_WHY_BYTES]);

/** What the driver calls a result, and what it means: "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
 *  @param out CUDA_WHY_BYTES */
const char *cuda_result_text(const struct cuda_driver *driver, cu_result result, char *out);
const char *cupti_result_text(const struct cupti *cupti, cupti_result result, char *out);

#endif
