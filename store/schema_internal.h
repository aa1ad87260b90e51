/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that hold the schema share. */
#ifndef WEIR_STORE_SCHEMA_INTERNAL_H
#define WEIR_STORE_SCHEMA_INTERNAL_H

/* What numbers mean, in words. */
#define TYPE_WORD(column)                                                                          \
    "CASE " column " WHEN 0 THEN 'data-ready' WHEN 1 THEN 'storage-ready' WHEN 2 THEN 'ordering' " \
    "WHEN 3 THEN 'lifetime-hold' WHEN 4 THEN 'barrier' WHEN 5 THEN 'capacity-wait' END"
#define CAUSE_WORD(column)                                                            \
    "CASE " column " WHEN 0 THEN 'none' WHEN 1 THEN 'engine' WHEN 2 THEN 'capacity' " \
    "WHEN 3 THEN 'admission' WHEN 4 THEN 'overlap' END"
#define SOURCE_WORD(column)                                                            \
    "CASE " column " WHEN 0 THEN 'simulated' WHEN 1 THEN 'device' WHEN 2 THEN 'host' " \
    "WHEN 3 THEN 'event' END"
/* Names of the run's graph, by id: of a short list, and of nodes and objects. */
#define NAME_OF(table, id) \
    "(SELECT x.name FROM " table " AS x WHERE x.graph_id = run.graph_id AND x.id = " id ")"
#define NAME_AT(table, id) \
    "(SELECT x.name FROM " table " AS x WHERE x.key = (run.graph_id << 32) + " id ")"

/* Keys of one run. */
#define OF_RUN(key) key " >= run.id << 32 AND " key " < (run.id + 1) << 32"
/* In a trigger of deletes. */
#define DELETE_RUN(table) \
    "DELETE FROM " table " WHERE key >= old.id << 32 AND key < (old.id + 1) << 32; "

/* What a replay did with its plan (schema_replay.c). */
extern const char *const schema_version_2[];
/* The rows of timelines in blocks (schema_packed.c); uses the functions of packed_register. */
extern const char *const schema_version_3[];
/* Samples that may get stuck, and their peaks (schema_samples.c). */
extern const char *const schema_version_4[];

#endif
