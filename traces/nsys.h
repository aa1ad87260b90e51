/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nsight Systems profiles, exported to SQLite. */
#ifndef WEIR_TRACES_NSYS_H
#define WEIR_TRACES_NSYS_H

#include "traces/import.h"

/** As import_format.read. */
MUST_CHECK enum weir_status nsys_read(const char *path, const struct import_options *options,
                                      struct import_result *out, struct weir_error *err);
/** The same of a database in memory. @param name stands for the file in messages */
MUST_CHECK enum weir_status nsys_read_bytes(const unsigned char *bytes, size_t n_bytes,
                                            const char *name, const struct import_options *options,
                                            struct import_result *out, struct weir_error *err);
bool nsys_looks_like(const unsigned char *bytes, size_t n_bytes);

#endif
