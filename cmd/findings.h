/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings in the answers of verbs. */
#ifndef WEIR_CMD_FINDINGS_H
#define WEIR_CMD_FINDINGS_H

#include "cmd/json.h"
#include "graph/report.h"

/** The list `findings` of the object that is open: code, severity, names, message, remedy, and the
 *  place in a file where there is one. */
void cmd_json_findings(struct json *json, const struct report *report);

#endif
