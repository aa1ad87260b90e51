/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that is there whole or not at all: it is written beside its place and put there in one
 * step, so that a reader sees the old file or the new one, never a part, also when the machine stops
 * or the disk is full. A signal that ends the program takes away what was written beside. */
#ifndef WEIR_BASE_OUTPUT_H
#define WEIR_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attributes.h"
#include "base/ending.h"

struct output {
    FILE *file;       /* write here */
    const char *path; /* as given, for messages */
    char *place;      /* where links lead, and what is replaced; NULL: standard output */
    char *beside;     /* what is written; NULL: the place itself, a device or a pipe */
    ending_slot slot; /* of beside */
};

/** Begins. @param path "-" is standard output; must outlive the output
 *  @return WEIR_OK, and then output_end has to follow; WEIR_STORE, WEIR_MEMORY */
MUST_CHECK enum weir_status output_begin(struct output *output, const char *path,
                                         struct weir_error *err);
/** Can a file be put there? For who works long before there is something to write. WEIR_OK also for
 *  devices and pipes, which only writing can tell. */
MUST_CHECK enum weir_status output_try(const char *path, struct weir_error *err);
/** Brings all that was written to the disk, so that only the step into its place is left: before
 *  something else is done that has to go together with the file. */
MUST_CHECK enum weir_status output_settle(struct output *output, struct weir_error *err);
/** Ends: puts the file in its place when @p status is WEIR_OK and every byte got through, else
 *  removes what was written. @return how it all went: @p status, or WEIR_STORE */
MUST_CHECK enum weir_status output_end(struct output *output, enum weir_status status,
                                       struct weir_error *err);

#endif
