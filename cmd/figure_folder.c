/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making, filling, emptying the folder of a figure. Only files by the names listed here are ever
 * written or removed in it. */
#include "cmd/figure_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICTURE "figure.out"
#define NAME_BYTES 32 /* more than any name below */
#define PATH_BYTES (FIGURE_PATH_BYTES + NAME_BYTES)

static const char *const scripts[] = {"figure.gp",   "bars.gp",     "pressure_panels.gp",
                                      "timeline.gp", "pressure.gp", "compare.gp"};
/* What figure_write and gnuplot make. */
static const char *const made[] = {"figure.tsv",  "texts.tsv",   "classes.tsv",  "lanes.tsv",
                                   "bars.tsv",    "domains.tsv", "pressure.tsv", "errors.tsv",
                                   "gnuplot.log", PICTURE};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void path_in(const char *folder, const char *name, char out[PATH_BYTES])
{
    (void)snprintf(out, PATH_BYTES, "%s/%.*s", folder, NAME_BYTES - 2, name);
}

static enum weir_status file_failed(const char *what, const char *path, struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE, "%s %.300s: %s", what, path, strerror(errno));
}

enum weir_status figure_folder_make(struct figure_folder *folder, const char *figure,
                                    const char *kept, struct weir_error *err)
{
    const char *slash = strrchr(figure, '/');
    int directory = slash == NULL ? 0 : (int)(slash - figure + 1);
    int length;

    folder->is_kept = kept != NULL;
    length = kept != NULL ? snprintf(folder->path, sizeof folder->path, "%s", kept)
                          : snprintf(folder->path, sizeof folder->path, "%.*s.weir-plot-XXXXXX",
                                     directory, figure);
    if (length < 0 || (size_t)length >= sizeof folder->path) {
        return weir_error_set(err, WEIR_USAGE,
                              "%.80s...: the name is too long; give one of less than %d bytes",
                              kept != NULL ? kept : figure, FIGURE_PATH_BYTES);
    }
    if (kept == NULL) {
        return mkdtemp(folder->path) != NULL ? WEIR_OK
                                             : file_failed("making a folder beside", figure, err);
    }
    return mkdir(folder->path, 0777) == 0 || errno == EEXIST
               ? WEIR_OK
               : file_failed("making folder", kept, err);
}

static enum weir_status copy_bytes(FILE *in, const char *from, FILE *out, const char *to,
                                   struct weir_error *err)
{
    char bytes[1 << 14];
    size_t n;

    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        if (fwrite(bytes, 1, n, out) != n)
            return file_failed("writing", to, err);
    }
    return ferror(in) ? file_failed("reading", from, err) : WEIR_OK;
}

static enum weir_status copy_file(const char *from, const char *to, struct weir_error *err)
{
    FILE *in = fopen(from, "rb"), *out;
    enum weir_status status;

    if (in == NULL)
        return file_failed("reading", from, err);
    out = fopen(to, "wb");
    if (out == NULL) {
        status = file_failed("writing", to, err);
    } else {
        status = copy_bytes(in, from, out, to, err);
        if (fclose(out) != 0 && status == WEIR_OK)
            status = file_failed("writing", to, err);
    }
    (void)fclose(in);
    return status;
}

enum weir_status figure_folder_scripts(const struct figure_folder *folder, const char *data_dir,
                                       struct weir_error *err)
{
    char from[PATH_BYTES], to[PATH_BYTES], plots[FIGURE_PATH_BYTES];

    (void)snprintf(plots, sizeof plots, "%.*s/plots", FIGURE_PATH_BYTES - 16, data_dir);
    path_in(plots, scripts[0], from);
    if (access(from, R_OK) != 0) {
        return weir_error_set(err, WEIR_STORE,
                              "%.300s: %s; the scripts are installed with weir, and WEIR_DATADIR "
                              "says where else to look: in the folder of the sources",
                              from, strerror(errno));
    }
    for (size_t i = 0; i < COUNT(scripts); i++) {
        enum weir_status status;

        path_in(plots, scripts[i], from);
        path_in(folder->path, scripts[i], to);
        status = copy_file(from, to, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* A kept folder may lie on another file system, and keeps its picture: a copy beside the figure is
 * what is renamed. */
enum weir_status figure_folder_take(const struct figure_folder *folder, const char *figure,
                                    struct weir_error *err)
{
    char picture[PATH_BYTES], beside[PATH_BYTES];
    enum weir_status status;

    path_in(folder->path, PICTURE, picture);
    if (!folder->is_kept)
        return rename(picture, figure) == 0 ? WEIR_OK : file_failed("writing", figure, err);
    (void)snprintf(beside, sizeof beside, "%.*s.%ld", FIGURE_PATH_BYTES - 16, figure,
                   (long)getpid());
    status = copy_file(picture, beside, err);
    if (status == WEIR_OK && rename(beside, figure) != 0)
        status = file_failed("writing", figure, err);
    if (status != WEIR_OK)
        (void)unlink(beside);
    return status;
}

void figure_folder_close(const struct figure_folder *folder)
{
    char path[PATH_BYTES];

    if (folder->is_kept)
        return;
    for (size_t i = 0; i < COUNT(scripts); i++) {
        path_in(folder->path, scripts[i], path);
        (void)unlink(path);
    }
    for (size_t i = 0; i < COUNT(made); i++) {
        path_in(folder->path, made[i], path);
        (void)unlink(path);
    }
    (void)rmdir(folder->path);
}
