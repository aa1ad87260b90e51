/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVTX: the range that names a window, and the innermost range around each call. Ranges pass by in
 * the order of their threads and starts; only those that are open are kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "traces/nsys_internal.h"

enum nvtx_column { NVTX_START, NVTX_END, NVTX_TYPE, NVTX_TEXT, NVTX_TEXT_ID, NVTX_THREAD };

#define PUSH_POP 59 /* eventType of a range that nests on its thread */
#define START_END 60
#define MARK 34

/* The window. */

/* FROM:TO by the clock of the profile; +FROM:+TO since the first event, where the times of graphs,
 * timelines and figures begin. */
static bool parse_times(const char *window, int64_t *from_ns, int64_t *to_ns, bool *is_since_first)
{
    const char *from = window, *colon = strchr(window, ':'), *to;

    if (colon == NULL)
        return false;
    to = colon + 1;
    *is_since_first = *from == '+' && *to == '+';
    if (*is_since_first) {
        from++;
        to++;
    }
    return number_time(from, (size_t)(colon - from), from_ns) == NUMBER_OK &&
           number_time(to, strlen(to), to_ns) == NUMBER_OK;
}

/* The first event of all that become actions: its time is 0 in the graph of the whole file. */
static enum weir_status find_first(struct nsys *nsys, struct weir_error *err)
{
    static const struct {
        enum nsys_table table;
        const char *where;
    } tables[] = {
        {NSYS_RUNTIME, "(typeof(%s) <> 'integer' OR %s = 0)"},
        {NSYS_KERNEL, "1"},
        {NSYS_MEMCPY, "1"},
        {NSYS_MEMSET, "1"},
        {NSYS_GRAPH_TRACE, "1"},
        {NSYS_MEMORY, "typeof(bytes) = 'integer' AND bytes > 0 AND typeof(address) = 'integer' AND "
                      "(memoryOperationType = 1 OR (memoryOperationType = 0 AND (typeof(%s) <> "
                      "'integer' OR %s NOT IN (5, 6))))"},
    };
    enum weir_status status = WEIR_OK;

    nsys->first_ns = INT64_MAX;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == WEIR_OK; i++) {
        enum nsys_table table = tables[i].table;
        const char *end = table == NSYS_MEMORY ? "start" : "\"end\"";
        const char *column =
            nsys_column_name(nsys, table, table == NSYS_MEMORY ? "memKind" : "returnValue");
        char where[256], query[640];
        int64_t first_ns;

        if (nsys->tables[table].name == NULL)
            continue;
        (void)snprintf(where, sizeof where, tables[i].where, column, column);
        (void)snprintf(query, sizeof query,
                       "SELECT min(start) FROM \"%s\" WHERE typeof(start) = 'integer' AND "
                       "typeof(%s) = 'integer' AND start BETWEEN %" PRId64 " AND %" PRId64
                       " AND %s BETWEEN %" PRId64 " AND %" PRId64 " AND %s",
                       nsys->tables[table].name, end, -NSYS_TIME_MOST_NS, NSYS_TIME_MOST_NS, end,
                       -NSYS_TIME_MOST_NS, NSYS_TIME_MOST_NS, where);
        status = nsys_ask(nsys, query, INT64_MAX, &first_ns, err);
        if (first_ns < nsys->first_ns)
            nsys->first_ns = first_ns;
    }
    nsys->has_first = true;
    return status;
}

static enum weir_status find_since_first(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = find_first(nsys, err);

    if (status == WEIR_OK &&
        (__builtin_add_overflow(nsys->from_ns, nsys->first_ns, &nsys->from_ns) ||
         __builtin_add_overflow(nsys->to_ns, nsys->first_ns, &nsys->to_ns)))
        return weir_error_set(err, WEIR_USAGE,
                              "--window: times since the first event at %" PRId64
                              " ns pass 64 bits; give lesser ones",
                              nsys->first_ns);
    return status;
}

