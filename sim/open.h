/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The open engines, those with a free slot and a candidate, as a heap: the engine whose first
 * candidate comes first in dispatch order is at the root. Mostly there is one. */
#ifndef WEIR_SIM_OPEN_H
#define WEIR_SIM_OPEN_H

#include "sim/simulate_internal.h"

/* The engine, put at that place, rises to where it belongs. */
void open_rise(struct simulation *sim, uint32_t at, uint32_t index);
/* The root is gone: closes the gap. */
void open_sink_last(struct simulation *sim);

/** Puts the engine among the open ones if it has a free slot and a candidate, or to its new place
 *  when a candidate has come. */
static inline void open_offer(struct simulation *sim, uint32_t index)
{
    struct engine_state *engine = &sim->engines[index];

    if (engine->free_slots <= 0 || ready_n(&engine->queue) == 0) {
        return;
    }
    if (engine->open_at > 0) {
        open_rise(sim, engine->open_at - 1, index);
    } else if (sim->n_open > 0) {
        open_rise(sim, sim->n_open++, index);
    } else {
        sim->open[sim->n_open++] = index;
        engine->open_at = 1;
    }
}

/** Takes out the engine whose first candidate comes first; there must be one. */
static inline uint32_t open_take(struct simulation *sim)
{
    uint32_t first = sim->open[0];

    sim->engines[first].open_at = 0;
    if (--sim->n_open > 0) {
        open_sink_last(sim);
    }
    return first;
}

/** Puts the order right again after priorities of candidates were changed. */
MUST_CHECK enum weir_status open_reorder(struct simulation *sim);

#endif
