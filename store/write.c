/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing and deleting runs: one transaction each. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "store/store_internal.h"

/* Numbers on their way into a hash, as bytes that are the same on every machine. */
struct numbers {
    struct hash hash;
    size_t used;
    unsigned char bytes[4096];
};

static void add_gathered(struct numbers *numbers)
{
    hash_add(&numbers->hash, numbers->bytes, numbers->used);
    numbers->used = 0;
}

static void add_number(struct numbers *numbers, uint64_t value)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        value = __builtin_bswap64(value);
    memcpy(numbers->bytes + numbers->used, &value, sizeof value);
    numbers->used += sizeof value;
    if (numbers->used == sizeof numbers->bytes)
        add_gathered(numbers);
}

/* The realized plan: the graph that ran, the order in which its nodes started, and what each waited
 * for of the bytes of others. No times: draws of one plan have one hash. */
static enum weir_status hash_plan(const char *graph_hash, const struct timeline *timeline,
                                  char out[HASH_TEXT_BYTES], uint32_t *n_started,
                                  struct weir_error *err)
{
    struct numbers numbers = {.used = 0};
    weir_node *order = NULL;
    enum weir_status status = timeline_order(timeline, &order, n_started, err);

    if (status != WEIR_OK)
        return status;
    hash_begin(&numbers.hash);
    hash_add(&numbers.hash, graph_hash, strlen(graph_hash));
    add_number(&numbers, *n_started);
    for (uint32_t i = 0; i < *n_started; i++)
        add_number(&numbers, order[i].index);
    for (size_t i = 0; i < timeline->n_induced; i++) {
        const struct timeline_induced *induced = &timeline->induced[i];

        add_number(&numbers, (uint64_t)induced->producer.index << 32 | induced->consumer.index);
        add_number(&numbers, induced->domain.index);
        add_number(&numbers, (uint64_t)induced->bytes);
    }
    add_gathered(&numbers);
    hash_text(&numbers.hash, out);
    free(order);
    return WEIR_OK;
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    (void)sqlite3_bind_text(statement, parameter, text == NULL ? "" : text, -1, SQLITE_STATIC);
}

#define CREATED_BYTES 32

/* Now, in ISO 8601 and UTC. */
static void now_text(char out[CREATED_BYTES])
{
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc) == NULL ||
        strftime(out, CREATED_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        out[0] = '\0';
}

/* @param n_started nodes @param created of this moment, or the run's own */
static enum weir_status write_head(struct store *store, const struct run *run, int64_t graph_id,
                                   const char *plan_hash, uint32_t n_started, const char *created,
                                   int64_t *run_id, struct weir_error *err)
{
    sqlite3_stmt *insert = NULL;
    enum weir_status status = statement_prepare(
        store,
        "INSERT INTO run(kind, scope, graph_hash, plan_hash, graph_name, policy, machine, seed, "
        "makespan_ns, critical_path_ns, status, created, settings, graph_id, n_started) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, json(?), ?, ?)",
        &insert, err);

    if (status == WEIR_OK) {
        bind_text(insert, 1, run_kind_name(run->kind));
        bind_text(insert, 2, graph_scope_name(run->scope));
        bind_text(insert, 3, run->graph_hash);
        bind_text(insert, 4, plan_hash);
        bind_text(insert, 5, run->graph_name);
        bind_text(insert, 6, run->policy);
        bind_text(insert, 7, run->machine);
        (void)sqlite3_bind_int64(insert, 8, run->seed);
        (void)sqlite3_bind_int64(insert, 9, run->timeline->makespan_ns);
        if (run->critical_path_ns >= 0)
            (void)sqlite3_bind_int64(insert, 10, run->critical_path_ns);
        bind_text(insert, 11, run_status_name(run->timeline->status));
        bind_text(insert, 12, created);
        bind_text(insert, 13,
                  run->settings == NULL || run->settings[0] == '\0' ? "{}" : run->settings);
        (void)sqlite3_bind_int64(insert, 14, graph_id);
        (void)sqlite3_bind_int64(insert, 15, n_started);
        status = statement_run(store, insert, err);
    }
    (void)sqlite3_finalize(insert);
    if (status == WEIR_OK)
        *run_id = sqlite3_last_insert_rowid(store->db);
    if (status == WEIR_OK && *run_id >= STORE_MOST_RUNS)
        return weir_error_set(err, WEIR_STORE, "%.300s is full of runs; use another file with --db",
                              store->path);
    return status;
}

