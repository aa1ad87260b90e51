/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file as one stretch of memory. */
#include "graph/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define STEP_BYTES ((size_t)1 << 20)

static enum weir_status cannot_read(const char *path, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "%.300s: cannot be read: %s; give the path of a file that you may read",
                          path, strerror(errno));
}

/* Room for what fstat says is there and a byte more, so that the end is seen without growing. */
static size_t size_hint(const struct stat *st)
{
    if (S_ISREG(st->st_mode) && st->st_size > 0 && (uint64_t)st->st_size < SIZE_MAX - 1)
        return (size_t)st->st_size + 1;
    return STEP_BYTES;
}

/* Some devices give zeros without end, and no text holds one: what was read by then will be refused. */
static bool is_endless(const struct stat *st, const char *bytes, size_t n)
{
    return !S_ISREG(st->st_mode) && memchr(bytes, 0, n) != NULL;
}

static enum weir_status read_all(int fd, const char *path, const struct stat *st, char **text,
                                 size_t *length, struct weir_error *err)
{
    char *bytes = NULL;
    size_t room = 0, used = 0;
    enum weir_status status = array_grow_raw(&bytes, &room, size_hint(st), err);

    while (status == WEIR_OK) {
        ssize_t n;
        if (room - used == 0)
            status = array_grow_raw(&bytes, &room, used + 1, err);
        if (status != WEIR_OK)
            break;
        n = read(fd, bytes + used, room - used);
        if (n == 0 || (n > 0 && is_endless(st, bytes + used, (size_t)n))) {
            used += (size_t)n;
            break;
        }
        if (n > 0)
            used += (size_t)n;
        else if (errno != EINTR)
            status = cannot_read(path, err);
    }
    if (status != WEIR_OK) {
        free(bytes);
        return status;
    }
    *text = bytes;
    *length = used;
    return WEIR_OK;
}

enum weir_status read_file(const char *path, char **text, size_t *length, struct weir_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    enum weir_status status;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        status = cannot_read(path, err);
    } else if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        status = cannot_read(path, err);
    } else {
        status = read_all(fd, path, &st, text, length, err);
    }
    if (fd >= 0 && !is_stdin)
        (void)close(fd);
    return status;
}
