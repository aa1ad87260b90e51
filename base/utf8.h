/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is a character of UTF-8, and what is just bytes. */
#ifndef WEIR_BASE_UTF8_H
#define WEIR_BASE_UTF8_H

#include <stddef.h>

/** The length of the character that begins at @p at, 1 to 4 bytes, of [at, end), which is not
 *  empty; 0 when there is none (RFC 3629: shortest form, no surrogates, nothing above U+10FFFF).
 *  @p end NULL: the text ends in a NUL */
size_t utf8_length(const char *at, const char *end);

#endif
