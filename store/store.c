/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the file, and what every other part of the store does with SQLite: statements,
 * transactions, errors in words. A file that is not ours is never written to, not even its header.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/output.h"
#include "store/schema.h"
#include "store/store_internal.h"

#define BUSY_TIMEOUT_MS 5000

enum weir_status store_fail(sqlite3 *db, const char *path, int code, struct weir_error *err)
{
    const char *detail = db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(db);

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return weir_error_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s is locked: another program is writing to it; try again when "
                              "it has ended, or use another file with --db",
                              path);
    case SQLITE_FULL:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: the disk is full; nothing was written. Make room, or use a "
                              "file elsewhere with --db",
                              path);
    case SQLITE_READONLY:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s cannot be written: the file or its folder is read-only (%s); "
                              "use a file elsewhere with --db",
                              path, detail);
    case SQLITE_IOERR:
        return weir_error_set(
            err, WEIR_STORE,
            "%.300s: the file could not be read or written: %s; what was begun there is undone: "
            "see that the disk has room and is in order, or use a file elsewhere with --db",
            path,
            db != NULL && sqlite3_system_errno(db) != 0 ? strerror(sqlite3_system_errno(db))
                                                        : detail);
    case SQLITE_INTERRUPT:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: interrupted; what was begun there is undone", path);
    case SQLITE_NOTADB:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s is not a store of Weir, nor a database at all; name another "
                              "file with --db",
                              path);
    case SQLITE_CORRUPT:
        return weir_error_set(err, WEIR_STORE,
                              "%.300s is damaged (%s); bring it back from a copy, or save what is "
                              "left with the .recover command of sqlite3",
                              path, detail);
    default:
        return weir_error_set(err, WEIR_STORE, "%.300s: %s", path, detail);
    }
}

/* ---- statements ---- */

enum weir_status statement_prepare(struct store *store, const char *sql, sqlite3_stmt **out,
                                   struct weir_error *err)
{
    int code = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);

    return code == SQLITE_OK ? WEIR_OK : store_fail(store->db, store->path, code, err);
}

enum weir_status statement_step(struct store *store, sqlite3_stmt *statement, bool *has_row,
                                struct weir_error *err)
{
    int code = ending_is_due() ? SQLITE_INTERRUPT : sqlite3_step(statement);

    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return store_fail(store->db, store->path, code, err);
    *has_row = code == SQLITE_ROW;
    return WEIR_OK;
}

enum weir_status statement_run(struct store *store, sqlite3_stmt *statement, struct weir_error *err)
{
    bool has_row;
    enum weir_status status = statement_step(store, statement, &has_row, err);

    (void)sqlite3_reset(statement);
    return status;
}

enum weir_status store_exec(struct store *store, const char *sql, struct weir_error *err)
{
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? WEIR_OK : store_fail(store->db, store->path, code, err);
}

