/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to arrays: API calls, synchronization, event records, memory events. The order of rows in a
 * file means nothing; each array is sorted by a total order of what the rows say. Rows whose times
 * cannot be are counted and left out. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys_internal.h"
#include "traces/runs.h"

bool nsys_column(sqlite3_stmt *statement, int column, int64_t *value)
{
    if (sqlite3_column_type(statement, column) != SQLITE_INTEGER)
        return false;
    *value = sqlite3_column_int64(statement, column);
    return true;
}

int64_t nsys_column_or(sqlite3_stmt *statement, int column, int64_t absent)
{
    int64_t value;

    return nsys_column(statement, column, &value) ? value : absent;
}

/* More than any memory has; sums of what a file can hold stay within 64 bits. */
#define BYTES_MOST (INT64_C(1) << 50)

int64_t nsys_bytes(sqlite3_stmt *statement, int column)
{
    int64_t bytes;

    if (!nsys_column(statement, column, &bytes) || bytes < 0 || bytes > BYTES_MOST)
        return -1;
    return bytes;
}

bool nsys_is_time(int64_t t_ns)
{
    return t_ns >= -NSYS_TIME_MOST_NS && t_ns <= NSYS_TIME_MOST_NS;
}

bool nsys_times(struct nsys *nsys, sqlite3_stmt *statement, int64_t *start_ns, int64_t *end_ns)
{
    if (!nsys_column(statement, 0, start_ns)) {
        nsys->counts.bad_time++;
        return false;
    }
    if (!nsys_column(statement, 1, end_ns)) {
        nsys->counts.unfinished++;
        return false;
    }
    if (!nsys_is_time(*start_ns) || !nsys_is_time(*end_ns)) {
        nsys->counts.bad_time++;
        return false;
    }
    if (*end_ns < *start_ns) {
        nsys->counts.negative_duration++;
        *end_ns = *start_ns;
    }
    return true;
}

static enum weir_status too_many(const struct nsys *nsys, enum nsys_table table,
                                 struct weir_error *err)
{
    return weir_error_set(
        err, WEIR_INPUT, "%.200s: %s has more rows than 32 bits count; import a part with --window",
        nsys->path, nsys_table_name(table));
}

/* Room for one more row of an array that is counted in 32 bits. */
#define ROW_ROOM(nsys, rows, room, n, table, err) \
    ((nsys)->n == NSYS_NONE - 1                   \
         ? too_many(nsys, table, err)             \
         : array_grow_raw(&(nsys)->rows, &(nsys)->room, (size_t)(nsys)->n + 1, err))

/* API calls. */

static enum weir_status read_call(struct nsys *nsys, sqlite3_stmt *statement,
                                  struct weir_error *err)
{
    struct nsys_call call = {
        .wait_begin_ns = INT64_MAX,
        .memory = NSYS_NONE,
        .first_action = NSYS_NONE,
        .launch_action = NSYS_NONE,
        .wait_action = NSYS_NONE,
        .last_action = NSYS_NONE,
    };
    enum weir_status status;

    if (!nsys_times(nsys, statement, &call.start_ns, &call.end_ns))
        return WEIR_OK;
    call.thread = nsys_column_or(statement, 2, 0);
    call.correlation = nsys_column_or(statement, 3, 0);
    if (nsys_column_or(statement, 5, 0) != 0)
        call.flags = CALL_IS_FAILED;
    call.row = nsys_column_or(statement, nsys_row_column(NSYS_RUNTIME), -1);
    status = nsys_api_name(nsys, nsys_column_or(statement, 4, -1), &call.name, &call.api, err);
    if (status == WEIR_OK)
        status = ROW_ROOM(nsys, calls, calls_room, n_calls, NSYS_RUNTIME, err);
    if (status == WEIR_OK)
        nsys->calls[nsys->n_calls++] = call;
    return status;
}

/* Of one thread by start, an enclosing call before what it encloses. */
static int by_thread_and_start(const void *left, const void *right)
{
    const struct nsys_call *a = left, *b = right;
    int order = nsys_compare(a->thread, b->thread);

    if (order == 0)
        order = nsys_compare(a->start_ns, b->start_ns);
    if (order == 0)
        order = nsys_compare(b->end_ns, a->end_ns);
    if (order == 0)
        order = nsys_compare(a->correlation, b->correlation);
    if (order == 0)
        order = nsys_compare(a->outer, b->outer);
    return order != 0 ? order : nsys_compare(a->row, b->row);
}

/* Synchronization. */

