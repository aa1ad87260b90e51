/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists and rare records of a graph's rows, and the indexes of names. */
#include "graph/graph_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static enum weir_status too_many(struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "the graph has more than 4294967294 rows or list items of one sort, "
                          "which is all that Weir counts; split it into smaller graphs");
}

enum weir_status graph_row_count(uint32_t count, struct weir_error *err)
{
    return count >= WEIR_NONE - 1 ? too_many(err) : WEIR_OK;
}

enum weir_status graph_row_room(void *rows, size_t *room, uint32_t count, size_t row_bytes,
                                struct weir_error *err)
{
    if (count >= WEIR_NONE - 1)
        return too_many(err);
    return array_reserve_raw(rows, room, (size_t)count + 1, row_bytes, err);
}

/* Moves what is there so that the first text of all is the first. */
static enum weir_status begin_at_zero(struct name_index *index, struct weir_error *err)
{
    size_t shift = index->first;
    enum weir_status status =
        array_grow_raw(&index->ids_plus_1, &index->room, index->count + shift, err);

    if (status != WEIR_OK)
        return status;
    memmove(index->ids_plus_1 + shift, index->ids_plus_1, index->count * sizeof *index->ids_plus_1);
    memset(index->ids_plus_1, 0, shift * sizeof *index->ids_plus_1);
    index->count += shift;
    index->first = 0;
    return WEIR_OK;
}

enum weir_status name_index_put(struct name_index *index, weir_text name, uint32_t id,
                                struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    size_t at;

    if (index->count == 0)
        index->first = name.index;
    else if (name.index < index->first)
        status = begin_at_zero(index, err);
    at = (size_t)name.index - index->first;
    if (status == WEIR_OK)
        status = array_grow_raw(&index->ids_plus_1, &index->room, at + 1, err);
    if (status != WEIR_OK)
        return status;
    for (; index->count <= at; index->count++)
        index->ids_plus_1[index->count] = 0;
    index->ids_plus_1[at] = id + 1;
    return WEIR_OK;
}

static unsigned char *item_at(const struct list_pool *pool, size_t position)
{
    return (unsigned char *)pool->items + position * pool->item_bytes;
}

static uint32_t length_at(const struct list_pool *pool, uint32_t position)
{
    uint32_t n = 0;

    if (position != 0)
        memcpy(&n, item_at(pool, position), sizeof n);
    return n;
}

/* Where in the pool the items lie; count when they lie elsewhere. */
static size_t position_of(const struct list_pool *pool, const void *items)
{
    uintptr_t start = (uintptr_t)pool->items, at = (uintptr_t)items;

    if (pool->items == NULL || at < start || at >= start + pool->count * pool->item_bytes)
        return pool->count;
    return (at - start) / pool->item_bytes;
}

enum weir_status list_put(struct list_pool *pool, const void *items, uint32_t n, uint32_t *position,
                          struct weir_error *err)
{
    size_t at = *position;

    if (n == 0) {
        *position = 0;
        return WEIR_OK;
    }
    if (length_at(pool, *position) < n) {
        size_t source = position_of(pool, items);
        bool is_ours = source != pool->count;
        enum weir_status status;
        at = pool->count == 0 ? 1 : pool->count;
        if (at + n >= WEIR_NONE)
            return too_many(err);
        status = array_reserve_raw(&pool->items, &pool->room, at + n + 1, pool->item_bytes, err);
        if (status != WEIR_OK)
            return status;
        if (is_ours)
            items = item_at(pool, source);
        pool->count = at + n + 1;
    }
    memmove(item_at(pool, at + 1), items, n * pool->item_bytes);
    memcpy(item_at(pool, at), &n, sizeof n);
    *position = (uint32_t)at;
    return WEIR_OK;
}

const void *list_get(const struct list_pool *pool, uint32_t position, uint32_t *n)
{
    *n = length_at(pool, position);
    return *n == 0 ? NULL : item_at(pool, (size_t)position + 1);
}

enum weir_status rare_put(struct rare_pool *pool, const struct rare_draft *draft,
                          uint32_t *position, struct weir_error *err)
{
    size_t at = *position;

    if (draft->mask == 0) {
        *position = 0;
        return WEIR_OK;
    }
    if (at == 0 || (unsigned)__builtin_popcountll((uint64_t)pool->words[at]) < draft->n_words) {
        enum weir_status status;
        at = pool->count == 0 ? 1 : pool->count;
        if (at + draft->n_words >= WEIR_NONE)
            return too_many(err);
        status = array_grow_raw(&pool->words, &pool->room, at + draft->n_words + 1, err);
        if (status != WEIR_OK)
            return status;
        pool->count = at + draft->n_words + 1;
    }
    pool->words[at] = (int64_t)draft->mask;
    memcpy(&pool->words[at + 1], draft->words, draft->n_words * sizeof *draft->words);
    *position = (uint32_t)at;
    return WEIR_OK;
}

uint32_t rare_id(const struct rare_pool *pool, uint32_t position, unsigned bit)
{
    return (uint32_t)rare_get(pool, position, bit, WEIR_NONE);
}

/* Which tells -0 from 0: both are written as they were read. */
static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_same_evidence(const struct graph_evidence *a, const struct graph_evidence *b)
{
    return a->kind == b->kind && weir_same(a->detail, b->detail) &&
           bits_of(a->confidence) == bits_of(b->confidence);
}

/* That is not the one put last. */
static enum weir_status evidence_find_or_add(struct graph *graph,
                                             const struct graph_evidence *evidence,
                                             uint32_t *position, struct weir_error *err)
{
    struct key key = {{(uint32_t)evidence->kind, evidence->detail.index, 0, 0}};
    enum weir_status status;
    uint32_t found;

    memcpy(&key.part[2], &evidence->confidence, sizeof evidence->confidence);
    found = keys_find(graph->evidence_keys, &key);
    if (found != KEYS_NONE) {
        *position = found;
        return WEIR_OK;
    }
    status = graph_row_room(&graph->evidences, &graph->evidences_room, graph->n_evidences,
                            sizeof *graph->evidences, err);
    if (status == WEIR_OK)
        status = keys_put(graph->evidence_keys, &key, graph->n_evidences, err);
    if (status != WEIR_OK)
        return status;
    graph->evidences[graph->n_evidences] = *evidence;
    *position = graph->n_evidences++;
    return WEIR_OK;
}

enum weir_status evidence_put(struct graph *graph, const struct graph_evidence *evidence,
                              uint32_t *position, struct weir_error *err)
{
    uint32_t last = graph->last_evidence;
    enum weir_status status;

    if (last < graph->n_evidences && is_same_evidence(evidence, &graph->evidences[last])) {
        *position = last;
        return WEIR_OK;
    }
    status = evidence_find_or_add(graph, evidence, position, err);
    if (status == WEIR_OK)
        graph->last_evidence = *position;
    return status;
}
