/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device's steps become in a timeline, and what its devices ask of a step alike. */
#ifndef WEIR_REPLAY_SPANS_H
#define WEIR_REPLAY_SPANS_H

#include "replay/device.h"

struct spans_item {
    int64_t start_ns, finish_ns;
    uint32_t step; /* settles ties */
    weir_node node;
};

/** Writes the spans of all that ran, their order and the makespan; sorts the items. */
void spans_write(struct spans_item *items, uint32_t n, enum time_source source,
                 struct timeline *out);

/** From the first byte of the first stretch to the last of the last, which lie side by side. */
int64_t spans_stretch_bytes(const struct step_buffer *stretches, uint32_t n);

#endif
