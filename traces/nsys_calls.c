/* SPDX-License-Identifier: GPL-3.0-or-later */
/* API calls to actions on the host, one engine a thread.
 *
 * A call that waited is cut in two: what comes before the wait, and what is left from the moment
 * when all that it waited for had ended. The wait itself is no action: in another schedule it is as
 * long as it has to be. A call that gave out or took back memory is cut there too: the allocation
 * begins when its event says, a reclamation ends then. Everything else of a call is the host's own
 * time, and nested calls lie within it. */
#include <stdlib.h>

#include "traces/nsys_internal.h"

struct part {
    int64_t start_ns, finish_ns;
    uint32_t memory; /* of an allocation or reclamation; NSYS_NONE */
    bool is_after_wait;
};

struct cut {
    struct part parts[6];
    int n;
};

static void add_part(struct cut *cut, int64_t start_ns, int64_t finish_ns, uint32_t memory)
{
    cut->parts[cut->n++] = (struct part){start_ns, finish_ns, memory, false};
}

static int64_t clamped(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* The allocation lasts until `end_ns`, unless its object was taken back before that. */
static void add_allocation(const struct nsys *nsys, struct cut *cut, uint32_t id, int64_t end_ns)
{
    const struct nsys_memory *memory = &nsys->memories[id];
    int64_t gone_ns =
        memory->partner == NSYS_NONE ? INT64_MAX : nsys->memories[memory->partner].t_ns;

    if (gone_ns >= end_ns) {
        add_part(cut, memory->t_ns, end_ns, id);
        return;
    }
    add_part(cut, memory->t_ns, memory->t_ns, id);
    add_part(cut, memory->t_ns, end_ns, NSYS_NONE);
}

/* The reclamation begins at `begin_ns`, unless the allocation may not have returned before that. */
static void add_reclamation(const struct nsys *nsys, struct cut *cut, uint32_t id, int64_t begin_ns)
{
    const struct nsys_memory *memory = &nsys->memories[id];
    int64_t there_ns = INT64_MIN;

    if (memory->partner != NSYS_NONE) {
        const struct nsys_memory *allocation = &nsys->memories[memory->partner];
        there_ns = allocation->t_ns;
        if (allocation->call != NSYS_NONE && nsys->calls[allocation->call].end_ns > there_ns)
            there_ns = nsys->calls[allocation->call].end_ns;
    }
    if (there_ns < begin_ns) {
        add_part(cut, begin_ns, memory->t_ns, id);
        return;
    }
    if (begin_ns < memory->t_ns)
        add_part(cut, begin_ns, memory->t_ns, NSYS_NONE);
    add_part(cut, memory->t_ns, memory->t_ns, id);
}

/* From `begin_ns` to the end of the call, at an event of memory. */
static void cut_at_memory(const struct nsys *nsys, struct cut *cut, uint32_t id, int64_t begin_ns,
                          int64_t end_ns)
{
    const struct nsys_memory *memory = &nsys->memories[id];

    if (memory->is_free) {
        add_reclamation(nsys, cut, id, begin_ns);
        if (memory->t_ns < end_ns)
            add_part(cut, memory->t_ns, end_ns, NSYS_NONE);
        return;
    }
    if (memory->t_ns > begin_ns)
        add_part(cut, begin_ns, memory->t_ns, NSYS_NONE);
    add_allocation(nsys, cut, id, end_ns);
}

/* @param wait_end_ns when what the call waited for had ended; INT64_MIN: it waited for nothing */
static void cut_call(const struct nsys *nsys, const struct nsys_call *call, int64_t wait_end_ns,
                     uint32_t memory, struct cut *cut)
{
    bool waits = wait_end_ns > call->start_ns;
    int64_t begin_ns = call->start_ns;

    cut->n = 0;
    if (waits && memory != NSYS_NONE && nsys->memories[memory].t_ns < wait_end_ns) {
        int64_t wait_begin_ns = nsys->memories[memory].t_ns;

        cut_at_memory(nsys, cut, memory, begin_ns, wait_begin_ns);
        memory = NSYS_NONE;
        begin_ns = wait_end_ns;
    } else if (waits) {
        int64_t wait_begin_ns = call->wait_begin_ns == INT64_MAX ? begin_ns : call->wait_begin_ns;

        add_part(cut, begin_ns, clamped(wait_begin_ns, begin_ns, wait_end_ns), NSYS_NONE);
        begin_ns = wait_end_ns;
    }
    if (memory == NSYS_NONE) {
        add_part(cut, begin_ns, call->end_ns, NSYS_NONE);
        cut->parts[cut->n - 1].is_after_wait = waits;
    } else {
        int first = cut->n;

        cut_at_memory(nsys, cut, memory, begin_ns, call->end_ns);
        cut->parts[first].is_after_wait = waits;
    }
}

/* Actions. */

struct words {
    uint32_t host_class, wait_class, alloc, free, returned, table;
};

static enum weir_status make_words(struct recording *recording, struct words *words,
                                   struct weir_error *err)
{
    enum weir_status status = recording_word(recording, "host", &words->host_class, err);

    if (status == WEIR_OK)
        status = recording_word(recording, "host-wait", &words->wait_class, err);
    if (status == WEIR_OK)
        status = recording_word(recording, "alloc", &words->alloc, err);
    if (status == WEIR_OK)
        status = recording_word(recording, "free", &words->free, err);
    if (status == WEIR_OK)
        status = recording_word(recording, "return", &words->returned, err);
    if (status == WEIR_OK)
        status = recording_word(recording, "RUNTIME", &words->table, err);
    return status;
}

static enum weir_status add_action(struct nsys *nsys, struct nsys_call *call,
                                   const struct part *part, uint32_t engine,
                                   const struct words *words, uint32_t *id, struct weir_error *err)
{
    struct recording_action action = {
        .start_ns = part->start_ns,
        .finish_ns = part->finish_ns,
        .bytes = -1,
        .origin_row = call->row,
        .name = call->name,
        .lead = RECORDING_NONE,
        .engine = engine,
        .object = RECORDING_NONE,
        .class_name = part->is_after_wait ? words->wait_class : words->host_class,
        .domain = RECORDING_NONE,
        .from = RECORDING_NONE,
        .to = RECORDING_NONE,
        .origin_table = words->table,
        .origin_range = call->range,
        .kind = NODE_COMPUTE,
        .rank = RANK_HOST,
        .source = TIME_HOST,
    };

    if (part->memory != NSYS_NONE) {
        struct nsys_memory *memory = &nsys->memories[part->memory];

        memory->action = recording_n_actions(nsys->recording);
        action.kind = memory->is_free ? NODE_RECLAMATION : NODE_ALLOCATION;
        action.object = memory->object;
        action.name = memory->is_free ? words->free : words->alloc;
        action.domain = recording_object_domain(nsys->recording, memory->object);
        action.origin_call = call->name;
    } else if (call->first_action != NSYS_NONE) {
        action.lead = call->first_action;
        action.name = words->returned;
        action.flags = ACTION_IS_PART;
        action.origin_call = call->name;
    }
    return recording_add_action(nsys->recording, &action, id, err);
}

/* The actions of a call, each linked to the one before it; device work that the call launches hangs
 * on the first, or on what comes after a wait that had to end first. */
static enum weir_status add_parts(struct nsys *nsys, struct nsys_call *call, const struct cut *cut,
                                  uint32_t engine, const struct words *words,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (int i = 0; i < cut->n && status == WEIR_OK; i++) {
        struct recording_link link = {.producer = call->last_action, .rule = RULE_CALL_PARTS};
        enum recording_fit fit;
        uint32_t id;

        status = add_action(nsys, call, &cut->parts[i], engine, words, &id, err);
        if (status != WEIR_OK)
            break;
        link.consumer = id;
        if (i > 0)
            status = recording_link(nsys->recording, &link, &fit, err);
        if (i == 0)
            call->first_action = call->launch_action = call->wait_action = id;
        if (cut->parts[i].is_after_wait) {
            call->wait_action = id;
            if ((call->flags & CALL_WAITS_FIRST) != 0)
                call->launch_action = id;
        }
        call->last_action = id;
    }
    return status;
}

/* When all that the call waits for had ended; the waits are sorted by call. */
static int64_t waited_until(const struct nsys *nsys, uint32_t call, size_t *next)
{
    int64_t until_ns = INT64_MIN;

    while (*next < nsys->n_waits && nsys->waits[*next].call < call)
        (*next)++;
    for (; *next < nsys->n_waits && nsys->waits[*next].call == call; (*next)++) {
        int64_t end_ns = nsys->ops[nsys->waits[*next].op].end_ns;

        if (end_ns > until_ns)
            until_ns = end_ns;
    }
    return until_ns > nsys->calls[call].end_ns ? nsys->calls[call].end_ns : until_ns;
}

/* The first event of memory that lies within the call: the others become actions of their own. */
static uint32_t memory_within(const struct nsys *nsys, const struct nsys_call *call)
{
    uint32_t id = call->memory;

    while (id != NSYS_NONE &&
           (nsys->memories[id].t_ns < call->start_ns || nsys->memories[id].t_ns > call->end_ns))
        id = nsys->memories[id].next;
    return id;
}

static bool is_action(const struct nsys_call *call)
{
    return (call->flags & (CALL_IS_FAILED | CALL_IS_NESTED | CALL_IS_OUTSIDE)) == 0;
}

static enum weir_status add_thread_engine(struct nsys *nsys, uint32_t *n_threads, uint32_t *engine,
                                          struct weir_error *err)
{
    char name[32];
    uint32_t text;
    enum weir_status status;

    (void)snprintf(name, sizeof name, "host:thread%u", (unsigned)++*n_threads);
    status = recording_word(nsys->recording, name, &text, err);
    return status == WEIR_OK
               ? recording_add_engine(nsys->recording, text, nsys->host_domain, engine, err)
               : status;
}

/* Calls of one thread follow each other; across a call that failed, or lies outside, too. */
static enum weir_status link_calls(struct nsys *nsys, const struct nsys_call *before,
                                   const struct nsys_call *call, struct weir_error *err)
{
    const struct recording_link link = {
        .producer = before->last_action, .consumer = call->first_action, .rule = RULE_HOST_ORDER};
    enum recording_fit fit;

    return recording_link(nsys->recording, &link, &fit, err);
}

enum weir_status nsys_add_calls(struct nsys *nsys, struct weir_error *err)
{
    struct words words;
    uint32_t n_threads = 0, engine = RECORDING_NONE;
    const struct nsys_call *before = NULL;
    size_t next_wait = 0;
    enum weir_status status = make_words(nsys->recording, &words, err);

    for (uint32_t i = 0; i < nsys->n_calls && status == WEIR_OK; i++) {
        struct nsys_call *call = &nsys->calls[i];
        struct cut cut;
        int64_t wait_end_ns;

        if (!is_action(call))
            continue;
        if (before == NULL || before->thread != call->thread) {
            before = NULL;
            status = add_thread_engine(nsys, &n_threads, &engine, err);
        }
        wait_end_ns = waited_until(nsys, i, &next_wait);
        cut_call(nsys, call, wait_end_ns, memory_within(nsys, call), &cut);
        if (status == WEIR_OK)
            status = add_parts(nsys, call, &cut, engine, &words, err);
        if (status == WEIR_OK && before != NULL)
            status = link_calls(nsys, before, call, err);
        before = call;
        nsys->counts.host_calls++;
        nsys->tables[NSYS_RUNTIME].n_kept++;
        if (wait_end_ns > call->start_ns)
            nsys->counts.blocking_calls++;
    }
    return status;
}