/* The id under which the file keeps the marker's text; -1 when it keeps none. */
static enum weir_status find_marker_id(struct nsys *nsys, const char *marker, int64_t *id,
                                       struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    int result;

    *id = -1;
    if (nsys->tables[NSYS_STRINGS].name == NULL)
        return WEIR_OK;
    if (sqlite3_prepare_v2(nsys->db,
                           "SELECT id FROM StringIds WHERE value = ?1 ORDER BY id LIMIT 1", -1,
                           &statement, NULL) != SQLITE_OK)
        return nsys_failed(nsys, "StringIds", sqlite3_errcode(nsys->db), err);
    (void)sqlite3_bind_text(statement, 1, marker, -1, SQLITE_STATIC);
    result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        *id = nsys_column_or(statement, 0, -1);
        result = SQLITE_DONE;
    }
    return nsys_end(nsys, NSYS_STRINGS, statement, result, err);
}

static bool is_marker(sqlite3_stmt *statement, const char *marker, int64_t marker_id)
{
    const char *text = (const char *)sqlite3_column_text(statement, NVTX_TEXT);
    int64_t type = nsys_column_or(statement, NVTX_TYPE, PUSH_POP);
    int64_t id;

    if (type != PUSH_POP && type != START_END && type != MARK)
        return false;
    if (text != NULL)
        return strcmp(text, marker) == 0;
    return marker_id >= 0 && nsys_column(statement, NVTX_TEXT_ID, &id) && id == marker_id;
}

/* The first range of that text; a mark reaches to the next of its text, or to the end. */
static enum weir_status find_marker(struct nsys *nsys, const char *marker, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    int64_t marker_id, start_ns;
    bool is_found = false, is_open = false;
    enum weir_status status = find_marker_id(nsys, marker, &marker_id, err);
    int result = SQLITE_DONE;

    if (status == WEIR_OK)
        status = nsys_select(nsys, NSYS_NVTX, "start, end DESC", &statement, err);
    if (status != WEIR_OK)
        return status;
    while (statement != NULL && (!is_found || is_open) &&
           (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!is_marker(statement, marker, marker_id) || !nsys_column(statement, 0, &start_ns))
            continue;
        if (is_found) {
            nsys->to_ns = start_ns;
            is_open = false;
            continue;
        }
        is_found = true;
        nsys->from_ns = start_ns;
        nsys->to_ns = nsys_column_or(statement, NVTX_END, INT64_MAX);
        is_open = nsys->to_ns == INT64_MAX;
    }
    if (statement != NULL)
        status =
            nsys_end(nsys, NSYS_NVTX, statement, result == SQLITE_ROW ? SQLITE_DONE : result, err);
    if (status == WEIR_OK && !is_found)
        return weir_error_set(
            err, WEIR_USAGE,
            "--window %.100s: %.200s has no NVTX range or mark of that text; give "
            "another, or FROM:TO as times since the profile began (1.2s:1.5s)",
            marker, nsys->path);
    return status;
}

enum weir_status nsys_find_window(struct nsys *nsys, const char *window, struct weir_error *err)
{
    bool is_since_first = false;

    nsys->from_ns = INT64_MIN;
    nsys->to_ns = INT64_MAX;
    if (window == NULL)
        return WEIR_OK;
    if (!parse_times(window, &nsys->from_ns, &nsys->to_ns, &is_since_first)) {
        nsys->from_ns = INT64_MIN;
        nsys->to_ns = INT64_MAX;
        return find_marker(nsys, window, err);
    }
    if (nsys->to_ns <= nsys->from_ns)
        return weir_error_set(err, WEIR_USAGE, "--window %.100s: it ends before it begins", window);
    return is_since_first ? find_since_first(nsys, err) : WEIR_OK;
}

/* Ranges around calls. */

struct open_range {
    int64_t end_ns;
    uint32_t text; /* 0: not kept yet, */
    char *words;   /* and this is it; NULL: an id */
    int64_t text_id;
};

struct range_stack {
    struct open_range *items;
    size_t n, room;
};

static void close_until(struct range_stack *stack, int64_t now_ns)
{
    while (stack->n > 0 && stack->items[stack->n - 1].end_ns <= now_ns)
        free(stack->items[--stack->n].words);
}

/* Only the texts of ranges around calls are kept. */
static enum weir_status innermost(struct nsys *nsys, struct range_stack *stack, uint32_t *text,
                                  struct weir_error *err)
{
    struct open_range *top;
    enum weir_status status = WEIR_OK;