static enum weir_status read_sync(struct nsys *nsys, sqlite3_stmt *statement,
                                  struct weir_error *err)
{
    const struct nsys_sync sync = {
        .start_ns = nsys_column_or(statement, 0, INT64_MAX),
        .context = nsys_column_or(statement, 2, NSYS_NO_ID),
        .stream = nsys_column_or(statement, 3, NSYS_NO_ID),
        .correlation = nsys_column_or(statement, 4, 0),
        .process = nsys_process_of(nsys_column_or(statement, 5, 0)),
        .sync_type = nsys_column_or(statement, 6, -1),
        .event = nsys_column_or(statement, 7, NSYS_NO_ID),
        .event_sync = nsys_column_or(statement, 8, NSYS_NO_ID),
        .device = nsys_column_or(statement, 9, -1),
        .at = NSYS_NONE,
        .row = nsys_column_or(statement, nsys_row_column(NSYS_SYNC), -1),
        .call = NSYS_NONE,
    };
    enum weir_status status = ROW_ROOM(nsys, syncs, syncs_room, n_syncs, NSYS_SYNC, err);

    if (sync.event != NSYS_NO_ID && sync.event >= 0)
        nsys->counts.rows_with_event++;
    if (status == WEIR_OK)
        nsys->syncs[nsys->n_syncs++] = sync;
    return status;
}

static int by_process_and_correlation(const void *left, const void *right)
{
    const struct nsys_sync *a = left, *b = right;
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->correlation, b->correlation);
    if (order == 0)
        order = nsys_compare(a->stream, b->stream);
    if (order == 0)
        order = nsys_compare(a->event, b->event);
    return order != 0 ? order : nsys_compare(a->row, b->row);
}

/* Event records. */

enum weir_status nsys_add_record(struct nsys *nsys, const struct nsys_record *record,
                                 struct weir_error *err)
{
    enum weir_status status = ROW_ROOM(nsys, records, records_room, n_records, NSYS_EVENT, err);

    if (status == WEIR_OK)
        nsys->records[nsys->n_records++] = *record;
    return status;
}

static enum weir_status read_record(struct nsys *nsys, sqlite3_stmt *statement,
                                    struct weir_error *err)
{
    struct nsys_record record = {
        .context = nsys_column_or(statement, 0, NSYS_NO_ID),
        .stream = nsys_column_or(statement, 1, NSYS_NO_ID),
        .correlation = nsys_column_or(statement, 2, 0),
        .process = nsys_process_of(nsys_column_or(statement, 3, 0)),
        .event_sync = nsys_column_or(statement, 5, NSYS_NO_ID),
        .device = nsys_column_or(statement, 6, -1),
        .at = NSYS_NONE,
        .row = nsys_column_or(statement, nsys_row_column(NSYS_EVENT), -1),
    };

    if (!nsys_column(statement, 4, &record.event))
        return WEIR_OK;
    nsys->counts.record_rows++;
    return nsys_window_record(nsys, &record) ? nsys_add_record(nsys, &record, err) : WEIR_OK;
}

int nsys_compare_records(const struct nsys_record *a, const struct nsys_record *b)
{
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->context, b->context);
    if (order == 0)
        order = nsys_compare(a->event, b->event);
    if (order == 0)
        order = nsys_compare(a->correlation, b->correlation);
    if (order == 0)
        order = nsys_compare(a->stream, b->stream);
    return order != 0 ? order : nsys_compare(a->row, b->row);
}

static int by_event_and_correlation(const void *left, const void *right)
{
    return nsys_compare_records(left, right);
}

/* Memory events. */

enum weir_status nsys_add_memory(struct nsys *nsys, const struct nsys_memory *memory,
                                 struct weir_error *err)
{
    enum weir_status status = ROW_ROOM(nsys, memories, memories_room, n_memories, NSYS_MEMORY, err);

    if (status == WEIR_OK)
        nsys->memories[nsys->n_memories++] = *memory;
    return status;
}

#define MEMORY_KIND_UNKNOWN 7 /* of ENUM_CUDA_MEM_KIND */

static enum weir_status read_memory(struct nsys *nsys, sqlite3_stmt *statement,
                                    struct weir_error *err)
{
    int64_t kind = nsys_column_or(statement, 6, MEMORY_KIND_UNKNOWN);
    int64_t operation = nsys_column_or(statement, 7, -1);
    int64_t symbol;
    struct nsys_memory memory = {
        .process = nsys_process_of(nsys_column_or(statement, 1, 0)),
        .device = nsys_column_or(statement, 2, 0),
        .context = nsys_column_or(statement, 3, NSYS_NO_ID),
        .bytes = nsys_bytes(statement, 5),
        .kind = kind >= 0 && kind <= MEMORY_KIND_UNKNOWN ? (uint8_t)kind : MEMORY_KIND_UNKNOWN,
        .correlation = nsys_column_or(statement, 9, 0),
        .stream = nsys_column_or(statement, 10, NSYS_NO_ID),
        .is_free = operation == 1,
        .is_pooled = nsys_column_or(statement, 11, 0) != 0,
        .row = nsys_column_or(statement, nsys_row_column(NSYS_MEMORY), -1),
        .call = NSYS_NONE,
        .next = NSYS_NONE,
        .partner = NSYS_NONE,
        .object = NSYS_NONE,
        .action = NSYS_NONE,
    };
    enum weir_status status = WEIR_OK;

