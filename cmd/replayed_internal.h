/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files behind replayed.h share. */
#ifndef WEIR_CMD_REPLAYED_INTERNAL_H
#define WEIR_CMD_REPLAYED_INTERNAL_H

#include "base/number.h"
#include "cmd/replayed.h"

#define REPLAYED_TIME_BYTES (NUMBER_TEXT_BYTES + 1)

/** What the replay did with the node; NULL: it did not run. */
const struct run_action *replayed_action(const struct run *run, weir_node node);
/** deviation_ns and its four parts. */
void replayed_json_parts(struct json *json, const struct deviation *parts);
/** 1.5 ms, with its sign. */
const char *replayed_time(int64_t ns, char out[REPLAYED_TIME_BYTES]);

#endif
