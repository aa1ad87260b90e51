/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a part of a file, so that memory grows with the part and not with the file. SQLite passes
 * over all rows; kept are
 *
 *   calls       that begin in the window, lie around its beginning, or lie within a call of it; those
 *               that capture graphs; and, by a second pass, those that other rows below name
 *   device work whose call is kept, or that begins in the window
 *   waits       the same
 *   records     whose call is kept, and of each event that is waited for the newest before the wait
 *   memory      what lives in the window, with the call and the free of each
 *
 * That is a little more than the window: nsys_link.c cuts it by the launches, as it does when all of
 * the file is there, and the graph is the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

struct wanted_record { /* by a wait */
    int64_t process, context, event, correlation;
    struct nsys_record newest; /* of those whose call is not kept */
    bool is_found;
};

struct used_device {
    int64_t process, device;
    uint32_t gpu; /* NSYS_NONE before nsys_gpus.c has seen it */
};

struct nsys_window {
    struct keys *calls;    /* kept so far, by process and correlation id: to calls */
    struct keys *strays;   /* ids that kept rows name and no kept call has */
    struct keys *sync_ids; /* that waits name */
    struct wanted_record *records;
    struct used_device *devices;
    size_t n_records, records_room, n_devices, devices_room, n_strays;
    bool is_out_of_memory; /* in a function that SQLite called */
};

static struct key key_of(int64_t process, int64_t id)
{
    return (struct key){{(uint32_t)process, (uint32_t)((uint64_t)process >> 32), (uint32_t)id,
                         (uint32_t)((uint64_t)id >> 32)}};
}

static bool is_inside(const struct nsys *nsys, int64_t t_ns)
{
    return t_ns >= nsys->from_ns && t_ns < nsys->to_ns;
}

void nsys_window_free(struct nsys *nsys)
{
    struct nsys_window *window = nsys->window;

    if (window == NULL)
        return;
    keys_free(window->calls);
    keys_free(window->strays);
    keys_free(window->sync_ids);
    free(window->records);
    free(window->devices);
    free(window);
    nsys->window = NULL;
}

static uint32_t kept_call(const struct nsys_window *window, int64_t process, int64_t correlation)
{
    const struct key key = key_of(process, correlation);

    return correlation == 0 ? NSYS_NONE : keys_find(window->calls, &key);
}

uint32_t nsys_window_call(const struct nsys *nsys, int64_t process, int64_t correlation)
{
    return kept_call(nsys->window, process, correlation);
}

enum weir_status nsys_window_note(struct nsys *nsys, int64_t process, int64_t correlation,
                                  struct weir_error *err)
{
    struct nsys_window *window = nsys->window;
    const struct key key = key_of(process, correlation);

    if (window == NULL || correlation == 0 ||
        kept_call(window, process, correlation) != NSYS_NONE ||
        keys_find(window->strays, &key) != KEYS_NONE)
        return WEIR_OK;
    window->n_strays++;
    return keys_put(window->strays, &key, 0, err);
}

/* Devices that work and events name, in the window or not: they are there in both cases. */
static void note_device(struct nsys_window *window, int64_t process, int64_t device)
{
    struct weir_error err;

    for (size_t i = window->n_devices; i > 0; i--) {
        if (window->devices[i - 1].process == process && window->devices[i - 1].device == device)
            return;
    }
    if (array_grow(&window->devices, &window->devices_room, window->n_devices + 1, &err) != WEIR_OK)
        window->is_out_of_memory = true;
    else
        window->devices[window->n_devices++] = (struct used_device){process, device, NSYS_NONE};
}

bool nsys_window_device(const struct nsys *nsys, size_t at, int64_t *process, int64_t *device,
                        uint32_t **gpu)
{
    if (nsys->window == NULL || at >= nsys->window->n_devices)
        return false;
    *process = nsys->window->devices[at].process;
    *device = nsys->window->devices[at].device;
    *gpu = &nsys->window->devices[at].gpu;
    return true;
}

/* Functions that the queries call. */

static int64_t integer_of(sqlite3_value *value, int64_t absent)
{
    return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : absent;
}

/* weir_kept(start, correlationId, globalPid, deviceId, end): is the row of use? One with times is of
 * that device. */
static void answer_kept(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct nsys *nsys = sqlite3_user_data(context);
    int64_t start_ns = integer_of(values[0], INT64_MIN);
    int64_t correlation = integer_of(values[1], 0);
    int64_t process = nsys_process_of(integer_of(values[2], 0));
    int64_t device = integer_of(values[3], -1);
    bool is_kept =
        is_inside(nsys, start_ns) || kept_call(nsys->window, process, correlation) != NSYS_NONE;

    (void)n;
    if (nsys_is_time(start_ns) && nsys_is_time(integer_of(values[4], INT64_MIN)) && device >= 0)
        note_device(nsys->window, process, device);
    sqlite3_result_int(context, is_kept ? 1 : 0);
}