    if (!nsys_column(statement, 0, &memory.t_ns) || !nsys_is_time(memory.t_ns) ||
        !nsys_column(statement, 4, &memory.address) || (operation != 0 && operation != 1)) {
        nsys->counts.bad_time++;
        return WEIR_OK;
    }
    if (nsys_column(statement, 8, &symbol))
        status = nsys_string(nsys, symbol, &memory.symbol, err);
    if (status != WEIR_OK)
        return status;
    return nsys->window == NULL ? nsys_add_memory(nsys, &memory, err)
                                : nsys_live_take(nsys, &memory, err);
}

static int by_time(const void *left, const void *right)
{
    const struct nsys_memory *a = left, *b = right;
    int order = nsys_compare(a->t_ns, b->t_ns);

    if (order == 0)
        order = nsys_compare(b->is_free, a->is_free); /* what is given back can be given out */
    if (order == 0)
        order = nsys_compare(a->process, b->process);
    if (order == 0)
        order = nsys_compare(a->address, b->address);
    return order != 0 ? order : nsys_compare(a->row, b->row);
}

/* All of a table's rows go to @p take. */
static enum weir_status read_table(struct nsys *nsys, enum nsys_table table,
                                   enum weir_status (*take)(struct nsys *, sqlite3_stmt *,
                                                            struct weir_error *),
                                   const char *order, struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, table, order, &statement, err);
    int result = SQLITE_DONE;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while (status == WEIR_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        nsys->tables[table].n_read++;
        status = take(nsys, statement, err);
    }
    if (status != WEIR_OK) {
        (void)sqlite3_finalize(statement);
        return status;
    }
    return nsys_end(nsys, table, statement, result, err);
}

/* Room for all rows of the table. */
#define RESERVE(nsys, rows, room, table, n, err)      \
    (nsys_rows_likely(nsys, table, n, err) != WEIR_OK \
         ? (err)->status                              \
         : array_grow_raw(&(nsys)->rows, &(nsys)->room, *(n), err))

static enum weir_status reserve_rows(struct nsys *nsys, struct weir_error *err)
{
    size_t n;
    enum weir_status status = RESERVE(nsys, calls, calls_room, NSYS_RUNTIME, &n, err);

    if (status == WEIR_OK)
        status = RESERVE(nsys, syncs, syncs_room, NSYS_SYNC, &n, err);
    if (status == WEIR_OK)
        status = RESERVE(nsys, records, records_room, NSYS_EVENT, &n, err);
    if (status == WEIR_OK)
        status = RESERVE(nsys, memories, memories_room, NSYS_MEMORY, &n, err);
    return status;
}

enum weir_status nsys_read_calls(struct nsys *nsys, struct weir_error *err)
{
    return read_table(nsys, NSYS_RUNTIME, read_call, NULL, err);
}

void nsys_sort_calls(struct nsys *nsys, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < nsys->n_calls; i++)
        nsys->calls[i].outer = ranks[nsys->calls[i].name];
    runs_sort(nsys->calls, nsys->n_calls, sizeof *nsys->calls, by_thread_and_start);
}

/* In a window they pass by in the order of by_time. */
static enum weir_status read_memories(struct nsys *nsys, struct weir_error *err)
{
    const char *order = nsys->window == NULL ? NULL
                                             : "start, memoryOperationType = 1 DESC, globalPid, "
                                               "address";
    enum weir_status status = read_table(nsys, NSYS_MEMORY, read_memory, order, err);

    nsys_live_free(nsys);
    for (uint32_t i = 0; i < nsys->n_memories && status == WEIR_OK; i++)
        status =
            nsys_window_note(nsys, nsys->memories[i].process, nsys->memories[i].correlation, err);
    return status;
}

enum weir_status nsys_read_rows(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = nsys_window_begin(nsys, err);

    if (status == WEIR_OK)
        status = reserve_rows(nsys, err);
    if (status == WEIR_OK)
        status = nsys_read_calls(nsys, err);
    if (status == WEIR_OK)
        status = nsys_window_calls(nsys, err);
    if (status == WEIR_OK)
        status = read_table(nsys, NSYS_SYNC, read_sync, NULL, err);
    if (status == WEIR_OK)
        status = nsys_window_waits(nsys, err);
    if (status == WEIR_OK)
        status = read_table(nsys, NSYS_EVENT, read_record, NULL, err);
    if (status == WEIR_OK)
        status = nsys_window_records(nsys, err);
    if (status == WEIR_OK)
        status = read_memories(nsys, err);
    if (status != WEIR_OK)
        return status;
    runs_sort(nsys->syncs, nsys->n_syncs, sizeof *nsys->syncs, by_process_and_correlation);
    runs_sort(nsys->records, nsys->n_records, sizeof *nsys->records, by_event_and_correlation);
    runs_sort(nsys->memories, nsys->n_memories, sizeof *nsys->memories, by_time);
    return WEIR_OK;
}