enum weir_status store_number(struct store *store, const char *sql, int64_t first, int64_t second,
                              int64_t *out, bool *found, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = false;
    enum weir_status status = statement_prepare(store, sql, &statement, err);

    if (status == WEIR_OK) {
        int n = sqlite3_bind_parameter_count(statement);

        if (n >= 1)
            (void)sqlite3_bind_int64(statement, 1, first);
        if (n >= 2)
            (void)sqlite3_bind_int64(statement, 2, second);
        status = statement_step(store, statement, &has_row, err);
    }
    if (status == WEIR_OK) {
        *found = has_row && sqlite3_column_type(statement, 0) != SQLITE_NULL;
        if (*found)
            *out = sqlite3_column_int64(statement, 0);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum weir_status store_move_rows(struct store *store, const char *sql, size_t n_rows,
                                 void (*value)(const void *, int64_t, int, sqlite3_context *),
                                 const void *arg, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    enum weir_status status;

    if (n_rows == 0)
        return WEIR_OK;
    store->rows = (struct row_source){arg, (int64_t)n_rows, value};
    status = statement_prepare(store, sql, &statement, err);
    if (status == WEIR_OK)
        status = statement_run(store, statement, err);
    (void)sqlite3_finalize(statement);
    store->rows = (struct row_source){.n_rows = 0};
    return status;
}

static void roll_back(struct store *store)
{
    if (sqlite3_get_autocommit(store->db) == 0)
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

enum weir_status store_begin(struct store *store, struct weir_error *err)
{
    enum weir_status status = store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != WEIR_OK)
        roll_back(store); /* it may have been interrupted when it had begun */
    return status;
}

enum weir_status store_end(struct store *store, enum weir_status status, struct weir_error *err)
{
    if (status == WEIR_OK)
        status = store_exec(store, "COMMIT", err);
    roll_back(store);
    return status;
}

/* ---- opening ---- */

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Why a file cannot be opened, better than SQLite says it. */
static enum weir_status explain_cannot_open(const char *path, bool is_read_only,
                                            struct weir_error *err)
{
    struct stat st;

    if (stat(path, &st) == 0) {
        if (is_folder(path))
            return weir_error_set(err, WEIR_STORE,
                                  "%.300s is a folder, not a file; name a file with --db", path);
        return weir_error_set(
            err, WEIR_STORE,
            "%.300s cannot be opened: %s; see to its permissions, or name another "
            "file with --db",
            path,
            access(path, is_read_only ? R_OK : R_OK | W_OK) == 0
                ? "its folder is read-only and its journal is missing"
                : strerror(errno));
    }
    if (errno == ENOENT && is_read_only) {
        return weir_error_set(err, WEIR_STORE,
                              "there is no file %.300s; import, simulate and replay make it, --db "
                              "names another",
                              path);
    }
    return weir_error_set(
        err, WEIR_STORE, "%.300s cannot be made: %s; name a file with --db where you may write",
        path, errno == ENOENT ? "its folder is missing or read-only" : strerror(errno));
}

/* SQLite's URI of a file that nobody changes: in a read-only folder it needs no journal beside it.
 * malloc'ed; NULL when memory ran out. */
static char *immutable_uri(const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char end[] = "?immutable=1";
    char *uri = malloc(strlen(path) * 3 + sizeof "file:" + sizeof end);
    char *to = uri;

    if (uri == NULL)
        return NULL;
    to += snprintf(to, sizeof "file:", "file:");
    for (const unsigned char *from = (const unsigned char *)path; *from != '\0'; from++) {
        if (strchr("?#%", *from) == NULL) {
            *to++ = (char)*from;
        } else {
            *to++ = '%';
            *to++ = hex[*from >> 4];
            *to++ = hex[*from & 15];
        }
    }
    memcpy(to, end, sizeof end);
    return uri;
}

/* Is there a journal beside the file with something in it? */
static bool has_journal(const char *path)
{
    char name[4096];
    struct stat st;
    int n = snprintf(name, sizeof name, "%s-wal", path);

    return n < 0 || (size_t)n >= sizeof name || (stat(name, &st) == 0 && st.st_size > 0);
}

/* SQLite opens lazily: reading the header tells. */
static int open_and_touch(struct store *store, const char *name, int flags)
{
    int version;
    int code = sqlite3_open_v2(name, &store->db, flags, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    if (code == SQLITE_OK)
        code = schema_find(store->db, &version);
    return code;
}

/* Whoever is told to interrupt must not meet a connection that is gone. An interrupted one would not
 * bring over what is in its journal: the next statement ends that. */
static void close_file(struct store *store)
{
    sqlite3 *db = store->db;

    store->db = NULL;
    if (ending_is_due())
        (void)sqlite3_exec(db, "SELECT 1", NULL, NULL, NULL);
    (void)sqlite3_close(db);
}

/* Does that come of what SQLite keeps beside a file, also to read it? The folder may be read-only, or
 * the disk full. */
static bool needs_a_place(int code)
{
    switch (code & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_FULL:
        return true;
    default:
        return false;
    }
}

/* Also to read alone the file is opened so that it could be written, where that is allowed: the last
 * one to close it then removes the journal beside it. That nothing is written, query_only sees to. */
static enum weir_status open_file(struct store *store, bool is_read_only, struct weir_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | (is_read_only ? 0 : SQLITE_OPEN_CREATE);
    int code = open_and_touch(store, store->file, flags);

    if (is_read_only && needs_a_place(code) && access(store->file, R_OK) == 0 &&
        !has_journal(store->file)) {
        char *uri = immutable_uri(store->file);

        if (uri == NULL)
            return weir_error_memory(err);
        close_file(store);
        code = open_and_touch(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        free(uri);
    }
    if (code == SQLITE_OK)
        return WEIR_OK;
    if ((code & 0xff) == SQLITE_CANTOPEN || is_folder(store->path))
        return explain_cannot_open(store->path, is_read_only, err);
    return store_fail(store->db, store->path, code, err);
}

/* A file read without writing has to have the schema already. */
static enum weir_status check_version(struct store *store, struct weir_error *err)
{
    int version = 0;
    int code = schema_find(store->db, &version);

    if (code != SQLITE_OK)
        return store_fail(store->db, store->path, code, err);
    if (version == 0) {
        return weir_error_set(err, WEIR_STORE,
                              "%.300s is empty; import, simulate and replay write to it",
                              store->path);
    }
    if (version > 0 && version < schema_version) {
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: schema %d is older than %d, which this Weir reads; a verb "
                              "that writes to it brings it up to date",
                              store->path, version, schema_version);
    }
    return schema_bring_up(store->db, store->path, schema_steps, schema_version, err);
}

/* Switching to WAL is refused while another program does the same: it waits for no lock by itself.
 * A file system without shared memory keeps its journal, which is as safe. The page size only counts
 * for a file that is still empty: in larger pages, millions of rows go in a quarter faster. */
static enum weir_status set_journal(struct store *store, struct weir_error *err)
{
    int code = SQLITE_BUSY;

    for (int waited_ms = 0; waited_ms < BUSY_TIMEOUT_MS; waited_ms += 20) {
        code = sqlite3_exec(store->db, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL", NULL,
                            NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY)
            break;
        (void)sqlite3_sleep(20);
    }
    return code == SQLITE_OK ? WEIR_OK : store_fail(store->db, store->path, code, err);
}

static enum weir_status prepare_to_write(struct store *store, struct weir_error *err)
{
    int version = 0;
    int code = schema_find(store->db, &version);
    enum weir_status status;

    if (code != SQLITE_OK)
        return store_fail(store->db, store->path, code, err);
    if (version < 0 || version > schema_version) /* refused, before anything is written */
        return schema_bring_up(store->db, store->path, schema_steps, schema_version, err);
    status = set_journal(store, err);
    if (status == WEIR_OK) {
        status = store_exec(store,
                            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; "
                            "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
                            err);
    }
    if (status == WEIR_OK) {
        status = schema_bring_up(store->db, store->path, schema_steps, schema_version, err);
    }
    return status;
}

/* A signal that ends the program: the statement that runs fails, what it belongs to is undone, and
 * the file is closed in order. */
static void interrupt(void *arg)
{
    const struct store *store = arg;

    if (store->db != NULL)
        sqlite3_interrupt(store->db);
}

/* SQLite gives "", ":memory:" and "file:..." a meaning of their own; to Weir they are names. */
static char *plain_path(const char *path)
{
    bool is_special = path[0] == ':' || strncmp(path, "file:", 5) == 0;
    size_t room = strlen(path) + sizeof "./";
    char *out = malloc(room);

    if (out != NULL)
        (void)snprintf(out, room, "%s%s", is_special ? "./" : "", path);
    return out;
}

enum weir_status store_open(const char *path, bool is_read_only, struct store **out,
                            struct weir_error *err)
{
    return store_open_as(path, path, is_read_only, out, err);
}

enum weir_status store_open_as(const char *file, const char *path, bool is_read_only,
                               struct store **out, struct weir_error *err)
{
    struct store *store;
    enum weir_status status;
    int code;

    if (path[0] == '\0')
        return weir_error_set(err, WEIR_USAGE, "--db: a file name was expected, and is empty");
    store = calloc(1, sizeof *store);
    if (store == NULL)
        return weir_error_memory(err);
    ending_defer(interrupt, store);
    store->path = plain_path(path);
    store->file = plain_path(file);
    status = store->path == NULL || store->file == NULL ? weir_error_memory(err)
                                                        : open_file(store, is_read_only, err);
    if (status == WEIR_OK)
        status = store_exec(store, "PRAGMA trusted_schema = OFF", err);
    if (status == WEIR_OK && is_read_only)
        status = store_exec(store, "PRAGMA query_only = ON", err);
    if (status == WEIR_OK)
        status = is_read_only ? check_version(store, err) : prepare_to_write(store, err);
    if (status == WEIR_OK) {
        code = rows_register(store->db, &store->rows);
        if (code != SQLITE_OK)
            status = store_fail(store->db, store->path, code, err);
    }
    if (status != WEIR_OK) {
        store_close(store);
        return status;
    }
    *out = store;
    return WEIR_OK;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    close_file(store);
    ending_leave(); /* nobody is told to interrupt it any more */
    free(store->path);
    free(store->file);
    free(store);
}

enum weir_status store_look(const char *path, struct store **out, struct weir_error *err)
{
    enum weir_status status;
    struct stat st;

    *out = NULL;
    if (path[0] == '\0' || stat(path, &st) == 0 || errno != ENOENT)
        return store_open(path, false, out, err);
    status = output_try(path, err);
    return status == WEIR_STORE ? explain_cannot_open(path, false, err) : status;
}

const char *run_kind_name(enum run_kind kind)
{
    switch (kind) {
    case RUN_SIM:
        return "sim";
    case RUN_REPLAY:
        return "replay";
    case RUN_RECORDED:
        return "recorded";
    }
    return "";
}