/* Inside the transaction. */
static enum weir_status write_all(struct store *store, const struct run *run,
                                  const struct run_sample *samples, size_t n_samples,
                                  int64_t *run_id, char plan_hash[HASH_TEXT_BYTES],
                                  struct weir_error *err)
{
    assert(run->timeline->n_nodes == graph_n_nodes(run->graph));
    char hash[HASH_TEXT_BYTES], realized[HASH_TEXT_BYTES], created[CREATED_BYTES];
    int64_t graph_id;
    uint32_t n_started;
    enum weir_status status;

    memcpy(hash, run->ran_hash, sizeof hash);
    status = graph_rows_write(store, run->graph, run->binding, &graph_id, hash, err);
    if (status == WEIR_OK)
        status = hash_plan(hash, run->timeline, realized, &n_started, err);
    if (status != WEIR_OK)
        return status;
    (void)snprintf(plan_hash, HASH_TEXT_BYTES, "%s",
                   run->plan_hash[0] == '\0' ? realized : run->plan_hash);
    now_text(created);
    status = write_head(store, run, graph_id, plan_hash, n_started,
                        run->created == NULL ? created : run->created, run_id, err);
    if (status == WEIR_OK)
        status = timeline_rows_write(store, *run_id, run, err);
    if (status == WEIR_OK)
        status = run_lists_write(store, *run_id, run, samples, n_samples, err);
    if (status == WEIR_OK)
        status = replay_rows_write(store, *run_id, run, err);
    return status;
}

enum weir_status store_write_run(struct store *store, struct run *run,
                                 const struct run_sample *samples, size_t n_samples,
                                 struct weir_error *err)
{
    char plan_hash[HASH_TEXT_BYTES];
    int64_t run_id = 0;
    enum weir_status status = store_begin(store, err);

    if (status != WEIR_OK)
        return status;
    status = write_all(store, run, samples, n_samples, &run_id, plan_hash, err);
    status = store_end(store, status, err);
    if (status != WEIR_OK)
        return status;
    run->id = run_id;
    memcpy(run->plan_hash, plan_hash, sizeof plan_hash);
    return WEIR_OK;
}

/* Inside the transaction; the triggers of the schema take what belongs to the run and the graph. */
static enum weir_status delete_all(struct store *store, int64_t run_id, struct weir_error *err)
{
    static const char *const deletes[] = {
        "DELETE FROM run WHERE id = ?1",
        "DELETE FROM graph WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM run WHERE graph_id = ?2)",
    };
    int64_t graph_id = 0, ignored;
    bool found = false;
    enum weir_status status = store_number(store, "SELECT graph_id FROM run WHERE id = ?", run_id,
                                           0, &graph_id, &found, err);

    if (status == WEIR_OK && !found) {
        return weir_error_set(err, WEIR_INPUT,
                              "there is no run %" PRId64 " in %.300s; weir runs lists them", run_id,
                              store->path);
    }
    for (size_t i = 0; i < 2 && status == WEIR_OK; i++)
        status = store_number(store, deletes[i], run_id, graph_id, &ignored, &found, err);
    return status;
}

enum weir_status store_delete_run(struct store *store, int64_t run_id, struct weir_error *err)
{
    enum weir_status status = store_begin(store, err);

    if (status != WEIR_OK)
        return status;
    return store_end(store, delete_all(store, run_id, err), err);
}
