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
/* The two below, for an engine of which some nodes lack bytes. */
void open_offer_lacking(struct simulation *sim, uint32_t index);
bool open_take_lacking(struct simulation *sim, struct candidate *first);

/** Puts the engine among the open ones if it has a free slot and a candidate, or to its new place
 *  when a candidate has come. */
static inline void open_offer(struct simulation *sim, uint32_t index)
{
    struct engine_state *engine = &sim->engines[index];

    if (engine->free_slots <= 0) {
        return;
    }
    if (engine->n_shelved > 0) {
        open_offer_lacking(sim, index);
    } else if (ready_n(&engine->queue) == 0) {
        return;
    } else if (engine->open_at > 0) {
        open_rise(sim, engine->open_at - 1, index);
    } else if (sim->n_open > 0) {
        open_rise(sim, sim->n_open++, index);
    } else {
        sim->open[sim->n_open++] = index;
        engine->open_at = 1;
    }
}

/** Takes out the first candidate of all and the engine that it is for; some engine must be open.
 *  @return false when the first engine had none that would fit: try again */
static inline bool open_take(struct simulation *sim, uint32_t *index, struct candidate *first)
{
    struct engine_state *engine = &sim->engines[sim->open[0]];

    *index = sim->open[0];
    if (engine->n_shelved > 0) {
        return open_take_lacking(sim, first);
    }
    *first = ready_pop(&engine->queue);
    engine->open_at = 0;
    if (--sim->n_open > 0) {
        open_sink_last(sim);
    }
    return true;
}

/** Puts the order right again after priorities of candidates, or what they need, were changed. */
MUST_CHECK enum weir_status open_reorder(struct simulation *sim);

#endif
