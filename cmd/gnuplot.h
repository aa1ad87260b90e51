/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot as a child process, found in PATH at run time. */
#ifndef WEIR_CMD_GNUPLOT_H
#define WEIR_CMD_GNUPLOT_H

#include "base/attributes.h"

/** Runs `gnuplot -d SCRIPT` in the folder: what it is given are files there and nothing else, and its
 *  messages go to FOLDER/gnuplot.log. @param script a plain file name
 *  @return WEIR_OK when it ended well; WEIR_DEVICE when there is no gnuplot, or it failed: the
 *  message then holds the first line that it wrote */
MUST_CHECK enum weir_status gnuplot_run(const char *folder, const char *script,
                                        struct weir_error *err);

#endif
