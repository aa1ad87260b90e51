/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of the text form as words, and a word as items: names and numbers, bare or in quotes. All
 * of it points into the line; nothing is copied but an item with escapes. */
#ifndef WEIR_GRAPH_TOKEN_H
#define WEIR_GRAPH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

/* A stretch of the line, quotes and all. */
struct span {
    const char *text;
    size_t length;
    bool has_quote; /* anywhere in the word that it is, or is of */
};

enum token_fault {
    TOKEN_OK,
    TOKEN_END,         /* no further word */
    TOKEN_CONTROL,     /* a control character outside quotes, or a NUL anywhere */
    TOKEN_NOT_UTF8,    /* bytes that are no character, outside quotes */
    TOKEN_OPEN_QUOTE,  /* a quote that the line does not close */
    TOKEN_STRAY_QUOTE, /* a quote inside a bare word */
    TOKEN_AFTER_QUOTE, /* something right behind a closing quote */
    TOKEN_BAD_ESCAPE,  /* a backslash before something else than " \ or xHH */
    TOKEN_EMPTY        /* no item where one should be */
};

/** The next word of [*at, end): blanks before it are skipped, a comment ends the line. On TOKEN_OK
 *  *at is behind the word; on a fault *at is where it is.
 *  @param limit up to where memory may be read, at least @p end: words far from it are found faster */
enum token_fault token_word(const char **at, const char *end, const char *limit, struct span *word);

/* An item: what a name or a number is once quotes and escapes are gone. */
struct item {
    const char *text;
    size_t length;
    const char *where; /* in the line */
    bool is_quoted;
};

/** The next item of a word, up to one of the characters of @p stops (two at most) outside quotes,
 *  which *at then points to, or to the end. @param scratch at least as many bytes as the word has; the item may
 *  point into it. On a fault *at is where it is. */
enum token_fault token_item(const char **at, const char *end, const char *stops, char *scratch,
                            struct item *out);

/** @return what the fault is, for a message */
const char *token_fault_text(enum token_fault fault);

#endif
