/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds, pressure and induced edges.
 *
 * Bytes that come back are kept as parcels, oldest first, each with the node that gave it back. Bytes
 * that nobody has used yet are taken first, then parcels; what comes from a parcel makes an induced
 * edge from its giver. If every taker waits for its givers, capacity holds whatever the times are.
 * Each take empties all but the last of the parcels it touches, so there are no more induced edges
 * than takes and last uses. A copy that ended by its last use was given back by all its last uses
 * and holds together; what was staged for copies, by all their last uses, whichever came last. */
#include "sim/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/memory.h"

struct parcel {
    int64_t bytes;
    uint32_t giver;
    uint32_t by_uses; /* as in ledger_give */
};

/* The parcels of a domain: a ring from the oldest. */
struct parcels {
    int64_t fresh_bytes;  /* usable and never used so far */
    struct parcel *items; /* [head, tail) */
    size_t room;
    uint32_t head, tail;
};

struct ledger {
    const struct program *program;
    struct timeline *timeline;
    int64_t now_ns;
    struct parcels *parcels; /* by domain */
    uint32_t *copy_rows;     /* by copy: its hold's row, plus one */
    uint32_t *staging_rows;  /* by staging, likewise */
    size_t staging_rows_room;
    uint32_t n_stagings;
};

static enum weir_status open_hold(struct ledger *ledger, uint32_t domain, uint32_t copy,
                                  weir_node node, int64_t bytes, uint32_t *row,
                                  struct weir_error *err)
{
    struct timeline_hold hold = {{domain}, {WEIR_NONE}, node, bytes, ledger->now_ns, -1};
    enum weir_status status;

    if (copy != WEIR_NONE) {
        hold.object = bind_copy(ledger->program->binding, (weir_copy){copy})->object;
    }
    status = timeline_add_hold(ledger->timeline, &hold, err);
    *row = (uint32_t)ledger->timeline->n_holds;
    return status;
}

static void close_hold(struct ledger *ledger, uint32_t row)
{
    if (row > 0) {
        ledger->timeline->holds[row - 1].release_ns = ledger->now_ns;
    }
}

/* --- taking --------------------------------------------------------------------------------- */

static enum weir_status induce_one(struct ledger *ledger, uint32_t giver, uint32_t taker,
                                   uint32_t domain, int64_t bytes, struct weir_error *err)
{
    const struct timeline_induced row = {{giver}, {taker}, {domain}, bytes};

    return giver == taker ? WEIR_OK : timeline_add_induced(ledger->timeline, &row, err);
}

/* Does the node use the copy, and not only hold it? */
static bool uses(const struct ledger *ledger, weir_node node, weir_copy copy)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(ledger->program->binding, node, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        if (touches[i].copy.index == copy.index) {
            return (touches[i].roles & (BIND_READS | BIND_FILLS)) != 0;
        }
    }
    return false;
}

/* Is that giver among the rows from @p first on? */
static bool is_induced(const struct ledger *ledger, size_t first, weir_node giver)
{
    for (size_t i = first; i < ledger->timeline->n_induced; i++) {
        if (weir_same(ledger->timeline->induced[i].producer, giver)) {
            return true;
        }
    }
    return false;
}

/* What the node staged comes back with the last uses of every copy that it filled. */
static enum weir_status induce_staged(struct ledger *ledger, weir_node stager, uint32_t taker,
                                      uint32_t domain, int64_t bytes, struct weir_error *err)
{
    const struct binding *binding = ledger->program->binding;
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(binding, stager, &n_touches);
    size_t first = ledger->timeline->n_induced;
    enum weir_status status = WEIR_OK;
    weir_node giver;

    for (uint32_t i = 0; i < n_touches; i++) {
        uint32_t cursor = 0;

        while (status == WEIR_OK && (touches[i].roles & BIND_FILLS) != 0 &&
               bind_last_use(binding, touches[i].copy, &cursor, &giver)) {
            if (uses(ledger, giver, touches[i].copy) && !is_induced(ledger, first, giver)) {
                status = induce_one(ledger, giver.index, taker, domain, bytes, err);
            }
        }
    }
    return status;
}

