/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the canonical form goes: pieces of a buffer, to whoever takes them. Every field of every
 * statement passes here, so what is short is written in place. */
#ifndef WEIR_GRAPH_SINK_H
#define WEIR_GRAPH_SINK_H

#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "graph/text.h"

struct sink {
    graph_take *take;
    void *arg;
    struct weir_error *err;
    enum weir_status status; /* the first failure: nothing is written after it */
    double ratio;            /* written last, since evidence mostly repeats itself */
    char ratio_text[NUMBER_TEXT_BYTES];
    size_t used;
    char bytes[1 << 16];
};

/** Empties the buffer. */
void sink_flush(struct sink *sink);
/** What sink_put does with bytes that the buffer has no room for. */
void sink_put_long(struct sink *sink, const char *bytes, size_t n);

static inline void sink_put(struct sink *sink, const char *bytes, size_t n)
{
    if (n > sizeof sink->bytes - sink->used) {
        sink_put_long(sink, bytes, n);
        return;
    }
    memcpy(sink->bytes + sink->used, bytes, n);
    sink->used += n;
}

/** A NUL-terminated text as it is. */
static inline void sink_word(struct sink *sink, const char *word)
{
    sink_put(sink, word, strlen(word));
}

static inline void sink_char(struct sink *sink, char c)
{
    if (sink->used == sizeof sink->bytes)
        sink_flush(sink);
    sink->bytes[sink->used++] = c;
}

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
