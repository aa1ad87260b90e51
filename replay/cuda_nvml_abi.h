/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Weir calls of NVML, the library with which NVIDIA's driver tells how a GPU is: in declarations
 * of its own, which the build compares with nvml.h where that is (tests/replay/nvml_abi_check.c).
 *
 * All of it reads. Nothing that sets a clock, a limit or a mode, or resets a GPU, is declared here. */
#ifndef WEIR_REPLAY_CUDA_NVML_ABI_H
#define WEIR_REPLAY_CUDA_NVML_ABI_H

/* The comparison puts NVIDIA's types in the place of these. */
#ifndef WEIR_NVML_TYPES
typedef int nvml_result;
typedef int nvml_clock;
typedef int nvml_sensor;
typedef int nvml_policy;
typedef struct nvmlDevice_st *nvml_device;

typedef struct {
    unsigned long long at_us;   /* when it was asked */
    unsigned long long held_ns; /* for how long that has held clocks down, since the driver began */
} nvml_violation;
#endif

enum {
    NVML_OK = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_VERSION_MISMATCH = 18
};

enum {
    NVML_CLOCK_OF_SM = 1,
    NVML_CLOCK_OF_MEMORY = 2,
    NVML_SENSOR_OF_GPU = 0,
    NVML_POLICY_OF_POWER = 0,
    NVML_POLICY_OF_HEAT = 1,
    NVML_IS_ENABLED = 1
};

/* Why clocks are lower than they could be: bits. */
enum {
    NVML_HELD_IDLE = 0x1,
    NVML_HELD_SETTING = 0x2,
    NVML_HELD_POWER_CAP = 0x4,
    NVML_HELD_HARDWARE = 0x8,
    NVML_HELD_SYNC_BOOST = 0x10,
    NVML_HELD_HEAT = 0x20,
    NVML_HELD_HARDWARE_HEAT = 0x40,
    NVML_HELD_POWER_BRAKE = 0x80,
    NVML_HELD_DISPLAY = 0x100
};

/* X(field, symbol, parameters): without one of these nothing is asked of NVML. */
/* clang-format off */
#define NVML_REQUIRED_FUNCTIONS(X) \
    X(init, nvmlInit_v2, (void)) \
    X(device_by_bus, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, nvml_device *device))

/* Without one of these, or where it is refused, that figure is not known. */
#define NVML_OPTIONAL_FUNCTIONS(X) \
    X(driver_version, nvmlSystemGetDriverVersion, (char *version, unsigned room)) \
    X(clock, nvmlDeviceGetClockInfo, (nvml_device device, nvml_clock which, unsigned *mhz)) \
    X(greatest_clock, nvmlDeviceGetMaxClockInfo, (nvml_device device, nvml_clock which, \
      unsigned *mhz)) \
    X(temperature, nvmlDeviceGetTemperature, (nvml_device device, nvml_sensor which, \
      unsigned *degrees)) \
    X(power, nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *mw)) \
    X(power_limit, nvmlDeviceGetEnforcedPowerLimit, (nvml_device device, unsigned *mw)) \
    X(link_generation, nvmlDeviceGetCurrPcieLinkGeneration, (nvml_device device, \
      unsigned *generation)) \
    X(link_lanes, nvmlDeviceGetCurrPcieLinkWidth, (nvml_device device, unsigned *lanes)) \
    X(greatest_link_generation, nvmlDeviceGetMaxPcieLinkGeneration, (nvml_device device, \
      unsigned *generation)) \
    X(greatest_link_lanes, nvmlDeviceGetMaxPcieLinkWidth, (nvml_device device, unsigned *lanes)) \
    X(mig_mode, nvmlDeviceGetMigMode, (nvml_device device, unsigned *now, unsigned *pending)) \
    X(violation, nvmlDeviceGetViolationStatus, (nvml_device device, nvml_policy which, \
      nvml_violation *violation)) \
    X(held, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device device, \
      unsigned long long *reasons))

/* Drivers from 535 on have the last of those under this name, and may drop the old one. */
#define NVML_RENAMED_FUNCTIONS(X) \
    X(held_renamed, nvmlDeviceGetCurrentClocksEventReasons, (nvml_device device, \
      unsigned long long *reasons))
/* clang-format on */

#endif
