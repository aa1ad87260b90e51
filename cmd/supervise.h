/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verbs that hold a device of its own run in a second process, the worker: a driver that hangs or
 * crashes takes that down and not the one that was called, which says what happened. */
#ifndef WEIR_CMD_SUPERVISE_H
#define WEIR_CMD_SUPERVISE_H

#include "cmd/cmd.h"

/** Must the verb go on in a worker? It must with a device that takes steps ahead of time, unless this
 *  is the worker. WEIR_USAGE when there is no such device. */
MUST_CHECK enum weir_status supervise_is_due(const struct cmd_context *context, const char *device,
                                             bool *is_due, struct weir_error *err);

/** Runs the verb again with the same words in a worker, which prints and stores what there is, and
 *  waits for it.
 *  @param silence the longest the worker may show no sign of life, as the user gave it; NULL: 5 min
 *  @return what the worker ended with, its message printed; WEIR_DEVICE when it was ended for its
 *  silence or died by a signal; WEIR_USAGE */
MUST_CHECK enum weir_status supervise(const char *verb, int argc, char **argv, const char *silence,
                                      struct weir_error *err);

#endif
