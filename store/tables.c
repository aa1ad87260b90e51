/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables to read out, for files and figures. Every statement gives its rows in an order of its own,
 * so that the same run gives the same table. */
#include <assert.h>
#include <inttypes.h>

#include "store/store_internal.h"

/* The public description and the statement behind it, ?1 and ?2 being runs. The columns of the
 * statement are those of the description. Without an ORDER BY the rows come as their keys are: in
 * the order in which they were written. */
struct table {
    struct store_table shown;
    const char *sql;
};

/* The columns are columns of what the rest selects from. */
#define TABLE(name, n_runs, columns, summary, rest)                  \
    {                                                                \
        {name, columns, summary, n_runs}, "SELECT " columns " " rest \
    }

static const struct table tables[] = {
    TABLE("runs", 0,
          "id,kind,scope,graph_hash,plan_hash,graph_name,policy,machine,seed,makespan_ns,"
          "critical_path_ns,status,created,settings",
          "all runs, by id", "FROM run ORDER BY id"),
    TABLE("nodes", 1, "id,name,kind,engine,class", "the graph's nodes, in program order",
          "FROM node WHERE run_id = ?1 ORDER BY id"),
    TABLE("spans", 1,
          "node_id,name,kind,engine,class,ready_ns,start_ns,finish_ns,isolated_ns,wait_cause,"
          "blocker,time_source,start_order",
          "the nodes that ran, in the order in which they started",
          "FROM span JOIN node ON node.run_id = span.run_id AND node.id = span.node_id "
          "WHERE span.run_id = ?1 ORDER BY start_ns, start_order, node_id"),
    TABLE("edges", 1, "producer,consumer,type,object,lag_ns,origin,counts_from,domain,bytes",
          "given, then implied, then induced edges, by node id", "FROM edge WHERE run_id = ?1"),
    TABLE("objects", 1, "id,name,bytes,domain", "the graph's objects",
          "FROM object WHERE run_id = ?1 ORDER BY id"),
    TABLE("domains", 1, "id,name,capacity_bytes,reserve_bytes,granule_bytes",
          "the machine's memory domains", "FROM domain WHERE run_id = ?1 ORDER BY id"),
    TABLE("engines", 1, "id,name,slots", "the machine's engines",
          "FROM engine WHERE run_id = ?1 ORDER BY id"),
    TABLE("holds", 1, "domain,object,acquire_ns,release_ns,bytes,node_id",
          "bytes held, by acquisition; no release: to the end", "FROM hold WHERE run_id = ?1"),
    TABLE("waits", 1, "node_id,cause,blocker,from_ns,to_ns,object",
          "stretches of waiting, in the order in which they were recorded",
          "FROM wait WHERE run_id = ?1"),
    TABLE("pressure", 1, "domain,t_ns,bytes", "bytes of a domain from that instant on, by time",
          "FROM pressure WHERE run_id = ?1"),
    TABLE("peaks", 1, "domain,bytes", "the most bytes of each domain",
          "FROM peak WHERE run_id = ?1"),
    TABLE("chain", 1,
          "position,node_id,cause,via,start_ns,finish_ns,dependency_ns,submission_ns,queue_ns,"
          "stretch_ns",
          "the realized critical chain, first to last",
          "FROM chain WHERE run_id = ?1 ORDER BY position"),
    TABLE("overlaps", 1, "class_a,class_b,overlap_ns", "how long nodes of two classes ran at once",
          "FROM overlap WHERE run_id = ?1 ORDER BY class_a, class_b"),
    TABLE("samples", 1, "number,makespan_ns,is_warm_up,status",
          "every repeat of a replay, or sample of a simulation, in order",
          "FROM sample WHERE run_id = ?1 ORDER BY number"),
    TABLE("sample_peaks", 1, "number,domain,bytes", "the most bytes of each domain in each sample",
          "FROM sample_peak WHERE run_id = ?1"),
    TABLE("evidence", 1, "subject,id,name,evidence,detail,confidence",
          "what costs, objects and edges rest on", "FROM evidence WHERE run_id = ?1"),
    TABLE("decisions", 1, "position,what,reason,instead_of", "the policy's edits, in order",
          "FROM decision WHERE run_id = ?1"),
    TABLE("mechanisms", 1, "node_id,mechanism,note", "what a replay used for each node",
          "FROM mechanism WHERE run_id = ?1"),
    TABLE("deviations", 1, "position,node_id,what,cost_ns",
          "where a replay did not do what was planned", "FROM deviation WHERE run_id = ?1"),
    TABLE("deviation_parts", 1,
          "node_id,deviation_ns,dependency_ns,submission_ns,queue_ns,stretch_ns,cost_ns,submit_ns",
          "how far from the plan each node of a replay ended, and why, by id",
          "FROM deviation_part WHERE run_id = ?1 ORDER BY node_id"),
    TABLE("queue_order", 1, "queue,position,planned_position,node_id",
          "what a replay ran on each queue, in the order of starts",
          "FROM queue_order WHERE run_id = ?1 ORDER BY queue, position"),
    TABLE("inserted", 1, "position,producer,consumer,counts_from,not_before_ns,why",
          "what a replay inserted: orders, and times where there is no producer",
          "FROM inserted WHERE run_id = ?1"),
    TABLE("compare", 2,
          "name,kind,engine,start_a_ns,finish_a_ns,start_b_ns,finish_b_ns,start_error_ns,"
          "duration_a_ns,duration_b_ns,duration_error_ns",
          "nodes that ran in both runs, by their start in the first; errors are second minus first",
          "FROM (WITH second AS MATERIALIZED (SELECT name, id FROM node WHERE run_id = ?2) "
          "SELECT n.name AS name, n.kind AS kind, n.engine AS engine, "
          "a.start_ns AS start_a_ns, a.finish_ns AS finish_a_ns, b.start_ns AS start_b_ns, "
          "b.finish_ns AS finish_b_ns, b.start_ns - a.start_ns AS start_error_ns, "
          "a.finish_ns - a.start_ns AS duration_a_ns, b.finish_ns - b.start_ns AS duration_b_ns, "
          "(b.finish_ns - b.start_ns) - (a.finish_ns - a.start_ns) AS duration_error_ns, "
          "a.start_order AS start_order "
          "FROM node AS n CROSS JOIN second ON n.run_id = ?1 AND second.name = n.name "
          "JOIN span AS a ON a.run_id = ?1 AND a.node_id = n.id "
          "JOIN span AS b ON b.run_id = ?2 AND b.node_id = second.id) "
          "ORDER BY start_a_ns, start_order"),
};

