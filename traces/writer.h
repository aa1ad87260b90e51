/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where an export goes: a file that is there whole or not at all, compressed when its name ends in
 * .gz. A failure is kept and told at the end: nothing is written after it. */
#ifndef WEIR_TRACES_WRITER_H
#define WEIR_TRACES_WRITER_H

#include <stdint.h>

#include "base/output.h"

struct writer {
    struct output output;
    struct packer *packer; /* NULL: not compressed */
    struct weir_error *err;
    enum weir_status status; /* the first failure */
    uint64_t n_bytes;        /* put so far, before compression */
    size_t used;
    char bytes[1 << 16];
};

/** Begins; writer_end has to follow a WEIR_OK. @param path "-" is standard output
 *  @param err gets the first failure, also of later calls, and must outlive the writer */
MUST_CHECK enum weir_status writer_begin(struct writer *writer, const char *path,
                                         struct weir_error *err);
void writer_put(struct writer *writer, const char *bytes, size_t n);
/** A NUL-terminated text as it is. */
void writer_text(struct writer *writer, const char *text);
void writer_integer(struct writer *writer, int64_t value);
/** Writes out what is held and puts the file in its place, when @p status and all before went well.
 *  @return how it all went */
MUST_CHECK enum weir_status writer_end(struct writer *writer, enum weir_status status);

#endif
