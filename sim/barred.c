/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of nodes that are held back, under their keys and on their shelves.
 *
 * To leave a node on its shelf must be the same as to let it try again at its turn, in vain: such a
 * try within the instant of its waking changes nothing that anyone sees. It would for a node that may
 * lack bytes, or that a policy is shown; those try again one by one. One whose engine has no slot
 * left when its turn comes has ceased to be held back, and waits in the queue of its engine. */
#include "sim/barred.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

enum weir_status barred_new(struct simulation *sim)
{
    struct barred *barred = calloc(1, sizeof *barred);

    if (barred == NULL) {
        return weir_error_memory(sim->err);
    }
    sim->barred = barred;
    barred->takes_turns = sim->fallbacks == NULL && !simulator_is_steered(sim->plan);
    barred->has_room = memory_is_ample(sim->memory);
    barred->n_kinds = overlap_n_kinds(sim->forbidden);
    barred->kinds = calloc((size_t)barred->n_kinds + 1, sizeof *barred->kinds);
    barred->standing = calloc(overlap_n_blocking_keys(sim->forbidden), sizeof *barred->standing);
    return barred->kinds == NULL || barred->standing == NULL ? weir_error_memory(sim->err)
                                                             : WEIR_OK;
}

void barred_free(struct simulation *sim)
{
    struct barred *barred = sim->barred;

    if (barred == NULL) {
        return;
    }
    for (uint32_t i = 0; barred->kinds != NULL && i < barred->n_kinds; i++) {
        free(barred->kinds[i].singly.items);
    }
    free(barred->kinds);
    free(barred->standing);
    free(barred->shelves);
    free(barred->awake);
    free(barred);
}

size_t barred_memory_bytes(const struct barred *barred)
{
    return barred->n_kinds * sizeof *barred->kinds + barred->shelves_room * sizeof *barred->shelves;
}

/* The kind, which something holds back, is woken when that ends. */
static void stand(struct simulation *sim, uint32_t index)
{
    struct barred_kind *kind = &sim->barred->kinds[index];
    uint32_t key = overlap_blocking_key(sim->forbidden, kind->node);

    assert(key != WEIR_NONE);
    kind->is_standing = true;
    kind->next = sim->barred->standing[key];
    sim->barred->standing[key] = index + 1;
}

/* The shelf of that kind and engine; NULL when there is none yet. */
static struct barred_shelf *find_shelf(struct barred *barred, uint32_t kind, uint32_t engine)
{
    uint32_t at = barred->kinds[kind].shelf;

    while (at > 0 && barred->shelves[at - 1].engine != engine) {
        at = barred->shelves[at - 1].next;
    }
    return at == 0 ? NULL : &barred->shelves[at - 1];
}

static enum weir_status put_on_shelf(struct simulation *sim, uint32_t kind,
                                     struct candidate candidate)
{
    struct barred *barred = sim->barred;
    uint32_t engine = sim->program->nodes[candidate.node].engine;
    struct barred_shelf *shelf = find_shelf(barred, kind, engine);

    if (shelf == NULL) {
        enum weir_status status = array_grow(&barred->shelves, &barred->shelves_room,
                                             (size_t)barred->n_shelves + 1, sim->err);

        if (status != WEIR_OK) {
            return status;
        }
        shelf = &barred->shelves[barred->n_shelves++];
        *shelf = (struct barred_shelf){engine, 0, barred->kinds[kind].shelf, kind, 0};
        barred->kinds[kind].shelf = barred->n_shelves;
    }
    return shelf_add(&sim->shelves, &shelf->root, candidate, 0, sim->err);
}

static enum weir_status put_singly(struct simulation *sim, struct barred_kind *kind,
                                   struct candidate candidate)
{
    struct waiting *singly = &kind->singly;
    enum weir_status status =
        array_grow(&singly->items, &singly->room, (size_t)singly->n + 1, sim->err);

    if (status == WEIR_OK) {
        singly->items[singly->n++] = candidate;
    }
    return status;
}

/* May it stay on a shelf when those before it have left no room for it? */
static bool takes_turns(const struct simulation *sim, uint32_t node)
{
    return sim->barred->takes_turns &&
           (sim->barred->has_room || (sim->program->nodes[node].flags & PROGRAM_TAKES) == 0);
}

enum weir_status barred_add(struct simulation *sim, struct candidate candidate)
{
    uint32_t index = overlap_kind(sim->forbidden, candidate.node);
    struct barred_kind *kind = &sim->barred->kinds[index];
    enum weir_status status = waits_set_aside(sim, &candidate, WAIT_OVERLAP);

    if (status != WEIR_OK) {
        return status;
    }
    kind->node = candidate.node;
    if (!kind->is_awake && !kind->is_standing) {
        stand(sim, index);
    }
    return takes_turns(sim, candidate.node) ? put_on_shelf(sim, index, candidate)
                                            : put_singly(sim, kind, candidate);
}

/* --- waking --------------------------------------------------------------------------------- */

/* The node's lack of a way to start has ended. */
static enum weir_status release(struct simulation *sim, struct candidate candidate, uint32_t ended)
{
    sim->timeline->spans[candidate.node].blocker.index = ended;
    candidate.given = WEIR_NONE;
    return simulation_push_again(sim, candidate);
}

