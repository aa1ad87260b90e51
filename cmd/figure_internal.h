/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A figure in the making: what is drawn, and where. Shared by the files that lay it out and the one
 * that writes it. */
#ifndef WEIR_CMD_FIGURE_INTERNAL_H
#define WEIR_CMD_FIGURE_INTERNAL_H

#include "cmd/figure.h"

#define FIGURE_COLOURS 8     /* of plots/figure.gp; the last is for all classes that get none */
#define FIGURE_NAME_CHARS 60 /* of a name that is shown; longer ones are cut */

/* One span, or a stretch of whole pixels with several that are too narrow to be told apart. */
struct figure_bar {
    int64_t start_ns, finish_ns;
    weir_node node;        /* none when several */
    uint32_t lane;         /* of struct figure */
    uint32_t row;          /* within its lane */
    uint32_t colour;       /* at first the class as numbered in figure_classes */
    uint32_t side;         /* which run */
    uint32_t order;        /* in which the spans started */
    uint32_t busy_percent; /* of the stretch, to the next of 20 steps; 100 for one span */
};

/* The rows of one engine of one run. */
struct figure_lane {
    const char *name; /* of the engine; "" for nodes without one */
    uint32_t side;
    uint32_t first_row, n_rows;
};

/* A class, or a kind for nodes without one, over all runs. */
struct figure_class {
    const char *name;
    int64_t busy_ns;
    uint32_t colour;
};

struct figure {
    const struct figure_options *options;
    const struct figure_run *runs;
    uint32_t n_runs;
    int64_t begin_ns, end_ns; /* of the time axis */
    uint32_t width_px, height_px, left_px, row_px;
    struct figure_bar *bars; /* by lane, row and start */
    uint32_t n_bars;
    struct figure_lane *lanes; /* from the top; those without a bar are left out */
    uint32_t n_lanes, n_rows;
    struct figure_class *classes; /* by colour; the last may be "other" */
    uint32_t n_classes;
};

#define FIGURE_RIGHT_PX 24

/** Width of the part where time runs. */
static inline uint32_t figure_time_px(const struct figure *figure)
{
    return figure->width_px - figure->left_px - FIGURE_RIGHT_PX;
}

/** A time or a size of that run, on the figure's scale. */
int64_t figure_time(const struct figure *figure, uint32_t side, int64_t ns);
int64_t figure_bytes(const struct figure *figure, uint32_t side, int64_t bytes);

/** The window: from the options, else all that ran. WEIR_INPUT when it is empty. */
MUST_CHECK enum weir_status figure_window(struct figure *figure, struct weir_error *err);
/** Bars with lanes, rows and colours; classes. */
MUST_CHECK enum weir_status figure_lay_out(struct figure *figure, struct weir_error *err);
/** Joins bars of less than a pixel, when there are many. */
void figure_join_narrow(struct figure *figure);
void figure_free(struct figure *figure);

/** Writes every table. */
MUST_CHECK enum weir_status figure_tables(const struct figure *figure, const char *folder,
                                          struct weir_error *err);

/** The name beside the lane. */
const char *figure_lane_name(const struct figure_lane *lane);

#endif
