/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes are gathered in a buffer; a failure is kept until the end. */
#include "graph/sink.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "base/utf8.h"

static void flush(struct sink *sink)
{
    enum weir_status status = WEIR_OK;

    if (sink->status != WEIR_OK)
        return;
    if (sink->file != NULL) {
        if (fwrite(sink->bytes, 1, sink->used, sink->file) != sink->used)
            status = weir_error_set(sink->err, WEIR_STORE,
                                    "the graph cannot be written: %s; make room, or give another "
                                    "path",
                                    strerror(errno));
    } else if (sink->hash != NULL) {
        hash_add(sink->hash, sink->bytes, sink->used);
    } else {
        status =
            array_grow(sink->text, &sink->text_room, sink->text_length + sink->used + 1, sink->err);
        if (status == WEIR_OK) {
            memcpy(*sink->text + sink->text_length, sink->bytes, sink->used);
            sink->text_length += sink->used;
            (*sink->text)[sink->text_length] = '\0';
        }
    }
    sink->status = status;
    sink->used = 0;
}

void sink_put(struct sink *sink, const char *bytes, size_t n)
{
    while (n > sizeof sink->bytes - sink->used) {
        size_t part = sizeof sink->bytes - sink->used;
        memcpy(sink->bytes + sink->used, bytes, part);
        sink->used += part;
        bytes += part;
        n -= part;
        flush(sink);
        if (sink->status != WEIR_OK) {
            sink->used = 0;
            return;
        }
    }
    memcpy(sink->bytes + sink->used, bytes, n);
    sink->used += n;
}

void sink_word(struct sink *sink, const char *word)
{
    sink_put(sink, word, strlen(word));
}

void sink_char(struct sink *sink, char c)
{
    sink_put(sink, &c, 1);
}

void sink_integer(struct sink *sink, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        sink_char(sink, '-');
    sink_put(sink, digits + at, sizeof digits - at);
}

void sink_ratio(struct sink *sink, double value)
{
    if (sink->ratio_text[0] == '\0' || sink->ratio != value ||
        signbit(sink->ratio) != signbit(value)) {
        sink->ratio = value;
        number_ratio_text(value, sink->ratio_text);
    }
    sink_word(sink, sink->ratio_text);
}

/* How many bytes from @p at can stand as they are in quotes; 0: this one is escaped. */
static size_t plain_length(const char *at, const char *end)
{
    unsigned char byte = (unsigned char)*at;

    if (byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\')
        return 0;
    return utf8_length(at, end);
}

/* Whether a byte below 0x80 can stand outside quotes. */
static bool is_bare(unsigned char byte, const char *stops)
{
    if (byte <= ' ' || byte == 0x7f || byte == '"' || byte == ',' || byte == '#')
        return false;
    for (; *stops != '\0'; stops++) {
        if (byte == (unsigned char)*stops)
            return false;
    }
    return true;
}

/* The length of a name that needs no quotes; 0 when it does. */
static size_t bare_length(const char *name, const char *stops)
{
    const char *at = name;

    while (*at != '\0') {
        size_t n = 1;
        if ((unsigned char)*at >= 0x80)
            n = utf8_length(at, NULL);
        else if (!is_bare((unsigned char)*at, stops))
            n = 0;
        if (n == 0)
            return 0;
        at += n;
    }
    return (size_t)(at - name);
}

bool sink_needs_quotes(const char *name, const char *stops)
{
    return bare_length(name, stops) == 0;
}

void sink_quoted(struct sink *sink, const char *name)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = name, *end = name + strlen(name);

    while (at < end) {
        size_t n = plain_length(at, end);
        if (n > 0) {
            sink_put(sink, at, n);
        } else if (*at == '"' || *at == '\\') {
            sink_char(sink, '\\');
            sink_char(sink, *at);
        } else {
            unsigned char byte = (unsigned char)*at;
            const char escape[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
            sink_put(sink, escape, sizeof escape);
        }
        at += n > 0 ? n : 1;
    }
}

void sink_name(struct sink *sink, const char *name, const char *stops)
{
    size_t n = bare_length(name, stops);

    if (n > 0) {
        sink_put(sink, name, n);
        return;
    }
    sink_char(sink, '"');
    sink_quoted(sink, name);
    sink_char(sink, '"');
}

enum weir_status sink_finish(struct sink *sink)
{
    flush(sink);
    return sink->status;
}
