/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The name of the CUDA device, which this version of Weir knows and does not have: probing says so,
 * and it cannot be opened. */
#include <stdio.h>
#include <string.h>

#include "replay/devices.h"

static const char why_not[] = "this version of Weir has no CUDA device: it neither opens the "
                              "driver nor holds kernels for it; use --device host";

static enum weir_status cuda_probe(struct device_info *out, struct weir_error *err)
{
    (void)err;
    memset(out, 0, sizeof *out);
    (void)snprintf(out->name, sizeof out->name, "CUDA GPU");
    (void)snprintf(out->why_not, sizeof out->why_not, "%s", why_not);
    return WEIR_OK;
}

static enum weir_status cuda_open(const struct device_setup *setup, struct device **out,
                                  struct weir_error *err)
{
    (void)setup;
    (void)out;
    return weir_error_set(err, WEIR_DEVICE, "%s", why_not);
}

const struct device_ops device_cuda = {
    .name = "cuda",
    .clock = "none",
    .probe = cuda_probe,
    .open = cuda_open,
};
