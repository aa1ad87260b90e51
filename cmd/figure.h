/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a figure, which a script of plots/ draws: one row a mark, times in nanoseconds and
 * sizes in bytes, columns by tabs under a row of names. What has to be known of the picture's size
 * is decided here: which node gets which row and which colour, which labels fit, and which bars are
 * too narrow to be told apart. */
#ifndef WEIR_CMD_FIGURE_H
#define WEIR_CMD_FIGURE_H

#include "store/store.h"

enum figure_kind { FIGURE_TIMELINE, FIGURE_PRESSURE, FIGURE_COMPARE };

struct figure_options {
    enum figure_kind kind;
    bool is_png; /* else SVG */
    uint32_t width_px;
    int64_t from_ns,
        to_ns; /* the window that is drawn; -1: from the first start, to the last end */
};

/* A run to draw. Its times and bytes are multiplied by the scales, 1 mostly. */
struct figure_run {
    const struct stored_run *stored;
    double time_scale, byte_scale;
};

/** Writes the tables that the script of that kind reads into the folder: one run for a timeline or
 *  pressure, two for a comparison. WEIR_INPUT when nothing of the run lies in the window,
 *  WEIR_STORE, WEIR_MEMORY. */
MUST_CHECK enum weir_status figure_write(const struct figure_options *options,
                                         const struct figure_run *runs, const char *folder,
                                         struct weir_error *err);

#endif
