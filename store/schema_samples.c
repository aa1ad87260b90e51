/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Version 4 of the schema: samples of a simulation, of which some may get stuck, and the peaks of
 * each. Samples written before are repeats of replays, which all ended. */
#include <stddef.h>

#include "store/schema.h"
#include "store/schema_internal.h"

/* Laid out by hand: a clause a line. */
/* clang-format off */
const char *const schema_version_4[] = {
    "ALTER TABLE sample ADD COLUMN status TEXT NOT NULL DEFAULT 'complete'",
    "CREATE TABLE sample_peak_row(run_id INTEGER NOT NULL REFERENCES run(id), "
    "number INTEGER NOT NULL, domain INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "PRIMARY KEY(run_id, number, domain)) WITHOUT ROWID",

    "CREATE VIEW sample_peak AS SELECT run.id AS run_id, p.number AS number, "
    NAME_OF("domain_row", "p.domain") " AS domain, p.bytes AS bytes "
    "FROM run CROSS JOIN sample_peak_row AS p "
    "WHERE p.run_id = run.id",

    "CREATE TRIGGER samples_deleted AFTER DELETE ON run BEGIN "
    "DELETE FROM sample_peak_row WHERE run_id = old.id; END",
    NULL,
};
/* clang-format on */
