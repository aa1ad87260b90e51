/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Version 3 of the schema: spans, waits, pressures, holds and induced edges lie in blocks of rows, as
 * store/packed.h says, under the key of the run and the number of the block; n is how many rows a
 * block has, and each field a base and digits. The views show the rows as before. A row is found by
 * its number: the block is number / PACKED_ROWS, the place in it the rest. */
#include <stddef.h>

#include "store/packed.h"
#include "store/schema.h"
#include "store/schema_internal.h"

/* The columns of a field, and the field of the row at a place of block b: one that is never NULL, and
 * one that may be. */
#define FIELD(field) ", " field " INT, " field "_digits BLOB"
#define WIDTH(field) "length(b." field "_digits) / b.n"
#define DIFFERENCE(field, place)                 \
    "CAST(substr(b." field "_digits, 1 + " place \
    " * (" WIDTH(field) "), " WIDTH(field) ") AS INTEGER)"
#define VALUE(field, place) "(b." field " + coalesce(" DIFFERENCE(field, place) ", 0))"
#define VALUE_OR_NULL(field, place) "(b." field " + nullif(" DIFFERENCE(field, place) ", 0))"

/* Spans by the number of the node, the rows of a list by their place in each block. */
#define BY_NODE "(number.id & " PACKED_PLACE_SQL ")"
#define SPAN(field) VALUE(field, BY_NODE)
#define SPAN_OR_NULL(field) VALUE_OR_NULL(field, BY_NODE)
#define ROW(field) VALUE(field, "number.id")
#define ROW_OR_NULL(field) VALUE_OR_NULL(field, "number.id")
#define ROWS_OF(table)           \
    "FROM run CROSS JOIN " table \
    " AS b CROSS JOIN number WHERE " OF_RUN("b.key") " AND number.id < b.n"

/* From rows of their own: what they were is in a column of that name, or comes by an expression. */
#define PACK(value, may_be_null)                                      \
    ", weir_base(key & " PACKED_PLACE_SQL ", " value ", " may_be_null \
    "), weir_digits(key & " PACKED_PLACE_SQL ", " value ", " may_be_null ")"
#define PACK_ROWS(block, row, fields)                                                          \
    "INSERT INTO " block " SELECT (key >> 32 << 32) + ((key & 4294967295) >> " PACKED_BITS_SQL \
    "), max(key & " PACKED_PLACE_SQL ") + 1" fields " FROM " row                               \
    " GROUP BY key >> " PACKED_BITS_SQL

