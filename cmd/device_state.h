/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a device is, as answers tell it. */
#ifndef WEIR_CMD_DEVICE_STATE_H
#define WEIR_CMD_DEVICE_STATE_H

#include "cmd/json.h"
#include "replay/device_state.h"

/** An object of all that is known, {} when nothing is. */
void device_state_json(struct json *json, const char *name, const struct device_state *state);
/** What is known, then what should be looked at, each on a line of its own.
 *  @param first in front of the first line  @param indent in front of others */
void device_state_print(const char *first, const char *indent, const struct device_state *state);

#endif
