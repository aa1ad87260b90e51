/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes are gathered in a buffer; a failure is kept until the end. */
#include "graph/sink.h"

#include <math.h>

#include "base/digits.h"
#include "base/utf8.h"

void sink_flush(struct sink *sink)
{
    if (sink->status == WEIR_OK)
        sink->status = sink->take(sink->arg, sink->bytes, sink->used, sink->err);
    sink->used = 0;
}

void sink_put_long(struct sink *sink, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t room = sizeof sink->bytes - sink->used;
        size_t part = n < room ? n : room;

        memcpy(sink->bytes + sink->used, bytes, part);
        sink->used += part;
        bytes += part;
        n -= part;
        if (sink->used == sizeof sink->bytes)
            sink_flush(sink);
    }
}

void sink_integer(struct sink *sink, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned n = digits_count(size);

    if (sizeof sink->bytes - sink->used < DIGITS_ROOM + 1)
        sink_flush(sink);
    if (value < 0)
        sink->bytes[sink->used++] = '-';
    digits_put(sink->bytes + sink->used, size, n);
    sink->used += n;
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

/* What a byte is outside quotes: what can stand there, and the three that some places stop at. What
 * is 0 can not, or cannot be told alone, as the bytes of longer characters. */
enum byte_class { BYTE_PLAIN = 1, BYTE_AT = 2, BYTE_PLUS = 4, BYTE_COLON = 8 };

#define CLASS(c)                                                                      \
    ((c) == '@'                                                          ? BYTE_AT    \
     : (c) == '+'                                                        ? BYTE_PLUS  \
     : (c) == ':'                                                        ? BYTE_COLON \
     : (c) > ' ' && (c) < 0x7f && (c) != '"' && (c) != ',' && (c) != '#' ? BYTE_PLAIN \
                                                                         : 0)
#define FOUR(c) CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)

static const unsigned char byte_classes[256] = {SIXTEEN(0x00), SIXTEEN(0x10), SIXTEEN(0x20),
                                                SIXTEEN(0x30), SIXTEEN(0x40), SIXTEEN(0x50),
                                                SIXTEEN(0x60), SIXTEEN(0x70)};

/* The classes that can stand where those are stops. */
static unsigned classes_without(const char *stops)
{
    unsigned classes = BYTE_PLAIN | BYTE_AT | BYTE_PLUS | BYTE_COLON;

    for (; *stops != '\0'; stops++)
        classes &= ~(unsigned)byte_classes[(unsigned char)*stops];
    return classes;
}

/* The length of a name that needs no quotes; 0 when it does. */
static size_t bare_length(const char *name, const char *stops)
{
    unsigned classes = classes_without(stops);
    const char *at = name;

    while (*at != '\0') {
        size_t n = 1;
        if ((unsigned char)*at >= 0x80)
            n = utf8_length(at, NULL);
        else if ((byte_classes[(unsigned char)*at] & classes) == 0)
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

/* Nearly every name is short and all of bytes that can stand bare: it is copied as it is looked at. */
#define SHORT_NAME ((size_t)64)

/* Whether it did. */
static bool put_plain(struct sink *sink, const char *name, const char *stops)
{
    unsigned classes = classes_without(stops);
    char *to;
    size_t n = 0;

    if (sizeof sink->bytes - sink->used < SHORT_NAME)
        sink_flush(sink);
    to = sink->bytes + sink->used;
    while (n < SHORT_NAME && (byte_classes[(unsigned char)name[n]] & classes) != 0) {
        to[n] = name[n];
        n++;
    }
    if (n == 0 || n == SHORT_NAME || name[n] != '\0')
        return false;
    sink->used += n;
    return true;
}

void sink_name(struct sink *sink, const char *name, const char *stops)
{
    size_t n;

    if (put_plain(sink, name, stops))
        return;
    n = bare_length(name, stops);
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
    sink_flush(sink);
    return sink->status;
}
