/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls by process and correlation id. A process counts its ids up, so its calls mostly stand in a
 * table by id, without gaps to speak of; where they do not, they are found by hash. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

/* A table may be this many times as long as there are ids in it. */
#define SPREAD_MOST 8

struct process_ids {
    int64_t process;
    int64_t least;
    uint64_t n;             /* places in the table */
    uint32_t *calls_plus_1; /* by id less the least; 0 none; NULL: by hash */
    uint32_t from, to;      /* its calls */
};

struct nsys_ids {
    struct process_ids *processes; /* by process */
    size_t n, room;
    struct keys *scattered; /* of the processes without a table */
};

static struct key key_of(int64_t process, int64_t id)
{
    return (struct key){{(uint32_t)process, (uint32_t)((uint64_t)process >> 32), (uint32_t)id,
                         (uint32_t)((uint64_t)id >> 32)}};
}

static int by_process(const void *left, const void *right)
{
    const struct process_ids *a = left, *b = right;

    return nsys_compare(a->process, b->process);
}

/* Calls are sorted by thread, so those of a process stand together. */
static enum weir_status find_processes(const struct nsys *nsys, struct nsys_ids *ids,
                                       struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_calls && status == WEIR_OK; i++) {
        int64_t process = nsys_process_of(nsys->calls[i].thread);

        if (ids->n == 0 || ids->processes[ids->n - 1].process != process) {
            status = array_grow(&ids->processes, &ids->room, ids->n + 1, err);
            if (status == WEIR_OK)
                ids->processes[ids->n++] = (struct process_ids){.process = process, .from = i};
        }
        if (status == WEIR_OK)
            ids->processes[ids->n - 1].to = i + 1;
    }
    if (ids->n > 0)
        qsort(ids->processes, ids->n, sizeof *ids->processes, by_process);
    return status;
}

static enum weir_status make_table(const struct nsys *nsys, struct process_ids *its,
                                   struct weir_error *err)
{
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (uint32_t i = its->from; i < its->to; i++) {
        int64_t id = nsys->calls[i].correlation;

        if (id != 0 && id < least)
            least = id;
        if (id != 0 && id > most)
            most = id;
    }
    if (least > most)
        return WEIR_OK;
    its->least = least;
    its->n = (uint64_t)most - (uint64_t)least + 1;
    if (its->n == 0 || its->n / SPREAD_MOST > its->to - its->from)
        return WEIR_OK;
    its->calls_plus_1 = calloc((size_t)its->n, sizeof *its->calls_plus_1);
    return its->calls_plus_1 == NULL ? weir_error_memory(err) : WEIR_OK;
}

/* The first call of an id keeps it; the others are told. */
static enum weir_status put_call(struct nsys *nsys, struct process_ids *its, uint32_t i,
                                 struct weir_error *err)
{
    struct nsys_call *call = &nsys->calls[i];
    const struct key key = key_of(its->process, call->correlation);
    bool is_taken;

    if (call->correlation == 0)
        return WEIR_OK;
    if (its->calls_plus_1 != NULL) {
        uint32_t *place = &its->calls_plus_1[(uint64_t)call->correlation - (uint64_t)its->least];

        is_taken = *place != 0;
        if (!is_taken)
            *place = i + 1;
    } else {
        is_taken = keys_find(nsys->ids->scattered, &key) != KEYS_NONE;
        if (!is_taken)
            return keys_put(nsys->ids->scattered, &key, i, err);
    }
    if (is_taken) {
        call->flags |= CALL_IS_REPEAT;
        nsys->counts.repeated_calls++;
    }
    return WEIR_OK;
}

enum weir_status nsys_ids_new(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_ids *ids = calloc(1, sizeof *ids);
    enum weir_status status;

    if (ids == NULL)
        return weir_error_memory(err);
    nsys->ids = ids;
    ids->scattered = keys_new();
    status = ids->scattered == NULL ? weir_error_memory(err) : find_processes(nsys, ids, err);
    for (size_t at = 0; at < ids->n && status == WEIR_OK; at++) {
        struct process_ids *its = &ids->processes[at];

        status = make_table(nsys, its, err);
        for (uint32_t i = its->from; i < its->to && status == WEIR_OK; i++)
            status = put_call(nsys, its, i, err);
    }
    return status;
}

void nsys_ids_free(struct nsys *nsys)
{
    struct nsys_ids *ids = nsys->ids;

    if (ids == NULL)
        return;
    for (size_t i = 0; i < ids->n; i++)
        free(ids->processes[i].calls_plus_1);
    free(ids->processes);
    keys_free(ids->scattered);
    free(ids);
    nsys->ids = NULL;
}

uint32_t nsys_find_call(const struct nsys *nsys, int64_t process, int64_t correlation)
{
    const struct nsys_ids *ids = nsys->ids;
    const struct process_ids *its = NULL;
    size_t low = 0, high = ids->n;
    uint64_t place;

    if (correlation == 0)
        return NSYS_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ids->processes[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ids->n || ids->processes[low].process != process)
        return NSYS_NONE;
    its = &ids->processes[low];
    if (its->calls_plus_1 == NULL) {
        const struct key key = key_of(process, correlation);
        return keys_find(ids->scattered, &key);
    }
    place = (uint64_t)correlation - (uint64_t)its->least;
    return place >= its->n ? NSYS_NONE : its->calls_plus_1[place] - 1;
}
