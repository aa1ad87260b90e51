/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making, filling, emptying the folder of a figure. Only files by the names listed here are ever
 * written or removed in it. */
#include "cmd/figure_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"

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

_Static_assert(COUNT(scripts) + COUNT(made) == FIGURE_FILES, "each file has a slot");

static void path_in(const char *folder, const char *name, char out[PATH_BYTES])
{
    (void)snprintf(out, PATH_BYTES, "%s/%.*s", folder, NAME_BYTES - 2, name);
}

static enum weir_status file_failed(const char *what, const char *path, struct weir_error *err)
{
    if (errno == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(err, WEIR_STORE,
                          "%s %.300s: %s; give a path where you may write and there is room", what,
                          path, strerror(errno));
}

/* The path of file i of all that are ever in a folder. */
static void path_of_file(const char *folder, size_t i, char out[PATH_BYTES])
{
    path_in(folder, i < COUNT(scripts) ? scripts[i] : made[i - COUNT(scripts)], out);
}

/* A folder for the moment, which a signal removes with all that is in it. */
static enum weir_status make_moment(struct figure_folder *folder, const char *figure,
                                    struct weir_error *err)
{
    char path[PATH_BYTES];

    if (ending_folder(folder->path, &folder->slots[0]) == NULL)
        return file_failed("making a folder beside", figure, err);
    for (size_t i = 0; i < FIGURE_FILES; i++) {
        path_of_file(folder->path, i, path);
        folder->slots[1 + i] = ending_list(path);
    }
    return WEIR_OK;
}

enum weir_status figure_folder_make(struct figure_folder *folder, const char *figure,
                                    const char *kept, struct weir_error *err)
{
    const char *slash = strrchr(figure, '/');
    int directory = slash == NULL ? 0 : (int)(slash - figure + 1);
    int length;

    *folder = (struct figure_folder){.is_kept = kept != NULL};
    length = kept != NULL ? snprintf(folder->path, sizeof folder->path, "%s", kept)
                          : snprintf(folder->path, sizeof folder->path, "%.*s.weir-plot-XXXXXX",
                                     directory, figure);
    if (length < 0 || (size_t)length >= sizeof folder->path) {
        return weir_error_set(err, WEIR_USAGE,
                              "%.80s...: the name is too long; give one of less than %d bytes",
                              kept != NULL ? kept : figure, FIGURE_PATH_BYTES);
    }
    if (kept == NULL)
        return make_moment(folder, figure, err);
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

enum weir_status figure_folder_take(const struct figure_folder *folder, const char *figure,
                                    struct weir_error *err)
{
    char picture[PATH_BYTES];
    struct output output;
    enum weir_status status;
    FILE *in;

    path_in(folder->path, PICTURE, picture);
    in = fopen(picture, "rb");
    if (in == NULL)
        return file_failed("reading", picture, err);
    status = output_begin(&output, figure, err);
    if (status == WEIR_OK) {
        status = copy_bytes(in, picture, output.file, figure, err);
        status = output_end(&output, status, err);
    }
    (void)fclose(in);
    return status;
}

void figure_folder_close(struct figure_folder *folder)
{
    char path[PATH_BYTES];

    if (folder->is_kept)
        return;
    for (size_t i = 0; i < FIGURE_FILES; i++) {
        path_of_file(folder->path, i, path);
        (void)unlink(path);
        ending_forget(folder->slots[1 + i]);
    }
    (void)rmdir(folder->path);
    ending_forget(folder->slots[0]);
}
