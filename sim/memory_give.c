/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving back: what ends with a node. */
#include "sim/memory.h"

#include "base/array.h"

/* @param by_uses as in ledger_give */
static enum weir_status give_bytes(struct memory *memory, uint32_t domain, uint32_t giver,
                                   uint32_t by_uses, int64_t bytes, struct weir_error *err)
{
    struct pool *pool = &memory->pools[domain];

    if (bytes == 0) {
        return WEIR_OK;
    }
    memory->used_bytes[domain] -= bytes;
    memory->has_changed = true;
    pool->last_copy = WEIR_NONE;
    pool->last_giver = giver;
    if (pool->is_awaited) {
        pool->is_awaited = false;
        memory->freed[memory->n_freed++] = domain;
    }
    return memory->ledger == NULL ? WEIR_OK
                                  : ledger_give(memory->ledger, domain, giver, by_uses, bytes, err);
}

static enum weir_status end_copy(struct memory *memory, uint32_t copy, uint32_t node,
                                 struct weir_error *err)
{
    struct live *live = &memory->lives[copy];
    enum weir_status status;

    if (live->state != COPY_LIVE) {
        return WEIR_OK;
    }
    live->state = COPY_ENDED;
    if (memory->ledger != NULL) {
        ledger_end_copy(memory->ledger, copy);
    }
    status =
        give_bytes(memory, live->domain, node,
                   (live->end & LIVE_END) == END_BY_LAST_USE ? copy : WEIR_NONE, live->bytes, err);
    memory->pools[live->domain].last_copy = copy;
    return status;
}

/* @param filled some copy that the node filled; WEIR_NONE when there is none */
static enum weir_status end_staging(struct memory *memory, uint32_t index, uint32_t giver,
                                    uint32_t filled, struct weir_error *err)
{
    const struct staging *staging = &memory->stagings[index];

    if (memory->ledger != NULL) {
        ledger_end_staging(memory->ledger, index);
    }
    return give_bytes(memory, staging->domain, giver,
                      filled == WEIR_NONE ? WEIR_NONE : staging->node | LEDGER_STAGED,
                      staging->bytes, err);
}

/* The last use of the copy has finished: so has the need for what was staged for it. */
static enum weir_status end_stagings(struct memory *memory, uint32_t copy, uint32_t giver,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t at = memory->staged_for[copy]; at > 0 && status == WEIR_OK;
         at = memory->links[at - 1].next) {
        uint32_t index = memory->links[at - 1].staging;

        if (--memory->stagings[index].copies_left == 0) {
            status = end_staging(memory, index, giver, copy, err);
        }
    }
    memory->lives[copy].end &= (uint8_t)~LIVE_HAS_STAGINGS;
    return status;
}

/* The staging waits for the last use of the copy. */
static enum weir_status link_staging(struct memory *memory, uint32_t index, uint32_t copy,
                                     struct weir_error *err)
{
    enum weir_status status =
        array_grow(&memory->links, &memory->links_room, (size_t)memory->n_links + 1, err);

    if (status == WEIR_OK) {
        memory->links[memory->n_links++] = (struct staging_link){index, memory->staged_for[copy]};
        memory->staged_for[copy] = memory->n_links;
        memory->lives[copy].end |= LIVE_HAS_STAGINGS;
        memory->stagings[index].copies_left++;
    }
    return status;
}

/* The node has finished: its staging stays for each copy that it filled and others still use. */
enum weir_status memory_hand_on_staging(struct memory *memory, uint32_t node,
                                        struct weir_error *err)
{
    uint32_t index, filled = WEIR_NONE, n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);
    enum weir_status status = WEIR_OK;

    if (memory->staging_of == NULL || memory->staging_of[node] == 0) {
        return WEIR_OK;
    }
    index = memory->staging_of[node] - 1;
    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0) {
            filled = touches[i].copy.index;
            if (memory->lives[filled].uses_left > 0) {
                status = link_staging(memory, index, filled, err);
            }
        }
    }
    return status != WEIR_OK || memory->stagings[index].copies_left > 0
               ? status
               : end_staging(memory, index, node, filled, err);
}

enum weir_status memory_end_touch(struct memory *memory, uint32_t touch, uint32_t node,
                                  bool did_run, struct weir_error *err)
{
    uint32_t copy = touch & TOUCH_COPY;
    struct live *live = &memory->lives[copy];
    uint32_t end = live->end, uses_left = live->uses_left;
    enum weir_status status = WEIR_OK;

    if ((touch & TOUCH_USES) != 0) {
        live->uses_left = --uses_left;
        if (uses_left == 0 && (end & LIVE_HAS_STAGINGS) != 0) {
            status = end_stagings(memory, copy, node, err);
        }
    } else if ((touch & TOUCH_HOLDS) != 0) {
        memory->holds_left[copy]--;
    }
    switch ((enum copy_end)(end & LIVE_END)) {
    case END_BY_LAST_USE:
        if (uses_left > 0 || ((end & LIVE_HAS_HOLDS) != 0 && memory->holds_left[copy] > 0)) {
            return status;
        }
        break;
    case END_BY_RECLAMATION:
        if ((touch & TOUCH_RECLAIMS) == 0 || !did_run) {
            return status;
        }
        break;
    case END_NEVER:
        return status;
    }
    return status == WEIR_OK ? end_copy(memory, copy, node, err) : status;
}

/* Workspace ends with the node. */
enum weir_status memory_give_charges(struct memory *memory, uint32_t node, struct weir_error *err)
{
    const struct program *program = memory->program;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->first_charge[node];
         i < program->first_charge[node + 1] && status == WEIR_OK; i++) {
        const struct program_charge *charge = &program->charges[i];

        if (charge->is_staging) {
            continue;
        }
        if (memory->ledger != NULL) {
            status = ledger_end_workspace(memory->ledger, charge->domain, node, charge->bytes, err);
        }
        if (status == WEIR_OK) {
            status = give_bytes(memory, charge->domain, node, WEIR_NONE, charge->bytes, err);
        }
    }
    return status;
}
