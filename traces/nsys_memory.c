/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations with their frees, by process, address and time: an address names one allocation until
 * it is given back. Each becomes an object with the lifetime that the driver gave it. Who reads and
 * writes it is not in the file. */
#include <inttypes.h>
#include <stdlib.h>

#include "traces/nsys_internal.h"

/* As ENUM_CUDA_MEM_KIND numbers them. */
enum memory_kind {
    MEMORY_PAGEABLE,
    MEMORY_PINNED,
    MEMORY_DEVICE,
    MEMORY_ARRAY,
    MEMORY_MANAGED,
    MEMORY_DEVICE_STATIC,
    MEMORY_MANAGED_STATIC,
    MEMORY_UNKNOWN
};

static const char *const kind_names[] = {"pageable", "pinned",        "device",         "array",
                                         "managed",  "device-static", "managed-static", "memory"};

/* Pairing. */

struct address {
    int64_t process, address;
    uint32_t memory; /* by time */
};

static int by_address(const void *left, const void *right)
{
    const struct address *a = left, *b = right;
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->address, b->address);
    return order != 0 ? order : nsys_compare(a->memory, b->memory);
}

/* The next event of an address, after the one that is still open there (NSYS_NONE: none is). */
static void pair_next(struct nsys *nsys, uint32_t *open, uint32_t id)
{
    struct nsys_memory *memory = &nsys->memories[id];
    struct nsys_memory *held = *open == NSYS_NONE ? NULL : &nsys->memories[*open];

    if (memory->is_free && held != NULL) {
        held->partner = id;
        memory->partner = *open;
        *open = NSYS_NONE;
        nsys->counts.paired++;
        return;
    }
    if (memory->is_free) {
        nsys->counts.frees_without_allocation++;
        return;
    }
    if (held != NULL) {
        held->partner = id;
        held->is_replaced = true;
        nsys->counts.allocations_replaced++;
    }
    *open = id;
}

static void pair_all(struct nsys *nsys, const struct address *addresses, size_t n)
{
    uint32_t open = NSYS_NONE;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (addresses[i].process != addresses[i - 1].process ||
                      addresses[i].address != addresses[i - 1].address))
            open = NSYS_NONE;
        pair_next(nsys, &open, addresses[i].memory);
    }
}

static bool is_static(const struct nsys_memory *memory)
{
    return memory->kind == MEMORY_DEVICE_STATIC || memory->kind == MEMORY_MANAGED_STATIC;
}

static void count_kinds(struct nsys *nsys)
{
    for (uint32_t i = 0; i < nsys->n_memories; i++) {
        const struct nsys_memory *memory = &nsys->memories[i];

        if (memory->is_ignored)
            continue;
        if (memory->is_free)
            nsys->counts.frees++;
        else
            nsys->counts.allocations++;
        if (memory->is_pooled)
            nsys->counts.stream_ordered++;
        if (memory->is_free || memory->partner != NSYS_NONE)
            continue;
        if (is_static(memory))
            nsys->counts.static_symbols++;
        else
            nsys->counts.allocations_without_free++;
    }
}

static bool is_async(const struct nsys *nsys, const struct nsys_memory *memory)
{
    return memory->call != NSYS_NONE && nsys->calls[memory->call].api == API_MEMORY_ASYNC;
}

enum weir_status nsys_pair_memory(struct nsys *nsys, struct weir_error *err)
{
    struct address *addresses = malloc(((size_t)nsys->n_memories + 1) * sizeof *addresses);
    size_t n = 0;

    if (addresses == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < nsys->n_memories; i++) {
        struct nsys_memory *memory = &nsys->memories[i];

        if (!memory->is_free && memory->bytes <= 0) {
            memory->is_ignored = true;
            nsys->counts.memory_without_bytes++;
        }
        memory->is_pooled = memory->is_pooled || is_async(nsys, memory);
        if (!memory->is_ignored)
            addresses[n++] = (struct address){memory->process, memory->address, i};
    }
    qsort(addresses, n, sizeof *addresses, by_address);
    pair_all(nsys, addresses, n);
    free(addresses);
    count_kinds(nsys);
    return WEIR_OK;
}

/* Objects. */

static int64_t called_ns(const struct nsys *nsys, const struct nsys_memory *memory)
{
    return memory->call == NSYS_NONE ? memory->t_ns : nsys->calls[memory->call].start_ns;
}

static bool is_inside(const struct nsys *nsys, const struct nsys_memory *memory)
{
    int64_t at_ns = called_ns(nsys, memory);

    return at_ns >= nsys->from_ns && at_ns < nsys->to_ns;
}

/* Where the bytes are. Managed memory moves; its home is the host, which can hold all of it. */
static bool is_on_host(const struct nsys_memory *memory)
{
    return memory->kind == MEMORY_PAGEABLE || memory->kind == MEMORY_PINNED ||
           memory->kind == MEMORY_MANAGED || memory->kind == MEMORY_MANAGED_STATIC;
}

