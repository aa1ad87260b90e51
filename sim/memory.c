/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting of bytes: live copies, workspace and staging, by domain, never above what is usable.
 *
 * Who takes bytes that others gave back must wait for them: those are the induced edges. If every
 * taker waits for its givers, capacity holds whatever the times are. There are no more induced edges
 * than takes and last uses. */
#include "sim/memory.h"

#include <stdlib.h>

#include "sim/memory_internal.h"

enum weir_status memory_open_hold(struct memory *memory, struct timeline_hold hold, uint32_t *row,
                                  struct weir_error *err)
{
    enum weir_status status;

    *row = 0;
    if (!memory->keeps_details) {
        return WEIR_OK;
    }
    status = timeline_add_hold(memory->timeline, &hold, err);
    *row = (uint32_t)memory->timeline->n_holds;
    return status;
}

static enum weir_status begin_initial(struct memory *memory, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < memory->program->n_copies && status == WEIR_OK; i++) {
        const struct bind_copy *copy = bind_copy(memory->program->binding, (weir_copy){i});
        struct live *live = &memory->lives[i];
        struct pool *pool = &memory->pools[copy->domain.index];
        const struct timeline_hold hold = {
            copy->domain, copy->object, {WEIR_NONE}, copy->bytes, 0, -1};

        live->bytes = copy->bytes;
        live->domain = copy->domain.index;
        live->uses_left = copy->n_uses;
        live->holds_left = copy->n_holds;
        live->end = weir_is(copy->reclamation) ? END_BY_RECLAMATION
                    : copy->stays              ? END_NEVER
                                               : END_BY_LAST_USE;
        if (copy->is_initial) {
            live->state = COPY_LIVE;
            pool->used_bytes += copy->bytes;
            pool->fresh_bytes -= copy->bytes;
            status = memory_open_hold(memory, hold, &live->hold_row, err);
        }
    }
    return status;
}

static enum weir_status memory_begin(struct memory *memory, struct weir_error *err)
{
    const struct program *program = memory->program;
    size_t n_domains = (size_t)program->n_domains + 1;
    enum weir_status status;

    memory->pools = calloc(n_domains, sizeof *memory->pools);
    memory->needs = calloc(n_domains, sizeof *memory->needs);
    memory->needed = calloc(n_domains, sizeof *memory->needed);
    memory->freed = calloc(n_domains, sizeof *memory->freed);
    memory->used = calloc(n_domains, sizeof *memory->used);
    memory->lives = calloc((size_t)program->n_copies + 1, sizeof *memory->lives);
    if (memory->pools == NULL || memory->needs == NULL || memory->needed == NULL ||
        memory->freed == NULL || memory->used == NULL || memory->lives == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(program->graph, (weir_domain){i});
        struct pool *pool = &memory->pools[i];

        pool->usable_bytes = domain->capacity_bytes - domain->reserve_bytes;
        pool->fresh_bytes = pool->usable_bytes;
        pool->settled_bytes = -1;
        pool->last_copy = WEIR_NONE;
    }
    status = begin_initial(memory, err);
    for (uint32_t i = 0; i < program->n_domains; i++) {
        memory->used[i] = memory->pools[i].used_bytes;
    }
    return status;
}

enum weir_status memory_new(const struct program *program, struct timeline *timeline,
                            bool keeps_details, struct memory **out, struct weir_error *err)
{
    struct memory *memory = calloc(1, sizeof *memory);
    enum weir_status status;

    if (memory == NULL) {
        return weir_error_memory(err);
    }
    memory->program = program;
    memory->timeline = timeline;
    memory->keeps_details = keeps_details;
    status = memory_begin(memory, err);
    if (status != WEIR_OK) {
        memory_free(memory);
        return status;
    }
    *out = memory;
    return WEIR_OK;
}

void memory_free(struct memory *memory)
{
    if (memory == NULL) {
        return;
    }
    for (uint32_t i = 0; memory->pools != NULL && i < memory->program->n_domains; i++) {
        free(memory->pools[i].parcels);
    }
    free(memory->pools);
    free(memory->needs);
    free(memory->needed);
    free(memory->freed);
    free(memory->used);
    free(memory->lives);
    free(memory->staging_of);
    free(memory->stagings);
    free(memory->links);
    free(memory);
}

weir_domain memory_overfull(const struct memory *memory)
{
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        if (memory->pools[i].used_bytes > memory->pools[i].usable_bytes) {
            return (weir_domain){i};
        }
    }
    return (weir_domain){WEIR_NONE};
}

enum weir_status memory_settle(struct memory *memory, int64_t now_ns, struct weir_error *err)
{
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        struct pool *pool = &memory->pools[i];
        const struct timeline_pressure row = {{i}, now_ns, pool->used_bytes};

        if (pool->used_bytes == pool->settled_bytes) {
            continue;
        }
        pool->settled_bytes = pool->used_bytes;
        if (pool->used_bytes > memory->timeline->peak_bytes[i]) {
            memory->timeline->peak_bytes[i] = pool->used_bytes;
        }
        if (memory->keeps_details) {
            enum weir_status status = timeline_add_pressure(memory->timeline, &row, err);

            if (status != WEIR_OK) {
                return status;
            }
        }
    }
    return WEIR_OK;
}

const int64_t *memory_used_bytes(const struct memory *memory)
{
    return memory->used;
}

int64_t memory_usable_bytes(const struct memory *memory, weir_domain domain)
{
    return memory->pools[domain.index].usable_bytes;
}

weir_object memory_last_freed(const struct memory *memory, weir_domain domain)
{
    uint32_t copy = memory->pools[domain.index].last_copy;

    if (copy == WEIR_NONE) {
        return (weir_object){WEIR_NONE};
    }
    return bind_copy(memory->program->binding, (weir_copy){copy})->object;
}

int64_t memory_live_bytes(const struct memory *memory, weir_copy copy)
{
    const struct live *live = &memory->lives[copy.index];

    return live->state == COPY_LIVE ? live->bytes : 0;
}

size_t memory_memory_bytes(const struct memory *memory)
{
    size_t bytes = memory->program->n_copies * sizeof *memory->lives +
                   memory->stagings_room * sizeof *memory->stagings +
                   memory->links_room * sizeof *memory->links +
                   (memory->staging_of == NULL ? 0 : memory->program->n_nodes * sizeof(uint32_t));

    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        bytes += memory->pools[i].room * sizeof *memory->pools[i].parcels;
    }
    return bytes;
}
