/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps every object where the graph puts it: adds nothing, moves nothing. The policy to read first,
 * and the one that others are compared with. */
#include "policies/builtin.h"

const struct weir_policy policy_retain = {
    .version = WEIR_POLICY_VERSION,
    .size = sizeof(struct weir_policy),
    .name = "retain",
    .summary = "keep every object where the graph puts it; adds nothing",
};
