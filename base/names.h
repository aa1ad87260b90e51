/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of distinct strings: each is kept once and known by a dense number, in order of first
 * mention. */
#ifndef WEIR_BASE_NAMES_H
#define WEIR_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

struct names;

#define NAMES_NONE UINT32_MAX

/** @return an empty table, or NULL when memory ran out. Free with names_free. */
struct names *names_new(void);
void names_free(struct names *names);

/** Finds or adds the string. @param length bytes of @p text, which may hold any byte but NUL
 *  @return WEIR_OK, WEIR_MEMORY */
MUST_CHECK enum weir_status names_intern(struct names *names, const char *text, size_t length,
                                         uint32_t *id, struct weir_error *err);
/** Adds the string without a look whether it is there, and beside the table: it is never found. For
 *  texts that nobody asks for and that hardly occur twice: it costs neither a search nor room in the table. */
MUST_CHECK enum weir_status names_add(struct names *names, const char *text, size_t length,
                                      uint32_t *id, struct weir_error *err);
/** @return the number of the string, NAMES_NONE when it is not there. */
uint32_t names_find(const struct names *names, const char *text, size_t length);
/** As names_find, but looks first where the string should stand if those around that of @p near
 *  count up, or follow each other: names are mostly met near to each other. */
uint32_t names_find_near(const struct names *names, const char *text, size_t length, uint32_t near);
/** @return the string of a number, NUL-terminated; valid until the next names_intern. */
const char *names_text(const struct names *names, uint32_t id);
uint32_t names_count(const struct names *names);
/** Makes room for that many more strings, so that the table need not grow on the way. */
MUST_CHECK enum weir_status names_reserve(struct names *names, uint32_t n_more,
                                          struct weir_error *err);
/** Gives back room that no string is in. */
void names_trim(struct names *names);
/** Bytes held by the table, for reports on memory. */
size_t names_memory_bytes(const struct names *names);

#endif
