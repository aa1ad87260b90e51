/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the libraries, and telling apart why one cannot be used. */
#include "replay/cuda_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

static const struct slot cuda_slots[] = {CUDA_REQUIRED_FUNCTIONS(REQUIRED_CUDA)
                                             CUDA_OPTIONAL_FUNCTIONS(OPTIONAL_CUDA)};
static const struct slot cupti_slots[] = {CUPTI_REQUIRED_FUNCTIONS(REQUIRED_CUPTI)
                                              CUPTI_OPTIONAL_FUNCTIONS(OPTIONAL_CUPTI)};

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

/* Why the driver did not initialize, and what to do. */
static void say_not_initialized(const struct cuda_driver *driver, cu_result result, char *why_not)
{
    char text[CUDA_WHY_BYTES];

    switch (result) {
    case GPU_STUB_LIBRARY:
        (void)snprintf(
            why_not, CUDA_WHY_BYTES,
            "the libcuda.so.1 that was found is the toolkit's stub, which only serves to "
            "link programs: take its folder out of LD_LIBRARY_PATH, or install the "
            "driver");
        break;
    case GPU_NO_DEVICE:
        (void)snprintf(
            why_not, CUDA_WHY_BYTES,
            "the driver sees no GPU: is one in the machine, given to this container, and "
            "not hidden by CUDA_VISIBLE_DEVICES?");
        break;
    case GPU_SYSTEM_DRIVER_MISMATCH:
    case GPU_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "%s: libcuda and the driver in the kernel are not of one version; load the "
                       "new driver (a restart does) or take the compatibility package out of the "
                       "path",
                       cuda_result_text(driver, result, text));
        break;
    default:
        (void)snprintf(why_not, CUDA_WHY_BYTES, "the driver does not start: %s",
                       cuda_result_text(driver, result, text));
        break;
    }
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
        say_not_initialized(out, result, why_not);
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

const char *cupti_result_text(const struct cupti *cupti, cupti_result result, char *out)
{
    const char *text = NULL;

    if (cupti->get_result_string(result, &text) != CUPTI_OK || text == NULL) {
        text = "an unknown result";
    }
    (void)snprintf(out, CUDA_WHY_BYTES, "%s (%d)", text, result);
    return out;
}

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