/* weir_stray(correlationId, globalTid): does a row that is kept name this call? */
static void answer_stray(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct nsys *nsys = sqlite3_user_data(context);
    const struct key key =
        key_of(nsys_process_of(integer_of(values[1], 0)), integer_of(values[0], 0));

    (void)n;
    sqlite3_result_int(context, keys_find(nsys->window->strays, &key) != KEYS_NONE ? 1 : 0);
}

/* Conditions of the queries, which nsys_select adds. */

static enum weir_status set_where(struct nsys *nsys, enum nsys_table table, const char *where,
                                  struct weir_error *err)
{
    struct nsys_table_state *state = &nsys->tables[table];
    char *copy = strdup(where);

    if (copy == NULL)
        return weir_error_memory(err);
    free(state->where);
    state->where = copy;
    return WEIR_OK;
}

/* The string ids of calls that begin or end the capture of a graph: "1, 2"; "" for none. */
static enum weir_status list_captures(struct nsys *nsys, char **out, struct weir_error *err)
{
    static const char query[] =
        "SELECT group_concat(id, ', ') FROM StringIds WHERE typeof(id) = 'integer' AND (value LIKE "
        "'cu%StreamBeginCapture%' OR value LIKE 'cu%StreamEndCapture%')";
    sqlite3_stmt *statement = NULL;
    const char *ids = NULL;
    int result = SQLITE_DONE;

    if (nsys->tables[NSYS_STRINGS].name != NULL) {
        result = sqlite3_prepare_v2(nsys->db, query, -1, &statement, NULL);
        if (result == SQLITE_OK)
            result = sqlite3_step(statement);
        if (result == SQLITE_ROW)
            ids = (const char *)sqlite3_column_text(statement, 0);
    }
    *out = strdup(ids == NULL ? "" : ids);
    (void)sqlite3_finalize(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        free(*out);
        *out = NULL;
        return nsys_failed(nsys, "StringIds", result, err);
    }
    return *out == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status select_calls(struct nsys *nsys, struct weir_error *err)
{
    char *captures = NULL, *where;
    enum weir_status status = list_captures(nsys, &captures, err);
    size_t room;

    if (status != WEIR_OK || captures == NULL)
        return status;
    room = 256 + strlen(captures);
    where = malloc(room);
    if (where == NULL) {
        free(captures);
        return weir_error_memory(err);
    }
    (void)snprintf(where, room,
                   "(start >= %" PRId64 " AND start < %" PRId64 ") OR (start < %" PRId64
                   " AND (\"end\" > %" PRId64 " OR nameId IN (%s)))",
                   nsys->from_ns, nsys->to_ns, nsys->from_ns, nsys->from_ns, captures);
    status = set_where(nsys, NSYS_RUNTIME, where, err);
    free(captures);
    free(where);
    return status;
}

/* All tables but those of records and memory, of which every row is looked at. */
static enum weir_status select_others(struct nsys *nsys, struct weir_error *err)
{
    static const enum nsys_table tables[] = {NSYS_KERNEL, NSYS_MEMCPY, NSYS_MEMSET,
                                             NSYS_GRAPH_TRACE, NSYS_SYNC};
    char where[256];
    enum weir_status status;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bool is_sync = tables[i] == NSYS_SYNC;
        char device[96];

        (void)snprintf(device, sizeof device, "iif(typeof(%s) = 'integer', %s, 0)",
                       nsys_column_name(nsys, tables[i], "deviceId"),
                       nsys_column_name(nsys, tables[i], "deviceId"));
        if (is_sync) /* of a wait for no stream there is no device */
            (void)snprintf(device, sizeof device, "iif(%s BETWEEN 0 AND 4294967294, %s, -1)",
                           nsys_column_name(nsys, NSYS_SYNC, "streamId"),
                           nsys_column_name(nsys, NSYS_SYNC, "deviceId"));
        (void)snprintf(where, sizeof where, "weir_kept(%s, correlationId, globalPid, %s, %s)",
                       nsys_column_name(nsys, tables[i], "start"), device,
                       is_sync ? "0" : "\"end\"");
        status = set_where(nsys, tables[i], where, err);
        if (status != WEIR_OK)
            return status;
    }
    (void)snprintf(where, sizeof where, "start < %" PRId64 " AND \"end\" > %" PRId64, nsys->to_ns,
                   nsys->from_ns);
    return set_where(nsys, NSYS_NVTX, where, err);
}

