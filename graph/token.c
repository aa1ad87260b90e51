/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words end at a blank outside quotes. Quotes are only legal around a whole item, which token_item
 * checks; token_word just does not look for blanks between them. */
#include "graph/token.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

enum byte_class { PLAIN = '.', BLANK = ' ', QUOTE = '"', CONTROL = '!', HIGH = '^' };

/* By byte. */
static const char classes[257] = "!!!!!!!!! !!!!!!"
                                 "!!!!!!!!!!!!!!!!"
                                 " .\"............."
                                 "................"
                                 "................"
                                 "................"
                                 "................"
                                 "...............!"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^"
                                 "^^^^^^^^^^^^^^^^";

static inline char class_of(char c)
{
    return classes[(unsigned char)c];
}

/* The high bit of each byte of the word that is not plain: above 0x7e, below '!', or a quote. Sums
 * and differences go byte by byte up to the lowest such byte; behind it they may carry, so that only
 * the lowest bit that is set says something. */
static inline uint64_t not_plain(uint64_t word)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t high = word | (word + ones), low = word - ones * '!';
    uint64_t quote = (word ^ ones * '"') - ones;

    return (high | low | quote) & ones * 0x80;
}

/* Behind the plain bytes that start there; perhaps past @p end. */
static inline const char *skip_plain(const char *p, const char *end, const char *limit)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; limit - p >= 8; p += 8) {
        uint64_t word, found;
        memcpy(&word, p, sizeof word);
        found = not_plain(word);
        if (found != 0)
            return p + __builtin_ctzll(found) / 8;
    }
#else
    (void)limit;
#endif
    while (p < end && class_of(*p) == PLAIN)
        p++;
    return p;
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

/* Over what is not plain, and no blank: quotes and bytes above ASCII, or a fault. */
static enum token_fault skip_special(const char **at, const char *end, struct span *word)
{
    char class = class_of(**at);
    enum token_fault fault;
    size_t length;

    if (class == CONTROL)
        return TOKEN_CONTROL;
    if (class == HIGH) {
        length = utf8_length(*at, end);
        *at += length;
        return length == 0 ? TOKEN_NOT_UTF8 : TOKEN_OK;
    }
    word->has_quote = true;
    fault = skip_quoted(at, end);
    return fault == TOKEN_OPEN_QUOTE && !may_open(word->text, *at) ? TOKEN_STRAY_QUOTE : fault;
}

/* Goes on with a word at what is not plain. */
static enum token_fault special_word(const char **at, const char *end, const char *limit,
                                     struct span *word)
{
    const char *p = *at;

    while (p < end && class_of(*p) != BLANK) {
        enum token_fault fault = skip_special(&p, end, word);
        if (fault != TOKEN_OK) {
            *at = p;
            return fault;
        }
        p = skip_plain(p, end, limit);
        p = p < end ? p : end;
    }
    word->length = (size_t)(p - word->text);
    *at = p;
    return TOKEN_OK;
}

enum token_fault token_word(const char **at, const char *end, const char *limit, struct span *word)
{
    const char *p = *at;

    while (p < end && class_of(*p) == BLANK)
        p++;
    if (p == end || *p == '#') {
        *at = end;
        return TOKEN_END;
    }
    word->text = p;
    word->has_quote = false;
    p = skip_plain(p, end, limit);
    p = p < end ? p : end;
    *at = p;
    if (p < end && class_of(*p) != BLANK)
        return special_word(at, end, limit, word);
    word->length = (size_t)(p - word->text);
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

enum token_fault token_item(const char **at, const char *end, const char *stops, char *scratch,
                            struct item *out)
{
    const char *p = *at;
    const char first = stops[0], second = first == '\0' ? '\0' : stops[1];

    assert(second == '\0' || stops[2] == '\0');
    out->where = p;
    out->is_quoted = p < end && *p == '"';
    if (out->is_quoted) {
        enum token_fault fault = quoted_item(at, end, scratch, out);
        if (fault != TOKEN_OK)
            return fault;
        return *at == end || **at == first || **at == second ? TOKEN_OK : TOKEN_AFTER_QUOTE;
    }
    while (p < end && *p != first && *p != second && *p != '"')
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