#define N_TABLES ((uint32_t)(sizeof tables / sizeof *tables))

const struct store_table *store_table(uint32_t index)
{
    return index < N_TABLES ? &tables[index].shown : NULL;
}

static enum weir_status find_table(const char *name, uint32_t n_runs, const struct table **out,
                                   struct weir_error *err)
{
    char names[400] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < N_TABLES; i++) {
        const struct store_table *shown = &tables[i].shown;
        int n;

        if (strcmp(shown->name, name) == 0 && shown->n_runs == n_runs) {
            *out = &tables[i];
            return WEIR_OK;
        }
        if (strcmp(shown->name, name) == 0) {
            return weir_error_set(err, WEIR_USAGE,
                                  "the table %s: %" PRIu32 " runs were expected, %" PRIu32
                                  " are given",
                                  name, shown->n_runs, n_runs);
        }
        n = snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", shown->name);
        used += n < 0 || (size_t)n >= sizeof names - used ? 0 : (size_t)n;
    }
    return weir_error_set(err, WEIR_USAGE, "'%.80s' is not a table; there are: %s", name, names);
}

static enum weir_status check_runs(struct store *store, const int64_t *runs, uint32_t n_runs,
                                   struct weir_error *err)
{
    for (uint32_t i = 0; i < n_runs; i++) {
        int64_t id;
        bool found;
        enum weir_status status =
            store_number(store, "SELECT id FROM run WHERE id = ?", runs[i], 0, &id, &found, err);

        if (status != WEIR_OK)
            return status;
        if (!found) {
            return weir_error_set(err, WEIR_INPUT,
                                  "there is no run %" PRId64 " in %.300s; weir runs lists them",
                                  runs[i], store->path);
        }
    }
    return WEIR_OK;
}

/* Two runs are held against each other by the names of one graph. */
static enum weir_status check_same_graph(struct store *store, const int64_t runs[2],
                                         struct weir_error *err)
{
    int64_t id;
    bool found;
    enum weir_status status =
        store_number(store,
                     "SELECT a.id FROM run AS a JOIN run AS b ON b.graph_hash = a.graph_hash "
                     "WHERE a.id = ?1 AND b.id = ?2",
                     runs[0], runs[1], &id, &found, err);

    if (status != WEIR_OK || found)
        return status;
    return weir_error_set(err, WEIR_INPUT,
                          "runs %" PRId64 " and %" PRId64
                          " are of different graphs: give two runs of one graph",
                          runs[0], runs[1]);
}

#define MOST_COLUMNS 32

static enum weir_status give_rows(struct store *store, sqlite3_stmt *select, store_row *row,
                                  void *arg, struct weir_error *err)
{
    const char *values[MOST_COLUMNS];
    int n = sqlite3_column_count(select);
    bool has_row = true;
    enum weir_status status;

    assert(n <= MOST_COLUMNS);
    for (int i = 0; i < n; i++)
        values[i] = sqlite3_column_name(select, i);
    status = row(arg, (uint32_t)n, values, err);
    while (status == WEIR_OK) {
        status = statement_step(store, select, &has_row, err);
        if (status != WEIR_OK || !has_row)
            break;
        for (int i = 0; i < n; i++)
            values[i] = (const char *)sqlite3_column_text(select, i);
        status = row(arg, (uint32_t)n, values, err);
    }
    return status;
}

enum weir_status store_read_table(struct store *store, const char *table, const int64_t *runs,
                                  uint32_t n_runs, store_row *row, void *arg,
                                  struct weir_error *err)
{
    const struct table *found = NULL;
    sqlite3_stmt *select = NULL;
    enum weir_status status = find_table(table, n_runs, &found, err);

    if (status == WEIR_OK)
        status = check_runs(store, runs, n_runs, err);
    if (status == WEIR_OK && n_runs == 2)
        status = check_same_graph(store, runs, err);
    if (status == WEIR_OK)
        status = statement_prepare(store, found->sql, &select, err);
    for (uint32_t i = 0; i < n_runs && status == WEIR_OK; i++)
        (void)sqlite3_bind_int64(select, (int)i + 1, runs[i]);
    if (status == WEIR_OK)
        status = give_rows(store, select, row, arg, err);
    (void)sqlite3_finalize(select);
    return status;
}
