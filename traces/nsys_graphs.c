/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launches of CUDA graphs: which graph was launched, whether the file tells how it was made, and that
 * the time of a launch counts once. A launch has a row of its own, or one for each node that ran, or
 * both, as the profile was recorded. */
#include <inttypes.h>
#include <stdlib.h>

#include "traces/nsys_internal.h"

static struct key key_of(int64_t id)
{
    return (struct key){{(uint32_t)id, (uint32_t)((uint64_t)id >> 32), 0, 0}};
}

static enum weir_status put_once(struct keys *keys, int64_t id, int64_t *n, struct weir_error *err)
{
    const struct key key = key_of(id);

    if (keys_find(keys, &key) != KEYS_NONE)
        return WEIR_OK;
    (*n)++;
    return keys_put(keys, &key, 0, err);
}

/* A row that names an executable tells of its making, any other of a graph's. */
enum weir_status nsys_read_graphs(struct nsys *nsys, struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, NSYS_GRAPH_EVENTS, NULL, &statement, err);
    int64_t exec;
    int result = SQLITE_DONE;

    nsys->graph_execs = keys_new();
    nsys->launched_execs = keys_new();
    if (status == WEIR_OK && (nsys->graph_execs == NULL || nsys->launched_execs == NULL))
        status = weir_error_memory(err);
    while (status == WEIR_OK && statement != NULL &&
           (result = sqlite3_step(statement)) == SQLITE_ROW) {
        nsys->tables[NSYS_GRAPH_EVENTS].n_read++;
        if (nsys_column(statement, 2, &exec))
            status = put_once(nsys->graph_execs, exec, &nsys->counts.graph_execs_made, err);
        else
            nsys->counts.graphs_made++;
    }
    if (status != WEIR_OK || statement == NULL) {
        (void)sqlite3_finalize(statement);
        return status;
    }
    return nsys_end(nsys, NSYS_GRAPH_EVENTS, statement, result, err);
}

enum weir_status nsys_name_graph(struct nsys *nsys, sqlite3_stmt *statement, uint32_t *text,
                                 struct weir_error *err)
{
    char name[40];
    int64_t graph, exec;
    enum weir_status status = WEIR_OK;

    if (nsys_column(statement, 8, &exec)) {
        const struct key key = key_of(exec);

        status = put_once(nsys->launched_execs, exec, &nsys->counts.graph_execs_launched, err);
        if (keys_find(nsys->graph_execs, &key) == KEYS_NONE)
            nsys->counts.launches_of_unseen_graphs++;
    } else {
        nsys->counts.launches_of_unseen_graphs++;
    }
    if (status != WEIR_OK || !nsys_column(statement, 7, &graph))
        return status;
    (void)snprintf(name, sizeof name, "graph %" PRId64, graph);
    return recording_word(nsys->recording, name, text, err);
}

/* Rows for launches, by the call that launched them. */

static struct key launch_key(const struct nsys *nsys, const struct nsys_op *op)
{
    int64_t process = nsys->streams[op->stream].process;

    return (struct key){{(uint32_t)process, (uint32_t)((uint64_t)process >> 32),
                         (uint32_t)op->correlation, (uint32_t)((uint64_t)op->correlation >> 32)}};
}

static bool has_launch(const struct nsys_op *op)
{
    return op->correlation != 0 && (op->flags & OP_IS_DROPPED) == 0;
}

static enum weir_status list_launches(const struct nsys *nsys, struct keys *keys,
                                      struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        const struct key key = launch_key(nsys, op);

        if (op->kind == OP_GRAPH && has_launch(op))
            status = keys_put(keys, &key, i, err);
    }
    return status;
}

/* What any other work of the same launch has shown does not count again. */
static void drop_launches(struct nsys *nsys, const struct keys *keys, const struct nsys_op *child)
{
    const struct key key = launch_key(nsys, child);
    struct keys_walk walk;
    uint32_t at;

    keys_walk_begin(&walk, keys, &key);
    while ((at = keys_walk_next(&walk)) != KEYS_NONE) {
        struct nsys_op *launch = &nsys->ops[at];

        if ((launch->flags & OP_IS_DROPPED) != 0)
            continue;
        launch->flags |= OP_IS_DROPPED;
        nsys->counts.second_graph_rows++;
        nsys->counts.second_graph_ns += launch->end_ns - launch->start_ns;
    }
}

enum weir_status nsys_drop_second_rows(struct nsys *nsys, struct weir_error *err)
{
    struct keys *keys;
    enum weir_status status;

    if (nsys->tables[NSYS_GRAPH_TRACE].n_read == 0)
        return WEIR_OK;
    keys = keys_new();
    status = keys == NULL ? weir_error_memory(err) : list_launches(nsys, keys, err);
    for (uint32_t i = 0; i < nsys->n_ops && status == WEIR_OK; i++) {
        struct nsys_op *op = &nsys->ops[i];
        const struct key key = launch_key(nsys, op);

        if (op->kind == OP_GRAPH || !has_launch(op) || keys_find(keys, &key) == KEYS_NONE)
            continue;
        op->flags |= OP_IS_GRAPH_CHILD;
        drop_launches(nsys, keys, op);
    }
    keys_free(keys);
    return status;
}

void nsys_graphs_free(struct nsys *nsys)
{
    keys_free(nsys->graph_execs);
    keys_free(nsys->launched_execs);
    nsys->graph_execs = nsys->launched_execs = NULL;
}
