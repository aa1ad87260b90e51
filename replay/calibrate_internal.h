/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of calibration share. */
#ifndef WEIR_REPLAY_CALIBRATE_INTERNAL_H
#define WEIR_REPLAY_CALIBRATE_INTERNAL_H

#include "replay/calibrate.h"

#define CALIBRATE_PAIR_NS 1000000 /* of each action of a pair, or of a set */

/** What a node of the class does. */
struct measure_action calibrate_action(enum calibrate_class class_);
/** So many steps of the calibration are done. */
void calibrate_tell(const struct calibrate_options *options, const struct calibration *c,
                    uint32_t done);
/** No more digits than the measurement has. */
int64_t calibrate_rounded(double rate);
/** @param range "bandwidth 9.8..10.1 GB/s": the 95 % intervals */
MUST_CHECK enum weir_status calibrate_evidence(struct graph *graph, const struct calibration *c,
                                               const char *what, const struct measure_noise *noise,
                                               const char *range, struct graph_evidence *out,
                                               struct weir_error *err);

/** How many sets of more than two the device has processors for. */
uint32_t calibrate_count_sets(const struct calibration *c);
MUST_CHECK enum weir_status calibrate_measure_sets(const struct calibrate_options *options,
                                                   struct calibration *c, struct weir_error *err);
/** Fits the families to pairs and sets, and judges them by the sets that no fit saw. */
MUST_CHECK enum weir_status calibrate_fit_sets(struct calibration *c, struct weir_error *err);
/** Adds resources and `param` lines. */
MUST_CHECK enum weir_status calibrate_add_fitted(struct graph *graph, const struct calibration *c,
                                                 struct weir_error *err);

#endif
