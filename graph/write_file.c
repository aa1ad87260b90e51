/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph file is written beside its place and put there in one step: a reader sees the old file or
 * the new one, never a part, also when the machine stops or the disk is full. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/text.h"

#define MOST_TRIES 1000
#define MOST_LINKS 40

static enum weir_status cannot_write(const char *path, struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE,
                          "%.300s: cannot be written: %s; give a path where you may write and "
                          "there is room",
                          path, strerror(errno));
}

static enum weir_status write_stream(const struct graph *graph, FILE *file, const char *path,
                                     struct weir_error *err)
{
    enum weir_status status = graph_write(graph, file, err);

    if (status != WEIR_OK)
        return status == WEIR_STORE ? weir_error_within(err, "%.200s", path) : status;
    return fflush(file) != 0 ? cannot_write(path, err) : WEIR_OK;
}

/* A path, and where the link there leads: beside the link, unless it begins with a slash. */
static char *beside(const char *path, const char *target)
{
    const char *slash = *target == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *joined = malloc(folder + strlen(target) + 1);

    if (joined != NULL) {
        memcpy(joined, path, folder);
        memcpy(joined + folder, target, strlen(target) + 1);
    }
    return joined;
}

/* Where symbolic links lead, malloc'ed: the file itself is replaced, not the link. NULL when memory
 * ran out. */
static char *resolved(const char *path)
{
    char target[4096];
    char *now = beside("", path);

    for (int i = 0; i < MOST_LINKS && now != NULL; i++) {
        ssize_t n = readlink(now, target, sizeof target - 1);
        char *next;
        if (n < 0)
            return now;
        target[n] = '\0';
        next = beside(now, target);
        free(now);
        now = next;
    }
    return now;
}

/* Opens a new file beside the path; its name goes to @p name, of @p room bytes. */
static FILE *open_beside(const char *path, char *name, size_t room)
{
    int fd = -1;
    FILE *file;

    for (int i = 0; i < MOST_TRIES && fd < 0; i++) {
        (void)snprintf(name, room, "%s.%ld-%d", path, (long)getpid(), i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return NULL;
    }
    if (fd < 0)
        return NULL;
    file = fdopen(fd, "w");
    if (file == NULL) {
        (void)close(fd);
        (void)unlink(name);
    }
    return file;
}

/* Writes to a new file, which takes over the mode of the old one, and renames it. */
static enum weir_status replace(const struct graph *graph, const char *path, const struct stat *old,
                                struct weir_error *err)
{
    size_t room = strlen(path) + 40;
    char *name = malloc(room);
    enum weir_status status;
    FILE *file;

    if (name == NULL)
        return weir_error_memory(err);
    file = open_beside(path, name, room);
    if (file == NULL) {
        status = cannot_write(path, err);
        free(name);
        return status;
    }
    status = write_stream(graph, file, path, err);
    if (status == WEIR_OK && old != NULL && fchmod(fileno(file), old->st_mode & 07777) != 0)
        status = cannot_write(path, err);
    if (status == WEIR_OK && fsync(fileno(file)) != 0)
        status = cannot_write(path, err);
    if (fclose(file) != 0 && status == WEIR_OK)
        status = cannot_write(path, err);
    if (status == WEIR_OK && rename(name, path) != 0)
        status = cannot_write(path, err);
    if (status != WEIR_OK)
        (void)unlink(name);
    free(name);
    return status;
}

/* A device or a pipe is written to as it is. */
static enum weir_status write_through(const struct graph *graph, const char *path,
                                      struct weir_error *err)
{
    FILE *file = fopen(path, "w");
    enum weir_status status;

    if (file == NULL)
        return cannot_write(path, err);
    status = write_stream(graph, file, path, err);
    if (fclose(file) != 0 && status == WEIR_OK)
        status = cannot_write(path, err);
    return status;
}

enum weir_status graph_write_file(const struct graph *graph, const char *path,
                                  struct weir_error *err)
{
    enum weir_status status;
    struct stat st;
    bool is_there;
    char *real;

    if (strcmp(path, "-") == 0)
        return write_stream(graph, stdout, "standard output", err);
    real = resolved(path);
    if (real == NULL)
        return weir_error_memory(err);
    is_there = stat(real, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode))
        status = write_through(graph, real, err);
    else
        status = replace(graph, real, is_there ? &st : NULL, err);
    free(real);
    return status;
}
