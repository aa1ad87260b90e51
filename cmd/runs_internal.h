/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of weir runs share. */
#ifndef WEIR_CMD_RUNS_INTERNAL_H
#define WEIR_CMD_RUNS_INTERNAL_H

#include "cmd/cmd.h"
#include "cmd/json.h"

/** "-" for an empty text. */
const char *runs_or_dash(const char *text);
/** What the list and one run have in common. */
void runs_json_row(struct json *json, const struct run_row *row);
/** Tells all of one run. @param wants_actions each action of a replay too */
MUST_CHECK enum weir_status runs_show(struct store *store, const char *name, bool wants_actions,
                                      const struct cmd_common *common, struct weir_error *err);

#endif
