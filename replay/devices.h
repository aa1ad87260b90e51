/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The devices of the registry. */
#ifndef WEIR_REPLAY_DEVICES_H
#define WEIR_REPLAY_DEVICES_H

#include "replay/device.h"

extern const struct device_ops device_host, device_cuda;

#endif
