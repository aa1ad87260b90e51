/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting of bytes: live copies, workspace and staging, by domain, never above what is usable.
 *
 * Bytes that come back are kept as parcels, oldest first, each with the node that gave it back; bytes
 * that nobody has used yet are taken first, then parcels. What a node takes from a parcel makes an
 * induced edge from its giver: if every taker waits for its givers, capacity holds whatever the
 * times are. Each take empties all but the last of the parcels it touches, so there are no more
 * induced edges than takes and gives. */
#include "sim/memory.h"

#include <stdlib.h>

#include "base/array.h"

struct parcel {
    int64_t bytes;
    uint32_t giver;
    uint32_t copy; /* that ended by itself: its last uses all gave; NONE when the giver alone did */
};

struct pool {
    int64_t usable_bytes, used_bytes;
    int64_t fresh_bytes;    /* usable and never used so far */
    int64_t settled_bytes;  /* as last recorded; -1 before the first record */
    struct parcel *parcels; /* [head, tail) */
    size_t room;
    uint32_t head, tail;
    weir_object last_freed;
};

struct live {
    uint32_t uses_left, holds_left;
    uint32_t hold_row; /* of the timeline, plus one; 0 none */
    uint32_t stagings; /* first of the list that waits for its last use, plus one; 0 none */
    enum { COPY_AWAITED, COPY_LIVE, COPY_ENDED } state;
};

/* Staging that outlives its node: waits for the last use of each copy that the node filled. */
struct staging {
    uint32_t node, domain, copies_left;
    uint32_t hold_row; /* as in struct live */
    int64_t bytes;
};

struct staging_link {
    uint32_t staging, next; /* next plus one; 0 ends */
};

struct memory {
    const struct program *program;
    struct timeline *timeline;
    bool keeps_details;
    struct pool *pools;
    struct live *lives;   /* by copy */
    int64_t *needs;       /* by domain: scratch, 0 between calls */
    int64_t *used;        /* by domain: for the policy's view */
    uint32_t *staging_of; /* by node: its staging, plus one; NULL until there is one */
    struct staging *stagings;
    size_t stagings_room;
    uint32_t n_stagings;
    struct staging_link *links;
    size_t links_room;
    uint32_t n_links;
};

/* --- what a node needs ---------------------------------------------------------------------- */

/* Does this touch begin its copy, if the node starts now? */
static bool begins(const struct memory *memory, const struct bind_touch *touch)
{
    const struct live *live = &memory->lives[touch->copy.index];
    const struct bind_copy *copy = bind_copy(memory->program->binding, touch->copy);

    if (live->state != COPY_AWAITED) {
        return false;
    }
    return weir_is(copy->allocation) ? (touch->roles & BIND_ALLOCATES) != 0
                                     : (touch->roles & BIND_FILLS) != 0;
}

static bool has_charges(const struct memory *memory, uint32_t node)
{
    return (memory->program->nodes[node].flags & PROGRAM_CHARGES) != 0;
}

static weir_domain charge_domain(const struct memory *memory, uint32_t node,
                                 const struct graph_charge *charge)
{
    return weir_is(charge->domain) ? charge->domain
                                   : graph_node_domain(memory->program->graph, (weir_node){node});
}

/* Adds what the node needs to needs[]. */
static void add_needs(struct memory *memory, uint32_t node)
{
    uint32_t n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);
    struct graph_node value;

    for (uint32_t i = 0; i < n_touches; i++) {
        if (begins(memory, &touches[i])) {
            const struct bind_copy *copy = bind_copy(memory->program->binding, touches[i].copy);

            memory->needs[copy->domain.index] += copy->bytes;
        }
    }
    if (!has_charges(memory, node)) {
        return;
    }
    graph_node(memory->program->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        memory->needs[charge_domain(memory, node, &value.workspace[i]).index] +=
            value.workspace[i].bytes;
    }
    if (value.staging.bytes > 0) {
        memory->needs[charge_domain(memory, node, &value.staging).index] += value.staging.bytes;
    }
}

bool memory_fits(struct memory *memory, uint32_t node, weir_domain *where)
{
    bool fits = true;

    add_needs(memory, node);
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        const struct pool *pool = &memory->pools[i];

        if (fits && memory->needs[i] > pool->usable_bytes - pool->used_bytes) {
            fits = false;
            where->index = i;
        }
        memory->needs[i] = 0;
    }
    return fits;
}

int64_t memory_need_bytes(struct memory *memory, uint32_t node, weir_domain domain)
{
    int64_t need;

    add_needs(memory, node);
    need = memory->needs[domain.index];
    for (uint32_t i = 0; i < memory->program->n_domains; i++) {
        memory->needs[i] = 0;
    }
    return need;
}

/* --- taking ------------------------------------------------------------------------------- */

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

