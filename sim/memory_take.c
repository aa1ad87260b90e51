/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node needs, and taking it. Bytes that nobody has used yet are taken first, then parcels;
 * what comes from a parcel makes an induced edge from its giver. Each take empties all but the last
 * of the parcels it touches. */
#include <stdlib.h>

#include "base/array.h"
#include "sim/memory_internal.h"

static bool is_due(const struct memory *memory, const struct program_take *take)
{
    return take->copy >= PROGRAM_STAGING || memory->lives[take->copy].state == COPY_AWAITED;
}

/* Adds what the node needs to needs[]; @return in how many domains it needs anything */
static uint32_t add_needs(struct memory *memory, uint32_t node)
{
    const struct program *program = memory->program;
    uint32_t n = 0;

    for (uint32_t i = program->first_take[node]; i < program->first_take[node + 1]; i++) {
        const struct program_take *take = &program->takes[i];

        if (!is_due(memory, take) || take->bytes == 0) {
            continue;
        }
        if (memory->needs[take->domain] == 0) {
            memory->needed[n++] = take->domain;
        }
        memory->needs[take->domain] += take->bytes;
    }
    return n;
}

bool memory_fits(struct memory *memory, uint32_t node, weir_domain *where)
{
    uint32_t n = add_needs(memory, node);
    bool fits = true;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t domain = memory->needed[i];
        const struct pool *pool = &memory->pools[domain];

        if (memory->needs[domain] > pool->usable_bytes - pool->used_bytes &&
            (fits || domain < where->index)) {
            fits = false;
            where->index = domain;
        }
        memory->needs[domain] = 0;
    }
    return fits;
}

int64_t memory_need_bytes(struct memory *memory, uint32_t node, weir_domain domain)
{
    uint32_t n = add_needs(memory, node);
    int64_t need = memory->needs[domain.index];

    for (uint32_t i = 0; i < n; i++) {
        memory->needs[memory->needed[i]] = 0;
    }
    return need;
}

static enum weir_status induce_one(struct memory *memory, uint32_t giver, uint32_t taker,
                                   uint32_t domain, int64_t bytes, struct weir_error *err)
{
    const struct timeline_induced row = {{giver}, {taker}, {domain}, bytes};

    return giver == taker ? WEIR_OK : timeline_add_induced(memory->timeline, &row, err);
}

static enum weir_status induce(struct memory *memory, const struct parcel *parcel, uint32_t taker,
                               uint32_t domain, int64_t bytes, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint32_t cursor = 0;
    weir_node giver;

    if (!memory->keeps_details) {
        return WEIR_OK;
    }
    if (parcel->copy == WEIR_NONE) {
        return induce_one(memory, parcel->giver, taker, domain, bytes, err);
    }
    while (status == WEIR_OK &&
           bind_last_use(memory->program->binding, (weir_copy){parcel->copy}, &cursor, &giver)) {
        status = induce_one(memory, giver.index, taker, domain, bytes, err);
    }
    return status;
}

static enum weir_status take_bytes(struct memory *memory, uint32_t domain, uint32_t node,
                                   int64_t bytes, struct weir_error *err)
{
    struct pool *pool = &memory->pools[domain];
    enum weir_status status = WEIR_OK;
    int64_t fresh = bytes < pool->fresh_bytes ? bytes : pool->fresh_bytes;

    pool->used_bytes += bytes;
    memory->used[domain] = pool->used_bytes;
    pool->fresh_bytes -= fresh;
    bytes -= fresh;
    while (bytes > 0 && status == WEIR_OK) {
        struct parcel *parcel = &pool->parcels[pool->head];
        int64_t part = bytes < parcel->bytes ? bytes : parcel->bytes;

        status = induce(memory, parcel, node, domain, part, err);
        parcel->bytes -= part;
        bytes -= part;
        if (parcel->bytes == 0) {
            pool->head++;
        }
    }
    return status;
}

static enum weir_status begin_copy(struct memory *memory, const struct program_take *take,
                                   uint32_t node, int64_t now_ns, struct weir_error *err)
{
    struct live *live = &memory->lives[take->copy];
    struct timeline_hold hold = {{take->domain}, {WEIR_NONE}, {node}, take->bytes, now_ns, -1};

    live->state = COPY_LIVE;
    if (!memory->keeps_details) {
        return WEIR_OK;
    }
    hold.object = bind_copy(memory->program->binding, (weir_copy){take->copy})->object;
    return memory_open_hold(memory, hold, &live->hold_row, err);
}

static enum weir_status begin_staging(struct memory *memory, const struct program_take *take,
                                      uint32_t node, int64_t now_ns, struct weir_error *err)
{
    const struct timeline_hold hold = {{take->domain}, {WEIR_NONE}, {node},
                                       take->bytes,    now_ns,      -1};
    struct staging staging = {node, take->domain, 0, 0, take->bytes};
    enum weir_status status = memory_open_hold(memory, hold, &staging.hold_row, err);

    if (status == WEIR_OK) {
        status = array_grow(&memory->stagings, &memory->stagings_room,
                            (size_t)memory->n_stagings + 1, err);
    }
    if (status == WEIR_OK && memory->staging_of == NULL) {
        memory->staging_of = calloc(memory->program->n_nodes, sizeof *memory->staging_of);
        status = memory->staging_of == NULL ? weir_error_memory(err) : WEIR_OK;
    }
    if (status == WEIR_OK) {
        memory->stagings[memory->n_stagings++] = staging;
        memory->staging_of[node] = memory->n_stagings;
    }
    return status;
}

enum weir_status memory_take(struct memory *memory, uint32_t node, int64_t now_ns,
                             struct weir_error *err)
{
    const struct program *program = memory->program;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->first_take[node];
         i < program->first_take[node + 1] && status == WEIR_OK; i++) {
        const struct program_take *take = &program->takes[i];

        if (!is_due(memory, take)) {
            continue;
        }
        status = take_bytes(memory, take->domain, node, take->bytes, err);
        if (status == WEIR_OK && take->copy == PROGRAM_STAGING) {
            status = begin_staging(memory, take, node, now_ns, err);
        } else if (status == WEIR_OK && take->copy != PROGRAM_WORKSPACE) {
            status = begin_copy(memory, take, node, now_ns, err);
        }
    }
    return status;
}
