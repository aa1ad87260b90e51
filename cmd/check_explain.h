/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir check --explain: what the codes of findings mean. */
#ifndef WEIR_CMD_CHECK_EXPLAIN_H
#define WEIR_CMD_CHECK_EXPLAIN_H

#include "cmd/cmd.h"

/** Prints the explanation of that code, or the list of all when @p name is NULL. WEIR_USAGE when
 *  there is no such code, with the nearest one. */
MUST_CHECK enum weir_status check_explain(const char *name, bool is_json, struct weir_error *err);

#endif