enum weir_status nsys_window_begin(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_window *window;
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;

    if (nsys->from_ns == INT64_MIN && nsys->to_ns == INT64_MAX)
        return WEIR_OK;
    window = nsys->window = calloc(1, sizeof *window);
    if (window == NULL)
        return weir_error_memory(err);
    window->calls = keys_new();
    window->strays = keys_new();
    window->sync_ids = keys_new();
    if (window->calls == NULL || window->strays == NULL || window->sync_ids == NULL ||
        sqlite3_create_function(nsys->db, "weir_kept", 5, flags, nsys, answer_kept, NULL, NULL) !=
            SQLITE_OK ||
        sqlite3_create_function(nsys->db, "weir_stray", 2, flags, nsys, answer_stray, NULL, NULL) !=
            SQLITE_OK)
        return weir_error_memory(err);
    return select_calls(nsys, err);
}

/* Calls. */

static enum weir_status note_calls(struct nsys *nsys, uint32_t from, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = from; i < nsys->n_calls && status == WEIR_OK; i++) {
        const struct nsys_call *call = &nsys->calls[i];
        const struct key key = key_of(nsys_process_of(call->thread), call->correlation);

        if (call->correlation != 0 && keys_find(nsys->window->calls, &key) == KEYS_NONE)
            status = keys_put(nsys->window->calls, &key, i, err);
    }
    return status;
}

/* When the last call of a thread that began in the window ended. */
struct thread_end {
    int64_t thread, end_ns;
};

static enum weir_status list_ends(const struct nsys *nsys, struct thread_end **ends, size_t *n,
                                  int64_t *last_ns, struct weir_error *err)
{
    size_t room = 0, at = 0;
    enum weir_status status = WEIR_OK;

    *last_ns = nsys->to_ns;
    for (uint32_t i = 0; i < nsys->n_calls && status == WEIR_OK; i++) {
        const struct nsys_call *call = &nsys->calls[i];

        if (call->end_ns <= nsys->to_ns || call->start_ns < nsys->from_ns)
            continue;
        for (at = 0; at < *n && (*ends)[at].thread != call->thread; at++)
            continue;
        if (at == *n) {
            status = array_grow(ends, &room, *n + 1, err);
            if (status != WEIR_OK)
                break;
            (*ends)[(*n)++] = (struct thread_end){call->thread, call->end_ns};
        }
        if (call->end_ns > (*ends)[at].end_ns)
            (*ends)[at].end_ns = call->end_ns;
        if (call->end_ns > *last_ns)
            *last_ns = call->end_ns;
    }
    return status;
}

/* Of the calls from `from` on, those that began before such an end of their thread. */
static void keep_nested(struct nsys *nsys, uint32_t from, const struct thread_end *ends, size_t n)
{
    uint32_t kept = from;

    for (uint32_t i = from; i < nsys->n_calls; i++) {
        size_t at = 0;

        while (at < n && ends[at].thread != nsys->calls[i].thread)
            at++;
        if (at < n && nsys->calls[i].start_ns < ends[at].end_ns)
            nsys->calls[kept++] = nsys->calls[i];
    }
    nsys->n_calls = kept;
}

/* Calls within those that began in the window and end after it. */
static enum weir_status add_nested(struct nsys *nsys, struct weir_error *err)
{
    struct thread_end *ends = NULL;
    size_t n = 0;
    int64_t last_ns;
    uint32_t before = nsys->n_calls;
    char where[96];
    enum weir_status status = list_ends(nsys, &ends, &n, &last_ns, err);

    if (status == WEIR_OK && n > 0) {
        (void)snprintf(where, sizeof where, "start >= %" PRId64 " AND start < %" PRId64,
                       nsys->to_ns, last_ns);
        status = set_where(nsys, NSYS_RUNTIME, where, err);
        if (status == WEIR_OK)
            status = nsys_read_calls(nsys, err);
        keep_nested(nsys, before, ends, n);
    }
    free(ends);
    return status;
}

enum weir_status nsys_window_calls(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status;

    if (nsys->window == NULL)
        return WEIR_OK;
    status = add_nested(nsys, err);
    if (status == WEIR_OK)
        status = note_calls(nsys, 0, err);
    return status == WEIR_OK ? select_others(nsys, err) : status;
}

/* What was called outside, but is named by what is kept. */
static enum weir_status add_strays(struct nsys *nsys, struct weir_error *err)
{
    char where[160];
    enum weir_status status;

    if (nsys->window->n_strays == 0)
        return WEIR_OK;
    (void)snprintf(where, sizeof where,
                   "(start < %" PRId64 " OR start >= %" PRId64
                   ") AND weir_stray(correlationId, globalTid)",
                   nsys->from_ns, nsys->to_ns);
    status = set_where(nsys, NSYS_RUNTIME, where, err);
    return status == WEIR_OK ? nsys_read_calls(nsys, err) : status;
}

