/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The devices that this binary knows, and finding one. */
#include "replay/device.h"

#include <string.h>

#include "replay/devices.h"

static const char *const mode_names[] = {"gated", "stream", "paced", "serial"};
static const char *const storage_names[] = {"fitting", "apart", "arena", "pool"};

/* @return the place of the name in the list; n when it is not there */
static int find_name(const char *name, const char *const *names, int n)
{
    int i = 0;

    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *device_mode_name(enum device_mode mode)
{
    return mode_names[mode];
}

bool device_mode_from(const char *name, enum device_mode *out)
{
    int i = find_name(name, mode_names, DEVICE_SERIAL + 1);

    *out = (enum device_mode)i;
    return i <= DEVICE_SERIAL;
}

const char *device_storage_name(enum device_storage storage)
{
    return storage_names[storage];
}

bool device_storage_from(const char *name, enum device_storage *out)
{
    int i = find_name(name, storage_names, DEVICE_POOL + 1);

    *out = (enum device_storage)i;
    return i <= DEVICE_POOL;
}

const struct device_ops *const *device_registry(void)
{
    static const struct device_ops *const devices[] = {&device_host, &device_cuda, NULL};

    return devices;
}

enum weir_status device_find(const char *name, const struct device_ops **out,
                             struct weir_error *err)
{
    char known[128] = "";
    size_t used = 0;

    for (const struct device_ops *const *each = device_registry(); *each != NULL; each++) {
        if (strcmp((*each)->name, name) == 0) {
            *out = *each;
            return WEIR_OK;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ",
                                 (*each)->name);
    }
    return weir_error_set(err, WEIR_USAGE, "there is no device '%s'; there are: %s", name, known);
}

enum weir_status device_find_ready(const char *name, const struct device_ops **out,
                                   struct device_info *info, struct weir_error *err)
{
    const struct device_ops *found;
    struct device_info about;
    enum weir_status status = device_find(name, &found, err);

    if (status == WEIR_OK)
        status = found->probe(&about, err);
    if (status != WEIR_OK)
        return status;
    if (about.why_not[0] != '\0')
        return weir_error_set(err, WEIR_DEVICE, "device '%s' is not available: %s", name,
                              about.why_not);
    *out = found;
    *info = about;
    return WEIR_OK;
}
