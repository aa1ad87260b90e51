/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole file in memory. */
#ifndef WEIR_GRAPH_READ_FILE_H
#define WEIR_GRAPH_READ_FILE_H

#include <stddef.h>

#include "base/attributes.h"

/** Reads a whole file into memory, malloc'ed. @param path "-" is standard input
 *  @return WEIR_INPUT when it cannot be opened or read, WEIR_MEMORY */
MUST_CHECK enum weir_status read_file(const char *path, char **text, size_t *length,
                                      struct weir_error *err);

#endif
