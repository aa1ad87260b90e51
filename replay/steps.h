/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every device does with its steps: take them, and write what became of them. */
#ifndef WEIR_REPLAY_STEPS_H
#define WEIR_REPLAY_STEPS_H

#include "replay/device.h"

/** Checks the next step against what was announced, and copies it with its lists.
 *  @param n_taken so many were taken before  @param arena owns the lists
 *  @return WEIR_OK; WEIR_INPUT; WEIR_MEMORY */
MUST_CHECK enum weir_status steps_take(const struct device_setup *setup, uint32_t n_taken,
                                       const struct step *given, struct arena *arena,
                                       struct step *out, struct weir_error *err);

struct steps_span {
    int64_t start_ns, finish_ns;
    uint32_t step; /* settles ties */
    weir_node node;
};

/** Writes the spans of all that ran, their order and the makespan; sorts the list. */
void steps_write_spans(struct steps_span *spans, uint32_t n, enum time_source source,
                       struct timeline *out);

/** From the first byte of the first stretch to the last of the last, which lie side by side. */
int64_t steps_stretch_bytes(const struct step_buffer *stretches, uint32_t n);

#endif
