/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long actions take alone, and beside another, measured by running small plans on the device:
 * what is measured is what a replay does. */
#ifndef WEIR_REPLAY_MEASURE_H
#define WEIR_REPLAY_MEASURE_H

#include "replay/device.h"

/* What is measured. */
struct measure_action {
    enum step_action action; /* compute, stream or copy */
    int64_t window_bytes;    /* of a copy: the size of its two buffers */
    weir_domain from, to;    /* of a copy */
};

/* An action of that amount takes fixed_ns + amount * unit_ns alone. */
struct measure_rate {
    double fixed_ns, unit_ns;
    double spread_ratio;    /* of one measurement about the line */
    double preempted_ratio; /* part of the measurements in which the thread lost its processor */
    uint32_t n_samples;     /* that the line rests on */
};

/** Was the thread that ran the action off its processor meanwhile? @param processor_ns -1 unknown:
 *  then no */
bool measure_is_preempted(int64_t wall_ns, int64_t processor_ns);

/** Measures durations from some tens of microseconds to @p longest_ns (a copy moves its buffer at
 *  least once). WEIR_DEVICE when the device fails or gives no line. */
MUST_CHECK enum weir_status measure_rate(const struct device_ops *ops,
                                         const struct measure_action *action, int64_t longest_ns,
                                         struct measure_rate *out, struct weir_error *err);

/** The amount that takes that long alone, at least 1. */
int64_t measure_amount(const struct measure_rate *rate, double duration_ns);

/** Copies once through buffers of each of the sizes, in turn, so that none is in a cache:
 *  duration = latency (fixed_ns) + bytes * unit_ns. */
MUST_CHECK enum weir_status measure_copies(const struct device_ops *ops, weir_domain from,
                                           weir_domain to, const int64_t *sizes, uint32_t n_sizes,
                                           uint32_t n_repeats, struct measure_rate *out,
                                           struct weir_error *err);

/* Copies from one domain to another, and how much memory copies use in each, in turn: as much of a
 * buffer is still in a cache when it is used again as that leaves there. */
struct measure_direction {
    weir_domain from, to;
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
    double factor;          /* how many times longer the action takes beside the other */
    double spread_ratio;    /* of one measurement beside the other */
    double preempted_ratio; /* as above */
    uint32_t n_samples;
};

/** How much longer an action of about @p duration_ns takes while another queue does nothing but the
 *  other. Needs two processors. */
MUST_CHECK enum weir_status
measure_kappa(const struct device_ops *ops, const struct measure_action *action,
              const struct measure_rate *rate, const struct measure_action *beside,
              const struct measure_rate *beside_rate, int64_t duration_ns, uint32_t n_repeats,
              struct measure_kappa *out, struct weir_error *err);

#endif
