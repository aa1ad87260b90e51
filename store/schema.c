/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema, version by version: weir-store(5) describes it to users.
 *
 * Rows that there are many of lie in tables whose name ends in _row (or, packed, in _block), under an
 * integer key that packs the run (or the graph) and the number of the row: a new run is added at the
 * end of each, and a range of keys is a run. They hold numbers only; a graph's names are in rows of the graph, which
 * its runs share. The tables that users read are views of them. In those, `number` turns an id into
 * a key: with it both `run_id = ?` and `run_id = ? AND id = ?`, and joins by them, are look-ups.
 *
 * The words in the views are those of node_kind_name, edge_type_name, wait_cause_name and the like,
 * by the value of their enums. */
#include "store/schema.h"

#include "store/packed.h"
#include "store/schema_internal.h"
#include "store/store_internal.h"

#define KIND_WORD(column)                                                                   \
    "CASE " column " WHEN 0 THEN 'compute' WHEN 1 THEN 'allocation' WHEN 2 THEN 'mapping' " \
    "WHEN 3 THEN 'transfer' WHEN 4 THEN 'prefetch' WHEN 5 THEN 'offload' "                  \
    "WHEN 6 THEN 'rematerialization' WHEN 7 THEN 'barrier' WHEN 8 THEN 'reclamation' END"
#define EVIDENCE_WORD(column)                                                              \
    "CASE " column " WHEN 1 THEN 'measured' WHEN 2 THEN 'fitted' WHEN 3 THEN 'datasheet' " \
    "WHEN 4 THEN 'bound' WHEN 5 THEN 'unknown' WHEN 6 THEN 'declared' "                    \
    "WHEN 7 THEN 'assumed' WHEN 8 THEN 'observed' WHEN 9 THEN 'ordered' "                  \
    "WHEN 10 THEN 'contained' WHEN 11 THEN 'inferred' END"

/* Keys of a run's graph. */
#define OF_GRAPH(key) key " >= run.graph_id << 32 AND " key " < (run.graph_id + 1) << 32"
#define DETAIL_OF(id) \
    "(SELECT x.text FROM text_row AS x WHERE x.graph_id = run.graph_id AND x.id = " id ")"

