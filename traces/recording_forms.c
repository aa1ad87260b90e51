/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distinct forms of actions: open addressing with linear steps, at most half full. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/recording_internal.h"

#define FIRST_SLOTS ((size_t)64)

static uint64_t add_to_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static size_t hash_of(const struct action_form *form)
{
    uint64_t hash = add_to_hash(0, (uint64_t)form->class_name << 32 | form->origin_call);

    hash = add_to_hash(hash, (uint64_t)form->domain << 32 | form->origin_table);
    hash = add_to_hash(hash, (uint64_t)form->from << 32 | form->to);
    return (size_t)add_to_hash(hash, (uint64_t)form->kind << 24 | (uint64_t)form->rank << 16 |
                                         (uint64_t)form->source << 8 | form->flags);
}

static bool is_same(const struct action_form *a, const struct action_form *b)
{
    return a->class_name == b->class_name && a->domain == b->domain && a->from == b->from &&
           a->to == b->to && a->origin_table == b->origin_table &&
           a->origin_call == b->origin_call && a->kind == b->kind && a->rank == b->rank &&
           a->source == b->source && a->flags == b->flags;
}

static enum weir_status grow(struct form_table *table, struct weir_error *err)
{
    size_t n_slots = table->n_slots == 0 ? FIRST_SLOTS : 2 * table->n_slots;
    uint32_t *slots = calloc(n_slots, sizeof *slots);

    if (slots == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < table->n; i++) {
        size_t at = hash_of(&table->forms[i]) & (n_slots - 1);
        while (slots[at] != 0)
            at = (at + 1) & (n_slots - 1);
        slots[at] = i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    return WEIR_OK;
}

enum weir_status form_table_find(struct form_table *table, const struct action_form *form,
                                 uint32_t *id, struct weir_error *err)
{
    enum weir_status status;
    size_t at;

    if ((size_t)table->n * 2 >= table->n_slots) {
        status = grow(table, err);
        if (status != WEIR_OK)
            return status;
    }
    at = hash_of(form) & (table->n_slots - 1);
    while (table->slots[at] != 0) {
        *id = table->slots[at] - 1;
        if (is_same(&table->forms[*id], form))
            return WEIR_OK;
        at = (at + 1) & (table->n_slots - 1);
    }
    status = array_grow(&table->forms, &table->forms_room, (size_t)table->n + 1, err);
    if (status != WEIR_OK)
        return status;
    table->forms[table->n] = *form;
    *id = table->n++;
    table->slots[at] = *id + 1;
    return WEIR_OK;
}

void form_table_free(struct form_table *table)
{
    free(table->forms);
    free(table->slots);
    *table = (struct form_table){.n = 0};
}
