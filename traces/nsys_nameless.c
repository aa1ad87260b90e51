/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQLite opens files by name, and an unpacked copy has none, so that nothing is left behind whatever
 * happens. This is a file system for SQLite in which the one database is that file, which is only
 * read: page by page, so that memory does not grow with it. Everything else (what SQLite sorts on
 * disk) is the usual file system's. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/nsys_internal.h"

#define SECTOR_BYTES 4096

struct nsys_nameless {
    sqlite3_vfs vfs;
    sqlite3_vfs *usual;
    char name[48];
    int fd;
};

struct open_file {
    sqlite3_file base;
    int fd;
};

static int fd_of(sqlite3_file *file)
{
    return ((struct open_file *)(void *)file)->fd;
}

static int do_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    char *bytes = to;
    size_t left = (size_t)n;

    while (left > 0) {
        ssize_t got = pread(fd_of(file), bytes, left, (off_t)at);

        if (got < 0 && errno != EINTR)
            return SQLITE_IOERR_READ;
        if (got == 0) {
            memset(bytes, 0, left);
            return SQLITE_IOERR_SHORT_READ;
        }
        if (got > 0) {
            bytes += got;
            at += got;
            left -= (size_t)got;
        }
    }
    return SQLITE_OK;
}

static int do_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
    struct stat info;

    if (fstat(fd_of(file), &info) != 0)
        return SQLITE_IOERR_FSTAT;
    *bytes = info.st_size;
    return SQLITE_OK;
}

static int do_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    (void)file;
    (void)from;
    (void)n;
    (void)at;
    return SQLITE_READONLY;
}

static int do_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    (void)file;
    (void)bytes;
    return SQLITE_READONLY;
}

static int do_nothing(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int do_nothing_with(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int is_locked(sqlite3_file *file, int *is)
{
    (void)file;
    *is = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int what, void *with)
{
    (void)file;
    (void)what;
    (void)with;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
    (void)file;
    return SECTOR_BYTES;
}

static int characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = do_nothing,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_nothing_with,
    .xFileSize = do_size,
    .xLock = do_nothing_with,
    .xUnlock = do_nothing_with,
    .xCheckReservedLock = is_locked,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static struct nsys_nameless *of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int do_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct open_file *opened = (struct open_file *)(void *)file;

    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return of(vfs)->usual->xOpen(of(vfs)->usual, name, file, flags, out);
    opened->base.pMethods = &methods;
    opened->fd = of(vfs)->fd;
    if (out != NULL)
        *out = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int do_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    return of(vfs)->usual->xDelete(of(vfs)->usual, name, is_synced);
}

/* No log lies beside it. */
static int do_access(sqlite3_vfs *vfs, const char *name, int flags, int *is)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *is = 0;
    return SQLITE_OK;
}

static int do_full_name(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    (void)vfs;
    sqlite3_snprintf(n, out, "%s", name);
    return SQLITE_OK;
}

int nsys_nameless_open(int fd, struct nsys_nameless **out, sqlite3 **db)
{
    struct nsys_nameless *made = calloc(1, sizeof *made);
    int result;

    *out = made;
    if (made == NULL)
        return SQLITE_NOMEM;
    made->fd = fd;
    made->usual = sqlite3_vfs_find(NULL);
    if (made->usual == NULL)
        return SQLITE_ERROR;
    made->vfs = *made->usual;
    made->vfs.pNext = NULL;
    if (made->vfs.szOsFile < (int)sizeof(struct open_file))
        made->vfs.szOsFile = (int)sizeof(struct open_file);
    (void)snprintf(made->name, sizeof made->name, "weir-%" PRIxPTR, (uintptr_t)made);
    made->vfs.zName = made->name;
    made->vfs.pAppData = made;
    made->vfs.xOpen = do_open;
    made->vfs.xDelete = do_delete;
    made->vfs.xAccess = do_access;
    made->vfs.xFullPathname = do_full_name;
    result = sqlite3_vfs_register(&made->vfs, 0);
    if (result != SQLITE_OK)
        return result;
    return sqlite3_open_v2("unpacked", db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, made->name);
}

void nsys_nameless_free(struct nsys_nameless *made)
{
    if (made == NULL)
        return;
    (void)sqlite3_vfs_unregister(&made->vfs);
    free(made);
}
