/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap of open engines, when there is more than one. */
#include "sim/open.h"

#include "sim/lacking.h"

static struct candidate head_of(const struct engine_state *engine)
{
    return engine->n_shelved > 0 ? engine->head : ready_first(&engine->queue);
}

static bool engine_before(const struct simulation *sim, uint32_t a, uint32_t b)
{
    struct candidate first_of_a = head_of(&sim->engines[a]);
    struct candidate first_of_b = head_of(&sim->engines[b]);

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

/* Its first candidate of those that would fit, from its queue or from a shelf; false when there is
 * none. @param shelf NO_SHELF when it is in the queue */
#define NO_SHELF UINT32_MAX

static bool first_of(const struct simulation *sim, uint32_t index, struct candidate *first,
                     uint32_t *shelf)
{
    const struct engine_state *engine = &sim->engines[index];
    bool is_lacking = lacking_first(sim, index, first, shelf);

    if (ready_n(&engine->queue) > 0) {
        struct candidate ready = ready_first(&engine->queue);

        if (!is_lacking || candidate_before(&ready, first)) {
            *first = ready;
            *shelf = NO_SHELF;
            return true;
        }
    }
    return is_lacking;
}

/* While an engine is open its head only becomes earlier; a head that has lost its room is found out
 * when its turn comes. */
void open_offer_lacking(struct simulation *sim, uint32_t index)
{
    struct engine_state *engine = &sim->engines[index];
    struct candidate first;
    uint32_t shelf;

    if (!first_of(sim, index, &first, &shelf)) {
        return;
    }
    if (engine->open_at == 0) {
        engine->head = first;
        open_rise(sim, sim->n_open++, index);
    } else if (candidate_before(&first, &engine->head)) {
        engine->head = first;
        open_rise(sim, engine->open_at - 1, index);
    }
}

static void close_first(struct simulation *sim)
{
    sim->engines[sim->open[0]].open_at = 0;
    if (--sim->n_open > 0) {
        open_sink_last(sim);
    }
}

bool open_take_lacking(struct simulation *sim, struct candidate *first)
{
    uint32_t index = sim->open[0], shelf;
    struct engine_state *engine = &sim->engines[index];

    if (!first_of(sim, index, first, &shelf)) {
        close_first(sim);
        return false;
    }
    if (first->node != engine->head.node) {
        engine->head = *first;
        sink(sim, 0, index);
        return false;
    }
    close_first(sim);
    *first =
        shelf == NO_SHELF ? ready_pop(&engine->queue) : lacking_take(sim, index, shelf, *first);
    return true;
}

/* The candidates of a stale engine find their places anew, and so does its head. */
static enum weir_status refresh(struct simulation *sim, uint32_t index)
{
    struct engine_state *engine = &sim->engines[index];
    enum weir_status status = lacking_reorder(sim, index);

    engine->is_stale = false;
    if (status == WEIR_OK && sim->priority != NULL) {
        status = ready_reorder(&engine->queue, sim->priority, sim->err);
    }
    if (engine->open_at > 0 && engine->n_shelved > 0) {
        struct candidate first;
        uint32_t shelf;

        engine->head = first_of(sim, index, &first, &shelf) ? first : engine->head;
    }
    return status;
}

enum weir_status open_reorder(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    sim->has_stale = false;
    for (uint32_t i = 0; i <= sim->program->n_engines && status == WEIR_OK; i++) {
        if (sim->engines[i].is_stale) {
            status = refresh(sim, i);
        }
    }
    for (uint32_t i = sim->n_open; i > 0 && status == WEIR_OK; i--) {
        sink(sim, i - 1, sim->open[i - 1]);
    }
    for (uint32_t i = 0; i <= sim->program->n_engines && status == WEIR_OK; i++) {
        open_offer(sim, i);
    }
    return status;
}
