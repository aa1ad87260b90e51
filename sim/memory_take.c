/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node needs, and taking it: copies that begin with it, workspace, staging. */
#include "sim/memory.h"

#include <stdlib.h>

#include "base/array.h"

static bool begins(const struct memory *memory, uint32_t touch)
{
    return (touch & TOUCH_BEGINS) != 0 && memory->lives[touch & TOUCH_COPY].state == COPY_AWAITED;
}

static void add_need(struct memory *memory, uint32_t domain, int64_t bytes, uint32_t *n)
{
    if (bytes > 0) {
        if (memory->needs[domain] == 0) {
            memory->needed[(*n)++] = domain;
        }
        memory->needs[domain] += bytes;
    }
}

/* Adds what the node needs to needs[]; @return in how many domains it needs anything */
static uint32_t add_needs(struct memory *memory, uint32_t node)
{
    const struct program *program = memory->program;
    const struct program_node *fixed = &program->nodes[node];
    uint32_t n = 0;

    for (uint32_t i = fixed->touches; i < fixed[1].touches; i++) {
        if (begins(memory, program->touches[i])) {
            const struct live *live = &memory->lives[program->touches[i] & TOUCH_COPY];

            add_need(memory, live->domain, live->bytes, &n);
        }
    }
    if ((fixed->flags & PROGRAM_CHARGES) != 0) {
        for (uint32_t i = program->first_charge[node]; i < program->first_charge[node + 1]; i++) {
            add_need(memory, program->charges[i].domain, program->charges[i].bytes, &n);
        }
    }
    return n;
}

bool memory_fits_all(struct memory *memory, uint32_t node, weir_domain *where)
{
    uint32_t n = add_needs(memory, node);
    bool fits = true;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t domain = memory->needed[i];

        if (memory->needs[domain] >
                memory->pools[domain].usable_bytes - memory->used_bytes[domain] &&
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

static enum weir_status allocate_stagings(struct memory *memory, struct weir_error *err)
{
    if (memory->staging_of != NULL) {
        return WEIR_OK;
    }
    memory->staging_of = calloc(memory->program->n_nodes, sizeof *memory->staging_of);
    memory->staged_for = calloc((size_t)memory->program->n_copies + 1, sizeof *memory->staged_for);
    return memory->staging_of == NULL || memory->staged_for == NULL ? weir_error_memory(err)
                                                                    : WEIR_OK;
}

static enum weir_status begin_staging(struct memory *memory, const struct program_charge *charge,
                                      uint32_t node, struct weir_error *err)
{
    enum weir_status status = allocate_stagings(memory, err);

    if (status == WEIR_OK && memory->ledger != NULL) {
        status = ledger_stage(memory->ledger, charge->domain, node, charge->bytes, err);
    }
    if (status == WEIR_OK) {
        status = array_grow(&memory->stagings, &memory->stagings_room,
                            (size_t)memory->n_stagings + 1, err);
    }
    if (status == WEIR_OK) {
        memory->stagings[memory->n_stagings++] =
            (struct staging){node, charge->domain, 0, charge->bytes};
        memory->staging_of[node] = memory->n_stagings;
    }
    return status;
}

static enum weir_status take_charges(struct memory *memory, uint32_t node, struct weir_error *err)
{
    const struct program *program = memory->program;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = program->first_charge[node];
         i < program->first_charge[node + 1] && status == WEIR_OK; i++) {
        const struct program_charge *charge = &program->charges[i];

        memory->used_bytes[charge->domain] += charge->bytes;
        if (charge->is_staging) {
            status = begin_staging(memory, charge, node, err);
        } else if (memory->ledger != NULL) {
            status =
                ledger_take(memory->ledger, charge->domain, node, WEIR_NONE, charge->bytes, err);
        }
    }
    return status;
}

enum weir_status memory_take_all(struct memory *memory, uint32_t node, struct weir_error *err)
{
    const struct program *program = memory->program;
    const struct program_node *fixed = &program->nodes[node];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = fixed->touches; i < fixed[1].touches && status == WEIR_OK; i++) {
        if (begins(memory, program->touches[i])) {
            status = memory_begin_copy(memory, program->touches[i] & TOUCH_COPY, node, err);
        }
    }
    if (status == WEIR_OK && (fixed->flags & PROGRAM_CHARGES) != 0) {
        memory->has_changed = true;
        status = take_charges(memory, node, err);
    }
    return status;
}