static enum weir_status release_first(struct simulation *sim, struct barred_shelf *shelf)
{
    struct candidate first;
    int64_t need_bytes;

    return shelf_pop(&sim->shelves, &shelf->root, &first, &need_bytes)
               ? release(sim, first, sim->barred->kinds[shelf->kind].ended)
               : WEIR_OK;
}

/* Their engine has no slot for them now. @param reached those that go after it; NULL: all */
static enum weir_status release_after(struct simulation *sim, struct barred_shelf *shelf,
                                      const struct candidate *reached)
{
    struct candidate last;
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && shelf_pop_last(&sim->shelves, &shelf->root, reached, &last)) {
        status = release(sim, last, sim->barred->kinds[shelf->kind].ended);
    }
    return status;
}

static enum weir_status wake_shelf(struct simulation *sim, uint32_t at)
{
    struct barred_shelf *shelf = &sim->barred->shelves[at];
    struct engine_state *engine = &sim->engines[shelf->engine];

    if (shelf->root == 0 || engine->free_slots <= 0) {
        return release_after(sim, shelf, NULL);
    }
    shelf->next_awake = engine->awake;
    engine->awake = at + 1;
    return release_first(sim, shelf);
}

static enum weir_status wake(struct simulation *sim, uint32_t index, uint32_t ended)
{
    struct barred *barred = sim->barred;
    struct barred_kind *kind = &barred->kinds[index];
    enum weir_status status =
        array_grow(&barred->awake, &barred->awake_room, (size_t)barred->n_awake + 1, sim->err);

    if (status != WEIR_OK) {
        return status;
    }
    barred->awake[barred->n_awake++] = index;
    kind->is_awake = true;
    kind->ended = ended;
    for (uint32_t i = 0; i < kind->singly.n && status == WEIR_OK; i++) {
        status = release(sim, kind->singly.items[i], ended);
    }
    kind->singly.n = 0;
    for (uint32_t at = kind->shelf; at > 0 && status == WEIR_OK;
         at = barred->shelves[at - 1].next) {
        status = wake_shelf(sim, at - 1);
    }
    return status;
}

/* No running node has the key: who stood under it is woken, or stands under another. */
static enum weir_status part(struct simulation *sim, uint32_t key, uint32_t ended)
{
    uint32_t at = sim->barred->standing[key];
    enum weir_status status = WEIR_OK;

    sim->barred->standing[key] = 0;
    while (at > 0 && status == WEIR_OK) {
        struct barred_kind *kind = &sim->barred->kinds[at - 1];
        uint32_t index = at - 1;

        at = kind->next;
        kind->is_standing = false;
        if (overlap_blocking_key(sim->forbidden, kind->node) != WEIR_NONE) {
            stand(sim, index);
        } else {
            status = wake(sim, index, ended);
        }
    }
    return status;
}

enum weir_status barred_end(struct simulation *sim, uint32_t node)
{
    uint32_t keys[OVERLAP_MOST_KEYS], n_keys = overlap_keys_gone(sim->forbidden, node, keys);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_keys && status == WEIR_OK; i++) {
        status = part(sim, keys[i], node);
    }
    return status;
}

/* --- while nodes start ----------------------------------------------------------------------- */

/* Those whose turn has not come find no slot. */
static enum weir_status close_engine(struct simulation *sim, struct engine_state *engine)
{
    struct barred *barred = sim->barred;
    enum weir_status status = WEIR_OK;

    for (uint32_t at = engine->awake; at > 0 && status == WEIR_OK;
         at = barred->shelves[at - 1].next_awake) {
        status = release_after(sim, &barred->shelves[at - 1], &barred->reached);
    }
    engine->awake = 0;
    return status;
}

enum weir_status barred_started(struct simulation *sim, uint32_t node)
{
    uint32_t index = overlap_kind(sim->forbidden, node);
    uint32_t engine = sim->program->nodes[node].engine;
    struct barred_shelf *shelf;

    if (sim->engines[engine].free_slots <= 0) {
        return close_engine(sim, &sim->engines[engine]);
    }
    if (index == WEIR_NONE || !sim->barred->kinds[index].is_awake ||
        overlap_blocking_key(sim->forbidden, node) != WEIR_NONE) {
        return WEIR_OK;
    }
    shelf = find_shelf(sim->barred, index, engine);
    return shelf == NULL ? WEIR_OK : release_first(sim, shelf);
}

void barred_settle(struct simulation *sim)
{
    struct barred *barred = sim->barred;

    for (uint32_t i = 0; i < barred->n_awake; i++) {
        struct barred_kind *kind = &barred->kinds[barred->awake[i]];
        bool is_held_back = kind->singly.n > 0;

        for (uint32_t at = kind->shelf; at > 0; at = barred->shelves[at - 1].next) {
            is_held_back = is_held_back || barred->shelves[at - 1].root > 0;
            sim->engines[barred->shelves[at - 1].engine].awake = 0;
        }
        kind->is_awake = false;
        if (is_held_back) {
            stand(sim, barred->awake[i]);
        }
    }
    barred->n_awake = 0;
    barred->has_reached = false;
}
