/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each function hands on runs of bytes that need nothing as they are, and an escape for each that
 * does. */
#include "base/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* The escape of one byte below 0x80 that JSON does not take as it is; "" for the others. */
static const char *json_escape(unsigned char c, char out[8])
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *at;

    out[0] = '\0';
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F)
        return out;
    at = strchr(named, c);
    if (at != NULL && c != '\0')
        (void)snprintf(out, 8, "\\%c", letters[at - named]);
    else
        (void)snprintf(out, 8, "\\u%04x", (unsigned)c);
    return out;
}

void quote_json(const char *text, quote_put *put, void *to)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *from = s; /* of the run that needs nothing */

    while (*s != '\0') {
        char escape[8];
        const char *instead;
        size_t length = utf8_length((const char *)s, NULL);

        instead = length == 0 ? "\xEF\xBF\xBD" : length > 1 ? "" : json_escape(*s, escape);
        if (instead[0] == '\0') {
            s += length;
            continue;
        }
        if (s != from)
            put(to, (const char *)from, (size_t)(s - from));
        put(to, instead, strlen(instead));
        from = ++s;
    }
    if (s != from)
        put(to, (const char *)from, (size_t)(s - from));
}

/* As Weir writes numbers: -12, 0.5, 1e-09. */
static bool is_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    const char *at = text + (text[0] == '-');
    size_t n = strspn(at, digits);

    at += n;
    if (*at == '.') {
        size_t n_fraction = strspn(at + 1, digits);

        n += n_fraction;
        at += 1 + n_fraction;
    }
    if (n > 0 && (*at == 'e' || *at == 'E')) {
        at += 1 + (at[1] == '-' || at[1] == '+');
        n = strspn(at, digits);
        at += n;
    }
    return n > 0 && *at == '\0';
}

void quote_csv(const char *text, quote_put *put, void *to)
{
    size_t length = strlen(text);
    bool is_plain = strpbrk(text, ",\"\r\n") == NULL &&
                    (length == 0 || (text[0] != ' ' && text[length - 1] != ' '));
    bool is_formula = length > 0 && strchr("=+-@\t\r'", text[0]) != NULL && !is_decimal(text);

    if (!is_plain)
        put(to, "\"", 1);
    if (is_formula)
        put(to, "'", 1);
    if (is_plain) {
        put(to, text, length);
        return;
    }
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        put(to, text, (size_t)(quote - text) + 1);
        put(to, "\"", 1);
    }
    put(to, text, strlen(text));
    put(to, "\"", 1);
}

/* Of the character of that length at s, 0 for a byte that is none: does it act on a terminal? */
static bool is_control(const unsigned char *s, size_t length)
{
    if (length == 1)
        return *s < 0x20 || *s == 0x7F;
    return length == 0 || (s[0] == 0xC2 && s[1] < 0xA0); /* U+0080 to U+009F */
}

void quote_terminal(const char *text, quote_put *put, void *to)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s != '\0') {
        size_t length = utf8_length((const char *)s, NULL);

        if (!is_control(s, length)) {
            put(to, (const char *)s, length);
            s += length;
            continue;
        }
        for (size_t n = length == 0 ? 1 : length; n > 0; n--, s++) {
            char escape[8];

            (void)snprintf(escape, sizeof escape, "\\x%02x", (unsigned)*s);
            put(to, escape, strlen(escape));
        }
    }
}