/* Laid out by hand: a clause a line. */
/* clang-format off */
static const char *const version_1[] = {
    /* A graph that ran: planned, and with its machine over it. Its text is the canonical form in
     * parts, each a zlib stream of its own. */
    "CREATE TABLE graph(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
    "n_nodes INTEGER NOT NULL, n_edges INTEGER NOT NULL, n_objects INTEGER NOT NULL, "
    "text_bytes INTEGER NOT NULL)",
    "CREATE TABLE graph_text(graph_id INTEGER NOT NULL REFERENCES graph(id), "
    "part INTEGER NOT NULL, zlib BLOB NOT NULL, "
    "PRIMARY KEY(graph_id, part))",

    "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "kind TEXT NOT NULL CHECK(kind IN ('sim', 'replay', 'recorded')), scope TEXT NOT NULL, "
    "graph_hash TEXT NOT NULL, plan_hash TEXT NOT NULL, graph_name TEXT NOT NULL, "
    "policy TEXT NOT NULL, machine TEXT NOT NULL, seed INTEGER NOT NULL, "
    "makespan_ns INTEGER NOT NULL, critical_path_ns INTEGER, status TEXT NOT NULL, "
    "created TEXT NOT NULL, settings TEXT NOT NULL, "
    "graph_id INTEGER NOT NULL REFERENCES graph(id), n_started INTEGER NOT NULL)",

    /* 0, 1, 2 ... up to the most nodes or objects of any graph. */
    "CREATE TABLE number(id INTEGER PRIMARY KEY)",

    /* Of graphs. evidence: graph_evidence.kind; detail: text_row. */
    "CREATE TABLE node_row(key INTEGER PRIMARY KEY, name TEXT, kind INT, engine INT, class INT, "
    "evidence INT, detail INT, confidence REAL)",
    "CREATE TABLE object_row(key INTEGER PRIMARY KEY, name TEXT, bytes INT, domain INT, "
    "evidence INT, detail INT, confidence REAL)",
    "CREATE TABLE edge_row(key INTEGER PRIMARY KEY, producer INT, consumer INT, type INT, "
    "object INT, lag_ns INT, is_implied INT, is_from_start INT, evidence INT, detail INT, "
    "confidence REAL)",
    "CREATE TABLE domain_row(graph_id INTEGER NOT NULL REFERENCES graph(id), id INTEGER NOT NULL, "
    "name TEXT NOT NULL, capacity_bytes INT, reserve_bytes INT, granule_bytes INT, evidence INT, "
    "detail INT, confidence REAL, "
    "PRIMARY KEY(graph_id, id)) WITHOUT ROWID",
    "CREATE TABLE engine_row(graph_id INTEGER NOT NULL REFERENCES graph(id), id INTEGER NOT NULL, "
    "name TEXT NOT NULL, slots INT, evidence INT, detail INT, confidence REAL, "
    "PRIMARY KEY(graph_id, id)) WITHOUT ROWID",
    "CREATE TABLE class_row(graph_id INTEGER NOT NULL REFERENCES graph(id), id INTEGER NOT NULL, "
    "name TEXT NOT NULL, "
    "PRIMARY KEY(graph_id, id)) WITHOUT ROWID",
    "CREATE TABLE text_row(graph_id INTEGER NOT NULL REFERENCES graph(id), id INTEGER NOT NULL, "
    "text TEXT NOT NULL, "
    "PRIMARY KEY(graph_id, id)) WITHOUT ROWID",

    /* Of runs. A span's times are kept as differences, which are short: waited = start - ready,
     * length = finish - start, more = length - isolated (length as 0 when unfinished), and
     * how = wait cause + 16 * time source. start_ns is NULL when the node did not start, and
     * waited_ns then -ready; blocker and start_order count from the node's own id. */
    "CREATE TABLE span_row(key INTEGER PRIMARY KEY, start_ns INT, waited_ns INT, length_ns INT, "
    "more_ns INT, how INT, blocker INT, start_order INT)",
    "CREATE TABLE wait_row(key INTEGER PRIMARY KEY, node_id INT, cause INT, blocker INT, "
    "object INT, from_ns INT, to_ns INT)",
    "CREATE TABLE pressure_row(key INTEGER PRIMARY KEY, domain INT, t_ns INT, bytes INT)",
    "CREATE TABLE hold_row(key INTEGER PRIMARY KEY, domain INT, object INT, node_id INT, "
    "bytes INT, acquire_ns INT, release_ns INT, is_staging INT)",
    "CREATE TABLE induced_row(key INTEGER PRIMARY KEY, producer INT, consumer INT, domain INT, "
    "bytes INT)",
    "CREATE TABLE peak_row(key INTEGER PRIMARY KEY, bytes INT)",
    "CREATE TABLE decision_row(key INTEGER PRIMARY KEY, what TEXT, reason TEXT, instead_of TEXT)",
    "CREATE TABLE mechanism_row(key INTEGER PRIMARY KEY, node_id INT, mechanism TEXT, note TEXT)",
    "CREATE TABLE deviation_row(key INTEGER PRIMARY KEY, node_id INT, what TEXT, cost_ns INT)",
    "CREATE TABLE sample(run_id INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, "
    "makespan_ns INTEGER NOT NULL, is_warm_up INTEGER NOT NULL, "
    "PRIMARY KEY(run_id, number)) WITHOUT ROWID",
    "CREATE TABLE chain(run_id INTEGER NOT NULL REFERENCES run(id), position INTEGER NOT NULL, "
    "node_id INTEGER, cause TEXT, via TEXT, start_ns INTEGER, finish_ns INTEGER, "
    "PRIMARY KEY(run_id, position)) WITHOUT ROWID",
    "CREATE TABLE overlap(run_id INTEGER NOT NULL REFERENCES run(id), class_a TEXT NOT NULL, "
    "class_b TEXT NOT NULL, overlap_ns INTEGER NOT NULL, "
    "PRIMARY KEY(run_id, class_a, class_b)) WITHOUT ROWID",

    "CREATE VIEW node AS SELECT run.id AS run_id, number.id AS id, n.name AS name, "
    KIND_WORD("n.kind") " AS kind, " NAME_OF("engine_row", "n.engine") " AS engine, "
    NAME_OF("class_row", "n.class") " AS class "
    "FROM run CROSS JOIN graph CROSS JOIN number CROSS JOIN node_row AS n "
    "WHERE graph.id = run.graph_id AND number.id < graph.n_nodes AND n.key = (run.graph_id << 32) "
    "+ number.id",

    "CREATE VIEW object AS SELECT run.id AS run_id, number.id AS id, o.name AS name, "
    "o.bytes AS bytes, " NAME_OF("domain_row", "o.domain") " AS domain "
    "FROM run CROSS JOIN graph CROSS JOIN number CROSS JOIN object_row AS o "
    "WHERE graph.id = run.graph_id AND number.id < graph.n_objects AND o.key = (run.graph_id << "
    "32) + number.id",

    "CREATE VIEW edge AS SELECT run.id AS run_id, e.producer AS producer, e.consumer AS consumer, "
    TYPE_WORD("e.type") " AS type, " NAME_AT("object_row", "e.object") " AS object, "
    "e.lag_ns AS lag_ns, CASE e.is_implied WHEN 0 THEN 'given' ELSE 'implied' END AS origin, "
    "CASE e.is_from_start WHEN 0 THEN 'finish' ELSE 'start' END AS counts_from, NULL AS domain, "
    "NULL AS bytes "
    "FROM run CROSS JOIN edge_row AS e "
    "WHERE " OF_GRAPH("e.key") " "
    "UNION ALL SELECT run.id, i.producer, i.consumer, 'capacity-wait', NULL, 0, 'induced', "
    "'finish', " NAME_OF("domain_row", "i.domain") ", i.bytes "
    "FROM run CROSS JOIN induced_row AS i "
    "WHERE " OF_RUN("i.key"),

    "CREATE VIEW engine AS SELECT run.id AS run_id, e.id AS id, e.name AS name, e.slots AS slots "
    "FROM run CROSS JOIN engine_row AS e "
    "WHERE e.graph_id = run.graph_id",
    "CREATE VIEW domain AS SELECT run.id AS run_id, d.id AS id, d.name AS name, "
    "d.capacity_bytes AS capacity_bytes, d.reserve_bytes AS reserve_bytes, "
    "d.granule_bytes AS granule_bytes "
    "FROM run CROSS JOIN domain_row AS d "
    "WHERE d.graph_id = run.graph_id",

    "CREATE VIEW span AS SELECT run.id AS run_id, number.id AS node_id, "
    "s.start_ns - s.waited_ns AS ready_ns, s.start_ns AS start_ns, "
    "s.start_ns + s.length_ns AS finish_ns, coalesce(s.length_ns, 0) - s.more_ns AS isolated_ns, "
    CAUSE_WORD("s.how & 15") " AS wait_cause, " SOURCE_WORD("s.how >> 4") " AS time_source, "
    "number.id + s.blocker AS blocker, number.id + s.start_order AS start_order "
    "FROM run CROSS JOIN graph CROSS JOIN number CROSS JOIN span_row AS s "
    "WHERE graph.id = run.graph_id AND number.id < graph.n_nodes AND s.key = (run.id << 32) + "
    "number.id AND s.start_ns IS NOT NULL",

    "CREATE VIEW wait AS SELECT run.id AS run_id, w.node_id AS node_id, "
    CAUSE_WORD("w.cause") " AS cause, w.blocker AS blocker, w.from_ns AS from_ns, "
    "w.to_ns AS to_ns, " NAME_AT("object_row", "w.object") " AS object "
    "FROM run CROSS JOIN wait_row AS w "
    "WHERE " OF_RUN("w.key"),

    "CREATE VIEW pressure AS SELECT run.id AS run_id, "
    NAME_OF("domain_row", "p.domain") " AS domain, p.t_ns AS t_ns, p.bytes AS bytes "
    "FROM run CROSS JOIN pressure_row AS p "
    "WHERE " OF_RUN("p.key"),
    "CREATE VIEW peak AS SELECT run.id AS run_id, "
    NAME_OF("domain_row", "p.key - (run.id << 32)") " AS domain, p.bytes AS bytes "
    "FROM run CROSS JOIN peak_row AS p "
    "WHERE " OF_RUN("p.key"),

    "CREATE VIEW hold AS SELECT run.id AS run_id, "
    NAME_OF("domain_row", "h.domain") " AS domain, "
    "CASE WHEN h.object IS NOT NULL THEN " NAME_AT("object_row", "h.object") " ELSE CASE "
    "h.is_staging WHEN 0 THEN 'workspace of ' ELSE 'staging of ' END || "
    NAME_AT("node_row", "h.node_id") " END AS object, h.acquire_ns AS acquire_ns, "
    "h.release_ns AS release_ns, h.bytes AS bytes, h.node_id AS node_id "
    "FROM run CROSS JOIN hold_row AS h "
    "WHERE " OF_RUN("h.key"),

    "CREATE VIEW decision AS SELECT run.id AS run_id, d.key - (run.id << 32) AS position, "
    "d.what AS what, d.reason AS reason, d.instead_of AS instead_of "
    "FROM run CROSS JOIN decision_row AS d "
    "WHERE " OF_RUN("d.key"),
    "CREATE VIEW mechanism AS SELECT run.id AS run_id, m.node_id AS node_id, "
    "m.mechanism AS mechanism, m.note AS note "
    "FROM run CROSS JOIN mechanism_row AS m "
    "WHERE " OF_RUN("m.key"),
    "CREATE VIEW deviation AS SELECT run.id AS run_id, d.key - (run.id << 32) AS position, "
    "d.node_id AS node_id, d.what AS what, d.cost_ns AS cost_ns "
    "FROM run CROSS JOIN deviation_row AS d "
    "WHERE " OF_RUN("d.key"),

    "CREATE VIEW evidence AS SELECT run.id AS run_id, 'domain' AS subject, d.id AS id, "
    "d.name AS name, " EVIDENCE_WORD("d.evidence") " AS evidence, "
    DETAIL_OF("d.detail") " AS detail, d.confidence AS confidence "
    "FROM run CROSS JOIN domain_row AS d "
    "WHERE d.graph_id = run.graph_id AND (d.evidence <> 0 OR d.confidence IS NOT NULL) "
    "UNION ALL SELECT run.id, 'engine', e.id, e.name, " EVIDENCE_WORD("e.evidence") ", "
    DETAIL_OF("e.detail") ", e.confidence "
    "FROM run CROSS JOIN engine_row AS e "
    "WHERE e.graph_id = run.graph_id AND (e.evidence <> 0 OR e.confidence IS NOT NULL) "
    "UNION ALL SELECT run.id, 'object', o.key & 4294967295, o.name, "
    EVIDENCE_WORD("o.evidence") ", " DETAIL_OF("o.detail") ", o.confidence "
    "FROM run CROSS JOIN object_row AS o "
    "WHERE " OF_GRAPH("o.key") " AND (o.evidence <> 0 OR o.confidence IS NOT NULL) "
    "UNION ALL SELECT run.id, 'node', n.key & 4294967295, n.name, "
    EVIDENCE_WORD("n.evidence") ", " DETAIL_OF("n.detail") ", n.confidence "
    "FROM run CROSS JOIN node_row AS n "
    "WHERE " OF_GRAPH("n.key") " AND (n.evidence <> 0 OR n.confidence IS NOT NULL) "
    "UNION ALL SELECT run.id, 'edge', e.key & 4294967295, "
    NAME_AT("node_row", "e.producer") " || ' -> ' || " NAME_AT("node_row", "e.consumer") ", "
    EVIDENCE_WORD("e.evidence") ", " DETAIL_OF("e.detail") ", e.confidence "
    "FROM run CROSS JOIN edge_row AS e "
    "WHERE " OF_GRAPH("e.key") " AND (e.evidence <> 0 OR e.confidence IS NOT NULL)",

    /* What has no foreign key goes with its run, or with its graph. */
    "CREATE TRIGGER run_deleted AFTER DELETE ON run BEGIN " DELETE_RUN("span_row")
    DELETE_RUN("wait_row") DELETE_RUN("pressure_row") DELETE_RUN("hold_row")
    DELETE_RUN("induced_row") DELETE_RUN("peak_row") DELETE_RUN("decision_row")
    DELETE_RUN("mechanism_row") DELETE_RUN("deviation_row")
    "DELETE FROM sample WHERE run_id = old.id; "
    "DELETE FROM chain WHERE run_id = old.id; "
    "DELETE FROM overlap WHERE run_id = old.id; END",
    "CREATE TRIGGER graph_deleted AFTER DELETE ON graph BEGIN " DELETE_RUN("node_row")
    DELETE_RUN("object_row") DELETE_RUN("edge_row")
    "DELETE FROM graph_text WHERE graph_id = old.id; "
    "DELETE FROM domain_row WHERE graph_id = old.id; "
    "DELETE FROM engine_row WHERE graph_id = old.id; "
    "DELETE FROM class_row WHERE graph_id = old.id; "
    "DELETE FROM text_row WHERE graph_id = old.id; END",
    NULL,
};
/* clang-format on */

