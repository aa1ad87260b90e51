/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading runs: one with its graph and timeline, or the list of all. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "store/store_internal.h"
#include "store/values.h"

/* ---- words ---- */

static bool kind_from(const char *name, enum run_kind *out)
{
    for (enum run_kind kind = RUN_SIM; kind <= RUN_RECORDED; kind++) {
        if (strcmp(name, run_kind_name(kind)) == 0) {
            *out = kind;
            return true;
        }
    }
    return false;
}

static bool scope_from(const char *name, enum graph_scope *out)
{
    for (enum graph_scope scope = SCOPE_NONE; scope <= SCOPE_WARM; scope++) {
        if (strcmp(name, graph_scope_name(scope)) == 0) {
            *out = scope;
            return true;
        }
    }
    return false;
}

/* ---- heads ---- */

#define HEAD_COLUMNS                                                                        \
    "id, kind, scope, status, seed, makespan_ns, critical_path_ns, graph_hash, plan_hash, " \
    "graph_name, policy, machine, created, settings, n_started, graph_id"

static enum weir_status head_at(struct store *store, sqlite3_stmt *row, struct run_row *out,
                                struct weir_error *err)
{
    struct run_row head = {
        .id = sqlite3_column_int64(row, 0),
        .seed = sqlite3_column_int64(row, 4),
        .makespan_ns = sqlite3_column_int64(row, 5),
        .critical_path_ns = known_at(row, 6),
        .graph_hash = text_at(row, 7),
        .plan_hash = text_at(row, 8),
        .graph_name = text_at(row, 9),
        .policy = text_at(row, 10),
        .machine = text_at(row, 11),
        .created = text_at(row, 12),
        .settings = text_at(row, 13),
        .n_nodes = sqlite3_column_int64(row, 14),
    };

    if (!kind_from(text_at(row, 1), &head.kind) || !scope_from(text_at(row, 2), &head.scope) ||
        !run_status_from(text_at(row, 3), &head.status)) {
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: run %" PRId64 " is a '%.40s' of scope '%.40s' that ended as "
                              "'%.40s', which this Weir does not know",
                              store->path, head.id, text_at(row, 1), text_at(row, 2),
                              text_at(row, 3));
    }
    *out = head;
    return WEIR_OK;
}

enum weir_status store_list_runs(struct store *store,
                                 enum weir_status (*row)(void *arg, const struct run_row *),
                                 void *arg, struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = true;
    struct run_row head;
    enum weir_status status =
        statement_prepare(store, "SELECT " HEAD_COLUMNS " FROM run ORDER BY id", &select, err);

    while (status == WEIR_OK) {
        status = statement_step(store, select, &has_row, err);
        if (status != WEIR_OK || !has_row)
            break;
        status = head_at(store, select, &head, err);
        if (status == WEIR_OK)
            status = row(arg, &head);
    }
    (void)sqlite3_finalize(select);
    return status;
}

/* ---- one run ---- */

static const char *keep(struct arena *arena, const char *text)
{
    return arena_text(arena, text, strlen(text));
}

static enum weir_status keep_head(struct stored_run *stored, const struct run_row *head,
                                  struct weir_error *err)
{
    struct run *run = &stored->run;

    *run = (struct run){
        .id = head->id,
        .kind = head->kind,
        .scope = head->scope,
        .graph_name = keep(&stored->arena, head->graph_name),
        .policy = keep(&stored->arena, head->policy),
        .machine = keep(&stored->arena, head->machine),
        .settings = keep(&stored->arena, head->settings),
        .created = keep(&stored->arena, head->created),
        .seed = head->seed,
        .critical_path_ns = head->critical_path_ns,
    };
    (void)snprintf(run->graph_hash, sizeof run->graph_hash, "%s", head->graph_hash);
    (void)snprintf(run->plan_hash, sizeof run->plan_hash, "%s", head->plan_hash);
    if (run->graph_name == NULL || run->policy == NULL || run->machine == NULL ||
        run->settings == NULL || run->created == NULL)
        return weir_error_memory(err);
    return WEIR_OK;
}

static enum weir_status read_head(struct store *store, int64_t run_id, struct stored_run *stored,
                                  struct run_row *head, int64_t *graph_id, struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = false;
    enum weir_status status =
        statement_prepare(store, "SELECT " HEAD_COLUMNS " FROM run WHERE id = ?", &select, err);

    if (status == WEIR_OK) {
        (void)sqlite3_bind_int64(select, 1, run_id);
        status = statement_step(store, select, &has_row, err);
    }
    if (status == WEIR_OK && !has_row) {
        status = weir_error_set(err, WEIR_INPUT,
                                "there is no run %" PRId64 " in %.300s; weir runs lists them",
                                run_id, store->path);
    }
    if (status == WEIR_OK)
        status = head_at(store, select, head, err);
    if (status == WEIR_OK) {
        *graph_id = sqlite3_column_int64(select, 15);
        status = keep_head(stored, head, err);
    }
    (void)sqlite3_finalize(select);
    return status;
}