static enum weir_status induce(struct ledger *ledger, const struct parcel *parcel, uint32_t taker,
                               uint32_t domain, int64_t bytes, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint32_t cursor = 0;
    weir_node giver;

    if (parcel->by_uses == WEIR_NONE) {
        return induce_one(ledger, parcel->giver, taker, domain, bytes, err);
    }
    if ((parcel->by_uses & LEDGER_STAGED) != 0) {
        return induce_staged(ledger, (weir_node){parcel->by_uses & ~LEDGER_STAGED}, taker, domain,
                             bytes, err);
    }
    while (status == WEIR_OK &&
           bind_last_use(ledger->program->binding, (weir_copy){parcel->by_uses}, &cursor, &giver)) {
        status = induce_one(ledger, giver.index, taker, domain, bytes, err);
    }
    return status;
}

static enum weir_status take_parcels(struct ledger *ledger, uint32_t domain, uint32_t node,
                                     int64_t bytes, struct weir_error *err)
{
    struct parcels *parcels = &ledger->parcels[domain];
    enum weir_status status = WEIR_OK;
    int64_t fresh = bytes < parcels->fresh_bytes ? bytes : parcels->fresh_bytes;

    parcels->fresh_bytes -= fresh;
    bytes -= fresh;
    while (bytes > 0 && status == WEIR_OK) {
        struct parcel *parcel = &parcels->items[parcels->head];
        int64_t part = bytes < parcel->bytes ? bytes : parcel->bytes;

        status = induce(ledger, parcel, node, domain, part, err);
        parcel->bytes -= part;
        bytes -= part;
        if (parcel->bytes == 0) {
            parcels->head++;
        }
    }
    return status;
}

enum weir_status ledger_initial(struct ledger *ledger, uint32_t copy, struct weir_error *err)
{
    const struct bind_copy *bound = bind_copy(ledger->program->binding, (weir_copy){copy});

    ledger->parcels[bound->domain.index].fresh_bytes -= bound->bytes;
    return open_hold(ledger, bound->domain.index, copy, (weir_node){WEIR_NONE}, bound->bytes,
                     &ledger->copy_rows[copy], err);
}

enum weir_status ledger_take(struct ledger *ledger, uint32_t domain, uint32_t node, uint32_t copy,
                             int64_t bytes, struct weir_error *err)
{
    enum weir_status status = take_parcels(ledger, domain, node, bytes, err);

    return status == WEIR_OK && copy != WEIR_NONE
               ? open_hold(ledger, domain, copy, (weir_node){node}, bytes, &ledger->copy_rows[copy],
                           err)
               : status;
}

enum weir_status ledger_stage(struct ledger *ledger, uint32_t domain, uint32_t node, int64_t bytes,
                              struct weir_error *err)
{
    enum weir_status status = take_parcels(ledger, domain, node, bytes, err);

    if (status == WEIR_OK) {
        status = array_grow(&ledger->staging_rows, &ledger->staging_rows_room,
                            (size_t)ledger->n_stagings + 1, err);
    }
    return status == WEIR_OK ? open_hold(ledger, domain, WEIR_NONE, (weir_node){node}, bytes,
                                         &ledger->staging_rows[ledger->n_stagings++], err)
                             : status;
}

/* --- giving back ---------------------------------------------------------------------------- */

static enum weir_status make_room(struct parcels *parcels, struct weir_error *err)
{
    if (parcels->head > 0 && parcels->tail == parcels->room && parcels->head >= parcels->tail / 2) {
        memmove(parcels->items, parcels->items + parcels->head,
                (size_t)(parcels->tail - parcels->head) * sizeof *parcels->items);
        parcels->tail -= parcels->head;
        parcels->head = 0;
    }
    return array_grow(&parcels->items, &parcels->room, (size_t)parcels->tail + 1, err);
}

enum weir_status ledger_give(struct ledger *ledger, uint32_t domain, uint32_t giver,
                             uint32_t by_uses, int64_t bytes, struct weir_error *err)
{
    struct parcels *parcels = &ledger->parcels[domain];
    enum weir_status status = make_room(parcels, err);

    if (status == WEIR_OK) {
        parcels->items[parcels->tail++] = (struct parcel){bytes, giver, by_uses};
    }
    return status;
}

