/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line on a terminal that tells how far something is that takes longer than a second. */
#ifndef WEIR_CMD_PROGRESS_H
#define WEIR_CMD_PROGRESS_H

#include <stdint.h>

#include "cmd/cmd.h"

struct progress {
    const char *what; /* "calibrating"; NULL: nothing is shown */
    int64_t begin_ns;
    int shown_percent; /* -1: nothing yet */
};

/** Nothing is shown when standard error is no terminal, or the user wants quiet. */
void progress_begin(struct progress *progress, const struct cmd_context *context, const char *what,
                    bool is_quiet);
/** Shows the line again. @param arg a struct progress  @param part 0 to 1 */
void progress_show(void *arg, double part);
/** Takes the line away. */
void progress_end(struct progress *progress);

#endif