/* @param row the number of the row plus one, 0 when details are not kept */
static enum weir_status open_hold(struct memory *memory, struct timeline_hold hold, uint32_t *row,
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

static void close_hold(struct memory *memory, uint32_t row, int64_t now_ns)
{
    if (row > 0) {
        memory->timeline->holds[row - 1].release_ns = now_ns;
    }
}

static enum weir_status begin_copy(struct memory *memory, weir_copy copy, uint32_t node,
                                   int64_t now_ns, struct weir_error *err)
{
    const struct bind_copy *bound = bind_copy(memory->program->binding, copy);
    struct live *live = &memory->lives[copy.index];
    const struct timeline_hold hold = {bound->domain, bound->object, {node},
                                       bound->bytes,  now_ns,        -1};
    enum weir_status status = take_bytes(memory, bound->domain.index, node, bound->bytes, err);

    live->state = COPY_LIVE;
    return status == WEIR_OK ? open_hold(memory, hold, &live->hold_row, err) : status;
}

static enum weir_status take_staging(struct memory *memory, uint32_t node,
                                     const struct graph_charge *charge, int64_t now_ns,
                                     struct weir_error *err)
{
    weir_domain domain = charge_domain(memory, node, charge);
    const struct timeline_hold hold = {domain, {WEIR_NONE}, {node}, charge->bytes, now_ns, -1};
    struct staging staging = {node, domain.index, 0, 0, charge->bytes};
    enum weir_status status = take_bytes(memory, domain.index, node, charge->bytes, err);

    if (status == WEIR_OK) {
        status = open_hold(memory, hold, &staging.hold_row, err);
    }
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
    uint32_t n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        if (begins(memory, &touches[i])) {
            status = begin_copy(memory, touches[i].copy, node, now_ns, err);
        }
    }
    if (status != WEIR_OK || !has_charges(memory, node)) {
        return status;
    }
    graph_node(memory->program->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace && status == WEIR_OK; i++) {
        uint32_t domain = charge_domain(memory, node, &value.workspace[i]).index;

        status = take_bytes(memory, domain, node, value.workspace[i].bytes, err);
    }
    if (status == WEIR_OK && value.staging.bytes > 0) {
        status = take_staging(memory, node, &value.staging, now_ns, err);
    }
    return status;
}

/* --- giving back ---------------------------------------------------------------------------- */

static enum weir_status make_room(struct pool *pool, struct weir_error *err)
{
    if (pool->head > 0 && pool->tail == pool->room && pool->head >= pool->tail / 2) {
        for (uint32_t i = pool->head; i < pool->tail; i++) {
            pool->parcels[i - pool->head] = pool->parcels[i];
        }
        pool->tail -= pool->head;
        pool->head = 0;
    }
    return array_grow(&pool->parcels, &pool->room, (size_t)pool->tail + 1, err);
}

static enum weir_status give_bytes(struct memory *memory, uint32_t domain, uint32_t giver,
                                   uint32_t copy, int64_t bytes, bool *freed,
                                   struct weir_error *err)
{
    struct pool *pool = &memory->pools[domain];
    enum weir_status status;

    if (bytes == 0) {
        return WEIR_OK;
    }
    status = make_room(pool, err);
    if (status != WEIR_OK) {
        return status;
    }
    pool->parcels[pool->tail++] = (struct parcel){bytes, giver, copy};
    pool->used_bytes -= bytes;
    memory->used[domain] = pool->used_bytes;
    pool->last_freed.index = WEIR_NONE;
    freed[domain] = true;
    return WEIR_OK;
}

static enum weir_status end_copy(struct memory *memory, weir_copy copy, uint32_t node,
                                 int64_t now_ns, bool *freed, struct weir_error *err)
{
    const struct bind_copy *bound = bind_copy(memory->program->binding, copy);
    struct live *live = &memory->lives[copy.index];
    enum weir_status status;

    if (live->state != COPY_LIVE) {
        return WEIR_OK;
    }
    live->state = COPY_ENDED;
    close_hold(memory, live->hold_row, now_ns);
    status =
        give_bytes(memory, bound->domain.index, node,
                   weir_is(bound->reclamation) ? WEIR_NONE : copy.index, bound->bytes, freed, err);
    memory->pools[bound->domain.index].last_freed = bound->object;
    return status;
}

static enum weir_status end_staging(struct memory *memory, uint32_t index, uint32_t giver,
                                    int64_t now_ns, bool *freed, struct weir_error *err)
{
    const struct staging *staging = &memory->stagings[index];

    close_hold(memory, staging->hold_row, now_ns);
    return give_bytes(memory, staging->domain, giver, WEIR_NONE, staging->bytes, freed, err);
}

/* The last use of the copy has finished: so has the need for what was staged for it. */
static enum weir_status end_stagings(struct memory *memory, struct live *live, uint32_t giver,
                                     int64_t now_ns, bool *freed, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t at = live->stagings; at > 0 && status == WEIR_OK;
         at = memory->links[at - 1].next) {
        uint32_t index = memory->links[at - 1].staging;

        if (--memory->stagings[index].copies_left == 0) {
            status = end_staging(memory, index, giver, now_ns, freed, err);
        }
    }
    live->stagings = 0;
    return status;
}

