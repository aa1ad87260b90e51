/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens an export: plain, or unpacked to a file without a name. The file itself is never written,
 * nor is anything beside it, unless a write-ahead log lies there that SQLite must read. What is no
 * export is told by its first bytes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/nsys_internal.h"

#define HEADER_BYTES 100 /* of an SQLite file */
#define EXPORT_COMMAND "nsys export --type sqlite -o profile.sqlite"

static const char sqlite_magic[16] = "SQLite format 3";

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is_sqlite(const unsigned char *head, size_t n)
{
    return n >= sizeof sqlite_magic && memcmp(head, sqlite_magic, sizeof sqlite_magic) == 0;
}

bool nsys_looks_like(const unsigned char *bytes, size_t n_bytes)
{
    return is_sqlite(bytes, n_bytes) || nsys_packing_of(bytes, n_bytes) != PACKED_NOT;
}

static bool ends_in(const char *text, const char *suffix)
{
    size_t n_text = strlen(text), n_suffix = strlen(suffix);

    return n_text >= n_suffix && strcmp(text + n_text - n_suffix, suffix) == 0;
}

/* Why bytes that do not begin an SQLite file may be there, and what to do then. */
static enum weir_status not_sqlite(const char *path, const unsigned char *head, size_t n,
                                   struct weir_error *err)
{
    if (ends_in(path, ".nsys-rep") || ends_in(path, ".qdrep"))
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: only the program that wrote it reads this format; export it "
                              "first: " EXPORT_COMMAND " %.100s",
                              path, path);
    if (n == 0)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: the file is empty, so the export did not finish; export "
                              "again: " EXPORT_COMMAND " profile.nsys-rep",
                              path);
    if (head[0] == '{' || head[0] == '[')
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: this is JSON, and the nsys importer reads SQLite; export "
                              "with: " EXPORT_COMMAND " profile.nsys-rep",
                              path);
    return weir_error_set(
        err, WEIR_INPUT,
        "%.200s: an SQLite file begins otherwise: this one is encrypted, damaged, "
        "or another format; export with: " EXPORT_COMMAND " profile.nsys-rep",
        path);
}

/* The size that the header gives, when the last writer set it, is the least that must be there. */
static enum weir_status check_header(const char *path, const unsigned char *head, size_t n,
                                     int64_t size_bytes, struct weir_error *err)
{
    int64_t page_bytes, n_pages;

    if (!is_sqlite(head, n))
        return not_sqlite(path, head, n, err);
    if (n < HEADER_BYTES)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: truncated: %zu bytes are less than the header of an SQLite "
                              "file; copy or export it again",
                              path, n);
    page_bytes = (int64_t)head[16] << 8 | head[17];
    if (page_bytes == 1)
        page_bytes = 65536;
    n_pages = big_endian(head + 28);
    if (big_endian(head + 24) == big_endian(head + 92) && n_pages > 0 &&
        page_bytes * n_pages > size_bytes)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: truncated: %" PRId64 " bytes are there, and its header says "
                              "%" PRId64 "; copy or export it again",
                              path, size_bytes, page_bytes * n_pages);
    return WEIR_OK;
}

/* Opening. */

/* What a file from elsewhere may make SQLite do: be read, no more. */
static void restrain(sqlite3 *db)
{
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 << 20);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

static enum weir_status open_failed(const char *path, sqlite3 *db, struct weir_error *err)
{
    enum weir_status status =
        db == NULL || sqlite3_errcode(db) == SQLITE_NOMEM || sqlite3_errcode(db) == SQLITE_OK
            ? weir_error_memory(err)
            : weir_error_set(err, WEIR_INPUT, "%.200s: SQLite cannot open it: %.200s", path,
                             sqlite3_errmsg(db));

    (void)sqlite3_close(db);
    return status;
}

