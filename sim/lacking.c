/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shelves of engines, by domain, and since when what is on them would fit. */
#include "sim/lacking.h"

#include <stdlib.h>

#include "base/array.h"
#include "sim/open.h"

/* The engine's shelf for the domain. */
static enum weir_status find_shelf(struct simulation *sim, uint32_t index, weir_domain domain,
                                   struct engine_shelf **out)
{
    struct engine_state *engine = &sim->engines[index];
    struct lacking_domain *lacking = &sim->lacking[domain.index];
    enum weir_status status;

    for (uint32_t i = 0; i < engine->n_shelves; i++) {
        if (engine->shelves[i].domain == domain.index) {
            *out = &engine->shelves[i];
            return WEIR_OK;
        }
    }
    status = array_grow(&engine->shelves, &engine->shelves_room, (size_t)engine->n_shelves + 1,
                        sim->err);
    if (status == WEIR_OK) {
        status = array_grow(&lacking->engines, &lacking->engines_room,
                            (size_t)lacking->n_engines + 1, sim->err);
    }
    if (status == WEIR_OK) {
        lacking->engines[lacking->n_engines++] = index;
        *out = &engine->shelves[engine->n_shelves++];
        **out = (struct engine_shelf){domain.index, 0};
    }
    return status;
}

/* One node more or less on a shelf. */
static void count(struct simulation *sim, uint32_t engine, uint32_t domain, int by)
{
    sim->engines[engine].n_shelved += (uint32_t)by;
    sim->lacking[domain].n_lacking += (uint32_t)by;
    sim->n_lacking += (uint32_t)by;
    if (sim->lacking[domain].n_lacking == 0) {
        sim->lacking[domain].n_levels = 0;
    }
}

enum weir_status lacking_add(struct simulation *sim, struct candidate candidate, weir_domain domain)
{
    uint32_t index = sim->program->nodes[candidate.node].engine;
    struct engine_shelf *shelf = NULL;
    enum weir_status status = find_shelf(sim, index, domain, &shelf);

    if (status == WEIR_OK) {
        status = waits_set_aside(sim, &candidate, WAIT_CAPACITY);
    }
    if (status == WEIR_OK) {
        candidate.given = sim->instant;
        status = shelf_add(&sim->shelves, &shelf->root, candidate,
                           memory_need_bytes(sim->memory, candidate.node, domain), sim->err);
    }
    if (status == WEIR_OK) {
        count(sim, index, domain.index, 1);
        memory_await(sim->memory, domain);
    }
    return status;
}

static int64_t free_bytes(const struct simulation *sim, weir_domain domain)
{
    return memory_usable_bytes(sim->memory, domain) - memory_used_bytes(sim->memory)[domain.index];
}

bool lacking_first(const struct simulation *sim, uint32_t engine, struct candidate *first,
                   uint32_t *shelf)
{
    const struct engine_state *state = &sim->engines[engine];
    bool is_found = false;

    for (uint32_t i = 0; i < state->n_shelves; i++) {
        weir_domain domain = {state->shelves[i].domain};
        int64_t free_bytes =
            memory_usable_bytes(sim->memory, domain) - memory_used_bytes(sim->memory)[domain.index];
        struct candidate candidate;

        if (shelf_first(&sim->shelves, state->shelves[i].root, free_bytes, &candidate) &&
            (!is_found || candidate_before(&candidate, first))) {
            is_found = true;
            *first = candidate;
            *shelf = i;
        }
    }
    return is_found;
}

static enum weir_status push_level(struct simulation *sim, struct lacking_domain *lacking,
                                   struct free_level level)
{
    enum weir_status status;

    if (lacking->n_levels > 0) {
        struct free_level *latest = &lacking->levels[lacking->n_levels - 1];

        if (latest->free_bytes == level.free_bytes) {
            return WEIR_OK;
        }
        latest->end_ns = sim->now_ns;
        latest->end_instant = sim->instant;
        latest->giver = level.giver;
        latest->given_copy = level.given_copy;
    }
    while (lacking->n_levels > 0 &&
           lacking->levels[lacking->n_levels - 1].free_bytes >= level.free_bytes) {
        lacking->n_levels--;
    }
    status = array_grow(&lacking->levels, &lacking->levels_room, (size_t)lacking->n_levels + 1,
                        sim->err);
    if (status == WEIR_OK) {
        level.end_ns = -1;
        lacking->levels[lacking->n_levels++] = level;
    }
    return status;
}

enum weir_status lacking_settle(struct simulation *sim)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sim->program->n_domains && status == WEIR_OK; i++) {
        weir_domain domain = {i};

        if (sim->lacking[i].n_lacking > 0) {
            status = push_level(sim, &sim->lacking[i],
                                (struct free_level){free_bytes(sim, domain), -1, 0,
                                                    memory_last_giver(sim->memory, domain),
                                                    memory_last_copy(sim->memory, domain)});
        }
    }
    return status;
}

/* The last level that was too low for the need; NULL when none was. A lower one that came later has
 * taken the place of those before it. */