/* The node has finished: its staging stays for each copy that it filled and others still use. */
static enum weir_status hand_on_staging(struct memory *memory, uint32_t node, int64_t now_ns,
                                        bool *freed, struct weir_error *err)
{
    uint32_t index = memory->staging_of[node] - 1, n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        struct live *live = &memory->lives[touches[i].copy.index];
        enum weir_status status;

        if ((touches[i].roles & BIND_FILLS) == 0 || live->uses_left == 0) {
            continue;
        }
        status = array_grow(&memory->links, &memory->links_room, (size_t)memory->n_links + 1, err);
        if (status != WEIR_OK) {
            return status;
        }
        memory->links[memory->n_links++] = (struct staging_link){index, live->stagings};
        live->stagings = memory->n_links;
        memory->stagings[index].copies_left++;
    }
    return memory->stagings[index].copies_left > 0
               ? WEIR_OK
               : end_staging(memory, index, node, now_ns, freed, err);
}

static enum weir_status give_touch(struct memory *memory, const struct bind_touch *touch,
                                   uint32_t node, bool did_run, int64_t now_ns, bool *freed,
                                   struct weir_error *err)
{
    const struct bind_copy *copy = bind_copy(memory->program->binding, touch->copy);
    struct live *live = &memory->lives[touch->copy.index];
    enum weir_status status = WEIR_OK;

    if ((touch->roles & (BIND_READS | BIND_FILLS)) != 0) {
        if (--live->uses_left == 0) {
            status = end_stagings(memory, live, node, now_ns, freed, err);
        }
    } else if ((touch->roles & BIND_HOLDS) != 0) {
        live->holds_left--;
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (weir_is(copy->reclamation)) {
        return (touch->roles & BIND_RECLAIMS) != 0 && did_run
                   ? end_copy(memory, touch->copy, node, now_ns, freed, err)
                   : WEIR_OK;
    }
    return copy->stays || live->uses_left > 0 || live->holds_left > 0
               ? WEIR_OK
               : end_copy(memory, touch->copy, node, now_ns, freed, err);
}

static enum weir_status give_workspace(struct memory *memory, uint32_t node, int64_t now_ns,
                                       bool *freed, struct weir_error *err)
{
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    graph_node(memory->program->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace && status == WEIR_OK; i++) {
        weir_domain domain = charge_domain(memory, node, &value.workspace[i]);
        struct timeline_hold hold = {domain, {WEIR_NONE}, {node}, value.workspace[i].bytes,
                                     0,      now_ns};
        uint32_t row;

        hold.acquire_ns = memory->timeline->spans[node].start_ns;
        status = open_hold(memory, hold, &row, err);
        if (status == WEIR_OK) {
            status = give_bytes(memory, domain.index, node, WEIR_NONE, hold.bytes, freed, err);
        }
    }
    return status;
}

enum weir_status memory_give(struct memory *memory, uint32_t node, bool did_run, int64_t now_ns,
                             bool *freed, struct weir_error *err)
{
    uint32_t n_touches;
    const struct bind_touch *touches =
        bind_touches(memory->program->binding, (weir_node){node}, &n_touches);
    enum weir_status status = WEIR_OK;

    if (did_run && has_charges(memory, node)) {
        status = give_workspace(memory, node, now_ns, freed, err);
    }
    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        status = give_touch(memory, &touches[i], node, did_run, now_ns, freed, err);
    }
    if (status == WEIR_OK && did_run && memory->staging_of != NULL &&
        memory->staging_of[node] > 0) {
        status = hand_on_staging(memory, node, now_ns, freed, err);
    }
    return status;
}

/* --- the whole ---------------------------------------------------------------------------- */

static enum weir_status begin_initial(struct memory *memory, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < memory->program->n_copies && status == WEIR_OK; i++) {
        const struct bind_copy *copy = bind_copy(memory->program->binding, (weir_copy){i});
        struct live *live = &memory->lives[i];
        struct pool *pool = &memory->pools[copy->domain.index];
        const struct timeline_hold hold = {
            copy->domain, copy->object, {WEIR_NONE}, copy->bytes, 0, -1};

        live->uses_left = copy->n_uses;
        live->holds_left = copy->n_holds;
        if (copy->is_initial) {
            live->state = COPY_LIVE;
            pool->used_bytes += copy->bytes;
            pool->fresh_bytes -= copy->bytes;
            status = open_hold(memory, hold, &live->hold_row, err);
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
    memory->used = calloc(n_domains, sizeof *memory->used);
    memory->lives = calloc((size_t)program->n_copies + 1, sizeof *memory->lives);
    if (memory->pools == NULL || memory->needs == NULL || memory->used == NULL ||
        memory->lives == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(program->graph, (weir_domain){i});
        struct pool *pool = &memory->pools[i];

        pool->usable_bytes = domain->capacity_bytes - domain->reserve_bytes;
        pool->fresh_bytes = pool->usable_bytes;
        pool->settled_bytes = -1;
        pool->last_freed.index = WEIR_NONE;
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
    return memory->pools[domain.index].last_freed;
}

int64_t memory_live_bytes(const struct memory *memory, weir_copy copy)
{
    return memory->lives[copy.index].state == COPY_LIVE
               ? bind_copy(memory->program->binding, copy)->bytes
               : 0;
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
