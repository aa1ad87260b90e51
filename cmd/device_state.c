/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures by their names, what holds clocks down, and the notes, line by line. */
#include "cmd/device_state.h"

#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 1500

static void write_notes(struct json *json, const struct device_state *state)
{
    char text[TEXT_BYTES], *rest = text;

    (void)device_state_notes(state, text, sizeof text);
    if (text[0] == '\0')
        return;
    json_open_array(json, "notes");
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        json_text(json, NULL, line);
    json_close_array(json);
}

void device_state_json(struct json *json, const char *name, const struct device_state *state)
{
    json_open_object(json, name);
    if (state->driver_version[0] != '\0')
        json_text(json, "driver_version", state->driver_version);
    for (int i = 0; i < DEVICE_FIGURES; i++) {
        if (state->figures[i] != DEVICE_UNKNOWN)
            json_ratio(json, device_figure_name((enum device_figure)i),
                       device_figure_value(state, (enum device_figure)i));
    }
    if (state->knows_held) {
        json_open_array(json, "clocks_held_by");
        for (int i = 0; i < DEVICE_HELDS; i++) {
            if ((state->held & DEVICE_HELD_BIT(i)) != 0)
                json_text(json, NULL, device_held_name((enum device_held)i));
        }
        json_close_array(json);
    }
    if (state->share != DEVICE_SHARE_UNKNOWN)
        json_boolean(json, "is_mig", state->share == DEVICE_DIVIDED);
    if (state->compute_mode != NULL)
        json_text(json, "compute_mode", state->compute_mode);
    write_notes(json, state);
    json_close_object(json);
}

void device_state_print(const char *first, const char *indent, const struct device_state *state)
{
    char text[TEXT_BYTES], *rest = text;

    if (device_state_text(state, text, sizeof text)[0] != '\0') {
        printf("%s%s\n", first, text);
        first = indent;
    }
    (void)device_state_notes(state, text, sizeof text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        printf("%s%s\n", first, line);
        first = indent;
    }
}