/* The first read of an encrypted or damaged file fails. */
static enum weir_status first_read(const char *path, sqlite3 *db, struct weir_error *err)
{
    int result = sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);

    if (result == SQLITE_OK)
        return WEIR_OK;
    if (result == SQLITE_NOTADB)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: not a plain SQLite file: encrypted or damaged; export it "
                              "again: " EXPORT_COMMAND " profile.nsys-rep",
                              path);
    if (result == SQLITE_NOMEM)
        return weir_error_memory(err);
    if (sqlite3_extended_errcode(db) == SQLITE_READONLY_ROLLBACK)
        return weir_error_set(
            err, WEIR_INPUT,
            "%.200s: a writer was interrupted and has left its journal beside it; "
            "copy both to a folder of yours, let SQLite take back what was half "
            "done, sqlite3 COPY .tables, and import the copy",
            path);
    if (result == SQLITE_CANTOPEN || result == SQLITE_READONLY || result == SQLITE_BUSY)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: a writer has left a log beside it that cannot be read here "
                              "(%.100s); copy the file and what is beside it to a folder of yours",
                              path, sqlite3_errmsg(db));
    return weir_error_set(err, WEIR_INPUT, "%.200s: damaged: %.200s; copy or export it again", path,
                          sqlite3_errmsg(db));
}

/* The path as a URI, whatever characters it has. Room: 3 bytes a character, and the rest. */
static void put_uri(const char *path, const char *query, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    char *at = out + snprintf(out, 6, "file:");

    for (const char *c = path; *c != '\0'; c++) {
        /* Two slashes at the start would begin a host name. */
        if (strchr(plain, *c) != NULL || (*c == '/' && c != path) || (*c == '/' && c[1] != '/')) {
            *at++ = *c;
        } else {
            *at++ = '%';
            *at++ = digits[(unsigned char)*c >> 4];
            *at++ = digits[(unsigned char)*c & 15];
        }
    }
    memcpy(at, query, strlen(query) + 1);
}

static bool is_there(const char *path, const char *suffix)
{
    struct stat info;
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *name = malloc(n);
    bool is;

    if (name == NULL)
        return true; /* then SQLite will find out */
    (void)snprintf(name, n, "%s%s", path, suffix);
    is = stat(name, &info) == 0 && info.st_size > 0;
    free(name);
    return is;
}

static enum weir_status open_plain(const char *path, struct nsys_file *out, struct weir_error *err)
{
    bool has_log = is_there(path, "-wal") || is_there(path, "-journal");
    const char *query = has_log ? "?mode=ro" : "?mode=ro&immutable=1";
    char *uri = malloc(3 * strlen(path) + 64);
    int result;

    if (uri == NULL)
        return weir_error_memory(err);
    put_uri(path, query, uri);
    result = sqlite3_open_v2(uri, &out->db,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    if (result != SQLITE_OK) {
        sqlite3 *db = out->db;
        out->db = NULL;
        return open_failed(path, db, err);
    }
    restrain(out->db);
    return first_read(path, out->db, err);
}

/* A database in memory that SQLite only reads. */
static enum weir_status open_memory(unsigned char *bytes, size_t n_bytes, const char *name,
                                    struct nsys_file *out, struct weir_error *err)
{
    int result =
        sqlite3_open_v2(":memory:", &out->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (result == SQLITE_OK)
        result = sqlite3_deserialize(out->db, "main", bytes, (sqlite3_int64)n_bytes,
                                     (sqlite3_int64)n_bytes, SQLITE_DESERIALIZE_READONLY);
    if (result != SQLITE_OK) {
        sqlite3 *db = out->db;
        out->db = NULL;
        return open_failed(name, db, err);
    }
    restrain(out->db);
    return first_read(name, out->db, err);
}

/* With the copy comes no log, so a file that had one says so no longer. Our copy only. */
#define LOG_MODE_AT 18

static enum weir_status open_unpacked(const char *path, struct nsys_file *out,
                                      struct weir_error *err)
{
    unsigned char head[HEADER_BYTES];
    int fd = fileno(out->unpacked), result;
    struct stat info;
    ssize_t n = pread(fd, head, sizeof head, 0);
    enum weir_status status;