const schema_step schema_steps[] = {version_1, schema_version_2, schema_version_3,
                                    schema_version_4};
const int schema_version = sizeof schema_steps / sizeof *schema_steps;

/* The number that a statement without parameters gives. */
static int number_of(sqlite3 *db, const char *sql, int *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            *out = sqlite3_column_int(statement, 0);
            code = SQLITE_OK;
        }
    }
    (void)sqlite3_finalize(statement);
    return code;
}

int schema_find(sqlite3 *db, int *version)
{
    int owner = 0, n_things = 0, found = 0;
    int code = number_of(db, "PRAGMA application_id", &owner);

    if (code == SQLITE_OK)
        code = number_of(db, "PRAGMA user_version", &found);
    if (code == SQLITE_OK)
        code = number_of(db, "SELECT count(*) FROM sqlite_master", &n_things);
    if (code != SQLITE_OK)
        return code;
    if (owner == 0 && found == 0 && n_things == 0)
        *version = 0;
    else
        *version = owner == SCHEMA_APPLICATION_ID && found > 0 ? found : -1;
    return SQLITE_OK;
}

static enum weir_status refuse(const char *path, int version, int n_steps, struct weir_error *err)
{
    if (version < 0) {
        return weir_error_set(err, WEIR_STORE,
                              "%.300s is a database of another program, not a store of Weir; name "
                              "another file with --db",
                              path);
    }
    return weir_error_set(err, WEIR_STORE,
                          "%.300s: schema %d is newer than %d, which this Weir reads; use the Weir "
                          "that wrote it, or another file with --db",
                          path, version, n_steps);
}

