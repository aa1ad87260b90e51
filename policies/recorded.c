/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives every start of the recording back: no node may start before it did when it was recorded.
 * What holds a node longer than that is what the graph does not understand of the run. */
#include "policies/builtin.h"

static enum weir_admission recorded_admit(void *state, const struct weir_view *view, weir_node node,
                                          int64_t *until_ns, const char **why)
{
    int64_t start_ns = view->recorded_start_ns(view, node);

    (void)state;
    if (start_ns <= view->now_ns) {
        return WEIR_ADMIT;
    }
    *until_ns = start_ns;
    *why = "it started then when it was recorded";
    return WEIR_HOLD;
}

const struct weir_policy policy_recorded = {
    .version = WEIR_POLICY_VERSION,
    .size = sizeof(struct weir_policy),
    .name = "recorded",
    .summary = "hold each node until the start that was recorded; needs a recorded run",
    .needs_recording = true,
    .admit = recorded_admit,
};