/* Adds the rows that were passed over to those that were read, and to @p n_outside. */
static enum weir_status count_left_out(struct nsys *nsys, enum nsys_table table, int64_t *n_outside,
                                       struct weir_error *err)
{
    int64_t n_all;
    enum weir_status status = nsys_count_rows(nsys, table, &n_all, err);

    if (status != WEIR_OK || n_all <= nsys->tables[table].n_read)
        return status;
    *n_outside += n_all - nsys->tables[table].n_read;
    nsys->tables[table].n_read = n_all;
    return WEIR_OK;
}

enum weir_status nsys_window_end(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_counts *counts = &nsys->counts;
    int64_t n_waits = 0;
    enum weir_status status;

    if (nsys->window == NULL)
        return WEIR_OK;
    if (nsys->window->is_out_of_memory)
        return weir_error_memory(err);
    status = add_strays(nsys, err);
    if (status == WEIR_OK)
        status = count_left_out(nsys, NSYS_RUNTIME, &counts->outside_calls, err);
    for (int t = NSYS_KERNEL; t <= NSYS_GRAPH_TRACE && status == WEIR_OK; t++)
        status = count_left_out(nsys, (enum nsys_table)t, &counts->outside_ops, err);
    return status == WEIR_OK ? count_left_out(nsys, NSYS_SYNC, &n_waits, err) : status;
}

/* Records. */

static int by_event(const void *left, const void *right)
{
    const struct wanted_record *a = left, *b = right;
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->context, b->context);
    if (order == 0)
        order = nsys_compare(a->event, b->event);
    return order != 0 ? order : nsys_compare(a->correlation, b->correlation);
}

enum weir_status nsys_window_waits(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_window *window = nsys->window;
    enum weir_status status = WEIR_OK;

    if (window == NULL)
        return WEIR_OK;
    for (uint32_t i = 0; i < nsys->n_syncs && status == WEIR_OK; i++) {
        const struct nsys_sync *sync = &nsys->syncs[i];
        const struct key key = key_of(sync->process, sync->event_sync);

        status = array_grow(&window->records, &window->records_room, window->n_records + 1, err);
        if (status != WEIR_OK)
            break;
        window->records[window->n_records++] = (struct wanted_record){
            .process = sync->process,
            .context = sync->context,
            .event = sync->event,
            .correlation = sync->correlation,
        };
        if (sync->event_sync > 0 && sync->event_sync != NSYS_NO_ID &&
            keys_find(window->sync_ids, &key) == KEYS_NONE)
            status = keys_put(window->sync_ids, &key, 0, err);
        if (status == WEIR_OK)
            status = nsys_window_note(nsys, sync->process, sync->correlation, err);
    }
    if (window->n_records > 0)
        qsort(window->records, window->n_records, sizeof *window->records, by_event);
    return status;
}

/* The first wait after the record for its event; NULL: none waits. */
static struct wanted_record *wait_after(const struct nsys_window *window,
                                        const struct nsys_record *record)
{
    const struct wanted_record wanted = {
        record->process, record->context, record->event, record->correlation, {0}, false};
    size_t low = 0, high = window->n_records;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_event(&window->records[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == window->n_records || window->records[low].process != record->process ||
        window->records[low].context != record->context ||
        window->records[low].event != record->event)
        return NULL;
    return &window->records[low];
}

bool nsys_window_record(struct nsys *nsys, const struct nsys_record *record)
{
    struct nsys_window *window = nsys->window;
    const struct key key = key_of(record->process, record->event_sync);
    struct wanted_record *wait;

    if (window == NULL || kept_call(window, record->process, record->correlation) != NSYS_NONE ||
        keys_find(window->sync_ids, &key) != KEYS_NONE)
        return true;
    wait = wait_after(window, record);
    if (wait != NULL && (!wait->is_found || nsys_compare_records(record, &wait->newest) > 0)) {
        wait->newest = *record;
        wait->is_found = true;
    }
    return false;
}

enum weir_status nsys_window_records(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_window *window = nsys->window;
    enum weir_status status = WEIR_OK;

    if (window == NULL)
        return WEIR_OK;
    for (size_t i = 0; i < window->n_records && status == WEIR_OK; i++) {
        if (window->records[i].is_found)
            status = nsys_add_record(nsys, &window->records[i].newest, err);
    }
    for (uint32_t i = 0; i < nsys->n_records && status == WEIR_OK; i++)
        status =
            nsys_window_note(nsys, nsys->records[i].process, nsys->records[i].correlation, err);
    free(window->records);
    window->records = NULL;
    window->n_records = 0;
    return status;
}