static const struct free_level *last_too_low(const struct lacking_domain *lacking,
                                             int64_t need_bytes)
{
    uint32_t low = 0, high = lacking->n_levels;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (lacking->levels[middle].free_bytes < need_bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? NULL : &lacking->levels[low - 1];
}

/* Had the candidate room before now, since the level ended, and since it was found to lack some? What
 * came and went within an instant makes no level. */
static bool had_room(const struct free_level *level, const struct candidate *candidate)
{
    return level != NULL && level->end_ns >= 0 && level->end_instant >= candidate->given;
}

/* Who ended the node's lack of so many bytes, which may be a while ago: since then it lacked a slot. */
static void name_giver(struct simulation *sim, struct candidate *candidate, weir_domain domain,
                       int64_t need_bytes)
{
    const struct free_level *level = last_too_low(&sim->lacking[domain.index], need_bytes);
    struct timeline_span *span = &sim->timeline->spans[candidate->node];
    uint32_t copy;

    if (!had_room(level, candidate)) {
        span->blocker = memory_last_giver(sim->memory, domain);
        copy = memory_last_copy(sim->memory, domain);
    } else {
        span->blocker = level->giver;
        copy = level->given_copy;
    }
    candidate->given = copy == WEIR_NONE
                           ? WEIR_NONE
                           : bind_copy(sim->program->binding, (weir_copy){copy})->object.index;
}

struct candidate lacking_take(struct simulation *sim, uint32_t engine, uint32_t shelf,
                              struct candidate candidate)
{
    struct engine_shelf *from = &sim->engines[engine].shelves[shelf];
    weir_domain domain = {from->domain};

    shelf_remove(&sim->shelves, &from->root, &candidate);
    name_giver(sim, &candidate, domain, memory_need_bytes(sim->memory, candidate.node, domain));
    count(sim, engine, from->domain, -1);
    return candidate;
}

void lacking_wake(struct simulation *sim)
{
    weir_domain domain;

    while (memory_next_freed(sim->memory, &domain)) {
        const struct lacking_domain *lacking = &sim->lacking[domain.index];

        for (uint32_t i = 0; i < lacking->n_engines && lacking->n_lacking > 0; i++) {
            open_offer(sim, lacking->engines[i]);
        }
        if (lacking->n_lacking > 0) {
            memory_await(sim->memory, domain);
        }
    }
}

/* One that was on the shelf, and what it needed. Who begins a copy takes at least what the others need
 * less: one that lacks nothing now had room before, if only just before. */
static enum weir_status put_back(struct simulation *sim, uint32_t engine, uint32_t at,
                                 struct candidate candidate, int64_t needed_bytes)
{
    struct engine_shelf *shelf = &sim->engines[engine].shelves[at];
    weir_domain domain = {shelf->domain};
    int64_t need_bytes = memory_need_bytes(sim->memory, candidate.node, domain);
    const struct free_level *level = last_too_low(&sim->lacking[domain.index], needed_bytes);

    if (sim->priority != NULL) {
        candidate.priority = sim->priority[candidate.node];
    }
    if (need_bytes == needed_bytes ||
        (!had_room(level, &candidate) && need_bytes > free_bytes(sim, domain))) {
        return shelf_add(&sim->shelves, &shelf->root, candidate, need_bytes, sim->err);
    }
    name_giver(sim, &candidate, domain, needed_bytes);
    count(sim, engine, domain.index, -1);
    return ready_push(&sim->engines[engine].queue, candidate, sim->err);
}

enum weir_status lacking_reorder(struct simulation *sim, uint32_t engine)
{
    struct engine_state *state = &sim->engines[engine];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < state->n_shelves; i++) {
        uint32_t rest = state->shelves[i].root;
        struct candidate candidate;
        int64_t needed_bytes;

        state->shelves[i].root = 0;
        while (status == WEIR_OK && shelf_pop(&sim->shelves, &rest, &candidate, &needed_bytes)) {
            status = put_back(sim, engine, i, candidate, needed_bytes);
        }
    }
    return status;
}

/* Adds the nodes of a tree that may still run. */
static void list(const struct simulation *sim, uint32_t at, uint32_t *nodes, uint32_t *n)
{
    if (at > 0) {
        const struct shelf_item *item = &sim->shelves.items[at - 1];
        uint32_t node = item->candidate.node;

        list(sim, item->left, nodes, n);
        if (sim->fallbacks == NULL || sim->fallbacks[node].fate != FATE_SKIPPED) {
            nodes[(*n)++] = node;
        }
        list(sim, item->right, nodes, n);
    }
}

enum weir_status lacking_list(const struct simulation *sim, weir_domain domain, uint32_t **out,
                              uint32_t *n, struct weir_error *err)
{
    uint32_t *nodes = malloc(((size_t)sim->n_lacking + 1) * sizeof *nodes);

    if (nodes == NULL) {
        return weir_error_memory(err);
    }
    *n = 0;
    for (uint32_t i = 0; i <= sim->program->n_engines; i++) {
        const struct engine_state *engine = &sim->engines[i];

        for (uint32_t j = 0; j < engine->n_shelves; j++) {
            if (!weir_is(domain) || engine->shelves[j].domain == domain.index) {
                list(sim, engine->shelves[j].root, nodes, n);
            }
        }
    }
    simulation_sort_nodes(nodes, *n);
    *out = nodes;
    return WEIR_OK;
}

void lacking_free(struct simulation *sim)
{
    for (uint32_t i = 0; sim->engines != NULL && i <= sim->program->n_engines; i++) {
        free(sim->engines[i].shelves);
    }
    for (uint32_t i = 0; sim->lacking != NULL && i < sim->program->n_domains; i++) {
        free(sim->lacking[i].engines);
        free(sim->lacking[i].levels);
    }
    free(sim->lacking);
    free(sim->shelves.items);
}
