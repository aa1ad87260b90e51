/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking NVML. It is only ever asked: nothing here changes a GPU. */
#include "replay/cuda_nvml.h"

#include <stdio.h>

typedef nvml_result read_figure(nvml_device device, unsigned *out);

static int64_t figure(const struct nvml *nvml, read_figure *read)
{
    unsigned value = 0;

    return read != NULL && read(nvml->device, &value) == NVML_OK ? (int64_t)value : DEVICE_UNKNOWN;
}

/* A figure of one of several clocks, or sensors. */
static int64_t figure_of(const struct nvml *nvml,
                         nvml_result (*read)(nvml_device device, int which, unsigned *out),
                         int which)
{
    unsigned value = 0;

    return read != NULL && read(nvml->device, which, &value) == NVML_OK ? (int64_t)value
                                                                        : DEVICE_UNKNOWN;
}

/* ---- what keeps clocks down ---- */

static int64_t held_ns(const struct nvml *nvml, nvml_policy policy)
{
    nvml_violation violation = {0, 0};

    if (nvml->violation == NULL || nvml->violation(nvml->device, policy, &violation) != NVML_OK ||
        violation.held_ns > INT64_MAX) {
        return -1;
    }
    return (int64_t)violation.held_ns;
}

static uint32_t reasons_of(unsigned long long bits)
{
    static const struct {
        unsigned bit;
        enum device_held held;
    } reasons[] = {{NVML_HELD_IDLE, DEVICE_HELD_IDLE},
                   {NVML_HELD_SETTING, DEVICE_HELD_SETTING},
                   {NVML_HELD_POWER_CAP, DEVICE_HELD_POWER_CAP},
                   {NVML_HELD_SYNC_BOOST, DEVICE_HELD_SYNC_BOOST},
                   {NVML_HELD_DISPLAY, DEVICE_HELD_DISPLAY},
                   {NVML_HELD_HEAT, DEVICE_HELD_HEAT},
                   {NVML_HELD_HARDWARE_HEAT, DEVICE_HELD_HARDWARE_HEAT},
                   {NVML_HELD_POWER_BRAKE, DEVICE_HELD_POWER_BRAKE},
                   {NVML_HELD_HARDWARE, DEVICE_HELD_HARDWARE}};
    uint32_t held = 0;

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if ((bits & reasons[i].bit) != 0) {
            held |= DEVICE_HELD_BIT(reasons[i].held);
        }
    }
    return held;
}

struct cuda_held cuda_nvml_held(const struct nvml *nvml)
{
    struct cuda_held held = {.power_ns = -1, .heat_ns = -1};
    unsigned long long bits = 0;

    if (nvml == NULL) {
        return held;
    }
    held.is_known =
        (nvml->held_renamed != NULL && nvml->held_renamed(nvml->device, &bits) == NVML_OK) ||
        (nvml->held != NULL && nvml->held(nvml->device, &bits) == NVML_OK);
    held.held = held.is_known ? reasons_of(bits) : 0;
    held.power_ns = held_ns(nvml, NVML_POLICY_OF_POWER);
    held.heat_ns = held_ns(nvml, NVML_POLICY_OF_HEAT);
    return held;
}

static bool has_grown(int64_t before_ns, int64_t after_ns)
{
    return before_ns >= 0 && after_ns > before_ns;
}

uint32_t cuda_held_between(const struct cuda_held *before, const struct cuda_held *after)
{
    uint32_t held = before->held | after->held;

    if (has_grown(before->power_ns, after->power_ns)) {
        held |= DEVICE_HELD_BIT(DEVICE_HELD_POWER_CAP);
    }
    if (has_grown(before->heat_ns, after->heat_ns) && (held & DEVICE_SLOWDOWNS) == 0) {
        held |= DEVICE_HELD_BIT(DEVICE_HELD_HEAT);
    }
    return held;
}

/* ---- how it is ---- */

static enum device_share share_of(const struct nvml *nvml)
{
    unsigned now = 0, pending = 0;

    if (nvml->mig_mode == NULL || nvml->mig_mode(nvml->device, &now, &pending) != NVML_OK) {
        return DEVICE_SHARE_UNKNOWN;
    }
    return now == NVML_IS_ENABLED ? DEVICE_DIVIDED : DEVICE_WHOLE;
}

void cuda_nvml_state(const struct nvml *nvml, struct device_state *out)
{
    struct cuda_held held = cuda_nvml_held(nvml);

    if (nvml->driver_version == NULL ||
        nvml->driver_version(out->driver_version, sizeof out->driver_version) != NVML_OK) {
        out->driver_version[0] = '\0';
    }
    out->figures[DEVICE_SM_MHZ] = figure_of(nvml, nvml->clock, NVML_CLOCK_OF_SM);
    out->figures[DEVICE_MOST_SM_MHZ] = figure_of(nvml, nvml->greatest_clock, NVML_CLOCK_OF_SM);
    out->figures[DEVICE_MEMORY_MHZ] = figure_of(nvml, nvml->clock, NVML_CLOCK_OF_MEMORY);
    out->figures[DEVICE_MOST_MEMORY_MHZ] =
        figure_of(nvml, nvml->greatest_clock, NVML_CLOCK_OF_MEMORY);
    out->figures[DEVICE_TEMPERATURE_C] = figure_of(nvml, nvml->temperature, NVML_SENSOR_OF_GPU);
    out->figures[DEVICE_POWER_MW] = figure(nvml, nvml->power);
    out->figures[DEVICE_MOST_POWER_MW] = figure(nvml, nvml->power_limit);
    out->figures[DEVICE_LINK_GENERATION] = figure(nvml, nvml->link_generation);
    out->figures[DEVICE_MOST_LINK_GENERATION] = figure(nvml, nvml->greatest_link_generation);
    out->figures[DEVICE_LINK_LANES] = figure(nvml, nvml->link_lanes);
    out->figures[DEVICE_MOST_LINK_LANES] = figure(nvml, nvml->greatest_link_lanes);
    out->share = share_of(nvml);
    out->knows_held = held.is_known;
    out->held = held.held;
}
