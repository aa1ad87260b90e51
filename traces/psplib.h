/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduling problems of PSPLIB (Kolisch and Sprecher, European Journal of Operational Research 96
 * (1996) 205-216), single mode: text files that end in .sm. */
#ifndef WEIR_TRACES_PSPLIB_H
#define WEIR_TRACES_PSPLIB_H

#include "traces/import.h"

/** As import_format.read: each renewable resource becomes a domain, each job a node whose demands are
 *  workspace there, each precedence relation an edge. There is no timeline: nothing was recorded. */
MUST_CHECK enum weir_status psplib_read(const char *path, const struct import_options *options,
                                        struct import_result *out, struct weir_error *err);
/** The same of a text in memory. @param name stands for the file in messages */
MUST_CHECK enum weir_status psplib_read_text(const char *text, size_t length, const char *name,
                                             const struct import_options *options,
                                             struct import_result *out, struct weir_error *err);
bool psplib_looks_like(const unsigned char *bytes, size_t n_bytes);

#endif
