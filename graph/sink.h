/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the canonical form goes: a file, memory, or only its hash. */
#ifndef WEIR_GRAPH_SINK_H
#define WEIR_GRAPH_SINK_H

#include <stdint.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/number.h"
#include "graph/graph.h"

struct sink {
    FILE *file; /* one of these three */
    struct hash *hash;
    char **text; /* malloc'ed */
    size_t text_room, text_length;
    struct weir_error *err;
    enum weir_status status; /* the first failure: nothing is written after it */
    double ratio;            /* written last, since evidence mostly repeats itself */
    char ratio_text[NUMBER_TEXT_BYTES];
    size_t used;
    char bytes[1 << 16];
};

void sink_put(struct sink *sink, const char *bytes, size_t n);
/** A NUL-terminated text as it is. */
void sink_word(struct sink *sink, const char *word);
void sink_char(struct sink *sink, char c);
void sink_integer(struct sink *sink, int64_t value);
void sink_ratio(struct sink *sink, double value);
/** A name or value: in quotes when it is empty, has blanks, commas, # or quotes, control characters
 *  or what is not UTF-8 (both written as \xHH), or one of @p stops. */
void sink_name(struct sink *sink, const char *name, const char *stops);
/** What stands between the quotes of the name. */
void sink_quoted(struct sink *sink, const char *name);
/** Whether sink_name would use quotes. */
bool sink_needs_quotes(const char *name, const char *stops);
/** Writes out what is still held. @return how it all went */
MUST_CHECK enum weir_status sink_finish(struct sink *sink);

#endif
