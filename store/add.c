/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adding a run to a file that may not be there yet. A new file is made under another name and gets
 * its own when the run is in it: whatever happens before, nothing has appeared. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ending.h"
#include "store/store_internal.h"

#define MOST_TRIES 1000
#define N_FILES 4

/* What SQLite keeps for one database. */
static const char *const endings[N_FILES] = {"", "-wal", "-shm", "-journal"};

struct new_file {
    char *names[N_FILES];
    ending_slot slots[N_FILES];
};

struct addition {
    struct run *run;
    const struct run_sample *samples;
    size_t n_samples;
};

static enum weir_status write_to(const char *file, const char *path, const struct addition *what,
                                 struct weir_error *err)
{
    struct store *store;
    enum weir_status status = store_open_as(file, path, false, &store, err);

    if (status != WEIR_OK)
        return status;
    status = store_write_run(store, what->run, what->samples, what->n_samples, err);
    store_close(store);
    return status;
}

/* Removes what there still is under the other name. */
static void clear_away(struct new_file *file)
{
    for (int i = N_FILES - 1; i >= 0; i--) {
        if (file->names[i] != NULL)
            (void)unlink(file->names[i]);
        ending_forget(file->slots[i]);
        free(file->names[i]);
    }
}

static enum weir_status cannot_make(const char *path, struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE,
                          "%.300s cannot be made: %s; name a file with --db where you may write "
                          "and there is room",
                          path, strerror(errno));
}

/* Names beside the place that nobody uses; the first is made. */
static enum weir_status make_beside(const char *path, struct new_file *file, struct weir_error *err)
{
    size_t room = strlen(path) + 48;
    int fd = -1;

    for (int i = 0; i < N_FILES; i++) {
        file->names[i] = malloc(room);
        if (file->names[i] == NULL)
            return weir_error_memory(err);
        file->names[i][0] = '\0';
    }
    errno = EEXIST;
    for (int n = 0; n < MOST_TRIES && fd < 0 && errno == EEXIST; n++) {
        (void)snprintf(file->names[0], room, "%s.%ld-%d", path, (long)getpid(), n);
        fd = ending_open(file->names[0], O_WRONLY, 0644, &file->slots[0]);
    }
    if (fd < 0) {
        file->names[0][0] = '\0'; /* another's */
        return cannot_make(path, err);
    }
    (void)close(fd);
    for (int i = 1; i < N_FILES; i++) {
        (void)snprintf(file->names[i], room, "%s%s", file->names[0], endings[i]);
        file->slots[i] = ending_list(file->names[i]);
    }
    return WEIR_OK;
}

/* What is still in the journal would be lost with its name. */
static bool is_whole(const struct new_file *file)
{
    struct stat st;

    return stat(file->names[1], &st) != 0 || st.st_size == 0;
}

/* Another program may have made the place its own meanwhile, or the file system has no second names:
 * then the run goes there as to any file that is there. */
static enum weir_status put_in_place(const struct new_file *file, const char *path,
                                     const struct addition *what, struct weir_error *err)
{
    if (!is_whole(file))
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: the disk is full; nothing was written. Make room, or use a "
                              "file elsewhere with --db",
                              path);
    if (link(file->names[0], path) == 0)
        return WEIR_OK;
    return errno == ENOSPC || errno == EDQUOT || errno == EIO ? cannot_make(path, err)
                                                              : write_to(path, path, what, err);
}

enum weir_status store_add_run(const char *path, struct run *run, const struct run_sample *samples,
                               size_t n_samples, struct weir_error *err)
{
    const struct addition what = {run, samples, n_samples};
    struct new_file file = {.names = {NULL}};
    enum weir_status status;
    struct stat st;

    if (path[0] == '\0' || stat(path, &st) == 0 || errno != ENOENT)
        return write_to(path, path, &what, err);
    status = make_beside(path, &file, err);
    if (status == WEIR_OK)
        status = write_to(file.names[0], path, &what, err);
    if (status == WEIR_OK)
        status = put_in_place(&file, path, &what, err);
    clear_away(&file);
    return status;
}