    if (n < 0 || fstat(fd, &info) != 0)
        return weir_error_set(err, WEIR_STORE, "%.200s: the unpacked copy cannot be read: %s", path,
                              strerror(errno));
    status = check_header(path, head, (size_t)n, info.st_size, err);
    if (status != WEIR_OK)
        return status;
    if (head[LOG_MODE_AT] == 2 && pwrite(fd, "\1\1", 2, LOG_MODE_AT) != 2)
        return weir_error_set(err, WEIR_STORE, "%.200s: the unpacked copy cannot be written: %s",
                              path, strerror(errno));
    result = nsys_nameless_open(fd, &out->nameless, &out->db);
    if (result != SQLITE_OK) {
        sqlite3 *db = out->db;
        out->db = NULL;
        if (db == NULL && result != SQLITE_NOMEM)
            return weir_error_set(err, WEIR_INPUT, "%.200s: SQLite cannot open it: %.200s", path,
                                  sqlite3_errstr(result));
        return open_failed(path, db, err);
    }
    restrain(out->db);
    return first_read(path, out->db, err);
}

static enum weir_status open_packed(enum nsys_packing packing, int fd, const char *path,
                                    struct nsys_file *out, struct weir_error *err)
{
    enum weir_status status = nsys_unpack(packing, fd, path, &out->unpacked, err);

    return status == WEIR_OK ? open_unpacked(path, out, err) : status;
}

static enum weir_status cannot_read(const char *path, struct weir_error *err)
{
    if (errno == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(
        err, WEIR_INPUT, "%.200s: cannot be read: %s; give the path of a profile that you may read",
        path, strerror(errno));
}

static enum weir_status open_fd(int fd, const char *path, struct nsys_file *out,
                                struct weir_error *err)
{
    unsigned char head[HEADER_BYTES];
    enum nsys_packing packing;
    struct stat info;
    enum weir_status status;
    ssize_t n;

    if (fstat(fd, &info) != 0)
        return cannot_read(path, err);
    if (!S_ISREG(info.st_mode))
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: a file was expected, and this is %s; give "
                              "the path of a profile",
                              path, S_ISDIR(info.st_mode) ? "a folder" : "none");
    n = pread(fd, head, sizeof head, 0);
    if (n < 0)
        return cannot_read(path, err);
    packing = nsys_packing_of(head, (size_t)n);
    if (packing != PACKED_NOT)
        return open_packed(packing, fd, path, out, err);
    status = check_header(path, head, (size_t)n, info.st_size, err);
    return status == WEIR_OK ? open_plain(path, out, err) : status;
}

enum weir_status nsys_open(const char *path, struct nsys_file *out, struct weir_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum weir_status status;

    *out = (struct nsys_file){.db = NULL};
    if (fd < 0)
        return cannot_read(path, err);
    status = open_fd(fd, path, out, err);
    (void)close(fd);
    if (status != WEIR_OK)
        nsys_close(out);
    return status;
}

enum weir_status nsys_open_bytes(const unsigned char *bytes, size_t n_bytes, const char *name,
                                 struct nsys_file *out, struct weir_error *err)
{
    enum weir_status status;

    *out = (struct nsys_file){.db = NULL};
    status = check_header(name, bytes, n_bytes, (int64_t)n_bytes, err);
    if (status != WEIR_OK)
        return status;
    /* SQLite takes a pointer to bytes that it may change, and does not when it only reads. */
    status = open_memory((unsigned char *)(uintptr_t)bytes, n_bytes, name, out, err);
    if (status != WEIR_OK)
        nsys_close(out);
    return status;
}

void nsys_close(struct nsys_file *file)
{
    (void)sqlite3_close(file->db);
    nsys_nameless_free(file->nameless);
    if (file->unpacked != NULL)
        (void)fclose(file->unpacked);
    *file = (struct nsys_file){.db = NULL};
}
