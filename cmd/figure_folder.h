/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder in which a figure is drawn: its tables, the scripts, and the picture that comes out. */
#ifndef WEIR_CMD_FIGURE_FOLDER_H
#define WEIR_CMD_FIGURE_FOLDER_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/ending.h"

#define FIGURE_PATH_BYTES 4096
#define FIGURE_FILES 16 /* that are ever made in it */

struct figure_folder {
    char path[FIGURE_PATH_BYTES];
    bool is_kept;                        /* the user's: nothing in it is removed */
    ending_slot slots[1 + FIGURE_FILES]; /* of one that is not kept: it, and what is in it */
};

/** Makes the folder: the one named, which may be there already, or (kept NULL) a new one beside the
 *  figure, on its file system. WEIR_STORE, WEIR_USAGE (a name too long). */
MUST_CHECK enum weir_status figure_folder_make(struct figure_folder *folder, const char *figure,
                                               const char *kept, struct weir_error *err);
/** Copies the scripts from DATA_DIR/plots, so that the folder draws on its own. WEIR_STORE. */
MUST_CHECK enum weir_status figure_folder_scripts(const struct figure_folder *folder,
                                                  const char *data_dir, struct weir_error *err);
/** Puts the picture into its place: whole, or not at all. WEIR_STORE. */
MUST_CHECK enum weir_status figure_folder_take(const struct figure_folder *folder,
                                               const char *figure, struct weir_error *err);
/** Removes it with all that was made in it, unless it is kept. */
void figure_folder_close(struct figure_folder *folder);

#endif
