/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The detail of evidence, word by word. */
#include "graph/evidence.h"

#include <ctype.h>
#include <string.h>

#include "base/number.h"

/* The end of the word that begins here. */
static const char *end_of_word(const char *at)
{
    while (isalnum((unsigned char)*at) || *at == '=' || *at == '_') {
        at++;
    }
    return at;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* @return whether the word says something that is known */
static bool take_word(const char *at, size_t length, struct evidence_words *words)
{
    bool is_cold = is_word(at, length, "cold"), is_warm = is_word(at, length, "warm");

    words->says_cold |= is_cold;
    words->says_warm |= is_warm;
    if (is_cold || is_warm) {
        return true;
    }
    return length > 2 && memcmp(at, "n=", 2) == 0 &&
           number_integer(at + 2, length - 2, &words->n_samples) == NUMBER_OK;
}

struct evidence_words evidence_words_of(const char *detail)
{
    struct evidence_words words = {-1, false, false, 0};
    bool has_known = false;
    size_t source = 0;

    for (const char *at = detail; *at != '\0';) {
        const char *end = end_of_word(at);
        bool is_known = end > at && take_word(at, (size_t)(end - at), &words);

        has_known = has_known || is_known;
        at = end > at ? end : at + 1;
        source = !has_known && !isspace((unsigned char)at[-1]) && at[-1] != ','
                     ? (size_t)(at - detail)
                     : source;
    }
    words.source_length = source;
    return words;
}
