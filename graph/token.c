/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words end at a blank outside quotes. Quotes are only legal around a whole item, which token_item
 * checks; token_word just does not look for blanks between them. */
#include "graph/token.h"

#include <string.h>

#include "base/utf8.h"

enum byte_class { PLAIN, BLANK, QUOTE, CONTROL, HIGH };

static enum byte_class class_of(char c)
{
    unsigned char byte = (unsigned char)c;

    if (byte > ' ' && byte < 0x7f)
        return byte == '"' ? QUOTE : PLAIN;
    if (byte >= 0x80)
        return HIGH;
    return byte == ' ' || byte == '\t' ? BLANK : CONTROL;
}

/* From an opening quote to behind the closing one. */
static enum token_fault skip_quoted(const char **at, const char *end)
{
    const char *from = *at, *p = from + 1;

    for (; p < end; p++) {
        if (*p == '\\' && p + 1 < end) {
            p++;
        } else if (*p == '"') {
            *at = p + 1;
            return TOKEN_OK;
        }
        if (*p == '\0') {
            *at = p;
            return TOKEN_CONTROL;
        }
    }
    return TOKEN_OPEN_QUOTE;
}

/* Whether an item may begin there: where the word does, or behind what parts items. */
static bool may_open(const char *word, const char *at)
{
    return at == word || strchr("=,@:+", at[-1]) != NULL;
}

enum token_fault token_word(const char **at, const char *end, struct span *word)
{
    const char *p = *at;
    size_t length;

    while (p < end && class_of(*p) == BLANK)
        p++;
    if (p == end || *p == '#') {
        *at = end;
        return TOKEN_END;
    }
    word->text = p;
    while (p < end) {
        enum token_fault fault = TOKEN_OK;
        switch (class_of(*p)) {
        case PLAIN:
            p++;
            break;
        case BLANK:
            word->length = (size_t)(p - word->text);
            *at = p;
            return TOKEN_OK;
        case QUOTE:
            fault = skip_quoted(&p, end);
            if (fault == TOKEN_OPEN_QUOTE && !may_open(word->text, p))
                fault = TOKEN_STRAY_QUOTE;
            break;
        case CONTROL:
            fault = TOKEN_CONTROL;
            break;
        case HIGH:
            length = utf8_length(p, end);
            fault = length == 0 ? TOKEN_NOT_UTF8 : TOKEN_OK;
            p += length;
            break;
        }
        if (fault != TOKEN_OK) {
            *at = p;
            return fault;
        }
    }
    word->length = (size_t)(p - word->text);
    *at = p;
    return TOKEN_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that the escape at @p at stands for, and how long the escape is; 0 when it is none: no
 * escape stands for NUL. */
static char unescaped(const char *at, const char *end, size_t *length)
{
    int high, low;

    *length = 2;
    if (end - at < 2)
        return 0;
    if (at[1] == '"' || at[1] == '\\')
        return at[1];
    if (end - at < 4 || at[1] != 'x')
        return 0;
    *length = 4;
    high = hex_digit(at[2]);
    low = hex_digit(at[3]);
    return high < 0 || low < 0 ? '\0' : (char)(high * 16 + low);
}

/* The text between the quotes, of which @p p is the first character; copied once an escape is met. */
static enum token_fault quoted_item(const char **at, const char *end, char *scratch,
                                    struct item *out)
{
    const char *p = *at + 1;
    size_t n = 0;
    bool is_copied = false;

    out->text = p;
    for (; p < end && *p != '"'; p++) {
        char c = *p;
        if (c == '\\') {
            size_t length;
            c = unescaped(p, end, &length);
            if (c == '\0') {
                *at = p;
                return TOKEN_BAD_ESCAPE;
            }
            if (!is_copied && n > 0)
                memcpy(scratch, out->text, n);
            is_copied = true;
            p += length - 1;
        }
        if (is_copied)
            scratch[n] = c;
        n++;
    }
    if (p == end)
        return TOKEN_OPEN_QUOTE;
    out->text = is_copied ? scratch : out->text;
    out->length = n;
    *at = p + 1;
    return TOKEN_OK;
}

static bool is_stop(char c, const char *stops)
{
    for (; *stops != '\0'; stops++) {
        if (*stops == c)
            return true;
    }
    return false;
}

enum token_fault token_item(const char **at, const char *end, const char *stops, char *scratch,
                            struct item *out)
{
    const char *p = *at;

    out->where = p;
    out->is_quoted = p < end && *p == '"';
    if (out->is_quoted) {
        enum token_fault fault = quoted_item(at, end, scratch, out);
        if (fault != TOKEN_OK)
            return fault;
        return *at == end || is_stop(**at, stops) ? TOKEN_OK : TOKEN_AFTER_QUOTE;
    }
    while (p < end && *p != '"' && !is_stop(*p, stops))
        p++;
    out->text = *at;
    out->length = (size_t)(p - *at);
    *at = p;
    if (p < end && *p == '"')
        return TOKEN_STRAY_QUOTE;
    return out->length == 0 ? TOKEN_EMPTY : TOKEN_OK;
}

const char *token_fault_text(enum token_fault fault)
{
    switch (fault) {
    case TOKEN_OK:
        return "fine";
    case TOKEN_END:
        return "the end of the line";
    case TOKEN_CONTROL:
        return "a control character";
    case TOKEN_NOT_UTF8:
        return "not UTF-8";
    case TOKEN_OPEN_QUOTE:
        return "a quote that is not closed on this line";
    case TOKEN_STRAY_QUOTE:
        return "a quote inside a bare word; put the whole name or value in quotes and write \\\"";
    case TOKEN_AFTER_QUOTE:
        return "something right behind a closing quote; leave a blank, or write \\\" inside";
    case TOKEN_BAD_ESCAPE:
        return "a backslash in quotes that no \\, \" or xHH follows; write \\\\ for a backslash";
    case TOKEN_EMPTY:
        return "nothing where a name or value should be";
    }
    return "wrong";
}
