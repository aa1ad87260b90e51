/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving back: what ends with a node. Bytes that come back are kept as parcels, oldest first, each
 * with the node that gave it back. A copy that ended by its last use was given back by all its last
 * uses together, and so was what was staged for it (for the last of them, if a node filled several). */
#include <stdlib.h>

#include "base/array.h"
#include "sim/memory_internal.h"

static void close_hold(struct memory *memory, uint32_t row, int64_t now_ns)
{
    if (row > 0) {
        memory->timeline->holds[row - 1].release_ns = now_ns;
    }
}

static enum weir_status make_room(struct pool *pool, struct weir_error *err)
{
    if (pool->head > 0 && pool->tail == pool->room && pool->head >= pool->tail / 2) {
        for (uint32_t i = pool->head; i < pool->tail; i++) {
            pool->parcels[i - pool->head] = pool->parcels[i];
        }
        pool->tail -= pool->head;
        pool->head = 0;
    }
    return array_grow(&pool->parcels, &pool->room, (size_t)pool->tail + 1, err);
}

static enum weir_status give_bytes(struct memory *memory, uint32_t domain, uint32_t giver,
                                   uint32_t copy, int64_t bytes, struct weir_error *err)
{
    struct pool *pool = &memory->pools[domain];
    enum weir_status status;

    if (bytes == 0) {
        return WEIR_OK;
    }
    status = make_room(pool, err);
    if (status != WEIR_OK) {
        return status;
    }
    pool->parcels[pool->tail++] = (struct parcel){bytes, giver, copy};
    pool->used_bytes -= bytes;
    memory->used[domain] = pool->used_bytes;
    pool->last_copy = WEIR_NONE;
    if (!pool->is_freed) {
        pool->is_freed = true;
        memory->freed[memory->n_freed++] = domain;
    }
    return WEIR_OK;
}

static enum weir_status end_copy(struct memory *memory, uint32_t copy, uint32_t node,
                                 int64_t now_ns, struct weir_error *err)
{
    struct live *live = &memory->lives[copy];
    enum weir_status status;

    if (live->state != COPY_LIVE) {
        return WEIR_OK;
    }
    live->state = COPY_ENDED;
    close_hold(memory, live->hold_row, now_ns);
    status = give_bytes(memory, live->domain, node, live->end == END_BY_LAST_USE ? copy : WEIR_NONE,
                        live->bytes, err);
    memory->pools[live->domain].last_copy = copy;
    return status;
}

/* @param copy whose last use was waited for; WEIR_NONE when the node filled none */
static enum weir_status end_staging(struct memory *memory, uint32_t index, uint32_t giver,
                                    uint32_t copy, int64_t now_ns, struct weir_error *err)
{
    const struct staging *staging = &memory->stagings[index];

    close_hold(memory, staging->hold_row, now_ns);
    return give_bytes(memory, staging->domain, giver, copy, staging->bytes, err);
}

/* The last use of the copy has finished: so has the need for what was staged for it. */
static enum weir_status end_stagings(struct memory *memory, uint32_t copy, uint32_t giver,
                                     int64_t now_ns, struct weir_error *err)
{
    struct live *live = &memory->lives[copy];
    enum weir_status status = WEIR_OK;

    for (uint32_t at = live->stagings; at > 0 && status == WEIR_OK;
         at = memory->links[at - 1].next) {
        uint32_t index = memory->links[at - 1].staging;

        if (--memory->stagings[index].copies_left == 0) {
            status = end_staging(memory, index, giver, copy, now_ns, err);
        }
    }
    live->stagings = 0;
    return status;
}

/* The node has finished: its staging stays for each copy that it filled and others still use. */
static enum weir_status hand_on_staging(struct memory *memory, uint32_t node, int64_t now_ns,
                                        struct weir_error *err)
{
    uint32_t index = memory->staging_of[node] - 1, filled = WEIR_NONE, n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        struct live *live = &memory->lives[touches[i].copy.index];
        enum weir_status status;

        if ((touches[i].roles & BIND_FILLS) == 0) {
            continue;
        }
        filled = touches[i].copy.index;
        if (live->uses_left == 0) {
            continue;
        }
        status = array_grow(&memory->links, &memory->links_room, (size_t)memory->n_links + 1, err);
        if (status != WEIR_OK) {
            return status;
        }
        memory->links[memory->n_links++] = (struct staging_link){index, live->stagings};
        live->stagings = memory->n_links;
        memory->stagings[index].copies_left++;
    }
    return memory->stagings[index].copies_left > 0
               ? WEIR_OK
               : end_staging(memory, index, node, filled, now_ns, err);
}

static enum weir_status give_touch(struct memory *memory, const struct bind_touch *touch,
                                   uint32_t node, bool did_run, int64_t now_ns,
                                   struct weir_error *err)
{
    struct live *live = &memory->lives[touch->copy.index];
    enum weir_status status = WEIR_OK;
    bool has_ended = false;

    if ((touch->roles & (BIND_READS | BIND_FILLS)) != 0) {
        if (--live->uses_left == 0 && live->stagings > 0) {
            status = end_stagings(memory, touch->copy.index, node, now_ns, err);
        }
    } else if ((touch->roles & BIND_HOLDS) != 0) {
        live->holds_left--;
    }
    switch ((enum copy_end)live->end) {
    case END_BY_LAST_USE:
        has_ended = live->uses_left == 0 && live->holds_left == 0;
        break;
    case END_BY_RECLAMATION:
        has_ended = (touch->roles & BIND_RECLAIMS) != 0 && did_run;
        break;
    case END_NEVER:
        break;
    }
    return status == WEIR_OK && has_ended ? end_copy(memory, touch->copy.index, node, now_ns, err)
                                          : status;
}

static enum weir_status give_workspace(struct memory *memory, uint32_t node, int64_t now_ns,
                                       struct weir_error *err)
{
    const struct program *program = memory->program;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->first_take[node];
         i < program->first_take[node + 1] && status == WEIR_OK; i++) {
        const struct program_take *take = &program->takes[i];
        struct timeline_hold hold = {{take->domain}, {WEIR_NONE}, {node}, take->bytes, 0, now_ns};
        uint32_t row;

        if (take->copy != PROGRAM_WORKSPACE) {
            continue;
        }
        hold.acquire_ns = memory->timeline->spans[node].start_ns;
        status = memory_open_hold(memory, hold, &row, err);
        if (status == WEIR_OK) {
            status = give_bytes(memory, take->domain, node, WEIR_NONE, take->bytes, err);
        }
    }
    return status;
}

enum weir_status memory_give(struct memory *memory, uint32_t node, bool did_run, int64_t now_ns,
                             struct weir_error *err)
{
    uint32_t n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);
    enum weir_status status = WEIR_OK;

    if (did_run) {
        status = give_workspace(memory, node, now_ns, err);
    }
    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        status = give_touch(memory, &touches[i], node, did_run, now_ns, err);
    }
    if (status == WEIR_OK && did_run && memory->staging_of != NULL &&
        memory->staging_of[node] > 0) {
        status = hand_on_staging(memory, node, now_ns, err);
    }
    return status;
}

bool memory_next_freed(struct memory *memory, weir_domain *domain)
{
    if (memory->n_freed == 0) {
        return false;
    }
    domain->index = memory->freed[--memory->n_freed];
    memory->pools[domain->index].is_freed = false;
    return true;
}
