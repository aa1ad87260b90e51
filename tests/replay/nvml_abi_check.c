/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: every name, type and number that Weir declares of NVML, held against NVIDIA's
 * header. */
#include <nvml.h>
#include <stddef.h>

#define WEIR_NVML_TYPES
typedef nvmlReturn_t nvml_result;
typedef nvmlClockType_t nvml_clock;
typedef nvmlTemperatureSensors_t nvml_sensor;
typedef nvmlPerfPolicyType_t nvml_policy;
typedef nvmlDevice_t nvml_device;
typedef nvmlViolationTime_t nvml_violation;

#include "replay/cuda_nvml_abi.h"

/* Later versions call some of these old; they are asked for under the names that all have. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define COMPARE(field, symbol, parameters)         \
    extern nvml_result(*check_##field) parameters; \
    nvml_result(*check_##field) parameters = symbol;
NVML_REQUIRED_FUNCTIONS(COMPARE)
NVML_OPTIONAL_FUNCTIONS(COMPARE)
#ifdef nvmlClocksEventReasonGpuIdle
NVML_RENAMED_FUNCTIONS(COMPARE)
#endif

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours " is " #theirs)
SAME(NVML_OK, NVML_SUCCESS);
SAME(NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME(NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME(NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
SAME(NVML_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME(NVML_CLOCK_OF_SM, NVML_CLOCK_SM);
SAME(NVML_CLOCK_OF_MEMORY, NVML_CLOCK_MEM);
SAME(NVML_SENSOR_OF_GPU, NVML_TEMPERATURE_GPU);
SAME(NVML_POLICY_OF_POWER, NVML_PERF_POLICY_POWER);
SAME(NVML_POLICY_OF_HEAT, NVML_PERF_POLICY_THERMAL);
SAME(NVML_IS_ENABLED, NVML_DEVICE_MIG_ENABLE);
SAME(NVML_HELD_IDLE, nvmlClocksThrottleReasonGpuIdle);
SAME(NVML_HELD_SETTING, nvmlClocksThrottleReasonApplicationsClocksSetting);
SAME(NVML_HELD_POWER_CAP, nvmlClocksThrottleReasonSwPowerCap);
SAME(NVML_HELD_HARDWARE, nvmlClocksThrottleReasonHwSlowdown);
SAME(NVML_HELD_SYNC_BOOST, nvmlClocksThrottleReasonSyncBoost);
SAME(NVML_HELD_HEAT, nvmlClocksThrottleReasonSwThermalSlowdown);
SAME(NVML_HELD_HARDWARE_HEAT, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME(NVML_HELD_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME(NVML_HELD_DISPLAY, nvmlClocksThrottleReasonDisplayClockSetting);

/* Where the fields of what is written stand. */
struct ours {
    unsigned long long at_us, held_ns;
};
SAME(sizeof(struct ours), sizeof(nvmlViolationTime_t));
SAME(offsetof(struct ours, held_ns), offsetof(nvmlViolationTime_t, violationTime));
