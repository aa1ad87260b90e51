/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap of open engines, when there is more than one. */
#include "sim/open.h"

static bool engine_before(const struct simulation *sim, uint32_t a, uint32_t b)
{
    struct candidate first_of_a = ready_first(&sim->engines[a].queue);
    struct candidate first_of_b = ready_first(&sim->engines[b].queue);

    return candidate_before(&first_of_a, &first_of_b);
}

static void put(struct simulation *sim, uint32_t at, uint32_t index)
{
    sim->open[at] = index;
    sim->engines[index].open_at = at + 1;
}

void open_rise(struct simulation *sim, uint32_t at, uint32_t index)
{
    while (at > 0 && engine_before(sim, index, sim->open[(at - 1) / 4])) {
        put(sim, at, sim->open[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    put(sim, at, index);
}

static void sink(struct simulation *sim, uint32_t at, uint32_t index)
{
    for (;;) {
        uint32_t child = 4 * at + 1, best = child;

        if (child >= sim->n_open) {
            break;
        }
        for (uint32_t i = child + 1; i < child + 4 && i < sim->n_open; i++) {
            best = engine_before(sim, sim->open[i], sim->open[best]) ? i : best;
        }
        if (!engine_before(sim, sim->open[best], index)) {
            break;
        }
        put(sim, at, sim->open[best]);
        at = best;
    }
    put(sim, at, index);
}

void open_sink_last(struct simulation *sim)
{
    sink(sim, 0, sim->open[sim->n_open]);
}

enum weir_status open_reorder(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    sim->has_stale = false;
    for (uint32_t i = 0; i <= sim->program->n_engines && status == WEIR_OK; i++) {
        if (sim->engines[i].is_stale) {
            sim->engines[i].is_stale = false;
            status = ready_reorder(&sim->engines[i].queue, sim->priority, sim->err);
        }
    }
    for (uint32_t i = sim->n_open; i > 0 && status == WEIR_OK; i--) {
        sink(sim, i - 1, sim->open[i - 1]);
    }
    return status;
}
