/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings in the answers of verbs; those of a run. */
#ifndef WEIR_CMD_FINDINGS_H
#define WEIR_CMD_FINDINGS_H

#include "cmd/json.h"
#include "store/store.h"

/** The list `findings` of the object that is open: code, severity, names, message, remedy, and the
 *  place in a file where there is one. */
void cmd_json_findings(struct json *json, const struct report *report);

/** What is wrong with the schedule of a simulation, judged under the contention that its settings
 *  name: judge/modes.h. @param links its critical chain  @param most_shown of each kind
 *  @param report the caller frees it, also after a failure
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status cmd_find_modes(const struct run *run, const struct binding *binding,
                                           const struct run_link *links, size_t n_links,
                                           uint32_t most_shown, struct report **report,
                                           struct weir_error *err);

#endif
