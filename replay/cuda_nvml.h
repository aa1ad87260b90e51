/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What NVML tells of the GPU. Each figure may be refused; then it is unknown. */
#ifndef WEIR_REPLAY_CUDA_NVML_H
#define WEIR_REPLAY_CUDA_NVML_H

#include "replay/cuda_load.h"
#include "replay/device_state.h"

/* What keeps clocks down, at one moment. */
struct cuda_held {
    bool is_known;
    uint32_t held; /* bits of enum device_held */
    /* For how long since the driver began; -1: not known. */
    int64_t power_ns, heat_ns;
};

/** NULL, for an NVML that is not there, tells nothing. */
struct cuda_held cuda_nvml_held(const struct nvml *nvml);
/** What kept clocks down at one of two moments, or between them. */
uint32_t cuda_held_between(const struct cuda_held *before, const struct cuda_held *after);

/** Adds all that NVML tells to a state. */
void cuda_nvml_state(const struct nvml *nvml, struct device_state *out);

#endif
