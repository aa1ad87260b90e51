/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting of bytes: live copies, workspace and staging, by domain, never above what is usable. */
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

static enum copy_end end_of(const struct bind_copy *copy)
{
    if (weir_is(copy->reclamation)) {
        return END_BY_RECLAMATION;
    }
    return copy->stays ? END_NEVER : END_BY_LAST_USE;
}

static enum weir_status count_holds(struct memory *memory, uint32_t copy, uint32_t n_holds,
                                    struct weir_error *err)
{
    if (n_holds == 0) {
        return WEIR_OK;
    }
    if (memory->holds_left == NULL) {
        memory->holds_left = calloc(memory->program->n_copies, sizeof *memory->holds_left);
        if (memory->holds_left == NULL) {
            return weir_error_memory(err);
        }
    }
    memory->holds_left[copy] = n_holds;
    memory->lives[copy].end |= LIVE_HAS_HOLDS;
    return WEIR_OK;
}

static enum weir_status begin_copies(struct memory *memory, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < memory->program->n_copies && status == WEIR_OK; i++) {
        const struct bind_copy *copy = bind_copy(memory->program->binding, (weir_copy){i});

        memory->lives[i] = (struct live){.bytes = copy->bytes,
                                         .domain = (uint16_t)copy->domain.index,
                                         .uses_left = copy->n_uses,
                                         .state = copy->is_initial ? COPY_LIVE : COPY_AWAITED,
                                         .end = (uint8_t)end_of(copy)};
        status = count_holds(memory, i, copy->n_holds, err);
        if (copy->is_initial) {
            memory->used_bytes[copy->domain.index] += copy->bytes;
            memory->has_changed = true;
        }
        if (status == WEIR_OK && copy->is_initial && memory->ledger != NULL) {
            status = ledger_initial(memory->ledger, i, err);
        }
    }
    return status;
}

enum weir_status memory_rewind(struct memory *memory, struct ledger *ledger, struct weir_error *err)
{
    const struct program *program = memory->program;

    memory->ledger = ledger;
    memory->n_freed = 0;
    memory->n_stagings = 0;
    memory->n_links = 0;
    if (memory->staging_of != NULL) {
        memset(memory->staging_of, 0, program->n_nodes * sizeof *memory->staging_of);
        memset(memory->staged_for, 0, program->n_copies * sizeof *memory->staged_for);
    }
    for (uint32_t i = 0; i < program->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(program->graph, (weir_domain){i});

        memory->used_bytes[i] = 0;
        memory->pools[i] =
            (struct pool){.usable_bytes = domain->capacity_bytes - domain->reserve_bytes,
                          .last_copy = WEIR_NONE,
                          .last_giver = WEIR_NONE};
    }
    return begin_copies(memory, err);
}

static enum weir_status memory_begin(struct memory *memory, struct weir_error *err)
{
    const struct program *program = memory->program;
    size_t n_domains = (size_t)program->n_domains + 1;

    memory->pools = calloc(n_domains, sizeof *memory->pools);
    memory->used_bytes = calloc(n_domains, sizeof *memory->used_bytes);
    memory->needs = calloc(n_domains, sizeof *memory->needs);
    memory->needed = calloc(n_domains, sizeof *memory->needed);
    memory->freed = calloc(n_domains, sizeof *memory->freed);
    memory->lives = malloc(((size_t)program->n_copies + 1) * sizeof *memory->lives);
    if (memory->pools == NULL || memory->used_bytes == NULL || memory->needs == NULL ||
        memory->needed == NULL || memory->freed == NULL || memory->lives == NULL) {
        return weir_error_memory(err);
    }
    return memory_rewind(memory, NULL, err);
}

enum weir_status memory_new(const struct program *program, struct memory **out,
                            struct weir_error *err)
{
    struct memory *memory = calloc(1, sizeof *memory);
    enum weir_status status;

    if (memory == NULL) {
        return weir_error_memory(err);
    }
    memory->program = program;
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
    free(memory->pools);
    free(memory->used_bytes);
    free(memory->needs);
    free(memory->needed);
    free(memory->freed);
    free(memory->lives);
    free(memory->holds_left);
    free(memory->staging_of);
    free(memory->staged_for);
    free(memory->stagings);
    free(memory->links);
    free(memory);
}

weir_domain memory_overfull(const struct memory *memory)
{
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        if (memory->used_bytes[i] > memory->pools[i].usable_bytes) {
            return (weir_domain){i};
        }
    }
    return (weir_domain){WEIR_NONE};
}

void memory_settle(struct memory *memory)
{
    if (!memory->has_changed) {
        return;
    }
    memory->has_changed = false;
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        if (memory->used_bytes[i] > memory->pools[i].peak_bytes) {
            memory->pools[i].peak_bytes = memory->used_bytes[i];
        }
    }
}

void memory_await(struct memory *memory, weir_domain domain)
{
    memory->pools[domain.index].is_awaited = true;
}

bool memory_next_freed(struct memory *memory, weir_domain *domain)
{
    if (memory->n_freed == 0) {
        return false;
    }
    domain->index = memory->freed[--memory->n_freed];
    return true;
}

const int64_t *memory_used_bytes(const struct memory *memory)
{
    return memory->used_bytes;
}

static bool add_all(struct memory *memory, uint32_t domain, int64_t bytes)
{
    int64_t *needs = &memory->needs[domain];

    return !__builtin_add_overflow(*needs, bytes, needs) &&
           *needs <= memory->pools[domain].usable_bytes;
}

bool memory_is_ample(struct memory *memory)
{
    const struct program *program = memory->program;
    uint32_t n_charges =
        program->first_charge == NULL ? 0 : program->first_charge[program->n_nodes];
    bool is_ample = true;

    for (uint32_t i = 0; i < program->n_copies && is_ample; i++) {
        is_ample = add_all(memory, memory->lives[i].domain, memory->lives[i].bytes);
    }
    for (uint32_t i = 0; i < n_charges && is_ample; i++) {
        is_ample = add_all(memory, program->charges[i].domain, program->charges[i].bytes);
    }
    memset(memory->needs, 0, program->n_domains * sizeof *memory->needs);
    return is_ample;
}

int64_t memory_usable_bytes(const struct memory *memory, weir_domain domain)
{
    return memory->pools[domain.index].usable_bytes;
}

int64_t memory_peak_bytes(const struct memory *memory, weir_domain domain)
{
    return memory->pools[domain.index].peak_bytes;
}

uint32_t memory_last_copy(const struct memory *memory, weir_domain domain)
{
    return memory->pools[domain.index].last_copy;
}

weir_node memory_last_giver(const struct memory *memory, weir_domain domain)
{
    return (weir_node){memory->pools[domain.index].last_giver};
}

int64_t memory_live_bytes(const struct memory *memory, weir_copy copy)
{
    const struct live *live = &memory->lives[copy.index];

    return live->state == COPY_LIVE ? live->bytes : 0;
}

size_t memory_memory_bytes(const struct memory *memory)
{
    return memory->program->n_copies * sizeof *memory->lives +
           memory->stagings_room * sizeof *memory->stagings +
           memory->links_room * sizeof *memory->links +
           (memory->holds_left == NULL ? 0 : memory->program->n_copies * sizeof(uint32_t)) +
           (memory->staging_of == NULL
                ? 0
                : ((size_t)memory->program->n_nodes + memory->program->n_copies) *
                      sizeof(uint32_t));
}
