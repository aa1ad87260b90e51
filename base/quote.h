/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts from outside, made safe for a format: whatever bytes they hold, they stay text there. */
#ifndef WEIR_BASE_QUOTE_H
#define WEIR_BASE_QUOTE_H

#include <stddef.h>

/* Takes the next piece of the result. */
typedef void quote_put(void *to, const char *bytes, size_t n_bytes);

/** The inside of a JSON string (RFC 8259), without the quotes around it: valid UTF-8, with U+FFFD
 *  for each byte that is not part of a valid sequence. */
void quote_json(const char *text, quote_put *put, void *to);
/** A CSV field (RFC 4180), in double quotes when it holds a comma, a quote or a line break, or
 *  blanks at an end. A text that begins as a formula of a spreadsheet does (= + - @, a tab or a
 *  carriage return), or with ', gets a ' in front: the program that reads it back takes one away.
 *  A decimal number is as it is. */
void quote_csv(const char *text, quote_put *put, void *to);
/** A line for a person at a terminal, who shall see what is there and nothing that acts on it:
 *  control characters (line breaks too) and bytes that are no UTF-8 as \xNN. */
void quote_terminal(const char *text, quote_put *put, void *to);

#endif
