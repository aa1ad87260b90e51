/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small plan that is run to measure its steps. */
#ifndef WEIR_REPLAY_MEASURE_INTERNAL_H
#define WEIR_REPLAY_MEASURE_INTERNAL_H

#include "replay/measure.h"

#define LINE_BYTES 64 /* loops and kernels go through as many at a time */

/* Steps of a plan in the making; node i is step i. */
struct trial {
    const struct device_ops *ops;
    struct device *device;
    struct timeline *timeline;
    struct device_setup setup;
    uint32_t n_steps;
};

MUST_CHECK enum weir_status trial_open(struct trial *trial, const struct device_ops *ops,
                                       uint32_t n_queues, uint32_t n_steps,
                                       const struct device_buffer *buffers, uint32_t n_buffers,
                                       struct weir_error *err);
void trial_close(struct trial *trial);
/** A buffer that is there before the run and carries no tags. */
struct device_buffer trial_buffer(int64_t size_bytes, struct place place);
struct trial_step {
    enum step_action action;
    uint32_t queue;
    int64_t amount;
    int64_t window_bytes;          /* of a copy */
    uint32_t source, target;       /* its buffers */
    const struct step_wait *waits; /* of several; it waits for its queue too */
    uint32_t n_waits;
};

MUST_CHECK enum weir_status trial_add(struct trial *trial, const struct trial_step *added,
                                      struct weir_error *err);
/** 1 or more. */
int64_t trial_duration_ns(const struct trial *trial, uint32_t step);
/** The duration without what other programs took of it; *n_preempted counts the steps they did. */
double trial_sample_ns(const struct trial *trial, uint32_t step, uint32_t *n_preempted);
/** The line through the durations of n steps from the first on. @param n_per_block 0: no intervals;
 *  else as of fit_line_interval  *out has no samples when there is none. */
MUST_CHECK enum weir_status trial_fit(const struct trial *trial, uint32_t first,
                                      const int64_t *amounts, uint32_t n, uint32_t n_per_block,
                                      struct measure_rate *out, struct weir_error *err);

/** The buffers of an action: two of a copy. @return how many there are */
uint32_t action_buffers(const struct measure_action *action, struct device_buffer out[2]);
/** A step of the action; buffers from first_buffer on are its own. */
struct trial_step action_step(const struct measure_action *action, uint32_t queue, int64_t amount,
                              uint32_t first_buffer);

#endif