/* What the graph that ran is known by. */
static enum weir_status read_ran_hash(struct store *store, int64_t graph_id, struct run *run,
                                      struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = false;
    enum weir_status status =
        statement_prepare(store, "SELECT hash FROM graph WHERE id = ?", &select, err);

    if (status == WEIR_OK) {
        (void)sqlite3_bind_int64(select, 1, graph_id);
        status = statement_step(store, select, &has_row, err);
    }
    if (status == WEIR_OK && has_row)
        (void)snprintf(run->ran_hash, sizeof run->ran_hash, "%s", text_at(select, 0));
    (void)sqlite3_finalize(select);
    return status;
}

static enum weir_status read_parts(struct store *store, int64_t run_id, struct stored_run *stored,
                                   struct weir_error *err)
{
    struct run_row head;
    int64_t graph_id = 0;
    enum weir_status status = read_head(store, run_id, stored, &head, &graph_id, err);

    if (status == WEIR_OK)
        status = graph_rows_read(store, graph_id, &stored->graph, err);
    if (status == WEIR_OK)
        status = read_ran_hash(store, graph_id, &stored->run, err);
    if (status == WEIR_OK) {
        stored->run.graph = stored->graph;
        status = timeline_rows_read(store, run_id, stored->graph, &stored->timeline, err);
    }
    if (status == WEIR_OK) {
        stored->timeline->makespan_ns = head.makespan_ns;
        stored->timeline->status = head.status;
        stored->run.timeline = stored->timeline;
        status = run_lists_read(store, stored, err);
        if (status == WEIR_OK)
            status = replay_rows_read(store, stored, err);
    }
    return status == WEIR_OK ? run_check(&stored->run, head.n_nodes, err) : status;
}

enum weir_status store_read_run(struct store *store, int64_t run_id, struct stored_run *out,
                                struct weir_error *err)
{
    struct stored_run stored = {.graph = NULL};
    /* One transaction, so that all parts are of one moment. */
    enum weir_status status = store_exec(store, "BEGIN", err);

    if (status != WEIR_OK)
        return store_end(store, status, err);
    status = store_end(store, read_parts(store, run_id, &stored, err), err);
    if (status != WEIR_OK) {
        stored_run_free(&stored);
        return status;
    }
    *out = stored;
    return WEIR_OK;
}

void stored_run_free(struct stored_run *stored)
{
    timeline_free(stored->timeline);
    graph_free(stored->graph);
    arena_free(&stored->arena);
    *stored = (struct stored_run){.graph = NULL};
}

/* ---- finding ---- */

/* The id that a statement with a text bound gives. */
static enum weir_status find_by_text(struct store *store, const char *sql, const char *text,
                                     int64_t *run_id, struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = false;
    enum weir_status status = statement_prepare(store, sql, &select, err);

    if (status == WEIR_OK) {
        (void)sqlite3_bind_text(select, 1, text, -1, SQLITE_STATIC);
        status = statement_step(store, select, &has_row, err);
    }
    if (status == WEIR_OK)
        *run_id = has_row ? sqlite3_column_int64(select, 0) : 0; /* max of none is NULL: 0 */
    (void)sqlite3_finalize(select);
    return status;
}

enum weir_status store_find_recording(struct store *store, const char graph_hash[HASH_TEXT_BYTES],
                                      int64_t *run_id, struct weir_error *err)
{
    return find_by_text(store,
                        "SELECT max(id) FROM run WHERE kind = 'recorded' AND graph_hash = ?1",
                        graph_hash, run_id, err);
}

enum weir_status store_resolve_run(struct store *store, const char *text, int64_t *run_id,
                                   struct weir_error *err)
{
    enum run_kind kind;
    int64_t number = 0, found = 0;
    enum weir_status status;

    if (strcmp(text, "latest") == 0 || kind_from(text, &kind)) {
        status = find_by_text(store, "SELECT max(id) FROM run WHERE ?1 = 'latest' OR kind = ?1",
                              text, &found, err);
        if (status == WEIR_OK && found == 0) {
            return weir_error_set(err, WEIR_INPUT, "there is no %s%s in %.300s",
                                  strcmp(text, "latest") == 0 ? "" : text,
                                  strcmp(text, "latest") == 0 ? "run" : " run", store->path);
        }
    } else if (number_integer(text, strlen(text), &number) == NUMBER_OK && number > 0) {
        bool is_there = false;

        status = store_number(store, "SELECT id FROM run WHERE id = ?", number, 0, &found,
                              &is_there, err);
        if (status == WEIR_OK && !is_there) {
            return weir_error_set(err, WEIR_INPUT,
                                  "there is no run %" PRId64 " in %.300s; weir runs lists them",
                                  number, store->path);
        }
    } else {
        return weir_error_set(err, WEIR_INPUT,
                              "'%.80s' is not a run: a number from weir runs was expected, or "
                              "latest, sim, replay or recorded for the newest",
                              text);
    }
    if (status == WEIR_OK)
        *run_id = found;
    return status;
}