    if (stack->n == 0)
        return WEIR_OK;
    top = &stack->items[stack->n - 1];
    if (top->text == 0 && top->words != NULL)
        status = recording_text(nsys->recording, top->words, strlen(top->words), &top->text, err);
    else if (top->text == 0)
        status = nsys_string(nsys, top->text_id, &top->text, err);
    if (status != WEIR_OK)
        return status;
    *text = top->text;
    if (strncmp(recording_text_of(nsys->recording, *text), "aten::", strlen("aten::")) == 0)
        nsys->has_framework = true;
    return WEIR_OK;
}

/* The calls from *next on that come before this thread and time get their ranges. */
static enum weir_status name_calls_before(struct nsys *nsys, struct range_stack *stack,
                                          uint32_t *next, int64_t thread, int64_t now_ns,
                                          struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    while (*next < nsys->n_calls && status == WEIR_OK) {
        struct nsys_call *call = &nsys->calls[*next];

        if (call->thread > thread || (call->thread == thread && call->start_ns >= now_ns))
            break;
        if (call->thread == thread) {
            close_until(stack, call->start_ns);
            status = innermost(nsys, stack, &call->range, err);
        }
        (*next)++;
    }
    return status;
}

static enum weir_status push(struct range_stack *stack, sqlite3_stmt *statement, int64_t end_ns,
                             struct weir_error *err)
{
    const char *words = (const char *)sqlite3_column_text(statement, NVTX_TEXT);
    struct open_range range = {.end_ns = end_ns};
    enum weir_status status;

    if (words == NULL && !nsys_column(statement, NVTX_TEXT_ID, &range.text_id))
        return WEIR_OK;
    if (words != NULL) {
        range.words = strdup(words);
        if (range.words == NULL)
            return weir_error_memory(err);
    }
    status = array_grow(&stack->items, &stack->room, stack->n + 1, err);
    if (status == WEIR_OK)
        stack->items[stack->n++] = range;
    else
        free(range.words);
    return status;
}

static enum weir_status take_range(struct nsys *nsys, sqlite3_stmt *statement,
                                   struct range_stack *stack, uint32_t *next, int64_t *thread,
                                   struct weir_error *err)
{
    int64_t its_thread, start_ns, end_ns;
    enum weir_status status;

    if (nsys_column_or(statement, NVTX_TYPE, PUSH_POP) != PUSH_POP ||
        !nsys_column(statement, NVTX_START, &start_ns) ||
        !nsys_column(statement, NVTX_END, &end_ns) ||
        !nsys_column(statement, NVTX_THREAD, &its_thread))
        return WEIR_OK;
    if (its_thread != *thread) {
        status = name_calls_before(nsys, stack, next, *thread, INT64_MAX, err);
        if (status != WEIR_OK)
            return status;
        close_until(stack, INT64_MAX);
        *thread = its_thread;
    }
    status = name_calls_before(nsys, stack, next, its_thread, start_ns, err);
    if (status != WEIR_OK)
        return status;
    close_until(stack, start_ns);
    return push(stack, statement, end_ns, err);
}

enum weir_status nsys_name_ranges(struct nsys *nsys, struct weir_error *err)
{
    struct range_stack stack = {.items = NULL};
    sqlite3_stmt *statement;
    int64_t thread = INT64_MIN;
    uint32_t next = 0;
    enum weir_status status =
        nsys_select(nsys, NSYS_NVTX, "globalTid, start, end DESC", &statement, err);
    int result = SQLITE_DONE;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while (status == WEIR_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        nsys->tables[NSYS_NVTX].n_read++;
        status = take_range(nsys, statement, &stack, &next, &thread, err);
    }
    if (status == WEIR_OK)
        status = nsys_end(nsys, NSYS_NVTX, statement, result, err);
    else
        (void)sqlite3_finalize(statement);
    if (status == WEIR_OK)
        status = name_calls_before(nsys, &stack, &next, thread, INT64_MAX, err);
    close_until(&stack, INT64_MAX);
    free(stack.items);
    return status;
}