/* The steps from a version on, inside the transaction. */
static int run_steps(sqlite3 *db, const schema_step *steps, int version, int n_steps)
{
    char marks[96];
    int code = packed_register(db);

    for (int i = version; i < n_steps && code == SQLITE_OK; i++) {
        for (const char *const *sql = steps[i]; *sql != NULL && code == SQLITE_OK; sql++)
            code = sqlite3_exec(db, *sql, NULL, NULL, NULL);
    }
    if (code != SQLITE_OK)
        return code;
    (void)snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   SCHEMA_APPLICATION_ID, n_steps);
    return sqlite3_exec(db, marks, NULL, NULL, NULL);
}

enum weir_status schema_bring_up(sqlite3 *db, const char *path, const schema_step *steps,
                                 int n_steps, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    int version = 0;
    int code = schema_find(db, &version);

    if (code != SQLITE_OK)
        return store_fail(db, path, code, err);
    if (version < 0 || version > n_steps)
        return refuse(path, version, n_steps, err);
    if (version == n_steps)
        return WEIR_OK;
    code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return store_fail(db, path, code, err);
    /* Another Weir may have done it while this one waited. */
    code = schema_find(db, &version);
    if (code == SQLITE_OK && (version < 0 || version > n_steps))
        status = refuse(path, version, n_steps, err);
    else if (code == SQLITE_OK && version < n_steps)
        code = run_steps(db, steps, version, n_steps);
    if (code == SQLITE_OK && status == WEIR_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        status = store_fail(db, path, code, err);
    if (sqlite3_get_autocommit(db) == 0)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
