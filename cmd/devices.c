/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir devices: what a replay can run on here. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/device_state.h"
#include "replay/device.h"

extern const struct cmd_verb cmd_verb_devices;

static const char usage[] =
    "usage: weir devices [--json]\n\n"
    "Lists the devices that this program knows: what each is, and, of one that a replay cannot\n"
    "run on here, why not.\n\n"
    "example:\n"
    "  weir devices\n";

static void print_json(struct json *json, const struct device_ops *ops,
                       const struct device_info *info)
{
    bool is_available = info->why_not[0] == '\0';

    json_open_object(json, NULL);
    json_text(json, "device", ops->name);
    json_boolean(json, "available", is_available);
    if (is_available) {
        json_text(json, "name", info->name);
        json_integer(json, "processors", info->n_processors);
        json_integer(json, "memory_bytes", info->memory_bytes);
        json_text(json, "clock", ops->clock);
        if (info->abilities[0] != '\0')
            json_text(json, "abilities", info->abilities);
        if (ops->has_modes)
            device_state_json(json, "state", &info->state);
    } else {
        json_text(json, "why_not", info->why_not);
    }
    json_close_object(json);
}

static void print_text(const struct device_ops *ops, const struct device_info *info)
{
    char memory[NUMBER_TEXT_BYTES];

    if (info->why_not[0] != '\0') {
        printf("%-6s not available: %s\n", ops->name, info->why_not);
        return;
    }
    number_size_text(info->memory_bytes, memory);
    printf("%-6s %s; %s of memory free\n", ops->name, info->name, memory);
    if (info->abilities[0] != '\0')
        printf("       %s\n", info->abilities);
    device_state_print("       ", "       ", &info->state);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    const struct cmd_option options[] = {{.name = NULL}};
    struct json json = {.file = stdout};
    struct cmd_common common;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_devices, argc, argv, options, &common, NULL, 0, 0,
                                        &n_operands, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done)
        return status;
    if (common.is_json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "devices");
    }
    for (const struct device_ops *const *each = device_registry(); *each != NULL; each++) {
        struct device_info info;

        status = (*each)->probe(&info, err);
        if (status != WEIR_OK)
            return status;
        if (common.is_json)
            print_json(&json, *each, &info);
        else
            print_text(*each, &info);
    }
    if (common.is_json) {
        json_close_array(&json);
        json_close_object(&json);
    }
    return WEIR_OK;
}

const struct cmd_verb cmd_verb_devices = {
    .name = "devices",
    .summary = "list the devices that a replay can run on",
    .usage = usage,
    .run = run,
};
