/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory events of a window, as they pass by in the order of time: of what was allocated before it,
 * only that is kept which nobody has freed before it, and of what comes after it, only what ends a
 * life that reaches into it. So no more are held than live at one time, and those of the window. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

/* Open addressing with linear steps, at most half full; what stood behind an entry that is taken out
 * moves up, as far as it may. */
struct live_slot {
    int64_t process, address;
    uint32_t memory_plus_1; /* the allocation, into memories; 0: free */
};

struct nsys_live {
    struct live_slot *slots;
    size_t n_slots, n; /* n_slots a power of two, or 0 */
};

enum place { BEFORE, INSIDE, AFTER };

#define FIRST_SLOTS ((size_t)64)

static size_t home_of(const struct nsys_live *live, int64_t process, int64_t address)
{
    uint64_t hash = ((uint64_t)process ^ (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15)) *
                    UINT64_C(0xd1342543de82ef95);

    return (size_t)(hash ^ hash >> 32) & (live->n_slots - 1);
}

/* The slot of the address, or the free one where it belongs. */
static size_t find(const struct nsys_live *live, int64_t process, int64_t address)
{
    size_t at = home_of(live, process, address);

    while (live->slots[at].memory_plus_1 != 0 &&
           (live->slots[at].process != process || live->slots[at].address != address))
        at = (at + 1) & (live->n_slots - 1);
    return at;
}

static enum weir_status make_room(struct nsys_live *live, struct weir_error *err)
{
    struct nsys_live old = *live;

    if (2 * (live->n + 1) <= live->n_slots)
        return WEIR_OK;
    live->n_slots = old.n_slots == 0 ? FIRST_SLOTS : 2 * old.n_slots;
    live->slots = calloc(live->n_slots, sizeof *live->slots);
    if (live->slots == NULL) {
        *live = old;
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < old.n_slots; i++) {
        if (old.slots[i].memory_plus_1 != 0)
            live->slots[find(live, old.slots[i].process, old.slots[i].address)] = old.slots[i];
    }
    free(old.slots);
    return WEIR_OK;
}

static void take_out(struct nsys_live *live, size_t at)
{
    size_t mask = live->n_slots - 1, hole = at;

    for (size_t i = (at + 1) & mask; live->slots[i].memory_plus_1 != 0; i = (i + 1) & mask) {
        size_t home = home_of(live, live->slots[i].process, live->slots[i].address);

        if (((i - home) & mask) < ((i - hole) & mask))
            continue; /* its steps begin behind the hole */
        live->slots[hole] = live->slots[i];
        hole = i;
    }
    live->slots[hole].memory_plus_1 = 0;
    live->n--;
}

/* By the call that is kept, else by its own time. A call after the window may lie within one of it:
 * then nsys_link.c decides. */
static enum place place_of(const struct nsys *nsys, const struct nsys_memory *memory)
{
    uint32_t call = nsys_window_call(nsys, memory->process, memory->correlation);
    int64_t at_ns = call == NSYS_NONE ? memory->t_ns : nsys->calls[call].start_ns;

    if (at_ns < nsys->from_ns)
        return BEFORE;
    return call != NSYS_NONE || at_ns < nsys->to_ns ? INSIDE : AFTER;
}

static bool is_of_failed_call(const struct nsys *nsys, const struct nsys_memory *memory)
{
    uint32_t call = nsys_window_call(nsys, memory->process, memory->correlation);

    return call != NSYS_NONE && (nsys->calls[call].flags & CALL_IS_FAILED) != 0;
}

/* The last event takes its place, and the table knows. */
static void forget(struct nsys *nsys, uint32_t id)
{
    struct nsys_live *live = nsys->live;
    const struct nsys_memory *last = &nsys->memories[--nsys->n_memories];
    size_t at;

    if (id == nsys->n_memories)
        return;
    at = find(live, last->process, last->address);
    if (live->slots[at].memory_plus_1 == nsys->n_memories + 1)
        live->slots[at].memory_plus_1 = id + 1;
    nsys->memories[id] = *last;
}

static enum weir_status take_free(struct nsys *nsys, const struct nsys_memory *memory, size_t at,
                                  struct weir_error *err)
{
    struct nsys_live *live = nsys->live;
    uint32_t open = live->slots[at].memory_plus_1;
    enum place place = place_of(nsys, memory);

    if (open == 0)
        return place == INSIDE ? nsys_add_memory(nsys, memory, err) : WEIR_OK;
    take_out(live, at);
    if (place == BEFORE && place_of(nsys, &nsys->memories[open - 1]) == BEFORE) {
        forget(nsys, open - 1);
        return WEIR_OK;
    }
    return nsys_add_memory(nsys, memory, err);
}

static enum weir_status take_allocation(struct nsys *nsys, const struct nsys_memory *memory,
                                        size_t at, struct weir_error *err)
{
    struct nsys_live *live = nsys->live;
    uint32_t open = live->slots[at].memory_plus_1;
    enum place place = place_of(nsys, memory);
    enum weir_status status;

    if (open != 0) {
        take_out(live, at);
        if (place == BEFORE && place_of(nsys, &nsys->memories[open - 1]) == BEFORE)
            forget(nsys, open - 1);
    }
    if (place == AFTER && open == 0)
        return WEIR_OK;
    status = nsys_add_memory(nsys, memory, err);
    if (status != WEIR_OK || place == AFTER)
        return status;
    at = find(live, memory->process, memory->address);
    live->slots[at] = (struct live_slot){memory->process, memory->address, nsys->n_memories};
    live->n++;
    return WEIR_OK;
}

enum weir_status nsys_live_take(struct nsys *nsys, const struct nsys_memory *memory,
                                struct weir_error *err)
{
    enum weir_status status;
    size_t at;

    if (nsys->live == NULL)
        nsys->live = calloc(1, sizeof *nsys->live);
    if (nsys->live == NULL)
        return weir_error_memory(err);
    if ((!memory->is_free && memory->bytes <= 0) || is_of_failed_call(nsys, memory))
        return place_of(nsys, memory) == INSIDE ? nsys_add_memory(nsys, memory, err) : WEIR_OK;
    status = make_room(nsys->live, err);
    if (status != WEIR_OK)
        return status;
    at = find(nsys->live, memory->process, memory->address);
    return memory->is_free ? take_free(nsys, memory, at, err)
                           : take_allocation(nsys, memory, at, err);
}

void nsys_live_free(struct nsys *nsys)
{
    if (nsys->live != NULL)
        free(nsys->live->slots);
    free(nsys->live);
    nsys->live = NULL;
}
