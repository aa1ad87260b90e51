/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that hold the schema share. */
#ifndef WEIR_STORE_SCHEMA_INTERNAL_H
#define WEIR_STORE_SCHEMA_INTERNAL_H

/* Keys of one run. */
#define OF_RUN(key) key " >= run.id << 32 AND " key " < (run.id + 1) << 32"
/* In a trigger of deletes. */
#define DELETE_RUN(table) \
    "DELETE FROM " table " WHERE key >= old.id << 32 AND key < (old.id + 1) << 32; "

/* What a replay did with its plan (schema_replay.c). */
extern const char *const schema_version_2[];

#endif
