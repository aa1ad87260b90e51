/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On which device a replay ran: whoever shows one says so, lest one on a stand-in pass for a GPU's. */
#include "cmd/replayed.h"

#include "judge/settings.h"

const char *replayed_device(const struct run *run, char *out)
{
    char device[40], name[REPLAYED_DEVICE_BYTES - 50];

    out[0] = '\0';
    if (run->kind == RUN_REPLAY && settings_has(run->settings, "device"))
        (void)snprintf(out, REPLAYED_DEVICE_BYTES, " on %s (%s)",
                       settings_text(run->settings, "device", device, sizeof device),
                       settings_text(run->settings, "device_name", name, sizeof name));
    return out;
}

void replayed_json_device(struct json *json, const struct run *run)
{
    static const char *const keys[] = {"device", "device_name"};
    char text[REPLAYED_DEVICE_BYTES];

    for (int i = 0; i < 2; i++) {
        if (run->kind == RUN_REPLAY && settings_has(run->settings, keys[i]))
            json_text(json, keys[i], settings_text(run->settings, keys[i], text, sizeof text));
        else
            json_null(json, keys[i]);
    }
}