void ledger_end_copy(struct ledger *ledger, uint32_t copy)
{
    close_hold(ledger, ledger->copy_rows[copy]);
}

void ledger_end_staging(struct ledger *ledger, uint32_t staging)
{
    close_hold(ledger, ledger->staging_rows[staging]);
}

enum weir_status ledger_end_workspace(struct ledger *ledger, uint32_t domain, uint32_t node,
                                      int64_t bytes, struct weir_error *err)
{
    const struct timeline_hold hold = {
        {domain},      {WEIR_NONE}, {node}, bytes, ledger->timeline->spans[node].start_ns,
        ledger->now_ns};

    return timeline_add_hold(ledger->timeline, &hold, err);
}

/* --- all of it ------------------------------------------------------------------------------ */

/* Records the pressure of the instant that has settled. */
static enum weir_status settle(struct ledger *ledger, const struct memory *memory,
                               struct weir_error *err)
{
    const int64_t *used_bytes = memory_used_bytes(memory);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < ledger->program->n_domains && status == WEIR_OK; i++) {
        const struct timeline_pressure row = {{i}, ledger->now_ns, used_bytes[i]};

        status = timeline_add_pressure(ledger->timeline, &row, err);
    }
    return status;
}

static enum weir_status move_on(struct ledger *ledger, const struct memory *memory, int64_t time_ns,
                                struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (time_ns > ledger->now_ns) {
        status = settle(ledger, memory, err);
        ledger->now_ns = time_ns;
    }
    return status;
}

static enum weir_status go_through(struct ledger *ledger, struct memory *memory,
                                   const struct event_log *log, struct weir_error *err)
{
    const struct timeline_span *spans = ledger->timeline->spans;
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < log->n && status == WEIR_OK; i++) {
        uint32_t node = log->items[i] & ~(LOG_FINISH | LOG_SKIP);

        if ((log->items[i] & LOG_SKIP) != 0) {
            uint64_t low = log->items[++i], high = log->items[++i];

            status = move_on(ledger, memory, (int64_t)(high << 32 | low), err);
            status = status == WEIR_OK ? memory_give(memory, node, false, err) : status;
        } else if ((log->items[i] & LOG_FINISH) != 0) {
            status = move_on(ledger, memory, spans[node].finish_ns, err);
            status = status == WEIR_OK ? memory_give(memory, node, true, err) : status;
        } else {
            status = move_on(ledger, memory, spans[node].start_ns, err);
            status = status == WEIR_OK ? memory_take(memory, node, err) : status;
        }
    }
    return status == WEIR_OK ? settle(ledger, memory, err) : status;
}

static void clear_away(struct ledger *ledger)
{
    for (uint32_t i = 0; ledger->parcels != NULL && i < ledger->program->n_domains; i++) {
        free(ledger->parcels[i].items);
    }
    free(ledger->parcels);
    free(ledger->copy_rows);
    free(ledger->staging_rows);
}

enum weir_status ledger_write(const struct program *program, struct memory *memory,
                              const struct event_log *log, struct timeline *timeline,
                              struct weir_error *err)
{
    struct ledger ledger = {.program = program, .timeline = timeline};
    enum weir_status status = WEIR_OK;

    ledger.parcels = calloc((size_t)program->n_domains + 1, sizeof *ledger.parcels);
    ledger.copy_rows = calloc((size_t)program->n_copies + 1, sizeof *ledger.copy_rows);
    if (ledger.parcels == NULL || ledger.copy_rows == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < program->n_domains && status == WEIR_OK; i++) {
        ledger.parcels[i].fresh_bytes = memory_usable_bytes(memory, (weir_domain){i});
    }
    if (status == WEIR_OK) {
        status = memory_rewind(memory, &ledger, err);
    }
    if (status == WEIR_OK) {
        status = go_through(&ledger, memory, log, err);
    }
    clear_away(&ledger);
    return status;
}