/* Laid out by hand: a clause a line. */
/* clang-format off */
const char *const schema_version_3[] = {
    /* A span's times are kept as differences, which are short: waited = start - ready,
     * length = finish - start, more = length - isolated (length as 0 when unfinished), and
     * how = wait cause + 16 * time source. start_ns is NULL when the node did not start, and
     * waited_ns then -ready; blocker and start_order count from the node's own id. */
    "CREATE TABLE span_block(key INTEGER PRIMARY KEY, n INT" FIELD("start_ns") FIELD("waited_ns")
    FIELD("length_ns") FIELD("more_ns") FIELD("how") FIELD("blocker") FIELD("start_order") ")",
    /* length = to - from, and release - acquire. */
    "CREATE TABLE wait_block(key INTEGER PRIMARY KEY, n INT" FIELD("node_id") FIELD("cause")
    FIELD("blocker") FIELD("object") FIELD("from_ns") FIELD("length_ns") ")",
    "CREATE TABLE pressure_block(key INTEGER PRIMARY KEY, n INT" FIELD("domain") FIELD("t_ns")
    FIELD("bytes") ")",
    "CREATE TABLE hold_block(key INTEGER PRIMARY KEY, n INT" FIELD("domain") FIELD("object")
    FIELD("node_id") FIELD("bytes") FIELD("acquire_ns") FIELD("length_ns") FIELD("is_staging") ")",
    "CREATE TABLE induced_block(key INTEGER PRIMARY KEY, n INT" FIELD("producer") FIELD("consumer")
    FIELD("domain") FIELD("bytes") ")",
    /* At least the places of a block. */
    "WITH RECURSIVE place(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM place "
    "WHERE id < " PACKED_PLACE_SQL ") INSERT OR IGNORE INTO number SELECT id FROM place",

    PACK_ROWS("span_block", "span_row", PACK("start_ns", "1") PACK("waited_ns", "0")
        PACK("length_ns", "1") PACK("more_ns", "1") PACK("how", "0") PACK("blocker", "1")
        PACK("start_order", "1")),
    PACK_ROWS("wait_block", "wait_row", PACK("node_id", "0") PACK("cause", "0") PACK("blocker", "1")
        PACK("object", "1") PACK("from_ns", "0") PACK("to_ns - from_ns", "0")),
    PACK_ROWS("pressure_block", "pressure_row", PACK("domain", "0") PACK("t_ns", "0")
        PACK("bytes", "0")),
    PACK_ROWS("hold_block", "hold_row", PACK("domain", "0") PACK("object", "1") PACK("node_id", "1")
        PACK("bytes", "0") PACK("acquire_ns", "0") PACK("release_ns - acquire_ns", "1")
        PACK("is_staging", "0")),
    PACK_ROWS("induced_block", "induced_row", PACK("producer", "0") PACK("consumer", "0")
        PACK("domain", "0") PACK("bytes", "0")),

    "DROP VIEW span",
    "DROP VIEW wait",
    "DROP VIEW pressure",
    "DROP VIEW hold",
    "DROP VIEW edge",
    "DROP TRIGGER run_deleted",
    "DROP TABLE span_row",
    "DROP TABLE wait_row",
    "DROP TABLE pressure_row",
    "DROP TABLE hold_row",
    "DROP TABLE induced_row",
    "CREATE TRIGGER run_deleted AFTER DELETE ON run BEGIN " DELETE_RUN("span_block")
    DELETE_RUN("wait_block") DELETE_RUN("pressure_block") DELETE_RUN("hold_block")
    DELETE_RUN("induced_block") DELETE_RUN("peak_row") DELETE_RUN("decision_row")
    DELETE_RUN("mechanism_row") DELETE_RUN("deviation_row")
    "DELETE FROM sample WHERE run_id = old.id; "
    "DELETE FROM chain WHERE run_id = old.id; "
    "DELETE FROM overlap WHERE run_id = old.id; END",

    "CREATE VIEW span AS SELECT run.id AS run_id, number.id AS node_id, "
    SPAN_OR_NULL("start_ns") " - " SPAN("waited_ns") " AS ready_ns, "
    SPAN_OR_NULL("start_ns") " AS start_ns, "
    SPAN_OR_NULL("start_ns") " + " SPAN_OR_NULL("length_ns") " AS finish_ns, "
    "coalesce(" SPAN_OR_NULL("length_ns") ", 0) - " SPAN_OR_NULL("more_ns") " AS isolated_ns, "
    CAUSE_WORD("(" SPAN("how") " & 15)") " AS wait_cause, "
    SOURCE_WORD("(" SPAN("how") " >> 4)") " AS time_source, "
    "number.id + " SPAN_OR_NULL("blocker") " AS blocker, "
    "number.id + " SPAN_OR_NULL("start_order") " AS start_order "
    "FROM run CROSS JOIN graph CROSS JOIN number CROSS JOIN span_block AS b "
    "WHERE graph.id = run.graph_id AND number.id < graph.n_nodes AND b.key = (run.id << 32) + "
    "(number.id >> " PACKED_BITS_SQL ") AND " SPAN_OR_NULL("start_ns") " IS NOT NULL",

    "CREATE VIEW wait AS SELECT run.id AS run_id, " ROW("node_id") " AS node_id, "
    CAUSE_WORD(ROW("cause")) " AS cause, " ROW_OR_NULL("blocker") " AS blocker, "
    ROW("from_ns") " AS from_ns, " ROW("from_ns") " + " ROW("length_ns") " AS to_ns, "
    NAME_AT("object_row", ROW_OR_NULL("object")) " AS object "
    ROWS_OF("wait_block"),

    "CREATE VIEW pressure AS SELECT run.id AS run_id, "
    NAME_OF("domain_row", ROW("domain")) " AS domain, " ROW("t_ns") " AS t_ns, "
    ROW("bytes") " AS bytes "
    ROWS_OF("pressure_block"),

    "CREATE VIEW hold AS SELECT run.id AS run_id, "
    NAME_OF("domain_row", ROW("domain")) " AS domain, "
    "coalesce(" NAME_AT("object_row", ROW_OR_NULL("object")) ", CASE " ROW("is_staging")
    " WHEN 0 THEN 'workspace of ' ELSE 'staging of ' END || "
    NAME_AT("node_row", ROW_OR_NULL("node_id")) ") AS object, "
    ROW("acquire_ns") " AS acquire_ns, "
    ROW("acquire_ns") " + " ROW_OR_NULL("length_ns") " AS release_ns, "
    ROW("bytes") " AS bytes, " ROW_OR_NULL("node_id") " AS node_id "
    ROWS_OF("hold_block"),

    "CREATE VIEW edge AS SELECT run.id AS run_id, e.producer AS producer, e.consumer AS consumer, "
    TYPE_WORD("e.type") " AS type, " NAME_AT("object_row", "e.object") " AS object, "
    "e.lag_ns AS lag_ns, CASE e.is_implied WHEN 0 THEN 'given' ELSE 'implied' END AS origin, "
    "CASE e.is_from_start WHEN 0 THEN 'finish' ELSE 'start' END AS counts_from, NULL AS domain, "
    "NULL AS bytes "
    "FROM run CROSS JOIN edge_row AS e "
    "WHERE e.key >= run.graph_id << 32 AND e.key < (run.graph_id + 1) << 32 "
    "UNION ALL SELECT run.id, " ROW("producer") ", " ROW("consumer")
    ", 'capacity-wait', NULL, 0, 'induced', 'finish', " NAME_OF("domain_row", ROW("domain")) ", "
    ROW("bytes") " "
    ROWS_OF("induced_block"),
    NULL,
};
/* clang-format on */
