/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables and views the file has, by version, and how a file comes to the newest. */
#ifndef WEIR_STORE_SCHEMA_H
#define WEIR_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/attributes.h"

/* PRAGMA application_id of every store: "Weir". PRAGMA user_version is the version of its schema,
 * 0 in a file that is still empty. */
#define SCHEMA_APPLICATION_ID 0x57656972

/* What leads from one version to the next: statements, NULL after the last. Step i leads from
 * version i to version i + 1. A step that has been released never changes. */
typedef const char *const *schema_step;

/* The steps of this Weir, and how many: that is the version it reads and writes. */
extern const schema_step schema_steps[];
extern const int schema_version;

/** Says what the file is, without writing to it. *version is -1 when it is no store of Weir: another
 *  program's database. @return an SQLite code: SQLITE_NOTADB when it is no database at all */
int schema_find(sqlite3 *db, int *version);

/** Brings the file from the version it has to @p n_steps, all in one transaction: whole or not at
 *  all. @param path for messages. WEIR_STORE when it is no store, or newer than @p n_steps, or
 *  cannot be written. */
MUST_CHECK enum weir_status schema_bring_up(sqlite3 *db, const char *path, const schema_step *steps,
                                            int n_steps, struct weir_error *err);

#endif
