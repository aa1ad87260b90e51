/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbolic links are followed: what they lead to is replaced, not the link. The new file takes over
 * the mode of the old one. Devices, pipes and standard output are written to as they are. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRIES 1000
#define MOST_LINKS 40

static enum weir_status cannot_write(const char *path, struct weir_error *err)
{
    if (errno == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(err, WEIR_STORE,
                          "%.300s: cannot be written: %s; give a path where you may write and "
                          "there is room",
                          path, strerror(errno));
}

/* A path, and where the link there leads: beside the link, unless it begins with a slash. */
static char *joined(const char *path, const char *target)
{
    const char *slash = *target == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *out = malloc(folder + strlen(target) + 1);

    if (out != NULL) {
        memcpy(out, path, folder);
        memcpy(out + folder, target, strlen(target) + 1);
    }
    return out;
}

/* Where symbolic links lead, malloc'ed. NULL when memory ran out. */
static char *resolved(const char *path)
{
    char target[4096];
    char *now = joined("", path);

    for (int i = 0; i < MOST_LINKS && now != NULL; i++) {
        ssize_t n = readlink(now, target, sizeof target - 1);
        char *next;

        if (n < 0)
            return now;
        target[n] = '\0';
        next = joined(now, target);
        free(now);
        now = next;
    }
    return now;
}

/* Opens a new file beside the place, and says which. */
static enum weir_status open_beside(struct output *output, struct weir_error *err)
{
    size_t room = strlen(output->place) + 40;
    ending_slot slot = 0;
    int fd = -1;

    output->beside = malloc(room);
    if (output->beside == NULL)
        return weir_error_memory(err);
    for (int i = 0; i < MOST_TRIES && fd < 0; i++) {
        (void)snprintf(output->beside, room, "%s.%ld-%d", output->place, (long)getpid(), i);
        fd = ending_open(output->beside, O_WRONLY, 0666, &slot);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return cannot_write(output->path, err);
    output->slot = slot;
    output->file = fdopen(fd, "w");
    if (output->file != NULL)
        return WEIR_OK;
    (void)close(fd);
    (void)unlink(output->beside);
    return cannot_write(output->path, err);
}

static void forget(struct output *output)
{
    ending_forget(output->slot);
    free(output->place);
    free(output->beside);
    *output = (struct output){.file = NULL};
}

enum weir_status output_begin(struct output *output, const char *path, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    struct stat st;

    *output = (struct output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->path = "standard output";
        output->file = stdout;
        return WEIR_OK;
    }
    output->place = resolved(path);
    if (output->place == NULL)
        return weir_error_memory(err);
    if (stat(output->place, &st) == 0 && !S_ISREG(st.st_mode)) {
        output->file = fopen(output->place, "w");
        if (output->file == NULL)
            status = cannot_write(path, err);
    } else {
        status = open_beside(output, err);
    }
    if (status != WEIR_OK)
        forget(output);
    return status;
}

/* The mode of what is replaced, and all bytes on the disk. */
static bool settles(const struct output *output)
{
    struct stat old;

    if (fflush(output->file) != 0 || ferror(output->file) != 0)
        return false;
    if (output->beside == NULL)
        return true;
    if (stat(output->place, &old) == 0 && fchmod(fileno(output->file), old.st_mode & 07777) != 0)
        return false;
    return fsync(fileno(output->file)) == 0;
}

enum weir_status output_settle(struct output *output, struct weir_error *err)
{
    errno = 0;
    return settles(output) ? WEIR_OK : cannot_write(output->path, err);
}

enum weir_status output_end(struct output *output, enum weir_status status, struct weir_error *err)
{
    if (status == WEIR_OK)
        status = output_settle(output, err);
    if (output->place != NULL && fclose(output->file) != 0 && status == WEIR_OK)
        status = cannot_write(output->path, err);
    if (status == WEIR_OK && output->beside != NULL && rename(output->beside, output->place) != 0)
        status = cannot_write(output->path, err);
    if (status != WEIR_OK && output->beside != NULL)
        (void)unlink(output->beside);
    forget(output);
    return status;
}

enum weir_status output_try(const char *path, struct weir_error *err)
{
    struct output output;
    struct stat st;
    enum weir_status status;

    if (strcmp(path, "-") == 0 ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return WEIR_OK;
    status = output_begin(&output, path, err);
    if (status != WEIR_OK)
        return status;
    status = output_end(&output, WEIR_NO, err); /* removes it */
    return status == WEIR_NO ? WEIR_OK : status;
}
