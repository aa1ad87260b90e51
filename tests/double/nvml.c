/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVML of a GPU that is not there: a library of its own, which tells of the double what the words of
 * WEIR_DOUBLE that begin with "nvml." say:
 *
 *   nvml.init=9           it does not start, and answers 9
 *   nvml.refuse=power     that figure is not supported; "all": none is
 *   nvml.lanes=8          a figure, by its name below
 *   nvml.held=4           why clocks are held down: NVIDIA's bits
 *   nvml.held_at=7        only at the 7th look; -7: from the 7th on
 *   nvml.looks=FILE       gets how often that was looked at
 *   nvml.held_ns.heat=50  each look finds them held for so much longer, since it is hot (power: by the
 *                         power limit)
 *
 * Nothing can be set. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_nvml_abi.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(field, symbol, parameters) EXPORT nvml_result symbol parameters;
NVML_REQUIRED_FUNCTIONS(DECLARE)
NVML_OPTIONAL_FUNCTIONS(DECLARE)
NVML_RENAMED_FUNCTIONS(DECLARE)

static int a_device;

/* A word that is not known ends the program. */
static void check_words(void)
{
    static const char *const names[] = {
        "init",       "refuse",          "driver",       "held",       "held_at",
        "looks",      "held_ns.power",   "held_ns.heat", "sm",         "most_sm",
        "memory",     "most_memory",     "temperature",  "power",      "power_limit",
        "generation", "most_generation", "lanes",        "most_lanes", "mig"};
    const char *at = getenv("WEIR_DOUBLE");

    while (at != NULL && (at = strstr(at, "nvml.")) != NULL) {
        size_t n = sizeof names / sizeof *names, i = 0;

        at += strlen("nvml.");
        while (i < n &&
               (strncmp(at, names[i], strlen(names[i])) != 0 || at[strlen(names[i])] != '='))
            i++;
        if (i == n) {
            fprintf(stderr, "WEIR_DOUBLE: what is 'nvml.%s'?\n", at);
            abort();
        }
    }
}

/* The value of a word, as text; NULL: it is not there. */
static const char *word(const char *name, char *out, size_t out_bytes)
{
    const char *text = getenv("WEIR_DOUBLE");
    char key[64];
    const char *at;

    (void)snprintf(key, sizeof key, "nvml.%s=", name);
    at = text == NULL ? NULL : strstr(text, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    (void)snprintf(out, out_bytes, "%.*s", (int)strcspn(at, ","), at);
    return out;
}

static long number(const char *name, long without)
{
    char text[32];

    return word(name, text, sizeof text) == NULL ? without : strtol(text, NULL, 0);
}

static nvml_result answer(nvml_device device, const char *name, unsigned without, unsigned *out)
{
    char refused[32];

    if ((void *)device != (void *)&a_device)
        return 2; /* invalid argument */
    if (word("refuse", refused, sizeof refused) != NULL &&
        (strcmp(refused, name) == 0 || strcmp(refused, "all") == 0))
        return NVML_NOT_SUPPORTED;
    *out = (unsigned)number(name, without);
    return NVML_OK;
}

nvml_result nvmlInit_v2(void)
{
    check_words();
    return (nvml_result)number("init", NVML_OK);
}

nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvml_device *device)
{
    if (strcmp(bus, "double") != 0)
        return 6; /* not found */
    *device = (nvml_device)(void *)&a_device;
    return NVML_OK;
}

nvml_result nvmlSystemGetDriverVersion(char *version, unsigned room)
{
    unsigned unused;
    nvml_result result = answer((nvml_device)(void *)&a_device, "driver", 0, &unused);

    if (result == NVML_OK)
        (void)snprintf(version, room, "580.0.double");
    return result;
}

static void tell_looks(long n_looks)
{
    char path[256];
    FILE *file = word("looks", path, sizeof path) == NULL ? NULL : fopen(path, "w");

    if (file != NULL) {
        fprintf(file, "%ld\n", n_looks);
        (void)fclose(file);
    }
}

nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device,
                                                      unsigned long long *reasons)
{
    static long n_looks;
    long at = number("held_at", -1);
    unsigned bits = 0;
    nvml_result result = answer(device, "held", NVML_HELD_IDLE, &bits);

    n_looks++;
    tell_looks(n_looks);
    *reasons = (at < 0 ? n_looks >= -at : n_looks == at) ? bits : NVML_HELD_IDLE;
    return result;
}

nvml_result nvmlDeviceGetViolationStatus(nvml_device device, nvml_policy which,
                                         nvml_violation *violation)
{
    static unsigned long long n_looks[2];
    unsigned each_ns = 0;
    nvml_result result =
        which == NVML_POLICY_OF_POWER  ? answer(device, "held_ns.power", 0, &each_ns)
        : which == NVML_POLICY_OF_HEAT ? answer(device, "held_ns.heat", 0, &each_ns)
                                       : NVML_NOT_SUPPORTED;

    if (result == NVML_OK)
        violation->held_ns = ++n_looks[which] * each_ns;
    return result;
}

#ifndef DOUBLE_IS_OLD

nvml_result nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
    return nvmlDeviceGetCurrentClocksThrottleReasons(device, reasons);
}

#endif

nvml_result nvmlDeviceGetClockInfo(nvml_device device, nvml_clock which, unsigned *mhz)
{
    return which == NVML_CLOCK_OF_SM ? answer(device, "sm", 345, mhz)
                                     : answer(device, "memory", 1593, mhz);
}

nvml_result nvmlDeviceGetMaxClockInfo(nvml_device device, nvml_clock which, unsigned *mhz)
{
    return which == NVML_CLOCK_OF_SM ? answer(device, "most_sm", 2000, mhz)
                                     : answer(device, "most_memory", 3201, mhz);
}

nvml_result nvmlDeviceGetTemperature(nvml_device device, nvml_sensor which, unsigned *degrees)
{
    return which == NVML_SENSOR_OF_GPU ? answer(device, "temperature", 41, degrees)
                                       : NVML_NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetPowerUsage(nvml_device device, unsigned *mw)
{
    return answer(device, "power", 75500, mw);
}

nvml_result nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *mw)
{
    return answer(device, "power_limit", 700000, mw);
}

nvml_result nvmlDeviceGetCurrPcieLinkGeneration(nvml_device device, unsigned *generation)
{
    return answer(device, "generation", 5, generation);
}

nvml_result nvmlDeviceGetCurrPcieLinkWidth(nvml_device device, unsigned *lanes)
{
    return answer(device, "lanes", 16, lanes);
}

nvml_result nvmlDeviceGetMaxPcieLinkGeneration(nvml_device device, unsigned *generation)
{
    return answer(device, "most_generation", 5, generation);
}

nvml_result nvmlDeviceGetMaxPcieLinkWidth(nvml_device device, unsigned *lanes)
{
    return answer(device, "most_lanes", 16, lanes);
}

nvml_result nvmlDeviceGetMigMode(nvml_device device, unsigned *now, unsigned *pending)
{
    *pending = 0;
    return answer(device, "mig", 0, now);
}
