/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long actions take alone, and beside another, measured by running small plans on the device:
 * what is measured is what a replay does. */
#ifndef WEIR_REPLAY_MEASURE_H
#define WEIR_REPLAY_MEASURE_H

#include "replay/device.h"
#include "replay/fit.h"
#include "replay/place.h"

/* What is measured. */
struct measure_action {
    enum step_action action; /* compute, stream or copy */
    int64_t window_bytes;    /* of a copy: the size of its two buffers */
    struct place from, to;   /* of a copy */
};

/* How far a figure can be trusted. */
struct measure_noise {
    double spread_ratio; /* of one measurement about the figure */
    double
        width_ratio; /* half of the 95 % interval, as a part of what it is of; 0: none is known */
    double preempted_ratio; /* part of the measurements in which the thread lost its processor */
    uint32_t n_samples;     /* that the figure rests on; 0: there is no figure */
};

/* An action of that amount takes fixed_ns + amount * unit_ns alone. */
struct measure_rate {
    double fixed_ns, unit_ns;
    struct fit_interval fixed_range_ns,
        unit_range_ns; /* 95 %; 0 to 0 where they were not asked for */
    struct measure_noise
        noise; /* its width: of unit_ns as a part of it, or of fixed_ns as a part of
                                   the shortest duration that was measured, whichever is more */
};

/* What is found out about a rate: with intervals it takes longer. */
enum measure_detail { MEASURE_LINE, MEASURE_INTERVALS };

/** Was the thread that ran the action off its processor meanwhile? @param processor_ns -1 unknown:
 *  then no */
bool measure_is_preempted(int64_t wall_ns, int64_t processor_ns);

/** Do the durations make a line? While others use the device they may make none: then what was
 *  measured is measured again, or refused with measure_no_line. */
bool measure_has_line(const struct measure_rate *rate);
/** @return WEIR_DEVICE */
MUST_CHECK enum weir_status measure_no_line(const struct device_ops *ops, struct weir_error *err);

/* How a device is right after some work, and what must be known of how it took its times: "" nothing. */
struct measure_condition {
    struct device_state state;
    char remark[600];
};
MUST_CHECK enum weir_status measure_condition(const struct device_ops *ops,
                                              struct measure_condition *out,
                                              struct weir_error *err);

/** Measures durations from some tens of microseconds to @p longest_ns (a copy moves its buffer at
 *  least once). @param n_repeats of each of six amounts, in turn; for intervals FIT_FEWEST_BLOCKS or
 *  more  WEIR_DEVICE when the device fails. */
MUST_CHECK enum weir_status measure_rate(const struct device_ops *ops,
                                         const struct measure_action *action, int64_t longest_ns,
                                         uint32_t n_repeats, enum measure_detail detail,
                                         struct measure_rate *out, struct weir_error *err);

/** The amount that takes that long alone, at least 1. */
int64_t measure_amount(const struct measure_rate *rate, double duration_ns);

/** Copies once through buffers of each of the sizes, in turn, so that none is in a cache:
 *  duration = latency (fixed_ns) + bytes * unit_ns, with intervals. @param n_repeats of each size, and
 *  a first that is left out; FIT_FEWEST_BLOCKS or more */
MUST_CHECK enum weir_status measure_copies(const struct device_ops *ops, struct place from,
                                           struct place to, const int64_t *sizes, uint32_t n_sizes,
                                           uint32_t n_repeats, struct measure_rate *out,
                                           struct weir_error *err);

/* Copies from one domain to another, and how much memory copies use in each, in turn: as much of a
 * buffer is still in a cache when it is used again as that leaves there. */
struct measure_direction {
    struct place from, to;
    int64_t from_bytes, to_bytes;
};

/** How long copies take through buffers of each of the sizes, of amounts from one pass on.
 *  @param out n_windows rates; duration = fixed_ns + amount * unit_ns holds for amounts of the window
 *  and more, and what the first pass takes longer than others is in fixed_ns */
MUST_CHECK enum weir_status measure_windows(const struct device_ops *ops,
                                            const struct measure_direction *direction,
                                            const int64_t *windows, uint32_t n_windows,
                                            struct measure_rate *out, struct weir_error *err);

struct measure_kappa {
    double factor; /* how many times longer the action takes beside the other */
    struct fit_interval range;
    struct measure_noise noise; /* of the factor of one block */
    double
        n_beside; /* how many of the others ran, on average, while the action did: fewer than there
                        are where they wait for each other, or it for them */
};

/* What runs, and how fast it is alone. */
struct measure_runner {
    struct measure_action action;
    const struct measure_rate *rate;
};
#define MEASURE_OTHERS 3 /* at most */

/** How much longer an action of about @p duration_ns takes while other queues do nothing but one of
 *  the others each: the median over blocks, in each of which it runs alone and then beside the others.
 *  @param n_others 1 to MEASURE_OTHERS  @param n_blocks FIT_FEWEST_BLOCKS or more  Needs a processor
 *  for each queue. */
MUST_CHECK enum weir_status measure_kappa(const struct device_ops *ops,
                                          const struct measure_runner *own,
                                          const struct measure_runner *others, uint32_t n_others,
                                          int64_t duration_ns, uint32_t n_blocks,
                                          struct measure_kappa *out, struct weir_error *err);

#endif
