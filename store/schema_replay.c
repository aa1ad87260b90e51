/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Version 2 of the schema: what a replay did with its plan. Where each action ran and in which order,
 * how far from the plan it ended and why, what the replay inserted, and what its critical chain adds
 * to the makespan. */
#include <stddef.h>

#include "store/schema.h"
#include "store/schema_internal.h"

/* Laid out by hand: a clause a line. */
/* clang-format off */
const char *const schema_version_2[] = {
    "CREATE TABLE queue_row(key INTEGER PRIMARY KEY, name TEXT)",
    /* key: the run and the node. */
    "CREATE TABLE action_row(key INTEGER PRIMARY KEY, queue INT, position INT, "
    "planned_position INT, planned_order INT, submit_ns INT, cost_ns INT, dependency_ns INT, "
    "submission_ns INT, queue_ns INT, stretch_ns INT)",
    "CREATE TABLE inserted_row(key INTEGER PRIMARY KEY, producer INT, consumer INT, "
    "is_from_start INT, not_before_ns INT, why TEXT)",
    "ALTER TABLE chain ADD COLUMN dependency_ns INTEGER",
    "ALTER TABLE chain ADD COLUMN submission_ns INTEGER",
    "ALTER TABLE chain ADD COLUMN queue_ns INTEGER",
    "ALTER TABLE chain ADD COLUMN stretch_ns INTEGER",

    "CREATE VIEW deviation_part AS SELECT run.id AS run_id, number.id AS node_id, "
    "a.dependency_ns + a.submission_ns + a.queue_ns + a.stretch_ns AS deviation_ns, "
    "a.dependency_ns AS dependency_ns, a.submission_ns AS submission_ns, a.queue_ns AS queue_ns, "
    "a.stretch_ns AS stretch_ns, a.cost_ns AS cost_ns, a.submit_ns AS submit_ns "
    "FROM run CROSS JOIN graph CROSS JOIN number CROSS JOIN action_row AS a "
    "WHERE graph.id = run.graph_id AND number.id < graph.n_nodes AND a.key = (run.id << 32) + "
    "number.id",

    "CREATE VIEW queue_order AS SELECT run.id AS run_id, q.name AS queue, a.position AS position, "
    "a.planned_position AS planned_position, a.key & 4294967295 AS node_id "
    "FROM run CROSS JOIN action_row AS a CROSS JOIN queue_row AS q "
    "WHERE " OF_RUN("a.key") " AND q.key = (run.id << 32) + a.queue",

    "CREATE VIEW inserted AS SELECT run.id AS run_id, i.key - (run.id << 32) AS position, "
    "i.producer AS producer, i.consumer AS consumer, "
    "CASE WHEN i.producer IS NOT NULL THEN CASE i.is_from_start WHEN 0 THEN 'finish' ELSE 'start' "
    "END END AS counts_from, i.not_before_ns AS not_before_ns, i.why AS why "
    "FROM run CROSS JOIN inserted_row AS i "
    "WHERE " OF_RUN("i.key"),

    "CREATE TRIGGER replay_deleted AFTER DELETE ON run BEGIN " DELETE_RUN("queue_row")
    DELETE_RUN("action_row") DELETE_RUN("inserted_row") "END",
    NULL,
};
/* clang-format on */