struct life {
    bool is_initial, is_retained;
    uint8_t evidence;
    const char *detail;
};

/* What is known of the object that an event begins, or that it ends without having begun. */
static struct life life_of(const struct nsys *nsys, const struct nsys_memory *memory)
{
    if (memory->is_free)
        return (struct life){true, false, EVIDENCE_ASSUMED,
                             "freed without an allocation in the file: there from the start"};
    if (is_static(memory) && memory->partner == NSYS_NONE)
        return (struct life){true, true, EVIDENCE_OBSERVED, "static symbol: resident throughout"};
    if (!is_inside(nsys, memory))
        return (struct life){true, false, EVIDENCE_OBSERVED, "allocated before the window"};
    if (memory->is_replaced)
        return (struct life){false, false, EVIDENCE_INFERRED,
                             "allocated; its address was given out again, so it had been freed"};
    if (memory->kind == MEMORY_MANAGED || memory->kind == MEMORY_MANAGED_STATIC)
        return (struct life){false, false, EVIDENCE_ASSUMED,
                             "managed memory: which device holds it is not recorded"};
    if (memory->partner == NSYS_NONE)
        return (struct life){false, false, EVIDENCE_OBSERVED, "allocated; no free in the file"};
    return (struct life){false, false, EVIDENCE_OBSERVED, "allocated and freed, by address"};
}

static enum weir_status object_texts(struct nsys *nsys, const struct nsys_memory *memory,
                                     struct recording_object *object, const char *detail,
                                     struct weir_error *err)
{
    char text[512];
    enum weir_status status;

    if (memory->symbol != 0)
        (void)snprintf(text, sizeof text, "%s:%s", kind_names[memory->kind],
                       recording_text_of(nsys->recording, memory->symbol));
    else
        (void)snprintf(text, sizeof text, "%s", kind_names[memory->kind]);
    status = recording_word(nsys->recording, text, &object->name, err);
    if (status == WEIR_OK)
        status = recording_word(nsys->recording, detail, &object->detail, err);
    if (status != WEIR_OK)
        return status;
    (void)snprintf(text, sizeof text, "MEMORY_USAGE row %" PRId64 "%s%s", memory->row,
                   memory->call == NSYS_NONE ? "" : "; ",
                   memory->call == NSYS_NONE
                       ? ""
                       : recording_text_of(nsys->recording, nsys->calls[memory->call].name));
    return recording_word(nsys->recording, text, &object->origin, err);
}

static enum weir_status add_object(struct nsys *nsys, struct nsys_memory *memory,
                                   struct weir_error *err)
{
    const struct life life = life_of(nsys, memory);
    struct recording_object object = {
        .bytes = memory->bytes,
        .domain = is_on_host(memory) ? nsys->host_domain : nsys->gpus[memory->gpu].domain,
        .allocation = RECORDING_NONE,
        .reclamation = RECORDING_NONE,
        .evidence = life.evidence,
        .is_initial = life.is_initial,
        .is_retained = life.is_retained,
    };
    enum weir_status status = object_texts(nsys, memory, &object, life.detail, err);

    if (status == WEIR_OK)
        status = recording_add_object(nsys->recording, &object, &memory->object, err);
    return status;
}

/* Does the allocation's object live within the window at all? */
static bool is_alive(const struct nsys *nsys, const struct nsys_memory *memory)
{
    if (is_inside(nsys, memory))
        return true;
    if (called_ns(nsys, memory) >= nsys->to_ns)
        return false;
    return memory->partner == NSYS_NONE ||
           called_ns(nsys, &nsys->memories[memory->partner]) >= nsys->from_ns;
}

static enum weir_status take_event(struct nsys *nsys, struct nsys_memory *memory,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (!memory->is_free && is_alive(nsys, memory)) {
        status = add_object(nsys, memory, err);
        memory->acts =
            is_inside(nsys, memory) && !(is_static(memory) && memory->partner == NSYS_NONE);
    } else if (memory->is_free && is_inside(nsys, memory)) {
        if (memory->partner != NSYS_NONE)
            memory->object = nsys->memories[memory->partner].object;
        else if (memory->bytes > 0)
            status = add_object(nsys, memory, err);
        memory->acts = memory->object != NSYS_NONE;
    }
    if (status == WEIR_OK && memory->object != NSYS_NONE)
        nsys->tables[NSYS_MEMORY].n_kept++;
    return status;
}

enum weir_status nsys_add_objects(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_memories && status == WEIR_OK; i++) {
        if (!nsys->memories[i].is_ignored)
            status = take_event(nsys, &nsys->memories[i], err);
    }
    /* The events of a call in the order of time, for the call to be cut at. */
    for (uint32_t i = nsys->n_memories; i > 0; i--) {
        struct nsys_memory *memory = &nsys->memories[i - 1];

        if (!memory->acts || memory->is_pooled || memory->call == NSYS_NONE)
            continue;
        memory->next = nsys->calls[memory->call].memory;
        nsys->calls[memory->call].memory = i - 1;
    }
    return status;
}
