/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floors under reading a text. They know no quotes, no faults, no numbers, and keep nothing but
 * the names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "tests/bench/texts.h"

static const char *word_end(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\n') {
        at++;
    }
    return at;
}

size_t floor_words(const struct text *text)
{
    const char *at = text->bytes, *end = at + text->length;
    size_t n = 0;

    while (at < end) {
        at = word_end(at, end) + 1;
        n++;
    }
    return n;
}

static void intern(struct names *names, const char *from, const char *to)
{
    struct weir_error err;
    uint32_t id;

    if (names_intern(names, from, (size_t)(to - from), &id, &err) != WEIR_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit((int)err.status);
    }
}

/* The names between commas. */
static size_t intern_list(struct names *names, const char *at, const char *end)
{
    size_t n = 0;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma == NULL ? end : comma;

        intern(names, at, stop);
        at = stop + 1;
        n++;
    }
    return n;
}

/* Names are the second word of a statement, the third of an edge, and the lists of objects. */
static size_t names_of_word(struct names *names, char statement, unsigned index, const char *at,
                            const char *end)
{
    size_t length = (size_t)(end - at);

    if (index == 1 || (index == 2 && statement == 'e')) {
        intern(names, at, end);
        return 1;
    }
    if (length > 6 && memcmp(at, "reads=", 6) == 0) {
        return intern_list(names, at + 6, end);
    }
    return length > 7 && memcmp(at, "writes=", 7) == 0 ? intern_list(names, at + 7, end) : 0;
}

size_t floor_names(const struct text *text)
{
    const char *at = text->bytes, *end = at + text->length;
    struct names *names = names_new();
    unsigned index = 0;
    char statement = *at;
    size_t n = 0;

    if (names == NULL) {
        exit(7);
    }
    while (at < end) {
        const char *stop = word_end(at, end);

        n += names_of_word(names, statement, index++, at, stop);
        if (stop + 1 < end && *stop == '\n') {
            statement = stop[1];
            index = 0;
        }
        at = stop + 1;
    }
    names_free(names);
    return n;
}
