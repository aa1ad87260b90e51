/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the libraries, and telling apart why one cannot be used. What they answer is put into words in
 * cuda_results.c. */
#include "replay/cuda_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hardware queues: streams beyond that wait for each other though nothing says so. */
#define CONNECTIONS_NAME "CUDA_DEVICE_MAX_CONNECTIONS"
#define CONNECTIONS_TEXT "32"
#define CONNECTIONS_MOST 32

/* As the driver has them. */
_Static_assert(sizeof(cu_mem_pool_props) == 88, "cu_mem_pool_props");

/* A slot of a struct, and the symbol that goes there. */
struct slot {
    const char *symbol;
    size_t offset;
    bool is_required;
};

#define REQUIRED_CUDA(field, symbol, parameters) \
    {#symbol, offsetof(struct cuda_driver, field), true},
#define OPTIONAL_CUDA(field, symbol, parameters) \
    {#symbol, offsetof(struct cuda_driver, field), false},
#define REQUIRED_CUPTI(field, symbol, parameters) {#symbol, offsetof(struct cupti, field), true},
#define OPTIONAL_CUPTI(field, symbol, parameters) {#symbol, offsetof(struct cupti, field), false},
#define REQUIRED_NVML(field, symbol, parameters) {#symbol, offsetof(struct nvml, field), true},
#define OPTIONAL_NVML(field, symbol, parameters) {#symbol, offsetof(struct nvml, field), false},

static const struct slot cuda_slots[] = {CUDA_REQUIRED_FUNCTIONS(REQUIRED_CUDA)
                                             CUDA_OPTIONAL_FUNCTIONS(OPTIONAL_CUDA)};
static const struct slot cupti_slots[] = {CUPTI_REQUIRED_FUNCTIONS(REQUIRED_CUPTI)
                                              CUPTI_OPTIONAL_FUNCTIONS(OPTIONAL_CUPTI)};
static const struct slot nvml_slots[] = {NVML_REQUIRED_FUNCTIONS(
    REQUIRED_NVML) NVML_OPTIONAL_FUNCTIONS(OPTIONAL_NVML) NVML_RENAMED_FUNCTIONS(OPTIONAL_NVML)};

/* Fills the slots of a struct. @return the first required symbol that is missing, else NULL */
static const char *fill_slots(void *library, const struct slot *slots, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++) {
        void *found = dlsym(library, slots[i].symbol);

        if (found == NULL && slots[i].is_required) {
            return slots[i].symbol;
        }
        memcpy((char *)out + slots[i].offset, &found, sizeof found);
    }
    return NULL;
}

/* ---- the driver ---- */

/* Before the driver starts: functions are loaded when the module is, not at their first launch, which
 * would wait for a device that waits for the gate; and streams share no hardware queue. Who has said
 * otherwise is heeded. */
static void prepare(void)
{
    (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    (void)setenv(CONNECTIONS_NAME, CONNECTIONS_TEXT, 0);
}

uint32_t cuda_connections(void)
{
    const char *text = getenv(CONNECTIONS_NAME);
    long n = text == NULL ? CONNECTIONS_MOST : strtol(text, NULL, 10);

    return n < 1 || n > CONNECTIONS_MOST ? CONNECTIONS_MOST : (uint32_t)n;
}

bool cuda_load(struct cuda_driver *out, char why_not[CUDA_WHY_BYTES])
{
    void *opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *missing;
    cu_result result;

    if (opened == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "there is no CUDA driver: %.300s", dlerror());
        return false;
    }
    prepare();
    missing = fill_slots(opened, cuda_slots, sizeof cuda_slots / sizeof *cuda_slots, out);
    if (missing != NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "libcuda.so.1 has no %s: the driver is too old; one for CUDA 11.2 or later "
                       "is needed",
                       missing);
        return false;
    }
    result = out->init(0);
    if (result != GPU_SUCCESS) {
        cuda_say_why(out, result, "the driver does not start", why_not);
        return false;
    }
    if (out->driver_get_version(&out->version) != GPU_SUCCESS || out->version < 11020) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "the driver is for CUDA %d.%d: one for 11.2 or later is needed",
                       out->version / 1000, out->version % 1000 / 10);
        return false;
    }
    return true;
}

/* ---- CUPTI ---- */

/* The libcupti of one CUDA: where the dynamic linker looks, then where toolkits lie. */
static void *open_cupti_of(int major)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/",
                                          "/usr/local/cuda/extras/CUPTI/lib64/"};
    char path[80];
    void *opened = NULL;

    for (size_t i = 0; opened == NULL && i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, sizeof path, "%slibcupti.so.%d", folders[i], major);
        opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return opened;
}

bool cupti_load(int driver_version, struct cupti *out, char why_not[CUDA_WHY_BYTES])
{
    static const int majors[] = {13, 12};
    void *opened = NULL;
    const char *missing;

    for (size_t i = 0; opened == NULL && i < sizeof majors / sizeof *majors; i++) {
        if (majors[i] <= driver_version / 1000) {
            opened = open_cupti_of(majors[i]);
        }
    }
    if (opened == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "there is no libcupti.so.13 or .12 that goes with a driver for CUDA %d.%d: "
                       "install CUPTI (the toolkit has it), or add its folder to LD_LIBRARY_PATH",
                       driver_version / 1000, driver_version % 1000 / 10);
        return false;
    }
    missing = fill_slots(opened, cupti_slots, sizeof cupti_slots / sizeof *cupti_slots, out);
    if (missing != NULL || out->get_version(&out->version) != CUPTI_OK) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "CUPTI is too old: it %s; that of CUDA 12 or later is needed",
                       missing != NULL ? "lacks functions" : "does not tell its version");
        return false;
    }
    return true;
}

/* ---- NVML ---- */

static void say_nvml_refused(nvml_result result, char *why_not)
{
    const char *meaning = result == NVML_DRIVER_NOT_LOADED ? "the driver is not loaded"
                          : result == NVML_NO_PERMISSION   ? "this user may not talk to the driver"
                          : result == NVML_VERSION_MISMATCH
                              ? "it and the driver in the kernel are not of one version"
                              : "it does not say more";

    (void)snprintf(why_not, CUDA_WHY_BYTES, "NVML does not start (%d): %s", result, meaning);
}

bool nvml_load(const char *bus, struct nvml *out, char why_not[CUDA_WHY_BYTES])
{
    void *opened = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *missing;
    nvml_result result;

    if (opened == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "there is no NVML (libnvidia-ml.so.1), which comes with the driver: a "
                       "container needs the capability utility");
        return false;
    }
    missing = fill_slots(opened, nvml_slots, sizeof nvml_slots / sizeof *nvml_slots, out);
    if (missing != NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "NVML is too old: it has no %s", missing);
        return false;
    }
    result = out->init();
    if (result != NVML_OK) {
        say_nvml_refused(result, why_not);
        return false;
    }
    result = out->device_by_bus(bus, &out->device);
    if (result != NVML_OK) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "NVML does not show the GPU at %.40s (%d)", bus,
                       result);
        return false;
    }
    return true;
}
